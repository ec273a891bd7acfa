/* The requests of a guarded znode: the thread of a call drives the machine, one request at a time, until it is idle. */
#include "guarded.h"

#include "base/text.h"
#include "core/paths.h"
#include "session/blocking.h"
#include "session/protect.h"
#include "zk/errors.h"

#include <string.h>

/* The pause before a request is tried again on one connection. */
#define AGAIN_NS (50 * PDK__MS)

/* ---- one request */

static void question_free(struct pdk__query *query) {
    struct pdk__guarded_question *q = (struct pdk__guarded_question *)query;
    g_clear_pointer(&q->data, g_bytes_unref);
    g_free(q);
}

static void on_answer(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__guarded_question *q = user;
    (void)s;
    if (!reply) {
        pdk__query_answered(&q->base, reply);
        return;
    }
    q->result = reply->result;
    q->code = reply->code;
    q->stat = (struct pdk__reply){.result = reply->result, .token = reply->token, .acl_version = reply->acl_version};
    if (reply->result == PDK__OK && reply->token > 0) {
        q->node = (struct pdk__guarded_node){.exists = true, .version = reply->version, .czxid = reply->token};
        q->node.guarded = reply->data && pdk__stamp_read(reply->data, reply->data_size, &q->node.stamp);
        q->data = g_bytes_new(reply->data, reply->data_size);
    }
    pdk__query_answered(&q->base, reply);
}

struct pdk__guarded_question *pdk__guarded_ask(struct pdk__guarded_call *c, struct pdk__request request) {
    struct pdk__guarded_question *q = g_new0(struct pdk__guarded_question, 1);
    pdk__query_init(&q->base, c->g->s, question_free);
    q->result = PDK__UNKNOWN;
    if (pdk__send(c->g->s, request, on_answer, q)) {
        q->base.refs++;
        q->base.in_flight++;
        pdk__query_wait(&q->base, c->deadline);
    }
    if (q->base.in_flight == 0) {
        c->result = q->result;
        c->code = q->code;
        return q;
    }
    pdk__query_unref(&q->base);
    return NULL;
}

static enum pdk__result result_of(struct pdk__guarded_question *q) {
    enum pdk__result result = q ? q->result : PDK__UNKNOWN;
    if (q)
        pdk__query_unref(&q->base);
    return result;
}

/* ---- the steps */

GBytes *pdk__guarded_data_of(const struct pdk__stamp *stamp, const void *payload, size_t size) {
    GByteArray *data = g_byte_array_sized_new(PDK__GUARDED_HEADER + (guint)size);
    char header[PDK__GUARDED_HEADER];
    pdk__stamp_write(stamp, header);
    g_byte_array_append(data, (const guint8 *)header, sizeof header);
    if (size > 0)
        g_byte_array_append(data, payload, (guint)size);
    return g_byte_array_free_to_bytes(data);
}

static enum pdk__result set(struct pdk__guarded_call *c, GBytes *data) {
    size_t size = 0;
    const char *bytes = g_bytes_get_data(data, &size);
    return result_of(pdk__guarded_ask(c, (struct pdk__request){.kind = PDK__OP_SET,
                                                               .path = c->g->path,
                                                               .data = bytes,
                                                               .data_size = size,
                                                               .versioned = true,
                                                               .version = c->g->machine.version}));
}

/* The parents of the node, one after the other. The result of the last one. */
static enum pdk__result make_parents(struct pdk__guarded_call *c) {
    enum pdk__result result = PDK__OK;
    for (const char *slash = strchr(c->g->path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        char parent[PDK__PATH_MAX + 1] = {0};
        memcpy(parent, c->g->path, (size_t)(slash - c->g->path));
        result = result_of(pdk__guarded_ask(c, (struct pdk__request){.kind = PDK__OP_MKDIR, .path = parent}));
    }
    return result;
}

static enum pdk__result create(struct pdk__guarded_call *c) {
    const struct pdk__stamp nobody = {.absent = true};
    char tombstone[PDK__GUARDED_HEADER];
    pdk__stamp_write(&nobody, tombstone);
    enum pdk__result result = result_of(pdk__guarded_ask(
        c, (struct pdk__request){
               .kind = PDK__OP_MKDIR, .path = c->g->path, .data = tombstone, .data_size = sizeof tombstone}));
    return result == PDK__NO_NODE ? make_parents(c) : result;
}

/* What strangers may write is not believed. OK; NOT_NOW: the lists are asked for, so read again; UNKNOWN; NOT_ALLOWED. */
static enum pdk__result check_protection(struct pdk__guarded_call *c, const struct pdk__guarded_question *q) {
    char *words = NULL;
    switch (pdk__protect_judge_record(c->g->s, c->g->path, &q->stat, c->g->hold->node, &words)) {
    case PDK__PROTECTED:
        return PDK__OK;
    case PDK__PROTECTION_ASKED:
        return PDK__NOT_NOW;
    case PDK__PROTECTION_UNKNOWN:
        return PDK__UNKNOWN;
    case PDK__UNPROTECTED:
        break;
    }
    pdk__fail(PDK_UNPROTECTED, "%s: %s: %s", c->name, c->g->path, words);
    g_free(words);
    c->unprotected = true;
    return PDK__NOT_ALLOWED;
}

static enum pdk__result read_node(struct pdk__guarded_call *c) {
    pdk_guarded *g = c->g;
    pdk__protect_look_at_record(g->s, g->path);
    struct pdk__guarded_question *q = pdk__guarded_ask(c, (struct pdk__request){.kind = PDK__OP_GET, .path = g->path});
    bool executed = q && (q->result == PDK__OK || q->result == PDK__NO_NODE);
    if (!executed) {
        enum pdk__result result = result_of(q);
        pdk__guarded_answered(&g->machine, result);
        return result;
    }
    enum pdk__result protection = check_protection(c, q);
    if (protection != PDK__OK) {
        pdk__query_unref(&q->base);
        if (protection == PDK__NOT_NOW)
            return PDK__OK; /* the machine still wants to read */
        pdk__guarded_answered(&g->machine, protection);
        return protection;
    }
    g_clear_pointer(&g->seen, g_bytes_unref);
    g->seen = q->data ? g_bytes_ref(q->data) : NULL;
    pdk__guarded_read(&g->machine, &q->node);
    pdk__query_unref(&q->base);
    return PDK__OK;
}

/* A writer that has become a reader holds on, and keeps nobody's writes out any more. */
bool pdk__guarded_has_ended(const pdk_guarded *g) {
    const pdk_hold *hold = g->hold;
    return hold->loss.released || g->s->ended != PDK_OK || !pdk_hold_is_valid(hold) || hold->grant->shared;
}

void pdk__guarded_pause(const struct pdk__guarded_call *c) {
    pdk_session *s = c->g->s;
    pdk__wait(s, &s->on_link, MIN(c->deadline, pdk__now(s) + AGAIN_NS));
}

/* The result, once the machine knows it. */
static enum pdk__result take_step(struct pdk__guarded_call *c) {
    pdk_guarded *g = c->g;
    enum pdk__result result = PDK__OK;
    if (g->machine.step == PDK__GUARDED_READ)
        return read_node(c);
    if (g->machine.step == PDK__GUARDED_CREATE) {
        result = create(c);
    } else if (g->machine.step == PDK__GUARDED_CHECK) {
        result = result_of(pdk__guarded_ask(c, (struct pdk__request){.kind = PDK__OP_BARRIER, .path = g->hold->node}));
        if (pdk__guarded_has_ended(g)) /* it may stand for the next thread, to which it was handed over */
            result = PDK__NO_NODE;
    } else {
        result = set(c, g->machine.step == PDK__GUARDED_WRITE ? g->wanted : g->seen);
    }
    pdk__guarded_answered(&g->machine, result);
    return result;
}

pdk_status pdk__guarded_ended_how(const struct pdk__guarded_call *c) {
    const pdk_guarded *g = c->g;
    enum pdk__guarded_end end = g->machine.end;
    if (end == PDK__GUARDED_FINE)
        return PDK_OK;
    if (end == PDK__GUARDED_LOST)
        return pdk__fail(g->hold->loss.released ? PDK_NOT_HELD : PDK_LOST, "%s: %s: %s", c->name, g->path,
                         g->hold->loss.released ? "the hold was released"
                                                : "the hold is lost or was downgraded, or another came after it");
    if (end == PDK__GUARDED_DENIED && c->unprotected)
        return PDK_UNPROTECTED;
    if (end == PDK__GUARDED_DENIED)
        return pdk__fail(c->result == PDK__NOT_ALLOWED ? PDK_NO_PERMISSION : PDK_UNSUPPORTED,
                         "%s: %s: the server refuses it: %s", c->name, g->path, pdk__zk_code_name(c->code));
    if (end == PDK__GUARDED_WORN_OUT)
        return pdk__fail(PDK_LIMIT, "%s: %s: its versions are used up; copy it to another path", c->name, g->path);
    return pdk__fail(
        PDK_REPLACED,
        "%s: %s: somebody wrote or deleted it without the hold, or it never was a guarded znode: look at it. "
        "If it belongs to something else, guard another path. Else delete it while nobody has it open, which "
        "loses its payload, and open it again",
        c->name, g->path);
}

/* Whoever changes the node, or its list, as fast as it is read makes us read it again; so does a server that lies. */
static void keep_pace(struct pdk__guarded_call *c) {
    pdk_session *s = c->g->s;
    if (c->g->machine.step != PDK__GUARDED_READ)
        return;
    int64_t pause = pdk__pace_next(&c->reads, &pdk__pace_rounds, pdk__now(s));
    if (pause > 0)
        pdk__wait(s, &s->on_link, MIN(c->deadline, pdk__now(s) + pause));
}

pdk_status pdk__guarded_drive(struct pdk__guarded_call *c) {
    pdk_guarded *g = c->g;
    while (g->machine.step != PDK__GUARDED_IDLE) {
        enum pdk__guarded_step step = g->machine.step;
        keep_pace(c);
        if (pdk__guarded_has_ended(g)) {
            pdk__guarded_lose(&g->machine);
            break;
        }
        /* Without a connection nothing is sent: it might go out late. */
        enum pdk__result result = g->s->link == PDK__LINK_CONNECTED ? take_step(c) : PDK__NOT_NOW;
        if (g->machine.step != PDK__GUARDED_IDLE && pdk__now(g->s) >= c->deadline) {
            pdk__guarded_abandon(&g->machine);
            return pdk__fail(PDK_UNAVAILABLE, "%s: %s: not confirmed within timeout_ms; a write may have been executed",
                             c->name, g->path);
        }
        if (result == PDK__UNKNOWN || result == PDK__NOT_NOW || g->machine.step == step)
            pdk__guarded_pause(c);
    }
    return pdk__guarded_ended_how(c);
}

pdk_status pdk__guarded_settle(struct pdk__guarded_call *c) {
    pdk__guarded_open(&c->g->machine);
    return pdk__guarded_drive(c);
}

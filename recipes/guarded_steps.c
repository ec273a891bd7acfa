/* The requests of a guarded znode: a call drives the machine, one request at a time, until it is idle. */
#include "guarded.h"

#include "base/text.h"
#include "core/paths.h"
#include "session/blocking.h"
#include "session/protect.h"
#include "zk/errors.h"

#include <string.h>

/* ---- one request */

void pdk__guarded_ask(struct pdk__guarded_call *c, struct pdk__request request) {
    c->query = pdk__node_ask(c->g->s, request, PDK__BEHIND_NOTHING);
}

struct pdk__guarded_node pdk__guarded_node_of(const struct pdk__node_query *q) {
    size_t size = 0;
    if (q->result != PDK__OK || q->stat.token <= 0) /* the servers' own nodes are no guarded znodes */
        return (struct pdk__guarded_node){0};
    const char *data = g_bytes_get_data(q->data, &size);
    struct pdk__guarded_node node = {.exists = true, .version = q->stat.version, .czxid = q->stat.token};
    node.guarded = pdk__stamp_read(data, size, &node.stamp);
    return node;
}

void pdk__guarded_forget(struct pdk__guarded_call *c) {
    if (c->query)
        pdk__query_unref(g_steal_pointer(&c->query));
}

pdk_status pdk__guarded_await(struct pdk__guarded_call *c) {
    struct pdk__node_query *q = (struct pdk__node_query *)c->query;
    if (q->base.in_flight == 0) {
        c->result = q->result;
        c->code = q->code;
    } else if (c->g->s->ended == PDK_OK && !pdk__call_is_late(&c->call)) {
        return pdk__call_waits(&c->call, &q->base.waiters, INT64_MAX);
    }
    return PDK_OK;
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

/* ---- requests */

static void send_set(struct pdk__guarded_call *c, GBytes *data) {
    struct pdk__request request = {
        .kind = PDK__OP_SET, .path = c->g->path, .versioned = true, .version = c->g->machine.version};
    request.data = g_bytes_get_data(data, &request.data_size);
    pdk__guarded_ask(c, request);
}

/* Create a level above the znode, or the znode with a tombstone. */
static void send_create(struct pdk__guarded_call *c) {
    const struct pdk__stamp nobody = {.absent = true};
    if (c->parent > 0) {
        char parent[PDK__PATH_MAX + 1] = {0};
        memcpy(parent, c->g->path, c->parent);
        pdk__guarded_ask(c, (struct pdk__request){.kind = PDK__OP_MKDIR, .path = parent});
        return;
    }
    char tombstone[PDK__GUARDED_HEADER];
    pdk__stamp_write(&nobody, tombstone);
    pdk__guarded_ask(c,
                     (struct pdk__request){
                         .kind = PDK__OP_MKDIR, .path = c->g->path, .data = tombstone, .data_size = sizeof tombstone});
}

static void send_next(struct pdk__guarded_call *c) {
    pdk_guarded *g = c->g;
    switch (g->machine.step) {
    case PDK__GUARDED_READ:
        pdk__protect_look_at_record(g->s, g->path);
        pdk__guarded_ask(c, (struct pdk__request){.kind = PDK__OP_GET, .path = g->path});
        break;
    case PDK__GUARDED_CREATE:
        send_create(c);
        break;
    case PDK__GUARDED_CHECK:
        pdk__guarded_ask(c, (struct pdk__request){.kind = PDK__OP_BARRIER, .path = g->hold->node});
        break;
    case PDK__GUARDED_REWRITE:
        send_set(c, g->seen);
        break;
    case PDK__GUARDED_WRITE:
        send_set(c, g->wanted);
        break;
    case PDK__GUARDED_IDLE:
        break;
    }
}

/* ---- answers */

static enum pdk__result result_of(const struct pdk__node_query *q) {
    return q->base.in_flight == 0 ? q->result : PDK__UNKNOWN;
}

/* Make the parents of a node that could not be made, one after the other. true: the next one is asked for. */
static bool make_next_parent(struct pdk__guarded_call *c) {
    enum pdk__result result = result_of((const struct pdk__node_query *)c->query);
    const char *path = c->g->path;
    bool goes_on = c->parent > 0 ? result != PDK__UNKNOWN : result == PDK__NO_NODE;
    const char *slash = goes_on ? strchr(path + c->parent + 1, '/') : NULL;
    c->parent = slash ? (size_t)(slash - path) : 0;
    if (!slash)
        return false;
    pdk__guarded_forget(c);
    send_create(c);
    return true;
}

/* A node that strangers may write is not believed. OK; NOT_NOW: the lists are asked for, so read again; UNKNOWN;
 * NOT_ALLOWED. */
static enum pdk__result check_protection(struct pdk__guarded_call *c, const struct pdk__node_query *q) {
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
    pdk__fail(PDK_UNPROTECTED, "%s: %s: %s", c->call.name, c->g->path, words);
    g_free(words);
    c->unprotected = true;
    return PDK__NOT_ALLOWED;
}

/* The machine hears of the node; or of the request, where nothing was read. */
static enum pdk__result judge_read(struct pdk__guarded_call *c, const struct pdk__node_query *q,
                                   enum pdk__result result) {
    pdk_guarded *g = c->g;
    if (result == PDK__OK || result == PDK__NO_NODE) {
        result = check_protection(c, q);
        if (result == PDK__NOT_NOW)
            return PDK__OK; /* the machine still wants to read */
    }
    if (result != PDK__OK) {
        pdk__guarded_answered(&g->machine, result);
        return result;
    }
    g_clear_pointer(&g->seen, g_bytes_unref);
    g->seen = q->data ? g_bytes_ref(q->data) : NULL;
    struct pdk__guarded_node node = pdk__guarded_node_of(q);
    pdk__guarded_read(&g->machine, &node);
    return PDK__OK;
}

/* Has the hold ended for a guarded znode? A writer that has become a reader holds on, but keeps nobody's writes out any
 * more. */
bool pdk__guarded_has_ended(const pdk_guarded *g) {
    const pdk_hold *hold = g->hold;
    return hold->loss.released || g->s->ended != PDK_OK || !pdk_hold_is_valid(hold) || hold->grant->shared;
}

pdk_status pdk__guarded_pause(struct pdk__guarded_call *c, int64_t ns) {
    pdk_session *s = c->g->s;
    return s->ended == PDK_OK ? pdk__call_waits(&c->call, &s->on_link, pdk__now(s) + ns) : PDK_OK;
}

/* The query under way is over: the machine hears its result. */
static enum pdk__result judge(struct pdk__guarded_call *c) {
    pdk_guarded *g = c->g;
    struct pdk__node_query *q = (struct pdk__node_query *)g_steal_pointer(&c->query);
    enum pdk__result result = result_of(q);
    if (g->machine.step == PDK__GUARDED_READ) {
        result = judge_read(c, q, result);
    } else {
        if (g->machine.step == PDK__GUARDED_CHECK && pdk__guarded_has_ended(g))
            result = PDK__NO_NODE; /* the node may stand for the next thread, to which it was handed over */
        pdk__guarded_answered(&g->machine, result);
    }
    pdk__query_unref(&q->base);
    return result;
}

pdk_status pdk__guarded_ended_how(const struct pdk__guarded_call *c) {
    const pdk_guarded *g = c->g;
    enum pdk__guarded_end end = g->machine.end;
    const char *name = c->call.name;
    if (end == PDK__GUARDED_FINE)
        return PDK_OK;
    if (g->s->ended != PDK_OK && !pdk__call_has_thread(&c->call))
        return pdk__session_usable(g->s, name); /* as every call with a callback does */
    if (end == PDK__GUARDED_LOST)
        return pdk__fail(g->hold->loss.released ? PDK_NOT_HELD : PDK_LOST, "%s: %s: %s", name, g->path,
                         g->hold->loss.released ? "the hold was released"
                                                : "the hold is lost or was downgraded, or another came after it");
    if (end == PDK__GUARDED_DENIED && c->unprotected)
        return PDK_UNPROTECTED;
    if (end == PDK__GUARDED_DENIED)
        return pdk__fail(c->result == PDK__NOT_ALLOWED ? PDK_NO_PERMISSION : PDK_UNSUPPORTED,
                         "%s: %s: the server refuses it: %s", name, g->path, pdk__zk_code_name(c->code));
    if (end == PDK__GUARDED_WORN_OUT)
        return pdk__fail(PDK_LIMIT, "%s: %s: its versions are used up; copy it to another path", name, g->path);
    return pdk__fail(
        PDK_REPLACED,
        "%s: %s: somebody wrote or deleted it without the hold, or it never was a guarded znode: look at it. "
        "If it belongs to something else, guard another path. Else delete it while nobody has it open, which "
        "loses its payload, and open it again",
        name, g->path);
}

/* Keep the pace: a client that changes the node, or its list, as fast as it is read makes us read it again, and so does
 * a server that lies. OK; PDK__WAITS. */
static pdk_status keep_pace(struct pdk__guarded_call *c) {
    bool paced = c->paced || c->g->machine.step != PDK__GUARDED_READ;
    int64_t pause = paced ? 0 : pdk__pace_next(&c->reads, &pdk__pace_rounds, pdk__now(c->g->s));
    c->paced = true;
    return pause > 0 ? pdk__guarded_pause(c, pause) : PDK_OK;
}

static pdk_status guarded_too_late(struct pdk__guarded_call *c) {
    pdk__guarded_abandon(&c->g->machine);
    return pdk__fail(PDK_UNAVAILABLE, "%s: %s: not confirmed within timeout_ms; a write may have been executed",
                     c->call.name, c->g->path);
}

/* Begin a request of the machine, or go on with it. OK: it was judged, or there is no connection to send it on.
 * PDK__WAITS: it waits for its answer, or for the pause before the next request. */
static pdk_status take_step(struct pdk__guarded_call *c) {
    pdk_guarded *g = c->g;
    enum pdk__guarded_step step = g->machine.step;
    enum pdk__result result = PDK__NOT_NOW;
    if (!c->query && g->s->link == PDK__LINK_CONNECTED) /* without a connection it might go out late */
        send_next(c);
    while (c->query) {
        if (pdk__guarded_await(c) != PDK_OK)
            return PDK__WAITS;
        if (step != PDK__GUARDED_CREATE || !make_next_parent(c))
            result = judge(c);
    }
    c->paced = false;
    if (g->machine.step == PDK__GUARDED_IDLE)
        return PDK_OK;
    if (pdk__call_is_late(&c->call))
        return guarded_too_late(c);
    bool again = result == PDK__UNKNOWN || result == PDK__NOT_NOW || g->machine.step == step;
    return again ? pdk__guarded_pause(c, PDK__GUARDED_AGAIN) : PDK_OK;
}

pdk_status pdk__guarded_drive(struct pdk__guarded_call *c) {
    pdk_guarded *g = c->g;
    pdk_status status = PDK_OK;
    while (status == PDK_OK && g->machine.step != PDK__GUARDED_IDLE) {
        status = c->query ? PDK_OK : keep_pace(c);
        if (status != PDK_OK)
            return status;
        if (!c->query && pdk__guarded_has_ended(g))
            pdk__guarded_lose(&g->machine);
        else
            status = take_step(c);
    }
    return status == PDK_OK ? pdk__guarded_ended_how(c) : status;
}

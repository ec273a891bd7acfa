#include "record.h"

#include "base/text.h"
#include "session/blocking.h"
#include "session/protect.h"
#include "zk/errors.h"

/* The pause before a request is tried again on one connection. */
#define AGAIN_NS (50 * PDK__MS)

static bool has_ended(const pdk_hold *hold) {
    return hold->loss.released || hold->s->ended != PDK_OK || !pdk_hold_is_valid(hold);
}

static pdk_status ended_how(const struct pdk__record_change *c) {
    const char *name = c->call->name;
    if (c->hold->s->ended != PDK_OK)
        return pdk__session_usable(c->hold->s, name);
    return pdk__fail(c->hold->loss.released ? PDK_NOT_HELD : PDK_LOST, "%s: %s: %s", name, c->path,
                     c->hold->loss.released ? "the hold was released" : "the hold is lost");
}

static pdk_status refused(const struct pdk__record_change *c, enum pdk__result result, int code) {
    return pdk__fail(result == PDK__NOT_ALLOWED ? PDK_NO_PERMISSION : PDK_UNSUPPORTED,
                     "%s: %s: the server refuses it: %s", c->call->name, c->path, pdk__zk_code_name(code));
}

/* The outcome of an answer. UNAVAILABLE: look again, after a pause unless `soon` is set. PDK__WAITS: a write
 * follows. */
struct outcome {
    pdk_status status;
    bool soon, done;
};

static void forget(struct pdk__record_change *c) {
    if (c->query)
        pdk__query_unref(g_steal_pointer(&c->query));
    g_clear_pointer(&c->next, g_bytes_unref);
}

static void record_look(struct pdk__record_change *c) {
    pdk_session *s = c->hold->s;
    pdk__protect_look_at_record(s, c->path);
    c->query = pdk__node_ask(s, (struct pdk__request){.kind = PDK__OP_GET, .path = c->path}, PDK__BEHIND_NOTHING);
    pdk__node_ask_also(c->query, c->hold->node);
    c->asked = PDK__OP_GET;
}

static struct outcome write_it(struct pdk__record_change *c, struct pdk__request request) {
    request.path = c->path;
    struct pdk__query *query = pdk__node_ask(c->hold->s, request, PDK__BEHIND_NOTHING);
    pdk__query_unref(c->query);
    c->query = query;
    c->asked = request.kind;
    return (struct outcome){.status = PDK__WAITS};
}

static struct outcome judge_write(const struct pdk__record_change *c) {
    const struct pdk__node_query *q = (const struct pdk__node_query *)c->query;
    enum pdk__result result = q->result;
    if (result == PDK__NOT_ALLOWED || result == PDK__REFUSED || result == PDK__LIMITED)
        return (struct outcome){.status = refused(c, result, q->code)};
    bool done = result == PDK__OK && c->asked == PDK__OP_SET;
    return (struct outcome){.status = done ? PDK_OK : PDK_UNAVAILABLE,
                            .soon = result != PDK__UNKNOWN && result != PDK__NOT_NOW, /* a look finds it */
                            .done = done};
}

static struct outcome edit(struct pdk__record_change *c) {
    const struct pdk__node_query *q = (const struct pdk__node_query *)c->query;
    struct pdk__record_seen seen = {.mtime_ms = q->stat.mtime_ms, .now_ms = q->also.ctime_ms};
    seen.data = g_bytes_get_data(q->data, &seen.size);
    pdk_status status = c->edit(c->user, &seen, &c->next);
    if (status != PDK_OK || !c->next)
        return (struct outcome){.status = status, .done = status == PDK_OK};
    struct pdk__request set = {.kind = PDK__OP_SET, .versioned = true, .version = q->stat.version};
    set.data = g_bytes_get_data(c->next, &set.data_size);
    if (c->handed == 0)
        c->handed = pdk__now(c->hold->s);
    return write_it(c, set);
}

/* A record that strangers may write is not believed. UNAVAILABLE: the lists are asked for, so look again. */
static struct outcome check_protection(const struct pdk__record_change *c) {
    const struct pdk__node_query *q = (const struct pdk__node_query *)c->query;
    char *words = NULL;
    enum pdk__protection protection = pdk__protect_judge_record(c->hold->s, c->path, &q->stat, c->hold->node, &words);
    struct outcome outcome = {.status = PDK_OK, .soon = protection == PDK__PROTECTION_ASKED};
    if (protection == PDK__UNPROTECTED)
        outcome.status = pdk__fail(PDK_UNPROTECTED, "%s: %s: %s", c->call->name, c->path, words);
    else if (protection != PDK__PROTECTED)
        outcome.status = PDK_UNAVAILABLE;
    g_free(words);
    return outcome;
}

static pdk_status check_look(const struct pdk__record_change *c) {
    const struct pdk__node_query *q = (const struct pdk__node_query *)c->query;
    pdk_status status = q->base.status;
    if (status == PDK_NO_PERMISSION)
        return refused(c, PDK__NOT_ALLOWED, q->base.code);
    if (status == PDK_OK && q->also.result == PDK__NO_NODE)
        return pdk__fail(PDK_LOST, "%s: %s: the lock node is gone", c->call->name, c->path);
    if (status == PDK_OK && q->also.result != PDK__OK)
        return PDK_UNAVAILABLE; /* it does not say whether the node stands: look again */
    if (status == PDK_OK && has_ended(c->hold))
        return ended_how(c);
    return status;
}

static struct outcome judge_look(struct pdk__record_change *c) {
    const struct pdk__node_query *q = (const struct pdk__node_query *)c->query;
    struct outcome outcome = {.status = check_look(c)};
    if (outcome.status == PDK_OK)
        outcome = check_protection(c);
    if (outcome.status != PDK_OK)
        return outcome;
    if (q->result != PDK__OK)
        return write_it(c, (struct pdk__request){.kind = PDK__OP_MKDIR});
    if (q->stat.version < 0)
        return (struct outcome){.status = pdk__fail(PDK_LIMIT,
                                                    "%s: %s: its versions are used up; delete it while nobody uses it",
                                                    c->call->name, c->path)};
    return edit(c);
}

/* The query under way is over: nothing of it is in flight, or the call waits for it no longer. */
static struct outcome record_answered(struct pdk__record_change *c) {
    if (c->query->in_flight == 0)
        return c->asked == PDK__OP_GET ? judge_look(c) : judge_write(c);
    return (struct outcome){.status = PDK_UNAVAILABLE};
}

/* Begin a request. Without a connection nothing is sent, since it might go out late. */
static struct outcome record_begin(struct pdk__record_change *c) {
    if (c->hold->s->link != PDK__LINK_CONNECTED)
        return (struct outcome){.status = PDK_UNAVAILABLE};
    record_look(c);
    return (struct outcome){.status = PDK__WAITS};
}

pdk_status pdk__record_step(struct pdk__record_change *c) {
    struct pdk__call *call = c->call;
    pdk_session *s = c->hold->s;
    for (;;) {
        if (c->query && c->query->in_flight > 0 && s->ended == PDK_OK && !pdk__call_is_late(call))
            return pdk__call_waits(call, &c->query->waiters, INT64_MAX);
        if (!c->query && has_ended(c->hold))
            return ended_how(c);
        struct outcome step = c->query ? record_answered(c) : record_begin(c);
        if (step.status == PDK__WAITS)
            continue;
        forget(c);
        if (step.done && !c->ends && has_ended(c->hold))
            return ended_how(c);
        if (step.status != PDK_UNAVAILABLE)
            return step.status;
        if (s->ended != PDK_OK)
            return ended_how(c);
        if (pdk__call_is_late(call))
            return pdk__fail(PDK_UNAVAILABLE, "%s: %s: not confirmed within timeout_ms; it may have been executed",
                             call->name, c->path);
        int64_t pause = step.soon ? pdk__pace_next(&c->pace, &pdk__pace_repeats, pdk__now(s)) : AGAIN_NS;
        if (pause > 0)
            return pdk__call_waits(call, &s->on_link, pdk__now(s) + pause);
    }
}

void pdk__record_leave(struct pdk__record_change *c) { forget(c); }

/* The calls that ask ZooKeeper whether a sequencer still holds. */
#include "core/sequencer.h"
#include "base/text.h"
#include "session/blocking.h"
#include "session/node_query.h"
#include "session/tokens.h"

#include <paddock/sequencer.h>

struct checking {
    struct pdk__call call;
    struct pdk__query_loop loop;
    struct pdk__sequencer sequencer;
};

static struct pdk__query *checking_ask(struct pdk__query_loop *loop) {
    return pdk__node_ask(loop->call->s, (struct pdk__request){.kind = PDK__OP_STAT, .path = loop->path},
                         PDK__BEHIND_BARRIER);
}

static pdk_status checking_judge(struct pdk__query_loop *loop) {
    const struct checking *c = (const struct checking *)loop->call;
    const struct pdk__node_query *q = (const struct pdk__node_query *)loop->query;
    bool stands = q->result == PDK__OK && pdk__token_of(c->call.s, q->stat.token) == c->sequencer.czxid;
    pdk_status status = q->base.status;
    if (status == PDK_OK && !stands)
        status = PDK_LOST;
    if (status != PDK_OK)
        pdk__fail(status, "%s: %s: %s", c->call.name, loop->path, pdk_status_text(status));
    return status;
}

static pdk_status checking_step(struct pdk__call *c) { return pdk__query_loop_step(&((struct checking *)c)->loop); }
static void checking_leave(struct pdk__call *c) { pdk__query_loop_leave(&((struct checking *)c)->loop); }
static void checking_free(struct pdk__call *c) { g_free(c); }

/* NULL: it is no sequencer. */
static struct pdk__call *checking_new(pdk_session *s, const char *name, const char *text, int64_t timeout_ms) {
    static const struct pdk__call_kind kind = {NULL, checking_step, checking_leave, NULL, checking_free};
    static const struct pdk__query_loop_kind asks = {checking_ask, checking_judge};
    struct checking *c = g_new0(struct checking, 1);
    if (!pdk__sequencer_parse(text, &c->sequencer)) {
        g_free(c);
        pdk__fail(PDK_INVALID, "%s: text: not a sequencer; pass what pdk_hold_sequencer returned", name);
        return NULL;
    }
    c->call = pdk__call_make(&kind, s, name, timeout_ms);
    c->loop = (struct pdk__query_loop){.kind = &asks, .call = &c->call, .path = c->sequencer.node};
    return &c->call;
}

pdk_status pdk_session_check_sequencer(pdk_session *s, const char *text, int64_t timeout_ms) {
    static const char name[] = "pdk_session_check_sequencer";
    pdk_status status = pdk__may_block(s, name, timeout_ms);
    if (status != PDK_OK)
        return status;
    struct pdk__call *c = checking_new(s, name, text, timeout_ms);
    return c ? pdk__call_wait(c) : PDK_INVALID;
}

pdk_status pdk_session_check_sequencer_async(pdk_session *s, const char *text, int64_t timeout_ms, pdk_answered_fn fn,
                                             void *user) {
    static const char name[] = "pdk_session_check_sequencer_async";
    pdk_status status = pdk__check_call(s, name, timeout_ms);
    if (status != PDK_OK)
        return status;
    status = pdk__call_check_fn(name, fn);
    if (status != PDK_OK)
        return status;
    struct pdk__call *c = checking_new(s, name, text, timeout_ms);
    if (!c)
        return PDK_INVALID;
    c->answered = fn;
    c->user = user;
    return pdk__call_start(c);
}

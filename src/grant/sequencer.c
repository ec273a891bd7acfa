/* Asking ZooKeeper whether a sequencer still holds. */
#include "core/sequencer.h"
#include "base/text.h"
#include "session/blocking.h"
#include "session/query.h"
#include "session/tokens.h"

#include <paddock/sequencer.h>

struct query {
    struct pdk__query base;
    bool proven, stands;
    int64_t token; /* of the node */
};

static void query_free(struct pdk__query *q) { g_free(q); }

static void on_barrier(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct query *q = user;
    (void)s;
    q->proven = reply && (reply->result == PDK__OK || reply->result == PDK__NO_NODE);
    pdk__query_answered(&q->base, reply);
}

static void on_stat(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct query *q = user;
    q->stands = reply && reply->result == PDK__OK && pdk__token_of(s, reply->token) == q->token;
    pdk__query_answered(&q->base, reply);
}

struct checking {
    struct pdk__call call;
    struct pdk__inquiry inquiry;
    struct pdk__sequencer sequencer;
};

static struct pdk__query *checking_ask(struct pdk__inquiry *i) {
    const struct checking *c = (const struct checking *)i->call;
    struct query *q = g_new0(struct query, 1);
    q->token = c->sequencer.czxid;
    pdk__query_init(&q->base, i->call->s, query_free);
    pdk__query_send(&q->base, PDK__OP_BARRIER, i->path, on_barrier, q);
    pdk__query_send(&q->base, PDK__OP_STAT, i->path, on_stat, q);
    return &q->base;
}

static pdk_status query_verdict(const struct query *q) {
    if (q->base.status != PDK_OK)
        return q->base.status;
    if (!q->proven)
        return PDK_UNAVAILABLE;
    return q->stands ? PDK_OK : PDK_LOST;
}

static pdk_status checking_judge(struct pdk__inquiry *i) {
    pdk_status status = query_verdict((const struct query *)i->query);
    if (status != PDK_OK)
        pdk__fail(status, "%s: %s: %s", i->call->name, i->path, pdk_status_text(status));
    return status;
}

static pdk_status checking_step(struct pdk__call *c) { return pdk__inquiry_step(&((struct checking *)c)->inquiry); }
static void checking_leave(struct pdk__call *c) { pdk__inquiry_leave(&((struct checking *)c)->inquiry); }
static void checking_free(struct pdk__call *c) { g_free(c); }

/* NULL: it is no sequencer. */
static struct pdk__call *checking_new(pdk_session *s, const char *name, const char *text, int64_t timeout_ms) {
    static const struct pdk__call_kind kind = {NULL, checking_step, checking_leave, NULL, checking_free};
    static const struct pdk__inquiry_kind asks = {checking_ask, checking_judge};
    struct checking *c = g_new0(struct checking, 1);
    if (!pdk__sequencer_parse(text, &c->sequencer)) {
        g_free(c);
        pdk__fail(PDK_INVALID, "%s: text: not a sequencer; pass what pdk_hold_sequencer returned", name);
        return NULL;
    }
    c->call = pdk__call_make(&kind, s, name, timeout_ms);
    c->inquiry = (struct pdk__inquiry){.kind = &asks, .call = &c->call, .path = c->sequencer.node};
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

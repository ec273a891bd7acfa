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

static const char call[] = "pdk_sequencer_check";

static pdk_status ask(pdk_session *s, int64_t deadline, void *user) {
    const struct pdk__sequencer *sequencer = user;
    struct query *q = g_new0(struct query, 1);
    q->token = sequencer->czxid;
    pdk__query_init(&q->base, s, query_free);
    pdk__query_send(&q->base, PDK__OP_BARRIER, sequencer->node, on_barrier, q);
    pdk__query_send(&q->base, PDK__OP_STAT, sequencer->node, on_stat, q);
    pdk_status status = pdk__query_wait(&q->base, deadline);
    if (status == PDK_OK && !q->proven)
        status = PDK_UNAVAILABLE;
    if (status == PDK_OK && !q->stands)
        status = PDK_LOST;
    if (status != PDK_OK)
        pdk__fail(status, "%s: %s: %s", call, sequencer->node, pdk_status_text(status));
    pdk__query_unref(&q->base);
    return status;
}

pdk_status pdk_sequencer_check(pdk_session *s, const char *text, int64_t timeout_ms) {
    struct pdk__sequencer sequencer;
    pdk_status status = pdk__may_block(s, call, timeout_ms);
    if (status != PDK_OK)
        return status;
    if (!pdk__sequencer_parse(text, &sequencer))
        return pdk__fail(PDK_INVALID, "%s: text: not a sequencer; pass what pdk_hold_sequencer returned", call);
    return pdk__query_run(s, call, sequencer.node, timeout_ms, ask, &sequencer);
}

#include "session/query.h"

#include "base/text.h"
#include "session/blocking.h"

/* The pause between two tries on one connection. */
#define ASK_AGAIN_NS (50 * PDK__MS)

void pdk__query_init(struct pdk__query *q, pdk_session *s, void (*free_fn)(struct pdk__query *q)) {
    q->s = s;
    q->refs = 1;
    q->free = free_fn;
}

void pdk__query_unref(struct pdk__query *q) {
    pdk__assert_locked(q->s);
    if (--q->refs == 0)
        q->free(q);
}

void pdk__query_send(struct pdk__query *q, enum pdk__op_kind kind, const char *path, pdk__done_fn done, void *user) {
    pdk__query_request(q, (struct pdk__request){.kind = kind, .path = path}, done, user);
}

void pdk__query_request(struct pdk__query *q, struct pdk__request request, pdk__done_fn done, void *user) {
    pdk__assert_locked(q->s);
    if (!pdk__send(q->s, request, done, user)) {
        q->status = PDK_UNAVAILABLE;
        return;
    }
    q->refs++;
    q->in_flight++;
}

void pdk__query_answered(struct pdk__query *q, const struct pdk__reply *reply) {
    pdk__assert_locked(q->s);
    if (!reply || reply->result == PDK__UNKNOWN || reply->result == PDK__NOT_NOW) {
        q->status = PDK_UNAVAILABLE;
    } else if (reply->result == PDK__NOT_ALLOWED && q->status == PDK_OK) {
        q->status = PDK_NO_PERMISSION;
        q->code = reply->code;
    }
    q->in_flight--;
    pdk__wake(&q->waiters);
    pdk__query_unref(q);
}

/* ---- a call that asks again */

void pdk__query_loop_leave(struct pdk__query_loop *loop) {
    if (loop->query)
        pdk__query_unref(loop->query);
    loop->query = NULL;
}

pdk_status pdk__query_loop_next(struct pdk__query_loop *loop, struct pdk__query *query) {
    pdk__query_loop_leave(loop);
    loop->query = query;
    return PDK__WAITS;
}

static pdk_status query_too_late(const struct pdk__query_loop *loop) {
    const struct pdk__call *c = loop->call;
    return pdk__fail(PDK_UNAVAILABLE, "%s: %s: no server answered within timeout_ms (%lld)", c->name, loop->path,
                     (long long)c->timeout_ms);
}

/* No query is under way, so begin one. UNAVAILABLE: the last one is over, and it is worth asking again. */
static pdk_status query_begin(struct pdk__query_loop *loop) {
    if (loop->call->s->link != PDK__LINK_CONNECTED)
        return PDK_UNAVAILABLE;
    loop->query = loop->kind->ask(loop);
    return PDK__WAITS;
}

/* Goes on until something is in flight, or there is a status. */
static pdk_status query_go_on(struct pdk__query_loop *loop) {
    pdk_status status = loop->query ? PDK__WAITS : query_begin(loop);
    while (status == PDK__WAITS && loop->query->in_flight == 0)
        status = loop->kind->judge(loop);
    return status;
}

pdk_status pdk__query_loop_step(struct pdk__query_loop *loop) {
    struct pdk__call *c = loop->call;
    pdk_session *s = c->s;
    pdk_status status = pdk__session_usable(s, c->name);
    if (status == PDK_OK)
        status = query_go_on(loop);
    if (status != PDK__WAITS && status != PDK_UNAVAILABLE)
        return status;
    if (pdk__call_is_late(c))
        return query_too_late(loop);
    if (status == PDK__WAITS)
        return pdk__call_waits(c, &loop->query->waiters, INT64_MAX);
    pdk__query_loop_leave(loop);
    bool connected = s->link == PDK__LINK_CONNECTED;
    return pdk__call_waits(c, &s->on_link, connected ? pdk__now(s) + ASK_AGAIN_NS : INT64_MAX);
}

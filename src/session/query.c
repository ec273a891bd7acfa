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

static pdk_status await(struct pdk__query *q, int64_t deadline) {
    while (q->in_flight > 0) {
        if (q->s->ended != PDK_OK)
            return q->s->ended;
        if (!pdk__wait(q->s, &q->waiters, deadline))
            return PDK_UNAVAILABLE;
    }
    return q->status;
}

static void leave_question(void *q) { pdk__query_unref(q); }

pdk_status pdk__query_wait(struct pdk__query *q, int64_t deadline) {
    pdk__assert_locked(q->s);
    struct pdk__leave leave = {.locked = leave_question, .user = q};
    pdk__leave_push(&leave);
    pdk_status status = await(q, deadline);
    pdk__leave_pop();
    return status;
}

pdk_status pdk__query_run(pdk_session *s, const char *call, const char *path, int64_t timeout_ms,
                          pdk_status (*ask)(pdk_session *s, int64_t deadline, void *user), void *user) {
    pdk_status status = pdk__may_block(s, call, timeout_ms);
    if (status != PDK_OK)
        return status;
    int64_t deadline = pdk__deadline(s, timeout_ms);
    struct pdk__leave leave = {0};
    pdk__leave_push(&leave);
    pdk__lock(s);
    for (;;) {
        bool connected = s->link == PDK__LINK_CONNECTED;
        status = pdk__session_usable(s, call);
        if (status != PDK_OK)
            break;
        status = connected ? ask(s, deadline, user) : PDK_UNAVAILABLE;
        int64_t pause = connected ? pdk__now(s) + ASK_AGAIN_NS : deadline;
        if (status != PDK_UNAVAILABLE || pdk__now(s) >= deadline)
            break;
        pdk__wait(s, &s->on_link, MIN(deadline, pause));
    }
    if (status == PDK_UNAVAILABLE)
        pdk__fail(status, "%s: %s: no server answered within timeout_ms (%lld)", call, path, (long long)timeout_ms);
    pdk__unlock(s);
    pdk__leave_pop();
    return status;
}

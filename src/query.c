#include "query.h"

void pdk__query_init(struct pdk__query *q, pdk_session *s, void (*free_fn)(struct pdk__query *q)) {
    q->s = s;
    q->refs = 1;
    q->free = free_fn;
}

void pdk__query_unref(struct pdk__query *q) {
    if (--q->refs == 0)
        q->free(q);
}

void pdk__query_send(struct pdk__query *q, enum pdk__op_kind kind, const char *path, pdk__done_fn done, void *user) {
    if (!pdk__send(q->s, (struct pdk__request){.kind = kind, .path = path}, done, user)) {
        q->status = PDK_UNAVAILABLE;
        return;
    }
    q->refs++;
    q->in_flight++;
}

void pdk__query_answered(struct pdk__query *q, const struct pdk__reply *reply) {
    if (!reply || reply->result == PDK__UNKNOWN || reply->result == PDK__NOT_NOW) {
        q->status = PDK_UNAVAILABLE;
    } else if (reply->result == PDK__NOT_ALLOWED && q->status == PDK_OK) {
        q->status = PDK_NO_PERMISSION;
        q->code = reply->code;
    }
    q->in_flight--;
    pthread_cond_broadcast(&q->s->changed);
    pdk__query_unref(q);
}

pdk_status pdk__query_wait(struct pdk__query *q, int64_t deadline) {
    while (q->in_flight > 0) {
        if (q->s->ended != PDK_OK)
            return q->s->ended;
        if (!pdk__wait(q->s, &q->s->changed, deadline))
            return PDK_UNAVAILABLE;
    }
    return q->status;
}

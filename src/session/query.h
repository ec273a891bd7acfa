/* A question that takes several requests, and the caller that waits for the answer. */
#ifndef PDK_QUERY_H
#define PDK_QUERY_H

#include "session/ops.h"

/* Embedded first in the user's own struct. Under the monitor. */
struct pdk__query {
    pdk_session *s;
    unsigned refs; /* the caller's, and one per request in flight */
    unsigned in_flight;
    struct pdk__waiters waiters; /* the caller, for answers */
    pdk_status status;           /* UNAVAILABLE once a request was not answered */
    int code;                    /* ZooKeeper's, of a refusal */
    void (*free)(struct pdk__query *q);
};

void pdk__query_init(struct pdk__query *q, pdk_session *s, void (*free)(struct pdk__query *q));
/* Send a request. done gets `user`, and calls pdk__query_answered last. If it cannot be sent, the status is
 * UNAVAILABLE. */
void pdk__query_send(struct pdk__query *q, enum pdk__op_kind kind, const char *path, pdk__done_fn done, void *user);
/* The same, of any request. */
void pdk__query_request(struct pdk__query *q, struct pdk__request request, pdk__done_fn done, void *user);
void pdk__query_answered(struct pdk__query *q, const struct pdk__reply *reply);
/* Wait until nothing is in flight, the moment has come, or the session has ended. The caller's reference is given back
 * when its thread is cancelled meanwhile. */
pdk_status pdk__query_wait(struct pdk__query *q, int64_t deadline);
void pdk__query_unref(struct pdk__query *q);

/* The whole blocking call: ask until there is an answer or the time is over. ask runs under the monitor, while
 * connected. It returns UNAVAILABLE if it is worth asking again. Not under the monitor. */
pdk_status pdk__query_run(pdk_session *s, const char *call, const char *path, int64_t timeout_ms,
                          pdk_status (*ask)(pdk_session *s, int64_t deadline, void *user), void *user);

#endif

/* A query: requests that one call waits for, and the loop that asks again until there is an answer.
 * session/node_query.h has a query that is ready to be sent. A query of many nodes, as in grant/contenders.c, embeds
 * the struct below in its own. */
#ifndef PDK_QUERY_H
#define PDK_QUERY_H

#include "session/call.h"
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
void pdk__query_unref(struct pdk__query *q);

/* The loop of a query: the part of a call that asks, again and again, until there is an answer or the time is over.
 *
 *     connected? ──► ask ──► all answered ──► judge ──a status──► over
 *         ▲                      ▲              │ PDK__WAITS: there is a further query
 *         │                      └──────────────┤
 *         └── a pause, or a connection ◄────────┘ UNAVAILABLE
 */
struct pdk__query_loop {
    const struct pdk__query_loop_kind *kind;
    struct pdk__call *call;   /* the call that it is a part of */
    const char *path;         /* the path that an error text names */
    struct pdk__query *query; /* the one under way; a reference. NULL: none */
};

struct pdk__query_loop_kind {
    /* Begin a try: send requests, and return the query. While connected. */
    struct pdk__query *(*ask)(struct pdk__query_loop *loop);
    /* Everything was answered, or could not be sent: query->status. UNAVAILABLE: it is worth asking again. PDK__WAITS:
     * a further query was begun (pdk__query_loop_next). */
    pdk_status (*judge)(struct pdk__query_loop *loop);
};

/* For a step of its call, and for its end. */
pdk_status pdk__query_loop_step(struct pdk__query_loop *loop);
void pdk__query_loop_leave(struct pdk__query_loop *loop);
/* In judge: a further query, in place of the one that was answered. */
pdk_status pdk__query_loop_next(struct pdk__query_loop *loop, struct pdk__query *query);

#endif

/* A node whose sequencer is checked, as a checker remembers it.
 *
 *     ASKING ──read behind a barrier: it is there──► STANDS ──its deletion is heard of──► LOST, for good
 *        ▲                                             │
 *        └────── its watch fired, or is not set ◄──────┘
 *
 * STANDS counts only for the ZooKeeper session that has read it, and while that has a lease: events of watches come
 * before the answers that prolong the lease. So an answer is never older than the lease.
 */
#ifndef PDK_GRANT_CHECKED_H
#define PDK_GRANT_CHECKED_H

#include "core/sequencer.h"
#include "session/live_query.h"

enum pdk__checked_state { PDK__ASKING, PDK__STANDS, PDK__NODE_IS_LOST };

/* The subject of a check. */
struct pdk__checked_key {
    const char *node;
    int64_t token;
};

struct pdk__checked {
    struct pdk__live_query query;
    struct pdk__checked_key key;
    char *node;
    GList link;  /* in the checker's order of use, under its mutex */
    bool listed; /* the checker remembers it: under the monitor */
    _Atomic int state;
    _Atomic uint64_t generation; /* of the handle that has read it */
    /* under the monitor */
    pdk_status refused;          /* NO_PERMISSION, LIMIT: for the threads that wait; the node is forgotten */
    bool proven;                 /* the barrier before this reading was answered */
    bool uses_lease;             /* counted in the session's lease_users */
    unsigned waiting;            /* the threads that wait for it */
    struct pdk__waiters waiters; /* they are woken by these */
};

guint pdk__checked_hash(gconstpointer key);
gboolean pdk__checked_equal(gconstpointer a, gconstpointer b);

/* It has two references: its own, until it is stopped, and the caller's. It looks at once. All under the monitor. */
struct pdk__checked *pdk__checked_new(pdk_session *s, const struct pdk__checked_key *key);
/* Ask no more. The node keeps its state. */
void pdk__checked_stop(struct pdk__checked *c);

/* This ZooKeeper session has read it, and has heard of no change since. */
bool pdk__checked_stands(const struct pdk__checked *c);
/* OK, LOST, or UNAVAILABLE: it is not known. Any thread that has a reference. */
pdk_status pdk__checked_answer(const struct pdk__checked *c);

#endif

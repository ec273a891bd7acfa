/* The model of a lease lock's record: every order of events, for three claims that are granted the lock one after the other. The first
 * and the last have the same secret: a holder, and its restart.
 *
 *     lease_lock_world.c  the record, the lock nodes, the servers' clock, requests on their way, and what must hold
 *
 * As in the model of a job a claim that has lost its lock goes on without noticing, a write that lost its answer may be executed at any
 * later time, and a look may show an older state.
 */
#ifndef LEASE_LOCK_MODEL_H
#define LEASE_LOCK_MODEL_H

#include "core/lease_lock.h"
#include "search.h"

enum { LEASE_CLAIMS = 3, LEASE_LATE = 2, LEASE_STATES = 8 };

/* What claims came to, in the order of the counts. */
enum { LEASE_HELD, LEASE_BACK, LEASE_RENEWED, LEASE_STOOD, LEASE_TOO_LATE, LEASE_LOST, LEASE_GIVEN_UP, LEASE_COUNTS };

struct lease_lock_config {
    int8_t claims, duration;
    int8_t ticks, losses, stales;
    int8_t renewals;               /* of each hold */
    int8_t gives_up;               /* holders may give it up */
    uint64_t counts[LEASE_COUNTS]; /* filled by the search */
};

enum lease_phase {
    LEASE_OUT,
    LEASE_CLAIMED,
    LEASE_TAKING,
    LEASE_HOLDS,
    LEASE_RENEWS, /* it looks */
    LEASE_RENEWING,
    LEASE_LEAVES,
    LEASE_LEAVING,
    LEASE_OVER
};

struct lease_write {
    int8_t pending, executed, landed, version;
    int8_t state; /* of the next record, whose token is the writer's */
};

struct lease_claim {
    int8_t phase;   /* enum lease_phase */
    int8_t claimed; /* when its lock node was made */
    int8_t stands;
    int8_t passed; /* the newest state that its session saw */
    int8_t renewals;
    struct lease_write now, late[LEASE_LATE];
};

struct lease_content {
    int8_t mtime, state, token;
};

struct lease_lock_world {
    struct lease_claim claims[LEASE_CLAIMS];
    struct lease_content states[LEASE_STATES]; /* the version is the index */
    int8_t now, clock;
    int8_t ticks, losses, stales; /* left */
};

struct search_model lease_lock_model(struct lease_lock_config *config);

#endif

/* The model of a guarded znode: every order of events, for two or three holders that are granted one after the other.
 *
 *     guarded_world.c  the znode, the lock nodes, requests on their way, and what must hold
 *
 * It is harsher than ZooKeeper. A holder never notices by itself that it holds no more. A request that lost its answer may be
 * executed at any later time, also when its session is over. A read may show any older state that its session has not passed yet.
 */
#ifndef GUARDED_MODEL_H
#define GUARDED_MODEL_H

#include "core/guarded.h"
#include "search.h"

enum { GUARDED_HOLDERS = 3, GUARDED_LATE = 2, GUARDED_STATES = 24 };

/* Calls that ended so, in the order of the counts. */
enum { GUARDED_OPENED, GUARDED_WRITTEN, GUARDED_LOST, GUARDED_REPLACED, GUARDED_COUNTS };

struct guarded_config {
    int8_t holders;
    int8_t writes;                   /* calls that write, of each holder */
    int8_t losses;                   /* answers, or whole requests */
    int8_t stales;                   /* reads that show an older state */
    int8_t aliens;                   /* writes by somebody without a lock */
    int8_t gives_up;                 /* calls that end at their deadline */
    int8_t exists;                   /* the node is there when the first one opens */
    int8_t shared;                   /* the second one is handed the lock node of the first */
    uint64_t counts[GUARDED_COUNTS]; /* filled by the search */
};

struct guarded_request {
    int8_t step; /* enum pdk__guarded_step; IDLE: there is none */
    int8_t executed;
    int8_t result;
    int8_t shown; /* READ: which of the states */
    int32_t version;
    struct pdk__stamp stamp; /* REWRITE and WRITE */
};

struct guarded_holder {
    struct pdk__guarded machine;
    struct guarded_request now, late[GUARDED_LATE];
    int8_t stands;  /* its lock node */
    int8_t opened;  /* a call has told that it is open */
    int8_t since;   /* which state of the node stood then */
    int8_t writes;  /* left */
    int8_t passed;  /* the newest state that its session saw */
    int8_t written; /* writes that landed, a bit each */
};

struct guarded_content {
    int8_t exists;
    int32_t version;
    struct pdk__stamp stamp;
};

struct guarded_world {
    struct guarded_holder holders[GUARDED_HOLDERS];
    int8_t now;    /* which of the states is the present one */
    int8_t newest; /* the newest holder that is open, or -1 */
    int8_t alien;  /* the state that somebody without a lock wrote, or 0 */
    int8_t shared;
    int8_t losses, stales, aliens, gives_up;       /* left */
    struct guarded_content states[GUARDED_STATES]; /* of the node, from its first to its present one */
};

struct search_model guarded_model(struct guarded_config *config);

#endif

/* What happened in the play, and whether it had to. */
#ifndef DEMO_VERDICT_H
#define DEMO_VERDICT_H

#include "ledger.h"

/* A holder was struck, and somebody else got the lock. */
struct scene {
    struct report victim; /* the LINGERS of the holder */
    int64_t struck_ns;    /* 0: not yet */
    struct report next;   /* the first grant after it, to another process; token 0: none yet */
    int64_t next_ns;
};

struct story {
    struct ledger ledger;
    struct scene killed, paused;
    struct report woke;    /* the stopped holder's first answer to pdk_hold_valid; kind 0: none */
    struct report naive;   /* what became of its write; kind 0: not attempted */
    struct report refused; /* the resource's own word on it; kind 0: it did not refuse it */
    struct report lost;    /* its LOST */
    int lost_count;
    int troubles;   /* calls that failed */
    int bad_ends;   /* processes that did not end well */
    int64_t ran_ns; /* how long it took */
};

/* Print it. True when everything is as promised. */
bool verdict(struct story *story, const char *file);

#endif

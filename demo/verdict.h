/* The events of the demo, and the verdict on them. */
#ifndef DEMO_VERDICT_H
#define DEMO_VERDICT_H

#include "grant_log.h"

/* A holder was killed or stopped, and another process got the lock. */
struct incident {
    struct report victim; /* the LINGERS report of the holder */
    int64_t fault_ns;     /* 0: not yet */
    struct report next;   /* the first grant after it, to another process; token 0: none yet */
    int64_t next_ns;
};

struct results {
    struct grant_log grant_log;
    struct incident killed, paused;
    struct report woke;    /* the stopped holder's first answer of pdk_hold_is_valid; kind 0: none */
    struct report naive;   /* the result of its write; kind 0: not attempted */
    struct report refused; /* the resource's report of that write; kind 0: it did not refuse it */
    struct report lost;    /* its LOST report */
    int lost_count;
    int troubles;   /* calls that failed */
    int bad_ends;   /* processes that did not end well */
    int64_t ran_ns; /* how long the demo took */
};

/* Prints the verdict. True when every promise was kept. */
bool verdict(struct results *results, const char *file);

#endif

/* The memory that queue.c and its processes share. They proceed in steps: each process arrives, and goes on when
 * queue.c says so. */
#ifndef CLIENT_H
#define CLIENT_H

#include <stdatomic.h>

enum { CLIENTS = 8, CLIENT_SESSION_MS = 60000 }; /* renewals are rare then */

enum client_mode {
    MODE_CHAIN, /* all queue; step; each takes the lock once and releases it; step */
    MODE_FREE,  /* each takes the lock `cycles` times; step */
    MODE_END,
};

struct control {
    atomic_int arrived; /* since the start */
    atomic_int phase;
    atomic_int mode;
    atomic_int cycles;
    atomic_int ranks;         /* given out in this chain */
    atomic_int rank[CLIENTS]; /* by index: 0 had it first */
};

#endif

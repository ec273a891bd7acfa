/* What bench_queue and its processes share. They proceed in step: each arrives, and goes on when the judge says so. */
#ifndef BENCH_PLAYER_H
#define BENCH_PLAYER_H

#include <stdatomic.h>

enum { PLAYERS = 8, PLAYER_SESSION_MS = 60000 }; /* renewals are rare then */

enum player_mode {
    PLAY_CHAIN, /* all queue; step; each takes the lock once and passes it on; step */
    PLAY_FREE,  /* each takes the lock `cycles` times; step */
    PLAY_OVER,
};

struct board {
    atomic_int arrived; /* in all */
    atomic_int phase;
    atomic_int mode;
    atomic_int cycles;
    atomic_int ranks;         /* given out in this chain */
    atomic_int rank[PLAYERS]; /* by seat: 0 had it first */
};

#endif

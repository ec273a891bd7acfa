/* What a turn in the queue of a semaphore is for: taking leases. */
#ifndef PDK_SEMAPHORE_TURN_H
#define PDK_SEMAPHORE_TURN_H

#include "line.h"

struct turn;

/* line->user of the queue. */
struct pdk__permits {
    char *leases; /* the directory, absolute, chroot included */
    int32_t permits;
    struct turn *turn; /* or NULL */
};

extern const struct pdk__gate pdk__permits_gate;

#endif

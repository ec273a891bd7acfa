/* The gate of a semaphore's queue: an admission takes the leases. */
#ifndef PDK_SEMAPHORE_ADMISSION_H
#define PDK_SEMAPHORE_ADMISSION_H

#include "grant/queue.h"

struct admission;

/* queue->user of a semaphore's queue. */
struct pdk__permits {
    char *leases; /* the directory, absolute, chroot included */
    int32_t permits;
    struct admission *admission; /* or NULL */
};

extern const struct pdk__gate pdk__permits_gate;

#endif

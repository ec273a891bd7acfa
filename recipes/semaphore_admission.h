/* What a turn in the queue of a semaphore is for: taking leases. */
#ifndef PDK_SEMAPHORE_ADMISSION_H
#define PDK_SEMAPHORE_ADMISSION_H

#include "grant/queue.h"

struct admission;

/* line->user of the queue. */
struct pdk__permits {
    char *leases; /* the directory, absolute, chroot included */
    int32_t permits;
    struct admission *admission; /* or NULL */
};

extern const struct pdk__gate pdk__permits_gate;

#endif

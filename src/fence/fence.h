/* A fence in memory, as the map has many of them. */
#ifndef PDK_FENCE_FENCE_H
#define PDK_FENCE_FENCE_H

#include "fence/mark.h"

#include <stdatomic.h>

/* The CPU can exchange 16 bytes at once, and the compiler says so without a library of its own. ThreadSanitizer knows 8. */
#if defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_16) && !defined(__SANITIZE_THREAD__)
#define PDK__FENCE_WIDE 1
#else
#define PDK__FENCE_WIDE 0
#endif

/* The first two words are one pair of 16 bytes. All of it is one cache line. */
struct pdk_fence {
    _Alignas(64) _Atomic uint64_t top;
    _Atomic uint64_t handover;
    _Atomic int64_t floor;
    atomic_flag lock; /* without exchanges of 16 bytes */
    /* In a map. They never change while others look at the node. */
    uint32_t name_size;
    uint64_t hash;
    struct pdk_fence *next;
};

/* Of arguments that were checked. call: the name in the error text. */
pdk_status pdk__fence_admit(struct pdk_fence *fence, const char *call, int64_t token, uint32_t handover,
                            enum pdk__use use);
struct pdk__mark pdk__fence_load(const struct pdk_fence *fence);
void pdk__fence_init(struct pdk_fence *fence);

#endif

/* A mark in memory, as a fence has one of them and a map has many. */
#ifndef PDK_FENCE_CELL_H
#define PDK_FENCE_CELL_H

#include "fence/mark.h"

#include <stdatomic.h>

/* The CPU can exchange 16 bytes at once, and the compiler says so without a library of its own. ThreadSanitizer knows
 * 8. */
#if defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_16) && !defined(__SANITIZE_THREAD__)
#define PDK__CELL_WIDE 1
#else
#define PDK__CELL_WIDE 0
#endif

/* The first two words are one pair of 16 bytes. */
struct pdk__cell {
    _Alignas(16) _Atomic uint64_t top;
    _Atomic uint64_t handover;
    _Atomic int64_t floor;
    atomic_flag lock; /* without exchanges of 16 bytes */
};

/* A struct with a cell begins with the cell, and with a cache line. */
enum { PDK__CELL_LINE = 64 };

void pdk__cell_init(struct pdk__cell *cell);
struct pdk__mark pdk__cell_load(const struct pdk__cell *cell);
/* Admit by arguments that were checked. call: the name in the error text. */
pdk_status pdk__cell_admit(struct pdk__cell *cell, const char *call, int64_t token, uint32_t handover,
                           enum pdk__use use);

#endif

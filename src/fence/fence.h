/* The fence as its callers have it: in memory a cell, or a file that processes share. */
#ifndef PDK_FENCE_FENCE_H
#define PDK_FENCE_FENCE_H

#include "fence/cell.h"
#include "fence/file.h"

/* In memory all of it is one cache line. */
struct pdk_fence {
    _Alignas(PDK__CELL_LINE) struct pdk__cell cell;
    struct pdk__file *file; /* NULL in memory; otherwise the mark is there, and the cell is of no use */
};

/* Make a fence in memory. NULL: no memory, and the error text says so. */
struct pdk_fence *pdk__fence_make(const char *call);

#endif

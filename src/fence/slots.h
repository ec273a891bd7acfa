/* The content of a fence's file: two slots, each with a serial number and a checksum. A new mark goes into the slot
 * that does not hold the newest, so a write that is cut off leaves the other slot. */
#ifndef PDK_FENCE_SLOTS_H
#define PDK_FENCE_SLOTS_H

#include "fence/mark.h"

enum {
    PDK__SLOT_STRIDE = 4096, /* each has a block of its own */
    PDK__SLOTS = 2,
    PDK__SLOTS_SIZE = PDK__SLOTS * PDK__SLOT_STRIDE,
};

struct pdk__slot {
    char magic[16];
    uint64_t serial;
    uint64_t top, handover, floor;
    uint64_t checksum; /* of all before */
};

struct pdk__slots {
    struct pdk__mark mark;
    uint64_t serial;
    int newest;
};

struct pdk__slot pdk__slot_make(const struct pdk__mark *mark, uint64_t serial);
/* The newest mark. NULL when there is one; else words for why the file is no fence's, or damaged. One slot may be torn.
 * Two good ones have serial numbers that follow each other. */
const char *pdk__slots_read(const struct pdk__slot slots[PDK__SLOTS], struct pdk__slots *out);

#endif

#include "fence/slots.h"
#include "fence/hash.h"

#include <string.h>

static const char magic[16] = "paddock-fence 1";
/* The key is fixed, since other processes read the file. */
static const uint64_t key[2] = {UINT64_C(0x7061646f636b2d66), UINT64_C(0x656e63652d736c74)};

static uint64_t checksum(const struct pdk__slot *slot) {
    return pdk__hash(key, slot, offsetof(struct pdk__slot, checksum));
}

struct pdk__slot pdk__slot_make(const struct pdk__mark *mark, uint64_t serial) {
    struct pdk__slot slot = {.serial = serial, .top = mark->top, .handover = mark->handover};
    slot.floor = (uint64_t)mark->floor;
    memcpy(slot.magic, magic, sizeof slot.magic);
    slot.checksum = checksum(&slot);
    return slot;
}

static bool is_good(const struct pdk__slot *slot) {
    return memcmp(slot->magic, magic, sizeof magic) == 0 && slot->checksum == checksum(slot);
}

const char *pdk__slots_read(const struct pdk__slot slots[PDK__SLOTS], struct pdk__slots *out) {
    bool first = is_good(&slots[0]), second = is_good(&slots[1]);
    if (!first && !second)
        return memcmp(slots[0].magic, magic, sizeof magic) != 0 && memcmp(slots[1].magic, magic, sizeof magic) != 0
                   ? "is not a fence"
                   : "is damaged in both slots";
    if (first && second && slots[0].serial - slots[1].serial != 1 && slots[1].serial - slots[0].serial != 1)
        return "has two slots that do not belong together";
    out->newest = first && (!second || slots[0].serial - slots[1].serial == 1) ? 0 : 1;
    const struct pdk__slot *slot = &slots[out->newest];
    out->serial = slot->serial;
    out->mark = (struct pdk__mark){slot->top, (uint32_t)slot->handover, (int64_t)slot->floor};
    return NULL;
}

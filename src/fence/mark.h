/* The memory of a fence, and the one rule by which it admits: plain data. Fences in memory and in files use the
 * same. */
#ifndef PDK_FENCE_MARK_H
#define PDK_FENCE_MARK_H

#include <paddock/fence.h>

/*   top       the largest token that was admitted, doubled; plus 1 when it is a writer's
 *   handover  of the largest writer's mark
 *   floor     that writer's token, when a reader's is on top; else of no use
 *
 * Readers below the writer are refused. With a writer on top, everything below the top is. */
struct pdk__mark {
    uint64_t top;
    uint32_t handover;
    int64_t floor;
};

enum pdk__use { PDK__WRITE, PDK__READ };

static inline int64_t pdk__mark_token(const struct pdk__mark *mark) { return (int64_t)(mark->top >> 1); }
static inline bool pdk__mark_is_writers(const struct pdk__mark *mark) { return mark->top & 1; }

/* false: stale, and the mark stays. true: admitted, and the mark is the one afterwards, perhaps the same. */
bool pdk__mark_admit(struct pdk__mark *mark, int64_t token, uint32_t handover, enum pdk__use use);

/* The mark as the calls give it: each output may be NULL. */
void pdk__mark_tell(const struct pdk__mark *mark, int64_t *token, uint32_t *handover);
/* Sets the error text of a stale mark, and returns PDK_STALE. */
pdk_status pdk__mark_stale(const char *call, const struct pdk__mark *mark, int64_t token, uint32_t handover,
                           enum pdk__use use);
/* PDK_OK, or PDK_INVALID with its text. thing: the first argument, and its name. */
pdk_status pdk__mark_check(const char *call, const char *name, const void *thing, int64_t token);

#endif

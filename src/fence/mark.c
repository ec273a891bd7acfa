#include "fence/mark.h"
#include "base/text.h"

#include <inttypes.h>

static uint64_t writers(int64_t token) { return (uint64_t)token << 1 | 1; }

static bool admit_writer(struct pdk__mark *mark, int64_t token, uint32_t handover) {
    int64_t top = pdk__mark_token(mark);
    if (token < top || (token == top && pdk__mark_is_writers(mark) && handover < mark->handover))
        return false;
    mark->top = writers(token);
    mark->handover = handover;
    return true;
}

/* Below a reader's token that is on top: only the largest writer's mark counts. */
static bool admit_below(struct pdk__mark *mark, int64_t token, uint32_t handover) {
    if (token < mark->floor || (token == mark->floor && handover < mark->handover))
        return false;
    if (token == mark->floor)
        mark->handover = handover;
    return true;
}

bool pdk__mark_admit(struct pdk__mark *mark, int64_t token, uint32_t handover, enum pdk__use use) {
    int64_t top = pdk__mark_token(mark);
    bool by_writer = pdk__mark_is_writers(mark);
    /* A number above 0 is a writer's, whatever its hold is by now. */
    if (use == PDK__WRITE || (token >= top && handover > 0) || (token == top && by_writer))
        return admit_writer(mark, token, handover);
    if (token < top)
        return !by_writer && admit_below(mark, token, handover);
    if (by_writer)
        mark->floor = top;
    mark->top = (uint64_t)token << 1;
    return true;
}

void pdk__mark_tell(const struct pdk__mark *mark, int64_t *token, uint32_t *handover) {
    if (token)
        *token = pdk__mark_token(mark);
    if (handover)
        *handover = pdk__mark_is_writers(mark) ? mark->handover : 0;
}

pdk_status pdk__mark_stale(const char *call, const struct pdk__mark *mark, int64_t token, uint32_t handover,
                           enum pdk__use use) {
    bool below = use == PDK__READ && !pdk__mark_is_writers(mark);
    bool is_writers = below || pdk__mark_is_writers(mark);
    return pdk__fail(PDK_STALE,
                     "%s: token %" PRId64 ", hand-over %" PRIu32 " is older than token %" PRId64 ", hand-over %" PRIu32
                     " of a %s that was admitted: this hold was lost, acquire again",
                     call, token, handover, below ? mark->floor : pdk__mark_token(mark),
                     is_writers ? mark->handover : 0, is_writers ? "writer" : "reader");
}

pdk_status pdk__mark_check(const char *call, const char *name, const void *thing, int64_t token) {
    if (!thing)
        return pdk__fail(PDK_INVALID, "%s: %s: is NULL", call, name);
    if (token <= 0)
        return pdk__fail(PDK_INVALID, "%s: token: %" PRId64 " is not positive; pass what pdk_hold_token returned", call,
                         token);
    return PDK_OK;
}

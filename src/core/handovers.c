#include "core/handovers.h"

#include <assert.h>

void pdk__handovers_init(struct pdk__handovers *h, uint32_t max_handovers, int64_t max_time) {
    *h = (struct pdk__handovers){.max_handovers = max_handovers, .max_time = max_time};
}

void pdk__handovers_granted(struct pdk__handovers *h, int64_t now) {
    h->handovers = 0;
    h->since = now;
}

static bool may_hand_over(const struct pdk__handovers *h, int64_t now, bool valid) {
    return valid && h->handovers < h->max_handovers && now - h->since < h->max_time;
}

enum pdk__handover pdk__handovers_next(struct pdk__handovers *h, int64_t now, bool waiting, bool valid) {
    if (!waiting)
        return PDK__HANDOVER_LEAVE;
    if (!may_hand_over(h, now, valid))
        return PDK__HANDOVER_REJOIN;
    h->handovers++;
    assert(h->handovers <= h->max_handovers);
    return PDK__HANDOVER_HERE;
}

int64_t pdk__handovers_linger(const struct pdk__handovers *h, int64_t now, bool valid) {
    if (h->max_linger == 0 || !may_hand_over(h, now, valid))
        return 0;
    int64_t left = h->max_time - (now - h->since);
    return now + (left < h->max_linger ? left : h->max_linger);
}

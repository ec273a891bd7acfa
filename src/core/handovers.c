#include "core/handovers.h"

void pdk__handovers_init(struct pdk__handovers *t, uint32_t max_handovers, int64_t max_time) {
    *t = (struct pdk__handovers){.max_handovers = max_handovers, .max_time = max_time};
}

void pdk__handovers_granted(struct pdk__handovers *t, int64_t now) {
    t->handovers = 0;
    t->since = now;
}

enum pdk__handover pdk__handovers_next(struct pdk__handovers *t, int64_t now, bool waiting, bool valid) {
    if (!waiting)
        return PDK__HANDOVER_LEAVE;
    if (!valid || t->handovers >= t->max_handovers || now - t->since >= t->max_time)
        return PDK__HANDOVER_REJOIN;
    t->handovers++;
    return PDK__HANDOVER_HERE;
}

#include "core/turns.h"

void pdk__turns_init(struct pdk__turns *t, uint32_t max_handovers, int64_t max_time) {
    *t = (struct pdk__turns){.max_handovers = max_handovers, .max_time = max_time};
}

void pdk__turns_granted(struct pdk__turns *t, int64_t now) {
    t->handovers = 0;
    t->since = now;
}

enum pdk__turn pdk__turns_next(struct pdk__turns *t, int64_t now, bool waiting, bool valid) {
    if (!waiting)
        return PDK__TURN_LEAVE;
    if (!valid || t->handovers >= t->max_handovers || now - t->since >= t->max_time)
        return PDK__TURN_REJOIN;
    t->handovers++;
    return PDK__TURN_HAND_OVER;
}

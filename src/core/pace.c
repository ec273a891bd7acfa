#include "core/pace.h"

#define SHORTEST (20 * PDK__MS)

enum { DOUBLINGS = 6 };

const struct pdk__pace_kind pdk__pace_steps = {64, 50 * PDK__MS, 160 * PDK__MS};
const struct pdk__pace_kind pdk__pace_repeats = {3, 1000 * PDK__MS, 1000 * PDK__MS};
const struct pdk__pace_kind pdk__pace_rounds = {16, 100 * PDK__MS, 100 * PDK__MS};
const struct pdk__pace_kind pdk__pace_pauses = {0, 1000 * PDK__MS, 1000 * PDK__MS};

int64_t pdk__pace_next(struct pdk__pace *pace, const struct pdk__pace_kind *kind, int64_t now) {
    int64_t leaked = (now - pace->since) / kind->leak;
    if (leaked >= pace->level) {
        pace->level = 0;
        pace->since = now;
    } else {
        pace->level -= (uint32_t)leaked;
        pace->since += leaked * kind->leak;
    }
    uint32_t above = pace->level >= kind->free ? pace->level - kind->free : 0;
    bool waits = pace->level >= kind->free;
    if (above <= DOUBLINGS)
        pace->level++;
    if (!waits)
        return 0;
    int64_t pause = SHORTEST << (above < DOUBLINGS ? above : DOUBLINGS);
    return pause < kind->most ? pause : kind->most;
}

void pdk__pace_give_back(struct pdk__pace *pace) {
    if (pace->level > 0)
        pace->level--;
}

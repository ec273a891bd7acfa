/* Spoils histories of sets of rights. */
#include "mutations.h"

#include <paddock/status.h>

static bool is_part(const struct history *h, int32_t at) { return h->events[at].kind == HISTORY_PART; }

bool spoil_dropped_part(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_part);
    if (at >= 0)
        mutation_remove(h, at);
    return at >= 0;
}

static bool is_part_after_a_grant(const struct history *h, int32_t at) {
    return is_part(h, at) && h->events[at].a > 0 && mutation_grant(h, (int32_t)h->events[at].a - 1);
}

/* It has what another claim got. */
bool spoil_part(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_part_after_a_grant);
    if (at >= 0)
        h->events[at].a--;
    return at >= 0;
}

static bool is_looked(const struct history *h, int32_t at) { return h->events[at].kind == HISTORY_LOOKED; }

bool spoil_set_valid(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_looked);
    if (at >= 0)
        h->events[at].a = !h->events[at].a;
    return at >= 0;
}

static bool is_valid(const struct history *h, int32_t at) { return is_looked(h, at) && h->events[at].a; }

bool spoil_set_lost(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_valid);
    if (at < 0)
        return false;
    struct history_event lost = h->events[at];
    lost.kind = HISTORY_SET_LOST;
    lost.a = 1;
    lost.b = 0;
    return mutation_insert(h, at + 1, lost);
}

static bool is_lost(const struct history *h, int32_t at) { return h->events[at].kind == HISTORY_SET_LOST; }

bool spoil_set_lost_twice(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_lost);
    return at >= 0 && mutation_insert(h, at + 1, h->events[at]);
}

static bool is_released(const struct history *h, int32_t at) { return h->events[at].kind == HISTORY_SET_RELEASED; }

bool spoil_set_release(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_released);
    if (at >= 0)
        h->events[at].a = h->events[at].a == PDK_OK ? PDK_LOST : PDK_OK;
    return at >= 0;
}

/* Spoils histories of sets of rights. */
#include "mutations.h"

#include <paddock/status.h>

static bool is_of_majority(const struct history *h, int32_t at) {
    int32_t claim = mutation_next(h, -1, HISTORY_CLAIM, h->events[at].id);
    return claim >= 0 && h->events[claim].mode == MODE_SET && h->events[claim].sequence > 0;
}

/* Of a majority one more, or less, may not matter. */
static bool is_part(const struct history *h, int32_t at) {
    return h->events[at].kind == HISTORY_PART && !is_of_majority(h, at);
}

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

static bool is_removal(const struct history_event *e) {
    return (e->kind == HISTORY_DELETED && e->b == 0) || (e->kind == HISTORY_ASKS && e->a != 0);
}

/* The delivery of another majority after that look; -1: there is none, or a node was removed, so that little is promised. */
static int32_t delivered_later(const struct history *h, int32_t at) {
    int32_t found = -1;
    for (int32_t i = 0; i < h->count; i++) {
        const struct history_event *e = &h->events[i];
        if (is_removal(e))
            return -1;
        if (i > at && e->kind == HISTORY_ANSWER && e->a == PDK_OK && e->id != h->events[at].id && is_of_majority(h, i))
            found = i;
    }
    return found;
}

static bool is_look_ahead_of_another(const struct history *h, int32_t at) {
    const struct history_event *e = &h->events[at];
    return e->kind == HISTORY_LOOKED && e->a != 0 && is_of_majority(h, at) && delivered_later(h, at) >= 0;
}

bool spoil_majority(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_look_ahead_of_another);
    if (at < 0)
        return false;
    int32_t later = delivered_later(h, at);
    struct history_event look = h->events[at];
    look.at = h->events[later].at + 1;
    return mutation_insert(h, later + 1, look);
}

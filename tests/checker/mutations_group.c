/* Spoils histories of groups. */
#include "mutations.h"

#include <paddock/status.h>

static bool is_kind(const struct history *h, int32_t at, enum history_kind kind) {
    return h->events[at].kind == (int16_t)kind;
}

/* Nothing is false, and nothing is forbidden. */
static bool is_told_truly(const struct history *h, int32_t at) {
    for (int32_t i = 0; i < at; i++)
        if (is_kind(h, i, HISTORY_MISLED) || is_kind(h, i, HISTORY_TAINTED))
            return false;
    return true;
}

/* ---- members */

static bool is_member_node(const struct history *h, int32_t at) {
    return is_kind(h, at, HISTORY_CREATED) && is_told_truly(h, at) &&
           plan_recipe(mutations_plan, h->events[at].path) == PLAN_RECIPE_GROUP;
}

/* By another entry of the same member. */
bool spoil_second_member(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_member_node);
    if (at < 0)
        return false;
    struct history_event twin = h->events[at];
    twin.id -= twin.id == INT32_MAX ? 1 : -1;
    twin.a++;
    twin.b ^= 2;
    return mutation_insert(h, at + 1, twin);
}

static bool is_set(const struct history *h, int32_t at) {
    return is_kind(h, at, HISTORY_AMENDED) && h->events[at].b == PDK_OK && is_told_truly(h, at);
}

/* It never landed. */
bool spoil_dropped_data(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_set);
    for (int32_t i = at; i >= 0; i--) {
        if (is_kind(h, i, HISTORY_CHANGED) && h->events[i].b == h->events[at].a)
            h->events[i].b++;
        if (is_kind(h, i, HISTORY_CREATED) && h->events[i].clock == h->events[at].a)
            h->events[i].clock++;
    }
    return at >= 0;
}

bool spoil_amend_answer(struct history *h, struct sim_random *chance) {
    static const pdk_status wrong[] = {PDK_REPLACED, PDK_LOST, PDK_MISMATCH};
    int32_t at = mutation_pick(h, chance, is_set);
    if (at < 0)
        return false;
    h->events[at].b = wrong[sim_random_between(chance, 0, 2)];
    for (int32_t i = 0; h->events[at].b == PDK_REPLACED && i < at; i++) /* somebody else did write */
        if (is_kind(h, i, HISTORY_CHANGED) && h->events[i].clock == 0)
            h->events[at].b = PDK_LOST;
    return true;
}

static bool is_parted(const struct history *h, int32_t at) { return is_kind(h, at, HISTORY_PARTED); }

bool spoil_parted_twice(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_parted);
    return at >= 0 && mutation_insert(h, at + 1, h->events[at]);
}

/* ---- views */

static bool is_shown(const struct history *h, int32_t at) {
    return is_kind(h, at, HISTORY_MEMBER) && is_told_truly(h, at);
}

bool spoil_shown_member(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_shown);
    if (at < 0)
        return false;
    int64_t *spoilt[] = {&h->events[at].a, &h->events[at].b, &h->events[at].extra, &h->events[at].clock};
    *spoilt[sim_random_between(chance, 0, 3)] += INT32_MAX;
    return true;
}

static bool is_difference(const struct history *h, int32_t at) {
    return is_kind(h, at, HISTORY_DIFFERENCE) && is_told_truly(h, at);
}

bool spoil_dropped_difference(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_difference);
    if (at >= 0)
        mutation_remove(h, at);
    return at >= 0;
}

static bool is_leaving(const struct history *h, int32_t at) { return is_difference(h, at) && h->events[at].b == 0; }

/* It comes back in the same view. */
bool spoil_member_back(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_leaving);
    if (at < 0)
        return false;
    struct history_event back = h->events[at];
    back.b = back.a;
    back.a = 0;
    return mutation_insert(h, at + 1, back);
}

/* Somebody leaves, of several. */
static bool is_leaving_of_several(const struct history *h, int32_t at) {
    int32_t view = is_leaving(h, at) ? mutation_next(h, at, HISTORY_VIEW, h->events[at].id) : -1;
    return view >= 0 && h->events[view].b != 0 && h->events[view].extra == 1;
}

/* On the servers it stays. */
bool spoil_exact_view(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_leaving_of_several);
    if (at < 0)
        return false;
    for (int32_t i = at; i >= 0; i--)
        if (is_kind(h, i, HISTORY_DELETED) && h->events[i].a == h->events[at].extra) {
            mutation_remove(h, i);
            return true;
        }
    return false;
}

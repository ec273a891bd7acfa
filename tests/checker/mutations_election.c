/* Spoils histories of elections. */
#include "mutations.h"

#include <paddock/hold.h>
#include <paddock/status.h>

#define HOUR (3600 * INT64_C(1000000000))

static bool is_kind(const struct history *h, int32_t at, enum history_kind kind) {
    return h->events[at].kind == (int16_t)kind;
}

/* The newest of that kind and id ahead; -1: none. */
static int32_t before(const struct history *h, int32_t at, enum history_kind kind, int32_t id) {
    while (--at >= 0 && !(is_kind(h, at, kind) && h->events[at].id == id))
        ;
    return at;
}

/* Nobody ends the session, or its process. */
static bool is_of_open(const struct history *h, int32_t at) {
    const struct history_event *e = &h->events[at];
    for (int32_t i = 0; i < h->count; i++)
        if ((is_kind(h, i, HISTORY_KILLED) && h->events[i].id == e->process) ||
            ((is_kind(h, i, HISTORY_CLOSED) || is_kind(h, i, HISTORY_CLOSING)) && h->events[i].id == e->number))
            return false;
    return true;
}

static bool duplicate(struct history *h, int32_t at) { return at >= 0 && mutation_insert(h, at + 1, h->events[at]); }

/* ---- terms of office */

static bool is_elected(const struct history *h, int32_t at) { return is_kind(h, at, HISTORY_ELECTED); }

/* A member of a group may know of its hold before the callback. */
static bool is_elected_to_office(const struct history *h, int32_t at) {
    const struct history_event *grant = is_elected(h, at) ? mutation_grant(h, (int32_t)h->events[at].b) : NULL;
    return grant && plan_recipe(mutations_plan, grant->path) == PLAN_RECIPE_ELECTION;
}

bool spoil_elected_over(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_elected_to_office);
    if (at < 0)
        return false;
    struct history_event ended = {.at = h->events[at].at, .kind = HISTORY_ENDED, .id = (int32_t)h->events[at].b};
    return mutation_insert(h, at, ended);
}

bool spoil_elected_twice(struct history *h, struct sim_random *chance) {
    return duplicate(h, mutation_pick(h, chance, is_elected));
}

static bool is_deposed(const struct history *h, int32_t at) { return is_kind(h, at, HISTORY_DEPOSED); }

static bool is_deposed_of_open(const struct history *h, int32_t at) { return is_deposed(h, at) && is_of_open(h, at); }

bool spoil_dropped_deposed(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_deposed_of_open);
    if (at < 0)
        return false;
    for (int32_t i = at; i < h->count; i++) /* the end comes late enough to tell */
        if (is_kind(h, i, HISTORY_END))
            h->events[i].at += HOUR;
    mutation_remove(h, at);
    return true;
}

bool spoil_deposed_twice(struct history *h, struct sim_random *chance) {
    return duplicate(h, mutation_pick(h, chance, is_deposed));
}

/* It gave its hold back while that was valid, or did not at all. */
static bool is_deposed_clearly(const struct history *h, int32_t at) {
    int32_t elected = is_deposed(h, at) ? before(h, at, HISTORY_ELECTED, h->events[at].id) : -1;
    if (elected < 0)
        return false;
    int32_t released = before(h, at, HISTORY_RELEASED, (int32_t)h->events[elected].b);
    if (h->events[at].a != PDK_REASON_NONE)
        return released < 0 && before(h, at, HISTORY_LEFT, h->events[at].id) < 0;
    return released >= 0 && h->events[released].a == PDK_OK;
}

bool spoil_deposed_reason(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_deposed_clearly);
    if (at >= 0)
        h->events[at].a = h->events[at].a == PDK_REASON_NONE ? PDK_REASON_LEASE : PDK_REASON_NONE;
    return at >= 0;
}

bool spoil_deposed_late(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_deposed);
    if (at >= 0)
        h->events[at].at += HOUR;
    return at >= 0;
}

static bool is_resigned(const struct history *h, int32_t at) { return is_kind(h, at, HISTORY_RESIGNED); }

bool spoil_resigned(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_resigned);
    if (at >= 0)
        h->events[at].a = h->events[at].a == PDK_OK ? PDK_NOT_HELD : PDK_OK;
    return at >= 0;
}

/* One more node of the leader's. */
bool spoil_requeued(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_elected_to_office);
    for (int32_t i = 0; i < at; i++)
        if (is_kind(h, i, HISTORY_CREATED) && h->events[i].a == h->events[at].a) {
            struct history_event node = h->events[i];
            node.at = h->events[at].at;
            node.id++;
            node.a++;
            node.b ^= 2;
            return mutation_insert(h, at + 1, node);
        }
    return false;
}

static int32_t settled_at(const struct history *h) {
    int32_t at = h->count - 1;
    while (at >= 0 && !is_kind(h, at, HISTORY_SETTLED))
        at--;
    return at;
}

/* In office when all others were served. */
static bool is_last_leader(const struct history *h, int32_t at) {
    int32_t settled = settled_at(h), deposed = mutation_next(h, at, HISTORY_DEPOSED, h->events[at].id);
    return is_elected(h, at) && at < settled && is_of_open(h, at) && (deposed < 0 || deposed > settled);
}

bool spoil_leaderless(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_last_leader);
    if (at >= 0)
        mutation_remove(h, at);
    return at >= 0;
}

/* ---- observers */

static bool is_told(const struct history *h, int32_t at) { return is_kind(h, at, HISTORY_LEADER); }

static bool is_told_of_leader(const struct history *h, int32_t at) { return is_told(h, at) && h->events[at].a != 0; }

bool spoil_unknown_leader(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_told_of_leader);
    if (at >= 0)
        *(sim_random_one_in(chance, 2) ? &h->events[at].a : &h->events[at].b) += INT32_MAX;
    return at >= 0;
}

bool spoil_told_twice(struct history *h, struct sim_random *chance) {
    return duplicate(h, mutation_pick(h, chance, is_told));
}

static bool is_stopped(const struct history *h, int32_t at) { return is_kind(h, at, HISTORY_STOPPED); }

bool spoil_told_after_stop(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_stopped);
    if (at < 0)
        return false;
    struct history_event told = h->events[at];
    told.kind = HISTORY_LEADER;
    told.a = 0;
    told.b = IDENTITY_FOREIGN;
    return mutation_insert(h, at + 1, told);
}

/* The last report to an observer before all were served, and the first of that leader. It gets more reports after that. */
static bool is_last_told(const struct history *h, int32_t at) {
    int32_t settled = settled_at(h), next = mutation_next(h, at, HISTORY_LEADER, h->events[at].id);
    for (int32_t i = 0; i < at; i++)
        if (is_kind(h, i, HISTORY_LEADER) && h->events[i].id == h->events[at].id && h->events[i].a == h->events[at].a)
            return false;
    return is_told_of_leader(h, at) && at < settled && next > settled && is_of_open(h, at);
}

bool spoil_missed_leader(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_last_told);
    if (at >= 0)
        mutation_remove(h, at);
    return at >= 0;
}

static bool is_freed(const struct history *h, int32_t at) { return is_kind(h, at, HISTORY_FREED); }

bool spoil_freed_twice(struct history *h, struct sim_random *chance) {
    return duplicate(h, mutation_pick(h, chance, is_freed));
}

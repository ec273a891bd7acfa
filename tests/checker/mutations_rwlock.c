/* Spoils histories of readers and writers. */
#include "mutations.h"

#include <paddock/status.h>

#define HOUR (3600 * INT64_C(1000000000))

/* Is the hold of that grant valid just before an event? */
static bool is_valid_at(const struct history *h, int32_t granted, int32_t at) {
    const struct history_event *grant = &h->events[granted];
    int64_t until = grant->b;
    for (int32_t i = granted + 1; i < at; i++) {
        const struct history_event *e = &h->events[i];
        if ((e->kind == HISTORY_ENDED || e->kind == HISTORY_RELEASED) && e->id == grant->id)
            return false;
        if (e->kind == HISTORY_KILLED && e->id == grant->process)
            return false;
        if (e->kind == HISTORY_EXTEND && e->id == grant->id)
            until = e->a;
    }
    return until > h->events[at].at;
}

static bool is_shared_grant(const struct history *h, int32_t at) {
    const struct history_event *e = &h->events[at];
    return e->kind == HISTORY_GRANT && e->mode == MODE_SHARED && !mutation_has_removed_node(h, e->a);
}

static bool is_beside_another(const struct history *h, int32_t at) {
    for (int32_t i = 0; is_shared_grant(h, at) && i < at; i++)
        if (is_shared_grant(h, i) && h->events[i].path == h->events[at].path && is_valid_at(h, i, at))
            return true;
    return false;
}

bool spoil_reader_writes(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_beside_another);
    if (at >= 0)
        h->events[at].mode = MODE_EXCLUSIVE;
    return at >= 0;
}

/* ---- downgrades */

static bool is_downgrade(const struct history *h, int32_t at) { return h->events[at].kind == HISTORY_DOWNGRADED; }

bool spoil_downgrade(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_downgrade);
    if (at >= 0)
        h->events[at].a = h->events[at].a == PDK_OK ? PDK_INVALID : PDK_OK;
    return at >= 0;
}

static bool is_exchange(const struct history *h, int32_t at) {
    const struct history_event *e = &h->events[at];
    return e->kind == HISTORY_STANDS && mutation_next(h, -1, HISTORY_DOWNGRADED, e->id) >= 0;
}

bool spoil_dropped_downgrade(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_exchange);
    if (at < 0)
        return false;
    int32_t hold = h->events[at].id;
    for (int32_t i; (i = mutation_next(h, -1, HISTORY_DOWNGRADED, hold)) >= 0;)
        mutation_remove(h, i);
    return true;
}

bool spoil_exchange(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_exchange);
    for (int32_t i = 0; i < at; i++)
        if (h->events[i].kind == HISTORY_CREATED && h->events[i].a == h->events[at].a)
            h->events[i].id++;
    return at >= 0;
}

/* With all healed, and nothing refused, its owner goes on renewing for an hour. */
bool spoil_never_exchanged(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_exchange);
    if (at < 0)
        return false;
    struct history_event healed = {.kind = HISTORY_HEALED, .at = h->events[at].at, .path = -1, .process = -1};
    struct history_event longer = h->events[at], later = h->events[at];
    longer.kind = later.kind = HISTORY_EXTEND;
    longer.a = later.a = longer.at + 2 * HOUR;
    later.at += HOUR;
    mutation_remove(h, at);
    for (int32_t i = at - 1; i >= 0; i--)
        if (h->events[i].kind == HISTORY_TAINTED) {
            mutation_remove(h, i);
            at--;
        }
    return mutation_insert(h, at, later) && mutation_insert(h, at, longer) && mutation_insert(h, at, healed);
}

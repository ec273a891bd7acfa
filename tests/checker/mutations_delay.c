/* Spoils histories of locks with a lock-delay. */
#include "mutations.h"

/* Where a server gave false answers, little is promised. */
static bool is_promised(const struct history *h, int32_t at) {
    for (int32_t i = 0; i < h->count; i++)
        if (h->events[i].kind == HISTORY_MISLED)
            return false;
    return plan_delay(mutations_plan, h->events[at].path, 0) > 0;
}

/* The deletion of the node of a hold that was delivered and not given back; -1: there is none ahead of that grant. */
static int32_t unclean_end(const struct history *h, int32_t grant) {
    for (int32_t i = grant - 1; i >= 0; i--) {
        const struct history_event *hold = &h->events[i];
        int32_t gone = -1;
        if (hold->kind != HISTORY_GRANT || hold->path != h->events[grant].path)
            continue;
        for (int32_t k = i + 1; k < grant && gone < 0; k++)
            if (h->events[k].kind == HISTORY_DELETED && h->events[k].a == hold->a)
                gone = k;
        bool received = false;
        for (int32_t k = i; k < grant; k++) {
            const struct history_event *e = &h->events[k];
            received = received || ((e->kind == HISTORY_ANSWER || e->kind == HISTORY_ELECTED) && e->b == hold->id);
        }
        int32_t returned = mutation_next(h, i, HISTORY_RELEASED, hold->id);
        if (gone >= 0 && received && (returned < 0 || h->events[returned].a != 0))
            return gone;
    }
    return -1;
}

static bool is_delayed_grant(const struct history *h, int32_t at) {
    return h->events[at].kind == HISTORY_GRANT && is_promised(h, at) &&
           !mutation_has_removed_node(h, h->events[at].a) && unclean_end(h, at) >= 0;
}

bool spoil_delay(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_delayed_grant);
    if (at >= 0)
        h->events[unclean_end(h, at)].at = h->events[at].at;
    return at >= 0;
}

/* Whose node is there still. */
static bool is_pledged_grant(const struct history *h, int32_t at) {
    return h->events[at].kind == HISTORY_GRANT && is_promised(h, at) && !mutation_has_removed_node(h, h->events[at].a);
}

bool spoil_dropped_pledge(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_pledged_grant);
    for (int32_t i = at; i >= 0; i--)
        if (h->events[i].kind == HISTORY_PLEDGED && h->events[i].a == h->events[at].a)
            mutation_remove(h, i);
    return at >= 0;
}

/* Ahead of a grant. */
static bool is_recorded(const struct history *h, int32_t at) {
    bool granted = false;
    for (int32_t i = at; i < h->count; i++)
        granted = granted || (h->events[i].kind == HISTORY_GRANT && h->events[i].path == h->events[at].path);
    return granted && h->events[at].kind == HISTORY_RECORDED && is_promised(h, at);
}

bool spoil_another_delay(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_recorded);
    if (at >= 0)
        h->events[at].a += 2;
    return at >= 0;
}

/* Its client is there to the end, with one ZooKeeper session, and nothing is refused. */
static bool has_heard(const struct history *h, int32_t grant) {
    for (int32_t i = 0; i < h->count; i++) {
        const struct history_event *e = &h->events[i], *hold = &h->events[grant];
        bool of_process = e->kind == HISTORY_KILLED && e->id == hold->process;
        bool of_session = e->kind == HISTORY_TAINTED || e->kind == HISTORY_CLOSED || e->kind == HISTORY_CLOSING;
        if (of_process || (of_session && e->id == hold->number) ||
            (i > grant && e->kind == HISTORY_RETIRED && e->id == hold->number))
            return false;
    }
    return true;
}

/* The deletion by its client of a node whose holds were all given back. */
static bool is_clean_end(const struct history *h, int32_t at) {
    const struct history_event *e = &h->events[at];
    int32_t returned = 0;
    if (e->kind != HISTORY_DELETED || e->b == 0 || !is_promised(h, at))
        return false;
    for (int32_t i = 0; i < h->count; i++) {
        int32_t end = mutation_next(h, i, HISTORY_RELEASED, h->events[i].id);
        if (h->events[i].kind != HISTORY_GRANT || h->events[i].a != e->a)
            continue;
        if (end < 0 || h->events[end].a != 0 || !has_heard(h, i))
            return false;
        returned++;
    }
    return returned > 0;
}

bool spoil_kept_pledge(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_clean_end);
    int64_t node = at >= 0 ? h->events[at].a : 0;
    for (int32_t i = h->count - 1; at >= 0 && i >= 0; i--)
        if (h->events[i].kind == HISTORY_UNPLEDGED && h->events[i].a == node)
            mutation_remove(h, i);
    return at >= 0;
}

static bool is_own_pledge(const struct history *h, int32_t at) {
    if (h->events[at].kind != HISTORY_PLEDGED || !is_promised(h, at))
        return false;
    for (int32_t i = 0; i < at; i++)
        if (h->events[i].kind == HISTORY_DELETED && h->events[i].a == h->events[at].a)
            return false;
    return true;
}

bool spoil_foreign_pledge(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_own_pledge);
    if (at < 0)
        return false;
    struct history_event deleted = h->events[at];
    deleted.kind = HISTORY_UNPLEDGED;
    deleted.b ^= 1;
    return mutation_insert(h, at + 1, deleted);
}

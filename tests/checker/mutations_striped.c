/* Spoils histories of striped locks. */
#include "mutations.h"

#define HOUR (3600 * INT64_C(1000000000))

static bool is_node_of(const struct history_event *e, int32_t queue) {
    return (e->kind == HISTORY_CREATED || e->kind == HISTORY_DELETED) && e->path == queue;
}

static bool is_empty(const struct history *h, int32_t at, int32_t queue) {
    int32_t nodes = 0;
    for (int32_t i = 0; i <= at; i++)
        if (is_node_of(&h->events[i], queue))
            nodes += h->events[i].kind == HISTORY_CREATED ? 1 : -1;
    return nodes == 0;
}

/* Somebody comes for any stripe, and one is empty. */
static bool is_for_any(const struct history *h, int32_t at) {
    const struct history_event *e = &h->events[at];
    int32_t stripes = e->kind == HISTORY_CREATED ? plan_stripes(mutations_plan, plan_path_of(e->path), 0) : 0;
    if (e->path >= PLAN_PATHS || !plan_is_calm(mutations_plan))
        return false;
    for (int32_t i = 0; i < stripes; i++)
        if (is_empty(h, at, plan_stripe(e->path, i)))
            return true;
    return false;
}

/* Nothing happens for an hour. */
bool spoil_idle_stripe(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_for_any);
    if (at < 0)
        return false;
    struct history_event next = h->events[at];
    next.at += HOUR;
    next.id -= next.id == INT32_MAX ? 1 : -1;
    next.a++;
    next.b ^= 2;
    return mutation_insert(h, at + 1, next);
}

static bool is_admitted(const struct history *h, int32_t at) { return h->events[at].kind == HISTORY_ADMITTED; }

bool spoil_admitted(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_admitted);
    if (at >= 0)
        h->events[at].a -= 4711;
    return at >= 0;
}

static bool is_of_stripe(const struct history *h, int32_t at) {
    return h->events[at].kind == HISTORY_GRANT && h->events[at].path >= PLAN_PATHS;
}

/* All but the owner of a hold have agreed about another number. */
bool spoil_number_of_stripes(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_of_stripe);
    if (at < 0)
        return false;
    struct history_event recorded = h->events[at];
    recorded.kind = HISTORY_RECORDED;
    recorded.path = (int8_t)plan_path_of(recorded.path);
    recorded.a = 4711;
    return mutation_insert(h, at, recorded);
}

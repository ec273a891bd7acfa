/* Spoils histories of permits. */
#include "mutations.h"

#include <paddock/status.h>

static bool is_permit(const struct history *h, int32_t at) {
    const struct history_event *e = &h->events[at];
    return e->kind == HISTORY_GRANT && e->mode == MODE_PERMIT && !mutation_has_removed_node(h, e->a);
}

/* Several on good nodes. */
static bool is_good_permit(const struct history *h, int32_t at) {
    for (int32_t i = at; is_permit(h, at) && i < h->count; i++)
        if (h->events[i].kind == HISTORY_STANDS && h->events[i].id == h->events[at].id &&
            mutation_has_removed_node(h, h->events[i].a))
            return false;
    return is_permit(h, at);
}

bool spoil_permits(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_good_permit);
    if (at >= 0)
        h->events[at].count = 1000;
    return at >= 0;
}

static bool is_further_node(const struct history *h, int32_t at) {
    const struct history_event *e = &h->events[at];
    const struct history_event *grant = e->kind == HISTORY_STANDS ? mutation_grant(h, e->id) : NULL;
    return grant && grant->mode == MODE_PERMIT;
}

bool spoil_permit_node(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_further_node);
    if (at >= 0)
        h->events[at].a = mutation_grant(h, h->events[at].id)->a;
    return at >= 0;
}

/* The node in the queue is there when the permits are granted. */
static bool is_granted_on_admission(const struct history *h, int32_t at) {
    const struct history_event *grant = &h->events[at];
    bool there = false;
    for (int32_t i = 0; is_permit(h, at) && i < at; i++) {
        const struct history_event *e = &h->events[i];
        if (e->mode == MODE_EXCLUSIVE && e->path == grant->path && e->id == grant->sequence &&
            (e->kind == HISTORY_CREATED || e->kind == HISTORY_DELETED))
            there = e->kind == HISTORY_CREATED;
    }
    return there;
}

bool spoil_queue(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_granted_on_admission);
    if (at < 0)
        return false;
    const struct history_event *grant = &h->events[at];
    struct history_event ahead = {.at = grant->at, .kind = HISTORY_CREATED, .path = grant->path, .process = -1};
    ahead.id = (int32_t)((uint32_t)grant->sequence - 1);
    ahead.a = grant->a - 1;
    ahead.b = ahead.extra = 4711;
    return mutation_insert(h, at, ahead);
}

static bool is_answer_of_permits(const struct history *h, int32_t at) {
    if (mutations_plan->disagree || h->events[at].kind != HISTORY_ANSWER)
        return false;
    int32_t claim = mutation_next(h, -1, HISTORY_CLAIM, h->events[at].id);
    return claim >= 0 && h->events[claim].mode == MODE_PERMIT;
}

bool spoil_mismatch(struct history *h, struct sim_random *chance) {
    int32_t at = mutation_pick(h, chance, is_answer_of_permits);
    if (at >= 0)
        h->events[at].a = PDK_MISMATCH;
    return at >= 0;
}

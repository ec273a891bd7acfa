/* The promises about a grant: the other valid holds at that moment, the nodes ahead in the queue, and its token. */
#include "checker.h"

/* The permits of a hold that is counted. Other holds: whether the two may be valid together. */
static int32_t meets(struct checker *c, const struct checker_hold *hold, const struct checker_hold *other,
                     const struct history_event *e) {
    switch (c->paths[hold->path].recipe) {
    case PLAN_RECIPE_SEMAPHORE:
        return other->count;
    case PLAN_RECIPE_RWLOCK:
        checker_writer_meets(c, hold, other, e);
        return 0;
    case PLAN_RECIPE_GROUP: /* nobody keeps anybody out */
        return 0;
    default:
        checker_break(c, CHECK_EXCLUSION, e,
                      "p%d is granted token %llx/%u while p%d's %llx/%u is valid for another %.3f ms", hold->process,
                      (unsigned long long)hold->token, hold->handover, other->process, (unsigned long long)other->token,
                      other->handover, (double)(other->until - e->at) / 1e6);
        return 0;
    }
}

/* A hold that nobody can tell from a valid one must be over in true time, so the earlier holds must be. Returns the
 * permits that others have. */
static int32_t check_exclusion(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    int32_t kept = 0, taken = 0;
    c->evaluated[CHECK_EXCLUSION]++;
    for (int32_t i = 0; i < c->valid_count; i++) {
        struct checker_hold *other = &c->holds[c->valid[i]];
        if (!checker_is_valid(other, e->at))
            continue;
        c->valid[kept++] = c->valid[i];
        if (other != hold && other->path == hold->path && !checker_has_removed_node(c, other) &&
            !checker_has_removed_node(c, hold))
            taken += meets(c, hold, other, e);
    }
    c->valid_count = kept;
    return taken;
}

/* The node it was granted for, while that exists. */
static const struct checker_node *check_node(struct checker *c, const struct checker_hold *hold,
                                             const struct history_event *e) {
    struct checker_node *node = checker_node_of(c, hold->token);
    c->evaluated[CHECK_NODE]++;
    bool delayed = c->paths[hold->path].delay > 0; /* it was the first long ago, and may have been cut off since */
    bool expected =
        node && node->removed && (delayed || e->at <= node->gone_at + 2 * c->timeout); /* it has not heard */
    if (!node || (node->gone && !expected) || node->path != hold->path || node->mode != hold->mode)
        checker_break(c, CHECK_NODE, e, "p%d is granted token %llx; its node %s", hold->process,
                      (unsigned long long)hold->token,
                      !node        ? "never was"
                      : node->gone ? "is gone"
                                   : "is of another kind");
    return node && !node->gone ? node : NULL;
}

static void check_order(struct checker *c, const struct checker_hold *hold, const struct checker_node *node,
                        const struct history_event *e) {
    c->evaluated[CHECK_ORDER]++;
    for (int32_t i = 0; i < c->live_count; i++) {
        const struct checker_node *other = &c->nodes[c->live[i]];
        if (checker_is_ahead(other, node))
            checker_break(c, CHECK_ORDER, e, "p%d is granted number %d while %d is in the queue", hold->process,
                          node->sequence, other->sequence);
    }
}

static void check_tokens(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    struct checker_path *path = &c->paths[hold->path];
    bool larger = hold->token > path->token || (hold->token == path->token && hold->handover > path->handover);
    c->evaluated[CHECK_TOKENS]++;
    if (!larger && path->token != 0 && !checker_has_removed_node(c, hold))
        checker_break(c, CHECK_TOKENS, e, "p%d is granted %llx/%u after %llx/%u", hold->process,
                      (unsigned long long)hold->token, hold->handover, (unsigned long long)path->token, path->handover);
    if (larger) {
        path->token = hold->token;
        path->handover = hold->handover;
    }
}

static void check_handovers(struct checker *c, const struct checker_hold *hold, const struct history_event *e) {
    struct checker_path *path = &c->paths[hold->path];
    if (hold->handover == 0) {
        path->granted_token = hold->token;
        path->granted_clock = e->clock;
        return;
    }
    c->evaluated[CHECK_HANDOVERS]++;
    int64_t since = path->granted_token == hold->token ? (e->clock - path->granted_clock) / 1000000 : 0;
    if (hold->handover > (uint32_t)c->max_handovers || since >= c->max_handover_ms)
        checker_break(c, CHECK_HANDOVERS, e, "hand-over %u of %d, %lld of %d ms after the first grant", hold->handover,
                      c->max_handovers, (long long)since, c->max_handover_ms);
}

/* A hand-over follows at the moment of the release, unless the node has lingered. */
static void note_taken_up(struct checker *c, const struct checker_hold *hold, const struct history_event *e) {
    for (int32_t i = e->id - 1; i >= 0 && hold->handover > 0; i--) {
        const struct checker_hold *before = &c->holds[i];
        if (!before->known || before->token != hold->token)
            continue;
        c->met[MET_TAKEN_UP] += checker_over_at(before) < e->at;
        return;
    }
}

/* One hold at a time: a lock's, an office. */
static void check_single(struct checker *c, struct checker_hold *hold, const struct checker_node *node,
                         const struct history_event *e) {
    if (node)
        check_order(c, hold, node, e);
    check_tokens(c, hold, e);
}

void checker_granted(struct checker *c, const struct history_event *e) {
    struct checker_hold *hold = &c->holds[e->id];
    while (c->holds_count <= e->id)
        c->holds[c->holds_count++].known = false;
    *hold = (struct checker_hold){
        .token = e->a,
        .nodes = {e->a},
        .nodes_count = 1,
        .granted_at = e->at,
        .until = e->b,
        .handover = (uint32_t)e->extra,
        .session = e->number,
        .count = e->count,
        .process = e->process,
        .path = e->path,
        .mode = e->mode,
        .known = true,
    };
    int32_t taken = check_exclusion(c, hold, e);
    const struct checker_node *node = check_node(c, hold, e);
    if (c->paths[hold->path].recipe == PLAN_RECIPE_SEMAPHORE)
        checker_permits_granted(c, hold, taken, e);
    else if (c->paths[hold->path].recipe == PLAN_RECIPE_RWLOCK)
        checker_rwlock_granted(c, hold, node, e);
    else if (c->paths[hold->path].recipe != PLAN_RECIPE_GROUP)
        check_single(c, hold, node, e);
    if (hold->mode == MODE_EXCLUSIVE)
        check_handovers(c, hold, e);
    note_taken_up(c, hold, e);
    checker_delay_granted(c, hold, e);
    checker_striped_granted(c, hold, e);
    checker_ask_granted(c, hold, e);
    c->evaluated[CHECK_LOCAL_ORDER]++;
    if (e->passed > 0)
        checker_break(c, CHECK_LOCAL_ORDER, e, "p%d's grant of %llx/%u passes %d who came before", hold->process,
                      (unsigned long long)hold->token, hold->handover, e->passed);
    c->valid[c->valid_count++] = e->id;
}

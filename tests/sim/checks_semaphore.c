/* The promises about permits: never more than there are, each with a node of its own, and in the order of the queue. */
#include "checker.h"

void checker_permit_stands(struct checker *c, const struct checker_hold *hold, int64_t czxid,
                           const struct history_event *e) {
    struct checker_node *node = checker_node_of(c, czxid);
    const char *wrong = !node                          ? "never was there"
                        : node->path != hold->path     ? "is somewhere else"
                        : node->mode != MODE_PERMIT    ? "is none of a permit"
                        : node->gone && !node->removed ? "is gone"
                        : node->held                   ? "is somebody's already"
                                                       : NULL;
    c->evaluated[CHECK_PERMIT_NODES]++;
    if (wrong)
        checker_break(c, CHECK_PERMIT_NODES, e, "p%d's node %llx %s", hold->process, (unsigned long long)czxid, wrong);
    if (node)
        node->held = true;
}

/* The newest node of that number: the one in the queue that was admitted. */
static const struct checker_node *queued(const struct checker *c, int8_t path, int32_t sequence) {
    for (int32_t i = c->nodes_count - 1; i >= 0; i--)
        if (c->nodes[i].path == path && c->nodes[i].mode == MODE_EXCLUSIVE && c->nodes[i].sequence == sequence)
            return &c->nodes[i];
    return NULL;
}

/* An admission may be handed over, as a lock may. */
static void check_handovers(struct checker *c, const struct checker_hold *hold, int8_t queue,
                            const struct checker_node *admitted, const struct history_event *e) {
    struct checker_path *path = &c->paths[queue];
    bool again = path->admitted == admitted->czxid && path->admitted_by == hold->process;
    path->handovers = again ? path->handovers + 1 : 0;
    path->admitted = admitted->czxid;
    path->admitted_by = hold->process;
    c->evaluated[CHECK_HANDOVERS]++;
    c->met[MET_SAME_ADMISSION] += path->handovers > 0;
    if (path->handovers > c->max_handovers)
        checker_break(c, CHECK_HANDOVERS, e, "hand-over %d of %d, of an admission", path->handovers, c->max_handovers);
}

/* It was admitted, and there was no room before the last permits were given back. */
static bool was_awaited(const struct checker *c, const struct checker_hold *hold, const struct checker_node *admitted,
                        int32_t taken) {
    const struct checker_path *path = &c->paths[hold->path];
    return admitted->created_at < path->freed_at && taken + path->freed + hold->count > path->permits;
}

const struct checker_node *checker_admitted(struct checker *c, const struct checker_hold *hold, int8_t queue,
                                            int32_t sequence, const struct history_event *e) {
    const struct checker_node *admitted = queued(c, queue, sequence);
    c->evaluated[CHECK_PERMIT_ORDER]++;
    if (!admitted)
        checker_break(c, CHECK_PERMIT_ORDER, e, "p%d has number %d, which never was", hold->process, sequence);
    if (!admitted || admitted->gone) /* it has not heard of it yet */
        return NULL;
    check_handovers(c, hold, queue, admitted, e);
    for (int32_t i = 0; i < c->live_count; i++) {
        const struct checker_node *other = &c->nodes[c->live[i]];
        if (checker_is_ahead(other, admitted))
            checker_break(c, CHECK_PERMIT_ORDER, e, "p%d is granted by number %d while %d is in the queue",
                          hold->process, admitted->sequence, other->sequence);
    }
    return admitted;
}

void checker_permits_granted(struct checker *c, struct checker_hold *hold, int32_t taken,
                             const struct history_event *e) {
    int32_t permits = c->paths[hold->path].permits;
    c->evaluated[CHECK_PERMITS]++;
    c->met[MET_PERMITS] += (uint64_t)hold->count;
    c->met[MET_SEVERAL] += hold->count > 1;
    c->met[MET_FULL] += taken + hold->count == permits;
    if (taken + hold->count > permits && !checker_has_removed_node(c, hold))
        checker_break(c, CHECK_PERMITS, e, "p%d is granted %d while %d of %d are valid", hold->process, hold->count,
                      taken, permits);
    checker_permit_stands(c, hold, hold->token, e);
    const struct checker_node *admitted = checker_admitted(c, hold, hold->path, e->sequence, e);
    c->met[MET_AWAITED] += admitted && was_awaited(c, hold, admitted, taken);
}

/* The promises about a lock-delay: after an end without a release nobody is granted for so long; after a release the next one does not
 * wait, since the pledge is gone before its node is.
 *
 *     node ── PLEDGED ── GRANT ── RELEASED ── UNPLEDGED ── DELETED ── the next grant, at once
 *                          └── lost, killed, expired … ── DELETED ── the delay ── the next grant
 *
 * Where a server gave a false answer, little is promised: it may have said that a pledge stands. */
#include "checker.h"

#include <paddock/status.h>

static bool is_promised(const struct checker *c, int8_t path) {
    return c->paths[path].delay > 0 && c->misled_count == 0;
}

/* When the node of a hold went without a release; 0: it stands, or was released. A node that an admin deletes ahead of the grant may have
 * gone ahead of its pledge, too. */
static int64_t unclean_end(struct checker *c, const struct checker_hold *hold) {
    const struct checker_node *node = checker_node_of(c, hold->token);
    bool unclean = hold->received && !hold->returned && node && node->gone && node->gone_at >= hold->granted_at;
    return unclean ? node->gone_at : 0;
}

/* In ms. */
static int64_t delay_of(const struct checker *c, const struct checker_hold *hold) {
    return c->paths[hold->path].delay / 1000000 + (c->disagree && hold->process % 2);
}

void checker_delay_granted(struct checker *c, const struct checker_hold *hold, const struct history_event *e) {
    struct checker_path *path = &c->paths[hold->path];
    const struct checker_node *node = checker_node_of(c, hold->token);
    int64_t newest = 0;
    if (!is_promised(c, hold->path))
        return;
    if (path->recorded != delay_of(c, hold))
        checker_break(c, CHECK_MISMATCH, e, "p%d is granted token %llx, and the delay is %lld ms", hold->process,
                      (unsigned long long)hold->token, (long long)path->recorded);
    for (int32_t i = 0; i < c->holds_count; i++) {
        int64_t end = c->holds[i].known && c->holds[i].path == hold->path ? unclean_end(c, &c->holds[i]) : 0;
        newest = end > newest ? end : newest;
    }
    c->evaluated[CHECK_DELAY]++;
    c->evaluated[CHECK_PLEDGE]++;
    bool removed =
        node &&
        node->gone; /* it has not heard of that, saw nobody's end since, and the next one clears its pledge away */
    if (newest > 0 && e->at < newest + path->delay && !removed)
        checker_break(c, CHECK_DELAY, e, "p%d is granted token %llx %.3f ms after such an end", hold->process,
                      (unsigned long long)hold->token, (double)(e->at - newest) / 1e6);
    if (node && !node->pledged && !removed)
        checker_break(c, CHECK_PLEDGE, e, "p%d is granted token %llx", hold->process, (unsigned long long)hold->token);
    c->met[newest > path->granted_at ? MET_DELAYED : MET_UNDELAYED]++;
    path->granted_at = e->at;
}

/* A directory that was removed gives the same numbers again: the pledge is known by its name alone. */
void checker_delay_created(struct checker *c, struct checker_node *node) {
    for (int32_t i = 0; i < c->nodes_count && c->paths[node->path].delay > 0; i++) {
        struct checker_node *other = &c->nodes[i];
        if (other->path != node->path || other->sequence != node->sequence || other->mark != node->mark)
            continue;
        node->pledged = node->pledged || other->pledged;
        other->pledged = false;
    }
}

/* Anybody may clear a pledge away whose node is gone. */
void checker_delay_event(struct checker *c, const struct history_event *e) {
    struct checker_node *node = e->kind == HISTORY_RECORDED ? NULL : checker_node_of(c, e->a);
    if (e->kind == HISTORY_RECORDED)
        c->paths[e->path].recorded = e->a;
    if (!node)
        return;
    node->pledged = e->kind == HISTORY_PLEDGED;
    c->evaluated[CHECK_OWN_NODES]++;
    if (e->b != node->session && is_promised(c, node->path) && (node->pledged || !node->gone))
        checker_break(c, CHECK_OWN_NODES, e, "session %llx %s the pledge of number %d", (unsigned long long)e->b,
                      node->pledged ? "makes" : "deletes", e->id);
}

/* Its client is still there, with the same ZooKeeper session, and none of its requests was refused. */
static bool has_heard(const struct checker *c, const struct checker_hold *hold, const struct checker_node *node) {
    const struct checker_session *session = &c->sessions[hold->session];
    return !session->closed && !session->closing && session->retired_at <= node->created_at &&
           !session->tainted[PDK_NO_PERMISSION] && !session->tainted[PDK_UNSUPPORTED];
}

/* Each of its holds was given back, and its client took it away. */
static bool was_released(const struct checker *c, const struct checker_node *node) {
    int32_t returned = 0;
    for (int32_t i = 0; i < c->holds_count; i++) {
        const struct checker_hold *hold = &c->holds[i];
        if (!hold->known || hold->path != node->path || hold->token != node->czxid)
            continue;
        if (!hold->returned || !has_heard(c, hold, node))
            return false;
        returned++;
    }
    return returned > 0 && node->gone && !node->removed;
}

/* A pledge may stay for longer than its node, where an answer was lost. Then it is deleted once more. */
void checker_delay_end(struct checker *c, const struct history_event *e) {
    for (int32_t i = 0; i < c->nodes_count; i++) {
        const struct checker_node *node = &c->nodes[i];
        if (!is_promised(c, node->path) || !was_released(c, node))
            continue;
        c->evaluated[CHECK_PLEDGE]++;
        if (node->pledged)
            checker_break(c, CHECK_PLEDGE, e, "that of number %d, which was released", node->sequence);
    }
}

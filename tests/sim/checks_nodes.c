/* The promises about nodes: their owners, how many there are, whom their end wakes, and that none is left. */
#include "checker.h"

#include <string.h>

/* The newest first: old nodes are rarely asked for. */
struct checker_node *checker_node_of(struct checker *c, int64_t czxid) {
    for (int32_t i = c->nodes_count - 1; i >= 0; i--)
        if (c->nodes[i].czxid == czxid)
            return &c->nodes[i];
    return NULL;
}

bool checker_was_misled(const struct checker *c, int64_t session) {
    for (int32_t i = 0; i < c->misled_count; i++)
        if (c->misled[i] == session)
            return true;
    return false;
}

static bool same_queue(const struct checker_node *a, const struct checker_node *b) {
    return a->path == b->path && (a->mode == MODE_PERMIT) == (b->mode == MODE_PERMIT);
}

bool checker_is_ahead(const struct checker_node *other, const struct checker_node *node) {
    int32_t order = (int32_t)((uint32_t)other->sequence - (uint32_t)node->sequence);
    return same_queue(other, node) && (order < 0 || (order == 0 && other->czxid < node->czxid));
}

const struct checker_node *checker_first(const struct checker *c, int8_t path) {
    const struct checker_node *first = NULL;
    for (int32_t i = 0; i < c->live_count; i++) {
        const struct checker_node *node = &c->nodes[c->live[i]];
        if (node->path == path && node->mode != MODE_PERMIT && (!first || checker_is_ahead(node, first)))
            first = node;
    }
    return first;
}

static void note_first(struct checker *c, int8_t path) {
    struct checker_node *first = (struct checker_node *)checker_first(c, path);
    if (first)
        first->was_first = true;
}

/* Was the node from which it takes over, with its number, deleted before? */
static bool is_exchanged_gone(const struct checker *c, const struct checker_node *node) {
    for (int32_t i = c->nodes_count - 1; i >= 0 && node->mode == MODE_SHARED; i--) {
        const struct checker_node *other = &c->nodes[i];
        if (same_queue(other, node) && other->sequence == node->sequence && other->session == node->session &&
            other->mode == MODE_EXCLUSIVE)
            return other->gone && other->removed;
    }
    return false;
}

static void created(struct checker *c, const struct history_event *e) {
    struct checker_node node = {
        .czxid = e->a,
        .session = e->extra,
        .mark = e->b,
        .created_at = e->at,
        .sequence = e->id,
        .identity = e->number,
        .identity_hash = e->clock,
        .path = e->path,
        .mode = e->mode,
    };
    c->evaluated[CHECK_ONE_NODE]++;
    checker_striped_stirred(c, e->path, e);
    for (int32_t i = 0; i < c->live_count; i++) {
        const struct checker_node *other = &c->nodes[c->live[i]];
        node.behind = node.behind || same_queue(other, &node);
        if (other->mark == e->b && other->path == e->path && !checker_was_misled(c, other->session))
            checker_break(c, CHECK_ONE_NODE, e, "numbers %d and %d of session %llx", other->sequence, e->id,
                          (unsigned long long)other->session);
    }
    checker_candidate_created(c, e);
    if (c->nodes_count == HISTORY_NODES)
        return;
    node.exchanged_gone = is_exchanged_gone(c, &node);
    checker_delay_created(c, &node);
    c->live[c->live_count++] = c->nodes_count;
    c->nodes[c->nodes_count++] = node;
    checker_member_created(c, &c->nodes[c->nodes_count - 1], e);
    note_first(c, e->path);
}

static void forget_live(struct checker *c, const struct checker_node *node) {
    for (int32_t i = 0; i < c->live_count; i++)
        if (&c->nodes[c->live[i]] == node) {
            memmove(&c->live[i], &c->live[i + 1], (size_t)(c->live_count - i - 1) * sizeof c->live[0]);
            c->live_count--;
            return;
        }
}

/* A lease is over before its session is. So only an admin ends the node of a valid hold. */
static void check_lease(struct checker *c, const struct checker_node *node, const struct history_event *e) {
    c->evaluated[CHECK_LEASE]++;
    for (int32_t i = 0; i < c->valid_count; i++) {
        const struct checker_hold *hold = &c->holds[c->valid[i]];
        if (checker_stands_on(hold, node->czxid) && checker_is_valid(hold, e->at))
            checker_break(c, CHECK_LEASE, e, "number %d %s; p%d's hold of it is valid for another %.3f ms",
                          node->sequence, e->extra ? "expired with its session" : "was deleted", hold->process,
                          (double)(hold->until - e->at) / 1e6);
    }
}

/* ---- nodes that linger */

/* The newest hold that stood on it, or NULL. */
static const struct checker_hold *last_hold(const struct checker *c, const struct checker_node *node) {
    for (int32_t i = c->holds_count - 1; i >= 0; i--)
        if (c->holds[i].known && c->holds[i].path == node->path && c->holds[i].token == node->czxid)
            return &c->holds[i];
    return NULL;
}

/* When the first of those that stand behind it now came; INT64_MAX: nobody stands there. */
static int64_t followed_at(const struct checker *c, const struct checker_node *node) {
    int64_t at = INT64_MAX;
    for (int32_t i = 0; i < c->live_count; i++) {
        const struct checker_node *other = &c->nodes[c->live[i]];
        if (checker_is_ahead(node, other) && other->created_at < at)
            at = other->created_at;
    }
    return at;
}

/* Where nothing goes wrong, a lock's node goes a few round trips after the moment from which on nobody holds it, and
 * somebody stands behind it. */
static void check_lingers(struct checker *c, const struct checker_node *node, const struct history_event *e) {
    const struct checker_hold *hold = last_hold(c, node);
    int64_t followed = followed_at(c, node);
    bool judged = c->calm && node->path < PLAN_PATHS && c->paths[node->path].recipe == PLAN_RECIPE_LOCK &&
                  c->paths[node->path].delay == 0 && !node->removed;
    if (!judged || !hold || checker_is_valid(hold, e->at) || followed == INT64_MAX)
        return;
    int64_t over = checker_over_at(hold), due = over > followed ? over : followed;
    int64_t late = c->processes[hold->process].late;
    c->evaluated[CHECK_LINGERS]++;
    c->met[MET_CAME] += followed > over;
    if (e->at > checker_latest(c, hold->process, due + c->round_trips + late))
        checker_break(c, CHECK_LINGERS, e, "p%d's node number %d, for %.3f ms", hold->process, node->sequence,
                      (double)(e->at - due) / 1e6);
}

static void deleted(struct checker *c, const struct history_event *e) {
    struct checker_node *node = checker_node_of(c, e->a);
    if (!node || node->gone)
        return;
    c->evaluated[CHECK_OWN_NODES]++;
    checker_striped_stirred(c, node->path, e);
    if (e->b == 0 || checker_is_broken(c, node))
        node->removed = true;
    else if (e->b != node->session)
        checker_break(c, CHECK_OWN_NODES, e, "session %llx deletes number %d of session %llx", (unsigned long long)e->b,
                      node->sequence, (unsigned long long)node->session);
    if (!node->removed)
        check_lease(c, node, e);
    check_lingers(c, node, e);
    node->gone = true;
    node->gone_at = e->at;
    checker_member_deleted(c, node, e);
    forget_live(c, node);
    note_first(c, node->path);
}

/* Readers may wait for the same writer. */
static void woken(struct checker *c, const struct history_event *e) {
    struct checker_node *node = checker_node_of(c, e->a);
    if (!node)
        return;
    c->evaluated[CHECK_ONE_WAKE_UP]++;
    bool readers = e->mode == MODE_SHARED && node->woken_mode == MODE_SHARED && node->mode != MODE_SHARED;
    if (node->woken == 0) {
        node->woken = e->b;
        node->woken_mode = e->mode;
    } else if (node->woken != e->b && !readers) {
        checker_break(c, CHECK_ONE_WAKE_UP, e, "the end of number %d", node->sequence);
    }
}

static void misled(struct checker *c, const struct history_event *e) {
    if (e->process >= 0)
        c->processes[e->process].misled = true;
    if (c->misled_count < (int32_t)(sizeof c->misled / sizeof c->misled[0]))
        c->misled[c->misled_count++] = e->a;
}

void checker_node_event(struct checker *c, const struct history_event *e) {
    if (e->kind == HISTORY_CREATED)
        created(c, e);
    else if (e->kind == HISTORY_DELETED)
        deleted(c, e);
    else if (e->kind == HISTORY_WOKEN)
        woken(c, e);
    else if (e->kind == HISTORY_CHANGED)
        checker_member_changed(c, e);
    else if (e->kind == HISTORY_MISLED)
        misled(c, e);
    else if (e->kind == HISTORY_CHANGED_FOREIGN)
        checker_break(c, CHECK_OWN_NODES, e, "session %llx", (unsigned long long)e->a);
}

void checker_nodes_end(struct checker *c, const struct history_event *e) {
    c->evaluated[CHECK_ORPHAN]++;
    for (int32_t i = 0; i < c->live_count; i++) {
        const struct checker_node *node = &c->nodes[c->live[i]];
        checker_break(c, CHECK_ORPHAN, e, "number %d of path %d, session %llx", node->sequence, node->path,
                      (unsigned long long)node->session);
    }
}

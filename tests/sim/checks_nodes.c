/* The promises about nodes: whose they are, how many, whom their end wakes, and that none is left. */
#include "history.h"

#include <string.h>

/* The newest first: what is asked about is rarely old. */
struct checker_node *checker_node_of(struct checker *c, int64_t czxid) {
    for (int32_t i = c->nodes_count - 1; i >= 0; i--)
        if (c->nodes[i].czxid == czxid)
            return &c->nodes[i];
    return NULL;
}

static bool was_lied_to(const struct checker *c, int64_t session) {
    for (int32_t i = 0; i < c->lies_count; i++)
        if (c->lies[i] == session)
            return true;
    return false;
}

static void created(struct checker *c, const struct history_event *e) {
    bool behind = false;
    c->evaluated[CHECK_ONE_NODE]++;
    for (int32_t i = 0; i < c->live_count; i++) {
        const struct checker_node *other = &c->nodes[c->live[i]];
        behind = behind || other->path == e->path;
        if (other->place == e->b && other->path == e->path && !was_lied_to(c, other->session))
            checker_break(c, CHECK_ONE_NODE, e, "numbers %d and %d of session %llx", other->sequence, e->id,
                          (unsigned long long)other->session);
    }
    if (c->nodes_count == HISTORY_NODES)
        return;
    c->live[c->live_count++] = c->nodes_count;
    c->nodes[c->nodes_count++] = (struct checker_node){
        .czxid = e->a, .session = e->extra, .place = e->b, .sequence = e->id, .path = e->path, .behind = behind};
}

static void forget_live(struct checker *c, const struct checker_node *node) {
    for (int32_t i = 0; i < c->live_count; i++)
        if (&c->nodes[c->live[i]] == node) {
            memmove(&c->live[i], &c->live[i + 1], (size_t)(c->live_count - i - 1) * sizeof c->live[0]);
            c->live_count--;
            return;
        }
}

/* A lease that is over before its session is: so nobody but an admin ends the node of a valid hold. */
static void check_lease(struct checker *c, const struct checker_node *node, const struct history_event *e) {
    c->evaluated[CHECK_LEASE]++;
    for (int32_t i = 0; i < c->valid_count; i++) {
        const struct checker_hold *hold = &c->holds[c->valid[i]];
        if (hold->token == node->czxid && checker_is_valid(hold, e->at))
            checker_break(c, CHECK_LEASE, e, "number %d %s; p%d's hold of it is valid for another %.3f ms",
                          node->sequence, e->extra ? "expired with its session" : "was deleted", hold->process,
                          (double)(hold->until - e->at) / 1e6);
    }
}

static void deleted(struct checker *c, const struct history_event *e) {
    struct checker_node *node = checker_node_of(c, e->a);
    if (!node || node->gone)
        return;
    c->evaluated[CHECK_OWN_NODES]++;
    if (e->b == 0)
        node->robbed = true;
    else if (e->b != node->session)
        checker_break(c, CHECK_OWN_NODES, e, "session %llx deletes number %d of session %llx", (unsigned long long)e->b,
                      node->sequence, (unsigned long long)node->session);
    if (!node->robbed)
        check_lease(c, node, e);
    node->gone = true;
    node->gone_at = e->at;
    forget_live(c, node);
}

static void woken(struct checker *c, const struct history_event *e) {
    struct checker_node *node = checker_node_of(c, e->a);
    if (!node)
        return;
    c->evaluated[CHECK_ONE_WAKE_UP]++;
    if (node->woken == 0)
        node->woken = e->b;
    else if (node->woken != e->b)
        checker_break(c, CHECK_ONE_WAKE_UP, e, "the end of number %d", node->sequence);
}

void checker_node_event(struct checker *c, const struct history_event *e) {
    if (e->kind == HISTORY_CREATED)
        created(c, e);
    else if (e->kind == HISTORY_DELETED)
        deleted(c, e);
    else if (e->kind == HISTORY_WOKEN)
        woken(c, e);
    else if (e->kind == HISTORY_LIED && c->lies_count < (int32_t)(sizeof c->lies / sizeof c->lies[0]))
        c->lies[c->lies_count++] = e->a;
    else if (e->kind == HISTORY_MEDDLED)
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

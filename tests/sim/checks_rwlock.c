/* The promises about readers and writers. A writer is alone. Nobody overtakes a writer. A downgraded writer is a reader
 * to itself at once, and to the others when its node has been exchanged. */
#include "checker.h"

#include <paddock/status.h>

/* At a grant: both are valid. */
void checker_writer_meets(struct checker *c, const struct checker_hold *hold, const struct checker_hold *other,
                          const struct history_event *e) {
    if (hold->mode == MODE_SHARED && other->mode == MODE_SHARED) {
        c->met[MET_READERS]++;
        c->met[MET_LET_IN] += other->downgraded;
        return;
    }
    checker_break(c, CHECK_WRITER_ALONE, e, "p%d %s with token %llx/%u while p%d %s with %llx/%u for another %.3f ms",
                  hold->process, hold->mode == MODE_SHARED ? "reads" : "writes", (unsigned long long)hold->token,
                  hold->handover, other->process, other->mode == MODE_SHARED ? "reads" : "writes",
                  (unsigned long long)other->token, other->handover, (double)(other->until - e->at) / 1e6);
}

/* A node that takes over from one that an admin had deleted is at a position where nobody expects it. */
static void check_order(struct checker *c, const struct checker_hold *hold, const struct checker_node *node,
                        const struct history_event *e) {
    c->evaluated[CHECK_READER_ORDER]++;
    for (int32_t i = 0; i < c->live_count; i++) {
        const struct checker_node *other = &c->nodes[c->live[i]];
        bool waits = hold->mode == MODE_EXCLUSIVE || other->mode == MODE_EXCLUSIVE;
        if (waits && checker_is_ahead(other, node) && !other->exchanged_gone)
            checker_break(c, CHECK_READER_ORDER, e, "p%d %s with number %d while %s with %d is in the queue",
                          hold->process, hold->mode == MODE_SHARED ? "reads" : "writes", node->sequence,
                          other->mode == MODE_SHARED ? "a reader" : "a writer", other->sequence);
    }
}

static void check_tokens(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    struct checker_path *path = &c->paths[hold->path];
    bool writes = hold->mode == MODE_EXCLUSIVE;
    bool larger = hold->token > path->token || (hold->token == path->token && hold->handover > path->handover);
    c->evaluated[CHECK_WRITER_TOKENS]++;
    if ((!larger || (writes && hold->token <= path->reader_token)) && !checker_has_removed_node(c, hold))
        checker_break(c, CHECK_WRITER_TOKENS, e, "p%d %s with %llx/%u after a writer's %llx/%u and a reader's %llx",
                      hold->process, writes ? "writes" : "reads", (unsigned long long)hold->token, hold->handover,
                      (unsigned long long)path->token, path->handover, (unsigned long long)path->reader_token);
    if (writes && larger) {
        path->token = hold->token;
        path->handover = hold->handover;
    } else if (!writes && hold->token > path->reader_token) {
        path->reader_token = hold->token;
    }
}

void checker_rwlock_granted(struct checker *c, struct checker_hold *hold, const struct checker_node *node,
                            const struct history_event *e) {
    c->evaluated[CHECK_WRITER_ALONE]++;
    if (node)
        check_order(c, hold, node, e);
    check_tokens(c, hold, e);
}

/* ---- downgrades */

void checker_downgraded(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    int64_t right = hold->released                   ? PDK_NOT_HELD
                    : !checker_is_valid(hold, e->at) ? PDK_LOST
                    : hold->mode == MODE_SHARED      ? PDK_INVALID
                                                     : PDK_OK;
    c->evaluated[CHECK_DOWNGRADE]++;
    if (e->a != right)
        checker_break(c, CHECK_DOWNGRADE, e, "p%d's downgrade of %llx answers %s, not %s", hold->process,
                      (unsigned long long)hold->token, pdk_status_name((pdk_status)e->a),
                      pdk_status_name((pdk_status)right));
    if (e->a != PDK_OK)
        return;
    c->met[MET_DOWNGRADED]++;
    hold->mode = MODE_SHARED;
    hold->downgraded = true;
    hold->downgraded_at = e->at;
}

/* The new node has the old one's number, and exists before the old one goes. Another check covers the end of the old
 * one, while the hold is valid and stands on it (checks_nodes.c). */
void checker_exchanged(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    const struct checker_node *old = checker_node_of(c, hold->nodes[0]), *new = checker_node_of(c, e->a);
    const char *wrong = !hold->downgraded                        ? "nobody asked for it"
                        : hold->exchanged                        ? "it was exchanged already"
                        : !old || !new || new->path != old->path ? "it never was there"
                        : new->gone && !new->removed             ? "it is gone"
                        : new->mode != MODE_SHARED               ? "it is a writer's"
                        : new->session != old->session           ? "it is another session's"
                        : new->sequence != old->sequence         ? "its number is another one"
                                                                 : NULL;
    c->evaluated[CHECK_EXCHANGE]++;
    c->met[MET_EXCHANGED]++;
    hold->exchanged = true;
    if (wrong)
        checker_break(c, CHECK_EXCHANGE, e, "p%d's hold of %llx stands on node %llx: %s", hold->process,
                      (unsigned long long)hold->token, (unsigned long long)e->a, wrong);
}

/* With everything healed, and nothing refused, the exchange is a matter of round trips. */
void checker_exchange_late(struct checker *c, const struct checker_hold *hold, const struct history_event *e) {
    const struct checker_session *session = &c->sessions[hold->session];
    bool refused =
        session->tainted[PDK_NO_PERMISSION] || session->tainted[PDK_UNSUPPORTED] || session->tainted[PDK_EXHAUSTED];
    if (!hold->downgraded || hold->exchanged || refused || c->healed_at == INT64_MAX || !checker_is_valid(hold, e->at))
        return;
    int64_t since = hold->downgraded_at > c->healed_at ? hold->downgraded_at : c->healed_at;
    c->evaluated[CHECK_EXCHANGE_LATE]++;
    if (e->at > checker_latest(c, hold->process, since + 2 * c->timeout))
        checker_break(c, CHECK_EXCHANGE_LATE, e, "p%d's hold of %llx, %.3f ms after the downgrade", hold->process,
                      (unsigned long long)hold->token, (double)(e->at - hold->downgraded_at) / 1e6);
}

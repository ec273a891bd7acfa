/* The promises about holds, from the grant on (checks_grants.c): the end of each, and its writes at a resource.
 *
 *     GRANT ──► valid ── until passes, or ENDED ──► over ── LOST, once ──► RELEASED
 *                 │  EXTEND: only while it is valid
 *                 └── RELEASED ──► over, and never LOST
 */
#include "checker.h"

#include <paddock/hold.h>
#include <string.h>

#define STATUS_OK 0
#define STATUS_LOST 4

bool checker_is_valid(const struct checker_hold *hold, int64_t at) { return !hold->ended && hold->until > at; }

bool checker_stands_on(const struct checker_hold *hold, int64_t czxid) {
    for (int32_t i = 0; i < hold->nodes_count; i++)
        if (hold->nodes[i] == czxid)
            return true;
    return false;
}

/* The first of its nodes that an admin deleted, or NULL. */
static const struct checker_node *removed_node(struct checker *c, const struct checker_hold *hold) {
    const struct checker_node *found = NULL;
    for (int32_t i = 0; i < hold->nodes_count; i++) {
        const struct checker_node *node = checker_node_of(c, hold->nodes[i]);
        if (node && node->removed && (!found || node->gone_at < found->gone_at))
            found = node;
    }
    return found;
}

bool checker_has_removed_node(struct checker *c, struct checker_hold *hold) {
    const struct checker_node *node = hold->removed ? NULL : removed_node(c, hold);
    if (node) {
        hold->removed = true;
        hold->removed_at = node->gone_at;
    }
    return hold->removed;
}

int64_t checker_over_at(const struct checker_hold *hold) {
    return hold->ended && hold->ended_at < hold->until ? hold->ended_at : hold->until;
}

/* An admin deleted its node. It hears of that by its watch or a renewal, or loses its lease. */
static void check_gone(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    if (!checker_has_removed_node(c, hold))
        return;
    int64_t gone_at = hold->removed_at;
    c->evaluated[CHECK_GONE]++;
    if (e->at >
        checker_latest(c, hold->process, (gone_at > hold->granted_at ? gone_at : hold->granted_at) + c->timeout))
        checker_break(c, CHECK_GONE, e, "p%d's hold of %llx goes on for %.3f ms", hold->process,
                      (unsigned long long)hold->token, (double)(e->at - gone_at) / 1e6);
}

/* It stands on one more node, or on another one. */
static void stands(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    checker_has_removed_node(c, hold);
    if (c->paths[hold->path].recipe == PLAN_RECIPE_SEMAPHORE) {
        checker_permit_stands(c, hold, e->a, e);
        if (hold->nodes_count < PLAN_COUNT_MOST)
            hold->nodes[hold->nodes_count++] = e->a;
    } else {
        const struct checker_node *reader = checker_node_of(c, e->a);
        checker_exchanged(c, hold, e);
        hold->nodes[0] = e->a;
        if (reader && !reader->removed && !reader->exchanged_gone)
            hold->removed = false; /* it was there before the writer's was deleted by hand */
    }
}

static void extended(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    c->evaluated[CHECK_REVIVED]++;
    if (e->a > e->at && !checker_is_valid(hold, e->at))
        checker_break(c, CHECK_REVIVED, e, "p%d's hold of %llx was over %.3f ms ago", hold->process,
                      (unsigned long long)hold->token, (double)(e->at - checker_over_at(hold)) / 1e6);
    hold->until = e->a;
    checker_record_extended(c, hold, e);
    if (checker_is_valid(hold, e->at))
        check_gone(c, hold, e);
}

static void check_late(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    int64_t latest = checker_latest(c, hold->process, checker_over_at(hold));
    c->evaluated[CHECK_LOST_LATE]++;
    if (e->at > latest)
        checker_break(c, CHECK_LOST_LATE, e, "p%d's hold of %llx was over %.3f ms ago, and its owner %s", hold->process,
                      (unsigned long long)hold->token, (double)(e->at - checker_over_at(hold)) / 1e6,
                      hold->lost ? "is told now" : "has not been told");
}

/* Only an admin, or a server that gives false answers, makes a node disappear. */
static void check_reason(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    const struct checker_node *node = checker_node_of(c, hold->token);
    bool early = hold->ended && hold->ended_at < hold->until && !hold->returned;
    c->evaluated[CHECK_REASON]++;
    c->met[MET_OVERDUE] += e->a == PDK_REASON_OVERDUE;
    if (c->calm && early && e->a != PDK_REASON_NODE_GONE)
        checker_break(c, CHECK_REASON, e, "p%d's hold of %llx: %s, and it was neither over nor released", hold->process,
                      (unsigned long long)hold->token, pdk_reason_name((pdk_reason)e->a));
    if (e->a == PDK_REASON_NODE_GONE && !checker_has_removed_node(c, hold) &&
        !(node && checker_was_misled(c, node->session)))
        checker_break(c, CHECK_REASON, e, "p%d's hold of %llx: NODE_GONE, and nobody has taken it", hold->process,
                      (unsigned long long)hold->token);
}

static void lost(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    bool once = !hold->lost;
    hold->lost = true;
    c->evaluated[CHECK_LOST_TWICE]++;
    c->evaluated[CHECK_LOST_VALID]++;
    c->evaluated[CHECK_LOST_RELEASED]++;
    if (!once)
        checker_break(c, CHECK_LOST_TWICE, e, "p%d, token %llx", hold->process, (unsigned long long)hold->token);
    else if (checker_is_valid(hold, e->at) || e->b || e->a == 0)
        checker_break(c, CHECK_LOST_VALID, e, "p%d, token %llx, reason %lld", hold->process,
                      (unsigned long long)hold->token, (long long)e->a);
    else if (hold->released && !hold->dropped)
        checker_break(c, CHECK_LOST_RELEASED, e, "p%d, token %llx", hold->process, (unsigned long long)hold->token);
    else if (c->sessions[hold->session].closed)
        checker_break(c, CHECK_SILENCE, e, "LOST for p%d, token %llx", hold->process, (unsigned long long)hold->token);
    else
        check_late(c, hold, e);
    check_reason(c, hold, e);
}

static void note_freed(struct checker *c, const struct checker_hold *hold, const struct history_event *e) {
    if (hold->mode != MODE_PERMIT || hold->ended)
        return;
    c->paths[hold->path].freed_at = e->at;
    c->paths[hold->path].freed = hold->count;
}

void checker_hold_returned(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    note_freed(c, hold, e);
    hold->released = true;
    if (checker_is_valid(hold, e->at)) {
        hold->returned = hold->ended = true;
        hold->ended_at = e->at;
    }
}

static void released(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    bool valid = checker_is_valid(hold, e->at);
    checker_ask_released(c, hold, e);
    c->evaluated[CHECK_RELEASE]++;
    if ((valid && e->a != STATUS_OK) || (!valid && e->a != STATUS_LOST) || hold->released)
        checker_break(c, CHECK_RELEASE, e, "p%d's release of %llx answers %lld; it is %s", hold->process,
                      (unsigned long long)hold->token, (long long)e->a, valid ? "valid" : "over");
    if (!valid && hold->wants_lost && !hold->lost && !c->sessions[hold->session].closed)
        check_late(c, hold, e);
    if (valid)
        check_gone(c, hold, e);
    hold->dropped = !valid && e->b; /* it is lost, and the report may have been under way */
    hold->let_go = e->b != 0;
    checker_hold_returned(c, hold, e);
}

static void written(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    struct checker_path *path = &c->paths[hold->path];
    uint32_t handover = (uint32_t)e->extra;
    bool fresh = e->a > path->largest_token || (e->a == path->largest_token && handover >= path->largest_handover);
    c->evaluated[CHECK_STALE]++;
    if (fresh != (e->b != 0))
        checker_break(c, CHECK_STALE, e, "token %llx/%u %s, the largest seen is %llx/%u", (unsigned long long)e->a,
                      handover, e->b ? "accepted" : "refused", (unsigned long long)path->largest_token,
                      path->largest_handover);
    if (fresh && e->mode != MODE_SHARED) { /* a read leaves no trace */
        path->largest_token = e->a;
        path->largest_handover = handover;
    }
    if (!checker_is_valid(hold, e->at) || checker_has_removed_node(c, hold))
        return;
    c->evaluated[CHECK_HOLDERS_WRITE]++;
    if (!e->b)
        checker_break(c, CHECK_HOLDERS_WRITE, e, "p%d %s with %llx/%u and holds it; %llx/%u wrote before",
                      hold->process, e->mode == MODE_SHARED ? "reads" : "writes", (unsigned long long)e->a, handover,
                      (unsigned long long)path->largest_token, path->largest_handover);
}

static void killed(struct checker *c, int8_t process, int64_t at) {
    for (int32_t i = 0; i < c->valid_count; i++) {
        struct checker_hold *hold = &c->holds[c->valid[i]];
        if (hold->process == process && !hold->ended) {
            hold->ended = true;
            hold->ended_at = at;
        }
    }
}

static void retired(struct checker *c, const struct history_event *e) {
    c->evaluated[CHECK_OUTLIVED]++;
    c->sessions[e->id].retired_at = e->at;
    for (int32_t i = 0; i < c->valid_count; i++) {
        const struct checker_hold *hold = &c->holds[c->valid[i]];
        if (hold->session == e->id && checker_is_valid(hold, e->at))
            checker_break(c, CHECK_OUTLIVED, e, "p%d, token %llx, for another %.3f ms", hold->process,
                          (unsigned long long)hold->token, (double)(hold->until - e->at) / 1e6);
    }
}

/* The danger, not the damage: perhaps nobody was granted meanwhile. */
static void leased(struct checker *c, const struct history_event *e) {
    if (e->a <= e->at)
        return; /* over before it was reported */
    c->evaluated[CHECK_PROMISED]++;
    if (e->a > e->b)
        checker_break(c, CHECK_PROMISED, e, "p%d's lease ends %.3f ms after its session may", e->process,
                      (double)(e->a - e->b) / 1e6);
}

void checker_hold_event(struct checker *c, const struct history_event *e) {
    if (e->kind == HISTORY_LEASED) {
        leased(c, e);
        return;
    }
    if (e->kind == HISTORY_RETIRED) {
        retired(c, e);
        return;
    }
    if (e->kind == HISTORY_KILLED) {
        killed(c, (int8_t)e->id, e->at);
        return;
    }
    if (e->id < 0 || e->id >= c->holds_count || !c->holds[e->id].known) {
        checker_break(c, CHECK_NODE, e, "hold %d was never granted", e->id);
        return;
    }
    struct checker_hold *hold = &c->holds[e->id];
    checker_exchange_late(c, hold, e);
    if (e->kind == HISTORY_EXTEND) {
        extended(c, hold, e);
    } else if (e->kind == HISTORY_STANDS) {
        stands(c, hold, e);
    } else if (e->kind == HISTORY_DOWNGRADED) {
        checker_downgraded(c, hold, e);
    } else if (e->kind == HISTORY_LOST) {
        lost(c, hold, e);
    } else if (e->kind == HISTORY_RELEASED) {
        released(c, hold, e);
    } else if (e->kind == HISTORY_WRITE) {
        written(c, hold, e);
    } else if (!hold->ended) {
        check_gone(c, hold, e);
        note_freed(c, hold, e);
        hold->ended = true;
        hold->ended_at = e->at;
    }
}

void checker_holds_end(struct checker *c, const struct history_event *e) {
    for (int32_t i = 0; i < c->holds_count; i++) {
        struct checker_hold *hold = &c->holds[i];
        if (!hold->known || !hold->received || !hold->wants_lost || hold->lost || hold->released)
            continue;
        if (c->sessions[hold->session].closed)
            continue;
        if (!checker_is_valid(hold, e->at))
            check_late(c, hold, e);
    }
}

/* The promises about holds: exclusion, tokens, the end of each, and what a resource sees of it.
 *
 *     GRANT ──► valid ── until passes, or ENDED ──► over ── LOST, once ──► RELEASED
 *                 │  EXTEND: only while it is valid
 *                 └── RELEASED ──► over, and never LOST
 */
#include "history.h"

#include <string.h>

#define STATUS_OK 0
#define STATUS_LOST 4

bool checker_is_valid(const struct checker_hold *hold, int64_t at) { return !hold->ended && hold->until > at; }

static bool is_robbed(struct checker *c, struct checker_hold *hold) {
    if (hold->robbed)
        return true;
    const struct checker_node *node = checker_node_of(c, hold->token);
    hold->robbed = node && node->robbed;
    return hold->robbed;
}

/* When it was over: what the word said, or the moment that it named. */
static int64_t over_at(const struct checker_hold *hold) {
    return hold->ended && hold->ended_at < hold->until ? hold->ended_at : hold->until;
}

/* What nobody can tell from a valid hold is over in true time: so the ones before it must be. */
static void check_exclusion(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    c->evaluated[CHECK_EXCLUSION]++;
    int32_t kept = 0;
    for (int32_t i = 0; i < c->valid_count; i++) {
        struct checker_hold *other = &c->holds[c->valid[i]];
        if (!checker_is_valid(other, e->at))
            continue;
        c->valid[kept++] = c->valid[i];
        if (other != hold && other->path == hold->path && !is_robbed(c, other) && !is_robbed(c, hold))
            checker_break(c, CHECK_EXCLUSION, e,
                          "p%d is granted token %llx/%u while p%d's %llx/%u is valid for another %.3f ms",
                          hold->process, (unsigned long long)hold->token, hold->handover, other->process,
                          (unsigned long long)other->token, other->handover, (double)(other->until - e->at) / 1e6);
    }
    c->valid_count = kept;
}

static void check_node(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    const struct checker_node *node = checker_node_of(c, hold->token);
    c->evaluated[CHECK_NODE]++;
    bool expected = node && node->robbed && e->at <= node->gone_at + 2 * c->timeout; /* nobody has told it yet */
    if (!node || (node->gone && !expected) || node->path != hold->path)
        checker_break(c, CHECK_NODE, e, "p%d is granted token %llx; its node %s", hold->process,
                      (unsigned long long)hold->token, node ? "is gone" : "never was");
    if (!node || node->gone)
        return;
    c->evaluated[CHECK_ORDER]++;
    for (int32_t i = 0; i < c->live_count; i++) {
        const struct checker_node *other = &c->nodes[c->live[i]];
        int32_t order = (int32_t)((uint32_t)other->sequence - (uint32_t)node->sequence);
        if (other->path == node->path && (order < 0 || (order == 0 && other->czxid < node->czxid)))
            checker_break(c, CHECK_ORDER, e, "p%d is granted number %d while %d is in line", hold->process,
                          node->sequence, other->sequence);
    }
}

static void check_tokens(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    struct checker_path *path = &c->paths[hold->path];
    bool larger = hold->token > path->token || (hold->token == path->token && hold->handover > path->handover);
    c->evaluated[CHECK_TOKENS]++;
    if (!larger && path->token != 0 && !is_robbed(c, hold))
        checker_break(c, CHECK_TOKENS, e, "p%d is granted %llx/%u after %llx/%u", hold->process,
                      (unsigned long long)hold->token, hold->handover, (unsigned long long)path->token, path->handover);
    if (larger) {
        path->token = hold->token;
        path->handover = hold->handover;
    }
}

static void check_turns(struct checker *c, const struct checker_hold *hold, const struct history_event *e) {
    struct checker_path *path = &c->paths[hold->path];
    if (hold->handover == 0) {
        path->granted_token = hold->token;
        path->granted_clock = e->clock;
        return;
    }
    c->evaluated[CHECK_TURNS]++;
    int64_t since = path->granted_token == hold->token ? (e->clock - path->granted_clock) / 1000000 : 0;
    if (hold->handover > (uint32_t)c->max_handovers || since >= c->max_handover_ms)
        checker_break(c, CHECK_TURNS, e, "hand-over %u of %d, %lld of %d ms after the first grant", hold->handover,
                      c->max_handovers, (long long)since, c->max_handover_ms);
}

static void granted(struct checker *c, const struct history_event *e) {
    struct checker_hold *hold = &c->holds[e->id];
    while (c->holds_count <= e->id)
        c->holds[c->holds_count++].known = false;
    *hold = (struct checker_hold){
        .token = e->a,
        .granted_at = e->at,
        .until = e->b,
        .handover = (uint32_t)e->extra,
        .session = e->number,
        .process = e->process,
        .path = e->path,
        .known = true,
    };
    check_exclusion(c, hold, e);
    check_node(c, hold, e);
    check_tokens(c, hold, e);
    check_turns(c, hold, e);
    c->evaluated[CHECK_LOCAL_ORDER]++;
    if (e->passed > 0)
        checker_break(c, CHECK_LOCAL_ORDER, e, "p%d's grant of %llx/%u passes %d who came before", hold->process,
                      (unsigned long long)hold->token, hold->handover, e->passed);
    c->valid[c->valid_count++] = e->id;
}

static void extended(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    c->evaluated[CHECK_REVIVED]++;
    if (e->a > e->at && !checker_is_valid(hold, e->at))
        checker_break(c, CHECK_REVIVED, e, "p%d's hold of %llx was over %.3f ms ago", hold->process,
                      (unsigned long long)hold->token, (double)(e->at - over_at(hold)) / 1e6);
    hold->until = e->a;
}

static void check_late(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    int64_t latest = checker_latest(c, hold->process, over_at(hold));
    c->evaluated[CHECK_LOST_LATE]++;
    if (e->at > latest)
        checker_break(c, CHECK_LOST_LATE, e, "p%d's hold of %llx was over %.3f ms ago, and its owner %s", hold->process,
                      (unsigned long long)hold->token, (double)(e->at - over_at(hold)) / 1e6,
                      hold->lost ? "is told now" : "has not been told");
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
}

static void released(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    bool valid = checker_is_valid(hold, e->at);
    c->evaluated[CHECK_RELEASE]++;
    if ((valid && e->a != STATUS_OK) || (!valid && e->a != STATUS_LOST) || hold->released)
        checker_break(c, CHECK_RELEASE, e, "p%d's release of %llx answers %lld; it is %s", hold->process,
                      (unsigned long long)hold->token, (long long)e->a, valid ? "valid" : "over");
    if (!valid && hold->wants_lost && !hold->lost && !c->sessions[hold->session].closed)
        check_late(c, hold, e);
    hold->released = true;
    hold->dropped = !valid && e->b; /* it is lost, and who is to be told may have been on the way */
    if (valid) {
        hold->ended = true;
        hold->ended_at = e->at;
    }
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
    if (fresh) {
        path->largest_token = e->a;
        path->largest_handover = handover;
    }
    if (!checker_is_valid(hold, e->at) || is_robbed(c, hold))
        return;
    c->evaluated[CHECK_HOLDERS_WRITE]++;
    if (!e->b)
        checker_break(c, CHECK_HOLDERS_WRITE, e, "p%d writes with %llx/%u and holds it; %llx/%u wrote before",
                      hold->process, (unsigned long long)e->a, handover, (unsigned long long)path->largest_token,
                      path->largest_handover);
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
    for (int32_t i = 0; i < c->valid_count; i++) {
        const struct checker_hold *hold = &c->holds[c->valid[i]];
        if (hold->session == e->id && checker_is_valid(hold, e->at))
            checker_break(c, CHECK_OUTLIVED, e, "p%d, token %llx, for another %.3f ms", hold->process,
                          (unsigned long long)hold->token, (double)(hold->until - e->at) / 1e6);
    }
}

/* The danger, not the damage: nobody need have been granted meanwhile. */
static void leased(struct checker *c, const struct history_event *e) {
    if (e->a <= e->at)
        return; /* over before it was heard of */
    c->evaluated[CHECK_PROMISED]++;
    if (e->a > e->b)
        checker_break(c, CHECK_PROMISED, e, "p%d's lease ends %.3f ms after its session may", e->process,
                      (double)(e->a - e->b) / 1e6);
}

/* Its node was deleted by an admin: it hears of that by its watch or a renewal, or loses its lease. */
static void check_gone(struct checker *c, struct checker_hold *hold, const struct history_event *e) {
    if (!is_robbed(c, hold))
        return;
    int64_t gone_at = checker_node_of(c, hold->token)->gone_at;
    c->evaluated[CHECK_GONE]++;
    if (e->at >
        checker_latest(c, hold->process, (gone_at > hold->granted_at ? gone_at : hold->granted_at) + c->timeout))
        checker_break(c, CHECK_GONE, e, "p%d's hold of %llx goes on for %.3f ms", hold->process,
                      (unsigned long long)hold->token, (double)(e->at - gone_at) / 1e6);
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
    if (e->kind == HISTORY_GRANT) {
        granted(c, e);
        return;
    }
    struct checker_hold *hold = &c->holds[e->id];
    if (e->id >= c->holds_count || !hold->known) {
        checker_break(c, CHECK_NODE, e, "hold %d was never granted", e->id);
        return;
    }
    if (e->kind == HISTORY_EXTEND) {
        extended(c, hold, e);
    } else if (e->kind == HISTORY_LOST) {
        lost(c, hold, e);
    } else if (e->kind == HISTORY_RELEASED) {
        released(c, hold, e);
    } else if (e->kind == HISTORY_WRITE) {
        written(c, hold, e);
    } else if (!hold->ended) {
        check_gone(c, hold, e);
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

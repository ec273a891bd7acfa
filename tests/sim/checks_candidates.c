/* The promises to candidates: elected with a valid hold; deposed once for each election, for the right reason and in
 * time; and somebody leads. */
#include "checker.h"

#include <paddock/hold.h>
#include <paddock/status.h>

static bool is_over(const struct checker *c, const struct checker_candidacy *candidate) {
    return c->sessions[candidate->session].closed || c->sessions[candidate->session].closing;
}

static bool is_member(const struct checker *c, const struct checker_candidacy *candidate) {
    return c->paths[candidate->path].recipe == PLAN_RECIPE_GROUP;
}

static void joined(struct checker *c, const struct history_event *e) {
    while (c->candidacies_count <= e->id)
        c->candidacies[c->candidacies_count++].known = false;
    c->candidacies[e->id] = (struct checker_candidacy){
        .session = e->number,
        .identity = (int32_t)e->a,
        .hold = -1,
        .process = e->process,
        .path = e->path,
        .known = true,
    };
}

/* A member that sets its data looks for its hold, and may know of it ahead of the callback, which follows in any case. */
static bool has_looked(const struct checker *c, const struct checker_candidacy *candidate) {
    return is_member(c, candidate) && candidate->data != 0;
}

static void elected(struct checker *c, struct checker_candidacy *candidate, const struct history_event *e) {
    struct checker_hold *hold = e->b >= 0 && e->b < c->holds_count ? &c->holds[e->b] : NULL;
    c->evaluated[CHECK_TERMS]++;
    c->evaluated[CHECK_ELECTED]++;
    c->evaluated[CHECK_AFTER_LEFT]++;
    c->met[is_member(c, candidate) ? MET_REGISTERED : MET_TERMS]++;
    if (c->sessions[candidate->session].closed)
        checker_break(c, CHECK_SILENCE, e, "candidate %d of p%d is elected", e->id, candidate->process);
    if (candidate->left)
        checker_break(c, CHECK_AFTER_LEFT, e, "candidate %d of p%d is elected", e->id, candidate->process);
    if (candidate->told)
        checker_break(c, CHECK_TERMS, e, "candidate %d of p%d is elected, and not deposed since the last time", e->id,
                      candidate->process);
    if (!hold || !hold->known || hold->received || hold->path != candidate->path || hold->token != e->a ||
        hold->process != candidate->process || !(checker_is_valid(hold, e->at) || has_looked(c, candidate))) {
        checker_break(c, CHECK_ELECTED, e, "candidate %d of p%d, token %llx", e->id, candidate->process,
                      (unsigned long long)e->a);
        return;
    }
    hold->received = true;
    hold->received_at = e->at;
    hold->wants_lost = e->extra != 0;
    candidate->told = true;
    candidate->hold = (int32_t)e->b;
}

/* NONE: it resigned, or left. Otherwise its hold was lost, and not given back. */
static const char *wrong_reason(const struct checker_candidacy *candidate, const struct checker_hold *hold,
                                const struct history_event *e) {
    if (checker_is_valid(hold, e->at))
        return "and it leads";
    if (e->a == PDK_REASON_NONE)
        return hold->released || candidate->left ? NULL : "and it has neither resigned nor left";
    return hold->returned ? "and it gave it back" : NULL;
}

static void check_late(struct checker *c, const struct checker_candidacy *candidate, const struct checker_hold *hold,
                       const struct history_event *e) {
    c->evaluated[CHECK_DEPOSED_LATE]++;
    if (e->at > checker_latest(c, candidate->process, checker_over_at(hold)))
        checker_break(c, CHECK_DEPOSED_LATE, e, "p%d's term with %llx was over %.3f ms ago", candidate->process,
                      (unsigned long long)hold->token, (double)(e->at - checker_over_at(hold)) / 1e6);
}

static void deposed(struct checker *c, struct checker_candidacy *candidate, const struct history_event *e) {
    c->evaluated[CHECK_TERMS]++;
    if (c->sessions[candidate->session].closed)
        checker_break(c, CHECK_SILENCE, e, "candidate %d of p%d is deposed", e->id, candidate->process);
    if (!candidate->told) {
        checker_break(c, CHECK_TERMS, e, "candidate %d of p%d is deposed, and was not elected", e->id,
                      candidate->process);
        return;
    }
    const struct checker_hold *hold = &c->holds[candidate->hold];
    const char *wrong = wrong_reason(candidate, hold, e);
    candidate->told = false;
    c->evaluated[CHECK_DEPOSED]++;
    c->met[is_member(c, candidate) ? MET_UNLISTED : MET_OUSTED] += e->a != PDK_REASON_NONE;
    if (wrong)
        checker_break(c, CHECK_DEPOSED, e, "p%d's term with %llx: %s, %s", candidate->process,
                      (unsigned long long)hold->token, pdk_reason_name((pdk_reason)e->a), wrong);
    check_late(c, candidate, hold, e);
}

/* OK where it leads, reported or not. The end of its hold is an event of the hold's. */
static void resigned(struct checker *c, const struct checker_candidacy *candidate, const struct history_event *e) {
    bool leads = candidate->told && checker_is_valid(&c->holds[candidate->hold], e->at);
    c->evaluated[CHECK_RESIGNED]++;
    c->met[MET_RESIGNED] += e->a == PDK_OK;
    if ((e->a == PDK_OK) != leads || (e->a != PDK_OK && e->a != PDK_NOT_HELD))
        checker_break(c, CHECK_RESIGNED, e, "candidate %d of p%d: %s, and it %s", e->id, candidate->process,
                      pdk_status_name((pdk_status)e->a), leads ? "leads" : "does not lead");
}

static void failed(struct checker *c, struct checker_candidacy *candidate, const struct history_event *e) {
    const struct checker_session *session = &c->sessions[candidate->session];
    bool disagrees = e->a == PDK_MISMATCH && c->disagree && checker_has_number(c, candidate->path);
    bool expected = disagrees || (e->a >= 0 && e->a < CHECKER_STATUSES && session->tainted[e->a]) ||
                    (e->a == PDK_CLOSED && session->closing);
    c->evaluated[CHECK_STATUS]++;
    if (candidate->left)
        checker_break(c, CHECK_AFTER_LEFT, e, "candidate %d of p%d fails", e->id, candidate->process);
    if (!expected)
        checker_break(c, CHECK_STATUS, e, "candidate %d of p%d fails: %s", e->id, candidate->process,
                      pdk_status_name((pdk_status)e->a));
    candidate->left = true;
}

void checker_candidate_event(struct checker *c, const struct history_event *e) {
    if (e->kind == HISTORY_JOINED) {
        joined(c, e);
        return;
    }
    struct checker_candidacy *candidate = &c->candidacies[e->id];
    if (e->id >= c->candidacies_count || !candidate->known) {
        checker_break(c, CHECK_TERMS, e, "candidate %d never joined", e->id);
        return;
    }
    if (candidate->freed && (e->kind == HISTORY_ELECTED || e->kind == HISTORY_DEPOSED || e->kind == HISTORY_FAILED))
        checker_break(c, CHECK_MEMBER_FREED, e, "member %d of p%d, and a callback follows", e->id, candidate->process);
    if (e->kind == HISTORY_ELECTED) {
        elected(c, candidate, e);
    } else if (e->kind == HISTORY_AMENDS || e->kind == HISTORY_AMENDED || e->kind == HISTORY_PARTED) {
        checker_member_event(c, e);
    } else if (e->kind == HISTORY_DEPOSED) {
        deposed(c, candidate, e);
    } else if (e->kind == HISTORY_RESIGNED) {
        resigned(c, candidate, e);
    } else if (e->kind == HISTORY_FAILED) {
        failed(c, candidate, e);
    } else {
        c->met[is_member(c, candidate) ? MET_PARTED : MET_LEFT] += candidate->told && !candidate->left;
        candidate->left = true;
    }
}

/* Is this node of the ZooKeeper session in which it leads? A create that was handed over in an earlier one may be executed late: nobody
 * can take it back, and the node goes with its session. */
static bool is_of_its_session(const struct checker *c, const struct checker_candidacy *candidate, int64_t session) {
    const struct checker_hold *hold = &c->holds[candidate->hold];
    for (int32_t i = c->nodes_count; i-- > 0;)
        if (checker_stands_on(hold, c->nodes[i].czxid))
            return c->nodes[i].session == session;
    return true;
}

void checker_candidate_created(struct checker *c, const struct history_event *e) {
    if (c->paths[e->path].recipe != PLAN_RECIPE_ELECTION)
        return;
    int32_t i = c->candidacies_count - 1;
    while (i >= 0 && !(c->candidacies[i].known && c->candidacies[i].identity == e->number))
        i--;
    c->evaluated[CHECK_REQUEUED]++;
    if (i >= 0 && c->candidacies[i].told && is_of_its_session(c, &c->candidacies[i], e->extra))
        checker_break(c, CHECK_REQUEUED, e, "candidate %d of p%d", i, c->candidacies[i].process);
}

/* ---- the end */

bool checker_is_led(const struct checker *c, int8_t path, int64_t at, int32_t *candidates, int32_t *leaders) {
    *candidates = *leaders = 0;
    for (int32_t i = 0; i < c->candidacies_count; i++) {
        const struct checker_candidacy *candidate = &c->candidacies[i];
        if (!candidate->known || candidate->path != path || candidate->left || is_over(c, candidate))
            continue;
        (*candidates)++;
        *leaders += candidate->told && checker_is_valid(&c->holds[candidate->hold], at) &&
                    (!is_member(c, candidate) || checker_has_one_node(c, i));
    }
    return *candidates == 0 || *leaders == (c->paths[path].recipe == PLAN_RECIPE_GROUP ? *candidates : 1);
}

void checker_candidates_settled(struct checker *c, const struct history_event *e) {
    int32_t candidates, leaders;
    for (int8_t path = 0; path < PLAN_PATHS; path++) {
        bool led = checker_is_led(c, path, e->at, &candidates, &leaders);
        c->evaluated[CHECK_LEADERLESS] += candidates > 0;
        if (!led)
            checker_break(c, CHECK_LEADERLESS, e, "path %d: %d candidates, %d leaders, %.3f s after the last fault",
                          path, candidates, leaders, (double)(e->at - c->healed_at) / 1e9);
    }
}

void checker_candidates_end(struct checker *c, const struct history_event *e) {
    for (int32_t i = 0; i < c->candidacies_count; i++) {
        const struct checker_candidacy *candidate = &c->candidacies[i];
        if (candidate->known && candidate->told && !is_over(c, candidate) &&
            !checker_is_valid(&c->holds[candidate->hold], e->at))
            check_late(c, candidate, &c->holds[candidate->hold], e);
    }
}

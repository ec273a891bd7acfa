/* Makes a failing schedule small. Actions are left out, in halves, quarters, down to single ones. Then settings and
 * values are brought nearer to nothing. That is repeated until nothing more can be left out. A change is kept while the
 * run ends in the same finding. */
#include "explore.h"

#include <glib.h>

#include <string.h>

struct shrinking {
    struct plan *best;
    struct plan trial;
    struct finding *finding;
    int32_t runs, runs_most;
};

/* The trial becomes the best when it fails alike. */
static bool still_fails(struct shrinking *s) {
    if (s->runs++ >= s->runs_most || s->trial.servers % 2 == 0)
        return false;
    struct finding finding = explore_one(&s->trial, NULL);
    if (!finding.broken || strcmp(finding.what, s->finding->what) != 0)
        return false;
    *s->best = s->trial;
    *s->finding = finding;
    return true;
}

/* Its end must not depend on how much happens. */
static void fix_the_end(struct shrinking *s) {
    s->trial = *s->best;
    s->trial.enough = 0;
    s->trial.horizon = s->finding->healed_ms + 1;
    if (still_fails(s))
        return;
    s->trial = *s->best;
    s->trial.enough = 0;
    still_fails(s);
}

static bool leave_out(struct shrinking *s, int32_t from, int32_t count) {
    struct plan *trial = &s->trial;
    *trial = *s->best;
    memmove(&trial->actions[from], &trial->actions[from + count],
            (size_t)(trial->count - from - count) * sizeof trial->actions[0]);
    trial->count -= count;
    return still_fails(s);
}

static bool drop_actions(struct shrinking *s) {
    bool any = false;
    for (int32_t size = (s->best->count + 1) / 2; size > 0; size = size == 1 ? 0 : (size + 1) / 2)
        for (int32_t from = 0; from < s->best->count;) {
            int32_t count = MIN(size, s->best->count - from);
            if (leave_out(s, from, count))
                any = true;
            else
                from += count;
        }
    return any;
}

/* Try a number nearer to the goal: the goal itself, half-way, one step. value points into the trial. */
static bool bring_nearer(struct shrinking *s, int32_t *value, int32_t goal) {
    size_t offset = (size_t)((char *)value - (char *)&s->trial);
    bool any = false;
    for (;;) {
        s->trial = *s->best;
        int32_t old = *value;
        if (old == goal)
            return any;
        *value = goal;
        if (still_fails(s))
            return true;
        s->trial = *s->best;
        *(int32_t *)(void *)((char *)&s->trial + offset) = goal + (old - goal) / 2;
        if (old - goal == 1 || goal - old == 1 || !still_fails(s))
            return any;
        any = true;
    }
}

static bool simplify_settings(struct shrinking *s) {
    bool any = false;
    for (size_t i = 0; i < plan_settings_count(); i++) {
        int32_t standard;
        int32_t *value = plan_setting(&s->trial, i, &standard);
        if (value != &s->trial.enough && value != &s->trial.horizon)
            any |= bring_nearer(s, value, standard);
    }
    return any | bring_nearer(s, &s->trial.horizon, 0);
}

/* Fewer processes: the last one becomes the first. */
static bool merge_processes(struct shrinking *s) {
    bool any = false;
    while (s->best->processes > 1) {
        s->trial = *s->best;
        s->trial.processes--;
        if (!still_fails(s))
            break;
        any = true;
    }
    return any;
}

static bool simplify_actions(struct shrinking *s) {
    bool any = false;
    for (int32_t i = 0; i < s->best->count; i++) {
        struct plan_action *action = &s->trial.actions[i];
        bool acquires = s->best->actions[i].kind == PLAN_ACQUIRE;
        for (int32_t v = acquires ? PLAN_TIMEOUT : 1; v < PLAN_VALUES; v++)
            any |= bring_nearer(s, &action->value[v], acquires && v == PLAN_TIMEOUT ? -1 : v == PLAN_LOST && acquires);
        any |= bring_nearer(s, &action->at, i == 0 ? 0 : s->best->actions[i - 1].at);
    }
    return any;
}

void plan_shrink(struct plan *plan, struct finding *finding, int32_t runs_most, FILE *out) {
    struct shrinking *s = g_new0(struct shrinking, 1);
    int32_t before = plan->count;
    s->best = plan;
    s->finding = finding;
    s->runs_most = runs_most;
    fix_the_end(s);
    for (bool any = true; any && s->runs < runs_most;) {
        any = drop_actions(s);
        any |= merge_processes(s);
        any |= simplify_settings(s);
        any |= simplify_actions(s);
    }
    fprintf(out, "shrunk from %d actions to %d in %d runs\n", before, plan->count, s->runs);
    g_free(s);
}

/* Draws recipes. Half of all schedules have locks alone. The others have one other recipe on the path that most
 * processes use, and any recipe elsewhere. */
#include "swarm.h"

static int32_t draw(struct swarm *s, int32_t least, int32_t most) {
    return (int32_t)sim_random_between(&s->recipes, least, most);
}

static bool one_in(struct swarm *s, uint32_t once) { return sim_random_one_in(&s->recipes, once); }

/* From least to most, small ones more often. */
static int32_t draw_size(struct swarm *s, int32_t least, int32_t most) {
    int32_t range = draw(s, least, most);
    return draw(s, least, range);
}

void swarm_draw_recipes(struct swarm *s) {
    struct plan *p = s->plan;
    int32_t *recipes[PLAN_PATHS] = {&p->recipe0, &p->recipe1, &p->recipe2};
    int32_t *permits[PLAN_PATHS] = {&p->permits0, &p->permits1, &p->permits2};
    if (one_in(s, 2))
        return;
    for (int32_t path = 0; path < PLAN_PATHS; path++) {
        int32_t other = draw(s, PLAN_RECIPE_RWLOCK, PLAN_RECIPES - 1);
        *recipes[path] = path == s->favourite || one_in(s, 2) ? other : PLAN_RECIPE_LOCK;
        *permits[path] = one_in(s, 4) ? 1 : draw(s, 2, 5);
    }
    p->disagree = one_in(s, 16);
}

/* A claim becomes a candidacy. */
static void draw_candidacy(struct swarm *s, struct plan_action *a) {
    static const int32_t ends[] = {PLAN_TERM_STAY,   PLAN_TERM_STAY,  PLAN_TERM_RESIGN,
                                   PLAN_TERM_RESIGN, PLAN_TERM_LEAVE, PLAN_TERM_LEAVE_AFTER};
    a->kind = PLAN_JOIN;
    a->value[PLAN_WATCHES] = one_in(s, 2);
    a->value[PLAN_END] = ends[draw(s, 0, 5)];
    a->value[PLAN_HOLD] = one_in(s, 6) ? 0 : a->value[PLAN_HOLD];
    a->value[PLAN_AGAIN] = one_in(s, 3) ? 0 : draw_size(s, 1, s->timeout);
}

void swarm_draw_claim(struct swarm *s, struct plan_action *a) {
    int32_t path = a->value[PLAN_LOCK] / 2, permits = plan_permits(s->plan, path, 0);
    switch (plan_recipe(s->plan, path)) {
    case PLAN_RECIPE_RWLOCK:
        a->value[PLAN_SHARED] = one_in(s, 2);
        if (!a->value[PLAN_SHARED] && one_in(s, 2))
            a->value[PLAN_DOWNGRADE] = 1 + draw(s, 0, a->value[PLAN_HOLD]);
        break;
    case PLAN_RECIPE_SEMAPHORE:
        if (permits > 1 && one_in(s, 3))
            a->value[PLAN_COUNT] = draw(s, 2, permits < PLAN_COUNT_MOST ? permits : PLAN_COUNT_MOST);
        break;
    case PLAN_RECIPE_ELECTION:
        draw_candidacy(s, a);
        break;
    default:
        break;
    }
}

int32_t swarm_draw_directory(struct swarm *s, int32_t path) {
    return plan_leases(s->plan, path) && one_in(s, 2) ? PLAN_POSITION_LEASES : PLAN_POSITION_QUEUE;
}

static void add(struct swarm *s, enum plan_kind kind, int32_t path, int32_t most) {
    int32_t processes = s->plan->processes, horizon = s->plan->horizon;
    for (int32_t i = draw(s, 0, most); i > 0; i--) {
        struct plan_action *a = plan_add(s->plan, one_in(s, 3) ? 0 : draw(s, 0, horizon), kind);
        if (!a)
            return;
        a->value[PLAN_PROCESS] = draw(s, 0, processes - 1);
        a->value[PLAN_LOCK] = 2 * path + one_in(s, 6);
        if (kind == PLAN_OBSERVE)
            a->value[2] = one_in(s, 3) ? draw(s, 0, horizon) : 0;
    }
}

void swarm_draw_elections(struct swarm *s) {
    for (int32_t path = 0; path < PLAN_PATHS; path++) {
        if (plan_recipe(s->plan, path) != PLAN_RECIPE_ELECTION)
            continue;
        add(s, PLAN_OBSERVE, path, 3);
        add(s, PLAN_RESIGN, path, one_in(s, 2) ? 6 : 0);
        add(s, PLAN_LEAVE, path, one_in(s, 2) ? 3 : 0);
    }
}

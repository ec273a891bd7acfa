/* Draws recipes. Half of all schedules have locks alone. The others have one other recipe on the path that most
 * processes use, and any recipe elsewhere. */
#include "swarm.h"

#include "sim_ensemble.h"

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
        int32_t other = draw(s, PLAN_RECIPE_RWLOCK, PLAN_RECIPE_ELECTION);
        *recipes[path] = path == s->favourite || one_in(s, 2) ? other : PLAN_RECIPE_LOCK;
        *permits[path] = one_in(s, 4) ? 1 : draw(s, 2, 5);
    }
    p->disagree = one_in(s, 16);
}

static int32_t draw_guarded(struct swarm *s, int32_t least, int32_t most) {
    return (int32_t)sim_random_between(&s->guarded, least, most);
}

/* Somebody deletes the holder's node, while what a process sends is on its way for long. If that is a write of the holder, it comes
 * late, and is not refused with its session, which goes on. */
static void draw_late_write(struct swarm *s) {
    int32_t at = draw_guarded(s, 20, s->plan->horizon + 20), process = draw_guarded(s, 0, s->plan->processes - 1);
    struct plan_action *removed = plan_add(s->plan, at, PLAN_ADMIN_DELETE);
    if (removed)
        removed->value[0] = s->favourite;
    struct plan_action *slow = plan_add(s->plan, at - draw_guarded(s, 0, 20), PLAN_SLOW);
    if (!slow)
        return;
    slow->value[0] = SIM_SERVERS + process;
    slow->value[1] = PLAN_HOST_OF + process;
    slow->value[2] = draw_guarded(s, 5, s->timeout / 4);
    slow->value[3] = draw_guarded(s, 20, s->timeout);
}

/* In one schedule of three, which is longer then. */
void swarm_draw_guarded(struct swarm *s) {
    struct plan *p = s->plan;
    if (!sim_random_one_in(&s->guarded, 3))
        return;
    p->guarded = draw_guarded(s, 1, 12);
    p->guarded_ms = draw_guarded(s, 20, 3 * s->timeout);
    p->enough += p->enough > 0 ? draw_guarded(s, 50, 400) : 0;
    for (int32_t i = sim_random_one_in(&s->guarded, 2) ? draw_guarded(s, 1, 8) : 0; i > 0; i--)
        draw_late_write(s);
}

/* Somebody ends without a release. */
static void draw_unclean_end(struct swarm *s) {
    static const enum plan_kind ends[] = {PLAN_KILL, PLAN_ADMIN_EXPIRE, PLAN_ADMIN_DELETE, PLAN_PAUSE, PLAN_CLOSE};
    enum plan_kind kind = ends[sim_random_between(&s->delays, 0, 4)];
    int32_t process = (int32_t)sim_random_between(&s->delays, 0, s->plan->processes - 1);
    struct plan_action *a = plan_add(s->plan, (int32_t)sim_random_between(&s->delays, 20, s->plan->horizon + 20), kind);
    if (!a)
        return;
    a->value[0] = kind == PLAN_ADMIN_DELETE ? s->favourite : process;
    if (kind == PLAN_KILL || kind == PLAN_PAUSE)
        a->value[1] = (int32_t)sim_random_between(&s->delays, s->timeout / 2, 2 * s->timeout);
    if (kind == PLAN_CLOSE)
        a->value[2] = (int32_t)sim_random_between(&s->delays, 0, 300);
}

/* In one schedule of eight. */
void swarm_draw_delays(struct swarm *s) {
    struct plan *p = s->plan;
    int32_t *delays[PLAN_PATHS] = {&p->delay0, &p->delay1, &p->delay2};
    if (!sim_random_one_in(&s->delays, 8))
        return;
    for (int32_t path = 0; path < PLAN_PATHS; path++) {
        int32_t delay = (int32_t)sim_random_between(&s->delays, 1, sim_random_between(&s->delays, 1, 2 * s->timeout));
        bool has_one = path == s->favourite || sim_random_one_in(&s->delays, 2);
        *delays[path] = has_one ? delay : 0;
    }
    p->disagree = p->disagree || sim_random_one_in(&s->delays, 8);
    p->enough += p->enough > 0 ? (int32_t)sim_random_between(&s->delays, 0, 600) : 0;
    for (int32_t i = (int32_t)sim_random_between(&s->delays, 0, 8); i > 0; i--)
        draw_unclean_end(s);
}

static int32_t draw_linger(struct swarm *s, int32_t least, int32_t most) {
    return (int32_t)sim_random_between(&s->lingers, least, most);
}

/* One process takes the same lock several times, on any path. */
static void draw_takings(struct swarm *s) {
    struct plan *p = s->plan;
    int32_t process = draw_linger(s, 0, p->processes - 1), at = draw_linger(s, 0, p->horizon / 2);
    int32_t path = draw_linger(s, 0, PLAN_PATHS - 1);
    if (plan_recipe(p, path) != PLAN_RECIPE_LOCK)
        return;
    for (int32_t i = draw_linger(s, 2, 5); i > 0; i--) {
        struct plan_action *a = plan_add(p, at, PLAN_ACQUIRE);
        if (!a)
            return;
        a->value[PLAN_PROCESS] = process;
        a->value[PLAN_LOCK] = 2 * path;
        a->value[PLAN_TIMEOUT] = draw_linger(s, 0, 5) - 1 > 0 ? -1 : 0;
        a->value[PLAN_HOLD] = draw_linger(s, 0, 20);
        a->value[PLAN_WRITES] = draw_linger(s, 0, 1);
        a->value[PLAN_LOST] = PLAN_LOST_TOLD;
        at += a->value[PLAN_HOLD] + draw_linger(s, 1, p->linger < 200 ? 1 + p->linger : 200);
    }
}

/* In one schedule of three; for longer than others wait, in half of these, so that only their coming ends it. */
void swarm_draw_lingers(struct swarm *s) {
    struct plan *p = s->plan;
    if (!sim_random_one_in(&s->lingers, 3))
        return;
    if (sim_random_one_in(&s->lingers, 2))
        p->handover_ms = 20 * s->timeout;
    p->linger = draw_linger(s, 1, p->handover_ms > 0 ? 2 * p->handover_ms : 1);
    p->linger = p->linger < 60000 ? p->linger : 60000;
    p->enough += p->enough > 0 ? draw_linger(s, 0, 300) : 0;
    for (int32_t i = draw_linger(s, 0, 6); i > 0; i--)
        draw_takings(s);
}

static int32_t draw_set(struct swarm *s, int32_t least, int32_t most) {
    return (int32_t)sim_random_between(&s->sets, least, most);
}

static struct plan_action *draw_taking(struct swarm *s) {
    struct plan_action *a = plan_add(s->plan, draw_set(s, 0, s->plan->horizon), PLAN_TAKE);
    if (!a)
        return NULL;
    a->value[PLAN_PROCESS] = draw_set(s, 0, s->plan->processes - 1);
    a->value[PLAN_LOCK] = draw_set(s, 1, PLAN_RIGHT_CODES);
    a->value[PLAN_SECOND] = draw_set(s, 0, PLAN_RIGHT_CODES);
    a->value[PLAN_THIRD] = draw_set(s, 0, PLAN_RIGHT_CODES);
    a->value[PLAN_TIMEOUT] = draw_set(s, 0, 3) == 0 ? 0 : draw_set(s, 0, 2) == 0 ? draw_set(s, 1, 2 * s->timeout) : -1;
    a->value[PLAN_HOLD] = draw_set(s, 0, draw_set(s, 0, 2 * s->hold));
    a->value[PLAN_WRITES] = draw_set(s, 1, 6);
    a->value[PLAN_LOST] = draw_set(s, 0, 11) == 0 ? 0 : PLAN_LOST_TOLD;
    a->value[PLAN_END] = draw_set(s, 0, 11) == 0 ? draw_set(s, PLAN_END_UNREF, PLAN_END_AT_ONCE) : PLAN_END_RELEASE;
    return a;
}

/* In one schedule of eight. */
void swarm_draw_sets(struct swarm *s) {
    if (!sim_random_one_in(&s->sets, 8))
        return;
    s->plan->sides = draw_set(s, 0, 1);
    s->plan->enough += s->plan->enough > 0 ? draw_set(s, 0, 600) : 0;
    for (int32_t i = draw_set(s, 1, 24); i > 0; i--)
        draw_taking(s);
}

static int32_t draw_record(struct swarm *s, int32_t least, int32_t most) {
    return (int32_t)sim_random_between(&s->records, least, most);
}

static void draw_limits(struct swarm *s) {
    struct plan *p = s->plan;
    p->every = draw_record(s, 0, 2) ? draw_record(s, 20, 3 * s->timeout) : 0;
    p->least = draw_record(s, 0, 1) ? draw_record(s, 1, s->timeout) : 0;
    p->most = draw_record(s, 0, 1) ? draw_record(s, 20, 2 * s->timeout) : 0;
    p->retry = draw_record(s, 0, 1);
    p->keep = draw_record(s, 1, 5);
    p->duration = draw_record(s, 1000, 1000 + 2 * s->timeout);
}

static void draw_reading(struct swarm *s, int32_t path) {
    struct plan_action *a = plan_add(s->plan, draw_record(s, 0, s->plan->horizon), PLAN_READ);
    if (!a)
        return;
    a->value[0] = draw_record(s, 0, s->plan->processes - 1);
    a->value[1] = path;
    a->value[2] = draw_record(s, 0, 2 * s->timeout);
}

/* The claims that were drawn for the lock. */
static void turn_claims(struct swarm *s, int32_t path) {
    for (int32_t i = 0; i < s->plan->count; i++) {
        struct plan_action *a = &s->plan->actions[i];
        if (a->kind == PLAN_ACQUIRE && a->value[PLAN_LOCK] / 2 == path && draw_record(s, 0, 3) == 0)
            a->value[PLAN_END] = PLAN_END_ALONE;
    }
}

/* In one schedule of six. */
void swarm_draw_records(struct swarm *s) {
    struct plan *p = s->plan;
    int32_t *recipes[PLAN_PATHS] = {&p->recipe0, &p->recipe1, &p->recipe2};
    if (!sim_random_one_in(&s->records, 6))
        return;
    bool any = false;
    for (int32_t path = 0; path < PLAN_PATHS; path++) {
        if (*recipes[path] != PLAN_RECIPE_LOCK || (path != s->favourite && draw_record(s, 0, 1)))
            continue;
        *recipes[path] = draw_record(s, PLAN_RECIPE_JOB, PLAN_RECIPE_LEASE_LOCK);
        any = true;
        turn_claims(s, path);
        for (int32_t i = *recipes[path] == PLAN_RECIPE_JOB ? draw_record(s, 0, 6) : 0; i > 0; i--)
            draw_reading(s, path);
    }
    if (!any)
        return;
    draw_limits(s);
    p->enough += p->enough > 0 ? draw_record(s, 0, 800) : 0;
}

static int32_t draw_majority(struct swarm *s, int32_t least, int32_t most) {
    return (int32_t)sim_random_between(&s->majorities, least, most);
}

/* Of all three locks, in any order. */
static void draw_majority_taking(struct swarm *s) {
    struct plan_action *a = plan_add(s->plan, draw_majority(s, 0, s->plan->horizon), PLAN_TAKE);
    if (!a)
        return;
    int32_t first = draw_majority(s, 0, 2), turn = draw_majority(s, 1, 2);
    a->value[PLAN_PROCESS] = draw_majority(s, 0, s->plan->processes - 1);
    a->value[PLAN_LOCK] = 1 + 2 * first;
    a->value[PLAN_SECOND] = 1 + 2 * ((first + turn) % 3);
    a->value[PLAN_THIRD] = 1 + 2 * ((first + 2 * turn) % 3);
    a->value[PLAN_NEED] = 2;
    a->value[PLAN_TIMEOUT] = draw_majority(s, 0, 3) == 0   ? 0
                             : draw_majority(s, 0, 2) == 0 ? draw_majority(s, 1, 4 * s->timeout)
                                                           : -1;
    a->value[PLAN_HOLD] = draw_majority(s, 0, 3 * s->timeout);
    a->value[PLAN_WRITES] = draw_majority(s, 1, 40);
    a->value[PLAN_LOST] = draw_majority(s, 0, 11) == 0 ? 0 : PLAN_LOST_TOLD;
    a->value[PLAN_END] = draw_majority(s, 0, 11) == 0 ? draw_majority(s, PLAN_END_UNREF, PLAN_END_AT_ONCE) : 0;
}

/* In one of the ensembles. */
static void draw_partial_fault(struct swarm *s) {
    static const enum plan_kind kinds[] = {PLAN_LOSE,        PLAN_LOSE,        PLAN_LOSE,
                                           PLAN_STOP_SERVER, PLAN_KILL_SERVER, PLAN_SLOW};
    enum plan_kind kind = kinds[draw_majority(s, 0, 5)];
    int32_t process = draw_majority(s, 0, s->plan->processes - 1), ms = draw_majority(s, 10, 4 * s->timeout);
    struct plan_action *a = plan_add(s->plan, draw_majority(s, 0, s->plan->horizon), kind);
    if (!a)
        return;
    a->value[0] = kind == PLAN_LOSE ? process : 0;
    a->value[1] = ms;
    a->value[2] = draw_majority(s, 0, 2);
    if (kind != PLAN_SLOW)
        return;
    a->value[4] = a->value[2];
    a->value[0] = draw_majority(s, 0, 1) ? 0 : SIM_SERVERS + process;
    a->value[1] = a->value[0] == 0 ? SIM_SERVERS + process : 0;
    a->value[2] = draw_majority(s, 1, s->timeout / 2);
    a->value[3] = ms;
}

/* In one schedule of twelve that has locks alone. */
void swarm_draw_majorities(struct swarm *s) {
    struct plan *p = s->plan;
    if (!sim_random_one_in(&s->majorities, 12) || p->recipe0 + p->recipe1 + p->recipe2 > 0)
        return;
    p->ensembles = PLAN_PATHS;
    p->servers = draw_majority(s, 0, 7) ? 1 : 3;
    p->rest = p->guarded = p->delay0 = p->delay1 = p->delay2 = 0;
    p->enough += p->enough > 0 ? draw_majority(s, 400, 2000) : 0;
    p->horizon += draw_majority(s, 0, 6 * s->timeout);
    for (int32_t i = draw_majority(s, 4, 30); i > 0; i--)
        draw_majority_taking(s);
    for (int32_t i = draw_majority(s, 0, 1) ? draw_majority(s, 1, 20) : 0; i > 0; i--)
        draw_partial_fault(s);
}

static int32_t draw_ask(struct swarm *s, int32_t least, int32_t most) {
    return (int32_t)sim_random_between(&s->asks, least, most);
}

static void draw_asking(struct swarm *s, enum plan_kind kind) {
    int32_t timeout = draw_ask(s, 0, 2) == 0 ? draw_ask(s, 0, s->timeout) : draw_ask(s, 0, 1) ? -1 : 3 * s->timeout;
    struct plan_action *a = plan_add(s->plan, draw_ask(s, 0, s->plan->horizon), kind);
    if (!a)
        return;
    a->value[0] = draw_ask(s, 0, s->plan->processes - 1);
    a->value[1] = draw_ask(s, 0, 3) == 0 ? draw_ask(s, 0, PLAN_PATHS - 1) : s->favourite;
    a->value[2] = kind == PLAN_ASK ? draw_ask(s, 0, 2000) : draw_ask(s, 0, 1);
    a->value[3] = kind == PLAN_ASK ? timeout : draw_ask(s, 0, 2) == 0 ? draw_ask(s, -1, 1) : 0;
    a->value[4] = kind == PLAN_ASK ? 0 : timeout;
}

static void leave_out_faults(struct plan *plan) {
    int32_t kept = 0;
    for (int32_t i = 0; i < plan->count; i++)
        if (plan->actions[i].kind < PLAN_CLOSE)
            plan->actions[kept++] = plan->actions[i];
    plan->count = kept;
}

/* In one schedule of eight. */
void swarm_draw_asks(struct swarm *s) {
    if (!sim_random_one_in(&s->asks, 8))
        return;
    s->plan->listens = 1;
    s->plan->enough += s->plan->enough > 0 ? draw_ask(s, 0, 600) : 0;
    for (int32_t i = draw_ask(s, 1, 24); i > 0; i--)
        draw_asking(s, PLAN_ASK);
    for (int32_t i = draw_ask(s, 0, 6); i > 0; i--)
        draw_asking(s, PLAN_BREAK);
    if (sim_random_one_in(&s->asks, 2))
        leave_out_faults(s->plan);
}

static int32_t draw_striped(struct swarm *s, int32_t least, int32_t most) {
    return (int32_t)sim_random_between(&s->striped, least, most);
}

/* In one schedule of eight. */
void swarm_draw_striped(struct swarm *s) {
    int32_t *recipes[PLAN_PATHS] = {&s->plan->recipe0, &s->plan->recipe1, &s->plan->recipe2};
    int32_t *permits[PLAN_PATHS] = {&s->plan->permits0, &s->plan->permits1, &s->plan->permits2};
    if (!sim_random_one_in(&s->striped, 8))
        return;
    *recipes[s->favourite] = PLAN_RECIPE_STRIPED;
    *permits[s->favourite] = draw_striped(s, 1, PLAN_STRIPES - 1);
    s->plan->disagree = s->plan->disagree || draw_striped(s, 0, 7) == 0;
}

/* Also for any stripe at once; in half of such schedules nothing goes wrong. */
void swarm_draw_stripes(struct swarm *s) {
    if (plan_recipe(s->plan, s->favourite) != PLAN_RECIPE_STRIPED)
        return;
    s->plan->enough += s->plan->enough > 0 ? draw_striped(s, 0, 600) : 0;
    for (int32_t i = draw_striped(s, 0, 12); i > 0; i--) {
        struct plan_action *a = plan_add(s->plan, draw_striped(s, 0, s->plan->horizon), PLAN_ACQUIRE);
        if (!a)
            return;
        a->value[PLAN_PROCESS] = draw_striped(s, 0, s->plan->processes - 1);
        a->value[PLAN_LOCK] = 2 * s->favourite;
        a->value[PLAN_TIMEOUT] = draw_striped(s, 0, 1) ? 0 : -1;
        a->value[PLAN_HOLD] = draw_striped(s, 0, draw_striped(s, 0, 2 * s->hold));
        a->value[PLAN_LOST] = PLAN_LOST_TOLD;
        a->value[PLAN_COUNT] = draw_striped(s, 0, 2) ? 0 : draw_striped(s, 1, PLAN_COUNT_MOST);
    }
    for (int32_t i = draw_striped(s, 0, 6); i > 0; i--) {
        struct plan_action *a = draw_taking(s);
        if (a)
            a->value[PLAN_LOCK] = 1 + 2 * s->favourite + draw_striped(s, 0, 1);
    }
    if (draw_striped(s, 0, 1))
        leave_out_faults(s->plan);
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

static int32_t draw_group(struct swarm *s, int32_t least, int32_t most) {
    return (int32_t)sim_random_between(&s->group, least, most);
}

/* In one schedule of eight. */
void swarm_draw_group(struct swarm *s) {
    int32_t *recipes[PLAN_PATHS] = {&s->plan->recipe0, &s->plan->recipe1, &s->plan->recipe2};
    if (sim_random_one_in(&s->group, 8))
        *recipes[s->favourite] = PLAN_RECIPE_GROUP;
}

/* A claim becomes a membership. */
static void draw_membership(struct swarm *s, struct plan_action *a) {
    static const int32_t ends[] = {PLAN_TERM_STAY, PLAN_TERM_STAY, PLAN_TERM_LEAVE, PLAN_TERM_LEAVE_AFTER};
    a->kind = PLAN_JOIN;
    a->value[PLAN_LOCK] = a->value[PLAN_LOCK] / 2 * 2 + draw_group(s, 0, 1);
    a->value[PLAN_WATCHES] = 0;
    a->value[PLAN_END] = ends[draw_group(s, 0, 3)];
    a->value[PLAN_AGAIN] = draw_group(s, 0, 2) == 0 ? 0 : draw_group(s, 1, draw_group(s, 1, s->timeout));
}

static struct plan_action *add_of_group(struct swarm *s, enum plan_kind kind) {
    struct plan_action *a = plan_add(s->plan, draw_group(s, 0, s->plan->horizon), kind);
    if (!a)
        return NULL;
    a->value[PLAN_PROCESS] = draw_group(s, 0, s->plan->processes - 1);
    a->value[PLAN_LOCK] = 2 * s->favourite + draw_group(s, 0, 1);
    return a;
}

void swarm_draw_members(struct swarm *s) {
    struct plan_action *a = NULL;
    if (plan_recipe(s->plan, s->favourite) != PLAN_RECIPE_GROUP)
        return;
    s->plan->enough += s->plan->enough > 0 ? draw_group(s, 200, 1200) : 0;
    for (int32_t i = draw_group(s, 1, 8); i > 0; i--)
        if ((a = add_of_group(s, PLAN_OBSERVE)))
            a->value[2] = draw_group(s, 0, 1) ? draw_group(s, 0, draw_group(s, 0, s->plan->horizon)) : 0;
    for (int32_t i = draw_group(s, 0, 6); i > 0; i--)
        if ((a = add_of_group(s, PLAN_JOIN)))
            draw_membership(s, a);
    for (int32_t i = draw_group(s, 1, 24); i > 0; i--)
        if ((a = add_of_group(s, PLAN_AMEND)))
            a->value[2] = draw_group(s, 0, 2) == 0 ? -1 : draw_group(s, 1, 2 * s->timeout);
    for (int32_t i = draw_group(s, 0, 3); i > 0; i--)
        if ((a = add_of_group(s, PLAN_LAG))) {
            a->value[0] = PLAN_HOST_OF + a->value[PLAN_PROCESS];
            a->value[1] = draw_group(s, 1, s->timeout);
            a->value[2] = draw_group(s, 1, 2 * s->timeout);
        }
    for (int32_t i = draw_group(s, 0, 3); i > 0; i--)
        if ((a = add_of_group(s, PLAN_FOREIGN))) {
            a->value[0] = s->favourite;
            a->value[1] = draw_group(s, 0, 7);
        }
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
    case PLAN_RECIPE_STRIPED:
        a->value[PLAN_COUNT] = draw_striped(s, 0, 1) ? 0 : draw_striped(s, 1, PLAN_COUNT_MOST);
        break;
    case PLAN_RECIPE_GROUP:
        draw_membership(s, a);
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

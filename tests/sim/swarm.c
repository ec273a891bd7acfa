/* Draws a schedule. Each seed first draws the kind of schedule: how big, how fast, how wild, and which few faults it
 * prefers. Then it draws actions. Schedules that differ in kind meet more than schedules that all do a little of
 * everything. */
#include "swarm.h"

#include "sim_ensemble.h"
#include "zk/calls.h"

#include <string.h>

static int32_t draw(struct swarm *s, int32_t least, int32_t most) {
    return (int32_t)sim_random_between(&s->chance, least, most);
}

static bool one_in(struct swarm *s, uint32_t once) { return sim_random_one_in(&s->chance, once); }

/* From least to most, small ones more often. */
static int32_t draw_size(struct swarm *s, int32_t least, int32_t most) {
    int32_t range = draw(s, least, most);
    return draw(s, least, range);
}

/* ---- what kind of schedule */

static void draw_servers(struct swarm *s) {
    struct plan *p = s->plan;
    static const int32_t ticks[] = {50, 100, 100, 200, 200, 500};
    p->tick = ticks[draw(s, 0, 5)];
    p->sync_limit = one_in(s, 3) ? draw(s, 2, 4) : draw(s, 5, 25);
    p->servers = one_in(s, 32) ? 5 : 3;
    p->election_least = draw(s, 5, 50);
    p->election_most = p->election_least + draw(s, 0, 400);
    p->latency_least = draw(s, 50, 400);
    p->latency_most = p->latency_least + (one_in(s, 8) ? draw(s, 0, 40000) : draw(s, 0, 1500));
    p->containers = !one_in(s, 16);
    p->reap = one_in(s, 3) ? draw(s, 20, 800) : 0;
    int32_t least = 2 * p->tick;
    if (one_in(s, 8)) /* servers with small timeouts, told to the sessions */
        p->session_least = least = p->tick;
    else
        p->tell_tick = !one_in(s, 3);
    p->session = draw(s, least, one_in(s, 4) ? 20 * p->tick : 6 * p->tick);
    /* Below that there is hardly time for a lease between its renewals. */
    int32_t floor = p->tick < 150 ? 450 : 330 + p->tick * 5 / 6;
    p->session = p->session < floor ? floor : p->session;
    s->timeout = p->session;
}

static void draw_processes(struct swarm *s) {
    struct plan *p = s->plan;
    p->processes = one_in(s, 6) ? draw(s, 5, 8) : one_in(s, 3) ? 4 : draw(s, 2, 3);
    p->rates = one_in(s, 3) ? 0 : draw(s, 0, 40000);
    p->slow = one_in(s, 8) ? draw(s, 1000, 150000) : draw(s, 0, 1500);
    if (one_in(s, 8))
        *(one_in(s, 2) ? &p->far_to : &p->far_from) = draw_size(s, 1, s->timeout / 4);
    p->request = draw_size(s, 50, 2000);
    p->handovers = one_in(s, 3) ? draw(s, 0, 3) : 256;
    p->handover_ms = one_in(s, 4) ? draw(s, 0, 60) : draw(s, 60, 1000);
    p->kazoo = one_in(s, 5) ? draw(s, 1, 7) : 0;
    p->logs = one_in(s, 32);
    p->rest = one_in(s, 8);
    if (one_in(s, 24))
        p->first = one_in(s, 2) ? INT32_MAX - draw(s, 0, 9) : INT32_MAX - (1 << 20) + draw(s, -4, 4);
    else if (one_in(s, 24))
        p->first = one_in(s, 2) ? draw(s, -5, -1) : 999999990 + draw(s, 0, 12);
    s->favourite = draw(s, 0, PLAN_PATHS - 1);
}

/* A few preferred faults. Some schedules have none at all, and some a little of all. */
static void draw_weights(struct swarm *s) {
    static const enum plan_kind faults[] = {
        PLAN_KILL,         PLAN_PAUSE, PLAN_PAUSE,       PLAN_CUT,          PLAN_CUT,         PLAN_BLOCK,
        PLAN_LOSE,         PLAN_LOSE,  PLAN_ISOLATE,     PLAN_ISOLATE,      PLAN_ISOLATE,     PLAN_RESET,
        PLAN_STOP_SERVER,  PLAN_LAG,   PLAN_KILL_SERVER, PLAN_SLOW,         PLAN_ANSWER,      PLAN_ANSWER,
        PLAN_ADMIN_DELETE, PLAN_ACL,   PLAN_ADMIN_WRITE, PLAN_ADMIN_EXPIRE, PLAN_ADMIN_RMDIR, PLAN_FOREIGN,
        PLAN_CANCEL,       PLAN_DROP,  PLAN_CLOSE,       PLAN_CANCEL,
    };
    const int32_t count = (int32_t)(sizeof faults / sizeof faults[0]);
    int32_t tastes = one_in(s, 12) ? 0 : one_in(s, 6) ? count : draw(s, 1, 5);
    memset(s->weights, 0, sizeof s->weights);
    for (int32_t i = 0; i < tastes; i++)
        s->weights[faults[tastes == count ? i : draw(s, 0, count - 1)]] += draw(s, 1, 4);
    s->weight = 0;
    for (int32_t i = 0; i < PLAN_KIND_COUNT; i++)
        s->weight += s->weights[i];
}

/* ---- actions */

static int32_t any_process(struct swarm *s) { return draw(s, 0, s->plan->processes - 1); }

static int32_t any_server(struct swarm *s) {
    switch (draw(s, 0, 5)) {
    case 0:
        return PLAN_HOST_LEADER;
    case 1:
        return PLAN_HOST_FOLLOWER;
    case 2:
        return PLAN_HOST_OTHER;
    case 3:
        return draw(s, 0, s->plan->servers - 1);
    default: /* one that some process is connected to */
        return PLAN_HOST_OF + any_process(s);
    }
}

static int32_t any_path(struct swarm *s) { return one_in(s, 4) ? draw(s, 0, PLAN_PATHS - 1) : s->favourite; }

/* How long a fault lasts: a moment, about a timeout, or past every patience. */
static int32_t any_time(struct swarm *s) {
    switch (draw(s, 0, 3)) {
    case 0:
        return draw(s, 1, 60);
    case 1:
        return draw(s, 1, s->timeout);
    case 2:
        return draw(s, s->timeout / 2, 2 * s->timeout);
    default:
        return draw(s, s->timeout, 4 * s->timeout);
    }
}

static void draw_acquire(struct swarm *s, int32_t at) {
    struct plan_action *a = plan_add(s->plan, at, PLAN_ACQUIRE);
    if (!a)
        return;
    a->value[PLAN_PROCESS] = any_process(s);
    a->value[PLAN_LOCK] = 2 * any_path(s) + one_in(s, 6);
    a->value[PLAN_TIMEOUT] = one_in(s, 6) ? 0 : one_in(s, 3) ? draw_size(s, 1, 3 * s->timeout) : -1;
    a->value[PLAN_HOLD] = draw_size(s, 0, 2 * s->hold);
    a->value[PLAN_WRITES] = one_in(s, 2) ? draw(s, 1, 3) : 0;
    a->value[PLAN_LATE] = one_in(s, 3) ? draw(s, 0, 2 * s->timeout) : draw(s, 0, 20);
    a->value[PLAN_LOST] = (one_in(s, 12) ? 0 : PLAN_LOST_TOLD) | (one_in(s, 64) ? PLAN_LOST_FD : 0);
    a->value[PLAN_END] = one_in(s, 12) ? PLAN_END_UNREF : one_in(s, 24) ? PLAN_END_AT_ONCE : PLAN_END_RELEASE;
    swarm_draw_claim(s, a);
}

static void fill_process_fault(struct swarm *s, struct plan_action *a) {
    a->value[0] = any_process(s);
    switch (a->kind) {
    case PLAN_DROP:
        a->value[1] = 2 * any_path(s) + one_in(s, 6);
        break;
    case PLAN_CLOSE:
        a->value[1] = draw(s, 0, 2);
        a->value[2] = draw(s, 0, 300);
        break;
    case PLAN_KILL:
        a->value[1] = one_in(s, 4) ? -1 : any_time(s);
        break;
    case PLAN_PAUSE:
    case PLAN_LOSE:
        a->value[1] = any_time(s);
        break;
    case PLAN_ANSWER: {
        static const int32_t codes[] = {-4,   -7,   -2,   -1,   -5, -116, -112, -118, -9,   -115, -101, -110,
                                        -102, -114, -127, -119, -6, -8,   -100, -103, -108, -111, -120, -125};
        a->value[1] = one_in(s, 2) ? codes[draw(s, 0, 1)] : codes[draw(s, 0, (int32_t)(sizeof codes / 4) - 1)];
        a->value[2] = one_in(s, 2);
        break;
    }
    default: /* CUT, CANCEL, ADMIN_EXPIRE */
        break;
    }
}

static void fill_link_fault(struct swarm *s, struct plan_action *a) {
    int32_t client = SIM_SERVERS + any_process(s);
    bool of_client = one_in(s, 2);
    int32_t one = of_client ? client : any_server(s),
            other = of_client ? PLAN_HOST_OF + client - SIM_SERVERS : any_server(s);
    bool turned = one_in(s, 2);
    a->value[0] = turned ? other : one;
    a->value[1] = turned ? one : other;
    if (a->kind == PLAN_SLOW) {
        a->value[2] = draw_size(s, 1, s->timeout);
        a->value[3] = any_time(s);
    } else if (a->kind == PLAN_BLOCK) {
        a->value[2] = any_time(s);
    }
}

static void fill_admin(struct swarm *s, struct plan_action *a) {
    static const int32_t bits[] = {SIM_NO_READ, SIM_NO_CREATE, SIM_NO_DELETE,
                                   SIM_NO_READ | SIM_NO_CREATE | SIM_NO_DELETE};
    a->value[0] = any_path(s);
    if (a->kind == PLAN_ADMIN_DELETE || a->kind == PLAN_ADMIN_WRITE)
        a->value[1] = draw_size(s, 0, 3);
    if (a->kind == PLAN_FOREIGN)
        a->value[1] = draw(s, 0, 7);
    if (a->kind != PLAN_ACL)
        return;
    a->value[1] = swarm_draw_directory(s, a->value[0]); /* a node's own would keep events from those who wait for it */
    a->value[2] = bits[draw(s, 0, 3)];
    a->value[3] = any_time(s);
}

/* Requests that cannot be sent, in one schedule of eight. */
static void draw_unsent(struct swarm *s) {
    if (!sim_random_one_in(&s->unsent, 8))
        return;
    for (int32_t i = (int32_t)sim_random_between(&s->unsent, 1, 12); i > 0; i--) {
        struct plan_action *a =
            plan_add(s->plan, (int32_t)sim_random_between(&s->unsent, 0, s->plan->horizon), PLAN_UNSENT);
        if (!a)
            return;
        a->value[0] = (int32_t)sim_random_between(&s->unsent, 0, s->plan->processes - 1);
        a->value[1] = (int32_t)sim_random_between(&s->unsent, PLAN_UNSENT_ANY, PDK__OP_SYNC);
        a->value[2] = (int32_t)sim_random_between(&s->unsent, 1, 3);
    }
}

static void draw_fault(struct swarm *s, int32_t at) {
    int32_t kind = 0;
    for (int32_t i = draw(s, 0, s->weight - 1); i >= s->weights[kind]; kind++)
        i -= s->weights[kind];
    struct plan_action *a = plan_add(s->plan, at, (enum plan_kind)kind);
    if (!a)
        return;
    switch (a->kind) {
    case PLAN_BLOCK:
    case PLAN_RESET:
    case PLAN_SLOW:
        fill_link_fault(s, a);
        break;
    case PLAN_ISOLATE:
    case PLAN_STOP_SERVER:
    case PLAN_KILL_SERVER:
    case PLAN_LAG:
        a->value[0] = any_server(s);
        a->value[1] = a->kind == PLAN_LAG ? draw_size(s, 1, s->timeout) : any_time(s);
        if (a->kind == PLAN_LAG)
            a->value[2] = any_time(s);
        break;
    case PLAN_ADMIN_DELETE:
    case PLAN_ADMIN_WRITE:
    case PLAN_ADMIN_RMDIR:
    case PLAN_FOREIGN:
    case PLAN_ACL:
        fill_admin(s, a);
        break;
    default:
        fill_process_fault(s, a);
        break;
    }
}

/* Some come evenly, some in bursts. */
static int32_t next_moment(struct swarm *s, int32_t at, int32_t mean, bool bursts) {
    if (bursts && !one_in(s, 4))
        return at + draw(s, 0, 3);
    return at + draw(s, 0, 2 * mean);
}

/* ---- two kinds of schedules */

/* Anything goes. */
static void draw_anything(struct swarm *s) {
    struct plan *plan = s->plan;
    draw_weights(s);
    plan->enough = draw(s, 170, 250);
    plan->horizon = draw(s, s->timeout, 6 * s->timeout);
    int32_t pause = plan->horizon / draw_size(s, 2, 24);
    s->hold =
        one_in(s, 3) ? draw(s, s->timeout / 2, 2 * s->timeout) : draw_size(s, 1, one_in(s, 2) ? pause : 3 * pause);
    bool bursts = one_in(s, 2);
    for (int32_t at = draw(s, 0, 60); at < plan->horizon && plan->count < 160; at = next_moment(s, at, pause, bursts))
        draw_acquire(s, at);
    pause = s->timeout / draw(s, 1, 12);
    bursts = one_in(s, 4);
    for (int32_t at = draw(s, 0, s->timeout / 2); s->weight > 0 && at < plan->horizon && plan->count < 240;
         at = next_moment(s, at, pause, bursts))
        draw_fault(s, at);
}

static void add_link_fault(struct swarm *s, int32_t at, enum plan_kind kind, int32_t from, int32_t to, int32_t ms) {
    struct plan_action *a = plan_add(s->plan, at, kind);
    a->value[0] = from;
    a->value[1] = to;
    a->value[2] = ms;
    if (kind == PLAN_SLOW) {
        a->value[2] = draw_size(s, 1, ms);
        a->value[3] = ms;
    }
}

static void add_fault(struct swarm *s, int32_t at, enum plan_kind kind, int32_t whose, int32_t ms) {
    struct plan_action *a = plan_add(s->plan, at, kind);
    a->value[0] = whose;
    a->value[1] = kind == PLAN_CUT ? 0 : ms;
}

/* One stall of a server or a link, about as long as a session timeout, while locks are held and wanted; and later, sometimes,
 * one process that is cut off, paused or killed. That is what a lease has to bear, at its worst. */
static void draw_stall(struct swarm *s) {
    struct plan *plan = s->plan;
    int32_t at = draw(s, s->timeout / 4, s->timeout + s->timeout / 2), ms = draw(s, s->timeout / 3, s->timeout * 3 / 2);
    int32_t end = at + ms, whose = PLAN_HOST_OF + draw(s, 0, 1);
    plan->enough = 700;
    plan->rest = 0;
    plan->horizon = end + s->timeout / 2 + draw(s, 0, s->timeout);
    plan->sync_limit = one_in(s, 3) ? plan->sync_limit : 1 + ms / plan->tick + draw(s, 0, 4);
    s->hold = draw(s, s->timeout / 4, 3 * s->timeout);
    for (int32_t i = draw(s, 1, 4); i > 0; i--)
        draw_acquire(s, one_in(s, 2) ? draw(s, 0, at) : draw(s, at, end));
    bool leader = one_in(s, 2);
    switch (draw(s, 0, 5)) {
    case 0:
        add_fault(s, at, PLAN_ISOLATE, leader ? PLAN_HOST_LEADER : whose, ms);
        break;
    case 1:
        add_link_fault(s, at, one_in(s, 2) ? PLAN_BLOCK : PLAN_SLOW, PLAN_HOST_LEADER, whose, ms);
        break;
    case 2:
        add_link_fault(s, at, one_in(s, 2) ? PLAN_BLOCK : PLAN_SLOW, whose, PLAN_HOST_LEADER, ms);
        break;
    default:
        add_fault(s, at, PLAN_STOP_SERVER, leader ? PLAN_HOST_LEADER : whose, ms);
        break;
    }
    static const enum plan_kind last[] = {PLAN_LOSE, PLAN_LOSE, PLAN_PAUSE, PLAN_KILL_SERVER, PLAN_CUT, PLAN_KILL};
    for (int32_t i = draw(s, 0, 2); i > 0; i--) {
        enum plan_kind kind = last[draw(s, 0, 5)];
        int32_t when = draw(s, end - s->timeout / 8, end + s->timeout / 4);
        add_fault(s, when, kind, kind == PLAN_KILL_SERVER ? any_server(s) : any_process(s), any_time(s));
    }
}

void plan_draw(struct plan *plan, uint64_t seed) {
    struct swarm s = {.plan = plan};
    sim_random_begin(&s.chance, seed ^ UINT64_C(0x737761726d));
    sim_random_begin(&s.recipes, seed ^ UINT64_C(0x72656369706573));
    sim_random_begin(&s.guarded, seed ^ UINT64_C(0x67756172646564));
    sim_random_begin(&s.delays, seed ^ UINT64_C(0x64656c617973));
    sim_random_begin(&s.asks, seed ^ UINT64_C(0x61736b73));
    sim_random_begin(&s.sets, seed ^ UINT64_C(0x73657473));
    sim_random_begin(&s.striped, seed ^ UINT64_C(0x73747269706564));
    sim_random_begin(&s.majorities, seed ^ UINT64_C(0x6d616a6f72697479));
    sim_random_begin(&s.records, seed ^ UINT64_C(0x7265636f726473));
    sim_random_begin(&s.group, seed ^ UINT64_C(0x67726f7570));
    sim_random_begin(&s.lingers, seed ^ UINT64_C(0x6c696e67657273));
    sim_random_begin(&s.unsent, seed ^ UINT64_C(0x756e73656e74));
    plan_begin(plan, seed);
    draw_servers(&s);
    draw_processes(&s);
    swarm_draw_recipes(&s);
    swarm_draw_striped(&s);
    swarm_draw_group(&s);
    if (one_in(&s, 4))
        draw_stall(&s);
    else
        draw_anything(&s);
    swarm_draw_elections(&s);
    swarm_draw_guarded(&s);
    swarm_draw_delays(&s);
    swarm_draw_sets(&s);
    swarm_draw_lingers(&s);
    draw_unsent(&s);
    swarm_draw_records(&s);
    swarm_draw_asks(&s);
    swarm_draw_stripes(&s);
    swarm_draw_members(&s);
    swarm_draw_majorities(&s);
    plan_sort(plan);
}

/* One run: everything begins, time passes, all is healed, and the run goes on until nothing is left to be done. */
#include "deployment.h"

#include "session/session.h"
#include "sim_platform.h"

#include <string.h>

/* How many threads are behind one answer. */
#define LATE_TIMES 40

struct deployment *deployment_new(void) {
    struct deployment *d = g_new0(struct deployment, 1);
    sim_agenda_init(&d->agenda);
    return d;
}

void deployment_free(struct deployment *d) {
    sim_agenda_free(&d->agenda);
    g_free(d);
}

void tally_add(struct tally *sum, const struct tally *one) {
    uint64_t *to = (uint64_t *)(void *)sum;
    const uint64_t *from = (const uint64_t *)(const void *)one;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

struct history_event *note(struct deployment *d, enum history_kind kind, int32_t id, const struct client *client) {
    struct history_event *event = history_add(&d->history, d->agenda.now, kind, id);
    if (event && client) {
        event->clock = sim_process_clock(client->process);
        event->process = (int8_t)client->player->number;
        event->number = client->number;
    }
    return event;
}

struct sim_ensemble *deployment_ensemble(const struct deployment *d, int32_t queue) {
    return d->ensembles[plan_ensemble(d->plan, queue)];
}

/* ---- processes */

static int64_t lateness(const struct player *player) { return DEPLOYMENT_LATE_LEAST + LATE_TIMES * player->slow; }

void player_start(struct player *player) {
    struct deployment *d = player->d;
    struct sim_process *p = sim_alloc(&d->agenda, sizeof *p);
    p->agenda = &d->agenda;
    p->ensemble = d->ensembles[0];
    p->more = &d->ensembles[1];
    p->number = player->number;
    p->host = SIM_SERVERS + player->number;
    p->rate = player->rate;
    p->offset = player->offset;
    p->slow_least = player->slow / 16;
    p->slow_most = player->slow;
    player->process = p;
    player->misled = false;
    struct history_event *event = note(d, HISTORY_PROCESS, player->number, NULL);
    if (event)
        event->a = lateness(player);
    client_open(player);
}

static void give_back(void *subject, void *what) {
    const struct player *player = subject;
    const struct sim_process *process = what;
    for (struct client *client = player->client; client; client = client->older)
        if (client->process == process)
            client_give_back(client);
}

void player_dispose(struct player *player) {
    if (player->process)
        sim_dispose(player->process, give_back, player, player->process);
    player->process = NULL;
}

/* Clocks: rates that differ, and moments of boot. */
static void begin_player(struct deployment *d, int32_t number, struct sim_random *chance) {
    struct player *player = &d->players[number];
    *player = (struct player){.d = d, .number = number};
    int64_t rates = d->plan->rates;
    int64_t rate = sim_random_one_in(chance, 2)   ? sim_random_between(chance, -rates, rates)
                   : sim_random_one_in(chance, 2) ? rates
                                                  : -rates;
    player->rate = 1.0 + (double)rate / 1e6;
    player->offset = sim_random_between(chance, 1, INT64_C(1000000000000));
    player->slow = sim_random_one_in(chance, 2) ? d->plan->slow * INT64_C(1000)
                                                : sim_random_between(chance, 0, d->plan->slow) * INT64_C(1000);
}

/* ---- the beginning */

static void let_pass(struct deployment *d, int64_t ns) {
    int64_t until = d->agenda.now + ns;
    while (sim_step(&d->agenda, until))
        ;
}

static void make_directory(struct deployment *d, struct sim_ensemble *e, const char *path, bool container) {
    char *slash, *name = sim_text(&d->agenda, path);
    for (slash = strchr(name + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        struct sim_packet parent = {.kind = SIM_REQUEST, .op = SIM_OP_CREATE, .path = sim_text(&d->agenda, name)};
        sim_admin(e, &parent);
        *slash = '/';
        let_pass(d, 20 * SIM_MS);
    }
    struct sim_packet directory = {.kind = SIM_REQUEST, .op = SIM_OP_CREATE, .path = name, .data = ""};
    directory.mode = container ? SIM_CONTAINER : SIM_PERSISTENT;
    sim_admin(e, &directory);
    let_pass(d, 20 * SIM_MS);
    sim_admin_set(e, name, SIM_SET_COUNTER, d->plan->first);
    let_pass(d, 20 * SIM_MS);
}

/* The directories of a path, with counters that begin elsewhere. */
static void make_directories(struct deployment *d, int32_t path) {
    struct sim_ensemble *e = deployment_ensemble(d, path);
    bool container = d->plan->containers && !(d->plan->kazoo & 1 << path);
    make_directory(d, e, plan_queue(d->plan, path), container);
    if (plan_leases(d->plan, path))
        make_directory(d, e, plan_leases(d->plan, path), container);
}

static void begin_ensemble(struct deployment *d, int32_t number) {
    const struct plan *plan = d->plan;
    const struct sim_ensemble_config config = {
        .servers = plan->servers,
        .tick = plan->tick * SIM_MS,
        .sync_limit = plan->sync_limit,
        .election_least = plan->election_least * SIM_MS,
        .election_most = MAX(plan->election_least, plan->election_most) * SIM_MS,
        .session_least = (plan->session_least ? plan->session_least : 2 * plan->tick) * SIM_MS,
        .session_most = MAX(20 * plan->tick, plan->session) * SIM_MS,
        .container_interval = plan->reap * SIM_MS,
        .containers = plan->containers != 0,
        .number = number,
    };
    struct sim_net *net = &d->nets[number];
    sim_net_begin(net, &d->agenda, plan->latency_least * INT64_C(1000),
                  MAX(plan->latency_least, plan->latency_most) * INT64_C(1000));
    for (int32_t i = 0; i < plan->processes; i += 2)
        for (int32_t server = 0; server < plan->servers; server++) {
            net->extra[server][SIM_SERVERS + i] = plan->far_to * SIM_MS;
            net->extra[SIM_SERVERS + i][server] = plan->far_from * SIM_MS;
        }
    d->ensembles[number] = sim_ensemble_new(&d->agenda, net, &config);
}

static void start_ensemble(struct deployment *d, struct sim_ensemble *e) {
    for (int32_t i = 0; i < d->plan->servers; i++)
        sim_server_start(e, i);
    while (!(sim_leader(e) >= 0 && sim_settled(e)) && sim_step(&d->agenda, 600000 * SIM_MS))
        ;
}

static void begin_ensembles(struct deployment *d) {
    for (int32_t i = 0; i < d->plan->ensembles; i++)
        begin_ensemble(d, i);
    observe_begin(d);
    for (int32_t i = 0; i < d->plan->ensembles; i++)
        start_ensemble(d, d->ensembles[i]);
    for (int32_t i = 0; d->plan->first != 0 && i < PLAN_PATHS; i++)
        make_directories(d, i);
}

static void act(void *subject, void *what) {
    struct deployment *d = subject;
    const struct plan_action *action = what;
    if (d->healed) {
        sim_idle(&d->agenda);
        return;
    }
    bool done = processes_do(d, action) || faults_do(d, action);
    d->tally.faults[action->kind] += done;
    if (d->transcript)
        transcript_action(d, action, done);
}

static void begin(struct deployment *d, const struct plan *plan) {
    struct sim_random chance;
    d->plan = plan;
    d->history.count = 0;
    d->history.full = d->healed = d->refused = false;
    d->clients_count = d->claims_count = d->holds_count = d->candidates_count = d->observers_count = 0;
    d->asking = d->asks_count = 0;
    d->unanswered = d->holding = d->offices = d->guarding = d->payloads = 0;
    memset(d->resources, 0, sizeof d->resources);
    memset(d->naive, 0, sizeof d->naive);
    memset(&d->tally, 0, sizeof d->tally);
    memset(d->players, 0, sizeof d->players);
    checker_begin(&d->checker, plan);
    sim_agenda_begin(&d->agenda, plan->seed);
    g_random_set_seed((guint32)(plan->seed ^ plan->seed >> 32));
    begin_ensembles(d);
    sim_random_begin(&chance, plan->seed ^ UINT64_C(0x636c6f636b73));
    int64_t now = d->started = d->agenda.now;
    d->horizon = now + plan->horizon * SIM_MS;
    for (int32_t i = 0; i < plan->count; i++)
        sim_at(&d->agenda, now + plan->actions[i].at * SIM_MS, act, d, (void *)&plan->actions[i]);
    for (int32_t i = 0; i < plan->processes; i++) {
        begin_player(d, i, &chance);
        player_start(&d->players[i]);
    }
}

/* ---- the end */

static void heal(struct deployment *d) {
    d->healed = true;
    note(d, HISTORY_HEALED, 0, NULL);
    transcript_tell(d, "ALL IS HEALED: links, servers, processes; nothing new is asked for");
    faults_heal(d);
    processes_heal(d);
    for (int32_t i = 0; i < d->plan->processes; i++)
        if (d->players[i].process && plan_has(d->plan, PLAN_RECIPE_GROUP))
            sim_run_in(d->players[i].process, d->agenda.now, true, members_amend_all, &d->players[i], NULL);
    observe(d);
}

/* A lease bears one stall of a server or of a link, however long. It does not promise to bear two that come close
 * together (README, what it rests on). */
static bool is_excused(const struct deployment *d) {
    static const bool of_the_lease[CHECK_COUNT] = {
        [CHECK_EXCLUSION] = true,      [CHECK_PROMISED] = true,     [CHECK_LEASE] = true,
        [CHECK_NODE] = true,           [CHECK_ORDER] = true,        [CHECK_TOKENS] = true,
        [CHECK_HOLDERS_WRITE] = true,  [CHECK_WRITER_ALONE] = true, [CHECK_READER_ORDER] = true,
        [CHECK_WRITER_TOKENS] = true,  [CHECK_EXCHANGE] = true,     [CHECK_PERMITS] = true,
        [CHECK_PERMIT_NODES] = true,   [CHECK_PERMIT_ORDER] = true, [CHECK_GUARDED_READ] = true,
        [CHECK_GUARDED_STATUS] = true, [CHECK_GONE] = true,         [CHECK_MAJORITY] = true,
    };
    const struct checker *c = &d->checker;
    int64_t timeout = plan_timeout(d->plan) * SIM_MS;
    int32_t counts[PLAN_PATHS] = {0}, most = 0;
    for (int32_t i = 0; i < d->stalls_count; i++)
        if (d->stalls[i].from <= c->at && d->stalls[i].to >= c->at - 2 * timeout)
            most = MAX(most, ++counts[d->stalls[i].in]);
    return c->broken && of_the_lease[c->check] && most >= 2;
}

static void count_recipes(struct deployment *d) {
    for (int32_t i = 0; i < PLAN_PATHS; i++)
        d->tally.recipes[plan_recipe(d->plan, i)] = 1;
}

static struct verdict judge(struct deployment *d, uint64_t first) {
    struct verdict v = {.broken = d->checker.broken, .check = d->checker.check, .hash = history_hash(&d->history)};
    uint64_t events = run_events(d) - first;
    v.at = (double)(d->checker.at - d->started) / 1e9;
    g_strlcpy(v.detail, d->checker.detail, sizeof v.detail);
    if (!v.broken && !run_goes_on(d)) {
        v.broken = true;
        v.check = CHECK_ENDLESS;
        g_snprintf(v.detail, sizeof v.detail, "after %llu events", (unsigned long long)events);
    }
    v.counted = events >= 200 && !v.broken;
    v.excused = is_excused(d);
    v.broken = v.broken && !v.excused;
    d->tally.excused = v.excused;
    d->tally.schedules = 1;
    count_recipes(d);
    d->tally.counted = v.counted;
    d->tally.events = events;
    d->tally.steps = d->agenda.steps;
    d->tally.sim_ms = (uint64_t)(d->agenda.now / SIM_MS);
    memcpy(d->tally.checks, d->checker.evaluated, sizeof d->tally.checks);
    memcpy(d->tally.met, d->checker.met, sizeof d->tally.met);
    return v;
}

struct verdict deployment_run(struct deployment *d, const struct plan *plan, FILE *out) {
    d->transcript = out ? transcript_new(d, out) : NULL;
    begin(d, plan);
    uint64_t first = run_events(d);
    if (run_until_healed(d, first)) {
        heal(d);
        converge(d);
    }
    struct verdict verdict = judge(d, first);
    if (verdict.broken)
        transcript_tell(d, "BROKEN: %s — %s", check_words(verdict.check), verdict.detail);
    for (int32_t i = 0; i < plan->processes; i++)
        player_dispose(&d->players[i]);
    if (d->transcript)
        transcript_free(d->transcript);
    d->transcript = NULL;
    return verdict;
}

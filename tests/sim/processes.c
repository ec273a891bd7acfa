/* The processes of the plan. Their sessions begin and end, they are paused and killed. Their work runs inside of them,
 * as late as their threads are. A paused process does it afterwards. */
#include "deployment.h"
#include "session/open.h"
#include "session/session.h"
#include "sim_platform.h"

/* ---- a session begins */

static void on_event(pdk_session_event event, int64_t left, void *user) {
    struct client *client = user;
    struct deployment *d = client->player->d;
    (void)left;
    struct history_event *noted = note(d, HISTORY_SESSION, client->number, client);
    if (noted)
        noted->a = event;
    d->tally.session_events[event]++;
}

static void on_log(pdk_log_level level, const char *text, void *user) {
    (void)level;
    (void)text;
    (void)user;
}

static void open_in(void *subject, void *what) {
    struct client *client = subject;
    struct deployment *d = client->player->d;
    GString *hosts = g_string_new(NULL);
    (void)what;
    int32_t in = 0;
    while (client->ensemble != d->ensembles[in])
        in++;
    for (int32_t i = 0; i < d->plan->servers; i++)
        g_string_append_printf(hosts, "%s10.0.%d.%d:2181", i ? "," : "", in, i + 1);
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = d->plan->session;
    options.request_timeout_ms = d->plan->request;
    options.server_tick_ms = d->plan->tell_tick ? d->plan->tick : 0;
    options.on_event = on_event;
    options.on_event_user = client;
    options.on_log = d->plan->logs ? on_log : NULL;
    const struct pdk__platform *platform = d->transcript ? transcript_platform(d) : &sim_platform;
    if (pdk__session_begin(hosts->str, &options, platform, &client->s) != PDK_OK)
        g_error("a session could not begin: %s", pdk_last_error());
    g_string_free(hosts, TRUE);
}

struct client *client_of(struct client *client, int32_t lock) {
    const struct plan *plan = client->player->d->plan;
    int32_t beside = plan->ensembles > 1 ? plan_ensemble(plan, lock / 2) : lock / 2 == 1;
    for (; beside > 0 && client->side; beside--)
        client = client->side;
    return client;
}

struct client *deployment_client(const struct deployment *d, int32_t number) {
    struct client *client = d->players[number / DEPLOYMENT_CLIENTS].client;
    for (int32_t beside = number % DEPLOYMENT_CLIENTS; beside > 0 && client; beside--)
        client = client->side;
    return client;
}

void taint(struct deployment *d, const struct client *client, pdk_status status) {
    for (; client; client = client->side) {
        struct history_event *event = note(d, HISTORY_TAINTED, client->number, client);
        if (event)
            event->a = status;
    }
}

static struct client *new_client(struct player *player, int32_t beside) {
    struct deployment *d = player->d;
    struct client *client = sim_alloc(&d->agenda, sizeof *client);
    client->player = player;
    client->process = player->process;
    client->ensemble = d->ensembles[d->plan->ensembles > 1 ? beside : 0];
    client->number = d->clients_count++;
    note(d, HISTORY_OPEN, client->number, client);
    return client;
}

static void begin_in(struct client *client) {
    if (sim_process_current() == client->process)
        open_in(client, NULL);
    else
        sim_call_in(client->process, open_in, client, NULL);
}

void client_open(struct player *player) {
    struct deployment *d = player->d;
    if (d->clients_count + plan_sides(d->plan) >= HISTORY_SESSIONS)
        return;
    struct client *client = new_client(player, 0), *last = client;
    client->older = player->client;
    for (int32_t i = 1; i <= plan_sides(d->plan); i++)
        last = last->side = new_client(player, i);
    player->client = client;
    if (d->refused)
        taint(d, client, PDK_NO_PERMISSION);
    if (d->plan->first > INT32_MAX / 2)
        taint(d, client, PDK_EXHAUSTED);
    for (; client; client = client->side)
        begin_in(client);
}

/* ---- a session ends */

void client_leave(struct client *client) {
    for (; client; client = client->side) {
        struct tally *tally = &client->player->d->tally;
        if (client->s) {
            tally->enqueued += client->s->mirrors.enqueued;
            tally->shown += client->s->mirrors.shown;
            pdk_session_unref(client->s);
        }
        client->s = NULL;
    }
}

static void set_closed(struct client *client) {
    for (; client; client = client->side)
        client->closed = true;
}

void client_give_back(struct client *client) {
    set_closed(client);
    workload_give_back(client);
    client_leave(client);
}

static void forget_unanswered(struct client *client) {
    client->player->d->unanswered -= client->unanswered;
    client->player->d->asking -= client->asking;
    client->unanswered = client->asking = 0;
    for (struct claiming *claim = client->claims; claim; claim = claim->next)
        claim->answered = true;
}

static void reopen_in(void *subject, void *what) {
    struct client *client = subject;
    if (client->unanswered > 0) { /* the last answers first */
        sim_run_in(client->process, client->player->d->agenda.now + 10 * SIM_MS, true, reopen_in, client, what);
        return;
    }
    client_give_back(client);
    if (client->reopens && client->player->client == client)
        client_open(client->player);
}

static void note_all(const struct client *client, enum history_kind kind) {
    for (; client; client = client->side)
        note(client->player->d, kind, client->number, client);
}

/* No callback comes any more. Claims without an answer get none. */
void client_close(struct client *client, const struct plan_action *action) {
    struct deployment *d = client->player->d;
    if (client->closed || !client->s)
        return;
    set_closed(client);
    if (action->value[1] == PLAN_CLOSE_UNREF) {
        note_all(client, HISTORY_CLOSING);
        workload_give_back(client);
        if (client->unanswered == 0) /* else with the last answer */
            client_leave(client);
    } else {
        for (const struct client *one = client; one; one = one->side)
            pdk_session_close(one->s, 0);
        note_all(client, HISTORY_CLOSED);
        forget_unanswered(client);
    }
    for (struct client *one = client; one; one = one->side)
        one->reopens = action->value[2] >= 0;
    if (client->reopens)
        sim_run_in(client->process, d->agenda.now + action->value[2] * SIM_MS, true, reopen_in, client, NULL);
}

static void begin_close_in(void *subject, void *what) {
    struct player *player = subject;
    const struct plan_action *action = what;
    struct client *client = player->client;
    if (!client || client->closed || !client->s || player->d->healed)
        return;
    int32_t lock = 0;
    while (lock < PLAN_LOCKS && plan_is_joined(player->d->plan, lock / 2))
        lock += 2;
    if (action->value[1] == PLAN_CLOSE_CALLBACK && lock < PLAN_LOCKS)
        workload_claim(client, action, lock, 0, true);
    else
        client_close(client, action);
}

static void start_again(void *subject, void *what) {
    struct player *player = subject;
    (void)what;
    if (!player->process && player->restarts)
        player_start(player);
}

static void kill_player(struct player *player) {
    struct deployment *d = player->d;
    note(d, HISTORY_KILLED, player->number, NULL);
    observe_killed(d, player);
    for (struct client *client = player->client; client; client = client->older)
        forget_unanswered(client);
    player_dispose(player);
}

static void resume(void *subject, void *what) {
    struct player *player = subject;
    struct sim_process *process = what;
    if (player->process != process || !process->paused)
        return;
    note(player->d, HISTORY_RESUMED, player->number, NULL);
    sim_process_pause(process, false);
}

static bool pause_player(struct player *player, int32_t ms) {
    if (player->process->paused)
        return false;
    note(player->d, HISTORY_PAUSED, player->number, NULL);
    sim_process_pause(player->process, true);
    sim_at(&player->d->agenda, player->d->agenda.now + ms * SIM_MS, resume, player, player->process);
    return true;
}

/* The process runs, in time, and has a session, if it was to have one again. */
static void heal_player(struct player *player) {
    struct client *client = player->client;
    resume(player, player->process);
    player->process->unsent = 0;
    player->process->slow_least = player->slow / 16;
    player->process->slow_most = player->slow;
    if (client->closed && client->reopens)
        sim_run_in(player->process, player->d->agenda.now, true, reopen_in, client, NULL);
}

void processes_heal(struct deployment *d) {
    for (int32_t i = 0; i < d->plan->processes; i++) {
        struct player *player = &d->players[i];
        player->slow = MIN(player->slow, SIM_MS);
        if (player->process && player->misled) {
            kill_player(player);
            player->restarts = true;
        }
        start_again(player, NULL);
        if (player->process)
            heal_player(player);
    }
}

/* ---- the plan's actions */

/* Of a path whose contenders stand in one queue. */
static sim_event_fn asks_of(const struct deployment *d, const struct plan_action *action) {
    enum plan_recipe recipe = plan_recipe(d->plan, action->value[1]);
    if (recipe != PLAN_RECIPE_LOCK && recipe != PLAN_RECIPE_ELECTION)
        return NULL;
    return action->kind == PLAN_ASK ? asks_ask : asks_break;
}

/* The part of a program that uses a recipe: in its process, where the path has that recipe. */
static sim_event_fn workload_of(const struct deployment *d, const struct plan_action *action) {
    int32_t path = action->value[PLAN_LOCK] / 2 % PLAN_PATHS;
    bool joined = plan_is_joined(d->plan, path), elects = joined && plan_recipe(d->plan, path) == PLAN_RECIPE_ELECTION;
    switch (action->kind) {
    case PLAN_ACQUIRE:
        return joined ? NULL : workload_acquire;
    case PLAN_JOIN:
        return joined ? candidates_join : NULL;
    case PLAN_LEAVE:
        return joined ? candidates_leave : NULL;
    case PLAN_RESIGN:
        return elects ? candidates_resign : NULL;
    case PLAN_OBSERVE:
        return joined ? candidates_observe : NULL;
    case PLAN_AMEND:
        return joined && !elects ? members_amend : NULL;
    case PLAN_TAKE:
        return sets_take;
    case PLAN_READ:
        return plan_recipe(d->plan, action->value[1]) == PLAN_RECIPE_JOB ? records_read : NULL;
    case PLAN_ASK:
    case PLAN_BREAK:
        return asks_of(d, action);
    case PLAN_CANCEL:
        return workload_cancel;
    case PLAN_DROP:
        return workload_drop;
    case PLAN_CLOSE:
        return begin_close_in;
    default:
        return NULL;
    }
}

bool processes_do(struct deployment *d, const struct plan_action *action) {
    struct player *player = &d->players[action->value[0] % PLAN_PROCESSES];
    if (action->kind > PLAN_CUT || action->value[0] >= d->plan->processes || !player->process)
        return false;
    sim_event_fn workload = workload_of(d, action);
    switch (action->kind) {
    case PLAN_KILL:
        kill_player(player);
        player->restarts = action->value[1] >= 0;
        if (player->restarts)
            sim_at(&d->agenda, d->agenda.now + action->value[1] * SIM_MS, start_again, player, NULL);
        return true;
    case PLAN_PAUSE:
        return pause_player(player, action->value[1]);
    case PLAN_UNSENT:
        player->process->unsent_kind = action->value[1];
        player->process->unsent = action->value[2];
        return true;
    case PLAN_CUT:
        if (sim_client_server(player->process) < 0)
            return false;
        sim_client_cut(player->process);
        return true;
    default:
        if (workload)
            sim_run_in(player->process, d->agenda.now, true, workload, player, (void *)action);
        return workload != NULL;
    }
}

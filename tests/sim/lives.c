/* The lives of the processes: their sessions begin and end, they are paused and killed. What they do runs inside of them, late
 * as their threads are; a process that is paused does it afterwards. */
#include "deployment.h"

#include "session/session.h"
#include "sim_platform.h"

/* ---- a session begins */

static void on_event(pdk_session_event event, int64_t left, void *user) {
    struct life *life = user;
    struct deployment *d = life->player->d;
    (void)left;
    struct history_event *noted = note(d, HISTORY_SESSION, life->number, life);
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
    struct life *life = subject;
    struct deployment *d = life->player->d;
    GString *hosts = g_string_new(NULL);
    (void)what;
    for (int32_t i = 0; i < d->plan->servers; i++)
        g_string_append_printf(hosts, "%s10.0.0.%d:2181", i ? "," : "", i + 1);
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = d->plan->session;
    options.request_timeout_ms = d->plan->request;
    options.server_tick_ms = d->plan->tell_tick ? d->plan->tick : 0;
    options.on_event = on_event;
    options.on_event_user = life;
    options.on_log = d->plan->logs ? on_log : NULL;
    const struct pdk__platform *platform = d->story ? story_platform(d) : &sim_platform;
    if (pdk__session_begin(hosts->str, &options, platform, &life->s) != PDK_OK)
        g_error("a session could not begin: %s", pdk_error_text());
    g_string_free(hosts, TRUE);
}

void taint(struct deployment *d, const struct life *life, pdk_status status) {
    struct history_event *event = note(d, HISTORY_TAINTED, life->number, life);
    if (event)
        event->a = status;
}

void life_open(struct player *player) {
    struct deployment *d = player->d;
    if (d->lives_count == HISTORY_SESSIONS)
        return;
    struct life *life = sim_alloc(&d->agenda, sizeof *life);
    life->older = player->life;
    life->player = player;
    life->process = player->process;
    life->number = d->lives_count++;
    player->life = life;
    note(d, HISTORY_OPEN, life->number, life);
    if (d->refused)
        taint(d, life, PDK_NO_PERMISSION);
    if (d->plan->first > INT32_MAX / 2)
        taint(d, life, PDK_EXHAUSTED);
    if (sim_process_current() == player->process)
        open_in(life, NULL);
    else
        sim_call_in(player->process, open_in, life, NULL);
}

/* ---- a session ends */

void life_leave(struct life *life) {
    if (life->s)
        pdk_session_unref(life->s);
    life->s = NULL;
}

void life_give_back(struct life *life) {
    life->closed = true;
    workload_give_back(life);
    life_leave(life);
}

static void forget_unanswered(struct life *life) {
    life->player->d->unanswered -= life->unanswered;
    life->unanswered = 0;
    for (struct claiming *claim = life->claims; claim; claim = claim->next)
        claim->answered = true;
}

static void reopen_in(void *subject, void *what) {
    struct life *life = subject;
    if (life->unanswered > 0) { /* the last answers first */
        sim_run_in(life->process, life->player->d->agenda.now + 10 * SIM_MS, true, reopen_in, life, what);
        return;
    }
    life_give_back(life);
    if (life->reopens && life->player->life == life)
        life_open(life->player);
}

/* No callback comes any more, and the claims that have no answer get none. */
void life_close(struct life *life, const struct plan_action *action) {
    struct deployment *d = life->player->d;
    if (life->closed || !life->s)
        return;
    life->closed = true;
    if (action->value[1] == PLAN_CLOSE_UNREF) {
        note(d, HISTORY_CLOSING, life->number, life);
        workload_give_back(life);
        if (life->unanswered == 0) /* else with the last answer */
            life_leave(life);
    } else {
        pdk_session_close(life->s, 0);
        note(d, HISTORY_CLOSED, life->number, life);
        forget_unanswered(life);
    }
    life->reopens = action->value[2] >= 0;
    if (life->reopens)
        sim_run_in(life->process, d->agenda.now + action->value[2] * SIM_MS, true, reopen_in, life, NULL);
}

static void begin_close_in(void *subject, void *what) {
    struct player *player = subject;
    const struct plan_action *action = what;
    struct life *life = player->life;
    if (!life || life->closed || !life->s || player->d->healed)
        return;
    int32_t lock = 0;
    while (lock < PLAN_LOCKS && plan_recipe(player->d->plan, lock / 2) == PLAN_RECIPE_ELECTION)
        lock += 2;
    if (action->value[1] == PLAN_CLOSE_CALLBACK && lock < PLAN_LOCKS)
        workload_claim(life, action, lock, 0, true);
    else
        life_close(life, action);
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
    for (struct life *life = player->life; life; life = life->older)
        forget_unanswered(life);
    player_bury(player);
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

/* It runs, in time, and has a session, where that was to be had again. */
static void heal_player(struct player *player) {
    struct life *life = player->life;
    resume(player, player->process);
    player->process->slow_least = player->slow / 16;
    player->process->slow_most = player->slow;
    if (life->closed && life->reopens)
        sim_run_in(player->process, player->d->agenda.now, true, reopen_in, life, NULL);
}

void lives_heal(struct deployment *d) {
    for (int32_t i = 0; i < d->plan->processes; i++) {
        struct player *player = &d->players[i];
        player->slow = MIN(player->slow, SIM_MS);
        if (player->process && player->lied_to) {
            kill_player(player);
            player->restarts = true;
        }
        start_again(player, NULL);
        if (player->process)
            heal_player(player);
    }
}

/* ---- the plan's actions */

/* What a program does with a recipe: in its process, where the path has that recipe. */
static sim_event_fn workload_of(const struct deployment *d, const struct plan_action *action) {
    bool elects = plan_recipe(d->plan, action->value[PLAN_LOCK] / 2 % PLAN_PATHS) == PLAN_RECIPE_ELECTION;
    switch (action->kind) {
    case PLAN_ACQUIRE:
        return elects ? NULL : workload_acquire;
    case PLAN_JOIN:
        return elects ? candidates_join : NULL;
    case PLAN_LEAVE:
        return elects ? candidates_leave : NULL;
    case PLAN_RESIGN:
        return elects ? candidates_resign : NULL;
    case PLAN_OBSERVE:
        return elects ? candidates_observe : NULL;
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

bool lives_do(struct deployment *d, const struct plan_action *action) {
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

#include "clock.h"
#include "elect.h"
#include "others.h"
#include "say.h"
#include "status.h"
#include "words.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

enum { WORK, GATE, COMMANDS, SICK_GRACE_MS = 10000, LAST_EVENTS_MS = 10000, BEAT_MS = 1000 };

/* ---- news of the election */

static void forget_grant(cmd_election *e) {
    pdk_hold_unref(e->granted);
    e->granted = NULL;
}

static void on_elected(pdk_hold *hold, void *user) {
    cmd_election *e = user;
    forget_grant(e);
    e->granted = pdk_hold_ref(hold);
    e->own_token = pdk_hold_token(hold);
}

/* A term that has begun hears of its end from its hold. */
static void on_deposed(pdk_reason reason, void *user) {
    (void)reason;
    forget_grant(user);
}

static const char *name_of(const cmd_election *e) { return e->id ? e->id : pdk_session_identity(e->keeper.session); }

/* Once a server has answered. */
static void tell_candidate(cmd_election *e) {
    if (!e->stands || e->told || !e->keeper.connected)
        return;
    e->told = true;
    cmd_say("we stand for %s, as %s", e->keeper.path, name_of(e));
}

/* Our own terms are told when they begin. */
static void tell_leader(cmd_election *e, const char *identity, int64_t token) {
    bool was_led = e->led;
    e->led = identity != NULL;
    if (!identity && was_led)
        cmd_say("nobody leads %s", e->keeper.path);
    else if (identity && !token)
        cmd_say("somebody leads %s, and may not be seen (an access control list forbids it)", e->keeper.path);
    else if (identity && token != e->own_token)
        cmd_say("%s leads %s, token %" G_GINT64_FORMAT, *identity ? identity : "one that gives no name", e->keeper.path,
                (gint64)token);
}

static void on_leader(const char *identity, int64_t token, void *user) {
    cmd_election *e = user;
    char text[32];
    snprintf(text, sizeof text, "%" G_GINT64_FORMAT, (gint64)token);
    tell_candidate(e);
    tell_leader(e, identity, token);
    cmd_endpoint_hear(&e->endpoint, identity, token);
    cmd_events_tell(&e->events, CMD_EVENT_LEADER,
                    (const char *const[]){"PADDOCK_PATH", e->keeper.path, "PADDOCK_LEADER", identity ? identity : "",
                                          "PADDOCK_LEADER_TOKEN", text, NULL});
}

static void on_failed(pdk_status status, void *user) { ((cmd_election *)user)->failed = status; }

/* ---- beside the work */

static void tick(void *user) {
    cmd_election *e = user;
    cmd_keeper *k = &e->keeper;
    int64_t now = cmd_now_ms();
    cmd_endpoint_beat(&e->endpoint);
    if (k->extra[0].revents && !cmd_events_hear(&e->events))
        e->broken = true;
    if ((k->extra[1].revents && !cmd_health_hear(&e->health)) || !cmd_health_tick(&e->health))
        e->broken = true;
    if (e->broken) /* a dead guardian is no news any more */
        k->extras = 0;
    if (k->hold && !e->resigns && (e->broken || !e->health.healthy)) {
        e->resigns = true;
        cmd_error("we resign %s, since %s: TERM sent", k->path,
                  e->broken ? "a guardian was killed" : "the check fails");
        cmd_work_end(&e->work, SICK_GRACE_MS);
    }
    k->wake_at = MIN(e->health.at, now + BEAT_MS);
    if (e->rest_until > now)
        k->wake_at = MIN(k->wake_at, e->rest_until);
}

/* ---- candidate or not */

static void leave(cmd_election *e) {
    (void)pdk_election_leave(e->election);
    (void)pdk_session_dispatch(e->keeper.session, NULL); /* this candidate's callbacks, before there is another one */
    forget_grant(e);
    cmd_endpoint_hear(&e->endpoint, NULL, 0); /* nobody tells us any more */
    e->stands = false;
}

static int stand_or_leave(cmd_election *e) {
    bool fit = e->health.healthy && cmd_now_ms() >= e->rest_until;
    if (e->stands && !fit)
        leave(e);
    if (e->stands || !fit)
        return CMD_OK;
    pdk_election_callbacks callbacks = PDK_ELECTION_CALLBACKS_INIT;
    callbacks.elected = on_elected;
    callbacks.deposed = on_deposed;
    callbacks.leader = on_leader;
    callbacks.failed = on_failed;
    callbacks.user = e;
    pdk_status status = pdk_election_join(e->election, &callbacks);
    e->stands = status == PDK_OK;
    e->told = false;
    return cmd_explain(NULL, status);
}

/* ---- a term */

/* The gate lets the work begin. */
static bool has_passed(const cmd_election *e) {
    const cmd_work *w = &e->work;
    bool passed =
        !w->refused && !w->lost && !w->too_long && !w->terminated_by && !w->asked && !e->resigns && w->status == 0;
    if (!passed && !w->lost && !w->asked && !e->resigns)
        cmd_error("--on-elected did not end with 0: the work does not begin");
    return passed;
}

/* Does the program end, because the command was asked to? A terminal that is gone, or its Ctrl-C, asks the command
 * alone. */
static bool ends_program(const cmd_work *w) {
    int number = WIFSIGNALED(w->status) ? WTERMSIG(w->status) : 0;
    return w->refused || w->terminated_by || number == SIGHUP || number == SIGINT || number == SIGQUIT;
}

/* Why a term ends that was not lost: `what` has ended. g_free it. */
static char *why_given_up(const cmd_election *e, const char *what) {
    const cmd_work *w = &e->work;
    if (w->lost || e->resigns || w->asked || w->too_long)
        return g_strdup(w->lost ? "LEASE" : w->too_long ? "--max-hold is over" : "resigned");
    if (w->refused)
        return g_strdup_printf("%s cannot be started", what);
    return g_strdup_printf("%s ended %s %d", what, WIFSIGNALED(w->status) ? "by signal" : "with",
                           WIFSIGNALED(w->status) ? WTERMSIG(w->status) : WEXITSTATUS(w->status));
}

static void end_term(cmd_election *e, const char *what) {
    cmd_keeper *k = &e->keeper;
    char token[32];
    snprintf(token, sizeof token, "%" G_GINT64_FORMAT, (gint64)pdk_hold_token(k->hold));
    bool lost = !pdk_hold_is_valid(k->hold);
    if (!lost) {
        leave(e);
        e->rest_until = cmd_now_ms() + e->pause_ms;
        k->wake_at = 0;
    }
    const char *reason = pdk_reason_name(pdk_hold_reason(k->hold));
    g_autofree char *why = lost ? g_strdup(reason) : why_given_up(e, what);
    cmd_say("we do not lead %s any more (%s)", k->path, why);
    cmd_events_tell(
        &e->events, CMD_EVENT_DEPOSED,
        (const char *const[]){"PADDOCK_PATH", k->path, "PADDOCK_TOKEN", token, "PADDOCK_REASON", reason, NULL});
    pdk_hold_unref(k->hold);
    k->hold = NULL;
}

/* No work has begun under it, so nobody is told. */
static void give_back(cmd_election *e) {
    leave(e);
    pdk_hold_unref(e->keeper.hold);
    e->keeper.hold = NULL;
}

/* true: the program ends with *status. */
static bool lead(cmd_election *e, char **command, int *status) {
    cmd_keeper *k = &e->keeper;
    bool passed = true;
    k->hold = g_steal_pointer(&e->granted);
    k->loss_seen = false;
    e->resigns = false;
    cmd_keeper_listen(k);
    *status = cmd_others_refuse(k);
    if (*status || e->resigns) { /* the check may fail while others are looked for */
        give_back(e);
        return *status != CMD_OK;
    }
    if (!pdk_hold_is_valid(k->hold)) { /* likewise */
        cmd_error("the leadership of %s is lost (%s) before anything could start", k->path, cmd_keeper_why_lost(k));
        give_back(e);
        return false;
    }
    cmd_say("we lead %s, token %" G_GINT64_FORMAT, k->path, (gint64)pdk_hold_token(k->hold));
    if (e->on_elected) {
        *status = cmd_work_run(&e->work, GATE);
        passed = *status == CMD_OK && has_passed(e);
    }
    if (passed) {
        cmd_endpoint_set(&e->endpoint, k->hold, e->work.guard.moments);
        *status = cmd_work_run(&e->work, WORK);
        cmd_endpoint_set(&e->endpoint, NULL, NULL);
    }
    end_term(e, passed ? "its command" : "--on-elected");
    if (*status)
        return true;
    if (!ends_program(&e->work))
        return false;
    *status = cmd_work_status(&e->work, passed ? command[0] : "/bin/sh");
    return true;
}

/* ---- the program */

static int stand(cmd_election *e, char **command) {
    cmd_keeper *k = &e->keeper;
    int64_t since = cmd_now_ms();
    int status;
    cmd_keeper_look_outside(k);
    while ((status = stand_or_leave(e)) == CMD_OK) {
        int number = 0;
        int64_t left = k->connected ? 60000 : since + k->settings->connect_timeout_ms - cmd_now_ms();
        unsigned saw = cmd_keeper_wait(k, NULL, 0, left < 0 ? 0 : left, &number);
        status = saw & CMD_SAW_SIGNAL ? cmd_keeper_obey(number) : CMD_OK;
        if (status)
            break;
        tell_candidate(e);
        if (e->broken)
            return CMD_SOFTWARE;
        if (e->failed) {
            g_autofree char *why = cmd_why(k->path, e->failed);
            cmd_error("we do not stand any more: %s", why);
            return cmd_status(e->failed);
        }
        status = k->inside ? cmd_keeper_waits_for_itself(k) : cmd_keeper_gives_up(k, since);
        if (status)
            break;
        if (e->granted && e->health.healthy && lead(e, command, &status))
            break;
    }
    return status;
}

/* Wait for the events, since the last ones are still told. */
static void await_events(cmd_election *e) {
    int64_t deadline = cmd_now_ms() + LAST_EVENTS_MS;
    int number = 0;
    while (cmd_events_busy(&e->events) && !e->broken && cmd_now_ms() < deadline && number != SIGTERM &&
           number != SIGINT)
        (void)cmd_keeper_wait(&e->keeper, NULL, 0, deadline - cmd_now_ms(), &number);
}

static int run_election(cmd_election *e, char **command) {
    cmd_keeper *k = &e->keeper;
    pdk_election_options options = PDK_ELECTION_OPTIONS_INIT;
    options.identity = e->id;
    options.naming = k->settings->names;
    options.lock_delay_ms = k->settings->lock_delay_ms;
    int status = cmd_endpoint_open(&e->endpoint, e->listen);
    if (status == CMD_OK)
        status = cmd_keeper_open(k);
    if (status)
        return status;
    cmd_endpoint_measure(&e->endpoint, k->session);
    k->extra[0] = (struct pollfd){.fd = e->events.guard.channel, .events = POLLIN};
    k->extra[1] = (struct pollfd){.fd = e->health.guard.channel, .events = POLLIN};
    k->extras = 2;
    k->tick = tick;
    k->tick_user = e;
    pdk_status made = pdk_election_new(k->session, k->path, &options, &e->election);
    if (made)
        return cmd_explain(NULL, made);
    cmd_endpoint_name(&e->endpoint, k->path, name_of(e));
    status = stand(e, command);
    leave(e);
    await_events(e);
    return status;
}

int cmd_elect_work(cmd_election *e, char **command) {
    char *gate[] = {(char *)"/bin/sh", (char *)"-c", e->on_elected, NULL};
    char **const commands[COMMANDS] = {[WORK] = command, [GATE] = gate};
    int status = cmd_work_open(&e->work, &e->keeper, commands);
    if (status == CMD_OK && (!cmd_events_open(&e->events, e->on_deposed, e->on_leader) ||
                             !cmd_health_open(&e->health, e->check, e->every_ms))) {
        cmd_error("no process for a guardian: %s", g_strerror(errno));
        status = CMD_SOFTWARE;
    }
    if (status == CMD_OK)
        status = run_election(e, command);
    cmd_endpoint_close(&e->endpoint);
    cmd_health_close(&e->health);
    cmd_events_close(&e->events);
    cmd_work_close(&e->work);
    pdk_election_unref(e->election);
    return status;
}

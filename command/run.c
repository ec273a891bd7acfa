/* paddock run: waits for a lock, runs a command, releases once nothing of the command is left. */
#include "clock.h"
#include "guard.h"
#include "keeper.h"
#include "lease.h"
#include "reap.h"
#include "say.h"
#include "status.h"
#include "verbs.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { MAX_HOLD_GRACE_MS = 5000 };

typedef struct {
    cmd_keeper keeper;
    cmd_guard guard;
    cmd_lease lease;
    int refused; /* errno */
    pid_t group;
    int status;
    bool gone, lost, too_long, stopped;
    int64_t started, deadline; /* of --max-hold */
} run;

static void on_suspended(int64_t left_ms, void *user) {
    run *r = user;
    const char *what = r->keeper.settings->on_suspend;
    cmd_tell("the connection is lost; the lock is ours for %" G_GINT64_FORMAT " ms", (gint64)left_ms);
    cmd_lease_tell(&r->lease, "suspended");
    if (what && strcmp(what, "stop") == 0) {
        r->stopped = true;
        cmd_guard_order(&r->guard, CMD_FORWARD, SIGSTOP);
    } else if (what && strcmp(what, "term") == 0) {
        r->lost = true;
        cmd_guard_order(&r->guard, CMD_END, (int)left_ms);
    }
}

static void on_restored(void *user) {
    run *r = user;
    cmd_tell("the connection is back, and the lock is still ours");
    if (r->stopped)
        cmd_guard_order(&r->guard, CMD_FORWARD, SIGCONT);
    r->stopped = false;
}

/* The name and the value, each with its '\0'. The rest of the text stays '\0'. */
static void add(cmd_message *start, size_t *used, const char *name, const char *value) {
    size_t names = strlen(name) + 1, values = strlen(value) + 1;
    if (*used + names + values >= sizeof start->text) /* a path has 512 bytes at most */
        return;
    memcpy(start->text + *used, name, names);
    memcpy(start->text + *used + names, value, values);
    *used += names + values;
}

static bool start_command(run *r) {
    static cmd_message start;
    size_t used = 0;
    char token[32], handover[16], session[32];
    pdk_hold *hold = r->keeper.hold;
    snprintf(token, sizeof token, "%" G_GINT64_FORMAT, (gint64)pdk_hold_token(hold));
    snprintf(handover, sizeof handover, "%u", pdk_hold_handover(hold));
    snprintf(session, sizeof session, "0x%" G_GINT64_MODIFIER "x", (guint64)pdk_session_id(r->keeper.session));
    start.kind = CMD_START;
    add(&start, &used, "PADDOCK_PATH", r->keeper.path);
    add(&start, &used, "PADDOCK_ZNODE", pdk_hold_node(hold));
    add(&start, &used, "PADDOCK_TOKEN", token);
    add(&start, &used, "PADDOCK_TOKEN_PADDED", pdk_hold_token_text(hold));
    add(&start, &used, "PADDOCK_HANDOVER", handover);
    add(&start, &used, "PADDOCK_SEQUENCER", pdk_hold_sequencer(hold));
    add(&start, &used, "PADDOCK_SESSION", session);
    r->started = cmd_now_ms();
    if (r->keeper.settings->max_hold_ms >= 0)
        r->deadline = r->started + r->keeper.settings->max_hold_ms;
    return send(r->guard.channel, &start, sizeof start, MSG_NOSIGNAL) == (ssize_t)sizeof start;
}

/* false: the guardian is dead. */
static bool hear(run *r) {
    cmd_message news;
    if (!cmd_guard_news(&r->guard, &news))
        return false;
    switch (news.kind) {
    case CMD_STARTED:
        r->group = news.number;
        cmd_tell("the command runs as process %d", news.number);
        break;
    case CMD_REFUSED:
        r->refused = news.number;
        r->gone = true;
        break;
    case CMD_STOPPED:
        cmd_tell("the command is stopped and the lock is held; CONT to paddock continues it");
        break;
    case CMD_TERMED:
        r->lost = true;
        cmd_lease_tell(&r->lease, "TERM is sent");
        break;
    case CMD_ENDED:
        cmd_tell("the command has ended; what it left behind is ended now");
        break;
    default:
        r->status = news.number;
        r->gone = true;
        /* Its own status means: the lock was valid until all of it was gone. */
        r->lost = r->lost || !pdk_hold_valid(r->keeper.hold);
        if (r->lost)
            cmd_lease_tell(&r->lease, "nothing of the command is left");
        break;
    }
    return true;
}

/* Somebody killed the guardian: the command and all below it are ours now. */
static int without_guardian(run *r) {
    cmd_kill_below(r->group, r->group, &r->status);
    cmd_error("the guardian of the command was killed; the command was killed, too, before the release");
    return CMD_SOFTWARE;
}

static void handle_loss(run *r) {
    if (r->lost && r->lease.told_loss)
        return;
    r->lost = r->lease.told_loss = true;
    cmd_guard_order(&r->guard, CMD_KILL, 0);
    cmd_error("the lock %s is lost (%s); the command is killed", r->keeper.path,
              pdk_reason_name(pdk_hold_reason(r->keeper.hold)));
}

static void handle_time(run *r) {
    if (r->too_long || cmd_now_ms() < r->deadline)
        return;
    r->too_long = true;
    cmd_error("--max-hold is over; the command is ended");
    cmd_guard_order(&r->guard, CMD_END, MAX_HOLD_GRACE_MS);
}

/* Until nothing of the command is left. 0, or an exit status. */
static int attend(run *r) {
    struct pollfd news = {.fd = r->guard.channel, .events = POLLIN};
    while (!r->gone) {
        int number = 0;
        int64_t next = cmd_lease_publish(&r->lease, r->keeper.hold, r->guard.moments);
        int64_t left = r->deadline - cmd_now_ms();
        if (!r->too_long && left < next)
            next = left < 0 ? 0 : left;
        unsigned saw = cmd_keeper_wait(&r->keeper, &news, 1, next, &number);
        if (saw & CMD_SAW_OTHER && !hear(r))
            return without_guardian(r);
        if (saw & CMD_SAW_SIGNAL)
            cmd_guard_order(&r->guard, CMD_FORWARD, number);
        if (saw & CMD_SAW_LOSS && !r->gone)
            handle_loss(r);
        handle_time(r);
    }
    return CMD_OK;
}

static int exit_status(const run *r, const char *command) {
    if (r->refused) {
        cmd_error("%s: %s", command, g_strerror(r->refused));
        return r->refused == ENOENT ? CMD_NOT_FOUND : CMD_CANNOT_EXECUTE;
    }
    if (r->lost)
        return CMD_LOST;
    if (r->too_long)
        return CMD_TOO_LONG;
    return WIFSIGNALED(r->status) ? CMD_SIGNAL + WTERMSIG(r->status) : WEXITSTATUS(r->status);
}

static int run_command(run *r, char **command) {
    if (!cmd_keeper_signals(&r->keeper)) {
        cmd_error("signals: %s", g_strerror(errno));
        return CMD_SOFTWARE;
    }
    cmd_reap_all_orphans(); /* where the guardian is killed */
    if (cmd_guard_start(&r->guard, command)) {
        cmd_error("no process for the guardian: %s", g_strerror(errno));
        return CMD_SOFTWARE;
    }
    int status = cmd_keeper_acquire(&r->keeper);
    if (status == CMD_OK) {
        cmd_lease_begin(&r->lease, r->keeper.session, r->keeper.settings->timing);
        (void)cmd_lease_publish(&r->lease, r->keeper.hold, r->guard.moments);
        cmd_lease_tell(&r->lease, "granted");
        status = start_command(r) ? attend(r) : without_guardian(r);
        if (status == CMD_OK)
            status = exit_status(r, command[0]);
    }
    cmd_guard_stop(&r->guard);
    return status;
}

int cmd_run(int argc, char **argv) {
    cmd_settings settings;
    run r = {.keeper = {.signals = -1}, .deadline = INT64_MAX};
    int status = CMD_USAGE;
    cmd_settings_init(&settings);
    if (cmd_settings_parse(&settings, &argc, &argv, "/path -- command [argument…]", CMD_OPTIONS_CLAIM | CMD_OPTIONS_RUN,
                           NULL)) {
        int first = argc > 2 && strcmp(argv[2], "--") == 0 ? 3 : 2;
        if (argc <= first || argv[1][0] != '/') {
            cmd_error(
                "run: an absolute path and a command are needed: paddock run [option…] /path -- command [argument…]");
        } else {
            r.keeper.settings = &settings;
            r.keeper.path = argv[1];
            r.keeper.on_suspended = on_suspended;
            r.keeper.on_restored = on_restored;
            r.keeper.user = &r;
            status = run_command(&r, argv + first);
            cmd_keeper_close(&r.keeper);
        }
    }
    cmd_settings_clear(&settings);
    return status;
}

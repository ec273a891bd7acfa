#include "work.h"

#include "clock.h"
#include "reap.h"
#include "say.h"
#include "status.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_HOLD_GRACE_MS = 5000 };

static void on_suspended(int64_t left_ms, void *user) {
    cmd_work *w = user;
    const char *what = w->keeper->settings->on_suspend;
    cmd_lease_tell(&w->lease, "suspended");
    if (w->gone || w->told)
        what = NULL;
    if (what && strcmp(what, "stop") == 0 && !w->ending) {
        w->stopped = true;
        cmd_guard_order(&w->guard, CMD_FORWARD, SIGSTOP);
        cmd_say("the connection is lost: the command is stopped until it is back (--on-suspend=stop)");
    } else if (what && strcmp(what, "term") == 0) {
        w->lost = w->told = true;
        cmd_guard_order(&w->guard, CMD_END, (int)left_ms);
        cmd_error("the lock %s is given up, since the connection is lost (--on-suspend=term): TERM sent",
                  w->keeper->path);
    } else {
        cmd_tell("the connection is lost; the lock is ours for %" G_GINT64_FORMAT " ms", (gint64)left_ms);
    }
}

static void on_session(void *user) {
    const cmd_work *w = user;
    cmd_guard_tell_secret(&w->guard, w->keeper->session);
}

static void on_restored(void *user) {
    cmd_work *w = user;
    if (w->stopped)
        cmd_guard_order(&w->guard, CMD_FORWARD, SIGCONT);
    if (w->stopped && !w->lost)
        cmd_say("the connection is back, and the lock is still ours: the command goes on");
    else
        cmd_tell("the connection is back, and the lock is still ours");
    w->stopped = false;
}

/* Add a variable: "PADDOCK_TOKEN", or "PADDOCK_TOKEN_2" for the second of several. */
static void add(cmd_message *order, size_t *used, const char *name, size_t number, const char *value) {
    g_autofree char *numbered = number ? g_strdup_printf("%s_%zu", name, number) : NULL;
    cmd_guard_add(order, used, numbered ? numbered : name, value);
}

static void add_part(cmd_message *order, size_t *used, const cmd_keeper *k, size_t index, size_t number) {
    const pdk_hold *part = cmd_keeper_part(k, index);
    char token[32], handover[16];
    snprintf(token, sizeof token, "%" G_GINT64_FORMAT, (gint64)pdk_hold_token(part));
    snprintf(handover, sizeof handover, "%u", pdk_hold_handover(part));
    add(order, used, "PADDOCK_PATH", number, cmd_keeper_part_path(k, index));
    add(order, used, "PADDOCK_ZNODE", number, pdk_hold_node(part));
    add(order, used, "PADDOCK_TOKEN", number, token);
    add(order, used, "PADDOCK_TOKEN_PADDED", number, pdk_hold_token_text(part));
    add(order, used, "PADDOCK_HANDOVER", number, handover);
    add(order, used, "PADDOCK_SEQUENCER", number, pdk_hold_sequencer(part));
}

/* Order the start. The first path has variables without a number; of several paths each has its own number, from 1.
 * false: the guardian is dead. */
static bool order_start(cmd_work *w, int index) {
    static cmd_message order;
    const cmd_keeper *k = w->keeper;
    size_t used = 0, parts = cmd_keeper_parts(k);
    char count[16], session[32];
    for (size_t i = 0; parts > 1 && i < parts; i++) {
        size_t filled = 0;
        order = (cmd_message){.kind = CMD_SET};
        add_part(&order, &filled, k, i, i + 1);
        if (!cmd_guard_send(&w->guard, &order))
            return false;
    }
    snprintf(count, sizeof count, "%zu", parts);
    snprintf(session, sizeof session, "0x%" G_GINT64_MODIFIER "x", (guint64)pdk_session_id(k->session));
    order = (cmd_message){.kind = CMD_START, .number = index};
    add_part(&order, &used, k, 0, 0);
    cmd_guard_add(&order, &used, "PADDOCK_SESSION", session);
    cmd_guard_add(&order, &used, "PADDOCK_COUNT", count);
    return cmd_guard_send(&w->guard, &order);
}

/* Why the lock is lost, or will be: at the TERM the hold still stands, and ends with its lease, or with --at-most. */
static const char *why_lost(const cmd_work *w) {
    enum { NEAR_MS = 2000 };
    const cmd_keeper *k = w->keeper;
    if (!cmd_keeper_is_valid(k))
        return cmd_keeper_why_lost(k);
    return pdk_reason_name(k->until && w->lease.end >= k->until - NEAR_MS ? PDK_REASON_OVERDUE : PDK_REASON_LEASE);
}

/* Says once that the lock is lost, and what is done about that. */
static void tell_loss(cmd_work *w, const char *done) {
    if (!w->told)
        cmd_error("the lock %s is lost (%s): %s", w->keeper->path, why_lost(w), done);
    w->told = true;
}

/* Says once that KILL was needed. Without words of the loss before, it stands in them. */
static void tell_kill(cmd_work *w) {
    if (w->told && !w->told_kill)
        cmd_error("the command has not ended on its TERM: KILL sent");
    tell_loss(w, "KILL sent");
    w->told_kill = true;
}

/* Nothing of the command is left. Its own status means that the lock was valid until then. */
static void end(cmd_work *w, int status) {
    w->status = status;
    w->gone = true;
    w->lost = w->lost || !cmd_keeper_is_valid(w->keeper);
    if (!w->lost)
        return;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        tell_kill(w);
    tell_loss(w, "nothing of the command is left");
    cmd_lease_tell(&w->lease, "nothing of the command is left");
}

/* ---- a command that stands still */

static const char no_stop[] = "Ctrl-Z is refused: the command holds %s, and others would wait for it; Ctrl-C ends it";

static void tell_stopped(const cmd_work *w, int number) {
    if (w->stopped)
        cmd_tell("the command stands still until the connection is back; it holds %s", w->keeper->path);
    else if (number == SIGTTIN || number == SIGTTOU)
        cmd_error("the command wants the terminal, and stands still until it is in the foreground (fg); it holds %s",
                  w->keeper->path);
    else
        cmd_error("the command is stopped, and holds %s: kill -CONT %d continues it", w->keeper->path, getpid());
}

/* Pass on a signal. Ctrl-Z comes to our own group when the command is in the background, or stands still. It goes on
 * then, in the foreground. */
static void pass_on(cmd_work *w, int number) {
    if (number == SIGTSTP && w->keeper->by_terminal) {
        cmd_error(no_stop, w->keeper->path);
        number = w->stopped ? 0 : SIGCONT;
    }
    if (number == SIGTERM || number == SIGINT || number == SIGQUIT)
        w->terminated_by = number;
    if (number)
        cmd_guard_order(&w->guard, CMD_FORWARD, number);
}

/* false: the guardian is dead. */
static bool hear(cmd_work *w) {
    cmd_message news;
    if (!cmd_guard_news(&w->guard, &news))
        return false;
    switch (news.kind) {
    case CMD_STARTED:
        w->group = news.number;
        cmd_tell("the command runs as process %d", news.number);
        break;
    case CMD_REFUSED:
        w->refused = news.number;
        w->gone = true;
        break;
    case CMD_STOPPED:
        tell_stopped(w, news.number);
        break;
    case CMD_WENT_ON:
        cmd_error(no_stop, w->keeper->path);
        break;
    case CMD_STRANGER:
        cmd_error(
            "process %d of the command belongs to another user, and cannot be ended: a command that has to be ended is "
            "one that paddock's own user may signal; start paddock as that user",
            news.number);
        break;
    case CMD_UNKILLABLE:
        w->unkillable = news.number;
        cmd_error("process %d of the command belongs to another user, and cannot be killed; the lock %s is kept until "
                  "it ends, "
                  "or the lease is over",
                  news.number, w->keeper->path);
        break;
    case CMD_TERMED:
        w->lost = true;
        tell_loss(w, "TERM sent");
        cmd_lease_tell(&w->lease, "TERM is sent");
        break;
    case CMD_LATE:
        w->lost = true;
        tell_loss(w, "the command is not started");
        break;
    case CMD_ENDED:
        w->ending = true;
        cmd_tell("the command has ended; what it left behind is ended now");
        break;
    default:
        end(w, news.number);
        break;
    }
    return true;
}

/* The lock is not ours any more, and something of its command runs on. */
static int give_up(const cmd_work *w) {
    cmd_error("the lock %s is over (%s), and process %d of its command runs on: it may run beside that of the next "
              "holder; end it "
              "as its own user",
              w->keeper->path, cmd_keeper_why_lost(w->keeper), w->unkillable);
    return CMD_OUT_OF_REACH;
}

/* Somebody killed the guardian: the command and all below it are ours now. */
static int without_guardian(cmd_work *w) {
    cmd_family family;
    int stopped = 0;
    cmd_family_adopt(&family, w->group);
    cmd_error("the guardian of the command was killed; the command is killed, too, before the release");
    do {
        w->unkillable = cmd_family_signal_all(&family, SIGKILL);
        if (w->unkillable && !cmd_keeper_is_valid(w->keeper))
            return give_up(w);
        (void)poll(NULL, 0, 1);
    } while (cmd_family_reap(&family, &stopped));
    cmd_family_end(&family);
    return CMD_SOFTWARE;
}

/* The loss itself is heard of once. A command that has got TERM before has outlived it. */
static void handle_loss(cmd_work *w) {
    cmd_guard_order(&w->guard, CMD_KILL, 0);
    w->lost = true;
    tell_kill(w);
}

static void handle_time(cmd_work *w) {
    if (w->too_long || cmd_now_ms() < w->deadline)
        return;
    w->too_long = w->ending = true;
    cmd_error("--max-hold is over: TERM sent");
    cmd_guard_order(&w->guard, CMD_END, MAX_HOLD_GRACE_MS);
}

/* Handle a wish: the command gets TERM, and no KILL; and CONT, since a stopped one could not end. */
static void handle_ask(cmd_work *w) {
    if (w->asked || !w->keeper->asked || w->gone)
        return;
    w->asked = true;
    cmd_guard_order(&w->guard, CMD_FORWARD, SIGTERM);
    cmd_guard_order(&w->guard, CMD_FORWARD, SIGCONT);
}

/* Attend until nothing of the command is left. 0, or an exit status. */
static int attend(cmd_work *w) {
    struct pollfd news = {.fd = w->guard.channel, .events = POLLIN};
    while (!w->gone) {
        int number = 0;
        handle_ask(w);
        int64_t next = cmd_lease_publish(&w->lease, w->keeper, w->guard.moments);
        int64_t left = w->deadline - cmd_now_ms();
        if (!w->too_long && left < next)
            next = left < 0 ? 0 : left;
        unsigned saw = cmd_keeper_wait(w->keeper, &news, 1, next, &number);
        if (saw & CMD_SAW_OTHER && !hear(w))
            return without_guardian(w);
        if (saw & CMD_SAW_SIGNAL)
            pass_on(w, number);
        if (saw & CMD_SAW_LOSS && !w->gone)
            handle_loss(w);
        /* A process that has ended since is no reason: the guardian tells the next one, or that nothing is left. */
        if (w->unkillable && !w->gone && !cmd_keeper_is_valid(w->keeper) && cmd_is_out_of_reach(w->unkillable))
            return give_up(w);
        handle_time(w);
    }
    return CMD_OK;
}

/* Warn of a command that we could not end. Root may signal everybody, and a kernel that is told so gives no other
 * user's rights. */
static void warn(char **command) {
    struct stat file;
    g_autofree char *path = g_find_program_in_path(command[0]);
    if (!cmd_sees_children())
        cmd_error("there is no /proc here: what the command leaves behind in another session is looked for number by "
                  "number, and may "
                  "live for seconds longer than the rest");
    if (path && geteuid() != 0 && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 && stat(path, &file) == 0 &&
        file.st_mode & S_ISUID && file.st_uid != geteuid())
        cmd_error("%s becomes another user (%u), whose processes paddock cannot end when the lock is lost; start "
                  "paddock as that "
                  "user",
                  path, file.st_uid);
}

int cmd_work_open(cmd_work *w, cmd_keeper *keeper, char **const *commands) {
    warn(commands[0]);
    w->keeper = keeper;
    keeper->on_suspended = on_suspended;
    keeper->on_restored = on_restored;
    keeper->on_session = on_session;
    keeper->user = w;
    w->gone = true;
    if (!cmd_keeper_signals(keeper)) {
        cmd_error("signals: %s", g_strerror(errno));
        return CMD_SOFTWARE;
    }
    (void)cmd_reap_all_orphans(); /* where the guardian is killed */
    if (cmd_guard_start(&w->guard, commands, false)) {
        cmd_error("no process for the guardian: %s", g_strerror(errno));
        return CMD_SOFTWARE;
    }
    return CMD_OK;
}

int cmd_work_run(cmd_work *w, int index) {
    int64_t most = w->keeper->settings->max_hold_ms;
    w->group = 0;
    w->gone = w->lost = w->told = w->told_kill = w->ending = w->too_long = w->asked = w->stopped = false;
    w->refused = w->status = w->terminated_by = w->unkillable = 0;
    w->deadline = most >= 0 ? cmd_now_ms() + most : INT64_MAX;
    /* The moments of another hold are over. */
    atomic_store(&w->guard.moments->term_at, INT64_MAX);
    atomic_store(&w->guard.moments->kill_at, INT64_MAX);
    atomic_store(&w->guard.moments->over, false);
    cmd_lease_begin(&w->lease, w->keeper->session, w->keeper->settings->timing);
    (void)cmd_lease_publish(&w->lease, w->keeper, w->guard.moments);
    cmd_lease_tell(&w->lease, "granted");
    if (w->lease.end == 0) { /* we were asleep since the grant */
        w->gone = w->lost = true;
        tell_loss(w, "the command is not started");
        return CMD_OK;
    }
    return order_start(w, index) ? attend(w) : without_guardian(w);
}

void cmd_work_end(cmd_work *w, int kill_after_ms) {
    if (w->gone)
        return;
    w->ending = true;
    cmd_guard_order(&w->guard, CMD_END, kill_after_ms);
}

int cmd_work_status(const cmd_work *w, const char *name) {
    if (w->refused) {
        cmd_error("%s: %s", name, g_strerror(w->refused));
        return w->refused == ENOENT ? CMD_NOT_FOUND : CMD_CANNOT_EXECUTE;
    }
    if (w->lost)
        return CMD_LOST;
    if (w->too_long)
        return CMD_TOO_LONG;
    return WIFSIGNALED(w->status) ? CMD_SIGNAL + WTERMSIG(w->status) : WEXITSTATUS(w->status);
}

void cmd_work_dismiss(cmd_work *w) { cmd_guard_dismiss(&w->guard); }
void cmd_work_close(cmd_work *w) { cmd_guard_stop(&w->guard); }

#include "keeper.h"

#include "chroot.h"
#include "clock.h"
#include "others.h"
#include "print.h"
#include "say.h"
#include "signals.h"
#include "status.h"
#include "unanswered.h"
#include "waiting.h"
#include "words.h"
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { CLOSE_MS = 5000, LOST_MS = 1000, OUTSIDE_MS = 10000, SET_MS = 1000 };

static void fill_with_ours(sigset_t *set) {
    static const int ours[] = {SIGTERM,  SIGINT,  SIGHUP,  SIGQUIT, SIGUSR1, SIGUSR2,
                               SIGWINCH, SIGTSTP, SIGCONT, SIGTTIN, SIGTTOU};
    sigemptyset(set);
    for (size_t i = 0; i < G_N_ELEMENTS(ours); i++)
        if (!cmd_signal_is_ignored(ours[i])) /* a descriptor would bring them all the same */
            sigaddset(set, ours[i]);
}

bool cmd_keeper_signals(cmd_keeper *k) {
    sigset_t set, read;
    fill_with_ours(&set);
    read = set;
    sigdelset(&read, SIGTTIN);
    sigdelset(&read, SIGTTOU);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    k->signals = -1;
    if (pthread_sigmask(SIG_BLOCK, &set, NULL))
        return false;
    k->signals = signalfd(-1, &read, SFD_CLOEXEC | SFD_NONBLOCK);
    return k->signals >= 0;
}

static void on_event(pdk_session_event event, int64_t left_ms, void *user) {
    cmd_keeper *k = user;
    bool another = event == PDK_SESSION_CONNECTED || event == PDK_SESSION_REOPENED;
    k->away = event == PDK_SESSION_SUSPENDED || event == PDK_SESSION_EXPIRED;
    k->ended = event == PDK_SESSION_CLOSED;
    if (event == PDK_SESSION_EXPIRED) /* and our node with it: there will be another one */
        k->looked = false;
    if (event == PDK_SESSION_CONNECTED) {
        k->connected = true;
        if (k->looks_outside)
            cmd_keeper_look_outside(k);
    }
    if ((another || event == PDK_SESSION_RESTORED) && k->on_session) /* restored: the servers may have moved */
        k->on_session(k->user);
    if (event == PDK_SESSION_SUSPENDED && k->on_suspended && cmd_keeper_holds(k))
        k->on_suspended(left_ms, k->user);
    else if (event == PDK_SESSION_RESTORED && k->on_restored && cmd_keeper_holds(k))
        k->on_restored(k->user);
}

static void on_acquired(pdk_status status, pdk_hold *hold, void *user) {
    cmd_keeper *k = user;
    k->decided = true;
    k->status = status;
    k->hold = hold;
}

static void on_set_acquired(pdk_status status, pdk_set *set, void *user) {
    cmd_keeper *k = user;
    k->decided = true;
    k->status = status;
    k->set = set;
}

bool cmd_keeper_holds(const cmd_keeper *k) { return k->hold || k->set; }

bool cmd_keeper_is_valid(const cmd_keeper *k) { return k->set ? pdk_set_is_valid(k->set) : pdk_hold_is_valid(k->hold); }

int64_t cmd_keeper_remaining_ms(const cmd_keeper *k) {
    return k->set ? pdk_set_remaining_ms(k->set) : pdk_hold_remaining_ms(k->hold);
}

const char *cmd_keeper_why_lost(const cmd_keeper *k) {
    return pdk_reason_name(k->set ? pdk_set_reason(k->set) : pdk_hold_reason(k->hold));
}

static int loss_fd(const cmd_keeper *k) { return k->set ? pdk_set_fd(k->set) : pdk_hold_fd(k->hold); }

/* ---- a hold around this program */

static void on_outside(pdk_status status, void *user) {
    cmd_keeper *k = user;
    k->inside = k->inside || status == PDK_OK;
}

/* Does the node stand in the queue of one of our paths? It is named with the chroot. */
static bool is_of_our_paths(const cmd_keeper *k, const char *node) {
    const char *chroot = strchr(k->settings->servers, '/'), *name = strrchr(node, '/');
    bool found = false;
    for (size_t i = 0; name && i < cmd_keeper_parts(k) && !found; i++) {
        g_autofree char *path = g_strconcat(chroot && chroot[1] ? chroot : "", cmd_keeper_part_path(k, i), NULL);
        found = strlen(path) == (size_t)(name - node) && strncmp(path, node, strlen(path)) == 0;
    }
    return found;
}

/* A sequencer proves that the hold stands, and in which ensemble. A permit's sequencer proves nothing, since other
 * permits may come free. */
void cmd_keeper_look_outside(cmd_keeper *k) {
    k->looks_outside = !k->connected; /* the time that the servers have begins when one has answered */
    if (k->looks_outside)
        return;
    for (int i = 0; i <= PDK_SET_RIGHTS_MAX && !k->settings->permits; i++) {
        g_autofree char *number = i ? g_strdup_printf("_%d", i) : g_strdup("");
        g_autofree char *node_name = g_strconcat("PADDOCK_ZNODE", number, NULL);
        g_autofree char *sequencer_name = g_strconcat("PADDOCK_SEQUENCER", number, NULL);
        const char *node = g_getenv(node_name), *sequencer = g_getenv(sequencer_name);
        if (node && sequencer && is_of_our_paths(k, node))
            (void)pdk_session_check_sequencer_async(k->session, sequencer, OUTSIDE_MS, on_outside, k);
    }
}

int cmd_keeper_waits_for_itself(const cmd_keeper *k) {
    cmd_error("%s: the paddock that runs this command holds it, and waits for the command: take it in one of the two",
              k->path);
    return CMD_USAGE;
}

static void on_queued(pdk_claim *claim, int32_t ahead, void *user) {
    cmd_keeper *k = user;
    (void)claim;
    if (ahead > 0)
        cmd_keeper_look_outside(k);
    cmd_others_look_ahead(k);
    if (k->speaks && ahead > 0)
        cmd_say("waiting for %s, %d ahead", k->path, ahead);
    else
        cmd_tell("queued at %s, %d ahead", k->path, ahead);
}

static void on_asked(pdk_hold *hold, const char *who, int64_t until_ms, void *user) {
    cmd_keeper *k = user;
    g_autofree char *until = cmd_when(until_ms);
    (void)hold;
    k->asked = true;
    cmd_error("%s asks for %s%s%s: we let go", *who ? who : "somebody", k->path, until_ms ? ", until " : "",
              until_ms ? until : "");
}

void cmd_keeper_listen(cmd_keeper *k) {
    k->asked = false;
    if (g_strcmp0(k->settings->on_ask, "term") == 0)
        (void)pdk_hold_on_request(k->hold, on_asked, k, NULL);
}

static pdk_status claim(cmd_keeper *k) {
    k->recipes = g_new0(cmd_recipe, k->count);
    for (size_t i = 0; i < k->count; i++) {
        pdk_status status = cmd_recipe_open(&k->recipes[i], k->session, k->settings, k->paths[i]);
        if (status)
            return status;
    }
    if (k->count > 1)
        return cmd_recipes_claim(k->recipes, k->count, k->settings, on_set_acquired, k, &k->set_claim);
    return cmd_recipe_claim(k->recipes, k->settings, on_acquired, k, &k->claim);
}

bool cmd_keeper_paths(cmd_keeper *k, char *const *paths, size_t count) {
    k->paths = paths;
    k->count = count;
    k->path = k->words = g_strjoinv(", ", (char **)paths);
    if (count > 1 && g_strcmp0(k->settings->on_ask, "term") == 0) {
        cmd_error("--on-ask=term: one path alone can be heard, and here are %zu", count);
        return false;
    }
    return true;
}

size_t cmd_keeper_parts(const cmd_keeper *k) { return k->count > 1 ? k->count : 1; }

const pdk_hold *cmd_keeper_part(const cmd_keeper *k, size_t index) {
    return k->set ? pdk_set_part(k->set, (int32_t)index) : k->hold;
}

const char *cmd_keeper_part_path(const cmd_keeper *k, size_t index) { return k->count > 1 ? k->paths[index] : k->path; }

unsigned cmd_keeper_wait(cmd_keeper *k, struct pollfd *others, size_t count, int64_t timeout_ms, int *number) {
    enum { OURS = 3 };
    int loss = cmd_keeper_holds(k) && !k->loss_seen ? loss_fd(k) : -1;
    struct pollfd wait[OURS + CMD_OTHERS + G_N_ELEMENTS(k->extra)] = {
        {.fd = k->signals, .events = POLLIN},
        {.fd = loss, .events = POLLIN},
        {.fd = pdk_session_fd(k->session), .events = POLLIN}};
    struct signalfd_siginfo info;
    unsigned saw = CMD_SAW_NOTHING;
    int timeout = timeout_ms < 0 || timeout_ms > 60000 ? 60000 : (int)timeout_ms;
    if (k->tick)
        timeout = (int)CLAMP(k->wake_at - cmd_now_ms(), 0, timeout);
    for (size_t i = 0; i < count; i++)
        wait[OURS + i] = others[i];
    for (size_t i = 0; i < k->extras; i++)
        wait[OURS + count + i] = k->extra[i];
    if (poll(wait, OURS + count + k->extras, timeout) < 0)
        return saw;
    if (wait[2].revents)
        (void)pdk_session_dispatch(k->session, NULL);
    if (wait[0].revents && read(k->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        *number = (int)info.ssi_signo;
        k->by_terminal = info.ssi_code == SI_KERNEL;
        saw |= CMD_SAW_SIGNAL;
    }
    if (wait[1].revents) {
        saw |= CMD_SAW_LOSS;
        k->loss_seen = true;
    }
    for (size_t i = 0; i < count; i++) {
        others[i].revents = wait[OURS + i].revents;
        if (others[i].revents)
            saw |= CMD_SAW_OTHER;
    }
    for (size_t i = 0; i < k->extras; i++)
        k->extra[i].revents = wait[OURS + count + i].revents;
    if (k->tick)
        k->tick(k->tick_user);
    return saw;
}

static bool ends_the_wait(int number) {
    return number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGQUIT || number == SIGUSR1 ||
           number == SIGUSR2;
}

/* Stops like any program: the shell shows it, and its queue position is kept as long as the session is. The system stops
 * nobody whom no shell could continue. Then no CONT has come. */
static void stop_here(int number) {
    sigset_t mask, old, pending;
    cmd_draw(NULL);
    sigemptyset(&pending);
    sigemptyset(&mask);
    sigaddset(&mask, number);
    kill(getpid(), number);
    pthread_sigmask(SIG_UNBLOCK, &mask, &old);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (sigpending(&pending) == 0 && !sigismember(&pending, SIGCONT))
        cmd_error("Ctrl-Z is refused: no shell is there that could continue what is stopped; Ctrl-C ends the wait");
}

int cmd_keeper_obey(int number) {
    if (number == SIGTSTP)
        stop_here(number);
    if (!ends_the_wait(number))
        return CMD_OK;
    cmd_tell("signal %d ends the wait", number);
    return CMD_SIGNAL + number;
}

int cmd_keeper_gives_up(const cmd_keeper *k, int64_t since) {
    if (k->ended)
        return cmd_say_denied(k->settings->servers);
    bool over = cmd_now_ms() >= since + k->settings->connect_timeout_ms || cmd_is_useless(k->trouble);
    return k->connected || !over ? CMD_OK : cmd_say_unanswered(k->settings->servers, k->trouble);
}

/* A set that is not decided soon has to wait. true: it is said. */
static bool tell_set(const cmd_keeper *k, int64_t since) {
    if (cmd_now_ms() < since + SET_MS)
        return false;
    cmd_say("waiting for %s", k->path);
    return true;
}

/* Wait until the claim is decided. 0, or the status with which the program ends before. */
static int await_claim(cmd_keeper *k) {
    int64_t since = cmd_now_ms();
    bool says = k->speaks && k->set_claim; /* nobody tells that a set has to wait */
    while (!k->decided) {
        int number = 0;
        says = says && !tell_set(k, since);
        int64_t left = k->connected ? 60000 : since + k->settings->connect_timeout_ms - cmd_now_ms();
        left = MIN(left, cmd_waiting_go_on(k->waiting));
        left = says ? MIN(left, SET_MS) : left;
        unsigned saw = cmd_keeper_wait(k, NULL, 0, left < 0 ? 0 : left, &number);
        int status = saw & CMD_SAW_SIGNAL ? cmd_keeper_obey(number) : CMD_OK;
        if (status)
            return status;
        if (k->inside && !k->decided)
            return cmd_keeper_waits_for_itself(k);
        int gave_up = k->decided ? CMD_OK : cmd_keeper_gives_up(k, since);
        if (gave_up)
            return gave_up;
    }
    return CMD_OK;
}

/* The look reads no signals, and may take as long as a connection. So a signal does to the program what it does to any
 * other: nothing is held yet, and no command runs. */
static int look_for_chroot(const cmd_keeper *k) {
    sigset_t ours, before;
    if (!k->settings->no_create)
        return CMD_OK;
    fill_with_ours(&ours);
    pthread_sigmask(SIG_UNBLOCK, &ours, &before);
    int refused = cmd_chroot_refuse_missing(k->settings);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return refused;
}

int cmd_keeper_open(cmd_keeper *k) {
    int refused = look_for_chroot(k);
    if (refused)
        return refused;
    pdk_session_options options = cmd_settings_session(k->settings);
    options.dispatch = PDK_DISPATCH_MANUAL;
    options.open_in_background = 1;
    options.on_event = on_event;
    options.on_event_user = k;
    options.on_log_user = &k->trouble;
    pdk_status status = pdk_session_open(k->settings->servers, &options, &k->session);
    return cmd_explain(NULL, status);
}

static void tell_taken(const cmd_keeper *k) {
    const char *who = cmd_waiting_holder(k->waiting);
    const char *late = k->settings->wait_ms > 0 ? " in time" : "";
    g_autofree char *words = who && *who ? g_strdup_printf("%s is not free%s: held by %s", k->path, late, who)
                                         : g_strdup_printf("%s is not free%s", k->path, late);
    cmd_answer("%s", words);
}

/* The claim is decided, and nothing is held: says why. The result. */
static int tell_refused(const cmd_keeper *k) {
    int result = cmd_status(k->status);
    if (result == CMD_TAKEN)
        tell_taken(k);
    else if (k->status == PDK_UNAVAILABLE && !k->connected) /* -w, or -n, is over before --connect-timeout */
        return cmd_say_unanswered(k->settings->servers, k->trouble);
    else
        return cmd_explain(k->count > 1 ? NULL : k->path, k->status); /* of several the words name one */
    return result;
}

/* Several locks have a line each. */
static void tell_held(const cmd_keeper *k) {
    for (size_t i = 0; i < cmd_keeper_parts(k); i++) {
        const pdk_hold *part = cmd_keeper_part(k, i);
        g_autofree char *token = g_strdup_printf("token %" G_GINT64_FORMAT, (gint64)pdk_hold_token(part));
        if (k->speaks)
            cmd_say("holding %s, %s", cmd_keeper_part_path(k, i), token);
        else
            cmd_tell("holding %s, %s", pdk_hold_node(part), token);
    }
}

/* Claims, and waits for the result. 0, or the status with which the program ends before. */
static int wait_for_claim(cmd_keeper *k) {
    pdk_status status = claim(k);
    if (status)
        return cmd_explain(NULL, status);
    k->waiting = cmd_waiting_begin(k);
    bool tells = k->claim && pdk_claim_on_queued(k->claim, on_queued, k) == PDK_OK;
    if (!tells && !k->settings->shared) /* nobody tells that a set has to wait */
        cmd_keeper_look_outside(k);
    int early = await_claim(k);
    cmd_waiting_end(k->waiting);
    return early;
}

int cmd_keeper_acquire(cmd_keeper *k) {
    int early = cmd_keeper_open(k);
    if (early == CMD_OK)
        early = wait_for_claim(k);
    if (early)
        return early;
    if (k->status)
        return tell_refused(k);
    early = cmd_others_refuse(k);
    if (early)
        return early;
    if (!cmd_keeper_is_valid(k)) { /* the look takes seconds, where servers are silent */
        cmd_error("the lock %s is lost (%s) before anything could start", k->path, cmd_keeper_why_lost(k));
        return CMD_LOST;
    }
    tell_held(k);
    cmd_keeper_listen(k);
    return CMD_OK;
}

void cmd_keeper_close(cmd_keeper *k) {
    if (k->session) {
        /* A lost hold goes with the session, even if no server hears of the release. */
        int32_t timeout_ms = pdk_session_timeout_ms(k->session); /* 0: never connected */
        int64_t patience = cmd_keeper_holds(k) && !cmd_keeper_is_valid(k) ? LOST_MS : CLOSE_MS;
        if (k->claim && !k->decided)
            (void)pdk_claim_cancel(k->claim);
        if (k->set_claim && !k->decided)
            (void)pdk_set_claim_cancel(k->set_claim);
        if (k->hold)
            (void)pdk_hold_release(k->hold);
        if (k->set)
            (void)pdk_set_release(k->set);
        /* A claim that is granted just now brings its hold here. */
        (void)pdk_session_dispatch(k->session, NULL);
        if (pdk_session_close(k->session, patience) != PDK_OK && timeout_ms)
            cmd_error("the servers did not confirm the release of %s; they remove the node when the session expires, "
                      "after %d s or so",
                      k->path, (timeout_ms + 999) / 1000);
        pdk_claim_unref(k->claim);
        pdk_set_claim_unref(k->set_claim);
        for (size_t i = 0; k->recipes && i < k->count; i++)
            cmd_recipe_close(&k->recipes[i]);
        pdk_session_unref(k->session);
    }
    cmd_waiting_free(k->waiting);
    if (k->signals >= 0)
        close(k->signals);
    g_free(k->recipes);
    g_free(k->trouble);
    g_free(k->others);
    g_free(k->words);
}

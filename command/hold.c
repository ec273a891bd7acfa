/* paddock hold: a lock without a command, for units of systemd, and for scripts that keep a descriptor. */
#include "clock.h"
#include "guard.h"
#include "keeper.h"
#include "notify.h"
#include "say.h"
#include "status.h"
#include "verbs.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

typedef struct {
    cmd_keeper keeper;
    cmd_guard guard;
    cmd_notify notify;
    int ready_fd; /* G_MININT: none was given */
    gboolean wants_notify, until_eof;
    GString *ready;  /* the words that its reader has still to get */
    const char *why; /* it releases */
} holder;

/* Make the line, or with several paths one line for each. The reader gets them in `keep`, which waits for a pipe that
 * is full. */
static void tell_ready(holder *h) {
    const pdk_hold *held = cmd_keeper_part(&h->keeper, 0);
    g_autofree char *path = cmd_escape(h->keeper.path);
    g_autofree char *lines =
        g_strdup_printf("READY=1\nSTATUS=holding %s, token %" G_GINT64_FORMAT, path, (gint64)pdk_hold_token(held));
    for (size_t i = 0; i < cmd_keeper_parts(&h->keeper); i++)
        g_string_append_printf(h->ready, "%s\n", pdk_hold_sequencer(cmd_keeper_part(&h->keeper, i)));
    cmd_notify_send(&h->notify, lines);
    if (h->ready_fd < 0)
        g_string_truncate(h->ready, 0);
}

/* Give the reader some of its words, as far as it does not make us wait. CMD_OK also when the reader has gone: *gone
 * tells. */
static int go_on_telling(holder *h, short saw, bool *gone) {
    size_t size = MIN(h->ready->len, PIPE_BUF);
    if (saw & POLLOUT && size > 0) {
        ssize_t wrote = cmd_write_now(h->ready_fd, h->ready->str, size);
        if (wrote > 0)
            g_string_erase(h->ready, 0, wrote);
        else if (wrote < 0 && errno != EAGAIN && errno != EINTR && errno != EPIPE) {
            cmd_error("--ready-fd %d: %s; the lock is released", h->ready_fd, g_strerror(errno));
            return CMD_SOFTWARE;
        } else if (wrote < 0 && errno == EPIPE)
            *gone = true;
    }
    *gone = *gone || saw & (POLLERR | POLLHUP | POLLNVAL);
    return CMD_OK;
}

/* Has standard input ended? All that comes before its end is ignored. */
static bool input_ended(const struct pollfd *input) {
    char ignored[256];
    return input->revents && read(input->fd, ignored, sizeof ignored) <= 0;
}

static int let_go(holder *h, const char *why) {
    h->why = why;
    return CMD_OK;
}

static const char no_stop[] =
    "Ctrl-Z is refused: %s is held, and a program that stands still cannot keep it; Ctrl-C releases it";

/* Why a signal releases the lock, or NULL: it does not. */
static const char *why_signal(const holder *h, int number) {
    if (number == SIGTSTP)
        cmd_error(no_stop, h->keeper.path);
    return number == SIGTERM ? "TERM" : number == SIGINT ? "INT" : number == SIGHUP ? "HUP" : NULL;
}

/* The exit status. */
static int keep(holder *h) {
    struct pollfd others[] = {{.fd = h->ready_fd}, {.fd = h->until_eof ? STDIN_FILENO : -1, .events = POLLIN}};
    int64_t beat = 0;
    for (;;) {
        int number = 0;
        int64_t now = cmd_now_ms();
        others[0].events = h->ready->len ? POLLOUT : 0;
        if (h->notify.watchdog_ms != INT64_MAX && now >= beat && cmd_keeper_is_valid(&h->keeper)) {
            cmd_notify_send(&h->notify, "WATCHDOG=1");
            beat = now + h->notify.watchdog_ms;
        }
        unsigned saw = cmd_keeper_wait(&h->keeper, others, G_N_ELEMENTS(others), beat ? beat - now : -1, &number);
        if (saw & CMD_SAW_LOSS) {
            cmd_error("the lock %s is lost (%s)", h->keeper.path, cmd_keeper_why_lost(&h->keeper));
            return CMD_LOST;
        }
        if (h->keeper.asked)
            return let_go(h, "somebody asks for it");
        const char *why = saw & CMD_SAW_SIGNAL ? why_signal(h, number) : NULL;
        if (why)
            return let_go(h, why);
        bool gone = false;
        int told = saw & CMD_SAW_OTHER ? go_on_telling(h, others[0].revents, &gone) : CMD_OK;
        if (told != CMD_OK)
            return told;
        if (gone)
            return let_go(h, "its reader has gone");
        if (saw & CMD_SAW_OTHER && input_ended(&others[1]))
            return let_go(h, "standard input has ended");
    }
}

static void on_suspended(int64_t left_ms, void *user) {
    (void)user;
    cmd_say("the connection is lost; the lock is ours for %" G_GINT64_FORMAT " ms", (gint64)left_ms);
}

static void on_restored(void *user) {
    (void)user;
    cmd_say("the connection is back, and the lock is still ours");
}

static void on_session(void *user) {
    const holder *h = user;
    cmd_guard_tell_secret(&h->guard, h->keeper.session);
}

/* Start a guardian, where it can know that nobody works under the lock. CMD_OK, or the exit status. */
static int start_guardian(holder *h) {
    if (h->ready_fd < 0 && !h->until_eof)
        return CMD_OK;
    if (cmd_guard_start_for_hold(&h->guard, h->ready_fd, h->until_eof ? STDIN_FILENO : -1)) {
        cmd_error("no process for the guardian: %s", g_strerror(errno));
        return CMD_SOFTWARE;
    }
    h->keeper.on_session = on_session;
    h->keeper.user = h;
    return CMD_OK;
}

static int hold(holder *h) {
    if (h->ready_fd != G_MININT && fcntl(h->ready_fd, F_GETFD) < 0) {
        cmd_error("--ready-fd %d: %s; open it for paddock, as in 3>file", h->ready_fd, g_strerror(errno));
        return CMD_USAGE;
    }
    if (h->wants_notify && !cmd_notify_open(&h->notify))
        return CMD_USAGE;
    if (!cmd_keeper_signals(&h->keeper)) {
        cmd_error("signals: %s", g_strerror(errno));
        return CMD_SOFTWARE;
    }
    cmd_notify_send(&h->notify, "STATUS=waiting for the lock");
    int status = start_guardian(h);
    if (status == CMD_OK)
        status = cmd_keeper_acquire(&h->keeper);
    if (status == CMD_OK) {
        tell_ready(h);
        status = keep(h);
        if (h->why)
            cmd_say("releasing %s: %s", h->keeper.path, h->why);
    }
    /* Tell the reader of a loss before the session is closed, which takes a while without servers. */
    if (h->ready_fd >= 0)
        close(h->ready_fd);
    cmd_guard_dismiss(&h->guard);
    cmd_notify_send(&h->notify, status == CMD_LOST ? "STOPPING=1\nSTATUS=the lock is lost" : "STOPPING=1");
    return status;
}

int cmd_hold(int argc, char **argv) {
    cmd_settings settings;
    holder h = {.keeper = {.signals = -1},
                .notify = {.socket = -1, .watchdog_ms = INT64_MAX},
                .ready_fd = G_MININT,
                .ready = g_string_new(NULL)};
    const GOptionEntry entries[] = {
        {"ready-fd", 0, 0, G_OPTION_ARG_INT, &h.ready_fd, "once held, write the sequencer to it", "N"},
        {"stdin", 0, 0, G_OPTION_ARG_NONE, &h.until_eof, "end when standard input ends", NULL},
        {"notify", 0, 0, G_OPTION_ARG_NONE, &h.wants_notify, "tell systemd: ready, the watchdog, stopping", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    int status = CMD_USAGE;
    cmd_settings_init(&settings);
    if (cmd_settings_parse(&settings, &argc, &argv, "/path…", CMD_OPTIONS_CLAIM | CMD_OPTIONS_DELAY, entries)) {
        h.keeper.settings = &settings;
        h.keeper.speaks = true;
        h.keeper.on_suspended = on_suspended;
        h.keeper.on_restored = on_restored;
        if (argc < 2)
            cmd_error("hold: a path is needed: paddock hold [option…] /path…");
        else if (cmd_keeper_paths(&h.keeper, argv + 1, (size_t)argc - 1))
            status = hold(&h);
        cmd_keeper_close(&h.keeper);
        cmd_guard_stop(&h.guard);
    }
    cmd_notify_close(&h.notify);
    g_string_free(h.ready, TRUE);
    return cmd_settings_end(&settings, status);
}

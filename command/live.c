#include "live.h"

#include "duration.h"
#include "print.h"
#include "say.h"
#include "signals.h"
#include "status.h"
#include "table.h"
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Lines are cut to the width. A character that the terminal takes for wider than we do must not begin another line. */
static const char no_wrap[] = "\033[?7l", wrap[] = "\033[?7h";
static volatile sig_atomic_t on_terminal;
static const int once = (int)(SA_NODEFER | SA_RESETHAND);

static void order(const char *sequence) {
    ssize_t written = on_terminal ? write(STDOUT_FILENO, sequence, sizeof wrap - 1) : 0;
    (void)written;
}

/* End at once: there is no lock here, so nothing has to be closed. */
static void end(int number) {
    (void)number;
    order(wrap);
    _exit(CMD_OK);
}

/* Ctrl-Z: the shell gets its terminal as it was. */
static void stop(int number) {
    const struct sigaction again = {.sa_handler = stop, .sa_flags = once};
    order(wrap);
    (void)raise(number);
    (void)sigaction(number, &again, NULL);
    order(no_wrap);
}

static void handle(int number, void (*handler)(int), int flags) {
    const struct sigaction act = {.sa_handler = handler, .sa_flags = flags};
    if (!cmd_signal_is_ignored(number))
        (void)sigaction(number, &act, NULL);
}

bool cmd_live_can_draw(void) { return isatty(STDOUT_FILENO); }

static bool measure(struct winsize *size) { return ioctl(STDOUT_FILENO, TIOCGWINSZ, size) == 0; }

guint cmd_live_columns(void) {
    struct winsize size;
    return measure(&size) ? size.ws_col : 0;
}

guint cmd_live_rows(void) {
    enum { UNKNOWN = 24, LEAST = 5 };
    struct winsize size;
    guint rows = measure(&size) && size.ws_row > 0 ? size.ws_row : UNKNOWN;
    return MAX(rows, LEAST) - 2;
}

void cmd_live_begin(bool draws) {
    on_terminal = draws;
    handle(SIGTERM, end, 0);
    handle(SIGINT, end, 0);
    handle(SIGHUP, end, 0);
    if (!draws)
        return;
    handle(SIGTSTP, stop, once);
    order(no_wrap);
}

void cmd_live_head(const char *text) {
    g_autofree char *when = cmd_when(g_get_real_time() / 1000);
    g_autofree char *line = g_strdup_printf("%s  %s", when, text);
    g_autofree char *cut = cmd_fit(line, cmd_live_columns());
    printf("\033[H\033[J%s\n", cut);
}

void cmd_live_tell(const char *trouble) {
    g_autofree char *safe = cmd_escape(trouble);
    g_autofree char *cut = cmd_fit(safe, cmd_live_columns());
    printf("%s\n", cut);
}

void cmd_live_sleep(int64_t ms) { g_usleep((gulong)ms * 1000); }

bool cmd_live_every(const char *text, int64_t *ms) { return cmd_duration("--every", text, 50, 3600000, ms); }

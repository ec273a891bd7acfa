/* paddock watch: a queue as it changes. On a terminal it is drawn again and again, elsewhere each state is a line of
 * JSON.
 *
 *     look ──► changed? ──► print ──► sleep --every ──► look …        TERM, INT, HUP end it, with 0
 *
 * It looks again and again, and stands in no queue. A contender that comes and goes between two looks is not seen.
 */
#include "duration.h"
#include "looker.h"
#include "print.h"
#include "queue.h"
#include "say.h"
#include "signals.h"
#include "status.h"
#include "verbs.h"
#include "words.h"
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char no_wrap[] = "\033[?7l", wrap[] = "\033[?7h";
static volatile sig_atomic_t on_terminal;

/* End at once: there is no lock here, so nothing has to be closed. */
static void end(int number) {
    (void)number;
    if (on_terminal) {
        ssize_t written = write(STDOUT_FILENO, wrap, sizeof wrap - 1);
        (void)written;
    }
    _exit(CMD_OK);
}

static void end_on_signals(void) {
    static const int ours[] = {SIGTERM, SIGINT, SIGHUP};
    struct sigaction act = {.sa_handler = end};
    for (size_t i = 0; i < G_N_ELEMENTS(ours); i++)
        if (!cmd_signal_is_ignored(ours[i]))
            sigaction(ours[i], &act, NULL);
}

/* The number of contenders that fit on the terminal. */
static size_t rows(void) {
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_row < 5)
        return 20;
    return size.ws_row - 4U;
}

static void draw(const char *path, const cmd_queue *queue, const char *trouble) {
    g_autofree char *shown = cmd_escape(path), *when = cmd_when(g_get_real_time() / 1000);
    printf("\033[H\033[J%s  %s  %zu\n", when, shown, cmd_queue_count(queue));
    if (trouble)
        printf("%s\n", trouble);
    else
        cmd_queue_print(queue, rows());
}

static void add_line(const char *path, const cmd_queue *queue, const char *trouble) {
    g_autoptr(GString) out = g_string_new(NULL);
    cmd_json_begin_object(out, NULL);
    cmd_json_text(out, "path", path);
    cmd_json_number(out, "at_ms", g_get_real_time() / 1000);
    if (trouble)
        cmd_json_text(out, "error", trouble);
    else
        cmd_queue_add(out, queue);
    cmd_json_end_object(out);
    cmd_print_line(out);
}

/* Watch until a signal ends it, or standard output fails. */
static void watch_on(const cmd_looker *looker, const char *path, int64_t every_ms) {
    cmd_queue last = {0};
    pdk_status before = PDK_OK;
    bool first = true;
    do {
        cmd_queue queue;
        pdk_status status = cmd_looker_look(looker, &queue);
        g_autofree char *trouble = status ? cmd_why(path, status) : NULL;
        bool news = first || status != before || (!status && !cmd_queue_is_same(&last, &queue));
        if (on_terminal)
            draw(path, &queue, trouble);
        else if (news)
            add_line(path, &queue, trouble);
        cmd_queue *old = status ? &queue : &last; /* this one goes */
        cmd_queue_clear(old);
        if (!status)
            last = queue;
        before = status;
        first = false;
        if (!cmd_print_end())
            break;
        g_usleep((gulong)every_ms * 1000);
    } while (true);
    cmd_queue_clear(&last);
}

static int watch(const cmd_settings *settings, const char *path, int64_t every_ms) {
    cmd_looker looker;
    on_terminal = isatty(STDOUT_FILENO) && !settings->json;
    if (!on_terminal && !settings->json && !cmd_print_json())
        return CMD_USAGE;
    int status = cmd_looker_open(&looker, settings, path);
    if (status == CMD_OK) {
        end_on_signals();
        if (on_terminal)
            fputs(no_wrap, stdout);
        watch_on(&looker, path, every_ms);
        status = CMD_SOFTWARE;
    }
    cmd_looker_close(&looker);
    return status;
}

int cmd_watch(int argc, char **argv) {
    cmd_settings settings;
    int status = CMD_USAGE;
    int64_t every_ms = 1000;
    g_autofree char *every = NULL;
    const GOptionEntry entries[] = {{"every", 0, 0, G_OPTION_ARG_STRING, &every, "look so often; 1s", "TIME"},
                                    {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    cmd_settings_init(&settings);
    if (cmd_settings_parse(&settings, &argc, &argv, "/path", CMD_OPTIONS_KIND | CMD_OPTIONS_JSON, entries)) {
        if (!cmd_duration("--every", every, 50, 3600000, &every_ms))
            status = CMD_USAGE;
        else if (argc == 2)
            status = watch(&settings, argv[1], every_ms);
        else
            cmd_error("watch: one path is needed: paddock watch [option…] /path");
    }
    return cmd_settings_end(&settings, status);
}

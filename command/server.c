/* paddock server: a throw-away ZooKeeper, as long as this process or its command runs.
 *
 *     start, ready ──► the command, with PADDOCK_SERVERS ──► gone, with the command's status
 *                └──► no command: until a signal
 *
 * The command stays in the process group of this process, so the terminal's signals reach it without us. Others are
 * passed on.
 */
#include "duration.h"
#include "options.h"
#include "print.h"
#include "say.h"
#include "signals.h"
#include "status.h"
#include "verbs.h"
#include <errno.h>
#include <paddock/testing.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { MOST_SERVERS = 3 };

typedef struct {
    gint servers, port;
    int64_t tick_ms;
    char *data;
    gboolean verbose, quiet;
    pdk_test_ensemble *ensemble;
    pid_t command; /* 0: none */
    bool ended[MOST_SERVERS];
} server;

/* ---- the command */

static void in_the_child(gpointer unused) {
    sigset_t none;
    (void)unused;
    prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0); /* without us there are no servers */
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    cmd_signals_hand_on();
}

/* CMD_OK, or the exit status. */
static int start_command(server *s, char **words) {
    GSpawnFlags flags =
        G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_CHILD_INHERITS_STDIN | G_SPAWN_LEAVE_DESCRIPTORS_OPEN;
    g_auto(GStrv) environment =
        g_environ_setenv(g_get_environ(), "PADDOCK_SERVERS", pdk_test_ensemble_hosts(s->ensemble), TRUE);
    g_autoptr(GError) error = NULL;
    if (g_spawn_async(NULL, words, environment, flags, in_the_child, NULL, &s->command, &error))
        return CMD_OK;
    cmd_error("%s: %s", words[0], error->message);
    return g_error_matches(error, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT) ? CMD_NOT_FOUND : CMD_CANNOT_EXECUTE;
}

/* True when it has ended; then *status is its exit status. */
static bool command_ended(const server *s, int *status) {
    int how;
    if (!s->command || waitpid(s->command, &how, WNOHANG) != s->command)
        return false;
    *status = WIFSIGNALED(how) ? CMD_SIGNAL + WTERMSIG(how) : WEXITSTATUS(how);
    return true;
}

/* ---- while it runs */

/* Says once of each server that has ended by itself. False when none is left. */
static bool servers_run(server *s) {
    int left = 0;
    for (int i = 0; i < pdk_test_ensemble_size(s->ensemble); i++) {
        siginfo_t info = {0};
        int got = waitid(P_PID, (id_t)pdk_test_ensemble_pid(s->ensemble, i), &info, WEXITED | WNOHANG | WNOWAIT);
        bool ended = got < 0 || info.si_pid != 0;
        if (ended && !s->ended[i])
            cmd_error("the server at %s has ended; %s says why", pdk_test_ensemble_host(s->ensemble, i),
                      pdk_test_ensemble_log(s->ensemble, i));
        s->ended[i] = ended;
        left += !ended;
    }
    return left > 0;
}

/* Pass on a signal that a process has sent to us alone. The command has got a terminal's signals itself. */
static void pass_on(const server *s, const siginfo_t *signal) {
    if (signal->si_code <= 0)
        kill(s->command, signal->si_signo);
}

/* Serve until the command has ended, or a signal ends us. The exit status. */
static int serve(server *s, const sigset_t *signals) {
    int status = CMD_OK;
    for (;;) {
        siginfo_t info;
        int number = sigwaitinfo(signals, &info);
        if (number < 0)
            continue; /* stopped and continued */
        if (number != SIGCHLD && !s->command)
            return CMD_OK;
        if (number != SIGCHLD)
            pass_on(s, &info);
        else if (command_ended(s, &status))
            return status;
        else if (!servers_run(s) && !s->command)
            return CMD_UNAVAILABLE;
    }
}

/* Announce the servers. Without a command the line is for the reader of our output; a command has its output to
 * itself. */
static int announce(const server *s, bool has_command) {
    if (has_command) {
        cmd_tell("servers: %s", pdk_test_ensemble_hosts(s->ensemble));
        return CMD_OK;
    }
    puts(pdk_test_ensemble_hosts(s->ensemble));
    return cmd_print_end() ? CMD_OK : CMD_SOFTWARE;
}

/* The signals to wait for. Signals that a caller has us ignore stay ignored, as under nohup(1). */
static sigset_t waited_for(void) {
    static const int mine[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD};
    sigset_t signals;
    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&signals);
    for (size_t i = 0; i < G_N_ELEMENTS(mine); i++)
        if (mine[i] == SIGCHLD || !cmd_signal_is_ignored(mine[i]))
            sigaddset(&signals, mine[i]);
    return signals;
}

static int run_servers(server *s, char **words) {
    pdk_test_options options = {
        .size = sizeof options, .servers = s->servers, .tick_ms = (int)s->tick_ms, .port = s->port, .data = s->data};
    sigset_t signals = waited_for();
    /* Until here a signal ends this process, and the kernel ends the servers. */
    s->ensemble = pdk_test_ensemble_start(&options);
    if (!s->ensemble) {
        cmd_error("%s", pdk_test_last_error());
        return CMD_UNAVAILABLE;
    }
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    int status = announce(s, *words != NULL);
    if (status == CMD_OK && *words)
        status = start_command(s, words);
    if (status == CMD_OK)
        status = serve(s, &signals);
    pdk_test_ensemble_stop(s->ensemble);
    return status;
}

/* ---- the command line */

static bool check(const server *s) {
    if (s->servers != 1 && s->servers != MOST_SERVERS)
        cmd_error("server: --ensemble %d: 1 and %d are possible", s->servers, MOST_SERVERS);
    else if (s->port < 0 || s->port > 65535)
        cmd_error("server: --port %d: 1 to 65535 are possible, and 0 for one that is free", s->port);
    else
        return true;
    return false;
}

int cmd_server_main(int argc, char **argv) {
    server s = {.servers = 1, .tick_ms = 500};
    g_autofree char *tick = NULL;
    const GOptionEntry entries[] = {
        {"ensemble", 0, 0, G_OPTION_ARG_INT, &s.servers, "so many servers: 1 or 3; default 1", "N"},
        {"tick", 0, 0, G_OPTION_ARG_STRING, &tick, "tickTime; 500ms. A number alone is ms", "TIME"},
        {"port", 0, 0, G_OPTION_ARG_INT, &s.port, "for clients; one that is free", "PORT"},
        {"data", 0, 0, G_OPTION_ARG_FILENAME, &s.data, "keep the data in this folder", "FOLDER"},
        {"verbose", 'v', 0, G_OPTION_ARG_NONE, &s.verbose, "say what happens", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &s.quiet, "say nothing; the exit status tells", NULL},
        {"timestamps", 0, 0, G_OPTION_ARG_NONE, &cmd_timestamps, "each line that is said begins with its time", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    g_autoptr(GOptionContext) context = cmd_options_new(*argv, "[-- command [argument…]]");
    int status = CMD_USAGE;
    g_option_context_set_strict_posix(context, TRUE);
    cmd_options_add(context, entries);
    if (cmd_options_parse(context, &argc, &argv)) {
        cmd_quiet = s.quiet;
        cmd_verbose = s.verbose && !s.quiet;
        if (check(&s) && cmd_duration_in_ms("--tick", tick, 1, 60000, &s.tick_ms))
            status = run_servers(&s, argv + (argc > 1 && strcmp(argv[1], "--") == 0 ? 2 : 1));
    }
    g_free(s.data);
    return status;
}

/*
 * Runs a program, compares its output with a script, and acts where the script says so.
 *
 *     follow SCRIPT PROGRAM [ARGUMENT…]
 *
 * The lines of a script are executed in order. `*` in a pattern stands for any text, `?` for any character.
 *     # …              a comment
 *     next PATTERN     the next line the program prints matches
 *     see PATTERN      a later line matches; those before it are skipped
 *     type             a newline to the program's input
 *     signal NAME      INT or TERM to the program
 *     server           the last argument is a ZooKeeper's address: a proxy, which can be cut, takes its place
 *     more N           so many further ZooKeepers of their own, whose addresses are the program's last arguments
 *     hold PATH        another client takes the lock at PATH with a znode of its own; `free` deletes it
 *     free
 *     take PATH        all znodes in the queue at PATH are deleted, as an administrator might do
 *     cut              silence between the program and the server
 *     exit STATUS      the program prints no more and ends with this status: the last line of every script
 * Exit status 0 when all of it happened. All output of the program is passed on.
 */
#include <glib.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ts_support.h>
#include <unistd.h>

enum { LINE_LIMIT_MS = 60000, MORE_MOST = 8 };

static struct {
    char *server; /* its address, after `server` */
    ts_proxy *proxy;
    ts_observer *other;
    ts_ensemble *more[MORE_MOST + 1]; /* NULL at the end */
    pid_t pid;
    int input;  /* writes to the program's input */
    int output; /* reads from it */
    GString *unread;
} run = {.input = -1, .output = -1};

/* The next line, or NULL at the end of the output or when none came in time (*late). */
static char *read_line(bool *late) {
    const int64_t deadline = ts_now_ms() + LINE_LIMIT_MS;
    char *end;

    *late = false;
    while ((end = strchr(run.unread->str, '\n')) == NULL) {
        struct pollfd output = {.fd = run.output, .events = POLLIN};
        char piece[512];
        ssize_t size;

        if (poll(&output, 1, (int)MAX(0, deadline - ts_now_ms())) <= 0) {
            *late = true;
            return NULL;
        }
        size = read(run.output, piece, sizeof piece);
        if (size <= 0)
            return NULL;
        g_string_append_len(run.unread, piece, size);
    }
    char *line = g_strndup(run.unread->str, (gsize)(end - run.unread->str));
    g_string_erase(run.unread, 0, end - run.unread->str + 1);
    puts(line);
    fflush(stdout);
    return line;
}

static bool see(const char *pattern, bool skip) {
    for (;;) {
        bool late;
        g_autofree char *line = read_line(&late);

        if (line == NULL) {
            fprintf(stderr, "follow: %s instead of: %s\n", late ? "nothing for a minute" : "the end of the output",
                    pattern);
            return false;
        }
        if (g_pattern_match_simple(pattern, line))
            return true;
        if (!skip) {
            fprintf(stderr, "follow: this line does not match: %s\n", pattern);
            return false;
        }
    }
}

static bool ends_with_status(const char *status) {
    bool late;
    g_autofree char *line = read_line(&late);

    if (line != NULL || late) {
        fprintf(stderr, "follow: the program should have ended\n");
        return false;
    }
    const int code = ts_wait(run.pid, LINE_LIMIT_MS);
    run.pid = 0;
    if (code != atoi(status))
        fprintf(stderr, "follow: exit status %d instead of %s\n", code, status);
    return code == atoi(status);
}

static bool hold(const char *path) {
    g_autofree char *node = g_strdup_printf("%s/_c_00000000-0000-0000-0000-000000000000-lock-", path);

    run.other = ts_observer_open(run.server);
    return run.other && ts_observer_create(run.other, node, "somebody else", TS_EPHEMERAL | TS_SEQUENTIAL, NULL) == 0;
}

/* Ends the session of the other contender, so its znode is gone when this returns. */
static bool free_lock(void) {
    ts_observer_close(run.other);
    run.other = NULL;
    return true;
}

static bool take(const char *path) {
    g_auto(GStrv) names = ts_children(run.server, path, NULL);
    int taken = 0;

    for (char **name = names; name != NULL && *name != NULL; name++) {
        g_autofree char *node = g_strdup_printf("%s/%s", path, *name);
        taken += ts_delete(run.server, node) == 0;
    }
    return taken > 0;
}

static bool act(const char *word, const char *rest) {
    if (g_str_equal(word, "next") || g_str_equal(word, "see"))
        return see(rest, g_str_equal(word, "see"));
    if (g_str_equal(word, "type"))
        return write(run.input, "\n", 1) == 1;
    if (g_str_equal(word, "signal"))
        return kill(run.pid, g_str_equal(rest, "INT") ? SIGINT : SIGTERM) == 0;
    if (g_str_equal(word, "hold"))
        return hold(rest);
    if (g_str_equal(word, "free"))
        return free_lock();
    if (g_str_equal(word, "take"))
        return take(rest);
    if (g_str_equal(word, "cut")) {
        ts_proxy_set_mode(run.proxy, TS_BLACKHOLE);
        return true;
    }
    if (g_str_equal(word, "exit"))
        return ends_with_status(rest);
    fprintf(stderr, "follow: no such word\n");
    return false;
}

/* Starts the program with a pipe for its input. */
static bool start(char **argv) {
    int ends[2];

    if (pipe(ends) != 0 || dup2(ends[0], STDIN_FILENO) < 0)
        return false;
    run.input = ends[1];
    run.unread = g_string_new(NULL);
    run.pid = ts_spawn((const char *const *)argv, &run.output);
    return run.pid > 0;
}

static bool follow(char **lines, char **argv) {
    bool ended = false;

    for (char **line = lines; *line != NULL; line++) {
        g_auto(GStrv) parts = g_strsplit(*line, " ", 2);

        if (**line == '\0' || **line == '#' || g_str_equal(*line, "server") || g_str_equal(parts[0], "more"))
            continue;
        if (run.pid == 0 && (ended || !start(argv)))
            return false;
        if (!act(parts[0], parts[1] ? parts[1] : "")) {
            fprintf(stderr, "follow: failed at: %s\n", *line);
            return false;
        }
        ended = g_str_equal(parts[0], "exit");
    }
    if (!ended)
        fprintf(stderr, "follow: the script does not say how the program ends\n");
    return ended;
}

/* The arguments, and behind them the addresses of further servers; or NULL. g_free. */
static char **with_more(char **lines, int argc, char **argv) {
    char **all = g_new0(char *, argc + MORE_MOST + 1);
    int wanted = 0;

    memcpy(all, argv, (size_t)argc * sizeof all[0]);
    for (char **line = lines; *line != NULL; line++)
        wanted += g_str_has_prefix(*line, "more ") ? atoi(*line + strlen("more ")) : 0;
    for (int i = 0; i < MIN(wanted, MORE_MOST); i++) {
        run.more[i] = ts_ensemble_start(NULL);
        if (run.more[i] == NULL) {
            g_free(all);
            return NULL;
        }
        all[argc + i] = (char *)(uintptr_t)ts_ensemble_hosts(run.more[i]);
    }
    return all;
}

int main(int argc, char **argv) {
    g_autofree char *script = NULL;

    if (argc < 3 || !g_file_get_contents(argv[1], &script, NULL, NULL)) {
        fprintf(stderr, "usage: follow SCRIPT PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    g_auto(GStrv) lines = g_strsplit(script, "\n", -1);
    signal(SIGPIPE, SIG_IGN);
    if (g_strv_contains((const char *const *)lines, "server")) {
        run.server = argv[argc - 1];
        run.proxy = ts_proxy_start(run.server);
        if (run.proxy == NULL)
            return EXIT_FAILURE;
        argv[argc - 1] = (char *)(uintptr_t)ts_proxy_address(run.proxy);
    }
    g_autofree char **all = with_more(lines, argc, argv);
    const bool good = all != NULL && follow(lines, all + 2);
    ts_kill(run.pid);
    for (int i = 0; run.more[i] != NULL; i++)
        ts_ensemble_stop(run.more[i]);
    ts_observer_close(run.other);
    ts_proxy_stop(run.proxy);
    if (run.unread != NULL)
        g_string_free(run.unread, TRUE);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The C player: Paddock's lock in either naming profile, driven by the contract in README.md. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SESSION_MS = 20000, CLOSE_MS = 5000, LIST_MS = 5000 };

typedef struct player {
    char *hosts, *path, *witness, *log, *identity, *mode;
    int threads, hold_us, max_handovers;
    pdk_session *session;
    pdk_lock *lock;
    int log_fd;
    atomic_bool stop, failed;
    atomic_long acquisitions, overlaps;
} player;

static void fail(player *p, const char *what, const char *why) {
    fprintf(stderr, "player_paddock %s: %s: %s\n", p->identity ? p->identity : "?", what, why);
    atomic_store(&p->failed, true);
    atomic_store(&p->stop, true);
}

static bool check(player *p, const char *what, pdk_status status) {
    if (status == PDK_OK)
        return true;
    g_autofree char *why = g_strdup_printf("%s (%s)", pdk_status_name(status), pdk_error_text());
    fail(p, what, why);
    return false;
}

/* True when this thread is alone inside. A file that exists is an overlap, and stays its creator's to remove. */
static bool enter(player *p) {
    int fd = open(p->witness, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0) {
        close(fd);
        return true;
    }
    if (errno == EEXIST)
        atomic_fetch_add(&p->overlaps, 1);
    else
        fail(p, "witness", g_strerror(errno));
    return false;
}

static void leave(player *p) {
    if (unlink(p->witness) != 0)
        fail(p, "witness", g_strerror(errno));
}

static void note(player *p, const pdk_hold *hold) {
    long count = atomic_fetch_add(&p->acquisitions, 1) + 1;
    g_autofree char *line = g_strdup_printf("%s %ld %" G_GINT64_FORMAT ".%u\n", p->identity, count,
                                            (gint64)pdk_hold_token(hold), (unsigned)pdk_hold_handover(hold));
    size_t length = strlen(line);
    if (write(p->log_fd, line, length) != (ssize_t)length)
        fail(p, "log", g_strerror(errno));
}

static gpointer work(gpointer data) {
    player *p = data;
    while (!atomic_load(&p->stop)) {
        pdk_hold *hold = NULL;
        if (!check(p, "acquire", pdk_lock_acquire(p->lock, PDK_FOREVER, &hold)))
            break;
        bool mine = enter(p);
        note(p, hold);
        g_usleep((gulong)g_random_int_range(0, p->hold_us + 1));
        if (mine)
            leave(p);
        if (!check(p, "release", pdk_hold_release(hold)))
            break;
    }
    return NULL;
}

/* The end of standard input is the sign to stop: it also comes when whoever started us dies. */
static void wait_for_end(void) {
    char ignored[64];
    while (fgets(ignored, sizeof ignored, stdin))
        continue;
}

static void go(player *p) {
    p->log_fd = open(p->log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (p->log_fd < 0) {
        fail(p, "log", g_strerror(errno));
        return;
    }
    g_autoptr(GPtrArray) threads = g_ptr_array_new();
    for (int i = 0; i < p->threads; i++)
        g_ptr_array_add(threads, g_thread_new("player", work, p));
    wait_for_end();
    atomic_store(&p->stop, true);
    for (guint i = 0; i < threads->len; i++)
        g_thread_join(g_ptr_array_index(threads, i));
    close(p->log_fd);
}

static void hold_once(player *p) {
    pdk_hold *hold = NULL;
    if (!check(p, "acquire", pdk_lock_acquire(p->lock, PDK_FOREVER, &hold)))
        return;
    atomic_fetch_add(&p->acquisitions, 1);
    puts("held");
    wait_for_end();
    check(p, "release", pdk_hold_release(hold));
}

static void list(player *p) {
    pdk_contenders *contenders = NULL;
    if (!check(p, "contenders", pdk_lock_contenders(p->lock, LIST_MS, &contenders)))
        return;
    for (size_t i = 0; i < pdk_contenders_count(contenders); i++)
        printf("contender\t%s\t%s\n", pdk_contenders_node(contenders, i), pdk_contenders_identity(contenders, i));
    pdk_contenders_free(contenders);
}

static void obey(player *p) {
    char command[64] = "";
    puts("ready");
    if (!fgets(command, sizeof command, stdin))
        return;
    g_strchomp(command);
    if (strcmp(command, "go") == 0)
        go(p);
    else if (strcmp(command, "hold") == 0)
        hold_once(p);
    else if (strcmp(command, "list") == 0)
        list(p);
    else
        fail(p, "unknown command", command);
}

static bool parse(player *p, int argc, char **argv) {
    const GOptionEntry entries[] = {
        {"hosts", 0, 0, G_OPTION_ARG_STRING, &p->hosts, "host:port,…", NULL},
        {"path", 0, 0, G_OPTION_ARG_STRING, &p->path, "the lock's path", NULL},
        {"witness", 0, 0, G_OPTION_ARG_FILENAME, &p->witness, "the O_EXCL file", NULL},
        {"log", 0, 0, G_OPTION_ARG_FILENAME, &p->log, "appended to while holding", NULL},
        {"identity", 0, 0, G_OPTION_ARG_STRING, &p->identity, "this player's name", NULL},
        {"mode", 0, 0, G_OPTION_ARG_STRING, &p->mode, "curator or kazoo", NULL},
        {"threads", 0, 0, G_OPTION_ARG_INT, &p->threads, "threads that share the lock (1)", NULL},
        {"hold-us", 0, 0, G_OPTION_ARG_INT, &p->hold_us, "longest hold (1000)", NULL},
        {"max-handovers", 0, 0, G_OPTION_ARG_INT, &p->max_handovers, "between threads in a row (3)", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_autoptr(GError) error = NULL;
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error)) {
        fail(p, "arguments", error->message);
        return false;
    }
    bool complete = p->hosts && p->path && p->witness && p->log && p->identity && p->mode && p->threads > 0 &&
                    p->hold_us >= 0 && (strcmp(p->mode, "curator") == 0 || strcmp(p->mode, "kazoo") == 0);
    if (!complete)
        fail(p, "arguments", "hosts, path, witness, log, identity and a known mode are needed");
    return complete;
}

static bool open_lock(player *p) {
    pdk_session_options session = PDK_SESSION_OPTIONS_INIT;
    session.session_timeout_ms = SESSION_MS;
    session.label = p->identity;
    if (!check(p, "open", pdk_session_open(p->hosts, &session, &p->session)))
        return false;
    pdk_lock_options lock = PDK_LOCK_OPTIONS_INIT;
    lock.naming = strcmp(p->mode, "kazoo") == 0 ? PDK_NAMING_KAZOO : PDK_NAMING_CURATOR;
    lock.max_handovers = p->max_handovers;
    return check(p, "lock", pdk_lock_new(p->session, p->path, &lock, &p->lock));
}

int main(int argc, char **argv) {
    player p = {.threads = 1, .hold_us = 1000, .max_handovers = 3, .log_fd = -1};
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (parse(&p, argc, argv) && open_lock(&p))
        obey(&p);
    pdk_lock_unref(p.lock);
    if (p.session)
        check(&p, "close", pdk_session_close(p.session, CLOSE_MS));
    pdk_session_unref(p.session);
    if (!atomic_load(&p.failed))
        printf("done %s acquisitions=%ld overlaps=%ld\n", p.identity, atomic_load(&p.acquisitions),
               atomic_load(&p.overlaps));
    g_free(p.hosts);
    g_free(p.path);
    g_free(p.witness);
    g_free(p.log);
    g_free(p.identity);
    g_free(p.mode);
    return atomic_load(&p.failed) ? 2 : EXIT_SUCCESS;
}

/* The C player: one of Paddock's recipes in either naming profile, by the contract in README.md. */
#include "recipes.h"
#include "witness.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SESSION_MS = 20000, CLOSE_MS = 5000, LIST_MS = 5000, ASK_MS = 60000 };

typedef struct player {
    char *hosts, *path, *log, *identity, *mode, *recipe_name;
    int threads, hold_us, max_handovers;
    pdk_session *session;
    const struct recipe *recipe;
    void *object;
    witness witness;
    pthread_mutex_t log_mutex;
    int log_fd;
    atomic_bool stop, failed;
    atomic_long acquisitions, visits;
} player;

static void fail(player *p, const char *what, const char *why) {
    fprintf(stderr, "player_paddock %s: %s: %s\n", p->identity ? p->identity : "?", what, why);
    atomic_store(&p->failed, true);
    atomic_store(&p->stop, true);
}

static bool check(player *p, const char *what, pdk_status status) {
    if (status == PDK_OK)
        return true;
    g_autofree char *why = g_strdup_printf("%s (%s)", pdk_status_name(status), pdk_last_error());
    fail(p, what, why);
    return false;
}

/* NULL when the player is to stop, or has failed. */
static pdk_hold *take(player *p) {
    pdk_hold *hold = NULL;
    pdk_status status = PDK_TIMEOUT;
    while (status == PDK_TIMEOUT && !atomic_load(&p->stop))
        status = p->recipe->take(p->object, &hold);
    return status == PDK_TIMEOUT || !check(p, "take", status) ? NULL : hold;
}

/* Readers are in together: their tokens are in no order, and not noted. */
static void note(player *p, const pdk_hold *hold) {
    g_autofree char *token = p->recipe->shared
                                 ? g_strdup("-")
                                 : g_strdup_printf("%" G_GINT64_FORMAT ".%u", (gint64)pdk_hold_token(hold),
                                                   (unsigned)pdk_hold_handover(hold));
    pthread_mutex_lock(&p->log_mutex);
    long count = atomic_fetch_add(&p->acquisitions, 1) + 1;
    g_autofree char *line = g_strdup_printf("%s %ld %s\n", p->identity, count, token);
    size_t length = strlen(line);
    if (write(p->log_fd, line, length) != (ssize_t)length)
        fail(p, "log", g_strerror(errno));
    pthread_mutex_unlock(&p->log_mutex);
}

/* Stays in for a while. The log tells it unless hold is NULL. */
static void stay(player *p, const pdk_hold *hold, bool shared) {
    g_autofree char *name = shared ? g_strdup_printf("%s.%ld", p->identity, atomic_fetch_add(&p->visits, 1)) : NULL;
    char *file = witness_enter(&p->witness, name);
    if (!file) {
        fail(p, "witness", g_strerror(errno));
        return;
    }
    if (hold)
        note(p, hold);
    g_usleep((gulong)g_random_int_range(0, p->hold_us + 1));
    if (!witness_leave(file))
        fail(p, "witness", g_strerror(errno));
}

static gpointer work(gpointer data) {
    player *p = data;
    pdk_hold *hold;
    while (!atomic_load(&p->stop) && (hold = take(p))) {
        stay(p, hold, p->recipe->shared);
        if (p->recipe->weaken && check(p, "weaken", p->recipe->weaken(hold)))
            stay(p, NULL, true);
        check(p, "give", p->recipe->give(p->object, hold));
    }
    return NULL;
}

/* The end of standard input is the order to stop. It also comes when the driver dies. */
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
    pdk_hold *hold = take(p);
    if (!hold)
        return;
    atomic_fetch_add(&p->acquisitions, 1);
    puts("held");
    wait_for_end();
    check(p, "give", p->recipe->give(p->object, hold));
}

static void on_asked(pdk_hold *hold, const char *who, int64_t until_ms, void *user) {
    (void)hold;
    (void)until_ms;
    printf("asked\t%s\n", who);
    sem_post(user);
}

static void hold_until_asked(player *p) {
    sem_t asked;
    pdk_hold *hold = take(p);
    if (!hold)
        return;
    sem_init(&asked, 0, 0);
    atomic_fetch_add(&p->acquisitions, 1);
    if (check(p, "on_asked", pdk_hold_on_request(hold, on_asked, &asked, NULL))) {
        puts("held");
        while (sem_wait(&asked) && errno == EINTR)
            continue;
    }
    check(p, "give", p->recipe->give(p->object, hold));
}

static void list(player *p) {
    pdk_contenders *contenders = NULL;
    if (!check(p, "contenders", p->recipe->list(p->object, LIST_MS, &contenders)))
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
    if (strcmp(command, "list") == 0) {
        list(p);
        return;
    }
    if (p->recipe->begin && !check(p, "begin", p->recipe->begin(p->object)))
        return;
    if (strcmp(command, "go") == 0)
        go(p);
    else if (strcmp(command, "hold") == 0)
        hold_once(p);
    else if (strcmp(command, "yield") == 0)
        hold_until_asked(p);
    else if (strcmp(command, "ask") == 0)
        check(p, "ask", pdk_session_request_release(p->session, p->path, NULL, p->identity, ASK_MS, LIST_MS));
    else
        fail(p, "unknown command", command);
}

static bool parse(player *p, int argc, char **argv) {
    const GOptionEntry entries[] = {
        {"hosts", 0, 0, G_OPTION_ARG_STRING, &p->hosts, "host:port,…", NULL},
        {"path", 0, 0, G_OPTION_ARG_STRING, &p->path, "where to contend", NULL},
        {"witness", 0, 0, G_OPTION_ARG_FILENAME, &p->witness.path, "the O_EXCL file", NULL},
        {"log", 0, 0, G_OPTION_ARG_FILENAME, &p->log, "appended to while holding", NULL},
        {"identity", 0, 0, G_OPTION_ARG_STRING, &p->identity, "this player's name", NULL},
        {"mode", 0, 0, G_OPTION_ARG_STRING, &p->mode, "curator or kazoo", NULL},
        {"recipe", 0, 0, G_OPTION_ARG_STRING, &p->recipe_name, "lock (the default), election, read or write", NULL},
        {"threads", 0, 0, G_OPTION_ARG_INT, &p->threads, "threads that share it (1)", NULL},
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
    p->recipe = recipe_find(p->recipe_name ? p->recipe_name : "lock");
    bool complete = p->hosts && p->path && p->witness.path && p->log && p->identity && p->mode && p->recipe &&
                    p->threads > 0 && p->hold_us >= 0 &&
                    (strcmp(p->mode, "curator") == 0 || strcmp(p->mode, "kazoo") == 0);
    if (!complete)
        fail(p, "arguments", "hosts, path, witness, log, identity, a known mode and recipe are needed");
    return complete;
}

static bool open_all(player *p) {
    pdk_session_options session = PDK_SESSION_OPTIONS_INIT;
    session.session_timeout_ms = SESSION_MS;
    session.label = p->identity;
    if (!check(p, "open", pdk_session_open(p->hosts, &session, &p->session)))
        return false;
    const struct options options = {
        .path = p->path,
        .identity = p->identity,
        .naming = strcmp(p->mode, "kazoo") == 0 ? PDK_NAMING_KAZOO : PDK_NAMING_CURATOR,
        .max_handovers = p->max_handovers,
    };
    return check(p, p->recipe->name, p->recipe->make(p->session, &options, &p->object));
}

int main(int argc, char **argv) {
    player p = {
        .log_mutex = PTHREAD_MUTEX_INITIALIZER, .threads = 1, .hold_us = 1000, .max_handovers = 3, .log_fd = -1};
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (parse(&p, argc, argv) && open_all(&p))
        obey(&p);
    if (p.object)
        p.recipe->drop(p.object);
    if (p.session)
        check(&p, "close", pdk_session_close(p.session, CLOSE_MS));
    pdk_session_unref(p.session);
    if (!atomic_load(&p.failed))
        printf("done %s acquisitions=%ld overlaps=%ld together=%ld\n", p.identity, atomic_load(&p.acquisitions),
               atomic_load(&p.witness.overlaps), atomic_load(&p.witness.together));
    g_free(p.hosts);
    g_free(p.path);
    g_free(p.witness.path);
    g_free(p.log);
    g_free(p.identity);
    g_free(p.mode);
    g_free(p.recipe_name);
    return atomic_load(&p.failed) ? 2 : EXIT_SUCCESS;
}

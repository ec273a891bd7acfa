/* Paddock's player for what is told step by step (README.md): it holds, is asked, asks, or lists who is in the queue. */
#include <errno.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SESSION_MS = 20000, CLOSE_MS = 5000, LIST_MS = 5000, ASK_MS = 60000 };

typedef struct player {
    char *hosts, *path, *identity, *mode, *recipe;
    pdk_session *session;
    pdk_lock *lock; /* one of these */
    pdk_rwlock *rwlock;
    pdk_election *election;
    bool failed;
} player;

static bool check(player *p, const char *what, pdk_status status) {
    if (status == PDK_OK)
        return true;
    fprintf(stderr, "player_paddock %s: %s: %s (%s)\n", p->identity, what, pdk_status_name(status), pdk_last_error());
    p->failed = true;
    return false;
}

static bool open_all(player *p) {
    int naming = strcmp(p->mode, "kazoo") == 0 ? PDK_NAMING_KAZOO : PDK_NAMING_CURATOR;
    pdk_session_options session = PDK_SESSION_OPTIONS_INIT;
    pdk_lock_options lock = PDK_LOCK_OPTIONS_INIT;
    pdk_rwlock_options rwlock = PDK_RWLOCK_OPTIONS_INIT;
    pdk_election_options election = PDK_ELECTION_OPTIONS_INIT;
    session.session_timeout_ms = SESSION_MS;
    session.label = election.identity = p->identity;
    lock.naming = rwlock.naming = election.naming = naming;
    if (!check(p, "open", pdk_session_open(p->hosts, &session, &p->session)))
        return false;
    if (strcmp(p->recipe, "election") == 0)
        return check(p, "election", pdk_election_new(p->session, p->path, &election, &p->election));
    if (strcmp(p->recipe, "lock") == 0)
        return check(p, "lock", pdk_lock_new(p->session, p->path, &lock, &p->lock));
    return check(p, "rwlock", pdk_rwlock_new(p->session, p->path, &rwlock, &p->rwlock));
}

static pdk_hold *take(player *p) {
    pdk_hold *hold = NULL;
    pdk_status status;
    if (p->election && !check(p, "join", pdk_election_join(p->election, NULL)))
        return NULL;
    if (p->election)
        status = pdk_election_wait(p->election, PDK_FOREVER, &hold);
    else if (p->lock)
        status = pdk_lock_acquire(p->lock, PDK_FOREVER, &hold);
    else if (strcmp(p->recipe, "read") == 0)
        status = pdk_rwlock_acquire_read(p->rwlock, PDK_FOREVER, &hold);
    else
        status = pdk_rwlock_acquire_write(p->rwlock, PDK_FOREVER, &hold);
    if (!check(p, "take", status))
        return NULL;
    return hold;
}

static void give(player *p, pdk_hold *hold) {
    if (!p->election) {
        check(p, "give", pdk_hold_release(hold));
        return;
    }
    check(p, "give", pdk_election_resign(p->election));
    pdk_hold_unref(hold);
}

/* The end of standard input is the order to stop. It also comes when the driver dies. */
static void wait_for_end(void) {
    char ignored[64];
    while (fgets(ignored, sizeof ignored, stdin))
        continue;
}

static void hold_once(player *p) {
    pdk_hold *hold = take(p);
    if (!hold)
        return;
    puts("held");
    wait_for_end();
    give(p, hold);
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
    if (check(p, "on_asked", pdk_hold_on_request(hold, on_asked, &asked, NULL))) {
        puts("held");
        while (sem_wait(&asked) && errno == EINTR)
            continue;
    }
    give(p, hold);
}

static void list(player *p) {
    pdk_contenders *contenders = NULL;
    pdk_status status = p->election ? pdk_election_list(p->election, LIST_MS, &contenders)
                        : p->lock   ? pdk_lock_list(p->lock, LIST_MS, &contenders)
                                    : pdk_rwlock_list(p->rwlock, LIST_MS, &contenders);
    if (!check(p, "contenders", status))
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
    if (strcmp(command, "list") == 0)
        list(p);
    else if (strcmp(command, "hold") == 0)
        hold_once(p);
    else if (strcmp(command, "yield") == 0)
        hold_until_asked(p);
    else if (strcmp(command, "ask") == 0)
        check(p, "ask", pdk_session_request_release(p->session, p->path, NULL, p->identity, ASK_MS, LIST_MS));
    else
        check(p, command, PDK_INVALID);
}

static bool parse(player *p, int argc, char **argv) {
    const GOptionEntry entries[] = {
        {"hosts", 0, 0, G_OPTION_ARG_STRING, &p->hosts, "host:port,…", NULL},
        {"path", 0, 0, G_OPTION_ARG_STRING, &p->path, "where to contend", NULL},
        {"identity", 0, 0, G_OPTION_ARG_STRING, &p->identity, "this player's name", NULL},
        {"mode", 0, 0, G_OPTION_ARG_STRING, &p->mode, "curator or kazoo", NULL},
        {"recipe", 0, 0, G_OPTION_ARG_STRING, &p->recipe, "lock (the default), election, read or write", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_option_context_add_main_entries(context, entries, NULL);
    bool complete =
        g_option_context_parse(context, &argc, &argv, NULL) && p->hosts && p->path && p->identity && p->mode;
    if (!complete)
        fputs("player_paddock: hosts, path, identity and mode are needed\n", stderr);
    if (!p->recipe)
        p->recipe = g_strdup("lock");
    return complete;
}

int main(int argc, char **argv) {
    player p = {0};
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!parse(&p, argc, argv))
        return 2;
    if (open_all(&p))
        obey(&p);
    pdk_lock_unref(p.lock);
    pdk_rwlock_unref(p.rwlock);
    pdk_election_unref(p.election);
    if (p.session)
        check(&p, "close", pdk_session_close(p.session, CLOSE_MS));
    pdk_session_unref(p.session);
    if (!p.failed)
        printf("done %s\n", p.identity);
    g_free(p.hosts);
    g_free(p.path);
    g_free(p.identity);
    g_free(p.mode);
    g_free(p.recipe);
    return p.failed ? 2 : EXIT_SUCCESS;
}

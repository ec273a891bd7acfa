/*
 * Servers that move. Three servers restart one after the other, each at a new address under its old name, while a quorum serves all the
 * time. One session holds a lock, and others wait for it. In each round all three servers move. Then the hold must be valid still, no
 * session may have expired, and those who wait must be granted in the order in which they came.
 */
#include <glib.h>
#include <paddock/paddock.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ts_clock.h>
#include <ts_moving.h>
#include <ts_names.h>

enum { WAITERS = 4, TICK_MS = 500, PATIENCE_MS = 30000 };

static int rounds = 10, timeout_s = 12;
static char *resolver = NULL;
static gboolean verbose, serve, silent;

struct player {
    pdk_session *session;
    pdk_lock *lock;
    pdk_hold *hold;
    atomic_int granted; /* its place in the order of grants; 0: none yet */
    atomic_int expired, suspended;
    pdk_status status;
};

static ts_moving *servers;
static struct player players[1 + WAITERS];
static atomic_int grants;

static void need(pdk_status status, const char *what) {
    if (status == PDK_OK)
        return;
    fprintf(stderr, "moved: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
    abort();
}

static void on_event(pdk_session_event event, int64_t left, void *user) {
    struct player *p = user;
    (void)left;
    atomic_fetch_add(&p->expired, event == PDK_SESSION_EXPIRED);
    atomic_fetch_add(&p->suspended, event == PDK_SESSION_SUSPENDED);
}

static void on_log(pdk_log_level level, const char *text, void *user) {
    if (verbose)
        fprintf(stderr, "%lld %d %d %s\n", (long long)ts_now_ms(), (int)((struct player *)user - players), level, text);
}

static void player_open(struct player *p) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = timeout_s * 1000;
    options.connect_timeout_ms = PATIENCE_MS;
    options.on_event = on_event;
    options.on_log = on_log;
    options.log_level = verbose ? PDK_LOG_INFO : PDK_LOG_ERROR;
    options.on_event_user = options.on_log_user = p;
    need(pdk_session_open(ts_moving_hosts(servers), &options, &p->session), "session");
    need(pdk_lock_new(p->session, "/moved/lock", NULL, &p->lock), "lock");
}

static void player_close(struct player *p) {
    pdk_lock_unref(p->lock);
    pdk_session_close(p->session, PATIENCE_MS);
    pdk_session_unref(p->session);
}

static void on_acquired(pdk_status status, pdk_hold *hold, void *user) {
    struct player *p = user;
    p->status = status;
    p->hold = hold;
    atomic_store(&p->granted, atomic_fetch_add(&grants, 1) + 1);
}

static bool is_granted(void *user) { return atomic_load(&((struct player *)user)->granted) != 0; }

static bool are_queued(void *count) {
    pdk_contenders *list = NULL;
    bool yes =
        pdk_lock_list(players[0].lock, 1000, &list) == PDK_OK && pdk_contenders_count(list) == GPOINTER_TO_SIZE(count);
    pdk_contenders_free(list);
    return yes;
}

/* "late", "never", "errors": what is wrong with the look-ups while server i moves. */
static void spoil(int i) {
    for (int k = 0; k < 3; k++)
        ts_moving_answers(servers, k, NULL);
    if (!resolver)
        return;
    if (strcmp(resolver, "late") == 0)
        for (int k = 0; k < 3; k++)
            ts_moving_answers(servers, k, "late=700 ");
    if (strcmp(resolver, "never") == 0)
        ts_moving_answers(servers, (i + 1) % 3, "never");
    if (strcmp(resolver, "errors") == 0)
        ts_moving_answers(servers, (i + 1) % 3, "error=-3");
}

static bool play(int round) {
    atomic_store(&grants, 0);
    for (int i = 0; i <= WAITERS; i++) {
        atomic_store(&players[i].granted, 0);
        players[i].hold = NULL;
        atomic_store(&players[i].suspended, 0);
        atomic_store(&players[i].expired, 0);
        need(pdk_lock_acquire_async(players[i].lock, PDK_FOREVER, on_acquired, &players[i], NULL), "acquire");
        if (!ts_wait_until(are_queued, GSIZE_TO_POINTER((gsize)i + 1), PATIENCE_MS))
            return printf("round %d: the queue is not complete\n", round), false;
    }
    ts_wait_until(is_granted, &players[0], PATIENCE_MS);
    int64_t began = ts_now_ms();
    for (int i = 0; i < 3; i++) {
        spoil(i);
        if (!ts_moving_move(servers, i))
            return printf("round %d: server %d does not serve\n", round, i + 1), false;
        ts_sleep_ms(300);
    }
    int64_t took = ts_now_ms() - began;
    ts_sleep_ms(timeout_s * 1100); /* what is lost by now is told by now */
    bool kept = pdk_hold_is_valid(players[0].hold), in_order = true;
    int expired = 0, suspended = 0;
    for (int i = 0; i <= WAITERS; i++) {
        expired += atomic_load(&players[i].expired);
        suspended += atomic_load(&players[i].suspended);
    }
    for (int i = 0; i <= WAITERS; i++) {
        in_order &= ts_wait_until(is_granted, &players[i], PATIENCE_MS) && players[i].status == PDK_OK &&
                    atomic_load(&players[i].granted) == i + 1;
        pdk_hold_release(players[i].hold);
    }
    printf("round %2d: moved in %4.1f s; the hold is %s; %d sessions expired, %d disconnects; the queue %s\n", round,
           (double)took / 1000, kept ? "kept" : "LOST", expired, suspended,
           in_order ? "kept its order" : "LOST ITS ORDER");
    return kept && expired == 0 && in_order;
}

/* For tests in other languages: "move 0" to "move 2", and "answers 0 WORDS" as ts_moving_answers, each answered with "ok". */
static int serve_orders(void) {
    char line[256];
    servers = ts_moving_start(TICK_MS);
    printf("names %s\nhosts %s\n", g_getenv("TS_NAMES"), ts_moving_hosts(servers));
    while (fgets(line, sizeof line, stdin)) {
        char **word = g_strsplit(g_strchomp(line), " ", 3);
        int i = word[0] && word[1] ? (int)g_ascii_strtoll(word[1], NULL, 10) : 0;
        bool fine = word[0] && strcmp(word[0], "move") == 0 && ts_moving_move(servers, i);
        if (word[0] && strcmp(word[0], "answers") == 0) {
            ts_moving_answers(servers, i, word[1] && word[2] && word[2][0] ? word[2] : NULL);
            fine = true;
        }
        printf("%s\n", fine ? "ok" : "failed");
        g_strfreev(word);
    }
    ts_moving_stop(servers);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
    const GOptionEntry entries[] = {
        {"rounds", 0, 0, G_OPTION_ARG_INT, &rounds, "how many rounds; 10", "N"},
        {"timeout", 0, 0, G_OPTION_ARG_INT, &timeout_s, "the session timeout in seconds; 12", "S"},
        {"resolver", 0, 0, G_OPTION_ARG_STRING, &resolver, "what is wrong with it: late, never, errors", "WHAT"},
        {"silent", 0, 0, G_OPTION_ARG_NONE, &silent, "addresses that a server has left answer nothing", NULL},
        {"serve", 0, 0, G_OPTION_ARG_NONE, &serve, "only the servers, moved by lines on standard input", NULL},
        {"verbose", 0, 0, G_OPTION_ARG_NONE, &verbose, "the log of all sessions", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new("- servers that move under their names");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, NULL) || rounds < 1 || timeout_s < 2)
        return 2;
    setlinebuf(stdout);
    if (serve)
        return serve_orders();
    servers = ts_moving_start(TICK_MS);
    ts_moving_leave_silence(servers, silent);
    for (int i = 0; i <= WAITERS; i++)
        player_open(&players[i]);
    int kept = 0;
    for (int round = 1; round <= rounds; round++)
        kept += play(round);
    for (int i = 0; i <= WAITERS; i++)
        player_close(&players[i]);
    printf("T = %d s%s%s: %d of %d rounds kept the hold and the order; %d look-ups\n", timeout_s,
           resolver ? ", the resolver: " : "", resolver ? resolver : "", kept, rounds, ts_names_asked());
    ts_moving_answers(servers, 0, NULL);
    ts_moving_stop(servers);
    return kept == rounds ? EXIT_SUCCESS : EXIT_FAILURE;
}

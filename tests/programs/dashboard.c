/* What a dashboard shows: a program that works on three servers, while things are done to them, and what a scraper reads of it.
 *
 *     dashboard [SECONDS]        60; `./run dashboard` draws it
 *
 * Threads of the watched session share a lock, another session takes it in turn, and one thread holds a lock for as long as it may. 120
 * times the figures are written as OpenMetrics, behind a line with the moment. What is done is a line, too:
 *
 *     # at 12.250
 *     # from 12.000 to 20.000: answers take 80 ms longer
 */
#include <glib.h>
#include <paddock/paddock.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <ts_clock.h>
#include <ts_ensemble.h>

enum { SESSION_MS = 4000, THREADS = 4, RIVALS = 2, SCRAPES = 120, DELAY_US = 40000 };

static atomic_bool stopping;
static int64_t began;
static double whole = 60;

static double seconds(void) { return (double)(ts_now_ns() - began) / 1e9; }

static void need(pdk_status status, const char *what) {
    if (status == PDK_OK)
        return;
    fprintf(stderr, "dashboard: %s: %s\n", what, pdk_last_error());
    exit(EXIT_FAILURE);
}

static pdk_session *open_session(const char *hosts) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *session = NULL;
    options.session_timeout_ms = SESSION_MS;
    options.stats_paths = 10;
    need(pdk_session_open(hosts, &options, &session), "open");
    return session;
}

/* ---- the load */

/* Takes the lock, works under it, and does something else. */
static void *work(void *lock) {
    GRand *rand = g_rand_new();
    while (!stopping) {
        pdk_hold *hold = NULL;
        if (pdk_lock_acquire(lock, 500, &hold) == PDK_OK) {
            g_usleep((gulong)g_rand_int_range(rand, 500, 3000));
            pdk_hold_release(hold);
        }
        g_usleep((gulong)g_rand_int_range(rand, 5000, 20000));
    }
    g_rand_free(rand);
    return NULL;
}

/* Holds for as long as it may, and at once again. */
static void *keep(void *lock) {
    while (!stopping) {
        pdk_hold *hold = NULL;
        if (pdk_lock_acquire(lock, 500, &hold) != PDK_OK)
            continue;
        while (!stopping && pdk_hold_is_valid(hold))
            g_usleep(10000);
        pdk_hold_release(hold);
    }
    return NULL;
}

/* ---- what is done meanwhile */

static void all_links(ts_ensemble *e, ts_proxy_mode mode, uint32_t delay_us) {
    for (int i = 0; i < ts_ensemble_size(e); i++) {
        ts_proxy_set_delay(ts_ensemble_proxy(e, i), delay_us, delay_us);
        ts_proxy_set_mode(ts_ensemble_proxy(e, i), mode);
    }
}

static int killed = -1;

static void slow(ts_ensemble *e) { all_links(e, TS_PASS, DELAY_US); }
static void silent(ts_ensemble *e) { all_links(e, TS_BLACKHOLE, 0); }
static void well(ts_ensemble *e) { all_links(e, TS_PASS, 0); }
static void kill_leader(ts_ensemble *e) {
    killed = ts_ensemble_leader(e);
    if (killed >= 0)
        ts_ensemble_kill(e, killed);
}
static void start_again(ts_ensemble *e) {
    if (killed >= 0)
        ts_ensemble_restart(e, killed);
}

/* Parts of the whole time. */
static const struct deed {
    double from, to;
    void (*begin)(ts_ensemble *e), (*end)(ts_ensemble *e);
    const char *what;
} deeds[] = {
    {0.15, 0.30, slow, well, "answers take 80 ms longer"},
    {0.40, 0.42, silent, well, "links silent, for less than the lease"},
    {0.52, 0.62, silent, well, "links silent, for longer"},
    {0.80, 0.87, kill_leader, start_again, "the leading server is dead"},
};

/* ---- the scraper */

static void scrape(pdk_session *session) {
    static char text[100000];
    size_t length;
    printf("# at %.3f\n", seconds());
    need(pdk_session_stats_text(session, text, sizeof text, &length), "figures");
    need(pdk_session_stats_reset(session), "reset");
    fputs(text, stdout);
}

static void scrape_until(pdk_session *session, double end) {
    while (seconds() < end) {
        scrape(session);
        g_usleep((gulong)(whole * 1e6 / SCRAPES));
    }
}

static void play(pdk_session *session, ts_ensemble *e) {
    for (size_t i = 0; i < G_N_ELEMENTS(deeds); i++) {
        scrape_until(session, deeds[i].from * whole);
        double from = seconds();
        deeds[i].begin(e);
        scrape_until(session, deeds[i].to * whole);
        deeds[i].end(e);
        printf("# from %.3f to %.3f: %s\n", from, seconds(), deeds[i].what);
    }
    scrape_until(session, whole);
}

/* ---- all of it */

static pdk_lock *lock_of(pdk_session *session, const char *path) {
    pdk_lock *lock = NULL;
    need(pdk_lock_new(session, path, NULL, &lock), path);
    return lock;
}

static void close_session(pdk_session *session) {
    need(pdk_session_close(session, 10000), "close");
    pdk_session_unref(session);
}

static void run(ts_ensemble *e) {
    pdk_session *watched = open_session(ts_ensemble_proxied_hosts(e)), *rival = open_session(ts_ensemble_hosts(e));
    pdk_lock *shared = lock_of(watched, "/orders"), *theirs = lock_of(rival, "/orders"),
             *kept = lock_of(watched, "/leader");
    pthread_t threads[THREADS + RIVALS + 1];
    began = ts_now_ns();
    for (int i = 0; i < THREADS + RIVALS; i++)
        pthread_create(&threads[i], NULL, work, i < THREADS ? shared : theirs);
    pthread_create(&threads[THREADS + RIVALS], NULL, keep, kept);
    play(watched, e);
    stopping = true;
    for (size_t i = 0; i < G_N_ELEMENTS(threads); i++)
        pthread_join(threads[i], NULL);
    pdk_lock_unref(shared);
    pdk_lock_unref(theirs);
    pdk_lock_unref(kept);
    close_session(watched);
    close_session(rival);
}

int main(int argc, char **argv) {
    char *end = NULL;
    if (argc > 1)
        whole = g_ascii_strtod(argv[1], &end);
    if (argc > 2 || (end && *end) || !(whole >= 1 && whole <= 3600)) {
        fprintf(stderr, "usage: dashboard [SECONDS]\n");
        return 2;
    }
    ts_ensemble *e = ts_ensemble_start(&(ts_ensemble_options){.nodes = 3});
    if (!e)
        return EXIT_FAILURE;
    run(e);
    ts_ensemble_stop(e);
    return EXIT_SUCCESS;
}

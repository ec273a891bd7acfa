/* Hand-overs between threads while other threads of the session await an election: an event wakes only the threads that wait
 * for it, so the ones that await cost the others nothing. Measured in turns: a ratio is made of each round. */
#include "figures.h"
#include "parts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <ts_clock.h>

enum { THREADS = 8, ROWS = 3, AWAITING_MOST = 200, SESSION_MS = 20000, SETTLE_MS = 300 };

static const int awaiting[ROWS] = {0, 50, AWAITING_MOST};

struct work {
    pdk_lock *lock;
    pdk_election *election;
    atomic_bool stop;
    atomic_long acquisitions;
};

static void *take_the_lock(void *user) {
    struct work *work = user;
    while (!work->stop) {
        pdk_hold *hold;
        bench_check(pdk_lock_acquire(work->lock, PDK_FOREVER, &hold));
        bench_check(pdk_hold_release(hold));
        atomic_fetch_add_explicit(&work->acquisitions, 1, memory_order_relaxed);
    }
    return NULL;
}

/* Until the candidate leaves: somebody else leads all the time. */
static void *await_office(void *user) {
    const struct work *work = user;
    pdk_hold *hold = NULL;
    if (pdk_election_wait(work->election, PDK_FOREVER, &hold) == PDK_OK)
        pdk_hold_unref(hold);
    return NULL;
}

static double rate_of(struct work *work, int round_ms) {
    long before = work->acquisitions;
    int64_t begin = ts_now_ns();
    ts_sleep_ms(round_ms);
    return (double)(work->acquisitions - before) * 1e9 / (double)(ts_now_ns() - begin);
}

static double measure(struct bench *bench, pdk_session *session, int others) {
    struct work work = {.lock = bench_lock(session, "/bench/awaiting")};
    pthread_t threads[THREADS], waiting[AWAITING_MOST];
    bench_check(pdk_election_new(session, "/bench/office", NULL, &work.election));
    bench_check(pdk_election_join(work.election, NULL));
    for (int i = 0; i < others; i++)
        pthread_create(&waiting[i], NULL, await_office, &work);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, take_the_lock, &work);
    ts_sleep_ms(SETTLE_MS);
    double rate = rate_of(&work, bench->quick ? 200 : 500);
    work.stop = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    bench_check(pdk_election_leave(work.election));
    for (int i = 0; i < others; i++)
        pthread_join(waiting[i], NULL);
    pdk_election_unref(work.election);
    pdk_lock_unref(work.lock);
    return rate;
}

void bench_awaiting(struct bench *bench) {
    pdk_session *leader = bench_open(ts_ensemble_host(bench->ensemble, 0), SESSION_MS);
    pdk_session *session = bench_open(ts_ensemble_host(bench->ensemble, 0), SESSION_MS);
    pdk_election *office;
    pdk_hold *hold;
    bench_check(pdk_election_new(leader, "/bench/office", NULL, &office));
    bench_check(pdk_election_join(office, NULL));
    bench_check(pdk_election_wait(office, 10000, &hold));
    GArray *rates[ROWS], *parts[ROWS];
    for (int i = 0; i < ROWS; i++) {
        rates[i] = figures_new();
        parts[i] = figures_new();
    }
    for (int round = 0; round < (bench->quick ? 3 : 9); round++) {
        double alone = measure(bench, session, 0);
        for (int i = 0; i < ROWS; i++) {
            double rate = awaiting[i] ? measure(bench, session, awaiting[i]) : alone;
            figures_add(rates[i], rate);
            figures_add(parts[i], rate / alone);
        }
    }
    for (int i = 0; i < ROWS; i++) {
        char what[96];
        printf("%d threads on one lock, %d others await an election: median %.0f acquisitions/s\n", THREADS,
               awaiting[i], figures_median(rates[i]));
        g_snprintf(what, sizeof what, "8 threads beside %d that await an election, of the rate alone", awaiting[i]);
        if (awaiting[i])
            bench_at_least(bench, what, figures_median(parts[i]), 0.8, "");
        g_array_unref(rates[i]);
        g_array_unref(parts[i]);
    }
    pdk_hold_unref(hold);
    pdk_election_unref(office);
    pdk_session_close(session, 5000);
    pdk_session_unref(session);
    pdk_session_close(leader, 5000);
    pdk_session_unref(leader);
}

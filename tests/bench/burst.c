/* A hold beside a burst of claims in its session. The burst must leave it the better part of its lease. */
#include "parts.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <ts_clock.h>

enum { TICK_MS = 200, SAMPLE_MS = 2, PATIENCE_MS = 120000, CLAIMS_MOST = 10000 };

struct burst {
    atomic_int granted, answered;
    pdk_hold *holds[CLAIMS_MOST]; /* each callback writes one; read when all are answered */
};

static void on_answer(pdk_status status, pdk_hold *hold, void *user) {
    struct burst *burst = user;
    if (status == PDK_OK)
        burst->holds[atomic_fetch_add(&burst->granted, 1)] = hold;
    atomic_fetch_add(&burst->answered, 1);
}

/* The least that the hold had left, in ms, until all claims were answered. */
static int64_t least_left(const pdk_hold *hold, const struct burst *burst, int claims, int64_t least) {
    int64_t end = ts_now_ms() + PATIENCE_MS;
    while (atomic_load(&burst->answered) < claims && ts_now_ms() < end) {
        int64_t left = pdk_hold_remaining_ms(hold);
        least = left < least ? left : least;
        ts_sleep_ms(SAMPLE_MS);
    }
    return least;
}

static void run(struct bench *bench, const char *address, int claims, int session_ms) {
    struct burst *burst = g_new0(struct burst, 1);
    pdk_session *session = bench_open(address, session_ms);
    pdk_lock *lock = bench_lock(session, "/bench/beside");
    pdk_rwlock *rwlock;
    pdk_hold *hold;
    char what[100];
    bench_check(pdk_rwlock_new(session, "/bench/burst", NULL, &rwlock));
    bench_check(pdk_lock_acquire(lock, PATIENCE_MS, &hold));
    ts_sleep_ms(session_ms);
    int64_t begin = ts_now_ns();
    for (int i = 0; i < claims; i++)
        bench_check(pdk_rwlock_acquire_read_async(rwlock, PATIENCE_MS, on_answer, burst, NULL));
    double claimed = (double)(ts_now_ns() - begin) / 1e9;
    int64_t left = least_left(hold, burst, claims, pdk_hold_remaining_ms(hold));
    double all = (double)(ts_now_ns() - begin) / 1e9;
    printf(
        "%5d claims, T = %2d s: claimed in %.2f s, %d granted and all answered in %.2f s, least lease left %lld ms\n",
        claims, session_ms / 1000, claimed, atomic_load(&burst->granted), all, (long long)left);
    g_snprintf(what, sizeof what, "least lease beside %d claims, T = %d s, parts of T", claims, session_ms / 1000);
    bench_at_least(bench, what, (double)left / session_ms, 1.0 / 8, "T");
    for (int i = 0; i < atomic_load(&burst->granted); i++)
        pdk_hold_release(burst->holds[i]);
    pdk_hold_release(hold);
    pdk_rwlock_unref(rwlock);
    pdk_lock_unref(lock);
    pdk_session_close(session, PATIENCE_MS);
    pdk_session_unref(session);
    g_free(burst);
}

void bench_burst(struct bench *bench) {
    static const int timeouts_ms[] = {2000, 4000, 10000};
    ts_ensemble *ensemble = ts_ensemble_start(&(ts_ensemble_options){.tick_ms = TICK_MS});
    if (!ensemble)
        exit(EXIT_FAILURE);
    for (size_t i = 0; i < G_N_ELEMENTS(timeouts_ms); i++) {
        run(bench, ts_ensemble_host(ensemble, 0), 3000, timeouts_ms[i]);
        if (!bench->quick)
            run(bench, ts_ensemble_host(ensemble, 0), CLAIMS_MOST, timeouts_ms[i]);
    }
    ts_ensemble_stop(ensemble);
}

/* Threads of one process on one lock: the hand-over that needs no server. */
#include "bench.h"
#include "figures.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <ts_clock.h>

enum { THREADS = 8, SESSION_MS = 20000 };

struct thread_work {
    pdk_lock *lock;
    atomic_bool stop;
    atomic_long acquisitions;
    long guarded; /* guarded by the lock alone */
};

static void *acquire_and_release(void *user) {
    struct thread_work *work = user;
    while (!work->stop) {
        pdk_hold *hold;
        bench_check(pdk_lock_acquire(work->lock, PDK_FOREVER, &hold));
        work->guarded++;
        bench_check(pdk_hold_release(hold));
        atomic_fetch_add_explicit(&work->acquisitions, 1, memory_order_relaxed);
    }
    return NULL;
}

void bench_threads(struct bench *bench) {
    const int rounds = bench->quick ? 3 : 7, round_ms = bench->quick ? 300 : 1000;
    pdk_session *session = bench_open(ts_ensemble_host(bench->ensemble, 0), SESSION_MS);
    struct thread_work work = {.lock = bench_lock(session, "/bench/threads")};
    pthread_t threads[THREADS];
    GArray *rates = figures_new();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, acquire_and_release, &work);
    ts_sleep_ms(200);
    for (int round = 0; round < rounds; round++) {
        long before = work.acquisitions;
        int64_t begin = ts_now_ns();
        ts_sleep_ms(round_ms);
        figures_add(rates, (double)(work.acquisitions - before) * 1e9 / (double)(ts_now_ns() - begin));
    }
    work.stop = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d threads on one lock, %d rounds of %d ms: median %.0f acquisitions/s, least %.0f, most %.0f\n", THREADS,
           rounds, round_ms, figures_median(rates), figures_at(rates, 0), figures_at(rates, 1));
    bench_at_least(bench, "8 threads of one process, acquisitions per second", figures_median(rates), 30000, "per s");
    bench_at_most(bench, "8 threads: acquisitions that another one overlapped",
                  (double)(work.acquisitions - work.guarded), 0, "");
    g_array_unref(rates);
    pdk_lock_unref(work.lock);
    pdk_session_close(session, 5000);
    pdk_session_unref(session);
}

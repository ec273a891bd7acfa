/* The cost of a set of a guarded znode, next to that of a bare set of as many bytes. */
#include "bare.h"
#include "figures.h"
#include "parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <ts_clock.h>

enum { CALLS = 100, PAYLOAD = 100, HEADER = 72, PATIENCE_MS = 10000 };

static double bare_round(struct bare *bare) {
    static const char data[HEADER + PAYLOAD];
    int64_t begin = ts_now_ns();
    for (int i = 0; i < CALLS; i++)
        if (!bare_set(bare, "/bench/plain", data, sizeof data))
            abort();
    return (double)(ts_now_ns() - begin) / CALLS / 1e6;
}

static double guarded_round(pdk_guarded *guarded) {
    static const char data[PAYLOAD];
    int64_t begin = ts_now_ns();
    for (int i = 0; i < CALLS; i++)
        bench_check(pdk_guarded_write(guarded, data, sizeof data, PATIENCE_MS));
    return (double)(ts_now_ns() - begin) / CALLS / 1e6;
}

static double open_round(pdk_hold *hold) {
    pdk_guarded *guarded;
    int64_t begin = ts_now_ns();
    bench_check(pdk_guarded_open(hold, "/bench/guarded", PATIENCE_MS, &guarded));
    double taken = (double)(ts_now_ns() - begin) / 1e6;
    pdk_guarded_close(guarded);
    return taken;
}

void bench_guarded(struct bench *bench) {
    const int rounds = bench->quick ? 5 : 30;
    pdk_session *session = bench_open(ts_ensemble_host(bench->ensemble, 0), 20000);
    pdk_lock *lock = bench_lock(session, "/bench/guard");
    struct bare *bare = bare_open(ts_ensemble_host(bench->ensemble, 0), 20000);
    pdk_hold *hold;
    pdk_guarded *guarded, *plain;
    GArray *with = figures_new(), *without = figures_new(), *opens = figures_new();
    bench_check(pdk_lock_acquire(lock, PDK_FOREVER, &hold));
    bench_check(pdk_guarded_open(hold, "/bench/plain", PATIENCE_MS, &plain)); /* so that it exists */
    pdk_guarded_close(plain);
    for (int round = 0; round < rounds; round++)
        figures_add(opens, open_round(hold));
    bench_check(pdk_guarded_open(hold, "/bench/guarded", PATIENCE_MS, &guarded));
    bench_check(pdk_guarded_create(guarded, "", 0, PATIENCE_MS));
    for (int round = 0; round < rounds; round++) {
        figures_add(without, bare_round(bare));
        figures_add(with, guarded_round(guarded));
    }
    printf("a set of %d bytes, %d rounds of %d: guarded median %.3f ms, bare %.3f ms; an open %.3f ms\n", PAYLOAD,
           rounds, CALLS, figures_median(with), figures_median(without), figures_median(opens));
    bench_at_most(bench, "a guarded set, over a bare one", figures_median(with) / figures_median(without), 1.5,
                  "times");
    g_array_unref(with);
    g_array_unref(without);
    g_array_unref(opens);
    pdk_guarded_close(guarded);
    bare_close(bare);
    pdk_hold_release(hold);
    pdk_lock_unref(lock);
    pdk_session_close(session, 5000);
    pdk_session_unref(session);
}

/* The cost of asking a hold. pdk_hold_is_valid is called before every write, so it must cost next to nothing. */
#include "figures.h"
#include "parts.h"

#include <stdio.h>
#include <ts_clock.h>

enum { CALLS = 1000000 };

void bench_valid(struct bench *bench) {
    const int rounds = bench->quick ? 3 : 15;
    pdk_session *session = bench_open(ts_ensemble_host(bench->ensemble, 0), 20000);
    pdk_lock *lock = bench_lock(session, "/bench/valid");
    pdk_hold *hold;
    GArray *costs = figures_new();
    long invalid = 0;
    bench_check(pdk_lock_acquire(lock, PDK_FOREVER, &hold));
    for (int round = 0; round < rounds; round++) {
        int64_t begin = ts_now_ns();
        for (int i = 0; i < CALLS; i++)
            invalid += !pdk_hold_is_valid(hold);
        figures_add(costs, (double)(ts_now_ns() - begin) / CALLS);
    }
    printf("pdk_hold_is_valid, %d rounds of %d calls: median %.1f ns, least %.1f, most %.1f\n", rounds, CALLS,
           figures_median(costs), figures_at(costs, 0), figures_at(costs, 1));
    bench_at_most(bench, "pdk_hold_is_valid", figures_median(costs), 100, "ns");
    bench_at_most(bench, "pdk_hold_is_valid: calls that said no", (double)invalid, 0, "");
    g_array_unref(costs);
    pdk_hold_release(hold);
    pdk_lock_unref(lock);
    pdk_session_close(session, 5000);
    pdk_session_unref(session);
}

/* One client alone: acquire + release, compared with the same cycle of the hand-written client; then behind a slow
 * link. */
#include "bare.h"
#include "bench.h"
#include "figures.h"

#include <stdio.h>
#include <ts_clock.h>
#include <ts_observer.h>

enum { SESSION_MS = 20000, ONE_WAY_US = 5000, WARM_UP = 300 };

#define LIBRARY_PATH "/bench/library"
#define BARE_PATH "/bench/bare"

struct pair {
    pdk_session *session;
    pdk_lock *lock;
    struct bare *bare;
};

static void pair_open(struct pair *pair, const char *address) {
    pair->session = bench_open(address, SESSION_MS);
    pair->lock = bench_lock(pair->session, LIBRARY_PATH);
    pair->bare = bare_open(address, SESSION_MS);
    g_assert(pair->bare);
}

static void pair_close(struct pair *pair) {
    bare_close(pair->bare);
    pdk_lock_unref(pair->lock);
    pdk_session_close(pair->session, 5000);
    pdk_session_unref(pair->session);
}

static double us_since(int64_t begin) { return (double)(ts_now_ns() - begin) / 1000; }

static void library_cycle(struct pair *pair) {
    pdk_hold *hold;
    bench_check(pdk_lock_acquire(pair->lock, PDK_FOREVER, &hold));
    bench_check(pdk_hold_release(hold));
}

static void bare_cycle(struct pair *pair) {
    if (!bare_acquire(pair->bare, BARE_PATH))
        g_error("the bare client got no lock");
    bare_release(pair->bare);
}

/* Runs so many cycles. Returns their mean in microseconds, and adds each of them to `each`. */
static double round_of(struct pair *pair, void (*cycle)(struct pair *), int cycles, GArray *each) {
    int64_t begin = ts_now_ns();
    for (int i = 0; i < cycles; i++) {
        int64_t start = ts_now_ns();
        cycle(pair);
        figures_add(each, us_since(start));
    }
    double mean = us_since(begin) / cycles;
    bench_check(pdk_session_flush(pair->session, 10000));
    g_assert(bare_flush(pair->bare));
    return mean;
}

struct side {
    GArray *each, *rounds;
};

static void print_side(const char *name, const struct side *side) {
    printf("  %-8s one cycle: median %7.1f us, 90 %% %7.1f us; rounds: median of means %7.1f us\n", name,
           figures_median(side->each), figures_at(side->each, 0.9), figures_median(side->rounds));
}

void bench_cycles(struct bench *bench) {
    const int rounds = bench->quick ? 6 : 20, cycles = bench->quick ? 100 : 500;
    struct pair pair;
    struct side library = {figures_new(), figures_new()}, bare = {figures_new(), figures_new()};
    GArray *warm = figures_new(), *ratios = figures_new();
    ts_create(ts_ensemble_hosts(bench->ensemble), BARE_PATH, "", TS_PERSISTENT, NULL);
    pair_open(&pair, ts_ensemble_host(bench->ensemble, 0));
    round_of(&pair, library_cycle, WARM_UP, warm);
    round_of(&pair, bare_cycle, WARM_UP, warm);
    for (int round = 0; round < rounds; round++) {
        double of[2];
        for (int turn = 0; turn < 2; turn++) {
            bool ours = (round + turn) % 2 == 0;
            of[ours] = ours ? round_of(&pair, library_cycle, cycles, library.each)
                            : round_of(&pair, bare_cycle, cycles, bare.each);
        }
        figures_add(library.rounds, of[1]);
        figures_add(bare.rounds, of[0]);
        figures_add(ratios, of[1] / of[0]);
    }
    printf("acquire + release, nobody else, %d rounds of %d cycles each in turns:\n", rounds, cycles);
    print_side("paddock", &library);
    print_side("by hand", &bare);
    bench_at_most(bench, "acquire + release / by hand, median cycles",
                  figures_median(library.each) / figures_median(bare.each), 1.1, "times");
    bench_at_most(bench, "acquire + release / by hand, median of rounds", figures_median(ratios), 1.1, "times");
    GArray *const all[] = {library.each, library.rounds, bare.each, bare.rounds, warm, ratios};
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        g_array_unref(all[i]);
    pair_close(&pair);
}

void bench_far(struct bench *bench) {
    const int count = bench->quick ? 30 : 150;
    struct pair pair;
    GArray *library = figures_new(), *bare = figures_new();
    ts_proxy *proxy = ts_proxy_start(ts_ensemble_host(bench->ensemble, 0));
    ts_create(ts_ensemble_hosts(bench->ensemble), BARE_PATH, "", TS_PERSISTENT, NULL);
    ts_proxy_set_delay(proxy, ONE_WAY_US, ONE_WAY_US);
    pair_open(&pair, ts_proxy_address(proxy));
    library_cycle(&pair); /* makes the directory, once */
    for (int i = 0; i < count; i++) {
        pdk_hold *hold;
        bench_check(pdk_session_flush(pair.session, 10000));
        int64_t start = ts_now_ns();
        bench_check(pdk_lock_acquire(pair.lock, PDK_FOREVER, &hold));
        figures_add(library, us_since(start) / 1000);
        bench_check(pdk_hold_release(hold));
        start = ts_now_ns();
        g_assert(bare_create(pair.bare, BARE_PATH));
        figures_add(bare, us_since(start) / 1000);
        bare_release(pair.bare);
        g_assert(bare_flush(pair.bare));
    }
    printf("behind a link of 10 ms round trip, %d times each in turns:\n", count);
    printf("  paddock  acquire: median %6.2f ms, 90 %% %6.2f ms\n", figures_median(library), figures_at(library, 0.9));
    printf("  by hand  create2: median %6.2f ms, 90 %% %6.2f ms\n", figures_median(bare), figures_at(bare, 0.9));
    bench_at_most(bench, "10 ms away: acquire / one bare create2, medians",
                  figures_median(library) / figures_median(bare), 1.1, "times");
    g_array_unref(library);
    g_array_unref(bare);
    pair_close(&pair);
    ts_proxy_stop(proxy);
}

/* What each recipe costs in round trips, next to the number that its page has.
 *
 *     get_ready ──► quiet ──► from here: act ──► so far ──► clean_up        three times and more; the fewest count
 *
 * A call is measured over a link whose round trip takes 40 ms: what it waits for, whatever else is on the way, as a renewal or the watch
 * on the node of a hold. It can take longer than its round trips, on a busy machine, but never less. So a try that takes more is
 * made again, up to thirty times. What nobody waits for is counted from packets, on a fast link: those are the rows "with all". */
#include "parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <ts_clock.h>
#include <ts_proxy.h>

enum {
    SESSION_MS = 60000,
    TIMES = 3,
    TIMES_MOST = 30,
    ONE_WAY_US = 20000,
    QUIET_MS = 100,
    PATIENCE_MS = 10000,
    LOCKS = 5,
    MEMBERS = 10,
    STRIPES = 8,
    DELAY_MS = 1000
};

static struct {
    ts_proxy *proxy;
    pdk_session *ours, *theirs; /* ours through the proxy */
    pdk_lock *lock[LOCKS], *their_lock, *delayed, *their_delayed;
    pdk_striped *striped;
    pdk_job *job, *daily, *their_daily;
    pdk_lease_lock *lease;
    pdk_hold *hold, *their_hold;
    pdk_set *set;
    pdk_member *members[MEMBERS + 1];
    pdk_group_watcher *watcher;
    gint views, granted; /* atomic */
} it;

static void flush(void) {
    bench_check(pdk_session_flush(it.ours, PATIENCE_MS));
    bench_check(pdk_session_flush(it.theirs, PATIENCE_MS));
    ts_sleep_ms(QUIET_MS);
}

static void release(void) {
    pdk_set *set = g_steal_pointer(&it.set);
    bench_check(set ? pdk_set_release(set) : pdk_hold_release(g_steal_pointer(&it.hold)));
    flush();
}

/* ---- lock, set, striped */

static void take_it(void) { bench_check(pdk_lock_acquire(it.lock[0], PATIENCE_MS, &it.hold)); }

static void take_all(size_t count) {
    pdk_right rights[LOCKS];
    for (size_t i = 0; i < count; i++)
        rights[i] = pdk_right_lock(it.lock[i]);
    bench_check(pdk_set_acquire(rights, count, PATIENCE_MS, NULL, &it.set));
}

static void take_one(void) { take_all(1); }
static void take_two(void) { take_all(2); }
static void take_five(void) { take_all(5); }
static void take_key(void) { bench_check(pdk_striped_acquire(it.striped, "a", PATIENCE_MS, &it.hold)); }
static void take_any(void) { bench_check(pdk_striped_acquire_any(it.striped, PATIENCE_MS, &it.hold)); }

static void take_keys(void) {
    static const char *const keys[] = {"a", "b"}; /* of two stripes */
    bench_check(pdk_striped_acquire_keys(it.striped, keys, 2, PATIENCE_MS, NULL, &it.set));
}

/* ---- job, lease lock */

static void begin_job(void) { bench_check(pdk_job_acquire(it.job, PATIENCE_MS, &it.hold, NULL)); }

static void finish_job(void) { bench_check(pdk_job_finish(it.job, g_steal_pointer(&it.hold), 0, PATIENCE_MS)); }

static void finish_and_flush(void) {
    finish_job();
    flush();
}

static void skip_job(void) {
    if (pdk_job_acquire(it.daily, PATIENCE_MS, &it.hold, NULL) != PDK_SKIPPED)
        g_error("the job was not skipped: %s", pdk_last_error());
}

static void run_daily(void) {
    if (pdk_job_acquire(it.their_daily, PATIENCE_MS, &it.their_hold, NULL) == PDK_OK)
        bench_check(pdk_job_finish(it.their_daily, g_steal_pointer(&it.their_hold), 0, PATIENCE_MS));
    flush();
}

static void take_lease(void) { bench_check(pdk_lease_lock_acquire(it.lease, PATIENCE_MS, &it.hold)); }

static void give_lease_back(void) {
    bench_check(pdk_lease_lock_release(it.lease, g_steal_pointer(&it.hold), PATIENCE_MS));
}

static void end_lease(void) {
    give_lease_back();
    flush();
}

/* Held, and its hold alone released: it stands for its secret. */
static void leave_lease(void) {
    take_lease();
    release();
}

static void hold_lease(void) {
    take_lease();
    flush();
}

static void renew_lease(void) { ts_sleep_ms(DELAY_MS + QUIET_MS); }

/* ---- lock-delay */

static void take_delayed(void) { bench_check(pdk_lock_acquire(it.delayed, PATIENCE_MS, &it.hold)); }

static void on_granted(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    bench_check(status);
    it.hold = hold;
    g_atomic_int_inc(&it.granted);
}

/* They hold, and we are next. */
static void wait_behind(void) {
    pdk_claim *claim;
    int32_t ahead;
    g_atomic_int_set(&it.granted, 0);
    bench_check(pdk_lock_acquire(it.their_delayed, PATIENCE_MS, &it.their_hold));
    bench_check(pdk_lock_acquire_async(it.delayed, PDK_FOREVER, on_granted, NULL, &claim));
    while (pdk_claim_position(claim, &ahead) == PDK_UNAVAILABLE)
        g_usleep(1000);
    pdk_claim_unref(claim);
    flush();
}

static void they_release(void) {
    bench_check(pdk_hold_release(g_steal_pointer(&it.their_hold)));
    while (g_atomic_int_get(&it.granted) == 0)
        g_usleep(100);
}

/* ---- revocation */

static void they_hold(void) {
    bench_check(pdk_lock_acquire(it.their_lock, PATIENCE_MS, &it.their_hold));
    flush();
}

static void they_give_back(void) {
    pdk_hold_release(g_steal_pointer(&it.their_hold)); /* it may be broken */
    flush();
}

static void ask(void) { bench_check(pdk_session_request_release(it.ours, "/costs/asked", NULL, "me", 0, PATIENCE_MS)); }

static void ask_by_name(void) {
    const char *name = strrchr(pdk_hold_node(it.their_hold), '/') + 1;
    bench_check(pdk_session_request_release(it.ours, "/costs/asked", name, "me", 0, PATIENCE_MS));
}

static void break_it(void) {
    bench_check(
        pdk_session_break(it.ours, pdk_hold_node(it.their_hold), pdk_hold_token(it.their_hold), PATIENCE_MS, NULL));
}

/* ---- group */

static void join(pdk_session *session, pdk_member **out) {
    pdk_hold *hold;
    bench_check(pdk_group_join(session, "/costs/group", "data", 4, NULL, out));
    bench_check(pdk_member_wait(*out, PATIENCE_MS, &hold));
    pdk_hold_unref(hold);
}

static void join_ours(void) { join(it.ours, &it.members[MEMBERS]); }

static void leave_ours(void) {
    pdk_member_unref(g_steal_pointer(&it.members[MEMBERS]));
    bench_check(pdk_session_flush(it.ours, PATIENCE_MS));
}

static void set_ours(void) { bench_check(pdk_member_set_data(it.members[MEMBERS], "other", 5, PATIENCE_MS)); }
static void set_theirs(void) { bench_check(pdk_member_set_data(it.members[0], "other", 5, PATIENCE_MS)); }
static void join_theirs(void) { join(it.theirs, &it.members[MEMBERS]); }

static void leave_theirs(void) {
    pdk_member_unref(g_steal_pointer(&it.members[MEMBERS]));
    bench_check(pdk_session_flush(it.theirs, PATIENCE_MS));
}

static void on_view(pdk_group_view *view, void *user) {
    (void)view;
    (void)user;
    g_atomic_int_inc(&it.views);
}

static void watch(void) {
    g_atomic_int_set(&it.views, 0);
    bench_check(pdk_group_watch(it.ours, "/costs/group", on_view, NULL, NULL, &it.watcher));
    while (g_atomic_int_get(&it.views) == 0)
        g_usleep(100);
}

static void watch_and_flush(void) {
    watch();
    flush();
}

static void stop_watching(void) {
    pdk_group_watcher_close(g_steal_pointer(&it.watcher));
    flush();
}

static void watch_beside_one(void) {
    join_theirs();
    watch_and_flush();
}

static void stop_and_leave(void) {
    stop_watching();
    leave_theirs();
    flush();
}

static void nothing(void) {}

/* ---- the table */

static const struct {
    const char *what;
    void (*get_ready)(void), (*act)(void);
    bool with_all; /* also what comes within QUIET_MS after that */
    void (*clean_up)(void);
    double rounds;
} costs[] = {
    {"a free lock", nothing, take_it, false, release, 1},
    {"all of 1 right", nothing, take_one, false, release, 1},
    {"all of 2 rights", nothing, take_two, false, release, 2},
    {"all of 5 rights", nothing, take_five, false, release, 5},
    {"striped: a key", nothing, take_key, false, release, 1},
    {"striped: any stripe", nothing, take_any, false, release, 2},
    {"striped: keys of 2 stripes", nothing, take_keys, false, release, 2},
    {"job: a begin that runs", nothing, begin_job, false, finish_and_flush, 4},
    {"job: a finish", begin_job, finish_job, false, flush, 2},
    {"job: a begin that is skipped", run_daily, skip_job, false, flush, 3},
    {"lease lock: acquire", nothing, take_lease, false, end_lease, 3},
    {"lease lock: a renewal, with all", hold_lease, renew_lease, true, end_lease, 2},
    {"lease lock: taken back", leave_lease, take_lease, false, end_lease, 3},
    {"lease lock: release", hold_lease, give_lease_back, false, flush, 2},
    {"lock-delay: a free lock", nothing, take_delayed, false, release, 2},
    {"lock-delay: after a release", wait_behind, they_release, false, release, 1},
    {"an ask, by path", they_hold, ask, false, they_give_back, 3},
    {"an ask, by name", they_hold, ask_by_name, false, they_give_back, 2},
    {"a break", they_hold, break_it, false, they_give_back, 2},
    {"group: join", nothing, join_ours, false, leave_ours, 1},
    {"group: a set", join_ours, set_ours, false, leave_ours, 1},
    {"group: leave, with all", join_ours, leave_ours, true, flush, 1},
    {"group: the first view of 10 members", nothing, watch, false, stop_watching, 2},
    {"group: a watcher, when one's data change, with all", watch_and_flush, set_theirs, true, stop_watching, 1},
    {"group: a watcher, when one joins, with all", watch_and_flush, join_theirs, true, stop_and_leave, 2},
    {"group: a watcher, when one leaves, with all", watch_beside_one, leave_theirs, true, stop_watching, 2},
};

static void set_delay(uint32_t us) { ts_proxy_set_delay(it.proxy, us, us); }

static double measure(size_t row, ts_proxy_counters *counters) {
    bool with_all = costs[row].with_all;
    costs[row].get_ready();
    ts_sleep_ms(QUIET_MS);
    set_delay(with_all ? 0 : (uint32_t)ONE_WAY_US);
    ts_proxy_zero(it.proxy);
    int64_t begun = ts_now_ns();
    costs[row].act();
    int64_t taken = ts_now_ns() - begun;
    if (with_all)
        ts_sleep_ms(QUIET_MS);
    ts_proxy_read(it.proxy, counters);
    set_delay(0);
    costs[row].clean_up();
    return with_all ? (double)counters->rounds : (double)(taken / (2 * ONE_WAY_US * 1000));
}

static double rounds_of(size_t row) {
    double least = INFINITY;
    uint64_t requests = UINT64_MAX, writes = UINT64_MAX;
    for (int i = 0; i < TIMES || (i < TIMES_MOST && least > costs[row].rounds); i++) {
        ts_proxy_counters counters;
        least = MIN(least, measure(row, &counters));
        requests = MIN(requests, counters.requests);
        writes = MIN(writes, counters.writes);
    }
    printf("  %-60s requests %3d, of these writes %2d\n", costs[row].what, (int)requests, (int)writes);
    return least;
}

/* Each stripe has its directory, which whoever comes first makes. */
static void make_stripes(void) {
    for (int32_t i = 0; i < STRIPES; i++) {
        pdk_lock *lock;
        bench_check(pdk_striped_lock(it.striped, i, &lock));
        bench_check(pdk_lock_acquire(lock, PATIENCE_MS, &it.hold));
        release();
        pdk_lock_unref(lock);
    }
}

static void open_recipes(void) {
    pdk_lock_options delayed = PDK_LOCK_OPTIONS_INIT;
    pdk_job_options daily = PDK_JOB_OPTIONS_INIT;
    pdk_lease_lock_options lease = PDK_LEASE_LOCK_OPTIONS_INIT;
    delayed.lock_delay_ms = DELAY_MS;
    daily.every_ms = 24 * 3600 * 1000;
    lease.duration_ms = 3 * DELAY_MS;
    lease.secret = "what nobody can guess";
    for (int i = 0; i < LOCKS; i++) {
        g_autofree char *path = g_strdup_printf("/costs/all/%d", i);
        it.lock[i] = bench_lock(it.ours, path);
    }
    it.their_lock = bench_lock(it.theirs, "/costs/asked");
    bench_check(pdk_lock_new(it.ours, "/costs/delayed", &delayed, &it.delayed));
    bench_check(pdk_lock_new(it.theirs, "/costs/delayed", &delayed, &it.their_delayed));
    bench_check(pdk_striped_new(it.ours, "/costs/striped", STRIPES, NULL, &it.striped));
    bench_check(pdk_job_new(it.ours, "/costs/job", NULL, &it.job));
    bench_check(pdk_job_new(it.ours, "/costs/daily", &daily, &it.daily));
    bench_check(pdk_job_new(it.theirs, "/costs/daily", &daily, &it.their_daily));
    bench_check(pdk_lease_lock_new(it.ours, "/costs/lease", &lease, &it.lease));
    make_stripes();
    for (int i = 0; i < MEMBERS; i++)
        join(it.theirs, &it.members[i]);
}

static void close_recipes(void) {
    for (int i = 0; i < MEMBERS; i++)
        pdk_member_unref(g_steal_pointer(&it.members[i]));
    for (int i = 0; i < LOCKS; i++)
        pdk_lock_unref(it.lock[i]);
    pdk_lock_unref(it.their_lock);
    pdk_lock_unref(it.delayed);
    pdk_lock_unref(it.their_delayed);
    pdk_striped_unref(it.striped);
    pdk_job_unref(it.job);
    pdk_job_unref(it.daily);
    pdk_job_unref(it.their_daily);
    pdk_lease_lock_unref(it.lease);
}

void bench_costs(struct bench *bench) {
    it.proxy = ts_proxy_start(ts_ensemble_host(bench->ensemble, 0));
    it.ours = bench_open(ts_proxy_address(it.proxy), SESSION_MS);
    it.theirs = bench_open(ts_ensemble_host(bench->ensemble, 0), SESSION_MS);
    open_recipes();
    printf("what is sent, at least, by a session with nothing else to do:\n");
    for (size_t i = 0; i < G_N_ELEMENTS(costs); i++)
        bench_exactly(bench, costs[i].what, rounds_of(i), costs[i].rounds, "rounds");
    close_recipes();
    pdk_session_close(it.ours, PATIENCE_MS);
    pdk_session_close(it.theirs, PATIENCE_MS);
    pdk_session_unref(it.ours);
    pdk_session_unref(it.theirs);
    ts_proxy_stop(it.proxy);
}

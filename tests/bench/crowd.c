/* Thousands of claims in one session, on one path and on many: how long another thread of the process waits for the session when all
 * of them have something to do at once. A session beside it, with nothing to do, shows what the machine itself takes.
 *
 * The threads run at real-time priority where that is allowed. Else the system may take the processor from the thread that
 * has the session's monitor, for the servers' sake, and a slice of several milliseconds is measured instead of the library. */
#include "parts.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <ts_clock.h>
#include <ts_expire.h>

enum { CROWD = 5000, CROWD_QUICK = 500, SESSION_MS = 30000, QUIET_MS = 500, LIMIT_MS = 300000, WAIT_MS_MAX = 5 };

struct crowd {
    struct bench *bench;
    const char *kind;
    int count;
    ts_proxy *proxy;
    pdk_session *session, *idle, *others; /* others: it has what the crowd waits for */
    pdk_rwlock *table, *others_table;
    pdk_lock **locks, **others_locks;
    pdk_hold **holds, **others_holds;
    atomic_int granted, answered, others_granted;
    /* the thread that calls all the time */
    atomic_bool stop;
    _Atomic int64_t longest, longest_idle; /* ns */
};

static int64_t call(pdk_session *session) {
    int64_t before = ts_now_ns();
    pdk_session_timeout_ms(session);
    return ts_now_ns() - before;
}

static void keep(_Atomic int64_t *longest, int64_t ns) {
    if (ns > atomic_load(longest))
        atomic_store(longest, ns);
}

static void *call_all_the_time(void *user) {
    struct crowd *c = user;
    while (!atomic_load(&c->stop)) {
        keep(&c->longest, call(c->session));
        keep(&c->longest_idle, call(c->idle));
        g_usleep(200);
    }
    return NULL;
}

static void on_acquired(pdk_status status, pdk_hold *hold, void *user) {
    struct crowd *c = user;
    if (status == PDK_OK)
        c->holds[atomic_fetch_add(&c->granted, 1)] = hold;
    atomic_fetch_add(&c->answered, 1);
}

static void on_others(pdk_status status, pdk_hold *hold, void *user) {
    struct crowd *c = user;
    bench_check(status);
    c->others_holds[atomic_fetch_add(&c->others_granted, 1)] = hold;
}

/* Until nothing has gone through the proxy for a while. */
static void await_quiet(struct crowd *c) {
    ts_proxy_counters last = {0}, now = {0};
    for (int64_t until = ts_now_ms() + LIMIT_MS, since = ts_now_ms(); ts_now_ms() < until; ts_sleep_ms(20)) {
        ts_proxy_read(c->proxy, &now);
        if (now.requests != last.requests || now.replies != last.replies)
            since = ts_now_ms();
        last = now;
        if (ts_now_ms() - since > QUIET_MS)
            return;
    }
    fprintf(stderr, "bench: it does not come to rest\n");
}

static void await_count(atomic_int *count, int wanted) {
    for (int64_t until = ts_now_ms() + LIMIT_MS; atomic_load(count) < wanted && ts_now_ms() < until;)
        ts_sleep_ms(5);
    if (atomic_load(count) < wanted)
        bench_check(PDK_TIMEOUT);
}

static void begin_phase(struct crowd *c) {
    ts_proxy_zero(c->proxy);
    atomic_store(&c->longest, 0);
    atomic_store(&c->longest_idle, 0);
}

static void end_phase(struct crowd *c, const char *phase) {
    char what[96];
    double ms = (double)atomic_load(&c->longest) / 1e6, idle = (double)atomic_load(&c->longest_idle) / 1e6;
    printf("%5d on %-10s %-22s longest wait %8.2f ms, beside an idle session's %6.2f ms; %6lu barriers\n", c->count,
           c->kind, phase, ms, idle, (unsigned long)ts_proxy_count(c->proxy, TS_OP_MULTI));
    fflush(stdout);
    g_snprintf(what, sizeof what, "%d claims on %s, %s: longest wait", c->count, c->kind, phase);
    bench_at_most(c->bench, what, ms, WAIT_MS_MAX + idle, "ms");
}

/* ---- what the crowd claims */

static void others_take(struct crowd *c) {
    atomic_store(&c->others_granted, 0);
    if (c->table) {
        bench_check(pdk_rwlock_acquire_write_async(c->others_table, PDK_FOREVER, on_others, c, NULL));
        await_count(&c->others_granted, 1);
        return;
    }
    for (int i = 0; i < c->count; i++)
        bench_check(pdk_lock_acquire_async(c->others_locks[i], PDK_FOREVER, on_others, c, NULL));
    await_count(&c->others_granted, c->count);
}

static void others_release(struct crowd *c) {
    for (int i = 0; i < atomic_load(&c->others_granted); i++)
        pdk_hold_release(c->others_holds[i]);
    atomic_store(&c->others_granted, 0);
}

static void claim_all(struct crowd *c) {
    atomic_store(&c->granted, 0);
    atomic_store(&c->answered, 0);
    for (int i = 0; i < c->count; i++)
        bench_check(c->table ? pdk_rwlock_acquire_read_async(c->table, PDK_FOREVER, on_acquired, c, NULL)
                             : pdk_lock_acquire_async(c->locks[i], PDK_FOREVER, on_acquired, c, NULL));
}

static void make_locks(struct crowd *c, bool many) {
    if (!many) {
        bench_check(pdk_rwlock_new(c->session, "/t", NULL, &c->table));
        bench_check(pdk_rwlock_new(c->others, "/t", NULL, &c->others_table));
    }
    for (int i = 0; i < c->count && many; i++) {
        char path[16];
        g_snprintf(path, sizeof path, "/c/%d", i);
        c->locks[i] = bench_lock(c->session, path);
        c->others_locks[i] = bench_lock(c->others, path);
    }
}

static void drop_locks(struct crowd *c) {
    pdk_rwlock_unref(g_steal_pointer(&c->table));
    for (int i = 0; i < c->count; i++)
        pdk_lock_unref(g_steal_pointer(&c->locks[i]));
}

/* ---- what happens to it */

static void phases(struct crowd *c) {
    begin_phase(c);
    claim_all(c);
    await_quiet(c);
    end_phase(c, "queueing");

    begin_phase(c);
    ts_proxy_reset(c->proxy);
    await_quiet(c);
    end_phase(c, "a reconnect");

    begin_phase(c);
    int64_t id = pdk_session_id(c->session);
    if (ts_expire(c->proxy, ts_ensemble_host(c->bench->ensemble, 0)) != 0)
        bench_check(PDK_SYSTEM);
    while (pdk_session_id(c->session) == id || pdk_session_id(c->session) == 0)
        ts_sleep_ms(5);
    await_quiet(c);
    end_phase(c, "an expiry");

    begin_phase(c);
    others_release(c);
    await_count(&c->granted, c->count);
    await_quiet(c);
    end_phase(c, "all are granted");

    begin_phase(c);
    ts_proxy_reset(c->proxy);
    await_quiet(c);
    end_phase(c, "a reconnect, all held");

    begin_phase(c);
    for (int i = 0; i < c->count; i++)
        bench_check(pdk_hold_release(c->holds[i]));
    await_quiet(c);
    end_phase(c, "all are released");

    others_take(c);
    claim_all(c);
    await_quiet(c);
    begin_phase(c);
    drop_locks(c);
    await_quiet(c);
    await_count(&c->answered, c->count);
    end_phase(c, "all are cancelled");

    others_release(c);
    make_locks(c, c->others_table == NULL);
    claim_all(c);
    await_count(&c->granted, c->count);
    begin_phase(c);
    bench_check(pdk_session_close(c->session, LIMIT_MS));
    end_phase(c, "a close, all held");
}

static void run(struct bench *bench, bool many) {
    const char *server = ts_ensemble_host(bench->ensemble, 0);
    struct crowd c = {.bench = bench, .kind = many ? "many paths" : "one path"};
    pthread_t caller;
    c.count = bench->quick ? CROWD_QUICK : CROWD;
    c.proxy = ts_proxy_start(server);
    c.session = bench_open(ts_proxy_address(c.proxy), SESSION_MS);
    c.idle = bench_open(server, SESSION_MS);
    c.others = bench_open(server, SESSION_MS);
    c.locks = g_new0(pdk_lock *, (gsize)c.count);
    c.others_locks = g_new0(pdk_lock *, (gsize)c.count);
    c.holds = g_new0(pdk_hold *, (gsize)c.count);
    c.others_holds = g_new0(pdk_hold *, (gsize)c.count);
    make_locks(&c, many);
    others_take(&c);
    pthread_create(&caller, NULL, call_all_the_time, &c);
    phases(&c);
    c.stop = true;
    pthread_join(caller, NULL);
    for (int i = 0; i < c.count; i++)
        pdk_hold_unref(c.holds[i]);
    drop_locks(&c);
    pdk_rwlock_unref(c.others_table);
    for (int i = 0; i < c.count; i++)
        pdk_lock_unref(c.others_locks[i]);
    pdk_session *sessions[] = {c.session, c.idle, c.others};
    for (size_t i = 0; i < G_N_ELEMENTS(sessions); i++) {
        pdk_session_close(sessions[i], 5000);
        pdk_session_unref(sessions[i]);
    }
    ts_proxy_stop(c.proxy);
    g_free(c.locks);
    g_free(c.others_locks);
    g_free(c.holds);
    g_free(c.others_holds);
}

/* For this thread and those that it starts: the servers run already. */
static bool set_policy(int policy, int priority) {
    return sched_setscheduler(0, policy, &(struct sched_param){.sched_priority = priority}) == 0;
}

void bench_crowd(struct bench *bench) {
    bool real_time = set_policy(SCHED_RR, 1);
    printf("%s\n", real_time ? "real-time priority: waits are the library's own"
                             : "no real-time priority is allowed: waits for the processor count as well");
    run(bench, true);
    run(bench, false);
    if (real_time)
        set_policy(SCHED_OTHER, 0);
}

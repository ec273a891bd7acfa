/* All of several, over sessions of one ensemble and over two ensembles: what counts as one path, and in which order. */
#include <glib.h>
#include <stdatomic.h>

#include "refused.h"
#include "set_bench.h"
#include "ts_check.h"
#include "ts_clock.h"
#include "ts_observer.h"

enum { SESSION_MS = 4000, CLOSE_MS = 1000, IN_TIME_MS = 10000 };

static pdk_session *sessions[2];
static pdk_lock *locks[2][2]; /* of each session: at one path, and at another one */
static ts_ensemble *second;
static const char *path;
static char *other;

static void open_at(int i, const char *hosts) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = SESSION_MS;
    ck_assert_int_eq(pdk_session_open(hosts, &options, &sessions[i]), PDK_OK);
    ck_assert_int_eq(pdk_lock_new(sessions[i], path, NULL, &locks[i][0]), PDK_OK);
    ck_assert_int_eq(pdk_lock_new(sessions[i], other, NULL, &locks[i][1]), PDK_OK);
}

static void begin(void) {
    path = ts_fresh_path();
    other = g_strconcat(path, "-other", NULL);
}

static void end(void) {
    for (int i = 0; i < 2; i++) {
        pdk_lock_unref(g_steal_pointer(&locks[i][0]));
        pdk_lock_unref(g_steal_pointer(&locks[i][1]));
        pdk_session_close(sessions[i], CLOSE_MS);
        pdk_session_unref(g_steal_pointer(&sessions[i]));
    }
    ts_ensemble_stop(g_steal_pointer(&second));
    g_free(other);
}

/* Two sessions with the same servers: a path is the same in both. */
START_TEST(two_sessions_of_one_ensemble) {
    open_at(0, ts_bench_server());
    open_at(1, ts_bench_server());
    pdk_set *held = NULL, *none = NULL;
    pdk_hold *one = NULL;
    const pdk_right twice[] = {pdk_right_lock(locks[0][0]), pdk_right_lock(locks[1][0])};
    const pdk_right two[] = {pdk_right_lock(locks[1][0]), pdk_right_lock(locks[0][1])};
    refused(pdk_set_acquire(twice, 2, PDK_FOREVER, NULL, &none), PDK_INVALID, "are both on");
    ck_assert_int_eq(pdk_lock_acquire(locks[0][0], ts_patience(IN_TIME_MS), &one), PDK_OK);
    refused(pdk_set_acquire(two, 2, PDK_FOREVER, NULL, &none), PDK_DEADLOCK, path);
    pdk_hold_release(one);
    ck_assert_int_eq(pdk_set_acquire(two, 2, ts_patience(IN_TIME_MS), NULL, &held), PDK_OK);
    ck_assert_int_eq(pdk_set_release(held), PDK_OK);
    set_children(path, 0);
    set_children(other, 0);
}
END_TEST

static void keep_status(pdk_status status, pdk_set *held, void *user) {
    (void)held;
    atomic_store((atomic_int *)user, (int)status);
}

static bool is_kept(void *status) { return atomic_load((atomic_int *)status) >= 0; }

/* A proxy is another name of the server behind it. The set would wait for itself for ever. */
START_TEST(two_names_of_one_server) {
    atomic_int told = -1;
    pdk_set *none = NULL, *held = NULL;
    const ts_client *one = ts_bench_client(SESSION_MS), *two = ts_bench_client(SESSION_MS);
    const pdk_right both[] = {pdk_right_lock(ts_lock(one, path)), pdk_right_lock(ts_lock(two, path))};
    refused(pdk_set_acquire(both, 2, ts_patience(IN_TIME_MS), NULL, &none), PDK_DEADLOCK,
            "the same servers by different names");
    ck_assert_int_eq(pdk_set_acquire_async(both, 2, ts_patience(IN_TIME_MS), NULL, keep_status, &told, NULL), PDK_OK);
    ck_assert(ts_wait_until(is_kept, &told, ts_patience(IN_TIME_MS)));
    ck_assert_int_eq(atomic_load(&told), PDK_DEADLOCK);
    set_children(path, 0);
    /* Whoever waits for another one waits on. */
    ck_assert_int_eq(pdk_set_acquire(both, 1, ts_patience(IN_TIME_MS), NULL, &held), PDK_OK);
    refused(pdk_set_acquire(&both[1], 1, 1000, NULL, &none), PDK_TIMEOUT, path);
    ck_assert_int_eq(pdk_set_release(held), PDK_OK);
}
END_TEST

/* The same path in two ensembles is two rights, also for a thread that holds one of them. */
START_TEST(two_ensembles) {
    const ts_ensemble_options options = {.nodes = 1, .tick_ms = 200};
    second = ts_ensemble_start(&options);
    ck_assert_ptr_nonnull(second);
    open_at(0, ts_bench_server());
    open_at(1, ts_ensemble_host(second, 0));
    for (int i = 0; i < 2; i++) { /* named in both orders */
        pdk_set *held = NULL;
        const pdk_right both[] = {pdk_right_lock(locks[i][0]), pdk_right_lock(locks[!i][0])};
        ck_assert_int_eq(pdk_set_acquire(both, 2, ts_patience(IN_TIME_MS), NULL, &held), PDK_OK);
        ck_assert_int_eq(ts_child_count(ts_bench_server(), path), 1);
        ck_assert_int_eq(ts_child_count(ts_ensemble_host(second, 0), path), 1);
        ck_assert_str_eq(pdk_set_part_path(held, 0), path);
        ck_assert_str_eq(pdk_set_part_path(held, 1), path);
        ck_assert_int_eq(pdk_set_release(held), PDK_OK);
    }
    pdk_hold *one = NULL;
    pdk_set *held = NULL;
    const pdk_right apart[] = {pdk_right_lock(locks[1][0]), pdk_right_lock(locks[0][1])};
    ck_assert_int_eq(pdk_lock_acquire(locks[0][0], ts_patience(IN_TIME_MS), &one), PDK_OK);
    ck_assert_int_eq(pdk_set_acquire(apart, 2, ts_patience(IN_TIME_MS), NULL, &held), PDK_OK);
    ts_ensemble_kill(second, 0); /* the lease of one of them is over in time, and so is the set's */
    while (pdk_set_is_valid(held))
        g_usleep(1000);
    ck_assert_int_eq(pdk_set_reason(held), PDK_REASON_LEASE);
    ck_assert(pdk_hold_is_valid(one));
    ck_assert(pdk_hold_is_valid(pdk_set_part(held, 1)));
    ck_assert_int_eq(pdk_set_release(held), PDK_LOST);
    pdk_hold_release(one);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("set_sessions");
    TCase *all = ts_bench_case(suite, "set_sessions");
    tcase_add_checked_fixture(all, begin, end);
    tcase_add_test(all, two_sessions_of_one_ensemble);
    tcase_add_test(all, two_names_of_one_server);
    tcase_add_test(all, two_ensembles);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

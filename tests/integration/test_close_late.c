/* Closing, while other threads go on with what the session has: every close returns. */
#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 6000, HOLDS = 400, ROUNDS = 12 };

static struct {
    ts_client *client;
    pdk_hold *holds[HOLDS];
    ts_lost *lost[HOLDS];
    atomic_bool returned;
} it;

static void acquire_all(pdk_dispatch dispatch) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_lock_options reentrant = PDK_LOCK_OPTIONS_INIT;

    options.session_timeout_ms = SESSION_MS;
    options.dispatch = dispatch;
    reentrant.reentrant = 1;
    it.client = ts_client_open_with(ts_bench_server(), NULL, &options);
    ck_assert_ptr_nonnull(it.client);
    pdk_lock *lock = ts_lock_with(it.client, ts_fresh_path(), &reentrant);
    for (int i = 0; i < HOLDS; i++) {
        it.holds[i] = ts_bench_acquire(lock, ts_patience(5000));
    }
}

/* Asks to hear of each loss while the close goes on, the last ones after it. */
static void *watch_all(void *user) {
    (void)user;
    while (pdk_hold_is_valid(it.holds[0])) {
        g_thread_yield();
    }
    for (int i = 0; i < HOLDS; i++) {
        it.lost[i] = ts_lost_watch(it.holds[i]);
        if (i % 8 == 0) {
            g_usleep(50);
        }
    }
    return NULL;
}

static void *close_it(void *status) {
    *(pdk_status *)status = pdk_session_close(it.client->session, PDK_FOREVER);
    atomic_store(&it.returned, true);
    return NULL;
}

static bool has_returned(void *user) {
    (void)user;
    return atomic_load(&it.returned);
}

static void close_and_watch(pdk_dispatch dispatch) {
    pthread_t closer, watcher;
    pdk_status status = PDK_SYSTEM;

    acquire_all(dispatch);
    atomic_store(&it.returned, false);
    pthread_create(&watcher, NULL, watch_all, NULL);
    pthread_create(&closer, NULL, close_it, &status);
    ck_assert(ts_wait_until(has_returned, NULL, ts_patience(5000)));
    pthread_join(closer, NULL);
    pthread_join(watcher, NULL);
    ck_assert_int_eq(status, PDK_OK);
    for (int i = 0; i < HOLDS; i++) {
        ck_assert_ptr_nonnull(it.lost[i]);
        ck_assert_int_le(ts_lost_count(it.lost[i]), 1);
        pdk_hold_release(it.holds[i]);
        ck_assert_int_eq(ts_lost_freed(it.lost[i]), 1);
    }
}

/* A callback that becomes due when the session's own thread has nothing left to do. */
START_TEST(losses_are_watched_during_a_close) {
    for (int i = 0; i < ROUNDS; i++) {
        close_and_watch(PDK_DISPATCH_THREAD);
        ts_paddock_clear();
    }
}
END_TEST

/* A callback that becomes due when the closing thread waits already. */
START_TEST(losses_are_watched_during_a_close_that_dispatches) {
    for (int i = 0; i < ROUNDS; i++) {
        close_and_watch(PDK_DISPATCH_MANUAL);
        ts_paddock_clear();
    }
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("close_late");
    TCase *tcase = ts_bench_case(suite, "close_late");

    tcase_add_test(tcase, losses_are_watched_during_a_close);
    tcase_add_test(tcase, losses_are_watched_during_a_close_that_dispatches);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

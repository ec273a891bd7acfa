/* A close that had too little time, or came from a callback: a further one waits for the rest, and says when it is
 * over. */
#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>

#include "self.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 6000, PATIENCE_MS = 8000, SHORT_MS = 200 };

static struct {
    pdk_session *session;
    pdk_lock *lock;
    atomic_bool inside, let_go, over;
    pdk_status status;
} it;

static void open_it(pdk_dispatch dispatch) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;

    options.session_timeout_ms = SESSION_MS;
    options.dispatch = dispatch;
    atomic_store(&it.inside, false);
    atomic_store(&it.let_go, false);
    atomic_store(&it.over, false);
    ck_assert_int_eq(pdk_session_open(ts_bench_server(), &options, &it.session), PDK_OK);
    ck_assert_int_eq(pdk_lock_new(it.session, ts_fresh_path(), NULL, &it.lock), PDK_OK);
}

static void drop_it(void) {
    pdk_lock_unref(it.lock);
    pdk_session_unref(it.session);
}

static bool is_set(void *flag) { return atomic_load((atomic_bool *)flag); }

static void sit(pdk_status status, pdk_hold *hold, void *user) {
    (void)status;
    (void)user;
    atomic_store(&it.inside, true);
    ts_wait_until(is_set, &it.let_go, 20000);
    pdk_hold_release(hold);
    ts_sleep_ms(50);
    atomic_store(&it.over, true);
}

/* The callback goes on for long, whatever the closes want. */
static void check_the_rest(void) {
    ck_assert_int_eq(pdk_session_close(it.session, SHORT_MS), PDK_TIMEOUT);
    ck_assert_int_eq(pdk_session_close(it.session, SHORT_MS), PDK_TIMEOUT);
    ck_assert(!atomic_load(&it.over));
    atomic_store(&it.let_go, true);
    ck_assert_int_eq(pdk_session_close(it.session, PDK_FOREVER), PDK_OK);
    ck_assert(atomic_load(&it.over));
    ck_assert_int_eq(pdk_session_close(it.session, 0), PDK_OK);
}

START_TEST(while_a_callback_runs) {
    open_it(PDK_DISPATCH_THREAD);
    ck_assert_int_eq(pdk_lock_acquire_async(it.lock, PDK_FOREVER, sit, NULL, NULL), PDK_OK);
    ck_assert(ts_wait_until(is_set, &it.inside, ts_patience(PATIENCE_MS)));
    check_the_rest();
    drop_it();
}
END_TEST

static void *dispatch(void *user) {
    (void)user;
    while (!atomic_load(&it.over)) {
        pdk_session_dispatch(it.session, NULL);
        ts_sleep_ms(2);
    }
    return NULL;
}

START_TEST(while_another_thread_dispatches) {
    pthread_t dispatcher;

    open_it(PDK_DISPATCH_MANUAL);
    ck_assert_int_eq(pdk_lock_acquire_async(it.lock, PDK_FOREVER, sit, NULL, NULL), PDK_OK);
    pthread_create(&dispatcher, NULL, dispatch, NULL);
    ck_assert(ts_wait_until(is_set, &it.inside, ts_patience(PATIENCE_MS)));
    check_the_rest();
    pthread_join(dispatcher, NULL);
    drop_it();
}
END_TEST

static void close_inside(pdk_status status, pdk_hold *hold, void *user) {
    it.status = pdk_session_close(it.session, PDK_FOREVER);
    sit(status, hold, user);
}

START_TEST(after_one_from_a_callback) {
    open_it(PDK_DISPATCH_THREAD);
    ck_assert_int_eq(pdk_lock_acquire_async(it.lock, PDK_FOREVER, close_inside, NULL, NULL), PDK_OK);
    ck_assert(ts_wait_until(is_set, &it.inside, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(it.status, PDK_OK);
    check_the_rest();
    drop_it();
}
END_TEST

static void *close_too(void *status) {
    *(pdk_status *)status = pdk_session_close(it.session, PDK_FOREVER);
    return NULL;
}

START_TEST(two_at_once) {
    enum { CLOSERS = 4 };
    pthread_t closers[CLOSERS];
    pdk_status statuses[CLOSERS];

    open_it(PDK_DISPATCH_THREAD);
    ck_assert_int_eq(pdk_lock_acquire_async(it.lock, PDK_FOREVER, sit, NULL, NULL), PDK_OK);
    ck_assert(ts_wait_until(is_set, &it.inside, ts_patience(PATIENCE_MS)));
    for (int i = 0; i < CLOSERS; i++) {
        pthread_create(&closers[i], NULL, close_too, &statuses[i]);
    }
    ts_sleep_ms(SHORT_MS);
    atomic_store(&it.let_go, true);
    for (int i = 0; i < CLOSERS; i++) {
        pthread_join(closers[i], NULL);
        ck_assert_int_eq(statuses[i], PDK_OK);
    }
    ck_assert(atomic_load(&it.over));
    drop_it();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("close_again");
    TCase *tcase = ts_bench_case(suite, "close_again");

    tcase_add_test(tcase, while_a_callback_runs);
    tcase_add_test(tcase, while_another_thread_dispatches);
    tcase_add_test(tcase, after_one_from_a_callback);
    tcase_add_test(tcase, two_at_once);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

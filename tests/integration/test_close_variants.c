/* Other ways to end a session: from a callback, with manual dispatch, twice, by the last unref, before it began. */
#include <check.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <stdatomic.h>
#include <string.h>

#include "event_log.h"
#include "self.h"
#include "ts_check.h"
#include "ts_support.h"

#define GONE_MS 20000
#define SLACK_MS 1000

static ts_ensemble *server;
static struct event_log event_log;
static int threads_before, descriptors_before;

static void begin(void) {
    server = ts_ensemble_start(NULL);
    ck_assert_ptr_nonnull(server);
}

static void end(void) { ts_ensemble_stop(server); }

static void set_up(void) {
    threads_before = self_thread_count();
    descriptors_before = self_descriptor_count();
    event_log_init(&event_log);
}

static void check_nothing_left(void) {
    ck_assert_msg(self_wait_threads(threads_before, GONE_MS), "%d threads of %d", self_thread_count(), threads_before);
    ck_assert_int_eq(self_descriptor_count(), descriptors_before);
    ck_assert(ts_wait_children(ts_ensemble_hosts(server), "/ways/lock", 0, GONE_MS));
    ck_assert_int_eq(ts_session_count(ts_ensemble_host(server, 0)), 0);
    ck_assert_int_eq(event_log_late(&event_log), 0);
    ck_assert(!event_log_overlapped(&event_log));
    event_log_clear(&event_log);
}

static pdk_session *open_session(pdk_dispatch dispatch, pdk_lock **lock) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    event_log_attach(&event_log, &options);
    options.dispatch = dispatch;
    ck_assert_int_eq(pdk_session_open(ts_ensemble_hosts(server), &options, &s), PDK_OK);
    ck_assert_int_eq(pdk_lock_new(s, "/ways/lock", NULL, lock), PDK_OK);
    return s;
}

/* ---- from a callback */

static struct {
    pdk_session *session;
    pdk_status first, second;
    int64_t took_ms;
    atomic_bool done;
    int others; /* callbacks that ran after the close */
} inside;

static void close_inside(pdk_status status, pdk_hold *hold, void *user) {
    (void)status;
    (void)user;
    int64_t began = ts_now_ms();
    inside.first = pdk_session_close(inside.session, 5000);
    inside.second = pdk_session_close(inside.session, 5000);
    inside.took_ms = ts_now_ms() - began;
    event_log_expect_silence(&event_log);
    g_assert(!pdk_hold_is_valid(hold) && pdk_hold_reason(hold) == PDK_REASON_CLOSED);
    pdk_hold_release(hold);
    atomic_store(&inside.done, true);
}

static void count_other(pdk_status status, pdk_hold *hold, void *user) {
    (void)status;
    (void)user;
    inside.others++;
    if (hold)
        pdk_hold_release(hold);
}

static bool closed_inside(void *manual) {
    if (*(bool *)manual)
        pdk_session_dispatch(inside.session, NULL);
    return atomic_load(&inside.done);
}

static void check_close_inside(pdk_dispatch dispatch) {
    pdk_lock *lock = NULL;
    bool manual = dispatch == PDK_DISPATCH_MANUAL;
    memset(&inside, 0, sizeof inside);
    inside.session = open_session(dispatch, &lock);
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_acquire(lock, 5000, &hold), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire_async(lock, 5000, close_inside, NULL, NULL), PDK_OK);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(pdk_lock_acquire_async(lock, 5000, count_other, NULL, NULL), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert(ts_wait_until(closed_inside, &manual, 10000));
    ck_assert_int_eq(inside.first, PDK_OK);
    ck_assert_int_eq(inside.second, PDK_CLOSED);
    ck_assert_int_lt(inside.took_ms, SLACK_MS); /* it does not wait */
    pdk_lock_unref(lock);
    ck_assert_int_eq(pdk_session_close(inside.session, 5000), PDK_OK); /* it waits for the rest */
    pdk_session_unref(inside.session);
    ck_assert(self_wait_threads(threads_before, GONE_MS));
    ck_assert_int_eq(inside.others, 0); /* callbacks that were due are dropped */
    ck_assert_int_eq(event_log_count(&event_log, PDK_SESSION_CLOSED), 0);
}

START_TEST(closing_from_a_callback) { check_close_inside(PDK_DISPATCH_THREAD); }
END_TEST

START_TEST(closing_from_a_dispatched_callback) { check_close_inside(PDK_DISPATCH_MANUAL); }
END_TEST

static void drop_inside(pdk_status status, pdk_hold *hold, void *user) {
    (void)status;
    (void)user;
    pdk_hold_release(hold);
    pdk_session_unref(inside.session);
    atomic_store(&inside.done, true);
}

/* A callback drops the last reference. Nobody is left to wait for the thread that runs it. */
START_TEST(the_last_unref_in_a_callback) {
    pdk_lock *lock = NULL;
    bool manual = false;
    memset(&inside, 0, sizeof inside);
    inside.session = open_session(PDK_DISPATCH_THREAD, &lock);
    ck_assert_int_eq(pdk_lock_acquire_async(lock, 5000, drop_inside, NULL, NULL), PDK_OK);
    pdk_lock_unref(pdk_lock_ref(lock));
    ck_assert(ts_wait_until(closed_inside, &manual, 10000));
    pdk_lock_unref(lock);
}
END_TEST

/* ---- with manual dispatch */

static int answered;
static GThread *answered_on;

static void on_answer(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    g_assert(status == PDK_CLOSED && !hold);
    answered_on = g_thread_self();
    answered++;
}

START_TEST(the_close_dispatches_due_callbacks) {
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    pdk_session *s = open_session(PDK_DISPATCH_MANUAL, &lock);
    answered = 0;
    ck_assert_int_eq(pdk_lock_acquire(lock, 5000, &hold), PDK_OK);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pdk_lock_acquire_async(lock, PDK_FOREVER, on_answer, NULL, NULL), PDK_OK);
    ck_assert_int_eq(event_log_count(&event_log, PDK_SESSION_CONNECTED), 0);
    ck_assert_int_eq(pdk_session_close(s, PDK_FOREVER), PDK_OK);
    event_log_expect_silence(&event_log);
    ck_assert_int_eq(answered, 3);
    ck_assert_ptr_eq(answered_on, g_thread_self());
    char *history = event_log_history(&event_log);
    ck_assert_str_eq(history, "connected closed");
    g_free(history);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
    pdk_lock_unref(lock);
    pdk_session_unref(s);
}
END_TEST

/* ---- slow callbacks on the session's own thread */

static atomic_bool slow_began, slow_may_end;

static bool may_end(void *unused) {
    (void)unused;
    return atomic_load(&slow_may_end);
}

static bool has_begun(void *unused) {
    (void)unused;
    return atomic_load(&slow_began);
}

static void on_slow(pdk_status status, pdk_hold *hold, void *user) {
    (void)status;
    (void)user;
    atomic_store(&slow_began, true);
    ts_wait_until(may_end, NULL, 20000);
    pdk_hold_release(hold);
}

static void *end_slow_soon(void *unused) {
    ts_sleep_ms(300);
    atomic_store(&slow_may_end, true);
    return unused;
}

static pdk_session *with_slow_callback(pdk_lock **lock) {
    pdk_session *s = open_session(PDK_DISPATCH_THREAD, lock);
    atomic_store(&slow_began, false);
    atomic_store(&slow_may_end, false);
    ck_assert_int_eq(pdk_lock_acquire_async(*lock, 5000, on_slow, NULL, NULL), PDK_OK);
    ck_assert(ts_wait_until(has_begun, NULL, 10000));
    return s;
}

START_TEST(a_running_callback_is_waited_for) {
    pdk_lock *lock = NULL;
    pdk_session *s = with_slow_callback(&lock);
    GThread *thread = g_thread_new("ender", end_slow_soon, NULL);
    ck_assert_int_eq(pdk_session_close(s, 10000), PDK_OK);
    ck_assert(atomic_load(&slow_may_end));
    ck_assert_int_eq(event_log_count(&event_log, PDK_SESSION_CLOSED), 1);
    event_log_expect_silence(&event_log);
    g_thread_join(thread);
    pdk_lock_unref(lock);
    pdk_session_unref(s);
}
END_TEST

START_TEST(a_running_callback_is_not_waited_for_too_long) {
    pdk_lock *lock = NULL;
    pdk_session *s = with_slow_callback(&lock);
    int64_t began = ts_now_ms();
    ck_assert_int_eq(pdk_session_close(s, 200), PDK_TIMEOUT);
    ck_assert_int_lt(ts_now_ms() - began, 200 + SLACK_MS);
    event_log_expect_silence(&event_log); /* the running callback may end; none begins */
    atomic_store(&slow_may_end, true);
    pdk_lock_unref(lock);
    pdk_session_unref(s);
}
END_TEST

/* ---- without a close */

START_TEST(the_last_unref_closes_in_the_background) {
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    pdk_session *s = open_session(PDK_DISPATCH_THREAD, &lock);
    ck_assert_int_eq(pdk_lock_acquire(lock, 5000, &hold), PDK_OK);
    pdk_session_unref(s); /* lock and hold keep what they need of it */
    ck_assert(pdk_hold_is_valid(hold));
    pdk_lock_unref(lock);
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_int_eq(ts_child_count(ts_ensemble_hosts(server), "/ways/lock"), 1);
    pdk_hold_unref(hold); /* releases the hold, which was the last user of the session */
}
END_TEST

START_TEST(the_last_unref_with_manual_dispatch) {
    pdk_lock *lock = NULL;
    pdk_session *s = open_session(PDK_DISPATCH_MANUAL, &lock);
    event_log_expect_silence(&event_log); /* nobody dispatches */
    pdk_lock_unref(lock);
    pdk_session_unref(s);
}
END_TEST

/* ---- several at once */

static void *close_it(void *s) { return GINT_TO_POINTER((int)pdk_session_close(s, 10000) + 1); }

START_TEST(all_closes_succeed) {
    pdk_lock *lock = NULL;
    pdk_session *s = open_session(PDK_DISPATCH_THREAD, &lock);
    GThread *threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = g_thread_new("closer", close_it, s);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(GPOINTER_TO_INT(g_thread_join(threads[i])) - 1, PDK_OK);
    pdk_lock_unref(lock);
    pdk_session_unref(s);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("ways to close");
    TCase *cases = tcase_create("ways");
    tcase_add_unchecked_fixture(cases, begin, end);
    tcase_add_checked_fixture(cases, set_up, check_nothing_left);
    tcase_add_test(cases, closing_from_a_callback);
    tcase_add_test(cases, closing_from_a_dispatched_callback);
    tcase_add_test(cases, the_last_unref_in_a_callback);
    tcase_add_test(cases, the_close_dispatches_due_callbacks);
    tcase_add_test(cases, a_running_callback_is_waited_for);
    tcase_add_test(cases, a_running_callback_is_not_waited_for_too_long);
    tcase_add_test(cases, the_last_unref_closes_in_the_background);
    tcase_add_test(cases, the_last_unref_with_manual_dispatch);
    tcase_add_test(cases, all_closes_succeed);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

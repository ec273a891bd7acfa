/* Where callbacks run: on the session's thread or on the caller's, one at a time; and which calls they must not
 * make. */
#include <check.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "event_log.h"
#include "ts_check.h"
#include "ts_support.h"

static ts_ensemble *server;
static struct event_log event_log;
static pdk_session *session;
static pdk_lock *lock;

static void begin(void) {
    server = ts_ensemble_start(NULL);
    ck_assert_ptr_nonnull(server);
}

static void end(void) { ts_ensemble_stop(server); }

static void open_session(pdk_dispatch dispatch) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    event_log_init(&event_log);
    event_log_attach(&event_log, &options);
    options.dispatch = dispatch;
    ck_assert_int_eq(pdk_session_open(ts_ensemble_hosts(server), &options, &session), PDK_OK);
    ck_assert_int_eq(pdk_lock_new(session, "/dispatch/lock", NULL, &lock), PDK_OK);
}

static void open_threaded(void) { open_session(PDK_DISPATCH_THREAD); }
static void open_manual(void) { open_session(PDK_DISPATCH_MANUAL); }

static void close_session(void) {
    pdk_lock_unref(lock);
    pdk_session_close(session, 5000);
    pdk_session_unref(session);
    ck_assert(!event_log_overlapped(&event_log));
    event_log_clear(&event_log);
}

/* ---- blocking calls from a callback */

static struct {
    GString *wrong;
    pdk_hold *hold; /* held by the test, valid */
    atomic_bool done;
} probe;

static void must_not_block(const char *call, pdk_status status) {
    if (status != PDK_WRONG_THREAD)
        g_string_append_printf(probe.wrong, "%s: %s; ", call, pdk_status_name(status));
    else if (strstr(pdk_last_error(), call) == NULL || strstr(pdk_last_error(), "callback") == NULL)
        g_string_append_printf(probe.wrong, "%s: \"%s\"; ", call, pdk_last_error());
}

/* The calls that block and have no form with a callback, which test_answers.c has. */
static void try_all(void) {
    pdk_session *s = NULL;
    pdk_hold *hold = NULL;
    must_not_block("pdk_session_open", pdk_session_open(ts_ensemble_hosts(server), NULL, &s));
    must_not_block("pdk_session_flush", pdk_session_flush(session, 1000));
    must_not_block("pdk_lock_acquire", pdk_lock_acquire(lock, 1000, &hold));
    must_not_block("pdk_lock_acquire", pdk_lock_acquire(lock, 0, &hold));
    pdk_checker *checker = NULL;
    if (pdk_checker_new(session, NULL, &checker) == PDK_OK) {
        const char *text = "pdk1 /n/x-lock-0000000001 exclusive 1 0";
        must_not_block("pdk_checker_check", pdk_checker_check(checker, text, 1000));
        if (pdk_checker_check(checker, text, 0) == PDK_WRONG_THREAD)
            g_string_append(probe.wrong, "pdk_checker_check: 0 does not block; ");
    }
    pdk_checker_unref(checker);
    if (s || hold)
        g_string_append(probe.wrong, "an output was touched; ");
}

static void on_probe(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    try_all();
    if (status == PDK_OK)
        pdk_hold_release(hold);
    atomic_store(&probe.done, true);
}

static void on_lost_probe(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)hold;
    (void)reason;
    (void)user;
    try_all();
    atomic_store(&probe.done, true);
}

static bool probe_done(void *manual) {
    if (*(bool *)manual)
        pdk_session_dispatch(session, NULL);
    return atomic_load(&probe.done);
}

static void check_probe(bool manual) {
    ck_assert(ts_wait_until(probe_done, &manual, 10000));
    ck_assert_str_eq(probe.wrong->str, "");
    atomic_store(&probe.done, false);
}

static void probe_callbacks(bool manual) {
    pdk_lock *held = NULL;
    probe.wrong = g_string_new(NULL);
    ck_assert_int_eq(pdk_lock_new(session, "/dispatch/held", NULL, &held), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(held, 5000, &probe.hold), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire_async(lock, 5000, on_probe, NULL, NULL), PDK_OK);
    check_probe(manual);

    ck_assert_int_eq(pdk_hold_on_lost(probe.hold, on_lost_probe, NULL, NULL), PDK_OK);
    char **words = g_strsplit(pdk_hold_sequencer(probe.hold), " ", -1);
    ck_assert_int_eq(ts_delete(ts_ensemble_hosts(server), words[1]), 0);
    check_probe(manual);
    g_strfreev(words);
    pdk_hold_release(probe.hold);
    pdk_lock_unref(held);
    g_string_free(probe.wrong, TRUE);
}

START_TEST(a_callback_on_the_sessions_thread_must_not_block) { probe_callbacks(false); }
END_TEST

START_TEST(a_dispatched_callback_must_not_block) { probe_callbacks(true); }
END_TEST

static pdk_status status_inside;

static void on_nested(pdk_status status, pdk_hold *hold, void *user) {
    int count = 77;
    (void)status;
    (void)user;
    status_inside = pdk_session_dispatch(session, &count);
    g_assert(count == 77);
    pdk_hold_release(hold);
    atomic_store(&probe.done, true);
}

START_TEST(dispatching_from_a_dispatched_callback_is_refused) {
    bool manual = true;
    ck_assert_int_eq(pdk_lock_acquire_async(lock, 5000, on_nested, NULL, NULL), PDK_OK);
    ck_assert(ts_wait_until(probe_done, &manual, 10000));
    atomic_store(&probe.done, false);
    ck_assert_int_eq(status_inside, PDK_WRONG_THREAD);
}
END_TEST

static atomic_bool callback_runs, callback_may_end;

static void on_endless(pdk_status status, pdk_hold *hold, void *user) {
    (void)status;
    (void)user;
    atomic_store(&callback_runs, true);
    while (!atomic_load(&callback_may_end))
        ts_sleep_ms(1);
    pdk_hold_release(hold);
}

static bool a_callback_runs(void *unused) {
    (void)unused;
    return atomic_load(&callback_runs);
}

static void *dispatch_all(void *unused) {
    (void)unused;
    while (ts_fd_readable(pdk_session_fd(session), 10000) && !atomic_load(&callback_runs))
        pdk_session_dispatch(session, NULL);
    return NULL;
}

/* One callback at a time: the other thread finds nothing to do, and its close does not wait for the first. */
START_TEST(two_threads_may_dispatch) {
    int count = 77;
    ck_assert_int_eq(pdk_lock_acquire_async(lock, 5000, on_endless, NULL, NULL), PDK_OK);
    GThread *other = g_thread_new("dispatches", dispatch_all, NULL);
    ck_assert(ts_wait_until(a_callback_runs, NULL, 10000));
    ck_assert_int_eq(pdk_session_dispatch(session, &count), PDK_OK);
    ck_assert_int_eq(count, 0);
    ck_assert_int_eq(pdk_session_close(session, 0), PDK_TIMEOUT);
    atomic_store(&callback_may_end, true);
    g_thread_join(other);
}
END_TEST

/* ---- the session's own thread */

START_TEST(a_session_with_a_thread_cannot_be_dispatched) {
    int count = 77;
    ck_assert_int_eq(pdk_session_fd(session), -1);
    ck_assert_int_eq(pdk_session_dispatch(session, &count), PDK_INVALID);
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "PDK_DISPATCH_MANUAL"));
    ck_assert_int_eq(count, 77);
}
END_TEST

static atomic_int answered;
static GThread *callback_thread;

static void on_counted(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    event_log_enter(&event_log);
    g_assert(callback_thread == NULL || callback_thread == g_thread_self());
    callback_thread = g_thread_self();
    ts_sleep_ms(1);
    if (status == PDK_OK)
        pdk_hold_release(hold);
    event_log_leave(&event_log);
    atomic_fetch_add(&answered, 1);
}

static bool all_answered(void *wanted) { return atomic_load(&answered) >= *(int *)wanted; }

START_TEST(callbacks_run_one_at_a_time) {
    int wanted = 100;
    pdk_lock *locks[10];
    atomic_store(&answered, 0);
    callback_thread = NULL;
    for (int i = 0; i < 10; i++) {
        char *path = g_strdup_printf("/dispatch/many%d", i);
        ck_assert_int_eq(pdk_lock_new(session, path, NULL, &locks[i]), PDK_OK);
        g_free(path);
    }
    for (int i = 0; i < wanted; i++)
        ck_assert_int_eq(pdk_lock_acquire_async(locks[i % 10], 20000, on_counted, NULL, NULL), PDK_OK);
    ck_assert(ts_wait_until(all_answered, &wanted, 20000));
    ck_assert(!event_log_overlapped(&event_log));
    ck_assert(callback_thread != g_thread_self());
    for (int i = 0; i < 10; i++)
        pdk_lock_unref(locks[i]);
}
END_TEST

static atomic_bool let_go;

static bool may_go(void *unused) {
    (void)unused;
    return atomic_load(&let_go);
}

static void on_slow(pdk_status status, pdk_hold *hold, void *user) {
    (void)status;
    (void)user;
    atomic_store(&probe.done, true);
    ts_wait_until(may_go, NULL, 20000);
    pdk_hold_release(hold);
}

START_TEST(a_slow_callback_delays_nothing_but_callbacks) {
    bool manual = false;
    pdk_lock *other = NULL;
    pdk_hold *hold = NULL;
    pdk_claim *claim = NULL;
    ck_assert_int_eq(pdk_lock_new(session, "/dispatch/other", NULL, &other), PDK_OK);
    atomic_store(&let_go, false);
    ck_assert_int_eq(pdk_lock_acquire_async(lock, 5000, on_slow, NULL, NULL), PDK_OK);
    ck_assert(ts_wait_until(probe_done, &manual, 10000));
    atomic_store(&probe.done, false);

    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(pdk_lock_acquire(other, 5000, &hold), PDK_OK);
        ck_assert(pdk_hold_is_valid(hold));
        ck_assert_int_eq(pdk_hold_ensure(hold, 10), PDK_OK);
        ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    }
    ck_assert_int_eq(pdk_lock_acquire(other, 5000, &hold), PDK_OK);
    int fd = pdk_hold_fd(hold);
    char **words = g_strsplit(pdk_hold_sequencer(hold), " ", -1);
    ck_assert(!ts_fd_readable(fd, 0));
    ck_assert_int_eq(ts_delete(ts_ensemble_hosts(server), words[1]), 0);
    ck_assert(ts_fd_readable(fd, 10000));
    ck_assert(!pdk_hold_is_valid(hold));
    ck_assert_int_eq(pdk_hold_reason(hold), PDK_REASON_NODE_GONE);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);

    atomic_store(&answered, 0);
    callback_thread = NULL;
    ck_assert_int_eq(pdk_lock_acquire_async(other, 5000, on_counted, NULL, &claim), PDK_OK);
    ts_sleep_ms(50);
    ck_assert_int_eq(atomic_load(&answered), 0); /* callbacks wait for the slow one */
    atomic_store(&let_go, true);
    int wanted = 1;
    ck_assert(ts_wait_until(all_answered, &wanted, 10000));
    pdk_claim_unref(claim);
    pdk_lock_unref(other);
    g_strfreev(words);
}
END_TEST

/* ---- manual dispatch */

START_TEST(the_descriptor_is_readable_while_callbacks_are_due) {
    int count = 0, fd = pdk_session_fd(session);
    ck_assert_int_ge(fd, 0);
    ck_assert(ts_fd_readable(fd, 5000)); /* CONNECTED */
    ck_assert_int_eq(event_log_count(&event_log, PDK_SESSION_CONNECTED), 0);
    ck_assert_int_eq(pdk_session_dispatch(session, &count), PDK_OK);
    ck_assert_int_gt(count, 0);
    ck_assert_int_eq(event_log_count(&event_log, PDK_SESSION_CONNECTED), 1);
    while (ts_fd_readable(fd, 200)) /* the client library's last events */
        ck_assert_int_eq(pdk_session_dispatch(session, NULL), PDK_OK);
    ck_assert_int_eq(pdk_session_dispatch(session, &count), PDK_OK);
    ck_assert_int_eq(count, 0);
}
END_TEST

START_TEST(blocking_calls_work_without_dispatching) {
    pdk_hold *hold = NULL;
    pdk_contenders *list = NULL;
    ck_assert_int_eq(pdk_lock_acquire(lock, 5000, &hold), PDK_OK);
    ck_assert_int_eq(pdk_lock_list(lock, 5000, &list), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(list), 1);
    pdk_contenders_free(list);
    ck_assert_int_eq(pdk_hold_ensure(hold, 10), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(session, 5000), PDK_OK);
}
END_TEST

START_TEST(an_epoll_loop_gets_its_callbacks_on_its_thread) {
    struct epoll_event event = {.events = EPOLLIN};
    int loop = epoll_create1(EPOLL_CLOEXEC), wanted = 20;
    int64_t began = ts_now_ms();
    ck_assert_int_ge(loop, 0);
    ck_assert_int_eq(epoll_ctl(loop, EPOLL_CTL_ADD, pdk_session_fd(session), &event), 0);
    atomic_store(&answered, 0);
    callback_thread = g_thread_self(); /* on_counted checks it */
    for (int i = 0; i < wanted; i++)
        ck_assert_int_eq(pdk_lock_acquire_async(lock, 10000, on_counted, NULL, NULL), PDK_OK);
    ck_assert_int_eq(atomic_load(&answered), 0); /* never from inside the call */
    while (!all_answered(&wanted) && ts_now_ms() - began < 20000)
        if (epoll_wait(loop, &event, 1, 1000) > 0)
            ck_assert_int_eq(pdk_session_dispatch(session, NULL), PDK_OK);
    ck_assert_int_eq(atomic_load(&answered), wanted);
    close(loop);
}
END_TEST

static void add_tests(TCase *threaded, TCase *manual) {
    tcase_add_test(threaded, a_callback_on_the_sessions_thread_must_not_block);
    tcase_add_test(threaded, a_session_with_a_thread_cannot_be_dispatched);
    tcase_add_test(threaded, callbacks_run_one_at_a_time);
    tcase_add_test(threaded, a_slow_callback_delays_nothing_but_callbacks);
    tcase_add_test(manual, a_dispatched_callback_must_not_block);
    tcase_add_test(manual, dispatching_from_a_dispatched_callback_is_refused);
    tcase_add_test(manual, two_threads_may_dispatch);
    tcase_add_test(manual, the_descriptor_is_readable_while_callbacks_are_due);
    tcase_add_test(manual, blocking_calls_work_without_dispatching);
    tcase_add_test(manual, an_epoll_loop_gets_its_callbacks_on_its_thread);
}

static Suite *make_suite(void) {
    Suite *suite = suite_create("dispatch");
    TCase *threaded = tcase_create("threaded");
    TCase *manual = tcase_create("manual");
    tcase_add_unchecked_fixture(threaded, begin, end);
    tcase_add_checked_fixture(threaded, open_threaded, close_session);
    tcase_add_unchecked_fixture(manual, begin, end);
    tcase_add_checked_fixture(manual, open_manual, close_session);
    add_tests(threaded, manual);
    suite_add_tcase(suite, threaded);
    suite_add_tcase(suite, manual);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

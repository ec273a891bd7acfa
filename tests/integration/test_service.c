/* A service: a function that runs only while we lead, when it returns, and stopping it, in every state and from everywhere. When the
 * function does not return in time, the service goes on leading until it does. Terms as such are in test_term.c. */
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "refused.h"
#include "self.h"
#include "services.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

/* No session is lost, however busy the machine is. */
enum { SLOW_MS = 20000, SOON_MS = 2000 };

static const char *server(void) { return ts_bench_server(); }

static struct {
    const char *path;
    ts_client *client;
    pdk_election *election;
    test_service *s;
} it;

static void make_it(void) {
    it.path = ts_fresh_path();
    it.client = ts_bench_client(SLOW_MS);
    it.election = election_on(it.client, it.path, "anna");
    it.s = NULL;
}

/* Runs it, and waits until it leads. */
static void run_it(enum behaviour behaviour, void (*act)(test_service *s, pdk_term *term)) {
    it.s = test_service_run(it.election, behaviour, NULL, act);
    ck_assert(test_service_wait_runs(it.s, 1, ts_patience(5000)));
}

static void serve_it(enum behaviour behaviour) {
    make_it();
    run_it(behaviour, NULL);
}

static pdk_status stop_within(test_service *s, int64_t timeout_ms) {
    return pdk_service_close(test_service_handle(s), timeout_ms);
}

static pdk_status stop(test_service *s) { return stop_within(s, ts_patience(5000)); }
static void stop_it(void) { ck_assert_int_eq(stop(it.s), PDK_OK); }

/* The service has no node in the queue, no callback runs any more, and the election can be used. */
static void assert_stopped(const char *history) {
    const int runs = test_service_runs(it.s);
    ck_assert(!test_service_is_running(it.s));
    record_silence(test_service_record(it.s));
    ck_assert_int_eq(pdk_session_flush(it.client->session, ts_patience(5000)), PDK_OK);
    ck_assert(ts_wait_children(server(), it.path, 0, ts_patience(SOON_MS)));
    test_service *next = test_service_run(it.election, RETURNS_WHEN_TOLD, NULL, NULL);
    ck_assert(test_service_wait_runs(next, 1, ts_patience(5000)));
    ck_assert_int_eq(stop_within(next, ts_patience(5000)), PDK_OK);
    ck_assert_int_eq(test_service_runs(it.s), runs);
    ck_assert_int_eq(record_late(test_service_record(it.s)), 0);
    assert_service(it.s, history);
}

/* Another client leads. */
static pdk_election *occupy(void) {
    pdk_election *other = election_on(ts_bench_client(SLOW_MS), it.path, NULL);
    candidate_elected(other);
    return other;
}

/* ---- when the function runs, and when it returns */

/* It needs no callbacks: it runs without a dispatching thread. */
START_TEST(without_a_dispatching_thread) {
    make_it();
    it.client = manual_client(SLOW_MS);
    it.election = election_on(it.client, it.path, NULL);
    run_it(RETURNS_WHEN_TOLD, NULL);
    delete_node_of(test_service_hold(it.s));
    ck_assert(test_service_wait_runs(it.s, 2, ts_patience(5000)));
    stop_it();
    assert_service(it.s, "started stopped:NODE_GONE started stopped:NONE");
}
END_TEST

/* A function that returns early resigns. Another candidate is elected, or the same one again when there is no other. */
START_TEST(an_early_return) {
    make_it();
    it.s = test_service_run(it.election, RETURNS_AT_ONCE, NULL, NULL);
    ck_assert(test_service_wait_runs(it.s, 3, ts_patience(5000)));
    test_service *other =
        test_service_run(election_on(ts_bench_client(SLOW_MS), it.path, NULL), RETURNS_WHEN_TOLD, NULL, NULL);
    ck_assert(test_service_wait_runs(other, 1, ts_patience(5000)));
    const int runs = test_service_runs(it.s);
    ts_sleep_ms(200);
    ck_assert_int_eq(test_service_runs(it.s), runs);
    ck_assert_int_eq(pdk_service_resign(test_service_handle(it.s)), PDK_NOT_HELD);
    ck_assert_int_eq(stop(other), PDK_OK);
    ck_assert(test_service_wait_runs(it.s, runs + 1, ts_patience(5000)));
    ck_assert_int_eq(stop(it.s), PDK_OK);
    ck_assert_int_eq(record_count(test_service_record(it.s), STARTED),
                     record_count(test_service_record(it.s), STOPPED));
    ck_assert_str_eq(test_service_problem(it.s), "");
    ck_assert_int_eq(record_count(test_service_record(it.s), FAILED), 0);
}
END_TEST

static void resign_within(test_service *s, pdk_term *term) {
    if (test_service_runs(s) == 1) {
        if (pdk_service_resign(test_service_handle(s)) != PDK_OK || !pdk_term_is_ending(term) ||
            !ts_fd_readable(pdk_term_fd(term), 0) || !pdk_hold_is_valid(pdk_term_hold(term))) {
            g_error("resigning from within");
        }
    }
}

START_TEST(resigning_from_within) {
    make_it();
    it.s = test_service_run(it.election, RETURNS_WHEN_TOLD, NULL, resign_within);
    ck_assert(test_service_wait_runs(it.s, 2, ts_patience(5000)));
    assert_service(it.s, "started stopped:NONE started");
}
END_TEST

/* ---- it cannot be a candidate */

START_TEST(the_session_is_closed) {
    serve_it(_i == 0 ? RETURNS_WHEN_TOLD : RETURNS_WHEN_ALLOWED);
    test_service *waiting = test_service_run(election_on(it.client, it.path, NULL), RETURNS_WHEN_TOLD, NULL, NULL);

    ck_assert(ts_wait_children(server(), it.path, 2, 5000));
    ck_assert_int_eq(pdk_session_close(it.client->session, ts_patience(5000)), PDK_OK);
    ck_assert(test_service_wait_end(it.s, ts_patience(SOON_MS)));
    ck_assert(record_wait(test_service_record(waiting), FAILED, 1, ts_patience(SOON_MS)));
    assert_service(waiting, "failed:CLOSED");
    if (_i == 1) { /* it goes on running at its own risk */
        ck_assert(test_service_is_running(it.s));
        ck_assert_int_eq(pdk_service_close(test_service_handle(it.s), 50), PDK_TIMEOUT);
        assert_service(it.s, "started");
        test_service_allow_return(it.s);
        ck_assert_int_eq(stop(it.s), PDK_OK);
        assert_service(it.s, "started stopped:CLOSED"); /* it was stopped, so it has not failed */
    } else {
        ck_assert(record_wait(test_service_record(it.s), FAILED, 1, ts_patience(SOON_MS)));
        assert_service(it.s, "started stopped:CLOSED failed:CLOSED");
        ck_assert_int_eq(pdk_service_resign(test_service_handle(it.s)), PDK_NOT_HELD);
    }
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(stop(it.s), PDK_OK);
        ck_assert_int_eq(stop(waiting), PDK_OK);
    }
    ck_assert_int_eq(ts_child_count(server(), it.path), 0);
}
END_TEST

static void close_within(test_service *s, pdk_term *term) {
    (void)s;
    if (pdk_session_close(it.client->session, 5000) != PDK_OK || !pdk_term_is_ending(term))
        g_error("closing from within");
}

START_TEST(the_session_is_closed_from_within) {
    make_it();
    it.s = test_service_run(it.election, RETURNS_WHEN_TOLD, NULL, close_within);
    ck_assert(record_wait(test_service_record(it.s), FAILED, 1, ts_patience(5000)));
    assert_service(it.s, "started stopped:CLOSED failed:CLOSED");
}
END_TEST

/* ---- one at a time, and nothing left */

static void run_nothing(pdk_term *term, void *user) {
    (void)term;
    (void)user;
    g_error("a function whose service was refused");
}

START_TEST(a_second_candidate_is_refused) {
    pdk_service *service = NULL;
    serve_it(RETURNS_WHEN_TOLD);
    refused(pdk_service_start(it.election, run_nothing, NULL, NULL, &service), PDK_INVALID, "candidate already");
    ck_assert_ptr_null(service);
    ck_assert_int_eq(pdk_election_join(it.election, NULL), PDK_INVALID);
    ck_assert_int_eq(pdk_election_leave(it.election), PDK_NOT_HELD); /* that is for candidates with callbacks */
    ck_assert_int_eq(pdk_election_resign(it.election), PDK_NOT_HELD);
    ck_assert(test_service_is_running(it.s));
    ck_assert_int_eq(stop(it.s), PDK_OK);
    record *r = candidate_elected(it.election);
    ck_assert_int_eq(pdk_service_start(it.election, run_nothing, NULL, NULL, &service), PDK_INVALID);
    ck_assert_int_eq(pdk_election_leave(it.election), PDK_OK);
    assert_told(r, DEPOSED, 1);
}
END_TEST

START_TEST(run_and_stopped_again_and_again) {
    make_it();
    const int threads = self_thread_count(), descriptors = self_descriptor_count();

    for (int i = 0; i < 20; i++) {
        it.s = test_service_run(it.election, i % 3 == 2 ? RETURNS_AT_ONCE : RETURNS_WHEN_TOLD, NULL, NULL);
        if (i % 2 == 0)
            ck_assert(test_service_wait_runs(it.s, 1, ts_patience(5000)));
        ck_assert_int_eq(stop(it.s), PDK_OK);
        ck_assert_str_eq(test_service_problem(it.s), "");
        test_service_unref(it.s);
        ck_assert(self_wait_threads(threads, ts_patience(SOON_MS)));
    }
    for (const int64_t end = ts_now_ms() + ts_patience(SOON_MS); self_descriptor_count() > descriptors;)
        ck_assert_int_lt(ts_now_ms(), end);
    ck_assert_int_eq(pdk_session_flush(it.client->session, 5000), PDK_OK);
    ck_assert_int_le(ts_child_count(server(), it.path), 0);
}
END_TEST

/* ---- stopped */

/* The runner asks for a term's descriptor when it has the hold, ahead of its last look. The next one waits there until it is let go. */
enum { OPEN, SHUT, STANDS_THERE };
static atomic_int gate;

int eventfd(unsigned int count, int flags) {
    int shut = SHUT;
    if (atomic_compare_exchange_strong(&gate, &shut, STANDS_THERE))
        while (atomic_load(&gate) == STANDS_THERE)
            g_usleep(1000);
    return (int)syscall(SYS_eventfd2, count, flags);
}

/* It has been granted, and the function does not run yet: it never does. */
START_TEST(between_its_grant_and_its_function) {
    make_it();
    pdk_election *other = occupy();
    it.s = test_service_run(it.election, RETURNS_WHEN_TOLD, NULL, NULL);
    ck_assert(ts_wait_children(server(), it.path, 2, ts_patience(5000)));
    atomic_store(&gate, SHUT);
    ck_assert_int_eq(pdk_election_leave(other), PDK_OK);
    for (int64_t end = ts_now_ms() + ts_patience(5000); atomic_load(&gate) != STANDS_THERE;) {
        ck_assert_int_lt(ts_now_ms(), end);
        g_usleep(1000);
    }
    pdk_status status = stop_within(it.s, 1);
    atomic_store(&gate, OPEN);
    ck_assert_int_eq(status, PDK_TIMEOUT);
    stop_it();
    ck_assert_int_eq(test_service_runs(it.s), 0);
    assert_stopped("");
}
END_TEST

static void *stop_main(void *s) { return GINT_TO_POINTER(stop_within(s, PDK_FOREVER)); }

START_TEST(stopped_by_many_at_once) {
    enum { THREADS = 4 };
    GThread *threads[THREADS];

    serve_it(RETURNS_WHEN_ALLOWED);
    for (int i = 0; i < THREADS; i++)
        threads[i] = g_thread_new("stop", stop_main, it.s);
    ck_assert(test_service_wait_end(it.s, ts_patience(SOON_MS)));
    ts_sleep_ms(50);
    test_service_allow_return(it.s);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(GPOINTER_TO_INT(g_thread_join(threads[i])), PDK_OK);
    assert_stopped("started stopped:NONE");
}
END_TEST

/* ---- from the wrong thread */

static void stop_from_within(test_service *s, pdk_term *term) {
    const pdk_status status = pdk_service_close(test_service_handle(s), 1000);
    if (status != PDK_WRONG_THREAD || strstr(pdk_last_error(), "pdk_service_close") == NULL || pdk_term_is_ending(term))
        g_error("a stop from within: %s", pdk_status_name(status));
}

START_TEST(from_the_function) {
    make_it();
    run_it(RETURNS_WHEN_TOLD, stop_from_within);
    ts_sleep_ms(50);
    ck_assert(test_service_is_running(it.s));
    stop_it();
    assert_stopped("started stopped:NONE");
}
END_TEST

static atomic_int from_within;

static void stop_in_callback(record *r, void *s) {
    (void)r;
    atomic_store(&from_within, pdk_service_close(test_service_handle(s), 1000));
}

START_TEST(from_its_callbacks) {
    make_it();
    pdk_election *other = occupy();
    it.s = test_service_run(it.election, RETURNS_WHEN_TOLD, NULL, NULL);
    for (enum told what = FAILED; what <= STOPPED; what++)
        record_act(test_service_record(it.s), what, stop_in_callback, it.s);
    ck_assert_int_eq(pdk_election_leave(other), PDK_OK);
    for (enum told what = STARTED; what <= STOPPED; what++) {
        atomic_store(&from_within, -1);
        ck_assert(record_wait(test_service_record(it.s), what, 1, ts_patience(5000)));
        for (const int64_t end = ts_now_ms() + 1000; atomic_load(&from_within) == -1 && ts_now_ms() < end;)
            ts_sleep_ms(1);
        ck_assert_int_eq(atomic_load(&from_within), PDK_WRONG_THREAD);
        if (what == STARTED)
            ck_assert_int_eq(pdk_service_resign(test_service_handle(it.s)), PDK_OK);
    }
    atomic_store(&from_within, -1);
    ck_assert_int_eq(pdk_session_close(it.client->session, 5000), PDK_OK);
    ck_assert(record_wait(test_service_record(it.s), FAILED, 1, ts_patience(5000)));
    stop_it();
    ck_assert_int_eq(atomic_load(&from_within), PDK_WRONG_THREAD);
}
END_TEST

/* ---- by unref */

static void unref_within(test_service *s, pdk_term *term) {
    test_service_unref(s);
    if (!pdk_term_is_ending(term) || !pdk_hold_is_valid(pdk_term_hold(term)))
        g_error("a service given back from within");
}

/* The function is told to return, in the background, and then the service ends. */
START_TEST(unref_without_a_stop) {
    static const char *const histories[] = {"", "started stopped:NONE", "started stopped:NONE", "started stopped:NONE"};
    make_it();
    pdk_election *other = _i == 0 ? occupy() : NULL;
    it.s = test_service_run(it.election, _i == 2 ? RETURNS_WHEN_ALLOWED : RETURNS_WHEN_TOLD, NULL,
                            _i == 3 ? unref_within : NULL);
    if (_i == 0)
        ck_assert(ts_wait_children(server(), it.path, 2, 5000));
    else
        ck_assert(test_service_wait_runs(it.s, 1, ts_patience(5000)));
    if (_i != 3)
        test_service_unref(it.s);
    if (_i == 2) {
        ck_assert(test_service_wait_end(it.s, ts_patience(SOON_MS)));
        pdk_service *service = NULL;
        ck_assert_int_eq(pdk_service_start(it.election, run_nothing, NULL, NULL, &service), PDK_INVALID);
        ck_assert_int_eq(ts_child_count(server(), it.path), 1);
        test_service_allow_return(it.s);
    }
    ck_assert(ts_wait_children(server(), it.path, _i == 0 ? 1 : 0, ts_patience(SOON_MS)));
    assert_service(it.s, histories[_i]);
    if (other != NULL)
        ck_assert_int_eq(pdk_election_leave(other), PDK_OK);
    const int64_t end = ts_now_ms() + ts_patience(SOON_MS); /* the background has ended it */
    while (pdk_election_join(it.election, NULL) != PDK_OK) {
        ck_assert_int_lt(ts_now_ms(), end);
        ts_sleep_ms(1);
    }
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_election_wait(it.election, 5000, &hold), PDK_OK);
    pdk_hold_unref(hold);
}
END_TEST

/* The election and the session may be dropped before the service. */
START_TEST(it_outlives_its_election) {
    pdk_election *election = NULL;
    make_it();
    ck_assert_int_eq(pdk_election_new(it.client->session, it.path, NULL, &election), PDK_OK);
    it.s = test_service_run(election, RETURNS_WHEN_TOLD, NULL, NULL);
    pdk_election_unref(election);
    ck_assert(test_service_wait_runs(it.s, 1, ts_patience(5000)));
    ck_assert_int_eq(pdk_service_resign(test_service_handle(it.s)), PDK_OK);
    ck_assert(test_service_wait_runs(it.s, 2, ts_patience(5000)));
    stop_it();
    test_service_unref(it.s);
    ck_assert(ts_wait_children(server(), it.path, 0, ts_patience(SOON_MS)));
    assert_service(it.s, "started stopped:NONE started stopped:NONE");
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("service");
    TCase *tcase = ts_bench_case(suite, "service");
    tcase_add_test(tcase, without_a_dispatching_thread);
    tcase_add_test(tcase, an_early_return);
    tcase_add_test(tcase, resigning_from_within);
    tcase_add_loop_test(tcase, the_session_is_closed, 0, 2);
    tcase_add_test(tcase, the_session_is_closed_from_within);
    tcase_add_test(tcase, a_second_candidate_is_refused);
    tcase_add_test(tcase, run_and_stopped_again_and_again);
    tcase_add_test(tcase, between_its_grant_and_its_function);
    tcase_add_test(tcase, stopped_by_many_at_once);
    tcase_add_test(tcase, from_the_function);
    tcase_add_test(tcase, from_its_callbacks);
    tcase_add_loop_test(tcase, unref_without_a_stop, 0, 4);
    tcase_add_test(tcase, it_outlives_its_election);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

/* A service: a function that runs only while we lead. It is told in time when the term ends. */
#include <string.h>

#include "self.h"
#include "services.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 3000, SOON_MS = 2000 };

static const char *server(void) { return ts_bench_server(); }

static struct {
    const char *path;
    ts_client *client;
    pdk_election *election;
    test_service *s;
} it;

static void make_it(void) {
    it.path = ts_fresh_path();
    it.client = ts_bench_client(SESSION_MS);
    it.election = election_on(it.client, it.path, "anna");
    it.s = NULL;
}

static void serve_it(enum behaviour behaviour) {
    make_it();
    it.s = test_service_run(it.election, behaviour, NULL, NULL);
    ck_assert(test_service_wait_runs(it.s, 1, ts_patience(5000)));
}

static pdk_status stop(test_service *s) { return pdk_service_close(test_service_handle(s), ts_patience(5000)); }

/* Another service, queued behind. */
static test_service *serve_next(void) {
    const int before = ts_child_count(server(), it.path);
    test_service *s =
        test_service_run(election_on(ts_bench_client(SESSION_MS), it.path, "bruno"), RETURNS_WHEN_TOLD, NULL, NULL);

    ck_assert(ts_wait_children(server(), it.path, before + 1, 5000));
    return s;
}

/* ---- only while leading */

START_TEST(one_at_a_time) {
    enum { SERVICES = 4 };
    test_service *all[SERVICES];
    int64_t last = 0;

    serve_it(RETURNS_WHEN_TOLD);
    all[0] = it.s;
    for (int i = 1; i < SERVICES; i++) {
        all[i] = serve_next();
    }
    for (int i = 0; i < SERVICES; i++) {
        ck_assert(test_service_wait_runs(all[i], 1, ts_patience(5000)));
        ck_assert(test_service_is_running(all[i]));
        for (int later = i + 1; later < SERVICES; later++) {
            ck_assert_int_eq(test_service_runs(all[later]), 0);
        }
        ck_assert_int_gt(pdk_hold_token(test_service_hold(all[i])), last);
        last = pdk_hold_token(test_service_hold(all[i]));
        ck_assert_int_eq(record_token(test_service_record(all[i])), last);
        ck_assert_int_eq(stop(all[i]), PDK_OK);
        ck_assert(!test_service_is_running(all[i]));
        ck_assert(!pdk_hold_is_valid(test_service_hold(all[i])));
        assert_service(all[i], "started stopped:NONE");
    }
    ck_assert(ts_wait_children(server(), it.path, 0, SOON_MS));
}
END_TEST

START_TEST(the_hold_of_a_term) {
    serve_it(RETURNS_WHEN_TOLD);
    pdk_hold *hold = test_service_hold(it.s);
    g_autofree char *node = ts_hold_node(hold);
    g_autofree char *proof = g_strdup_printf("pdk1 %s leader %" G_GINT64_FORMAT " 0", node, pdk_hold_token(hold));
    ts_lost *lost = ts_lost_watch(hold);

    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_str_eq(pdk_hold_sequencer(hold), proof);
    ck_assert_int_eq(pdk_session_check_sequencer(it.client->session, proof, 5000), PDK_OK);
    ck_assert_int_eq(pdk_hold_ensure(hold, 10), PDK_OK);
    ck_assert_int_eq(stop(it.s), PDK_OK);
    ck_assert_int_eq(pdk_hold_reason(hold), PDK_REASON_NONE); /* it outlives the term, and was not lost */
    ck_assert_int_eq(ts_lost_count(lost), 0);
    ck_assert_int_eq(pdk_session_flush(it.client->session, 5000), PDK_OK);
    ck_assert_int_eq(pdk_session_check_sequencer(it.client->session, proof, 5000), PDK_LOST);
}
END_TEST

/* There is no connection for a while. The function runs on, and can read how much time is left. */
START_TEST(suspended_and_restored) {
    serve_it(RETURNS_WHEN_TOLD);
    pdk_hold *hold = test_service_hold(it.s);

    ts_proxy_set_mode(it.client->proxy, TS_CUT);
    ck_assert(ts_wait_event(it.client, PDK_SESSION_SUSPENDED, 1, ts_patience(SOON_MS)));
    const int64_t left = pdk_hold_remaining_ms(hold);
    ck_assert_int_gt(left, 0);
    ck_assert_int_le(left, SESSION_MS);
    ts_sleep_ms(100);
    ck_assert_int_le(pdk_hold_remaining_ms(hold), left - 100);
    ck_assert(!test_service_sees_end(it.s));
    ts_proxy_heal(it.client->proxy);
    ck_assert(ts_wait_event(it.client, PDK_SESSION_RESTORED, 1, ts_patience(SOON_MS)));
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_int_eq(stop(it.s), PDK_OK);
    assert_service(it.s, "started stopped:NONE");
}
END_TEST

/* It needs no callbacks: it runs without a dispatching thread. */
START_TEST(without_a_dispatching_thread) {
    make_it();
    it.client = manual_client(SESSION_MS);
    it.s = test_service_run(election_on(it.client, it.path, NULL), RETURNS_WHEN_TOLD, NULL, NULL);
    ck_assert(test_service_wait_runs(it.s, 1, ts_patience(5000)));
    delete_node_of(test_service_hold(it.s));
    ck_assert(test_service_wait_runs(it.s, 2, ts_patience(5000)));
    ck_assert_int_eq(stop(it.s), PDK_OK);
    assert_service(it.s, "started stopped:NODE_GONE started stopped:NONE");
}
END_TEST

/* ---- the end of a term */

static void by_an_admin(void) { delete_node_of(test_service_hold(it.s)); }
static void by_expiry(void) { ck_assert_int_eq(ts_expire(it.client->proxy, server()), 0); }
static void by_resigning(void) { ck_assert_int_eq(pdk_service_resign(test_service_handle(it.s)), PDK_OK); }

static void by_silence(void) {
    ts_proxy_set_mode(it.client->proxy, TS_BLACKHOLE);
    ck_assert(test_service_wait_end(it.s, ts_patience(SESSION_MS + SOON_MS)));
    ts_proxy_heal_discard(it.client->proxy);
}

static const struct {
    void (*end)(void);
    const char *history;
} ends[] = {{by_an_admin, "started stopped:NODE_GONE started"},
            {by_expiry, "started stopped:EXPIRED started"},
            {by_silence, "started stopped:LEASE started"},
            {by_resigning, "started stopped:NONE started"}};

/* The function is told to return, and takes its time. Until it has returned, the service does not queue, and no other
 * run begins. */
START_TEST(every_end_of_a_term) {
    serve_it(RETURNS_WHEN_ALLOWED);
    const int64_t token = pdk_hold_token(test_service_hold(it.s));

    ends[_i].end();
    ck_assert(test_service_wait_end(it.s, ts_patience(SOON_MS)));
    ts_sleep_ms(300);
    ck_assert_int_eq(test_service_runs(it.s), 1);
    if (ends[_i].end == by_resigning) { /* the office is kept while the function runs */
        ck_assert(pdk_hold_is_valid(test_service_hold(it.s)));
        ck_assert_int_eq(pdk_service_resign(test_service_handle(it.s)), PDK_OK);
    } else {
        ck_assert(!pdk_hold_is_valid(test_service_hold(it.s)));
        ck_assert(ts_wait_children(server(), it.path, 0, ts_patience(2 * SESSION_MS)));
    }
    assert_service(it.s, "started");
    test_service_allow_return(it.s);
    ck_assert(test_service_wait_runs(it.s, 2, ts_patience(2 * SESSION_MS)));
    assert_service(it.s, ends[_i].history);
    ck_assert_int_gt(pdk_hold_token(test_service_hold(it.s)), token);
    ck_assert_int_eq(stop(it.s), PDK_OK);
}
END_TEST

/* The flag is never later than the end of the hold, however closely the test looks. */
static void look_closely(test_service *s, pdk_term *term) {
    pdk_hold *hold = pdk_term_hold(term);
    bool valid;

    (void)s;
    do {
        valid = pdk_hold_is_valid(hold);
        if (!valid && !pdk_term_is_ending(term)) {
            g_error("the hold is invalid, and the term is not ending");
        }
    } while (valid);
}

START_TEST(the_flag_is_never_later_than_the_hold) {
    make_it();
    it.s = test_service_run(it.election, RETURNS_WHEN_TOLD, NULL, look_closely);
    ck_assert(test_service_wait_runs(it.s, 1, ts_patience(5000)));
    ts_proxy_set_mode(it.client->proxy, TS_BLACKHOLE);
    ck_assert(test_service_wait_end(it.s, ts_patience(SESSION_MS + SOON_MS)));
    ck_assert_str_eq(test_service_problem(it.s), "");
    pdk_session_close(it.client->session, 100); /* so that it does not begin again */
}
END_TEST

/* ---- resigning */

START_TEST(resigning_hands_over_and_queues_at_the_end) {
    serve_it(RETURNS_WHEN_TOLD);
    test_service *pair[] = {it.s, serve_next()};

    for (int turn = 0; turn < 4; turn++) {
        test_service *leads = pair[turn % 2], *waits = pair[(turn + 1) % 2];

        ck_assert_int_eq(pdk_service_resign(test_service_handle(waits)), PDK_NOT_HELD);
        ck_assert_int_eq(pdk_service_resign(test_service_handle(leads)), PDK_OK);
        ck_assert(test_service_wait_runs(waits, turn / 2 + 1 + turn % 2, ts_patience(5000)));
        ck_assert(!test_service_is_running(leads));
        ck_assert(ts_wait_children(server(), it.path, 2, ts_patience(SOON_MS))); /* it has queued again */
    }
    assert_service(pair[0], "started stopped:NONE started stopped:NONE started");
    assert_service(pair[1], "started stopped:NONE started stopped:NONE");
}
END_TEST

/* A function that returns early resigns. Another candidate is elected, or the same one again when there is no other. */
START_TEST(an_early_return) {
    make_it();
    it.s = test_service_run(it.election, RETURNS_AT_ONCE, NULL, NULL);
    ck_assert(test_service_wait_runs(it.s, 3, ts_patience(5000)));
    test_service *other =
        test_service_run(election_on(ts_bench_client(SESSION_MS), it.path, NULL), RETURNS_WHEN_TOLD, NULL, NULL);
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
    if (pdk_session_close(it.client->session, 5000) != PDK_OK || !pdk_term_is_ending(term)) {
        g_error("closing from within");
    }
}

START_TEST(the_session_is_closed_from_within) {
    make_it();
    it.s = test_service_run(it.election, RETURNS_WHEN_TOLD, NULL, close_within);
    ck_assert(record_wait(test_service_record(it.s), FAILED, 1, ts_patience(5000)));
    assert_service(it.s, "started stopped:CLOSED failed:CLOSED");
}
END_TEST

START_TEST(a_directory_that_may_not_be_written) {
    ts_observer *admin = ts_observer_open(server());

    make_it();
    ck_assert_int_eq(ts_create(server(), it.path, "", TS_PERSISTENT, NULL), 0);
    ck_assert_int_eq(ts_observer_set_acl(admin, it.path, TS_PERM_READ | TS_PERM_ADMIN, "world", "anyone"), 0);
    it.s = test_service_run(it.election, RETURNS_WHEN_TOLD, NULL, NULL);
    ck_assert(record_wait(test_service_record(it.s), FAILED, 1, ts_patience(5000)));
    assert_service(it.s, "failed:NO_PERMISSION");
    ck_assert_int_eq(stop(it.s), PDK_OK);
    ck_assert_int_eq(test_service_runs(it.s), 0);
    ck_assert_int_eq(ts_observer_set_acl(admin, it.path, TS_PERM_ALL, "world", "anyone"), 0);
    test_service *next =
        test_service_run(it.election, RETURNS_WHEN_TOLD, NULL, NULL); /* the election can be used as before */
    ck_assert(test_service_wait_runs(next, 1, ts_patience(5000)));
    ts_observer_close(admin);
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
    ck_assert_int_eq(pdk_service_start(it.election, run_nothing, NULL, NULL, &service), PDK_INVALID);
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "candidate already"));
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
        if (i % 2 == 0) {
            ck_assert(test_service_wait_runs(it.s, 1, ts_patience(5000)));
        }
        ck_assert_int_eq(stop(it.s), PDK_OK);
        ck_assert_str_eq(test_service_problem(it.s), "");
        test_service_unref(it.s);
        ck_assert(self_wait_threads(threads, ts_patience(SOON_MS)));
    }
    for (const int64_t end = ts_now_ms() + ts_patience(SOON_MS); self_descriptor_count() > descriptors;) {
        ck_assert_int_lt(ts_now_ms(), end);
    }
    ck_assert_int_eq(pdk_session_flush(it.client->session, 5000), PDK_OK);
    ck_assert_int_le(ts_child_count(server(), it.path), 0);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("service");
    TCase *tcase = ts_bench_case(suite, "service");

    tcase_add_test(tcase, one_at_a_time);
    tcase_add_test(tcase, the_hold_of_a_term);
    tcase_add_test(tcase, suspended_and_restored);
    tcase_add_test(tcase, without_a_dispatching_thread);
    tcase_add_loop_test(tcase, every_end_of_a_term, 0, G_N_ELEMENTS(ends));
    tcase_add_test(tcase, the_flag_is_never_later_than_the_hold);
    tcase_add_test(tcase, resigning_hands_over_and_queues_at_the_end);
    tcase_add_test(tcase, an_early_return);
    tcase_add_test(tcase, resigning_from_within);
    tcase_add_loop_test(tcase, the_session_is_closed, 0, 2);
    tcase_add_test(tcase, the_session_is_closed_from_within);
    tcase_add_test(tcase, a_directory_that_may_not_be_written);
    tcase_add_test(tcase, a_second_candidate_is_refused);
    tcase_add_test(tcase, run_and_stopped_again_and_again);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

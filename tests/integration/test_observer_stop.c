/* The end of an observer. After the stop nothing is told, wherever the stop is called. user_free runs once, after
 * fn. */
#include <string.h>

#include "elections.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 3000, SOON_MS = 2000 };

static const char *server(void) { return ts_bench_server(); }

static struct {
    const char *path;
    ts_client *a, *b; /* a's candidates are in the election, b observes it */
    pdk_election *leader, *seen;
} it;

static void make_it_with(ts_client *watching) {
    it.path = ts_fresh_path();
    it.a = ts_bench_client(SESSION_MS);
    it.b = watching;
    it.leader = election_on(it.a, it.path, "anna");
    it.seen = election_on(it.b, it.path, NULL);
    candidate_elected(it.leader);
}

static void make_it(void) { make_it_with(ts_bench_client(SESSION_MS)); }

static void assert_leader(record *r, const char *identity) {
    ck_assert_msg(record_wait_leader(r, identity, ts_patience(SESSION_MS + SOON_MS)), "not told: %s", identity);
}

/* The leader leaves and comes again: this makes two messages for each observer. */
static void change_leader(void) {
    record *witness = observer_begin(it.leader);

    assert_leader(witness, "anna");
    ck_assert_int_eq(pdk_election_leave(it.leader), PDK_OK);
    assert_leader(witness, "-");
    ck_assert_int_eq(pdk_election_join(it.leader, NULL), PDK_OK);
    assert_leader(witness, "anna");
    observer_stop(witness);
    ts_sleep_ms(100);
}

static void assert_silent(record *r, int told) {
    ck_assert_int_eq(record_late(r), 0);
    ck_assert_int_eq(record_count(r, LEADER), told);
    ck_assert_int_eq(record_count(r, FREED), 1);
    ck_assert(!record_overlapped(r));
}

/* ---- stopped */

START_TEST(stopped_by_another_thread) {
    make_it();
    record *r = observer_begin(it.seen);

    assert_leader(r, "anna");
    ck_assert_int_eq(record_count(r, FREED), 0);
    observer_stop(r);
    ck_assert(record_wait(r, FREED, 1, ts_patience(SOON_MS)));
    record_silence(r);
    change_leader();
    assert_silent(r, 1);
}
END_TEST

/* Nothing has been told yet: the list is under way, its answer is, the read is, or there is no connection. */
START_TEST(stopped_before_it_is_told) {
    static const int opcodes[] = {0, TS_OP_GET_CHILDREN, TS_OP_GET_DATA, 0};

    make_it();
    for (int i = 0; i < 2; i++) {
        if (opcodes[_i] != 0) {
            ts_proxy_arm(it.b->proxy, opcodes[_i], i == 0 ? TS_LOSE_REQUEST : TS_LOSE_REPLY, TS_BLACKHOLE);
        } else if (_i == 3) {
            ts_proxy_set_mode(it.b->proxy, TS_CUT);
            ck_assert(ts_wait_event(it.b, PDK_SESSION_SUSPENDED, i + 1, ts_patience(SOON_MS)));
        }
        record *r = observer_begin(it.seen);
        ck_assert(opcodes[_i] == 0 || ts_proxy_wait_fired(it.b->proxy, ts_patience(5000)));
        observer_stop(r);
        ck_assert(record_wait(r, FREED, 1, ts_patience(SOON_MS)));
        record_silence(r);
        const int told = record_count(r, LEADER);
        ts_proxy_heal(it.b->proxy);
        record *next = observer_begin(it.seen);
        assert_leader(next, "anna");
        observer_stop(next);
        change_leader();
        assert_silent(r, told);
        assert_silent(next, 1);
    }
}
END_TEST

static void stop_within(record *r, void *user) {
    (void)user;
    observer_stop(r);
    if (record_count(r, FREED) > 0) {
        g_error("freed while fn runs");
    }
}

START_TEST(stopped_from_within) {
    make_it();
    record *r = observer_begin(it.seen);
    assert_leader(r, "anna");
    ck_assert(record_wait(r, LEADER, 1, ts_patience(SOON_MS))); /* the act is for the next one */
    record_act(r, LEADER, stop_within, NULL);
    ck_assert_int_eq(pdk_election_leave(it.leader), PDK_OK);
    ck_assert(record_wait(r, FREED, 1, ts_patience(SOON_MS)));
    record_silence(r);
    ck_assert_int_eq(pdk_election_join(it.leader, NULL), PDK_OK);
    change_leader();
    assert_silent(r, 2);
}
END_TEST

/* fn runs on the session's thread. The stop does not wait for it, and leaves user_free to that thread. */
START_TEST(stopped_while_it_runs) {
    door *d = door_new();

    make_it();
    record *r = observer_begin(it.seen);
    assert_leader(r, "anna");
    ck_assert(record_wait(r, LEADER, 1, ts_patience(SOON_MS))); /* the act is for the next one */
    record_act(r, LEADER, at_door, d);
    ck_assert_int_eq(pdk_election_leave(it.leader), PDK_OK);
    assert_leader(r, "-");
    ck_assert_int_eq(pdk_election_join(it.leader, NULL), PDK_OK); /* the next message is due after it */
    ts_sleep_ms(100);
    ck_assert(record_running(r));
    observer_stop(r);
    ck_assert(record_running(r));
    ck_assert_int_eq(record_count(r, FREED), 0);
    door_open(d);
    ck_assert(record_wait(r, FREED, 1, ts_patience(SOON_MS)));
    record_silence(r);
    change_leader();
    assert_silent(r, 2);
}
END_TEST

/* A message is due, and nobody dispatches before the stop. It is not told. */
START_TEST(stopped_while_a_message_is_due) {
    make_it_with(manual_client(SESSION_MS));
    record *r = observer_begin(it.seen);

    ck_assert(ts_fd_readable(pdk_session_fd(it.b->session), ts_patience(SOON_MS)));
    ts_sleep_ms(200);
    observer_stop(r);
    ck_assert(record_wait(r, FREED, 1, ts_patience(SOON_MS)));
    record_silence(r);
    ck_assert_int_eq(pdk_session_dispatch(it.b->session, NULL), PDK_OK);
    change_leader();
    ck_assert_int_eq(pdk_session_dispatch(it.b->session, NULL), PDK_OK);
    assert_silent(r, 0);
}
END_TEST

/* The reader is slow. Every leader is told in order, and none after the stop. */
START_TEST(dispatched_late) {
    make_it_with(manual_client(SESSION_MS));
    record *r = observer_begin(it.seen);

    ts_sleep_ms(100);
    change_leader();
    ck_assert(manual_wait(it.b, r, LEADER, 2, 5000));
    ts_sleep_ms(300);
    ck_assert_int_eq(pdk_session_dispatch(it.b->session, NULL), PDK_OK);
    g_autofree char *leaders = record_leaders(r);
    if (strcmp(leaders, "anna anna") != 0) /* the time without a leader was short, and such a message may be left out */
        ck_assert_str_eq(leaders, "anna - anna");
    observer_stop(r);
    ck_assert(record_wait(r, FREED, 1, ts_patience(SOON_MS)));
}
END_TEST

/* ---- the session's end, and the election's */

START_TEST(the_session_is_closed) {
    make_it();
    record *r = observer_begin(it.seen);

    assert_leader(r, "anna");
    ck_assert_int_eq(pdk_session_close(it.b->session, 5000), PDK_OK);
    record_silence(r);
    change_leader();
    observer_stop(r);
    assert_silent(r, 1);
}
END_TEST

static void close_within(record *r, void *session) {
    (void)r;
    pdk_session_close(session, 5000);
}

START_TEST(the_session_is_closed_from_within) {
    make_it();
    record *r = observer_begin(it.seen);

    assert_leader(r, "anna");
    ck_assert(record_wait(r, LEADER, 1, ts_patience(SOON_MS))); /* the act is for the next one */
    record_act(r, LEADER, close_within, it.b->session);
    ck_assert_int_eq(pdk_election_leave(it.leader), PDK_OK);
    ck_assert(record_wait(r, LEADER, 2, ts_patience(SOON_MS)));
    ck_assert_int_eq(pdk_election_join(it.leader, NULL), PDK_OK);
    change_leader();
    ck_assert_int_eq(record_count(r, FREED), 0);
    observer_stop(r);
    ck_assert(record_wait(r, FREED, 1, ts_patience(SOON_MS)));
    ck_assert_int_eq(record_count(r, LEADER), 2);
}
END_TEST

/* The observer goes on without its election, and keeps the session. */
START_TEST(the_election_goes_before_it) {
    pdk_election *election = NULL;

    make_it();
    ck_assert_int_eq(pdk_election_new(it.b->session, it.path, NULL, &election), PDK_OK);
    record *r = observer_begin(election);
    pdk_election_unref(election);
    assert_leader(r, "anna");
    change_leader();
    ck_assert(record_wait(r, LEADER, 2,
                          ts_patience(SOON_MS))); /* the time without a leader may have been too short to be told */
    assert_leader(r, "anna");
    observer_stop(r);
    ck_assert(record_wait(r, FREED, 1, ts_patience(SOON_MS)));
    const int told = record_count(r, LEADER);
    change_leader();
    assert_silent(r, told);
}
END_TEST

/* Without user_free. The observer has the session's last reference. */
START_TEST(the_last_user_of_its_session) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    pdk_election *election = NULL;
    pdk_observer *observer = NULL;
    record *r = record_new();

    make_it();
    options.session_timeout_ms = SESSION_MS;
    ck_assert_int_eq(pdk_session_open(ts_proxy_address(it.b->proxy), &options, &s), PDK_OK);
    ck_assert_int_eq(pdk_election_new(s, it.path, NULL, &election), PDK_OK);
    ck_assert_int_eq(pdk_election_observe(election, record_leader, r, NULL, &observer), PDK_OK);
    pdk_election_unref(election);
    pdk_session_unref(s);
    assert_leader(r, "anna"); /* it lives as long as the observer */
    pdk_observer_close(observer);
    record_silence(r);
    change_leader();
    ck_assert_int_eq(record_late(r), 0);
    ck_assert_int_eq(record_count(r, FREED), 0);
}
END_TEST

/* ---- begun and stopped again and again, while leaders come and go */

static volatile gint going;

static void *begin_and_stop(void *election) {
    while (g_atomic_int_get(&going)) {
        record *r = record_new();
        pdk_observer *observer = NULL;

        g_assert(pdk_election_observe(election, record_leader, r, record_freed, &observer) == PDK_OK);
        if (g_random_boolean()) {
            g_usleep((gulong)g_random_int_range(0, 3000));
        }
        pdk_observer_close(observer);
        g_assert(record_wait(r, FREED, 1, 5000));
    }
    return NULL;
}

START_TEST(begun_and_stopped_again_and_again) {
    enum { THREADS = 3 };
    GThread *threads[THREADS];

    make_it();
    record *steady = observer_begin(it.seen);
    g_atomic_int_set(&going, 1);
    for (int i = 0; i < THREADS; i++) {
        threads[i] = g_thread_new("churn", begin_and_stop, it.seen);
    }
    const int64_t end = ts_now_ms() + 2000;
    for (int i = 0; ts_now_ms() < end; i++) {
        ck_assert_int_eq(pdk_election_leave(it.leader), PDK_OK);
        ck_assert_int_eq(pdk_election_join(it.leader, NULL), PDK_OK);
        if (i % 16 == 7) {
            ts_proxy_set_mode(it.b->proxy, TS_CUT);
            ts_proxy_heal(it.b->proxy);
        }
        ts_sleep_ms(i % 5);
    }
    g_atomic_int_set(&going, 0);
    for (int i = 0; i < THREADS; i++) {
        g_thread_join(threads[i]);
    }
    ck_assert_int_eq(pdk_election_leave(it.leader), PDK_OK);
    ck_assert(ts_wait_children(server(), it.path, 0, ts_patience(SOON_MS)));
    assert_leader(steady, "-");
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("observer_stop");
    TCase *tcase = ts_bench_case(suite, "observer_stop");

    tcase_add_test(tcase, stopped_by_another_thread);
    tcase_add_loop_test(tcase, stopped_before_it_is_told, 0, 4);
    tcase_add_test(tcase, stopped_from_within);
    tcase_add_test(tcase, stopped_while_it_runs);
    tcase_add_test(tcase, stopped_while_a_message_is_due);
    tcase_add_test(tcase, dispatched_late);
    tcase_add_test(tcase, the_session_is_closed);
    tcase_add_test(tcase, the_session_is_closed_from_within);
    tcase_add_test(tcase, the_election_goes_before_it);
    tcase_add_test(tcase, the_last_user_of_its_session);
    tcase_add_test(tcase, begun_and_stopped_again_and_again);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

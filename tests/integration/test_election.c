/* Candidates with callbacks: which candidate queues when, and leaving from everywhere: inside callbacks, beside them, and before they are
 * told. Terms as such are in test_term.c. */
#include <stdatomic.h>

#include "elections.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

/* No session is lost by itself, however busy the machine is. */
enum { SESSION_MS = 20000, SOON_MS = 2000 };

static const char *server(void) { return ts_bench_server(); }

static struct {
    const char *path;
    ts_client *client;
    pdk_election *election;
    record *r;
} it;

static void make_it_with(ts_client *client) {
    it.path = ts_fresh_path();
    it.client = client;
    it.election = election_on(client, it.path, NULL);
    it.r = NULL;
}

static void make_it(void) { make_it_with(ts_bench_client(SESSION_MS)); }

/* Joins with something to do in a callback. */
static void join_it(enum told where, void (*act)(record *r, void *user), void *user) {
    pdk_election_callbacks callbacks;
    it.r = record_new();
    record_callbacks(it.r, &callbacks);
    callbacks.leader = where == LEADER ? record_leader : NULL;
    record_act(it.r, where, act, user);
    ck_assert_int_eq(pdk_election_join(it.election, &callbacks), PDK_OK);
}

static void elect_it(void) {
    make_it();
    it.r = candidate_elected(it.election);
}

static void leave_it(void) { ck_assert_int_eq(pdk_election_leave(it.election), PDK_OK); }

/* It has left the queue in order. It can be a candidate again, and leads. */
static void assert_clean(void) {
    ck_assert_int_eq(pdk_election_leave(it.election), PDK_NOT_HELD);
    ck_assert_int_eq(pdk_session_flush(it.client->session, ts_patience(5000)), PDK_OK);
    ck_assert(ts_wait_children(server(), it.path, 0, ts_patience(SOON_MS)));
    pdk_election *next = election_on(ts_bench_client(SESSION_MS), it.path, NULL);
    candidate_elected(next);
    ck_assert_int_eq(pdk_election_leave(next), PDK_OK);
}

/* ---- when it queues again */

/* A deposed candidate is in no queue until `deposed` has returned. */
START_TEST(it_queues_again_after_deposed_and_not_before) {
    door *d = door_new();
    elect_it();
    record_act(it.r, DEPOSED, at_door, d);
    if (_i == 0)
        delete_node_of(record_hold(it.r));
    else
        ck_assert_int_eq(pdk_election_resign(it.election), PDK_OK);
    assert_told(it.r, DEPOSED, 1);
    ck_assert_int_eq(pdk_session_flush(it.client->session, 5000), PDK_OK);
    ts_sleep_ms(300);
    ck_assert_int_eq(ts_child_count(server(), it.path), 0);
    ck_assert_int_eq(pdk_election_resign(it.election), PDK_NOT_HELD);
    ck_assert_int_eq(pdk_election_join(it.election, NULL), PDK_INVALID); /* it is a candidate all the time */
    door_open(d);
    assert_told(it.r, ELECTED, 2);
}
END_TEST

/* ---- due, and not told */

enum { GRANTED, GRANTED_AND_LOST, LOST, DUE };

static void dispatch_it(void) { ck_assert_int_eq(pdk_session_dispatch(it.client->session, NULL), PDK_OK); }

/* Nobody dispatches before it leaves. It is told of no term that it had not been told of, and it queues no more. Its node is deleted without
 * a dispatch, so that others can lead. */
START_TEST(while_a_callback_is_due) {
    make_it_with(manual_client(SESSION_MS));
    it.r = candidate_join(it.election);
    ck_assert(ts_wait_children(server(), it.path, 1, 5000));
    ck_assert(_i != LOST || manual_wait(it.client, it.r, ELECTED, 1, 5000));
    ck_assert(_i == LOST || ts_fd_readable(pdk_session_fd(it.client->session), ts_patience(5000)));
    ts_sleep_ms(100); /* after the session's own events */
    if (_i != GRANTED) {
        g_auto(GStrv) children = ts_children(server(), it.path, NULL);
        g_autofree char *node = g_strdup_printf("%s/%s", it.path, children[0]);
        ck_assert_int_eq(ts_delete(server(), node), 0);
        ck_assert(ts_fd_readable(pdk_session_fd(it.client->session), ts_patience(5000)));
        ts_sleep_ms(_i == LOST ? 0 : 200);
    }
    const uint64_t creates = ts_proxy_count(it.client->proxy, TS_OP_CREATE2);
    leave_it();
    ck_assert_int_eq(pdk_session_flush(it.client->session, 5000), PDK_OK);
    ck_assert(ts_wait_children(server(), it.path, 0, SOON_MS));
    dispatch_it();
    ts_sleep_ms(300);
    dispatch_it();
    ck_assert_uint_eq(ts_proxy_count(it.client->proxy, TS_OP_CREATE2), creates);
    assert_history(it.r, _i == LOST ? "elected deposed:NODE_GONE" : "");
    assert_clean();
}
END_TEST

/* ---- from within callbacks */

static atomic_int left; /* what leaving returned inside the callback */

static void leave_within(record *r, void *election) {
    (void)r;
    atomic_store(&left, pdk_election_leave(election));
}

static void unref_within(record *r, void *election) {
    (void)r;
    atomic_store(&left, PDK_OK);
    pdk_election_unref(election);
}

/* The test unrefs this election itself, so the support must not. */
static void join_to_leave_in(enum told where, bool by_unref, void (*act)(record *r, void *election)) {
    it.path = ts_fresh_path();
    it.client = ts_bench_client(SESSION_MS);
    ck_assert_int_eq(pdk_election_new(it.client->session, it.path, NULL, &it.election), PDK_OK);
    atomic_store(&left, -1);
    join_it(where, act != NULL ? act : by_unref ? unref_within : leave_within, it.election);
}

static void assert_left_within(const char *history, bool by_unref) {
    ts_sleep_ms(200);
    ck_assert_int_eq(pdk_session_flush(it.client->session, ts_patience(5000)), PDK_OK);
    ck_assert_int_le(ts_child_count(server(), it.path), 0); /* there may be no directory */
    assert_history(it.r, history);
    ck_assert_int_eq(atomic_load(&left), PDK_OK);
    if (!by_unref) {
        ck_assert_int_eq(pdk_election_leave(it.election), PDK_NOT_HELD);
        pdk_election_unref(it.election);
    }
}

START_TEST(from_within_elected_or_deposed) {
    const enum told where = _i / 2 ? DEPOSED : ELECTED;
    join_to_leave_in(where, _i % 2, NULL);
    assert_told(it.r, ELECTED, 1);
    if (where == DEPOSED)
        ck_assert_int_eq(pdk_election_resign(it.election), PDK_OK);
    assert_told(it.r, DEPOSED, 1);
    assert_left_within("elected deposed:NONE", _i % 2);
}
END_TEST

static void leave_once_led(record *r, void *election) {
    if (record_leader_token(r) != 0)
        leave_within(r, election);
}

/* At the first message, which says that nobody leads; a slow one hears it when it has been elected. Or when it hears of
 * itself, when it is elected or about to be. */
START_TEST(from_within_leader) {
    join_to_leave_in(LEADER, _i == 1, _i == 2 ? leave_once_led : NULL);
    assert_told(it.r, LEADER, _i == 2 ? 2 : 1);
    ts_sleep_ms(200);
    assert_told(it.r, DEPOSED, record_count(it.r, ELECTED));
    ck_assert_int_eq(record_count(it.r, DEPOSED), record_count(it.r, ELECTED));
    ck_assert_int_eq(record_count(it.r, LEADER), _i == 2 ? 2 : 1);
    g_autofree char *history = record_history(it.r);
    ck_assert(_i == 2 || g_str_equal(history, "") || g_str_equal(history, "elected deposed:NONE"));
    assert_left_within(history, _i == 1);
}
END_TEST

/* The end of the session is the end of the candidate, which is told so, and has nothing to leave then. */
START_TEST(from_within_failed) {
    elect_it();
    record *waiting = candidate_join(election_on(it.client, it.path, NULL));
    ck_assert(ts_wait_children(server(), it.path, 2, 5000));
    record_act(it.r, FAILED, leave_within, it.election);
    ck_assert_int_eq(pdk_session_close(it.client->session, 5000), PDK_OK);
    assert_history(it.r, "elected deposed:CLOSED failed:CLOSED");
    assert_history(waiting, "failed:CLOSED");
    ck_assert_int_eq(atomic_load(&left), PDK_NOT_HELD);
    ck_assert_int_eq(pdk_election_resign(it.election), PDK_NOT_HELD);
    ck_assert_int_eq(pdk_election_join(it.election, NULL), PDK_CLOSED);
    ck_assert_int_eq(ts_child_count(server(), it.path), 0);
}
END_TEST

static void close_within(record *r, void *session) {
    (void)r;
    pdk_session_close(session, 5000);
}

START_TEST(the_session_closed_from_within_elected) {
    make_it();
    join_it(ELECTED, close_within, it.client->session);
    assert_told(it.r, ELECTED, 1);
    ck_assert(ts_wait_children(server(), it.path, 0, ts_patience(SOON_MS)));
    ts_sleep_ms(100);
    assert_history(it.r, "elected");                           /* callbacks that were due are dropped */
    ck_assert_int_eq(pdk_election_leave(it.election), PDK_OK); /* it does not know that it has failed */
}
END_TEST

/* ---- from another thread while a callback runs */

START_TEST(while_a_callback_runs_elsewhere) {
    const enum told where = _i == 0 ? ELECTED : DEPOSED;
    door *d = door_new();
    make_it();
    join_it(where, at_door, d);
    assert_told(it.r, ELECTED, 1);
    if (where == DEPOSED) {
        ck_assert_int_eq(pdk_election_resign(it.election), PDK_OK);
        assert_told(it.r, DEPOSED, 1);
    }
    ck_assert(record_running(it.r));
    leave_it(); /* it does not wait for the callback */
    ck_assert(record_running(it.r));
    ck_assert(ts_wait_children(server(), it.path, 0, ts_patience(SOON_MS)));
    door_open(d);
    assert_told(it.r, DEPOSED, 1);
    assert_clean();
    assert_history(it.r, "elected deposed:NONE");
}
END_TEST

/* ---- by unref */

START_TEST(the_last_unref_leaves) {
    pdk_election *election = NULL;
    elect_it(); /* a leader to wait behind */
    ck_assert_int_eq(pdk_election_new(it.client->session, it.path, NULL, &election), PDK_OK);
    record *r = candidate_join(election);
    ck_assert(ts_wait_children(server(), it.path, 2, 5000));
    ck_assert_ptr_eq(pdk_election_ref(election), election);
    pdk_election_unref(election);
    ts_sleep_ms(100);
    ck_assert_int_eq(ts_child_count(server(), it.path), 2);
    pdk_election_unref(election);
    ck_assert(ts_wait_children(server(), it.path, 1, SOON_MS));
    assert_history(r, "");
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("election");
    TCase *tcase = ts_bench_case(suite, "election");
    tcase_add_loop_test(tcase, it_queues_again_after_deposed_and_not_before, 0, 2);
    tcase_add_loop_test(tcase, while_a_callback_is_due, 0, DUE);
    tcase_add_loop_test(tcase, from_within_elected_or_deposed, 0, 4);
    tcase_add_loop_test(tcase, from_within_leader, 0, 3);
    tcase_add_test(tcase, from_within_failed);
    tcase_add_test(tcase, the_session_closed_from_within_elected);
    tcase_add_loop_test(tcase, while_a_callback_runs_elsewhere, 0, 2);
    tcase_add_test(tcase, the_last_unref_leaves);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

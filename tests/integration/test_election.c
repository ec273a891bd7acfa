/* Candidates with callbacks: their order, which candidate queues when, and leaving from everywhere: inside callbacks, beside them, and
 * before they are told. Terms as such are in test_term.c. */
#include <stdatomic.h>
#include <string.h>

#include "elections.h"
#include "refused.h"
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

/* ---- the order of callbacks, and which candidate queues when */

/* The end of the session is the end of the candidate, which is told so. */
START_TEST(closing_the_session) {
    elect_it();
    record *waiting = candidate_join(election_on(it.client, it.path, NULL));

    ck_assert(ts_wait_children(server(), it.path, 2, 5000));
    ck_assert_int_eq(pdk_session_close(it.client->session, 5000), PDK_OK);
    assert_history(it.r, "elected deposed:CLOSED failed:CLOSED");
    assert_history(waiting, "failed:CLOSED");
    ck_assert_int_eq(pdk_election_leave(it.election), PDK_NOT_HELD);
    ck_assert_int_eq(pdk_election_resign(it.election), PDK_NOT_HELD);
    ck_assert_int_eq(pdk_election_join(it.election, NULL), PDK_CLOSED);
    ck_assert_int_eq(ts_child_count(server(), it.path), 0);
}
END_TEST

static void resign_within(record *r, void *election) {
    if (record_count(r, ELECTED) == 1)
        pdk_election_resign(election);
}

START_TEST(resigned_while_elected_runs) {
    make_it();
    join_it(ELECTED, resign_within, it.election);
    assert_told(it.r, ELECTED, 2);
    assert_history(it.r, "elected deposed:NONE elected");
}
END_TEST

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

static void *resign_main(void *election) { return GINT_TO_POINTER(pdk_election_resign(election)); }

/* Several threads resign at once, and one succeeds. */
START_TEST(resigning_from_many_threads) {
    enum { THREADS = 4 };
    GThread *threads[THREADS];
    int done = 0;
    door *d = door_new();

    elect_it();
    record_act(it.r, DEPOSED, at_door, d); /* so that it is not elected meanwhile */
    for (int i = 0; i < THREADS; i++)
        threads[i] = g_thread_new("resign", resign_main, it.election);
    for (int i = 0; i < THREADS; i++) {
        const int status = GPOINTER_TO_INT(g_thread_join(threads[i]));

        ck_assert(status == PDK_OK || status == PDK_NOT_HELD);
        done += status == PDK_OK;
    }
    ck_assert_int_eq(done, 1);
    door_open(d);
    assert_told(it.r, ELECTED, 2);
    assert_history(it.r, "elected deposed:NONE elected");
}
END_TEST

/* Waiting candidates whose node or session is lost queue again. They are told nothing of it. */
START_TEST(a_waiting_candidate_is_told_nothing) {
    elect_it();
    ts_client *c = ts_bench_client(SESSION_MS);
    record *waiting = candidate_join(election_on(c, it.path, NULL));

    ck_assert(ts_wait_children(server(), it.path, 2, 5000));
    ck_assert_int_eq(ts_expire(c->proxy, server()), 0);
    ck_assert(ts_wait_event(c, PDK_SESSION_REOPENED, 1, ts_patience(SESSION_MS)));
    ck_assert(ts_wait_children(server(), it.path, 2, ts_patience(SOON_MS)));
    g_auto(GStrv) children = ts_children(server(), it.path, NULL);
    g_autofree char *leaders = ts_hold_node(record_hold(it.r));
    for (int i = 0; children[i] != NULL; i++) {
        g_autofree char *child = g_strdup_printf("%s/%s", it.path, children[i]);

        if (strcmp(child, leaders) != 0)
            ck_assert_int_eq(ts_delete(server(), child), 0);
    }
    ck_assert(ts_wait_children(server(), it.path, 2, ts_patience(2 * SESSION_MS)));
    assert_history(waiting, "");
    ck_assert_int_eq(pdk_election_leave(it.election), PDK_OK);
    assert_told(waiting, ELECTED, 1);
}
END_TEST

/* ---- granted, and not told */

/* The grant is decided. Its callback is due, and nobody dispatches it. */
static void decide_it(void) {
    make_it_with(manual_client(SESSION_MS));
    it.r = candidate_join(it.election);
    ck_assert(ts_wait_children(server(), it.path, 1, 5000));
    ck_assert(ts_fd_readable(pdk_session_fd(it.client->session), ts_patience(5000)));
    ts_sleep_ms(100); /* after the session's own events */
}

static void dispatch_it(void) { ck_assert_int_eq(pdk_session_dispatch(it.client->session, NULL), PDK_OK); }

/* The node is deleted without a dispatch, so that others can lead even if nobody ever dispatches. */
START_TEST(while_the_grant_is_on_its_way) {
    decide_it();
    leave_it();
    record_silence(it.r);
    ck_assert_int_eq(pdk_session_flush(it.client->session, 5000), PDK_OK);
    ck_assert(ts_wait_children(server(), it.path, 0, SOON_MS));
    dispatch_it();
    assert_clean();
    ck_assert_int_eq(record_late(it.r), 0);
}
END_TEST

/* The grant is lost before its callback runs. The candidate does not queue for it again. */
START_TEST(while_a_lost_grant_is_on_its_way) {
    decide_it();
    g_auto(GStrv) children = ts_children(server(), it.path, NULL);
    g_autofree char *node = g_strdup_printf("%s/%s", it.path, children[0]);
    ck_assert_int_eq(ts_delete(server(), node), 0);
    ts_sleep_ms(200);
    leave_it();
    record_silence(it.r);
    const uint64_t creates = ts_proxy_count(it.client->proxy, TS_OP_CREATE2);
    dispatch_it();
    ts_sleep_ms(300);
    ck_assert_uint_eq(ts_proxy_count(it.client->proxy, TS_OP_CREATE2), creates);
    dispatch_it();
    assert_clean();
    ck_assert_int_eq(record_late(it.r), 0);
}
END_TEST

/* `deposed` is due, and nobody dispatches it. It runs later all the same, and the candidate does not queue again. */
START_TEST(while_deposed_is_due) {
    decide_it();
    ck_assert(manual_wait(it.client, it.r, ELECTED, 1, 5000));
    delete_node_of(record_hold(it.r));
    ck_assert(ts_fd_readable(pdk_session_fd(it.client->session), ts_patience(5000)));
    leave_it();
    dispatch_it();
    assert_history(it.r, "elected deposed:NODE_GONE");
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

/* Closing the session ends the candidate. Then there is nothing to leave. */
START_TEST(from_within_failed) {
    elect_it();
    record_act(it.r, FAILED, leave_within, it.election);
    ck_assert_int_eq(pdk_session_close(it.client->session, 5000), PDK_OK);
    assert_history(it.r, "elected deposed:CLOSED failed:CLOSED");
    ck_assert_int_eq(atomic_load(&left), PDK_NOT_HELD);
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

/* ---- by unref, and joining again */

START_TEST(the_last_unref_leaves) {
    pdk_election *election = NULL;
    elect_it(); /* a leader to wait behind */
    ts_client *c = _i == 0 ? it.client : ts_bench_client(SESSION_MS);
    const char *path = _i == 0 ? it.path : ts_fresh_path();

    ck_assert_int_eq(pdk_election_new(c->session, path, NULL, &election), PDK_OK);
    record *r = candidate_join(election);
    ck_assert(ts_wait_children(server(), path, _i == 0 ? 2 : 1, 5000));
    if (_i == 1)
        assert_told(r, ELECTED, 1);
    ck_assert_ptr_eq(pdk_election_ref(election), election);
    pdk_election_unref(election);
    ts_sleep_ms(100);
    ck_assert_int_eq(ts_child_count(server(), path), _i == 0 ? 2 : 1);
    pdk_election_unref(election);
    ck_assert(ts_wait_children(server(), path, _i == 0 ? 1 : 0, SOON_MS));
    if (_i == 1)
        assert_told(r, DEPOSED, 1);
    assert_history(r, _i == 0 ? "" : "elected deposed:NONE");
}
END_TEST

static void run_nothing(pdk_term *term, void *user) {
    (void)term;
    (void)user;
}

START_TEST(twice_is_refused_and_after_leaving_it_is_not) {
    pdk_service *service = NULL;
    elect_it();
    refused(pdk_election_join(it.election, NULL), PDK_INVALID, "candidate already");
    ck_assert_int_eq(pdk_service_start(it.election, run_nothing, NULL, NULL, &service), PDK_INVALID);
    ck_assert_ptr_null(service);
    ck_assert(pdk_hold_is_valid(record_hold(it.r)));
    for (int i = 0; i < 30; i++) { /* at once: the old node is still being deleted */
        leave_it();
        ck_assert_int_eq(pdk_election_leave(it.election), PDK_NOT_HELD);
        record *r = candidate_join(it.election);
        if (i % 3 == 0)
            assert_told(r, ELECTED, 1);
        it.r = r;
    }
    leave_it();
    assert_clean();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("election");
    TCase *tcase = ts_bench_case(suite, "election");
    tcase_add_test(tcase, closing_the_session);
    tcase_add_test(tcase, resigned_while_elected_runs);
    tcase_add_loop_test(tcase, it_queues_again_after_deposed_and_not_before, 0, 2);
    tcase_add_test(tcase, resigning_from_many_threads);
    tcase_add_test(tcase, a_waiting_candidate_is_told_nothing);
    tcase_add_test(tcase, while_the_grant_is_on_its_way);
    tcase_add_test(tcase, while_a_lost_grant_is_on_its_way);
    tcase_add_test(tcase, while_deposed_is_due);
    tcase_add_loop_test(tcase, from_within_elected_or_deposed, 0, 4);
    tcase_add_loop_test(tcase, from_within_leader, 0, 3);
    tcase_add_test(tcase, from_within_failed);
    tcase_add_test(tcase, the_session_closed_from_within_elected);
    tcase_add_loop_test(tcase, while_a_callback_runs_elsewhere, 0, 2);
    tcase_add_loop_test(tcase, the_last_unref_leaves, 0, 2);
    tcase_add_test(tcase, twice_is_refused_and_after_leaving_it_is_not);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

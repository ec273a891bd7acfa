/* Waiting to lead without callbacks: pdk_election_wait before, during and after a term, from several threads, without
 * a dispatching thread, and how it ends when we never lead. */
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

static void make_it(bool manual) {
    it.path = ts_fresh_path();
    it.client = manual ? manual_client(SESSION_MS) : ts_bench_client(SESSION_MS);
    it.election = election_on(it.client, it.path, NULL);
}

static pdk_status block(void *election, int64_t timeout_ms, pdk_hold **out) {
    return pdk_election_wait(election, timeout_ms, out);
}

static ts_answer *await_it(void) { return ts_answer_block(block, it.election, PDK_FOREVER); }

static void assert_answer(ts_answer *answer, pdk_status wanted) {
    ck_assert(ts_answer_wait(answer, ts_patience(5000)));
    ck_assert_str_eq(pdk_status_name(ts_answer_status(answer)), pdk_status_name(wanted));
    ck_assert_int_eq(ts_answer_hold(answer) != NULL, wanted == PDK_OK);
}

/* Its hold, when we lead. */
static pdk_hold *awaited(ts_answer **answer) {
    *answer = await_it();
    assert_answer(*answer, PDK_OK);
    return ts_answer_hold(*answer);
}

/* Another client leads, and we are candidates behind it. Two threads wait, in vain. */
static pdk_election *wait_behind(ts_answer **one, ts_answer **another) {
    pdk_election *other = election_on(ts_bench_client(SESSION_MS), it.path, NULL);
    candidate_elected(other);
    it.r = candidate_join(it.election);
    *one = await_it();
    *another = await_it();
    ck_assert(!ts_answer_wait(*one, 100));
    ck_assert(!ts_answer_wait(*another, 0));
    return other;
}

/* ---- we lead: before, during and after, with or without a dispatching thread */

START_TEST(before_during_and_after) {
    const bool manual = _i;
    ts_answer *early, *another;
    pdk_hold *hold = NULL;
    make_it(manual);
    pdk_election *other = wait_behind(&early, &another);
    for (int64_t timeout_ms = 0; timeout_ms <= 300; timeout_ms += 300) {
        const int64_t before = ts_now_ms();
        refused(pdk_election_wait(it.election, timeout_ms, &hold), PDK_TIMEOUT, it.path);
        ck_assert_int_ge(ts_now_ms() - before, timeout_ms);
        ck_assert_int_le(ts_now_ms() - before, timeout_ms + ts_patience(250));
    }
    ck_assert_ptr_null(hold);
    ck_assert_int_eq(pdk_election_leave(other), PDK_OK);
    assert_answer(early, PDK_OK);
    assert_answer(another, PDK_OK);
    ck_assert_int_eq(pdk_election_wait(it.election, 0, &hold), PDK_OK);
    ck_assert_ptr_eq(ts_answer_hold(early), hold); /* the same hold for all */
    ck_assert_ptr_eq(ts_answer_hold(another), hold);
    pdk_hold_unref(hold);
    ck_assert(pdk_hold_is_valid(hold)); /* unref is not release */
    if (manual) {
        assert_history(it.r, "");
        ck_assert(manual_wait(it.client, it.r, ELECTED, 1, 5000));
    }
    assert_told(it.r, ELECTED, 1);
    ck_assert_ptr_eq(record_hold(it.r), hold);
    ts_sleep_ms(100);
    ck_assert(!manual || pdk_session_dispatch(it.client->session, NULL) == PDK_OK);
    assert_history(it.r, "elected");
    ck_assert(pdk_hold_is_valid(hold));
}
END_TEST

/* ---- we do not lead */

/* Left; joined again at once, which is another candidacy, not the one they waited for; or the session is closed. */
START_TEST(the_candidacy_ends_meanwhile) {
    const pdk_status wanted = _i == 2 ? PDK_CLOSED : PDK_NOT_HELD;
    ts_answer *one, *another;
    pdk_hold *hold = NULL;
    make_it(false);
    refused(pdk_election_wait(it.election, PDK_FOREVER, &hold), PDK_NOT_HELD, "candidate"); /* there is none yet */
    wait_behind(&one, &another);
    ck_assert_int_eq(_i == 2 ? pdk_session_close(it.client->session, 5000) : pdk_election_leave(it.election), PDK_OK);
    if (_i == 1)
        candidate_join(it.election);
    assert_answer(one, wanted);
    assert_answer(another, wanted);
    if (_i != 1)
        refused(pdk_election_wait(it.election, 1000, &hold), wanted, _i == 2 ? "pdk_election_wait" : "candidate");
    ck_assert_ptr_null(hold);
}
END_TEST

/* ---- an awaited hold ends */

enum end { DELETED, EXPIRED, RESIGNED, LEFT, ENDS };

static bool is_over(void *hold) { return !pdk_hold_is_valid(hold); }

static void end_it(enum end how, pdk_hold *hold) {
    if (how == DELETED)
        delete_node_of(hold);
    else if (how == EXPIRED)
        ck_assert_int_eq(ts_expire(it.client->proxy, server()), 0);
    else
        ck_assert_int_eq(how == RESIGNED ? pdk_election_resign(it.election) : pdk_election_leave(it.election), PDK_OK);
    ck_assert(ts_wait_until(is_over, hold, ts_patience(5000)));
}

/* It was accepted before `elected` was told. Both callbacks run once, in order; after leaving, none does. */
START_TEST(accepted_and_gone_before_it_is_told) {
    static const char *const histories[ENDS] = {"elected deposed:NODE_GONE", "elected deposed:EXPIRED",
                                                "elected deposed:NONE", ""};
    const int told = _i != LEFT;
    ts_answer *answer;
    make_it(true);
    it.r = candidate_join(it.election);
    pdk_hold *hold = awaited(&answer);
    ts_lost *lost = ts_lost_watch(hold);
    end_it((enum end)_i, hold);
    assert_history(it.r, "");
    ck_assert(!told || manual_wait(it.client, it.r, DEPOSED, 1, 5000));
    while (ts_fd_readable(pdk_session_fd(it.client->session), 100) && record_count(it.r, ELECTED) < 2)
        ck_assert_int_eq(pdk_session_dispatch(it.client->session, NULL), PDK_OK);
    g_autofree char *history = record_history(it.r);
    ck_assert_msg(told ? g_str_has_prefix(history, histories[_i]) : *history == '\0', "%s", history);
    ck_assert_int_eq(record_count(it.r, DEPOSED), told);
    ck_assert_int_eq(ts_lost_count(lost), _i <= EXPIRED);
    if (told) {
        ck_assert(manual_wait(it.client, it.r, ELECTED, 2, 5000));
    } else {
        ck_assert_int_eq(pdk_session_flush(it.client->session, 5000), PDK_OK);
        ck_assert(ts_wait_children(server(), it.path, 0, SOON_MS));
    }
}
END_TEST

/* ---- many threads, and an election that is joined and left */

static volatile gint going;

static void *await_main(void *election) {
    int led = 0;
    while (g_atomic_int_get(&going)) {
        pdk_hold *hold = NULL;
        const pdk_status status = pdk_election_wait(election, 20, &hold);
        if (status == PDK_OK) {
            led++;
            g_assert(pdk_hold_token(hold) > 0);
            pdk_hold_unref(hold);
        } else {
            g_assert(hold == NULL && (status == PDK_TIMEOUT || status == PDK_NOT_HELD));
            g_usleep(500);
        }
    }
    return GINT_TO_POINTER(led);
}

START_TEST(awaited_while_it_is_joined_and_left) {
    enum { THREADS = 3 };
    GThread *threads[THREADS];
    make_it(false);
    g_atomic_int_set(&going, 1);
    for (int i = 0; i < THREADS; i++)
        threads[i] = g_thread_new("await", await_main, it.election);
    const int64_t end = ts_now_ms() + 2000;
    for (int i = 0; ts_now_ms() < end; i++) {
        record *r = candidate_join(it.election);
        if (i % 4 < 2)
            assert_told(r, ELECTED, 1);
        if (i % 4 == 1)
            ck_assert_int_eq(pdk_election_resign(it.election), PDK_OK);
        ck_assert_int_eq(pdk_election_leave(it.election), PDK_OK);
    }
    g_atomic_int_set(&going, 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_gt(GPOINTER_TO_INT(g_thread_join(threads[i])), 0);
    ck_assert(ts_wait_children(server(), it.path, 0, ts_patience(SOON_MS)));
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("election_await");
    TCase *tcase = ts_bench_case(suite, "election_await");
    tcase_add_loop_test(tcase, before_during_and_after, 0, 2);
    tcase_add_loop_test(tcase, the_candidacy_ends_meanwhile, 0, 3);
    tcase_add_loop_test(tcase, accepted_and_gone_before_it_is_told, 0, ENDS);
    tcase_add_test(tcase, awaited_while_it_is_joined_and_left);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

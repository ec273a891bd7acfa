/* The lock-delay: nobody is granted for it after a holder's end without a release, and at once after a release. */
#include <glib.h>
#include <paddock/revoke.h>
#include <stdio.h>
#include <string.h>

#include "elections.h"
#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

/* The delay where an end is unclean; and where all are clean, so that it would be noticed. */
enum { DELAY_MS = 400, LONG_MS = 60000 };
enum { SESSION_MS = 3000, SHORT_SESSION_MS = 2400, PATIENCE_MS = 10000, MS = 1000000 };

static const char *server(void) { return ts_bench_server(); }

static struct {
    const char *path;
    int32_t delay_ms;
    ts_client *one, *two;
} it;

static void begin_with(int32_t delay_ms, int session_ms) {
    it.path = ts_fresh_path();
    it.delay_ms = delay_ms;
    it.one = ts_bench_client(session_ms);
    it.two = ts_bench_client(SESSION_MS);
}

static void begin(void) { begin_with(DELAY_MS, SESSION_MS); }

static pdk_lock *delayed(const ts_client *client, int32_t delay_ms) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    options.lock_delay_ms = delay_ms;
    return ts_lock_with(client, it.path, &options);
}

static pdk_hold *holds(const ts_client *client) { return ts_bench_acquire(delayed(client, it.delay_ms), PATIENCE_MS); }

static ts_answer *queues(const ts_client *client, int nodes) {
    ts_answer *answer = ts_acquire_async(delayed(client, it.delay_ms), 60000);
    ck_assert(ts_wait_children(server(), it.path, nodes, ts_patience(PATIENCE_MS)));
    return answer;
}

static int64_t granted_at(ts_answer *answer) {
    ck_assert(ts_answer_wait(answer, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ts_answer_status(answer), PDK_OK);
    ck_assert(pdk_hold_is_valid(ts_answer_hold(answer)));
    return ts_answer_at_ns(answer);
}

static void assert_waited(ts_answer *answer, int64_t ended_ns) {
    ck_assert_int_ge(granted_at(answer) - ended_ns, (int64_t)DELAY_MS * MS);
}

/* The record stays, and nothing else. */
static void assert_left_clean(void) { ck_assert(ts_wait_children(server(), it.path, 1, ts_patience(PATIENCE_MS))); }

static void expire(const ts_client *client) { ck_assert_int_eq(ts_expire(client->proxy, server()), 0); }

/* ---- clean ends */

static uint64_t rounds_after_a_release(void) {
    ts_proxy_counters counters;
    begin_with(LONG_MS, SESSION_MS);
    pdk_hold *hold = holds(it.one);
    /* the record, the first one's node and its pledge; then the second one's node */
    ts_answer *second = queues(it.two, 4);
    ts_sleep_ms(100); /* it watches */
    ts_proxy_zero(it.two->proxy);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    granted_at(second);
    ts_proxy_read(it.two->proxy, &counters);
    ck_assert_uint_eq(counters.writes, 1); /* the pledge */
    ck_assert_int_eq(ts_answer_release(second), PDK_OK);
    assert_left_clean();
    return counters.rounds;
}

/* A busy machine may answer the first of two requests before it sends the second one. */
START_TEST(after_a_release_the_next_one_has_it_in_one_round_trip) {
    uint64_t least = UINT64_MAX;
    for (int times = 0; times < 50 && least > 1; times++)
        least = MIN(least, rounds_after_a_release());
    ck_assert_uint_eq(least, 1);
}
END_TEST

START_TEST(without_a_delay_nothing_is_added) {
    ts_proxy_counters counters[2];
    begin();
    for (int i = 0; i < 2; i++) {
        pdk_lock *lock = i == 0 ? ts_lock(it.one, ts_fresh_path()) : delayed(it.one, 0);
        pdk_hold_release(ts_bench_acquire(lock, PATIENCE_MS)); /* the directory is there now */
        ck_assert_int_eq(pdk_session_flush(it.one->session, PATIENCE_MS), PDK_OK);
        ts_proxy_zero(it.one->proxy);
        pdk_hold_release(ts_bench_acquire(lock, PATIENCE_MS));
        ck_assert_int_eq(pdk_session_flush(it.one->session, PATIENCE_MS), PDK_OK);
        counters[i].writes = ts_proxy_count(it.one->proxy, TS_OP_CREATE2);
        counters[i].requests =
            ts_proxy_count(it.one->proxy, TS_OP_GET_DATA) + ts_proxy_count(it.one->proxy, TS_OP_CREATE);
    }
    ck_assert_uint_eq(counters[0].writes, counters[1].writes);
    ck_assert_uint_eq(counters[1].requests, 0);
}
END_TEST

START_TEST(threads_that_hand_it_over_keep_the_pledge) {
    begin_with(LONG_MS, SESSION_MS);
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    options.lock_delay_ms = LONG_MS;
    options.max_handover_ms = 60000;
    pdk_lock *lock = ts_lock_with(it.one, it.path, &options);
    pdk_hold *hold = ts_bench_acquire(lock, PATIENCE_MS);
    ts_answer *second = ts_acquire_async(lock, PATIENCE_MS);
    ts_proxy_zero(it.one->proxy);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    granted_at(second);
    ck_assert_uint_eq(ts_proxy_count(it.one->proxy, TS_OP_DELETE), 0);
    ck_assert_int_eq(ts_child_count(server(), it.path), 3);
    ck_assert_int_eq(ts_answer_release(second), PDK_OK);
    assert_left_clean();
}
END_TEST

/* ---- unclean ends */

START_TEST(after_an_expiry_the_one_that_waits_waits_the_delay) {
    begin();
    pdk_hold *lost = holds(it.one);
    ts_answer *second = queues(it.two, 4);
    int64_t before = ts_now_ns();
    expire(it.one);
    assert_waited(second, before);
    ck_assert_int_eq(ts_answer_release(second), PDK_OK);
    assert_left_clean(); /* the broken pledge, too, is gone */
    ck_assert_int_eq(pdk_hold_release(lost), PDK_LOST);
}
END_TEST

START_TEST(after_a_deletion_the_next_one_waits_the_delay) {
    begin();
    pdk_hold *hold = holds(it.one);
    g_autofree char *node = ts_hold_node(hold);
    ts_answer *second = queues(it.two, 4);
    int64_t before = ts_now_ns();
    ck_assert_int_eq(pdk_session_break(it.two->session, node, pdk_hold_token(hold), ts_patience(PATIENCE_MS), NULL),
                     PDK_OK);
    assert_waited(second, before);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
}
END_TEST

START_TEST(a_lease_that_ran_out_is_no_release) {
    begin_with(DELAY_MS, SHORT_SESSION_MS);
    pdk_hold *hold = holds(it.one);
    ts_proxy_set_mode(it.one->proxy, TS_DROP_REPLIES); /* the server hears its pings, and it hears no answer */
    while (pdk_hold_is_valid(hold))
        ts_sleep_ms(20);
    ts_answer *second = ts_acquire_async(delayed(it.two, DELAY_MS), 60000);
    int64_t before = ts_now_ns();
    ts_proxy_heal(it.one->proxy);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
    assert_waited(second, before);
}
END_TEST

START_TEST(who_comes_when_nobody_waited_waits_too) {
    begin();
    pdk_hold *lost = holds(it.one);
    expire(it.one);
    ts_sleep_ms(DELAY_MS / 4);
    ts_answer *second = ts_acquire_async(delayed(it.two, DELAY_MS), 60000);
    ck_assert(!ts_answer_wait(second, DELAY_MS / 2));
    granted_at(second);
    ck_assert_int_eq(pdk_hold_release(lost), PDK_LOST);
}
END_TEST

START_TEST(one_that_dies_while_it_waits_leaves_the_wait_to_the_next) {
    begin();
    pdk_hold *lost = holds(it.one);
    ts_answer *second = queues(it.two, 4), *third = queues(ts_bench_client(SESSION_MS), 5);
    int64_t before = ts_now_ns();
    expire(it.one);
    ck_assert(!ts_answer_wait(second, DELAY_MS / 2));
    ts_proxy_set_mode(it.two->proxy, TS_CUT); /* it does not come back */
    ts_session_key key;
    ck_assert(ts_proxy_last_session(it.two->proxy, &key));
    ck_assert_int_eq(ts_expire_session(server(), &key), 0);
    assert_waited(third, before);
    ck_assert_int_eq(pdk_hold_release(lost), PDK_LOST);
}
END_TEST

START_TEST(a_claim_that_gives_up_leaves_the_wait_to_the_next_thread) {
    pdk_hold *hold = NULL;
    begin();
    pdk_lock *lock = delayed(it.two, DELAY_MS);
    pdk_hold *lost = holds(it.one);
    expire(it.one);
    int64_t before = ts_now_ns();
    ck_assert_int_eq(pdk_lock_acquire(lock, 0, &hold), PDK_BUSY);
    ts_answer *first = ts_acquire_async(lock, DELAY_MS / 2), *second = ts_acquire_async(lock, 60000);
    ck_assert(ts_answer_wait(first, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ts_answer_status(first), PDK_TIMEOUT);
    int64_t took = granted_at(second) - before;
    ck_assert_int_ge(took, (int64_t)DELAY_MS * MS * 9 / 10); /* from the try on, which saw it first */
    ck_assert_int_eq(ts_answer_release(second), PDK_OK);
    assert_left_clean();
    ck_assert_int_eq(pdk_hold_release(lost), PDK_LOST);
}
END_TEST

/* ---- elections */

START_TEST(a_leader_that_expires_is_followed_after_the_delay) {
    begin();
    pdk_election_options options = PDK_ELECTION_OPTIONS_INIT;
    options.lock_delay_ms = DELAY_MS;
    record *first = candidate_elected(election_with(it.one, it.path, &options));
    pdk_election *other = election_with(it.two, it.path, &options);
    record *second = candidate_join(other);
    ck_assert(ts_wait_children(server(), it.path, 4, ts_patience(PATIENCE_MS)));
    expire(it.one);
    ck_assert(!record_wait(second, ELECTED, 1, DELAY_MS / 2));
    assert_told(second, ELECTED, 1);
    assert_told(first, DEPOSED, 1);
    ck_assert_int_eq(pdk_election_resign(other), PDK_OK); /* a clean end: nobody waits */
    assert_told(first, ELECTED, 2);
}
END_TEST

/* ---- agreement */

START_TEST(all_agree_on_the_delay) {
    pdk_hold *hold = NULL;
    begin();
    pdk_hold_release(holds(it.one));
    refused(pdk_lock_acquire(delayed(it.two, DELAY_MS + 1), PATIENCE_MS, &hold), PDK_MISMATCH, "400");
    refused(pdk_lock_acquire(ts_lock(it.two, it.path), PATIENCE_MS, &hold), PDK_MISMATCH, "delay");
    refused(pdk_lock_acquire(ts_lock(it.two, it.path), 0, &hold), PDK_MISMATCH, "delay");
    pdk_hold_release(holds(it.two));
    assert_left_clean();
}
END_TEST

/* The record may not be read. */
START_TEST(a_record_that_may_not_be_read) {
    pdk_hold *hold = NULL;
    begin();
    pdk_hold_release(holds(it.one));
    g_autofree char *number = g_build_path("/", it.path, "delay", NULL);
    ts_observer *o = ts_observer_open(server());
    ck_assert_ptr_nonnull(o);
    ck_assert_int_eq(ts_observer_set_acl(o, number, TS_PERM_ALL & ~TS_PERM_READ, "world", "anyone"), 0);
    refused(pdk_lock_acquire(delayed(it.two, DELAY_MS), PATIENCE_MS, &hold), PDK_NO_PERMISSION, "lock-delay");
    ck_assert_int_eq(ts_observer_set_acl(o, number, TS_PERM_ALL, "world", "anyone"), 0);
    ts_observer_close(o);
    pdk_hold_release(holds(it.two));
    assert_left_clean();
}
END_TEST

START_TEST(a_delay_below_zero_is_refused) {
    pdk_lock_options lock = PDK_LOCK_OPTIONS_INIT;
    pdk_election_options election = PDK_ELECTION_OPTIONS_INIT;
    pdk_lock *no_lock = NULL;
    pdk_election *no_election = NULL;
    begin();
    lock.lock_delay_ms = election.lock_delay_ms = -1;
    refused(pdk_lock_new(it.one->session, it.path, &lock, &no_lock), PDK_INVALID, "lock_delay_ms");
    refused(pdk_election_new(it.one->session, it.path, &election, &no_election), PDK_INVALID, "lock_delay_ms");
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("lock_delay");
    TCase *all = ts_bench_case(suite, "lock_delay");
    tcase_add_test(all, after_a_release_the_next_one_has_it_in_one_round_trip);
    tcase_add_test(all, without_a_delay_nothing_is_added);
    tcase_add_test(all, threads_that_hand_it_over_keep_the_pledge);
    tcase_add_test(all, after_an_expiry_the_one_that_waits_waits_the_delay);
    tcase_add_test(all, after_a_deletion_the_next_one_waits_the_delay);
    tcase_add_test(all, a_lease_that_ran_out_is_no_release);
    tcase_add_test(all, who_comes_when_nobody_waited_waits_too);
    tcase_add_test(all, one_that_dies_while_it_waits_leaves_the_wait_to_the_next);
    tcase_add_test(all, a_claim_that_gives_up_leaves_the_wait_to_the_next_thread);
    tcase_add_test(all, a_leader_that_expires_is_followed_after_the_delay);
    tcase_add_test(all, all_agree_on_the_delay);
    tcase_add_test(all, a_record_that_may_not_be_read);
    tcase_add_test(all, a_delay_below_zero_is_refused);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

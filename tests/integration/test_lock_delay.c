/* The lock-delay: nobody is granted for it after a holder's end without a release, and at once after a release. */
#include <glib.h>
#include <paddock/revoke.h>

#include "elections.h"
#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

/* The delay where an end is unclean; and where all are clean, so that it would be noticed. */
enum { DELAY_MS = 400, LONG_MS = 60000 };
enum { SESSION_MS = 3000, PATIENCE_MS = 10000, MS = 1000000 };

static const char *server(void) { return ts_bench_server(); }

static struct {
    const char *path;
    int32_t delay_ms;
    ts_client *one, *two;
} it;

static void begin_with(int32_t delay_ms) {
    it.path = ts_fresh_path();
    it.delay_ms = delay_ms;
    it.one = ts_bench_client(SESSION_MS);
    it.two = ts_bench_client(SESSION_MS);
}

static void begin(void) { begin_with(DELAY_MS); }

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
    begin_with(LONG_MS);
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

START_TEST(threads_that_hand_it_over_keep_the_pledge) {
    begin_with(LONG_MS);
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

static void break_it(const pdk_hold *hold) {
    g_autofree char *node = ts_hold_node(hold);
    ck_assert_int_eq(pdk_session_break(it.two->session, node, pdk_hold_token(hold), ts_patience(PATIENCE_MS), NULL),
                     PDK_OK);
}

/* The server hears its pings, and it hears no answer: its lease ends, and its session does not. */
static void outlive_the_lease(const pdk_hold *hold) {
    ts_proxy_set_mode(it.one->proxy, TS_DROP_REPLIES);
    while (pdk_hold_is_valid(hold))
        ts_sleep_ms(20);
}

enum { EXPIRED, BROKEN, TOO_LATE, ENDS };

START_TEST(after_an_end_without_a_release_the_next_one_waits_the_delay) {
    begin();
    pdk_hold *hold = holds(it.one);
    ts_answer *second = queues(it.two, 4);
    if (_i == TOO_LATE)
        outlive_the_lease(hold);
    const int64_t before = ts_now_ns();
    if (_i == EXPIRED)
        expire(it.one);
    else if (_i == BROKEN)
        break_it(hold);
    else
        ts_proxy_heal(it.one->proxy);
    ck_assert(_i != TOO_LATE || pdk_hold_release(pdk_hold_ref(hold)) == PDK_LOST);
    assert_waited(second, before);
    ck_assert_int_eq(ts_answer_release(second), PDK_OK);
    assert_left_clean(); /* the broken pledge, too, is gone */
    ck_assert_int_eq(pdk_hold_release(hold), _i == TOO_LATE ? PDK_NOT_HELD : PDK_LOST);
}
END_TEST

/* The name of a pledge to which there never was a node: it counts as broken. An acquisition clears 64 of them away, and a client that has
 * waited for the others does not wait for them again. A contender without a UUID, which comes later, has no pledge. */
START_TEST(pledges_of_strangers_are_waited_for_once) {
    enum { MANY = 70 };
    begin();
    ck_assert_int_eq(ts_create(server(), it.path, "", TS_PERSISTENT, NULL), 0);
    for (int i = 0; i < MANY; i++) {
        g_autofree char *pledge =
            g_strdup_printf("%s/pledge-_c_01234567-89ab-8def-0123-456789abcdef-%010d", it.path, i);
        ck_assert_int_eq(ts_create(server(), pledge, "", TS_PERSISTENT, NULL), 0);
    }
    g_autofree char *plain = g_strconcat(it.path, "/lock-0000009999", NULL);
    ck_assert_int_eq(ts_create(server(), plain, "", TS_PERSISTENT, NULL), 0);
    pdk_lock *lock = delayed(it.one, DELAY_MS);
    const int64_t began = ts_now_ms();
    pdk_hold_release(ts_bench_acquire(lock, PATIENCE_MS));
    ck_assert_int_ge(ts_now_ms() - began, DELAY_MS);
    ck_assert_int_eq(ts_delete(server(), plain), 0);
    ck_assert(ts_wait_children(server(), it.path, 1 + MANY - 64, ts_patience(PATIENCE_MS)));
    pdk_hold_release(ts_bench_acquire(lock, PATIENCE_MS));
    assert_left_clean();
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

static Suite *make_suite(void) {
    Suite *suite = suite_create("lock_delay");
    TCase *all = ts_bench_case(suite, "lock_delay");
    tcase_add_test(all, after_a_release_the_next_one_has_it_in_one_round_trip);
    tcase_add_test(all, threads_that_hand_it_over_keep_the_pledge);
    tcase_add_loop_test(all, after_an_end_without_a_release_the_next_one_waits_the_delay, 0, ENDS);
    tcase_add_test(all, pledges_of_strangers_are_waited_for_once);
    tcase_add_test(all, a_claim_that_gives_up_leaves_the_wait_to_the_next_thread);
    tcase_add_test(all, a_leader_that_expires_is_followed_after_the_delay);
    tcase_add_test(all, all_agree_on_the_delay);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

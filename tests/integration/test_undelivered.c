/* A grant that lapses before its callback runs: the claim queues again, where it was. The user dispatches late, so the callback is due
 * for as long as the test wants. */
#include <glib.h>

#include "elections.h"
#include "permits.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 2000, REQUEST_MS = 60000, PATIENCE_MS = 10000 };

static ts_client *late, *rival;
static const char *path;

static void begin(void) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = SESSION_MS;
    options.request_timeout_ms = REQUEST_MS;
    options.dispatch = PDK_DISPATCH_MANUAL;
    late = ts_client_open_with(ts_bench_server(), NULL, &options);
    ck_assert_ptr_nonnull(late);
    rival = ts_bench_client(10 * SESSION_MS);
    path = ts_fresh_path();
}

static bool is_decided(void *claim) {
    int32_t ahead;
    return pdk_claim_position(claim, &ahead) == PDK_NOT_HELD;
}

static void assert_decided(ts_answer *answer) {
    ck_assert(ts_wait_until(is_decided, ts_answer_claim(answer), ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ts_answer_count(answer), 0);
}

/* Until every hold of it has lapsed and the server has ended its session. */
static void silence(void) {
    ts_proxy_set_mode(late->proxy, TS_BLACKHOLE);
    ts_sleep_ms(2 * SESSION_MS);
    ts_proxy_heal_discard(late->proxy);
}

static bool is_answered(void *answer) {
    pdk_session_dispatch(late->session, NULL);
    return ts_answer_count(answer) > 0;
}

static void assert_answered(ts_answer *answer, pdk_status status) {
    ck_assert(ts_wait_until(is_answered, answer, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ts_answer_status(answer), status);
}

START_TEST(two_lapsed_grants_come_back_in_their_order) {
    begin();
    pdk_lock *lock = ts_lock(late, path);
    ts_answer *first = ts_acquire_async(lock, PDK_FOREVER), *second = ts_acquire_async(lock, PDK_FOREVER);
    assert_decided(first);
    silence();
    assert_decided(second);
    silence();
    assert_answered(first, PDK_OK);
    ck_assert(pdk_hold_is_valid(ts_answer_hold(first)));
    ck_assert_int_eq(ts_answer_count(second), 0);
    ck_assert_int_eq(ts_answer_release(first), PDK_OK);
    assert_answered(second, PDK_OK);
    ck_assert_int_eq(ts_answer_release(second), PDK_OK);
}
END_TEST

/* Its time is over before it is delivered; and its session. */
START_TEST(a_grant_that_is_delivered_too_late) {
    begin();
    ts_answer *claim = ts_acquire_async(ts_lock(late, path), SESSION_MS);
    assert_decided(claim);
    ts_sleep_ms(SESSION_MS);
    assert_answered(claim, PDK_TIMEOUT);

    claim = ts_acquire_async(ts_lock(late, path), PDK_FOREVER);
    assert_decided(claim);
    ck_assert_int_eq(pdk_session_close(late->session, ts_patience(PATIENCE_MS)),
                     PDK_OK); /* it dispatches what is due */
    ck_assert_int_eq(ts_answer_status(claim), PDK_CLOSED);
    ck_assert_ptr_null(ts_answer_hold(claim));
}
END_TEST

/* Meanwhile somebody else has got the lock, and our next claim waits behind. */
START_TEST(a_lapsed_try_does_not_wait_behind_others) {
    begin();
    pdk_lock *lock = ts_lock(late, path);
    ts_answer *try = ts_acquire_async(lock, 0);
    assert_decided(try);
    ts_answer *next = ts_acquire_async(lock, PDK_FOREVER);
    ts_answer *held = ts_acquire_async(ts_lock(rival, path), PDK_FOREVER);
    ck_assert(ts_wait_children(ts_bench_server(), path, 2, ts_patience(PATIENCE_MS)));
    silence();
    ck_assert(ts_answer_wait(held, ts_patience(PATIENCE_MS)));
    ck_assert(ts_wait_children(ts_bench_server(), path, 2, ts_patience(PATIENCE_MS)));
    int32_t ahead = -1;
    while (pdk_claim_position(ts_answer_claim(next), &ahead) != PDK_OK)
        ts_sleep_ms(10);
    ck_assert_int_eq(ahead, 1);
    assert_answered(try, PDK_BUSY);
    ck_assert_int_eq(ts_answer_release(held), PDK_OK);
    assert_answered(next, PDK_OK);
    ck_assert_int_eq(ts_answer_release(next), PDK_OK);
}
END_TEST

/* The same at the gate of a semaphore: the next claim has been admitted, and waits for the rival's permit. */
START_TEST(a_lapsed_try_does_not_wait_behind_an_admission) {
    begin();
    pdk_semaphore *semaphore = permits_at(late, path, 1);
    ts_answer *try = permits_async(semaphore, 1, 0);
    assert_decided(try);
    ts_answer *next = permits_async(semaphore, 1, PDK_FOREVER);
    ts_answer *held = permits_async(permits_at(rival, path, 1), 1, PDK_FOREVER);
    silence();
    ck_assert(ts_answer_wait(held, ts_patience(PATIENCE_MS)));
    ck_assert(permits_wait_queued(path, 1));
    ts_sleep_ms(200); /* it is first, and has looked at the permits */
    assert_answered(try, PDK_BUSY);
    ck_assert_int_eq(ts_answer_release(held), PDK_OK);
    assert_answered(next, PDK_OK);
    ck_assert_int_eq(ts_answer_release(next), PDK_OK);
}
END_TEST

/* The callback that says so is due when the candidate leaves: it is not told. */
START_TEST(a_candidate_that_leaves_is_not_told_that_it_failed) {
    pdk_election_callbacks callbacks;
    begin();
    g_autofree char *below = g_strdup_printf("%s/office", path);
    ck_assert_int_eq(ts_create(ts_bench_server(), path, "", TS_PERSISTENT, NULL), 0);
    ts_observer *administrator = ts_observer_open(ts_bench_server());
    ck_assert_int_eq(ts_observer_set_acl(administrator, path, TS_PERM_READ, "world", "anyone"), 0);
    ts_observer_close(administrator);
    pdk_election *election = election_on(late, below, NULL);
    record *r = record_new();
    record_callbacks(r, &callbacks);
    ck_assert_int_eq(pdk_election_join(election, &callbacks), PDK_OK);
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_election_wait(election, ts_patience(PATIENCE_MS), &hold), PDK_NOT_HELD); /* it cannot be one */
    ck_assert_int_eq(pdk_election_leave(election), PDK_OK);
    ck_assert_int_eq(pdk_session_dispatch(late->session, NULL), PDK_OK);
    assert_history(r, "");
    ck_assert_int_eq(pdk_election_leave(election), PDK_NOT_HELD);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("undelivered");
    TCase *tcase = ts_bench_case(suite, "undelivered");
    tcase_add_test(tcase, two_lapsed_grants_come_back_in_their_order);
    tcase_add_test(tcase, a_grant_that_is_delivered_too_late);
    tcase_add_test(tcase, a_lapsed_try_does_not_wait_behind_others);
    tcase_add_test(tcase, a_lapsed_try_does_not_wait_behind_an_admission);
    tcase_add_test(tcase, a_candidate_that_leaves_is_not_told_that_it_failed);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

/* The word that a claim now stands in the queue: when it comes, how often, and that it never comes after the result. */
#include <glib.h>
#include <stdatomic.h>
#include <string.h>

#include "elections.h"
#include "permits.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_rwlock.h"
#include "ts_support.h"

enum { SESSION_MS = 4000 };

/* What was heard, in order. */
static struct {
    atomic_int queued, results, late;
    atomic_int ahead;
    pdk_claim *claim;
    pdk_hold *hold;
} heard;

static void on_queued(pdk_claim *claim, int32_t ahead, void *user) {
    (void)user;
    (void)claim;
    heard.ahead = ahead;
    heard.late += heard.results > 0;
    heard.queued++;
}

static void on_result(pdk_status status, pdk_hold *hold, void *user) {
    (void)status;
    (void)user;
    heard.hold = hold;
    heard.results++;
}

static void reset(void) { memset(&heard, 0, sizeof heard); }

static void drop_heard(void) {
    pdk_claim_unref(heard.claim);
    if (heard.hold)
        pdk_hold_release(heard.hold);
    reset();
}

static bool was_queued(void *unused) {
    (void)unused;
    return heard.queued > 0;
}

static bool was_answered(void *unused) {
    (void)unused;
    return heard.results > 0;
}

static void claim_it(pdk_lock *lock) {
    reset();
    ck_assert_int_eq(pdk_lock_acquire_async(lock, PDK_FOREVER, on_result, NULL, &heard.claim), PDK_OK);
}

START_TEST(it_comes_once_with_the_position) {
    const char *path = ts_fresh_path();
    ts_client *a = ts_bench_client(SESSION_MS), *b = ts_bench_client(SESSION_MS);
    pdk_hold *held = ts_bench_acquire(ts_lock(a, path), 5000);
    ts_answer *first = ts_acquire_async(ts_lock(a, path), PDK_FOREVER);
    ts_await_queued(first);
    claim_it(ts_lock(b, path));
    ck_assert_int_eq(pdk_claim_on_queued(heard.claim, on_queued, NULL), PDK_OK);
    ck_assert_int_eq(pdk_claim_on_queued(heard.claim, on_queued, NULL), PDK_INVALID); /* one per claim */
    ck_assert(ts_wait_until(was_queued, NULL, ts_patience(2000)));
    ck_assert_int_eq(heard.ahead, 2);
    ck_assert_int_eq(pdk_hold_release(held), PDK_OK); /* another list */
    ts_assert_granted(first);
    ts_sleep_ms(100);
    ck_assert_int_eq(heard.queued, 1);
    ck_assert_int_eq(heard.results, 0);
    ck_assert_int_eq(ts_answer_release(first), PDK_OK);
    ck_assert(ts_wait_until(was_answered, NULL, ts_patience(2000)));
    ck_assert_int_eq(heard.late, 0);
    ck_assert_int_eq(pdk_claim_on_queued(heard.claim, on_queued, NULL), PDK_NOT_HELD);
    drop_heard();
}
END_TEST

/* It stands in the queue before anybody asks; also behind a thread of its own process. */
START_TEST(it_comes_soon_when_it_is_so_already) {
    ts_client *client = ts_bench_client(SESSION_MS);
    pdk_lock *lock = ts_lock(client, ts_fresh_path());
    pdk_hold *held = ts_bench_acquire(lock, 5000);
    claim_it(lock);
    ck_assert_int_eq(pdk_claim_on_queued(heard.claim, on_queued, NULL), PDK_OK);
    ck_assert(ts_wait_until(was_queued, NULL, ts_patience(2000)));
    ck_assert_int_eq(heard.ahead, 1);
    ck_assert_int_eq(pdk_claim_cancel(heard.claim), PDK_OK);
    ck_assert(ts_wait_until(was_answered, NULL, ts_patience(2000)));
    pdk_hold_release(held);
    drop_heard();
}
END_TEST

/* The first in a semaphore's queue waits for permits: it stands in the queue, with nobody ahead. */
START_TEST(it_comes_for_a_claim_that_waits_for_permits) {
    const char *path = ts_fresh_path();
    pdk_hold *held = permits_take(permits_at(ts_bench_client(SESSION_MS), path, 1), 1);
    pdk_semaphore *semaphore = permits_at(ts_bench_client(SESSION_MS), path, 1);
    reset();
    ck_assert_int_eq(pdk_semaphore_acquire_async(semaphore, 1, PDK_FOREVER, on_result, NULL, &heard.claim), PDK_OK);
    ck_assert_int_eq(pdk_claim_on_queued(heard.claim, on_queued, NULL), PDK_OK);
    ck_assert(ts_wait_until(was_queued, NULL, ts_patience(2000)));
    ck_assert_int_eq(heard.ahead, 0);
    ck_assert_int_eq(pdk_hold_release(held), PDK_OK);
    ck_assert(ts_wait_until(was_answered, NULL, ts_patience(2000)));
    drop_heard();
}
END_TEST

/* Manual dispatch: the grant comes before anything is dispatched. The result alone is heard. */
START_TEST(it_never_comes_after_the_decision) {
    ts_client *client = manual_client(SESSION_MS);
    int32_t ahead;
    int count;
    claim_it(ts_lock(client, ts_fresh_path()));
    ck_assert_int_eq(pdk_claim_on_queued(heard.claim, on_queued, NULL), PDK_OK);
    while (pdk_claim_position(heard.claim, &ahead) != PDK_NOT_HELD)
        ts_sleep_ms(1);
    ck_assert_int_eq(pdk_session_dispatch(client->session, &count), PDK_OK);
    ck_assert_int_eq(heard.results, 1);
    ck_assert_int_eq(heard.queued, 0);
    drop_heard();
}
END_TEST

/* The claim is cancelled before a server has confirmed anything: the queue forgets it. */
START_TEST(a_claim_that_ends_before_is_forgotten) {
    ts_client *client = ts_bench_client(SESSION_MS);
    pdk_lock *lock = ts_lock(client, ts_fresh_path());
    ts_proxy_set_mode(client->proxy, TS_BLACKHOLE);
    claim_it(lock);
    ck_assert_int_eq(pdk_claim_on_queued(heard.claim, on_queued, NULL), PDK_OK);
    ck_assert_int_eq(pdk_claim_cancel(heard.claim), PDK_OK);
    ts_proxy_heal(client->proxy);
    ck_assert(ts_wait_until(was_answered, NULL, ts_patience(2000)));
    pdk_hold_release(ts_bench_acquire(lock, 5000)); /* the entry has been listed */
    ck_assert_int_eq(heard.queued, 0);
    drop_heard();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("queued");
    TCase *tcase = ts_bench_case(suite, "queued");

    tcase_add_test(tcase, it_comes_once_with_the_position);
    tcase_add_test(tcase, it_comes_soon_when_it_is_so_already);
    tcase_add_test(tcase, it_comes_for_a_claim_that_waits_for_permits);
    tcase_add_test(tcase, it_never_comes_after_the_decision);
    tcase_add_test(tcase, a_claim_that_ends_before_is_forgotten);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

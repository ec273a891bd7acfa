/* The semaphore and time: tries, deadlines at each step, positions, and the list of holders. */
#include <glib.h>
#include <string.h>

#include "permits.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 6000, SCHEDULING_MS = 250 };

static ts_client *a, *b;

static void two_sessions(void) {
    a = ts_bench_client(SESSION_MS);
    b = ts_bench_client(SESSION_MS);
}

static const char *server(void) { return ts_bench_server(); }

/* ---- tries ---- */

START_TEST(a_try_takes_what_is_free) {
    const char *path = ts_fresh_path();
    pdk_hold *one = NULL, *two = NULL, *none = NULL;

    ck_assert_int_eq(pdk_semaphore_acquire(permits_at(a, path, 3), 1, 0, &one), PDK_OK); /* makes the directories */
    ck_assert_int_eq(pdk_session_flush(a->session, 5000), PDK_OK); /* out of the queue, where its node would be ahead */
    ck_assert_int_eq(pdk_semaphore_acquire(permits_at(b, path, 3), 2, 0, &two), PDK_OK);
    ck_assert(pdk_hold_is_valid(one) && pdk_hold_is_valid(two));
    ck_assert_int_eq(pdk_semaphore_acquire(permits_at(a, path, 3), 1, 0, &none), PDK_BUSY);
    ck_assert_ptr_null(none);
    ck_assert_int_eq(permits_taken(path), 3);
    ck_assert_int_eq(pdk_hold_release(two), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(b->session, 5000), PDK_OK);
    ck_assert_int_eq(pdk_semaphore_acquire(permits_at(a, path, 3), 3, 0, &none), PDK_BUSY); /* two are free */
    ck_assert_int_eq(pdk_semaphore_acquire(permits_at(a, path, 3), 2, 0, &two), PDK_OK);
    pdk_hold_release(one);
    pdk_hold_release(two);
    permits_assert_none(path);
}
END_TEST

/* BUSY at once: for too few permits, and for a claim ahead, blocking or not. Nothing is left, not even a watch. */
START_TEST(a_try_tells_busy_at_once_and_leaves_nothing) {
    const char *path = ts_fresh_path();
    pdk_hold *held = permits_take(permits_at(a, path, 2), 1), *none = NULL;
    pdk_semaphore *semaphore = permits_at(b, path, 2);
    const int64_t before = ts_now_ms();

    ts_sleep_ms(100);
    const int64_t watches = ts_watch_count(server());
    ck_assert_int_eq(pdk_semaphore_acquire(semaphore, 2, 0, &none), PDK_BUSY);
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "too few"));
    permits_await_status(permits_async(semaphore, 2, 0), PDK_BUSY);
    ck_assert_int_lt(ts_now_ms() - before, ts_patience(1000));
    ck_assert(permits_wait_queued(path, 0));
    ck_assert_int_eq(permits_taken(path), 1);
    ck_assert_int_eq(ts_watch_count(server()), watches);
    ts_answer *waiter = permits_async(semaphore, 2, 20000);
    permits_await_ahead(waiter, 0);
    ck_assert_int_eq(pdk_semaphore_acquire(permits_at(a, path, 2), 1, 0, &none),
                     PDK_BUSY); /* one is free, but a claim is ahead */
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "somebody is ahead"));
    ck_assert_int_eq(pdk_semaphore_acquire(semaphore, 1, 0, &none), PDK_BUSY);
    ck_assert_ptr_null(none);
    ck_assert(permits_wait_queued(path, 1));
    ck_assert_int_eq(pdk_hold_release(held), PDK_OK);
    permits_await_grant(waiter);
}
END_TEST

/* ---- deadlines ---- */

/* The first in the queue gives up. The next one is admitted, with the permits that are free. */
START_TEST(a_large_claim_that_times_out_makes_room) {
    const char *path = ts_fresh_path();
    pdk_semaphore *semaphore = permits_at(b, path, 3);
    pdk_hold *held = permits_take(permits_at(a, path, 3), 1);
    ts_answer *many = permits_async(semaphore, 3, _i == 0 ? 400 : 20000);
    permits_await_ahead(many, 0);
    ts_answer *local = permits_async(semaphore, 1, 20000), *other = permits_async(permits_at(a, path, 3), 1, 20000);

    permits_await_ahead(local, 1);
    permits_await_ahead(other, 1);
    if (_i == 1) {
        ck_assert_int_eq(pdk_claim_cancel(ts_answer_claim(many)), PDK_OK);
        ck_assert_int_eq(pdk_claim_cancel(ts_answer_claim(many)), PDK_NOT_HELD);
    }
    permits_await_status(many, _i == 0 ? PDK_TIMEOUT : PDK_CANCELED);
    permits_await_grant(local);
    permits_await_grant(other);
    ck_assert_int_eq(permits_taken(path), 3);
    ck_assert_int_eq(pdk_hold_release(held), PDK_OK);
}
END_TEST

/* ---- the list of holders ---- */

static void assert_holder(const pdk_contenders *list, size_t i, const ts_client *client) {
    g_autofree char *name = g_strdup(pdk_contenders_node(list, i));

    ck_assert(g_str_has_prefix(name, "_c_") && strstr(name, "-lease-") != NULL);
    ck_assert_int_eq(pdk_contenders_session(list, i), pdk_session_id(client->session));
    ck_assert_str_eq(pdk_contenders_identity(list, i), pdk_session_identity(client->session));
    ck_assert_int_gt(pdk_contenders_since_ms(list, i), INT64_C(1600000000000));
    ck_assert(!pdk_contenders_is_shared(list, i));
    ck_assert(i == 0 || pdk_contenders_token(list, i) > pdk_contenders_token(list, i - 1));
}

START_TEST(holders_are_listed_by_permit) {
    const char *path = ts_fresh_path();
    pdk_semaphore *semaphore = permits_at(a, path, 4);
    pdk_contenders *list = NULL;

    ck_assert_int_eq(pdk_semaphore_holders(semaphore, 5000, &list), PDK_OK); /* not even the directory exists */
    ck_assert_uint_eq(pdk_contenders_count(list), 0);
    pdk_contenders_free(list);
    pdk_hold *one = permits_take(semaphore, 1), *two = permits_take(permits_at(b, path, 4), 2);
    ts_answer *waiter = permits_async(semaphore, 2, 20000); /* it holds nothing yet */
    permits_await_ahead(waiter, 0);
    ck_assert_int_eq(pdk_semaphore_holders(permits_at(b, path, 4), 5000, &list), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(list), 3);
    ck_assert_int_eq(pdk_contenders_token(list, 0), pdk_hold_token(one));
    ck_assert_int_eq(pdk_contenders_token(list, 1), pdk_hold_token(two));
    assert_holder(list, 0, a);
    assert_holder(list, 1, b);
    assert_holder(list, 2, b);
    pdk_contenders_free(list);
    ts_proxy_set_mode(b->proxy, TS_BLACKHOLE);
    list = NULL;
    const int64_t before = ts_now_ms();
    ck_assert_int_eq(pdk_semaphore_holders(permits_at(b, path, 4), 200, &list), PDK_UNAVAILABLE);
    ck_assert_int_le(ts_now_ms() - before, 200 + ts_patience(SCHEDULING_MS));
    ck_assert_ptr_null(list);
    ts_proxy_heal(b->proxy);
    pdk_hold_release(one);
    permits_await_grant(waiter);
    ck_assert_int_eq(pdk_hold_release(two), PDK_OK);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("semaphore_try");
    TCase *tcase = ts_bench_case(suite, "semaphore_try");

    tcase_add_checked_fixture(tcase, two_sessions, NULL);
    tcase_add_test(tcase, a_try_takes_what_is_free);
    tcase_add_test(tcase, a_try_tells_busy_at_once_and_leaves_nothing);
    tcase_add_loop_test(tcase, a_large_claim_that_times_out_makes_room, 0, 2);
    tcase_add_test(tcase, holders_are_listed_by_permit);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

/* Several lock objects of one session on one path: a thread that holds by one of them never waits for itself by
 * another. */
#include <check.h>
#include <glib.h>

#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_rwlock.h"
#include "ts_support.h"

enum { SESSION_MS = 6000, WAIT_MS = 1000 };

static ts_client *a, *b;
static const char *path;

static void set_up(void) {
    path = ts_fresh_path();
    a = ts_bench_client(SESSION_MS);
    b = ts_bench_client(SESSION_MS);
}

START_TEST(a_thread_never_waits_for_itself_by_another_lock) {
    pdk_lock *one = ts_lock(a, path), *two = ts_lock(a, path), *foreign = ts_lock(b, path);
    pdk_hold *hold = ts_bench_acquire(one, 5000), *again = NULL;

    refused(pdk_lock_acquire(two, WAIT_MS, &again), PDK_DEADLOCK, path);
    refused(pdk_lock_acquire(two, 0, &again), PDK_BUSY, path); /* a try does not wait */
    refused(pdk_lock_acquire(foreign, WAIT_MS, &again), PDK_TIMEOUT, path);
    pdk_lock *elsewhere = ts_lock(a, ts_fresh_path());
    ck_assert_int_eq(pdk_hold_release(ts_bench_acquire(elsewhere, 5000)), PDK_OK);
    ck_assert_ptr_null(again);
    pdk_hold_detach_thread(hold);
    refused(pdk_lock_acquire(two, WAIT_MS, &again), PDK_TIMEOUT, path);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    hold = ts_bench_acquire(two, 5000);
    refused(pdk_lock_acquire(one, WAIT_MS, &again), PDK_DEADLOCK, path);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

/* The holds of one grant belong to the object that they came from. */
START_TEST(a_reentrant_lock_nests_in_itself_alone) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    options.reentrant = 1;
    pdk_lock *one = ts_lock_with(a, path, &options), *two = ts_lock_with(a, path, &options);
    pdk_hold *outer = ts_bench_acquire(one, 5000), *inner = ts_bench_acquire(one, 5000), *again = NULL;

    refused(pdk_lock_acquire(two, WAIT_MS, &again), PDK_DEADLOCK, path);
    ck_assert_int_eq(pdk_hold_release(outer), PDK_OK);
    refused(pdk_lock_acquire(two, WAIT_MS, &again), PDK_DEADLOCK, path);
    ck_assert_int_eq(pdk_hold_release(inner), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(ts_bench_acquire(two, 5000)), PDK_OK);
}
END_TEST

START_TEST(a_thread_never_waits_for_itself_by_another_rwlock) {
    pdk_rwlock *one = ts_rwlock(a, path), *two = ts_rwlock(a, path);
    pdk_lock *lock = ts_lock(a, path);
    pdk_hold *hold = ts_bench_read(one, 5000), *again = NULL;

    refused(pdk_rwlock_acquire_write(two, WAIT_MS, &again), PDK_UPGRADE, path);
    refused(pdk_lock_acquire(lock, WAIT_MS, &again), PDK_DEADLOCK, path);
    ck_assert_int_eq(pdk_rwlock_acquire_read(two, WAIT_MS, &again), PDK_OK); /* nobody waits for a reader */
    ck_assert_int_eq(pdk_hold_release(again), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    hold = ts_bench_write(one, 5000);
    refused(pdk_rwlock_acquire_write(two, WAIT_MS, &again), PDK_DEADLOCK, path);
    refused(pdk_rwlock_acquire_read(two, WAIT_MS, &again), PDK_DEADLOCK, path);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    hold = ts_bench_acquire(lock, 5000);
    refused(pdk_rwlock_acquire_read(two, WAIT_MS, &again), PDK_DEADLOCK, path);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

/* A semaphore's queue is in a directory of its own, where its permits do not stand. */
START_TEST(a_permit_is_no_deadlock) {
    char *queue = g_strconcat(path, "/locks", NULL);
    pdk_semaphore *semaphore = NULL;
    pdk_hold *permit = NULL;

    ck_assert_int_eq(pdk_semaphore_new(a->session, path, 1, NULL, &semaphore), PDK_OK);
    ck_assert_int_eq(pdk_semaphore_acquire(semaphore, 1, 5000, &permit), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(ts_bench_acquire(ts_lock(a, queue), 5000)), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(permit), PDK_OK);
    pdk_semaphore_unref(semaphore);
    g_free(queue);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("objects");
    TCase *tcase = ts_bench_case(suite, "objects");

    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, a_thread_never_waits_for_itself_by_another_lock);
    tcase_add_test(tcase, a_reentrant_lock_nests_in_itself_alone);
    tcase_add_test(tcase, a_thread_never_waits_for_itself_by_another_rwlock);
    tcase_add_test(tcase, a_permit_is_no_deadlock);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

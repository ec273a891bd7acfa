/* What a try costs a real server. */
#include <check.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_rwlock.h"
#include "ts_support.h"

enum { SESSION_MS = 6000, TRIES = 20 };

static ts_client *a, *b;
static const char *path;

static void set_up(void) {
    path = ts_fresh_path();
    a = ts_bench_client(SESSION_MS);
    b = ts_bench_client(SESSION_MS);
}

static unsigned asked(int opcode) { return (unsigned)ts_proxy_count(b->proxy, opcode); }

START_TEST(a_busy_try_writes_nothing) {
    pdk_lock *lock = ts_lock(b, path);
    pdk_hold *hold = ts_bench_acquire(ts_lock(a, path), 5000), *none = NULL;

    for (int i = 0; i < TRIES; i++)
        ck_assert_int_eq(pdk_lock_acquire(lock, 0, &none), PDK_BUSY);
    ck_assert_uint_eq(asked(TS_OP_CREATE2), 0);
    ck_assert_uint_eq(asked(TS_OP_DELETE), 0);
    ck_assert_uint_eq(asked(TS_OP_SYNC), TRIES);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(a->session, 5000), PDK_OK);
    hold = ts_bench_acquire(lock, 0); /* it sees at once that the holder has left */
    ck_assert_uint_eq(asked(TS_OP_CREATE2), 1);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

/* A reader is in nobody's way but a writer's. */
START_TEST(a_try_looks_for_those_in_its_way) {
    pdk_rwlock *lock = ts_rwlock(b, path);
    pdk_hold *hold = ts_bench_read(ts_rwlock(a, path), 5000), *none = NULL;

    ck_assert_int_eq(pdk_rwlock_acquire_write(lock, 0, &none), PDK_BUSY);
    ck_assert_uint_eq(asked(TS_OP_CREATE2), 0);
    ck_assert_int_eq(pdk_hold_release(ts_bench_read(lock, 0)), PDK_OK);
    ck_assert_uint_eq(asked(TS_OP_CREATE2), 1);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("try");
    TCase *tcase = ts_bench_case(suite, "try");

    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, a_busy_try_writes_nothing);
    tcase_add_test(tcase, a_try_looks_for_those_in_its_way);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

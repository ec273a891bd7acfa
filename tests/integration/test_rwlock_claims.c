/* Claims of a read/write lock: threads and what they may ask for, writers that share a node, tries, deadlines,
 * cancelling, and the end of the object. */
#include <glib.h>
#include <pthread.h>

#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_rwlock.h"
#include "ts_support.h"

enum { SESSION_MS = 6000, SHORT_MS = 300, SCHEDULING_MS = 250 };

static ts_client *a, *b;

static void two_sessions(void) {
    a = ts_bench_client(SESSION_MS);
    b = ts_bench_client(SESSION_MS);
}

static const char *server(void) { return ts_bench_server(); }

/* ---- what one thread may ask for ---- */

START_TEST(a_thread_never_waits_for_itself) {
    static const int64_t timeouts[] = {PDK_FOREVER, 0, 5000};
    const char *path = ts_fresh_path();
    pdk_rwlock *lock = ts_rwlock(a, path);
    pdk_hold *again = NULL;

    for (size_t i = 0; i < G_N_ELEMENTS(timeouts); i++) {
        const int64_t timeout_ms = timeouts[i];
        pdk_hold *hold = ts_bench_read(lock, 5000);
        refused(pdk_rwlock_acquire_read(lock, timeout_ms, &again), PDK_DEADLOCK, path);
        refused(pdk_rwlock_acquire_write(lock, timeout_ms, &again), PDK_UPGRADE, path);
        ck_assert(pdk_hold_is_valid(hold));
        ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
        hold = ts_bench_write(lock, 5000);
        refused(pdk_rwlock_acquire_write(lock, timeout_ms, &again), PDK_DEADLOCK, path);
        refused(pdk_rwlock_acquire_read(lock, timeout_ms, &again), PDK_DEADLOCK, path);
        ck_assert(pdk_hold_is_valid(hold));
        ck_assert_int_eq(ts_child_count(server(), path), 1);
        ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    }
    ck_assert_ptr_null(again);
}
END_TEST

/* Refused even without a server. */
START_TEST(an_upgrade_is_refused_without_a_server) {
    pdk_rwlock *lock = ts_rwlock(a, ts_fresh_path());
    pdk_hold *hold = ts_bench_read(lock, 5000), *again = NULL;
    const int64_t before = ts_now_ms();

    ts_proxy_set_mode(a->proxy, TS_BLACKHOLE);
    ck_assert_int_eq(pdk_rwlock_acquire_write(lock, 5000, &again), PDK_UPGRADE);
    ck_assert_int_eq(pdk_rwlock_acquire_read(lock, 5000, &again), PDK_DEADLOCK);
    ck_assert_int_lt(ts_now_ms() - before, ts_patience(SCHEDULING_MS));
    ts_proxy_heal(a->proxy);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

START_TEST(a_released_hold_is_no_deadlock) {
    pdk_rwlock *lock = ts_rwlock(a, ts_fresh_path());
    pdk_hold *first = ts_bench_read(lock, 5000), *writer = NULL;

    pdk_hold_detach_thread(first);
    pdk_hold *second = ts_bench_read(lock, 5000);
    ck_assert_int_ne(pdk_hold_token(first), pdk_hold_token(second)); /* each has a node of its own */
    ck_assert_int_eq(pdk_rwlock_acquire_write(lock, 100, &writer), PDK_UPGRADE);
    pdk_hold_detach_thread(second);
    ck_assert_int_eq(pdk_rwlock_acquire_write(lock, 100, &writer), PDK_TIMEOUT); /* now it waits, and for itself */
    ck_assert_int_eq(pdk_hold_release(first), PDK_OK);
    ck_assert_int_eq(pdk_rwlock_acquire_write(lock, 0, &writer), PDK_BUSY);
    ck_assert_int_eq(pdk_hold_release(second), PDK_OK);
    writer = ts_bench_write(lock, 5000);
    pdk_hold_detach_thread(writer);
    ck_assert_int_eq(pdk_rwlock_acquire_read(lock, 100, &first), PDK_TIMEOUT);
    ck_assert_int_eq(pdk_rwlock_acquire_write(lock, 100, &first), PDK_TIMEOUT);
    ck_assert_int_eq(pdk_hold_release(writer), PDK_OK);
}
END_TEST

/* Holds of other threads, of callbacks, and of other objects do not count. */
START_TEST(only_the_threads_own_holds_count) {
    const char *path = ts_fresh_path();
    pdk_rwlock *lock = ts_rwlock(a, path), *other = ts_rwlock(a, path);
    ts_answer *threaded = ts_read_thread(lock, 5000), *async = ts_read_async(lock, 5000);
    pdk_hold *writer = NULL;

    ts_assert_granted(threaded);
    ts_assert_granted(async);
    ck_assert_int_eq(pdk_rwlock_acquire_write(lock, 100, &writer), PDK_TIMEOUT);
    pdk_hold *mine = ts_bench_read(lock, 5000), *second = ts_bench_read(other, 0);
    ck_assert_int_eq(pdk_rwlock_acquire_write(other, 0, &writer), PDK_UPGRADE);
    ck_assert_int_eq(pdk_hold_release(second), PDK_OK);
    ck_assert_int_eq(pdk_rwlock_acquire_write(other, 0, &writer), PDK_BUSY);
    ck_assert_int_eq(pdk_rwlock_acquire_write(other, 100, &writer), PDK_UPGRADE); /* it would wait */
    ck_assert_int_eq(pdk_hold_release(mine), PDK_OK);
    ck_assert_int_eq(ts_answer_release(threaded), PDK_OK);
    ck_assert_int_eq(ts_answer_release(async), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(ts_bench_write(lock, 5000)), PDK_OK);
}
END_TEST

/* ---- writers of one object share a node ---- */

START_TEST(writers_hand_over_and_readers_do_not) {
    const char *path = ts_fresh_path();
    pdk_rwlock *lock = ts_rwlock_of_long_handovers(a, path);
    pdk_hold *hold = ts_bench_write(lock, 5000);
    ts_answer *reader = ts_read_async(lock, 20000);
    ts_await_queued(reader);
    ts_answer *next = ts_write_async(lock, 20000), *last = ts_write_thread(lock, 20000);
    const int64_t token = pdk_hold_token(hold);

    ck_assert_int_eq(ts_child_count(server(), path), 2);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ts_assert_granted(next);
    ck_assert_int_eq(pdk_hold_token(ts_answer_hold(next)), token);
    ck_assert_uint_eq(pdk_hold_handover(ts_answer_hold(next)), 1);
    ck_assert_int_eq(ts_answer_count(reader), 0);
    ck_assert_int_eq(ts_answer_release(next), PDK_OK);
    ts_assert_granted(last);
    ck_assert_uint_eq(pdk_hold_handover(ts_answer_hold(last)), 2);
    ck_assert_int_eq(ts_answer_count(reader), 0);
    ck_assert_int_eq(ts_answer_release(last), PDK_OK);
    ts_assert_granted(reader);
    ck_assert_uint_eq(pdk_hold_handover(ts_answer_hold(reader)), 0);
}
END_TEST

/* Without hand-overs the first reader in the queue is first, also within one process. */
START_TEST(without_hand_overs_local_writers_queue_anew) {
    pdk_rwlock_options options = PDK_RWLOCK_OPTIONS_INIT;
    options.max_handovers = 0;
    pdk_rwlock *lock = ts_rwlock_with(a, ts_fresh_path(), &options);
    pdk_hold *hold = ts_bench_write(lock, 5000);
    ts_answer *reader = ts_read_async(lock, 20000);
    ts_await_queued(reader);
    ts_answer *writer = ts_write_async(lock, 20000);
    const int64_t token = pdk_hold_token(hold);

    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ts_assert_granted(reader);
    ts_assert_waits(writer, SHORT_MS);
    ck_assert_int_eq(ts_answer_release(reader), PDK_OK);
    ts_assert_granted(writer);
    ck_assert_int_gt(pdk_hold_token(ts_answer_hold(writer)), token);
    ck_assert_uint_eq(pdk_hold_handover(ts_answer_hold(writer)), 0);
}
END_TEST

/* ---- tries ---- */

/* A reader is in nobody's way but a writer's. */
START_TEST(a_try_looks_for_those_in_its_way) {
    const char *path = ts_fresh_path();
    pdk_rwlock *lock = ts_rwlock(b, path);
    pdk_hold *hold = ts_bench_read(ts_rwlock(a, path), 5000), *none = NULL;

    ck_assert_int_eq(pdk_rwlock_acquire_write(lock, 0, &none), PDK_BUSY);
    ck_assert_uint_eq(ts_proxy_count(b->proxy, TS_OP_CREATE2), 0);
    ck_assert_int_eq(pdk_hold_release(ts_bench_read(lock, 0)), PDK_OK);
    ck_assert_uint_eq(ts_proxy_count(b->proxy, TS_OP_CREATE2), 1);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

/* A waiting writer is ahead of a reader that tries, though a reader holds. */
START_TEST(a_try_does_not_overtake_a_waiting_writer) {
    const char *path = ts_fresh_path();
    pdk_hold *held = ts_bench_read(ts_rwlock(a, path), 5000), *hold = NULL;
    ts_answer *writer = ts_write_async(ts_rwlock(b, path), 20000);

    ts_await_queued(writer);
    ck_assert_int_eq(pdk_rwlock_acquire_read(ts_rwlock(a, path), 0, &hold), PDK_BUSY);
    ck_assert_int_eq(pdk_rwlock_acquire_write(ts_rwlock(b, path), 0, &hold), PDK_BUSY);
    ck_assert_ptr_null(hold);
    ck_assert_int_eq(ts_answer_count(writer), 0);
    ck_assert_int_eq(pdk_hold_release(held), PDK_OK);
    ts_assert_granted(writer);
}
END_TEST

/* ---- the readers behind a writer that gives up are granted ---- */

enum { BY_CANCEL, BY_TIMEOUT, BY_EXPIRY, BY_CLOSE, GIVE_UPS };

START_TEST(readers_pass_a_writer_that_gave_up) {
    const char *path = ts_fresh_path();
    ts_client *c = ts_bench_client(SESSION_MS);
    pdk_hold *held = ts_bench_read(ts_rwlock(a, path), 5000);
    ts_answer *writer = ts_write_async(ts_rwlock(c, path), _i == BY_TIMEOUT ? 1000 : 20000);
    ts_await_queued(writer);
    ts_answer *readers[] = {ts_read_async(ts_rwlock(b, path), 20000), ts_read_async(ts_rwlock(a, path), 20000)};
    ts_await_queued(readers[0]);
    ts_await_queued(readers[1]);

    if (_i == BY_CANCEL) {
        ck_assert_int_eq(pdk_claim_cancel(ts_answer_claim(writer)), PDK_OK);
    } else if (_i == BY_EXPIRY) {
        ck_assert_int_eq(ts_expire(c->proxy, server()), 0); /* the writer queues again, behind them */
    } else if (_i == BY_CLOSE) {
        ck_assert_int_eq(pdk_session_close(c->session, 5000), PDK_OK);
    }
    ts_assert_granted(readers[0]);
    ts_assert_granted(readers[1]);
    ck_assert(pdk_hold_is_valid(held));
    if (_i == BY_EXPIRY) {
        ts_assert_waits(writer, SHORT_MS);
    } else {
        const pdk_status expected = _i == BY_CANCEL ? PDK_CANCELED : _i == BY_CLOSE ? PDK_CLOSED : PDK_TIMEOUT;

        ck_assert(ts_answer_wait(writer, ts_patience(2000)));
        ck_assert_str_eq(pdk_status_name(ts_answer_status(writer)), pdk_status_name(expected));
    }
    ck_assert_int_eq(pdk_hold_release(held), PDK_OK);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("rwlock_claims");
    TCase *tcase = ts_bench_case(suite, "rwlock_claims");

    tcase_add_checked_fixture(tcase, two_sessions, NULL);
    tcase_add_test(tcase, a_thread_never_waits_for_itself);
    tcase_add_test(tcase, an_upgrade_is_refused_without_a_server);
    tcase_add_test(tcase, a_released_hold_is_no_deadlock);
    tcase_add_test(tcase, only_the_threads_own_holds_count);
    tcase_add_test(tcase, writers_hand_over_and_readers_do_not);
    tcase_add_test(tcase, without_hand_overs_local_writers_queue_anew);
    tcase_add_test(tcase, a_try_looks_for_those_in_its_way);
    tcase_add_test(tcase, a_try_does_not_overtake_a_waiting_writer);
    tcase_add_loop_test(tcase, readers_pass_a_writer_that_gave_up, 0, GIVE_UPS);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

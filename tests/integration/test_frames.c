/*
 * Servers that send an invalid length. The client library accepts it, and reads the following bytes as that frame,
 * until it gives the connection up. A holder keeps its hold, or is told of the loss.
 *
 * The client library trusts servers in more ways. In 3.8.0 an answer to no request ends the process in an assertion of
 * its own, and a truncated event in a segmentation fault.
 */
#include <glib.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 3000 };

/* One client holds and another waits meanwhile. */
static void say_length(int32_t length) {
    const int32_t frame = GINT32_TO_BE(length);
    const char *path = ts_fresh_path();
    ts_client *holder = ts_bench_client(SESSION_MS), *waiter = ts_bench_client(SESSION_MS);
    pdk_hold *hold = ts_bench_acquire(ts_lock(holder, path), 5000);
    ts_lost *lost = ts_lost_watch(hold);
    ts_answer *claim = ts_acquire_async(ts_lock(waiter, path), 60000);

    ck_assert(ts_wait_children(ts_bench_server(), path, 2, 5000));
    ck_assert_int_eq(ts_proxy_say(holder->proxy, &frame, sizeof frame), 1);
    ck_assert(ts_wait_event(holder, PDK_SESSION_SUSPENDED, 1, ts_patience(SESSION_MS)));
    ck_assert(ts_wait_event(holder, PDK_SESSION_RESTORED, 1, ts_patience(SESSION_MS)));

    const pdk_status status = pdk_hold_release(hold);
    ck_assert(status == PDK_OK || status == PDK_LOST);
    ck_assert_int_le(ts_lost_count(lost),
                     status == PDK_LOST); /* the release itself may find that the lease has ended */
    ck_assert(ts_answer_wait(claim, ts_patience(5000)));
    ck_assert_int_eq(ts_answer_status(claim), PDK_OK);
    ts_answer *next = ts_acquire_async(ts_lock(holder, path), 60000);
    ck_assert_int_eq(ts_answer_release(claim), PDK_OK);
    ck_assert(ts_answer_wait(next, ts_patience(5000)));
    ck_assert_int_eq(ts_answer_release(next), PDK_OK);
    ck_assert(ts_wait_children(ts_bench_server(), path, 0, 5000));
}

START_TEST(a_frame_far_too_long) { say_length(64 << 20); }
END_TEST

/* No memory is that large. A sanitizer reports that as an error. */
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
START_TEST(a_frame_of_negative_length) { say_length(-1); }
END_TEST
#endif

static Suite *make_suite(void) {
    Suite *suite = suite_create("frames");
    TCase *tcase = ts_bench_case(suite, "frames");

    tcase_add_test(tcase, a_frame_far_too_long);
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
    tcase_add_test(tcase, a_frame_of_negative_length);
#endif
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

/* When the command is ended as its lease runs out (command/lease.c), by a clock that goes on while it is read, with a keeper of ours. */
#include "../../command/clock.h"
#include "../../command/lease.h"
#include "../../command/say.h"
#include "ts_check.h"

enum { TIMEOUT_MS = 6000, LEFT_MS = 4000, HELD_UP_MS = 1500 };

static int64_t now_ms, held_up_ms, left_ms;

int64_t cmd_now_ms(void) { return now_ms; }

/* It was read, and then the process stood still for a while. */
int64_t cmd_keeper_remaining_ms(const cmd_keeper *keeper) {
    int64_t left = left_ms;
    (void)keeper;
    now_ms += held_up_ms;
    return left;
}

void cmd_error(const char *format, ...) { ck_assert_ptr_nonnull(format); }

/* At the first time, and when the lease is renewed. */
START_TEST(the_end_counts_from_before_the_rest_was_read) {
    cmd_lease lease = {.timeout_ms = TIMEOUT_MS};
    cmd_moments moments = {.term_at = INT64_MAX, .kill_at = INT64_MAX};
    now_ms = 1000;
    left_ms = LEFT_MS;
    for (int i = 0; i < 2; i++) {
        int64_t end = now_ms + LEFT_MS;
        held_up_ms = _i == i ? HELD_UP_MS : 0;
        (void)cmd_lease_publish(&lease, NULL, &moments);
        ck_assert_int_eq(moments.kill_at, end);
        ck_assert_int_eq(moments.term_at, end - TIMEOUT_MS / 6);
        now_ms += 100;
    }
}
END_TEST

START_TEST(a_lease_never_gets_shorter) {
    cmd_lease lease = {.timeout_ms = TIMEOUT_MS};
    cmd_moments moments = {.term_at = INT64_MAX, .kill_at = INT64_MAX};
    now_ms = 1000;
    left_ms = LEFT_MS;
    held_up_ms = 0;
    (void)cmd_lease_publish(&lease, NULL, &moments);
    left_ms = 0;
    (void)cmd_lease_publish(&lease, NULL, &moments);
    ck_assert_int_eq(moments.kill_at, 1000 + LEFT_MS);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("command_lease");
    TCase *cases = tcase_create("command_lease");
    tcase_add_loop_test(cases, the_end_counts_from_before_the_rest_was_read, 0, 2);
    tcase_add_test(cases, a_lease_never_gets_shorter);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

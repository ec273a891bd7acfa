/* The record of a lease lock, in every order of events: nobody else before its end, its secret at any time, never two. */
#include "lease_lock_model.h"
#include "ts_check.h"

#include <inttypes.h>

static void keeps_promises(struct lease_lock_config config, uint64_t least) {
    uint64_t counts[LEASE_COUNTS] = {0};
    struct record_model model = lease_lock_model(&config);
    struct record_result r = record_explore(&model, counts, stdout);
    printf("%" PRIu64 " states, %" PRIu64 " steps; held %" PRIu64 ", back %" PRIu64 ", renewed %" PRIu64
           ", stood %" PRIu64 ", too late %" PRIu64 ", lost %" PRIu64 ", given up %" PRIu64 "\n",
           r.states, r.steps, counts[LEASE_HELD], counts[LEASE_BACK], counts[LEASE_RENEWED], counts[LEASE_STOOD],
           counts[LEASE_TOO_LATE], counts[LEASE_LOST], counts[LEASE_GIVEN_UP]);
    ck_assert_msg(!r.broken, "%s", r.broken);
    ck_assert(r.complete);
    ck_assert_uint_ge(r.states, least);
    ck_assert(counts[LEASE_HELD] > 0 && counts[LEASE_STOOD] > 0 && counts[LEASE_TOO_LATE] > 0 &&
              counts[LEASE_LOST] > 0);
    ck_assert((counts[LEASE_BACK] > 0) == (config.claims == 3));
    ck_assert((counts[LEASE_RENEWED] > 0) == (config.renewals > 0) &&
              (counts[LEASE_GIVEN_UP] > 0) == (config.gives_up > 0));
}

START_TEST(a_holder_another_and_a_restart) {
    keeps_promises((struct lease_lock_config){.claims = 3, .duration = 2, .ticks = 3, .stales = 1}, 1000);
}
END_TEST

START_TEST(lost_answers) {
    keeps_promises((struct lease_lock_config){.claims = 2, .duration = 2, .ticks = 3, .losses = 2, .stales = 1}, 1000);
}
END_TEST

START_TEST(renewals) {
    keeps_promises((struct lease_lock_config){.claims = 2, .duration = 2, .ticks = 3, .losses = 1, .renewals = 2},
                   1000);
}
END_TEST

START_TEST(given_up) {
    keeps_promises((struct lease_lock_config){.claims = 3, .duration = 2, .ticks = 1, .losses = 1, .gives_up = 1},
                   1000);
}
END_TEST

START_TEST(renewed_and_given_up) {
    keeps_promises(
        (struct lease_lock_config){.claims = 2, .duration = 2, .ticks = 2, .losses = 1, .renewals = 1, .gives_up = 1},
        1000);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("lease_lock_model");
    TCase *all = tcase_create("every order");
    tcase_add_test(all, a_holder_another_and_a_restart);
    tcase_add_test(all, lost_answers);
    tcase_add_test(all, renewals);
    tcase_add_test(all, given_up);
    tcase_add_test(all, renewed_and_given_up);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

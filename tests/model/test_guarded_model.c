/* A guarded znode, in every order of events: no write of an older holder lands after a newer one has opened, whatever is lost,
 * late, or stale. */
#include "guarded_model.h"
#include "ts_check.h"

#include <inttypes.h>

static void keeps_promises(struct guarded_config config, uint64_t least) {
    struct guarded_result r = guarded_explore(&config, stdout);
    printf("%" PRIu64 " states, %" PRIu64 " steps; told: opened %" PRIu64 ", written %" PRIu64 ", lost %" PRIu64
           ", replaced %" PRIu64 "\n",
           r.states, r.steps, r.opened, r.written, r.lost, r.replaced);
    ck_assert_msg(!r.broken, "%s", r.broken);
    ck_assert(r.complete);
    ck_assert_uint_ge(r.states, least);
    ck_assert(r.opened > 0 && (config.writes == 0 || r.written > 0) && r.lost > 0);
    ck_assert((r.replaced > 0) == (config.aliens > 0));
}

START_TEST(two_holders_without_faults) { keeps_promises((struct guarded_config){.holders = 2, .writes = 2}, 100); }
END_TEST

START_TEST(two_holders_and_lost_answers) {
    keeps_promises((struct guarded_config){.holders = 2, .writes = 1, .losses = 2}, 1000);
}
END_TEST

START_TEST(two_holders_that_write_twice) {
    keeps_promises((struct guarded_config){.holders = 2, .writes = 2, .losses = 1, .exists = 1}, 1000);
}
END_TEST

START_TEST(reads_that_are_stale) {
    keeps_promises((struct guarded_config){.holders = 2, .writes = 1, .losses = 1, .stales = 2}, 1000);
}
END_TEST

START_TEST(three_holders) { keeps_promises((struct guarded_config){.holders = 3, .writes = 1, .exists = 1}, 1000); }
END_TEST

START_TEST(calls_that_give_up) {
    keeps_promises((struct guarded_config){.holders = 2, .writes = 2, .gives_up = 1}, 1000);
}
END_TEST

START_TEST(a_lock_node_that_is_handed_over) {
    keeps_promises((struct guarded_config){.holders = 2, .writes = 1, .losses = 1, .gives_up = 1, .shared = 1}, 1000);
}
END_TEST

START_TEST(somebody_without_a_lock_writes) {
    keeps_promises((struct guarded_config){.holders = 2, .writes = 1, .losses = 1, .aliens = 1, .exists = 1}, 1000);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("guarded_model");
    TCase *all = tcase_create("every order");
    tcase_add_test(all, two_holders_without_faults);
    tcase_add_test(all, two_holders_and_lost_answers);
    tcase_add_test(all, two_holders_that_write_twice);
    tcase_add_test(all, reads_that_are_stale);
    tcase_add_test(all, three_holders);
    tcase_add_test(all, calls_that_give_up);
    tcase_add_test(all, a_lock_node_that_is_handed_over);
    tcase_add_test(all, somebody_without_a_lock_writes);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

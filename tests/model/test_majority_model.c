/* Majorities, in every order of events: no two are valid at one moment, nobody waits in a circle, contention alone makes no round fall
 * short, and a whole that goes on was held all the time. */
#include "majority_model.h"
#include "ts_check.h"

#include <inttypes.h>

static void keeps_promises(struct majority_config config, uint64_t least) {
    uint64_t counts[MAJORITY_COUNTS] = {0};
    struct record_model model = majority_model(&config);
    struct record_result r = record_explore(&model, counts, stdout);
    printf("%" PRIu64 " states, %" PRIu64 " steps; granted %" PRIu64 ", went on %" PRIu64 ", taken again %" PRIu64
           ", lost %" PRIu64 ", passed over %" PRIu64 ", tired %" PRIu64 ", looked around %" PRIu64
           ", fell short %" PRIu64 ", refused %" PRIu64 "\n",
           r.states, r.steps, counts[MAJORITY_TOOK], counts[MAJORITY_WENT_ON], counts[MAJORITY_AGAIN],
           counts[MAJORITY_LOSSES], counts[MAJORITY_PASSED], counts[MAJORITY_TIRED], counts[MAJORITY_LOOKED],
           counts[MAJORITY_SHORT], counts[MAJORITY_REFUSED]);
    ck_assert_msg(!r.broken, "%s", r.broken);
    ck_assert(r.complete);
    ck_assert_uint_ge(r.states, least);
    ck_assert(counts[MAJORITY_TOOK] > 0);
    ck_assert((counts[MAJORITY_AGAIN] > 0) == !config.never_free); /* with two of three left, none may be lost */
    ck_assert(!config.turned || counts[MAJORITY_TIRED] > 0);
    ck_assert(config.turned || config.never_free || counts[MAJORITY_TIRED] == 0);
    ck_assert((counts[MAJORITY_LOOKED] > 0) == (config.looks > 0));
    ck_assert((counts[MAJORITY_REFUSED] > 0) == (config.tries || config.deadlines > 0));
}

START_TEST(two_callers) {
    keeps_promises((struct majority_config){.callers = 2, .cuts = 3, .heals = 2, .rounds = 2}, 100000);
}
END_TEST

START_TEST(three_callers) {
    keeps_promises((struct majority_config){.callers = 3, .cuts = 2, .heals = 1, .rounds = 1}, 100000);
}
END_TEST

/* One of them is cut off from one ensemble or two, from the beginning. */
START_TEST(partly_cut_off) {
    for (uint8_t cut = 1; cut < 7; cut++)
        keeps_promises((struct majority_config){.callers = 2, .cuts = 1, .heals = 1, .rounds = 3, .cut_at_first = cut},
                       1000);
}
END_TEST

/* They do not agree about the order. */
START_TEST(in_different_orders) {
    keeps_promises((struct majority_config){.callers = 2, .cuts = 2, .heals = 1, .rounds = 2, .turned = 1}, 10000);
    keeps_promises((struct majority_config){.callers = 3, .cuts = 1, .rounds = 2, .turned = 1}, 100000);
}
END_TEST

/* A stranger has one of the locks, for ever. Two of three are left. */
START_TEST(one_lock_never_comes_free) {
    for (unsigned never_free = 1; never_free < 8; never_free <<= 1) {
        keeps_promises(
            (struct majority_config){
                .callers = 2, .cuts = 1, .heals = 1, .rounds = 2, .looks = 1, .never_free = (uint8_t)never_free},
            1000);
        keeps_promises(
            (struct majority_config){.callers = 3, .rounds = 1, .looks = 1, .never_free = (uint8_t)never_free}, 1000);
    }
}
END_TEST

START_TEST(one_lock_never_comes_free_and_orders_differ) {
    for (unsigned never_free = 1; never_free < 8; never_free <<= 1)
        keeps_promises((struct majority_config){.callers = 2,
                                                .cuts = 1,
                                                .heals = 1,
                                                .rounds = 2,
                                                .looks = 1,
                                                .turned = 1,
                                                .never_free = (uint8_t)never_free},
                       1000);
}
END_TEST

/* Nobody but the callers has a lock: looking around brings no harm. */
START_TEST(they_look_around) {
    keeps_promises((struct majority_config){.callers = 2, .cuts = 1, .heals = 1, .rounds = 2, .looks = 1}, 1000);
    keeps_promises((struct majority_config){.callers = 3, .rounds = 1, .looks = 1}, 1000);
    keeps_promises((struct majority_config){.callers = 3, .rounds = 1, .looks = 1, .turned = 1}, 1000);
}
END_TEST

START_TEST(tries) {
    keeps_promises((struct majority_config){.callers = 3, .cuts = 1, .heals = 1, .rounds = 2, .tries = 1}, 10000);
}
END_TEST

START_TEST(deadlines) {
    keeps_promises((struct majority_config){.callers = 2, .cuts = 2, .heals = 1, .rounds = 2, .deadlines = 1}, 10000);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("majority_model");
    TCase *all = tcase_create("every order");
    tcase_add_test(all, two_callers);
    tcase_add_test(all, three_callers);
    tcase_add_test(all, partly_cut_off);
    tcase_add_test(all, in_different_orders);
    tcase_add_test(all, one_lock_never_comes_free);
    tcase_add_test(all, one_lock_never_comes_free_and_orders_differ);
    tcase_add_test(all, they_look_around);
    tcase_add_test(all, tries);
    tcase_add_test(all, deadlines);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

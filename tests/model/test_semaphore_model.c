/* The leases of a semaphore, without the queue in front of them: a contender that is not among the first leaves again.
 * There are never more holders than permits, in any order and with every fault. */
#include "model_bench.h"

/* Nobody watches anybody, so a write to a node changes nothing. */
#define LEASE_FAULTS [LOSSES] = 1, [LAPSES] = 1, [EXPIRIES] = 1, [REMOVALS] = 1, [ABANDONS] = 1
#define LEASES .clients = 3, .roles = {MODEL_LEASES, MODEL_LEASES, MODEL_LEASES}

START_TEST(one_permit_any_fault) {
    keeps_promises((struct model_config){LEASES, .permits = 1, .budgets = {MAIN_FAULTS, [FAULTS] = 1}}, 1700000);
}
END_TEST

START_TEST(two_permits_any_fault) {
    keeps_promises((struct model_config){LEASES, .permits = 2, .budgets = {[LOSSES] = 1, [LAPSES] = 1, [FAULTS] = 1}},
                   1000000);
}
END_TEST

START_TEST(one_comes_again) {
    keeps_promises((struct model_config){LEASES, .permits = 1, .budgets = {[CLAIMS] = 1}}, 210000);
}
END_TEST

START_TEST(one_comes_again_for_two_permits) {
    keeps_promises((struct model_config){LEASES, .permits = 2, .budgets = {[CLAIMS] = 1}}, 440000);
}
END_TEST

START_TEST(two_clients_that_come_again) {
    keeps_promises((struct model_config){.clients = 2,
                                         .roles = {MODEL_LEASES, MODEL_LEASES},
                                         .permits = 1,
                                         .budgets = {[LOSSES] = 1, [LAPSES] = 1, [CLAIMS] = 1}},
                   200000);
}
END_TEST

START_TEST(a_million_states_in_all) { explored_in_all(1000000); }
END_TEST

/* ---- the checks themselves */

START_TEST(one_holder_too_many_is_noticed) {
    begin_with((struct model_config){LEASES, .permits = 2});
    believe(0);
    believe(2);
    model_check_state(&m);
    ck_assert_ptr_null(m.broken);
    believe(1);
    model_check_state(&m);
    ck_assert_str_eq(m.broken, "no more holders than permits");
}
END_TEST

/* There is room, and it leaves. */
START_TEST(one_that_is_refused_for_nothing_is_noticed) {
    begin_with((struct model_config){LEASES, .permits = 2});
    be_granted(0);
    struct ts_fake_reply list = {.kind = PDK__OP_LIST, .count = 1, .children = {s.fake.tree.nodes[0].name}};
    model_check_blocked(&m, 0, &s.clients[0].entries[0], &list);
    ck_assert_str_eq(m.broken, "nobody waits without need");
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("semaphore_model");
    TCase *all = tcase_create("every interleaving"), *checks = tcase_create("the checks");
    tcase_add_test(all, one_permit_any_fault);
    tcase_add_test(all, two_permits_any_fault);
    tcase_add_test(all, one_comes_again);
    tcase_add_test(all, one_comes_again_for_two_permits);
    tcase_add_test(all, two_clients_that_come_again);
    tcase_add_test(all, a_million_states_in_all);
    tcase_add_test(checks, one_holder_too_many_is_noticed);
    tcase_add_test(checks, one_that_is_refused_for_nothing_is_noticed);
    suite_add_tcase(suite, all);
    suite_add_tcase(suite, checks);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

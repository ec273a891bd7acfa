/* The leases of a semaphore, without the queue in front of them: a contender that is not among the first leaves again.
 * There are never more holders than permits, in any order and with every fault. */
#include "model_bench.h"

/* Nobody watches anybody, so a write to a node changes nothing. */
#define LEASE_FAULTS [LOSSES] = 1, [LAPSES] = 1, [EXPIRIES] = 1, [REMOVALS] = 1, [ABANDONS] = 1
#define LEASES .clients = 3, .roles = {MODEL_LEASES, MODEL_LEASES, MODEL_LEASES}

/* test_transitions walks two clients. */
static const struct model_row rows[] = {
    {"one permit any fault", 1700000, {LEASES, .permits = 1, .budgets = {MAIN_FAULTS, [FAULTS] = 1}}},
    {"two permits any fault", 1000000, {LEASES, .permits = 2, .budgets = {[LOSSES] = 1, [LAPSES] = 1, [FAULTS] = 1}}},
    {"one comes again", 210000, {LEASES, .permits = 1, .budgets = {[CLAIMS] = 1}}},
    {"one comes again for two permits", 440000, {LEASES, .permits = 2, .budgets = {[CLAIMS] = 1}}},
};

START_TEST(every_interleaving) { keeps_promises(&rows[_i]); }
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

int main(void) {
    Suite *suite = suite_create("semaphore_model");
    TCase *all = tcase_create("every interleaving"), *checks = tcase_create("the checks");
    tcase_add_loop_test(all, every_interleaving, 0, sizeof rows / sizeof rows[0]);
    tcase_add_test(all, a_million_states_in_all);
    tcase_add_test(checks, one_holder_too_many_is_noticed);
    tcase_add_test(checks, one_that_is_refused_for_nothing_is_noticed);
    suite_add_tcase(suite, all);
    suite_add_tcase(suite, checks);
    return ts_run_suite(suite);
}

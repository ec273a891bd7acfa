/* The lock: every interleaving of two and three clients and their threads with every fault, as many as there is time for in an
 * everyday run; and that the checks which no broken core reaches first can fail as well (for the others see mutants). */
#include "model_bench.h"

/* test_transitions walks more. */
static const struct model_row rows[] = {
    {"two clients any two faults",
     1500000,
     {.clients = 2,
      .threads = {2},
      .handovers = 1,
      .budgets = {MAIN_FAULTS, [REFUSALS] = 1, [RENEWALS] = 1, [FAULTS] = 2}}},
    {"three clients any fault", 1500000, {.clients = 3, .budgets = {MAIN_FAULTS, [FAULTS] = 1}}},
    {"three clients many threads", 50000, {.clients = 3, .threads = {4, 2}, .handovers = 2}},
    {"two clients and threads that come later",
     100000,
     {.clients = 2, .handovers = 1, .budgets = {[CLAIMS] = 2, [LOSSES] = 1, [LAPSES] = 1, [FAULTS] = 1}}},
    {"one pauses twice", 100000, {.clients = 2, .threads = {3}, .handovers = 1, .budgets = {[LAPSES] = 2}}},
    {"one pauses and its session expires",
     100000,
     {.clients = 2, .threads = {2, 2}, .handovers = 1, .budgets = {[LAPSES] = 1, [EXPIRIES] = 1, [RENEWALS] = 1}}},
    {"two clients two losses", 40000, {.clients = 2, .budgets = {[LOSSES] = 2, [CANCELS] = 1}}},
    /* The node with the last number of all is given up. */
    {"two clients at the end of the counter",
     30000,
     {.clients = 2,
      .threads = {2},
      .exact = true,
      .first_sequence = INT32_MAX - 1,
      .budgets = {[LOSSES] = 1, [CLAIMS] = 1}}},
    /* Beyond the contract, which asks for a mark of its own for every contender. */
    {"two clients that give sessions up",
     30000,
     {.clients = 2, .same_mark = true, .budgets = {[LOSSES] = 1, [ABANDONS] = 1}}},
    {"one waits and one only tries",
     20000,
     {.clients = 2,
      .threads = {2},
      .handovers = 1,
      .tries = 1,
      .budgets = {[LOSSES] = 1, [LAPSES] = 1, [CLAIMS] = 1, [FAULTS] = 1}}},
    {"two clients and a server that shows what is gone",
     10000,
     {.clients = 2,
      .threads = {2},
      .budgets = {[GHOSTS] = 1, [LOSSES] = 1, [REFUSALS] = 1, [REMOVALS] = 1, [FAULTS] = 2}}},
    /* Numbers count, so there are more states of everything. */
    {"two clients that keep mirrors",
     400000,
     {.clients = 2,
      .threads = {2},
      .mirrors = true,
      .budgets = {MAIN_FAULTS, [REFUSALS] = 1, [VANISHES] = 1, [FAULTS] = 1}}},
    {"two clients that keep mirrors and come again",
     1000000,
     {.clients = 2, .mirrors = true, .budgets = {[CLAIMS] = 2, [VANISHES] = 1, [LOSSES] = 1, [FAULTS] = 1}}},
    {"two clients that keep mirrors and two faults",
     100000,
     {.clients = 2, .threads = {2}, .mirrors = true, .budgets = {[LOSSES] = 1, [VANISHES] = 1, [FAULTS] = 2}}},
    {"three clients that keep mirrors", 50000, {.clients = 3, .threads = {2}, .mirrors = true}},
    {"two clients whose nodes linger",
     1000000,
     {.clients = 2,
      .handovers = 1,
      .lingers = true,
      .budgets =
          {[CLAIMS] = 1, [LOSSES] = 1, [LAPSES] = 1, [EXPIRIES] = 1, [CANCELS] = 1, [REMOVALS] = 1, [FAULTS] = 1}}},
    {"two clients whose nodes linger and a server that refuses",
     100000,
     {.clients = 2, .handovers = 1, .lingers = true, .budgets = {[CLAIMS] = 1, [REFUSALS] = 1}}},
    {"three clients and a server that shows what is gone",
     10000,
     {.clients = 3, .budgets = {[GHOSTS] = 1, [CANCELS] = 1, [FAULTS] = 2}}},
};

START_TEST(every_interleaving) { keeps_promises(&rows[_i]); }
END_TEST

START_TEST(two_million_states_in_all) { explored_in_all(2000000); }
END_TEST

/* ---- the checks themselves */

static void begin(int32_t threads) {
    begin_with((struct model_config){.clients = 2, .threads = {threads}, .handovers = 1});
}

START_TEST(two_believers_are_noticed) {
    begin(1);
    believe(0);
    believe(1);
    model_check_state(&m);
    ck_assert_str_eq(m.broken, "mutual exclusion");
}
END_TEST

START_TEST(a_foreign_deletion_is_noticed) {
    begin(1);
    model_check_effect(&m, 0, &(struct ts_fake_effect){.deleted = 1, .nodes = {{.session = 1}}}, true);
    ck_assert_str_eq(m.broken, "only own nodes deleted");
}
END_TEST

START_TEST(an_older_token_is_noticed) {
    begin(1);
    go(CONNECT, 0);
    go(EXECUTE, 0);
    go(EXECUTE, 0);
    go(DELIVER, 0);
    s.last_token = 1000;
    model_apply(&m, &s, search_act(DELIVER, 0, 0));
    ck_assert_str_eq(m.broken, "tokens increase");
}
END_TEST

START_TEST(a_thread_that_is_passed_over_is_noticed) {
    begin(3);
    be_granted(0);
    int32_t second = s.clients[0].queue[0];
    s.clients[0].queue[0] = s.clients[0].queue[1];
    s.clients[0].queue[1] = second;
    go(RECEIVE, 0);
    model_apply(&m, &s, search_act(RELEASE, 0, 0));
    ck_assert_str_eq(m.broken, "threads are served in their order");
}
END_TEST

START_TEST(a_lapse_counts_at_once_and_is_found_on_waking) {
    begin(2);
    be_granted(0);
    s.budgets[LAPSES] = s.budgets[FAULTS] = 1;
    go(LAPSE, 0);
    ck_assert(!s.clients[0].entries[0].grant.valid); /* a check says so now */
    ck_assert_int_eq(s.clients[0].entries[0].c.phase, PDK__HELD);
    ck_assert_int_eq(s.clients[0].queue[0], 1);
    go(RECEIVE, 0); /* too late: back to the head of the queue, in front of a new entry */
    ck_assert_int_lt(model_grant_of_queue(&s.clients[0]), 0);
    ck_assert_int_eq(s.clients[0].queued, 2);
    ck_assert_int_eq(s.clients[0].queue[0], 0);
    ck_assert_int_eq(s.clients[0].entries_count, 2);
    ck_assert(s.clients[0].entries[0].c.leaving);
}
END_TEST

START_TEST(a_run_that_shows_nothing_fails) {
    struct model_result r = model_explore(&(struct model_config){.clients = 2, .max_states = 10}, stdout);
    ck_assert_str_eq(r.broken, "not vacuous");
    ck_assert(!r.search.complete);
}
END_TEST

START_TEST(a_state_survives_its_coding) {
    struct model_state back;
    begin(2);
    be_granted(0);
    check_coding(&back);
    ck_assert_str_eq(back.clients[0].entries[0].c.own, s.clients[0].entries[0].c.own);
    ck_assert_int_eq(back.clients[0].entries[0].c.phase, PDK__HELD);
    ck_assert_int_eq(back.clients[0].queued, 1);
}
END_TEST

/* A state does not depend on how many nodes and threads there were before. */
START_TEST(only_the_order_of_numbers_counts) {
    uint8_t once[SEARCH_PACKED], again[SEARCH_PACKED];
    begin(1);
    be_granted(0);
    size_t size = model_pack(&m, &s, once);
    model_init(&m, &(struct model_config){.clients = 2, .first_sequence = 0});
    model_begin(&m, &s);
    s.fake.tree.next_sequence = 7;
    s.fake.tree.zxid = 20;
    s.clients[0].queue[0] = 3;
    be_granted(0);
    m.config.handovers = 1;
    ck_assert_uint_eq(model_pack(&m, &s, again), size);
    ck_assert_mem_eq(once, again, size);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("model");
    TCase *all = tcase_create("every interleaving"), *checks = tcase_create("the checks");
    tcase_add_loop_test(all, every_interleaving, 0, sizeof rows / sizeof rows[0]);
    tcase_add_test(all, two_million_states_in_all);
    tcase_add_test(checks, two_believers_are_noticed);
    tcase_add_test(checks, a_foreign_deletion_is_noticed);
    tcase_add_test(checks, an_older_token_is_noticed);
    tcase_add_test(checks, a_thread_that_is_passed_over_is_noticed);
    tcase_add_test(checks, a_lapse_counts_at_once_and_is_found_on_waking);
    tcase_add_test(checks, a_run_that_shows_nothing_fails);
    tcase_add_test(checks, a_state_survives_its_coding);
    tcase_add_test(checks, only_the_order_of_numbers_counts);
    suite_add_tcase(suite, all);
    suite_add_tcase(suite, checks);
    return ts_run_suite(suite);
}

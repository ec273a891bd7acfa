/* The read/write lock: every interleaving of readers and writers, and of a writer that downgrades, with every fault. */
#include "model_bench.h"

#define WRITER_AND_READER .clients = 2, .roles = {MODEL_WRITES, MODEL_READS}
#define TWO_WRITERS .clients = 2, .roles = {MODEL_WRITES, MODEL_WRITES}
#define WRITER_AND_READERS .clients = 3, .roles = {MODEL_WRITES, MODEL_READS, MODEL_READS}

static const struct model_row rows[] = {
    {"a writer and two readers any fault",
     500000,
     {WRITER_AND_READERS, .budgets = {[LOSSES] = 1, [LAPSES] = 1, [FAULTS] = 1}}},
    {"two writers and a reader",
     28000,
     {.clients = 3, .roles = {MODEL_WRITES, MODEL_READS, MODEL_WRITES}, .threads = {2}, .handovers = 1}},
    {"a writer and a reader any two faults", 450000, {WRITER_AND_READER, .budgets = {MAIN_FAULTS, [FAULTS] = 2}}},
    {"readers are let in", 550000, {WRITER_AND_READERS, .budgets = {[DOWNGRADES] = 1}}},
    {"a downgrade any fault",
     1900000,
     {WRITER_AND_READER, .threads = {2}, .handovers = 1,
      .budgets = {MAIN_FAULTS, [REFUSALS] = 1, [RENEWALS] = 1, [SQUATS] = 1, [DOWNGRADES] = 1, [FAULTS] = 1}}},
    {"a downgrade before a writer any fault",
     380000,
     {TWO_WRITERS, .budgets = {MAIN_FAULTS, [DOWNGRADES] = 1, [FAULTS] = 1}}},
    /* The second writer of this process is handed the node of the first, which has begun to downgrade. It downgrades too. */
    {"two downgrades of one process",
     50000,
     {TWO_WRITERS, .threads = {2}, .handovers = 1, .budgets = {[DOWNGRADES] = 2}}},
    {"a downgrade while the nodes are deleted", 400000, {TWO_WRITERS, .budgets = {[REMOVALS] = 2, [DOWNGRADES] = 1}}},
    {"a downgrade and its directory vanishes",
     220000,
     {WRITER_AND_READER, .exact = true, .budgets = {[REMOVALS] = 1, [VANISHES] = 1, [DOWNGRADES] = 1}}},
    {"a downgrade at the end of the counter",
     50000,
     {WRITER_AND_READER, .exact = true, .first_sequence = INT32_MAX - 2, .budgets = {[CLAIMS] = 1, [DOWNGRADES] = 1}}},
};

START_TEST(every_interleaving) { keeps_promises(&rows[_i]); }
END_TEST

START_TEST(two_million_states_in_all) { explored_in_all(2000000); }
END_TEST

/* ---- the checks themselves */

START_TEST(readers_may_hold_together_and_nobody_beside_a_writer) {
    begin_with((struct model_config){WRITER_AND_READERS});
    believe(1);
    believe(2);
    model_check_state(&m);
    ck_assert_ptr_null(m.broken);
    believe(0);
    model_check_state(&m);
    ck_assert_str_eq(m.broken, "mutual exclusion");
}
END_TEST

START_TEST(who_has_downgraded_only_reads) {
    begin_with((struct model_config){WRITER_AND_READER});
    believe(0);
    believe(1);
    s.clients[0].entries[0].grant.downgraded = true;
    model_check_state(&m);
    ck_assert_ptr_null(m.broken);
    begin_with((struct model_config){TWO_WRITERS});
    believe(0);
    believe(1);
    s.clients[0].entries[0].grant.downgraded = true;
    model_check_state(&m);
    ck_assert_str_eq(m.broken, "mutual exclusion");
}
END_TEST

/* Tokens of other readers may be larger than its own. */
START_TEST(a_readers_token_is_above_the_last_writers) {
    begin_with((struct model_config){WRITER_AND_READER});
    s.last_token = 1000;
    be_granted(1);
    begin_with((struct model_config){WRITER_AND_READER});
    go(CONNECT, 1);
    for (int i = 0; i < 3; i++)
        go(i < 2 ? EXECUTE : DELIVER, 1);
    s.last_token = s.last_exclusive = 1000;
    model_apply(&m, &s, search_act(DELIVER, 1, 0));
    ck_assert_str_eq(m.broken, "tokens increase");
}
END_TEST

START_TEST(what_was_lost_is_not_taken_over) {
    begin_with((struct model_config){WRITER_AND_READER});
    be_granted(0);
    model_check_taken_over(&m, 0, 0);
    ck_assert_ptr_null(m.broken);
    s.clients[0].entries[0].grant.valid = false;
    model_check_taken_over(&m, 0, 0);
    ck_assert_str_eq(m.broken, "a lost grant is not taken over");
}
END_TEST

/* The grant moves from one node to the other, and the queue is free. */
START_TEST(a_downgrade_step_by_step) {
    struct model_state back;
    begin_with((struct model_config){WRITER_AND_READER, .budgets = {[DOWNGRADES] = 1}});
    const struct model_client *k = &s.clients[0];
    be_granted(0);
    go(RECEIVE, 0);
    go(DOWNGRADE, 0);
    ck_assert_int_eq(k->entries[1].owner, MODEL_EXCHANGE);
    ck_assert(k->entries[1].c.named);
    check_coding(&back);
    ck_assert(back.clients[0].entries[1].c.named);
    ck_assert(ts_fake_name_equal(back.clients[0].entries[1].exchanged, k->entries[1].exchanged));
    ask_two(0);
    ck_assert_int_eq(k->entries[1].owner, MODEL_GRANT);
    ck_assert_int_eq(k->entries[1].grant.hold, MODEL_TAKEN);
    ck_assert(k->entries[1].grant.valid);
    ck_assert_int_eq(k->entries[0].owner, MODEL_REAPER);
    ck_assert_int_eq(s.fake.tree.count, 2);
    go(EXECUTE, 0);
    ck_assert_int_eq(s.fake.tree.count, 1);
    ck_assert_int_eq(s.fake.tree.nodes[0].name.sequence, 0);
    ck_assert(model_is_shared(&m, s.fake.tree.nodes[0].name.mark));
    check_coding(&back);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("rwlock_model");
    TCase *all = tcase_create("every interleaving"), *checks = tcase_create("the checks");
    tcase_add_loop_test(all, every_interleaving, 0, sizeof rows / sizeof rows[0]);
    tcase_add_test(all, two_million_states_in_all);
    tcase_add_test(checks, readers_may_hold_together_and_nobody_beside_a_writer);
    tcase_add_test(checks, who_has_downgraded_only_reads);
    tcase_add_test(checks, a_readers_token_is_above_the_last_writers);
    tcase_add_test(checks, what_was_lost_is_not_taken_over);
    tcase_add_test(checks, a_downgrade_step_by_step);
    suite_add_tcase(suite, all);
    suite_add_tcase(suite, checks);
    return ts_run_suite(suite);
}

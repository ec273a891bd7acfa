/* Every interleaving of two and three clients with every fault, a few at a time, within the time of an everyday run; and that
 * the checks which no broken core reaches first can fail as well (for the others see mutants). */
#include "model.h"
#include "ts_check.h"

#include <stdlib.h>
#include <string.h>

/* How many states there is time for; 0: all of them. */
#if defined(__SANITIZE_THREAD__)
#define SLOW 30000
#elif defined(__SANITIZE_ADDRESS__)
#define SLOW 60000
#else
#define SLOW 0
#endif

/* Explore all of it, or under a sanitizer as much as is left in the time. */
static void keeps_promises(struct model_config config, uint64_t at_least) {
    config.max_states = SLOW;
    struct model_result r = model_explore(&config, stdout);
    printf("        %llu states, %llu transitions, depth %u, %.1f s%s\n", (unsigned long long)r.states,
           (unsigned long long)r.transitions, r.depth, r.seconds, r.complete ? "" : ", not all");
    if (SLOW && r.broken && strcmp(r.broken, "not vacuous") == 0)
        return; /* breadth first: what is cut off may be what was to be seen */
    ck_assert_msg(!r.broken, "%s: %s", r.broken, r.detail);
    ck_assert(r.complete || SLOW);
    ck_assert_uint_ge(r.states, SLOW ? 10000 : at_least);
}

START_TEST(two_clients_all_faults) {
    keeps_promises(
        (struct model_config){.clients = 2,
                              .budgets = {[LOSSES] = 1, [LAPSES] = 1, [EXPIRIES] = 1, [CANCELS] = 1, [RESTARTS] = 1}},
        500000);
}
END_TEST

START_TEST(two_clients_two_losses) {
    keeps_promises((struct model_config){.clients = 2, .budgets = {[LOSSES] = 2, [CANCELS] = 1}}, 40000);
}
END_TEST

START_TEST(two_clients_and_an_admin) {
    keeps_promises(
        (struct model_config){.clients = 2, .budgets = {[LOSSES] = 1, [CANCELS] = 1, [REMOVALS] = 1, [RENEWALS] = 1}},
        200000);
}
END_TEST

START_TEST(two_clients_and_refusals) {
    keeps_promises((struct model_config){.clients = 2,
                                         .no_directory = true,
                                         .budgets = {[LOSSES] = 1, [REFUSALS] = 1, [CANCELS] = 1, [LAPSES] = 1}},
                   100000);
}
END_TEST

START_TEST(two_clients_and_a_vanishing_directory) {
    keeps_promises((struct model_config){.clients = 2,
                                         .no_directory = true,
                                         .exact = true,
                                         .budgets = {[LOSSES] = 1, [REMOVALS] = 1, [VANISHES] = 1}},
                   50000);
}
END_TEST

START_TEST(two_clients_across_the_wrap) {
    keeps_promises(
        (struct model_config){
            .clients = 2, .exact = true, .first_sequence = INT32_MAX - 1, .budgets = {[LOSSES] = 1, [RESTARTS] = 1}},
        10000);
}
END_TEST

/* Beyond the contract, which asks for a mark of its own for every contender. */
START_TEST(two_clients_that_give_sessions_up) {
    keeps_promises((struct model_config){.clients = 2,
                                         .same_mark = true,
                                         .budgets = {[LOSSES] = 1, [LAPSES] = 1, [ABANDONS] = 1, [RESTARTS] = 1}},
                   50000);
}
END_TEST

START_TEST(one_waits_and_one_only_tries) {
    keeps_promises(
        (struct model_config){.clients = 2, .tries = 1, .budgets = {[LOSSES] = 1, [LAPSES] = 1, [RESTARTS] = 1}},
        40000);
}
END_TEST

START_TEST(three_clients_one_loss) {
    keeps_promises((struct model_config){.clients = 3, .budgets = {[LOSSES] = 1}}, 100000);
}
END_TEST

START_TEST(three_clients_one_expiry) {
    keeps_promises((struct model_config){.clients = 3, .budgets = {[LAPSES] = 1, [EXPIRIES] = 1}}, 200000);
}
END_TEST

START_TEST(three_clients_one_cancel_one_touch) {
    keeps_promises((struct model_config){.clients = 3, .budgets = {[CANCELS] = 1, [TOUCHES] = 1}}, 100000);
}
END_TEST

/* ---- the checks themselves */

static struct model m;
static struct model_state s;

static void begin(void) {
    model_init(&m, &(struct model_config){.clients = 2});
    model_begin(&m, &s);
}

START_TEST(two_believers_are_noticed) {
    begin();
    s.clients[0].c.phase = s.clients[1].c.phase = PDK__HELD;
    s.clients[0].lease = s.clients[1].lease = true;
    model_check_state(&m);
    ck_assert_str_eq(m.broken, "mutual exclusion");
}
END_TEST

START_TEST(a_foreign_deletion_is_noticed) {
    begin();
    model_check_effect(&m, 0, &(struct ts_fake_effect){.deleted = 1, .nodes = {{.session = 1}}}, true);
    ck_assert_str_eq(m.broken, "only own nodes deleted");
}
END_TEST

START_TEST(an_older_token_is_noticed) {
    begin();
    for (int i = 0; i < 2; i++) { /* connect, create, hear of it */
        model_apply(&m, &s, model_act(i == 0 ? CONNECT : EXECUTE, 0));
        ck_assert_ptr_null(m.broken);
    }
    model_apply(&m, &s, model_act(EXECUTE, 0));
    model_apply(&m, &s, model_act(DELIVER, 0));
    s.last_token = 1000;
    model_apply(&m, &s, model_act(DELIVER, 0));
    ck_assert_str_eq(m.broken, "tokens increase");
}
END_TEST

START_TEST(a_run_that_shows_nothing_fails) {
    struct model_result r = model_explore(&(struct model_config){.clients = 2, .max_states = 10}, stdout);
    ck_assert_str_eq(r.broken, "not vacuous");
    ck_assert(!r.complete);
}
END_TEST

START_TEST(a_state_survives_its_coding) {
    uint8_t once[MODEL_PACKED], again[MODEL_PACKED];
    struct model_state back;
    begin();
    for (int i = 0; i < 4; i++)
        model_apply(&m, &s, model_act(i == 0 ? CONNECT : i == 3 ? DELIVER : EXECUTE, 1));
    model_normalise(&m, &s);
    size_t size = model_pack(&m, &s, once);
    model_unpack(&m, &back, once, size);
    ck_assert_uint_eq(model_pack(&m, &back, again), size);
    ck_assert_mem_eq(once, again, size);
    ck_assert_str_eq(back.clients[1].c.own, s.clients[1].c.own);
    ck_assert_int_eq(back.clients[1].c.phase, PDK__IN);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("model");
    TCase *all = tcase_create("every interleaving"), *checks = tcase_create("the checks");
    tcase_add_test(all, two_clients_all_faults);
    tcase_add_test(all, two_clients_two_losses);
    tcase_add_test(all, two_clients_and_an_admin);
    tcase_add_test(all, two_clients_and_refusals);
    tcase_add_test(all, two_clients_and_a_vanishing_directory);
    tcase_add_test(all, two_clients_across_the_wrap);
    tcase_add_test(all, two_clients_that_give_sessions_up);
    tcase_add_test(all, one_waits_and_one_only_tries);
    tcase_add_test(all, three_clients_one_loss);
    tcase_add_test(all, three_clients_one_expiry);
    tcase_add_test(all, three_clients_one_cancel_one_touch);
    tcase_add_test(checks, two_believers_are_noticed);
    tcase_add_test(checks, a_foreign_deletion_is_noticed);
    tcase_add_test(checks, an_older_token_is_noticed);
    tcase_add_test(checks, a_run_that_shows_nothing_fails);
    tcase_add_test(checks, a_state_survives_its_coding);
    suite_add_tcase(suite, all);
    suite_add_tcase(suite, checks);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

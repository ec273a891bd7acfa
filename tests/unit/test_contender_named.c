/* A contender whose node is named, not numbered by the server. It takes over the position in the queue of an earlier
 * node of ours (a writer that becomes a reader). Either it gets that position, or it ends and leaves nothing. */
#include "contender_bench.h"

#define EARLIER "_c_was-lock-0000000005"
#define OTHER "a-lock-0000000006"

static void setup_named(void) {
    setup();
    c.named = true;
}

/* The answer to a list, for a contender that takes over from EARLIER. */
static enum pdk__command exchange(const char *first, const char *second, const char *third, bool fresh) {
    const char *names[] = {first, second, third};
    struct pdk__view view;
    size_t count = !first ? 0 : !second ? 1 : !third ? 2 : 3;
    pdk__view_make(&view, names, count, &(struct pdk__viewer){MARK, c.own, EARLIER, {pdk__blocks_always, 0}});
    return pdk__contender_step(&c, &(struct pdk__event){.type = PDK__LISTED, .view = &view, .fresh = fresh});
}

/* The name is taken, and the contender looks for its own node. */
static void be_taken(void) {
    ck_assert_int_eq(answer(PDK__CREATED, PDK__NODE_EXISTS), PDK__DO_NOTHING);
    ck_assert_int_eq(exchange(EARLIER, OWN, OTHER, true), PDK__DO_PAUSE); /* made before the barrier: no proof */
    ck_assert_int_eq(answer(PDK__PAUSED, PDK__OK), PDK__DO_PROVE);
    ck_assert_int_eq(c.phase, PDK__UNSURE);
    ck_assert_int_eq(c.failure, PDK_OK);
}

static void check_ends_without_a_grant(enum pdk__command command) {
    ck_assert_int_eq(command, PDK__DO_DELETE);
    ck_assert(c.leaving);
    ck_assert_int_eq(c.failure, PDK_OK);
    ck_assert_int_ne(c.phase, PDK__HELD);
    ck_assert_int_eq(answer(PDK__DELETED, PDK__OK), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__GONE);
}

START_TEST(it_takes_over) {
    enter();
    answer(PDK__CREATED, PDK__OK);
    ck_assert_int_eq(exchange(OTHER, OWN, EARLIER, true), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__HELD);
    ck_assert_int_eq(c.token, 42);
    ck_assert_int_eq(c.ahead, 0);
}
END_TEST

START_TEST(it_waits_for_the_lease_first) {
    enter();
    answer(PDK__CREATED, PDK__OK);
    ck_assert_int_eq(exchange(EARLIER, OWN, NULL, false), PDK__DO_NOTHING);
    ck_assert(pdk__contender_is_next(&c));
    ck_assert_int_eq(tell(PDK__FRESH), PDK__DO_LIST);
    check_ends_without_a_grant(exchange(OWN, OTHER, NULL, true)); /* meanwhile the earlier node went */
}
END_TEST

START_TEST(a_position_whose_node_is_gone_is_not_taken_over) {
    enter();
    answer(PDK__CREATED, PDK__OK);
    check_ends_without_a_grant(exchange(OWN, OTHER, NULL, true));
    setup_named();
    enter();
    answer(PDK__CREATED, PDK__OK);
    check_ends_without_a_grant(exchange(OWN, NULL, NULL, true)); /* also when nobody else queues */
    setup_named();
    enter();
    answer(PDK__CREATED, PDK__OK);
    check_ends_without_a_grant(exchange(OWN, NULL, NULL, false));
}
END_TEST

/* Its directory went, with the earlier node in it, and another one was made. */
START_TEST(in_a_new_directory_the_node_is_gone_too) {
    enter();
    answer(PDK__CREATED, PDK__NO_NODE);
    ck_assert_int_eq(answer(PDK__LISTED, PDK__NO_NODE), PDK__DO_MKDIR);
    ck_assert_int_eq(answer(PDK__MADE_DIR, PDK__OK), PDK__DO_ENTER);
    answer(PDK__CREATED, PDK__OK);
    check_ends_without_a_grant(exchange(OWN, NULL, NULL, true));
}
END_TEST

/* ---- the name is taken: by ourselves, of a create whose answer was lost */

START_TEST(a_name_that_is_taken_is_ours) {
    enter();
    be_taken();
    answer(PDK__PROVED, PDK__OK);
    ck_assert_int_eq(exchange(EARLIER, OWN, OTHER, true), PDK__DO_STAT);
    ck_assert_int_eq(stat_own(PDK__OK, true), PDK__DO_LIST);
    ck_assert_int_eq(exchange(EARLIER, OWN, OTHER, true), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__HELD);
    ck_assert_int_eq(c.token, 43);
}
END_TEST

/* The barrier says that it was not executed; the second create finds that it was. */
START_TEST(a_lost_create_and_then_a_taken_name) {
    be_unsure();
    answer(PDK__PROVED, PDK__OK);
    ck_assert_int_eq(exchange(EARLIER, OTHER, NULL, true), PDK__DO_ENTER);
    be_taken();
    answer(PDK__PROVED, PDK__OK);
    ck_assert_int_eq(exchange(EARLIER, OWN, OTHER, true), PDK__DO_STAT);
    stat_own(PDK__OK, true);
    ck_assert_int_eq(exchange(EARLIER, OWN, OTHER, true), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__HELD);
}
END_TEST

START_TEST(a_name_that_was_taken_is_free_again) {
    enter();
    be_taken();
    answer(PDK__PROVED, PDK__OK);
    ck_assert_int_eq(exchange(EARLIER, OTHER, NULL, true), PDK__DO_ENTER);
    ck_assert(c.named); /* for good: the second try is of the same name */
    answer(PDK__CREATED, PDK__OK);
    exchange(EARLIER, OWN, OTHER, true);
    ck_assert_int_eq(c.phase, PDK__HELD);
}
END_TEST

START_TEST(a_taken_name_may_be_anothers) {
    enter();
    be_taken();
    answer(PDK__PROVED, PDK__OK);
    exchange(EARLIER, OWN, OTHER, true);
    ck_assert_int_eq(stat_own(PDK__OK, false), PDK__DO_ENTER); /* of an older session, dying with it */
    ck_assert_str_eq(c.own, "");
    ck_assert_int_eq(c.failure, PDK_OK);
}
END_TEST

START_TEST(found_again_after_the_exchanged_node_is_gone) {
    be_unsure();
    answer(PDK__PROVED, PDK__OK);
    ck_assert_int_eq(exchange(OWN, OTHER, NULL, true),
                     PDK__DO_STAT); /* found first, checked as a contender in the queue */
    ck_assert_int_eq(stat_own(PDK__OK, true), PDK__DO_LIST);
    check_ends_without_a_grant(exchange(OWN, OTHER, NULL, true));
}
END_TEST

/* ---- the end in between */

START_TEST(given_up_while_the_name_is_taken) {
    enter();
    tell(PDK__LEAVE);
    be_taken();
    answer(PDK__PROVED, PDK__OK);
    ck_assert_int_eq(exchange(EARLIER, OWN, OTHER, true), PDK__DO_STAT);
    ck_assert_int_eq(stat_own(PDK__OK, true), PDK__DO_DELETE);
    answer(PDK__DELETED, PDK__OK);
    ck_assert_int_eq(c.phase, PDK__GONE);
}
END_TEST

START_TEST(given_up_before_it_took_over) {
    enter();
    tell(PDK__LEAVE);
    answer(PDK__CREATED, PDK__OK);
    ck_assert_int_eq(exchange(EARLIER, OWN, NULL, true), PDK__DO_DELETE);
    ck_assert_int_eq(c.phase, PDK__IN);
}
END_TEST

START_TEST(the_session_ends_in_between) {
    void (*const states[])(void) = {enter, be_unsure, be_taken};
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        setup_named();
        if (states[i] == be_taken)
            enter();
        states[i]();
        ck_assert_int_eq(tell(PDK__EXPIRED), PDK__DO_NOTHING);
        ck_assert_int_eq(c.phase, PDK__GONE);
        ck_assert_int_eq(c.failure, PDK_OK);
        ck_assert_int_eq(tell(PDK__LINK_UP), PDK__DO_NOTHING);
        ck_assert_int_eq(answer(PDK__CREATED, PDK__NODE_EXISTS), PDK__DO_NOTHING);
        ck_assert_int_eq(c.phase, PDK__GONE);
    }
}
END_TEST

START_TEST(a_refusal_is_told_as_one) {
    enter();
    answer(PDK__CREATED, PDK__NOT_ALLOWED);
    ck_assert_int_eq(exchange(EARLIER, NULL, NULL, true), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__GONE);
    ck_assert_int_eq(c.failure, PDK_NO_PERMISSION);
}
END_TEST

/* Somebody deleted the new node before it took over: the earlier one is still there, so it is made again. */
START_TEST(deleted_before_it_took_over) {
    enter();
    answer(PDK__CREATED, PDK__OK);
    ck_assert_int_eq(exchange(EARLIER, OTHER, NULL, true), PDK__DO_ENTER);
    answer(PDK__CREATED, PDK__OK);
    exchange(EARLIER, OWN, OTHER, true);
    ck_assert_int_eq(c.phase, PDK__HELD);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("contender_named");
    TCase *cases = tcase_create("contender_named");
    tcase_add_checked_fixture(cases, setup_named, NULL);
    tcase_add_test(cases, it_takes_over);
    tcase_add_test(cases, it_waits_for_the_lease_first);
    tcase_add_test(cases, a_position_whose_node_is_gone_is_not_taken_over);
    tcase_add_test(cases, in_a_new_directory_the_node_is_gone_too);
    tcase_add_test(cases, a_name_that_is_taken_is_ours);
    tcase_add_test(cases, a_lost_create_and_then_a_taken_name);
    tcase_add_test(cases, a_name_that_was_taken_is_free_again);
    tcase_add_test(cases, a_taken_name_may_be_anothers);
    tcase_add_test(cases, found_again_after_the_exchanged_node_is_gone);
    tcase_add_test(cases, given_up_while_the_name_is_taken);
    tcase_add_test(cases, given_up_before_it_took_over);
    tcase_add_test(cases, the_session_ends_in_between);
    tcase_add_test(cases, a_refusal_is_told_as_one);
    tcase_add_test(cases, deleted_before_it_took_over);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

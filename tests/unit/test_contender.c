/* The contender, one transition at a time: the ordinary course, recovery, leaving. The model has the interleavings
 * (tests/model). */
#include "contender_bench.h"

/* A blocker that no session owns: the list is read again, which does not show it as a contender any more. */
START_TEST(a_blocker_that_nobody_owns) {
    setup();
    get_in();
    ck_assert_int_eq(list("a-lock-0000000001", OWN, true), PDK__DO_WATCH);
    ck_assert_int_eq(pdk__contender_step(&c, &(struct pdk__event){.type = PDK__WATCHED, .unowned = true}),
                     PDK__DO_LIST);
    ck_assert(!c.watching);
    ck_assert_int_eq(list(OWN, NULL, true), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__HELD);
}
END_TEST

START_TEST(nothing_is_done_unasked_or_unconnected) {
    ck_assert_int_eq(tell(PDK__LINK_UP), PDK__DO_NOTHING);
    ck_assert_int_eq(tell(PDK__LINK_DOWN), PDK__DO_NOTHING);
    ck_assert_int_eq(tell(PDK__ENTER), PDK__DO_NOTHING);
    ck_assert_int_eq(tell(PDK__LINK_UP), PDK__DO_ENTER);
    ck_assert_int_eq(tell(PDK__LINK_UP), PDK__DO_NOTHING); /* it may come twice */
}
END_TEST

START_TEST(granted_at_once) {
    hold();
    ck_assert_int_eq(c.token, 42);
    ck_assert_int_eq(c.ahead, 0);
    ck_assert_int_eq(tell(PDK__LEAVE), PDK__DO_DELETE);
    ck_assert_int_eq(answer(PDK__DELETED, PDK__OK), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__GONE);
    ck_assert_int_eq(tell(PDK__LINK_UP), PDK__DO_NOTHING); /* nothing ever follows */
}
END_TEST

START_TEST(granted_after_waiting_and_looking_again) {
    wait_in_queue();
    ck_assert_int_eq(c.ahead, 1);
    ck_assert(!pdk__contender_is_next(&c));
    ck_assert_int_eq(tell(PDK__POKE), PDK__DO_LIST);
    ck_assert_int_eq(tell(PDK__POKE), PDK__DO_NOTHING);
    ck_assert_int_eq(list("a-lock-0000000001", OWN, true), PDK__DO_LIST);
    ck_assert_int_eq(list("a-lock-0000000001", OWN, true), PDK__DO_WATCH);
    ck_assert_int_eq(answer(PDK__WATCHED, PDK__NO_NODE), PDK__DO_LIST);
    ck_assert_int_eq(list(OWN, NULL, true), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__HELD);
}
END_TEST

START_TEST(a_try_leaves_when_somebody_is_ahead) {
    struct pdk__view view = {.listed = true, .ahead = 1, .blocker = "a-lock-0000000001"};
    struct pdk__event listed = {.type = PDK__LISTED, .view = &view, .fresh = true, .never_waits = true};
    get_in();
    ck_assert_int_eq(pdk__contender_step(&c, &listed), PDK__DO_DELETE);
    setup();
    get_in();
    view.blocker[0] = '\0';
    ck_assert_int_eq(pdk__contender_step(&c, &listed), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__HELD);
}
END_TEST

START_TEST(the_first_in_the_queue_waits_for_the_lease) {
    get_in();
    ck_assert_int_eq(list(OWN, NULL, false), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__IN);
    ck_assert(pdk__contender_is_next(&c));
    ck_assert_int_eq(tell(PDK__FRESH), PDK__DO_LIST);
    ck_assert_int_eq(list(OWN, NULL, true), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__HELD);
    ck_assert(!pdk__contender_is_next(&c));
}
END_TEST

START_TEST(a_lost_create_is_found) {
    be_candidate();
    ck_assert_int_eq(stat_own(PDK__OK, true), PDK__DO_LIST);
    ck_assert_int_eq(c.phase, PDK__IN);
    ck_assert_int_eq(c.token, 43);
}
END_TEST

START_TEST(a_lost_create_was_not_executed) {
    be_unsure();
    answer(PDK__PROVED, PDK__NO_NODE); /* of a multi: committed all the same */
    ck_assert_int_eq(list("a-lock-0000000001", NULL, true), PDK__DO_ENTER);
    setup();
    be_unsure();
    answer(PDK__PROVED, PDK__NOT_ALLOWED);
    ck_assert_int_eq(answer(PDK__LISTED, PDK__NO_NODE), PDK__DO_ENTER);
}
END_TEST

START_TEST(leaving_before_there_is_a_node) {
    tell(PDK__LEAVE);
    ck_assert_int_eq(c.phase, PDK__GONE);
    setup();
    enter();
    ck_assert_int_eq(tell(PDK__LEAVE), PDK__DO_NOTHING);
    ck_assert_int_eq(answer(PDK__CREATED, PDK__OK), PDK__DO_NOTHING);
    ck_assert_int_eq(list(OWN, NULL, true), PDK__DO_DELETE); /* not granted any more */
    setup();
    be_unsure();
    tell(PDK__LEAVE);
    answer(PDK__PROVED, PDK__OK);
    ck_assert_int_eq(list(OWN, NULL, true), PDK__DO_STAT);
    ck_assert_int_eq(stat_own(PDK__OK, true), PDK__DO_DELETE);
}
END_TEST

START_TEST(news_of_the_own_node) {
    hold();
    tell(PDK__NODE_LOST);
    ck_assert_int_eq(c.phase, PDK__GONE);
    setup();
    wait_in_queue();
    ck_assert_int_eq(tell(PDK__NODE_LOST), PDK__DO_ENTER);
    ck_assert_str_eq(c.watched, "");
    ck_assert_int_eq(tell(PDK__NODE_LOST), PDK__DO_NOTHING); /* of the same, again */
    ck_assert_int_eq(c.doing, PDK__DO_ENTER);
    setup();
    wait_in_queue();
    tell(PDK__LEAVE);
    tell(PDK__NODE_LOST);
    ck_assert_int_eq(c.phase, PDK__GONE);
}
END_TEST

/* Found by the model: the answer to a renewal of an earlier node made a leaving contender forget the create under way. */
START_TEST(news_of_an_earlier_node) {
    get_in();
    ck_assert_int_eq(list(NULL, NULL, true), PDK__DO_ENTER);
    tell(PDK__LEAVE);
    ck_assert_int_eq(tell(PDK__NODE_LOST), PDK__DO_NOTHING);
    ck_assert_int_eq(c.phase, PDK__OUT);
    answer(PDK__CREATED, PDK__OK);
    ck_assert_int_eq(list(OWN, NULL, true), PDK__DO_DELETE);
    setup();
    be_unsure();
    tell(PDK__LEAVE);
    tell(PDK__NODE_LOST);
    ck_assert_int_eq(c.phase, PDK__UNSURE);
}
END_TEST

START_TEST(the_session_ends_it_in_any_phase) {
    void (*const phases[])(void) = {enter, get_in, wait_in_queue, hold, be_unsure, be_candidate};
    for (size_t i = 0; i < sizeof phases / sizeof phases[0]; i++) {
        setup();
        phases[i]();
        ck_assert_int_eq(tell(PDK__EXPIRED), PDK__DO_NOTHING);
        ck_assert_int_eq(c.phase, PDK__GONE);
        ck_assert_int_eq(c.doing, PDK__DO_NOTHING);
        ck_assert_int_eq(answer(PDK__CREATED, PDK__OK), PDK__DO_NOTHING);
        ck_assert_int_eq(c.phase, PDK__GONE);
    }
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("contender");
    TCase *cases = tcase_create("contender");
    tcase_add_checked_fixture(cases, setup, NULL);
    tcase_add_test(cases, a_blocker_that_nobody_owns);
    tcase_add_test(cases, nothing_is_done_unasked_or_unconnected);
    tcase_add_test(cases, granted_at_once);
    tcase_add_test(cases, granted_after_waiting_and_looking_again);
    tcase_add_test(cases, a_try_leaves_when_somebody_is_ahead);
    tcase_add_test(cases, the_first_in_the_queue_waits_for_the_lease);
    tcase_add_test(cases, a_lost_create_is_found);
    tcase_add_test(cases, a_lost_create_was_not_executed);
    tcase_add_test(cases, leaving_before_there_is_a_node);
    tcase_add_test(cases, news_of_the_own_node);
    tcase_add_test(cases, news_of_an_earlier_node);
    tcase_add_test(cases, the_session_ends_it_in_any_phase);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

/* The data of a group's member in simulated time, when they are set while its node is made. */
#include "member_bench.h"

enum { FOR_EVER = 1000000 };

/* The node is gone, and the next one cannot be made yet. */
START_TEST(data_that_are_set_before_the_create) {
    member_begin();
    group_arm(PDK__OP_CREATE, GROUP_DIR);
    group_fault.refuse = FOR_EVER;
    group_admin(SIM_OP_DELETE, group_node(0));
    group_step_until_seen();
    member_assert_set(member_set(0, "two", 0), PDK_UNAVAILABLE);
    group_arm(PDK__OP_SET, GROUP_DIR);
    platform_pass(SECOND);
    member_assert_data("two");
    ck_assert_uint_eq(group_fault.seen, 0);
    member_finish();
}
END_TEST

/* The create is on its way, and goes wrong so, when the data become "two". The set does not wait for it. */
static void set_during_create(int32_t code, bool executed) {
    member_begin();
    group_call(group_one, group_leave_in, NULL);
    platform_pass(SECOND); /* the directory stays for a while */
    group_arm(PDK__OP_CREATE, GROUP_DIR);
    group_fault.code = code;
    group_fault.executed = executed;
    group_call(group_one, group_join_in, &group.members[0]);
    group_step_until_seen();
    const struct member_setting *two_ = member_set(0, "two", 0);
    member_assert_set(two_, PDK_UNAVAILABLE);
    group_arm(PDK__OP_SET, GROUP_DIR);
}

START_TEST(data_that_are_set_during_the_create) {
    static const struct {
        int32_t code;
        bool executed;
        uint32_t writes;
    } cases[] = {{0, true, 1}, {GROUP_LOST, true, 1}, {GROUP_LOST, false, 0}, {GROUP_NOT_NOW, false, 0}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        set_during_create(cases[i].code, cases[i].executed);
        platform_pass(2 * SECOND);
        member_assert_data("two");
        ck_assert_uint_eq(group_fault.seen, cases[i].writes);
        member_finish();
    }
}
END_TEST

/* The write that makes up for it goes wrong. Nobody waits for it, and it is made again. */
START_TEST(data_are_made_up_for_whatever_goes_wrong) {
    static const struct {
        int32_t refuse, code;
        bool executed;
    } cases[] = {{2, 0, true}, {0, GROUP_LOST, true}, {0, GROUP_LOST, false}, {0, GROUP_NOT_NOW, false}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        set_during_create(0, true);
        group_fault.refuse = cases[i].refuse;
        group_fault.code = cases[i].code;
        group_fault.executed = cases[i].executed;
        platform_pass(2 * SECOND);
        member_assert_data("two");
        const struct member_setting *three = member_set(1, "three", 5000);
        platform_pass(SECOND);
        member_assert_set(three, PDK_OK);
        member_assert_data("three");
        member_finish();
    }
}
END_TEST

/* A set comes before the write that makes up for the first one, or while that is under way; and has no time for an answer, or does. */
START_TEST(a_set_goes_before_what_is_made_up_for) {
    for (int i = 0; i < 8; i++) {
        const bool under_way = i & 1, late = i & 2, lost = i & 4;
        set_during_create(0, true);
        group_fault.code = lost ? GROUP_LOST : 0;
        group_fault.executed = true;
        if (under_way)
            group_step_until_seen();
        const struct member_setting *three = member_set(1, "three", late ? 0 : 5000);
        platform_pass(2 * SECOND);
        member_assert_set(three, late ? PDK_UNAVAILABLE : PDK_OK);
        member_assert_data("three");
        const struct member_setting *four = member_set(0, "four", 5000);
        platform_pass(SECOND);
        member_assert_set(four, PDK_OK);
        member_assert_data("four");
        member_finish();
    }
}
END_TEST

/* What somebody else writes stands, as after a set. */
START_TEST(somebody_else_writes_before_data_are_made_up_for) {
    set_during_create(0, true);
    group_fault.refuse = 3;
    group_step_until_seen();
    group_admin(SIM_OP_SET, group_node(0));
    platform_pass(SECOND);
    member_assert_data("theirs");
    member_finish();
}
END_TEST

/* The member leaves, as by its last reference, or its session is closed, while that is under way. */
START_TEST(it_ends_while_data_are_made_up_for) {
    for (int i = 0; i < 2; i++) {
        set_during_create(0, true);
        group_fault.refuse = FOR_EVER;
        group_step_until_seen();
        if (i == 1)
            group_call(group_one, group_close_in, NULL);
        member_finish();
    }
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_group_amend");
    TCase *member = tcase_create("member");
    tcase_add_checked_fixture(member, platform_setup, driver_teardown);
    tcase_add_test(member, data_that_are_set_before_the_create);
    tcase_add_test(member, data_that_are_set_during_the_create);
    tcase_add_test(member, data_are_made_up_for_whatever_goes_wrong);
    tcase_add_test(member, a_set_goes_before_what_is_made_up_for);
    tcase_add_test(member, somebody_else_writes_before_data_are_made_up_for);
    tcase_add_test(member, it_ends_while_data_are_made_up_for);
    suite_add_tcase(suite, member);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

/* The data of a group's member, or of a leader, in simulated time, when the write goes wrong. */
#include "member_bench.h"
#include "sim_thread.h"

#include <paddock/leader.h>
#include <string.h>

enum { FOR_EVER = 1000000, QUOTA = -125 };

START_TEST(data_that_are_not_sent_are_sent_later) {
    member_begin();
    group_arm(PDK__OP_SET, GROUP_DIR);
    group_fault.refuse = 2;
    const struct member_setting *two_ = member_set(0, "two", PDK_FOREVER);
    platform_pass(SECOND);
    member_assert_set(two_, PDK_OK);
    member_assert_data("two");
    member_finish();
}
END_TEST

START_TEST(data_are_written_to_the_next_node_when_the_handle_goes) {
    member_begin();
    group_arm(PDK__OP_SET, GROUP_DIR);
    const struct member_setting *two_ = member_set(0, "two", 60000);
    group_step_until_seen();
    group_call(group_one, group_reopen_in, NULL);
    platform_pass(4 * TIMEOUT);
    member_assert_set(two_, PDK_OK);
    member_assert_data("two");
    member_finish();
}
END_TEST

/* A write without an answer, which is carried out or not. What it did cannot be seen in time. */
static void leave_unsure(bool executed) {
    member_begin();
    group_arm(PDK__OP_SET, GROUP_DIR);
    group_fault.code = GROUP_LOST;
    group_fault.executed = executed;
    const struct member_setting *two_ = member_set(0, "two", 300);
    group_step_until_seen();
    group_arm(PDK__OP_GET, GROUP_DIR);
    group_fault.code = GROUP_LOST;
    group_fault.refuse = FOR_EVER;
    if (!executed) { /* nor is it tried again */
        group_arm(PDK__OP_SET, GROUP_DIR);
        group_fault.refuse = FOR_EVER;
    }
    platform_pass(SECOND);
    member_assert_set(two_, PDK_UNAVAILABLE);
    group_arm(PDK__OP_GET, GROUP_DIR);
}

START_TEST(our_own_data_are_told_from_those_of_others) {
    static const struct {
        bool executed, theirs;
        pdk_status status;
    } cases[] = {
        {true, false, PDK_OK}, {true, true, PDK_REPLACED}, {false, true, PDK_REPLACED}, {false, false, PDK_OK}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        leave_unsure(cases[i].executed);
        member_assert_data(cases[i].executed ? "two" : "one");
        if (cases[i].theirs)
            group_admin(SIM_OP_SET, group_node(0));
        platform_pass(SECOND);
        const struct member_setting *three = member_set(0, "three", 5000);
        platform_pass(SECOND);
        member_assert_set(three, cases[i].status);
        member_assert_data(cases[i].theirs ? "theirs" : "three");
        member_finish();
    }
}
END_TEST

/* The next write, of other data, is answered as little as the first one, which was carried out. */
START_TEST(several_writes_may_be_unsure) {
    static const struct {
        bool unseen, theirs;
        pdk_status status;
    } cases[] = {
        {false, false, PDK_OK}, {true, false, PDK_OK}, {false, true, PDK_REPLACED}, {true, true, PDK_REPLACED}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        leave_unsure(true);
        if (cases[i].theirs)
            group_admin(SIM_OP_SET, group_node(0));
        if (cases[i].unseen) { /* nor can it be seen what the second one did */
            group_arm(PDK__OP_SET, GROUP_DIR);
            group_fault.code = GROUP_LOST;
            group_fault.executed = true;
            const struct member_setting *unseen = member_set(0, "unseen", 300);
            group_step_until_seen();
            group_arm(PDK__OP_GET, GROUP_DIR);
            group_fault.code = GROUP_LOST;
            group_fault.refuse = FOR_EVER;
            platform_pass(SECOND);
            member_assert_set(unseen, PDK_UNAVAILABLE);
        }
        group_arm(PDK__OP_SET, GROUP_DIR);
        group_fault.code = GROUP_LOST;
        group_fault.executed = true;
        const struct member_setting *three = member_set(0, "three", 5000);
        platform_pass(2 * SECOND);
        member_assert_set(three, cases[i].status);
        member_assert_data(cases[i].theirs ? "theirs" : "three");
        member_finish();
    }
}
END_TEST

/* Any bytes may be data, those of a wish as well. */
START_TEST(data_that_look_like_a_wish_are_our_own) {
    static const char data[] = "__REVOKE__ 500 anna\ntwo";
    member_begin();
    group_arm(PDK__OP_SET, GROUP_DIR);
    group_fault.code = GROUP_LOST;
    group_fault.executed = true;
    const struct member_setting *two_ = member_set(0, data, 5000);
    platform_pass(SECOND);
    member_assert_set(two_, PDK_OK);
    member_assert_data(data);
    member_finish();
}
END_TEST

/* The hold reads its node, too, when it has changed. The loss strikes that read or the look, as the times fall. */
START_TEST(a_look_that_is_not_answered_is_taken_again) {
    uint32_t most = 0;
    for (int ms = 0; ms < 40; ms += 2) {
        member_begin();
        platform_pass(ms * SIM_MS);
        group_arm(PDK__OP_SET, GROUP_DIR);
        group_fault.code = GROUP_LOST;
        group_fault.executed = true;
        const struct member_setting *two_ = member_set(0, "two", 5000);
        group_step_until_seen();
        group_arm(PDK__OP_GET, GROUP_DIR);
        group_fault.code = GROUP_LOST;
        platform_pass(SECOND);
        most = MAX(most, group_fault.seen);
        member_assert_set(two_, PDK_OK);
        member_assert_data("two");
        member_finish();
    }
    ck_assert_uint_ge(most, 2);
}
END_TEST

/* Another node has the name by now, and it was written as often. */
static void replace_node(void) {
    const char *node = group_node(0);
    group_admin(SIM_OP_DELETE, node);
    group_admin(SIM_OP_CREATE, node);
    group_admin(SIM_OP_SET, node);
}

START_TEST(another_node_of_the_same_name_is_not_ours) {
    member_begin();
    group_arm(PDK__OP_SET, GROUP_DIR);
    group_fault.act = replace_node;
    const struct member_setting *two_ = member_set(0, "two", 20000);
    platform_pass(8 * SECOND);
    member_assert_set(two_, PDK_OK);
    driver_refuses = NULL;
    group_call(group_one, group_leave_in, NULL);
    platform_pass(SECOND);
    member_assert_data("theirs");
}
END_TEST

/* ---- refusals */

static void publish_by_thread(void *user) {
    struct member_setting *setting = user;
    pdk_election *election = group_one->election;
    pdk_hold *hold = NULL;
    setting->status = pdk_election_wait(election, PDK_FOREVER, &hold);
    if (setting->status == PDK_OK)
        setting->status = pdk_election_publish(election, hold, NULL, 0, setting->timeout_ms);
    g_strlcpy(setting->why, pdk_last_error(), sizeof setting->why);
    pdk_hold_unref(hold);
    setting->over = true;
}

static void publish_in(void *subject, void *what) {
    sim_thread_start(&((struct rival *)subject)->process, publish_by_thread, what);
}

/* A quota does not go away by itself: a call that may wait for ever would. */
START_TEST(a_write_that_is_refused_is_not_repeated) {
    member_begin();
    group_arm(PDK__OP_SET, GROUP_DIR);
    group_fault.code = QUOTA;
    const struct member_setting *two_ = member_set(0, "two", PDK_FOREVER);
    platform_pass(SECOND);
    ck_assert_uint_eq(group_fault.seen, 1);
    member_assert_set(two_, PDK_UNSUPPORTED);
    ck_assert_msg(strstr(two_->why, "QUOTAEXCEEDED(-125)"), "%s", two_->why);
    member_assert_data("one");
    member_finish();
}
END_TEST

START_TEST(what_is_published_may_be_refused) {
    group_begin(0);
    driver_join(group_one);
    platform_pass(SECOND);
    group_arm(PDK__OP_SET, "/office");
    group_fault.code = QUOTA;
    member_settings[0] = (struct member_setting){.timeout_ms = PDK_FOREVER};
    group_call(group_one, publish_in, &member_settings[0]);
    platform_pass(SECOND);
    ck_assert_uint_eq(group_fault.seen, 1);
    member_assert_set(&member_settings[0], PDK_UNSUPPORTED);
    ck_assert_msg(strstr(member_settings[0].why, "QUOTAEXCEEDED(-125)"), "%s", member_settings[0].why);
    driver_leave(group_one);
}
END_TEST

/* ---- how calls end */

START_TEST(the_session_ends_while_data_are_written) {
    member_begin();
    group_arm(PDK__OP_SET, GROUP_DIR);
    group_fault.refuse = FOR_EVER;
    const struct member_setting *two_ = member_set(0, "two", PDK_FOREVER);
    platform_pass(SECOND);
    ck_assert(!two_->over);
    group_call(group_one, group_close_in, NULL);
    platform_pass(SECOND);
    member_assert_set(two_, PDK_CLOSED);
    group_call(group_one, group_leave_in, NULL);
}
END_TEST

static void quit_in(void *subject, void *user) {
    (void)subject;
    (void)user;
    ck_assert_int_eq(pdk_member_leave(group.members[0]), PDK_OK);
}

/* Its hold was released, and there is no other one to write to. */
START_TEST(the_member_leaves_while_data_are_written) {
    member_begin();
    group_arm(PDK__OP_SET, GROUP_DIR);
    group_fault.refuse = FOR_EVER;
    const struct member_setting *two_ = member_set(0, "two", PDK_FOREVER);
    platform_pass(SECOND);
    ck_assert(!two_->over);
    group_call(group_one, quit_in, NULL);
    platform_pass(SECOND);
    member_assert_set(two_, PDK_NOT_HELD);
    ck_assert_msg(strstr(member_settings[0].why, "it has left"), "%s", member_settings[0].why);
    member_finish();
}
END_TEST

/* The turn comes in time, but the process sleeps before it can be taken. */
START_TEST(a_turn_that_is_taken_too_late) {
    member_begin();
    group_arm(PDK__OP_SET, GROUP_DIR);
    group_fault.refuse = 4;
    const struct member_setting *first_set = member_set(0, "two", 5000), *second_set = member_set(1, "three", 1000);
    while (!first_set->over)
        group_step();
    ck_assert(!second_set->over);
    sim_process_pause(&group_one->rival->process, true);
    platform_pass(SECOND + TIMEOUT / 4);
    sim_process_pause(&group_one->rival->process, false);
    platform_pass(2 * TIMEOUT);
    member_assert_set(first_set, PDK_OK);
    member_assert_set(second_set, PDK_UNAVAILABLE);
    member_finish();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_group_data");
    TCase *member = tcase_create("member");
    tcase_add_checked_fixture(member, platform_setup, driver_teardown);
    tcase_add_test(member, data_that_are_not_sent_are_sent_later);
    tcase_add_test(member, data_are_written_to_the_next_node_when_the_handle_goes);
    tcase_add_test(member, our_own_data_are_told_from_those_of_others);
    tcase_add_test(member, several_writes_may_be_unsure);
    tcase_add_test(member, data_that_look_like_a_wish_are_our_own);
    tcase_add_test(member, a_look_that_is_not_answered_is_taken_again);
    tcase_add_test(member, another_node_of_the_same_name_is_not_ours);
    tcase_add_test(member, a_write_that_is_refused_is_not_repeated);
    tcase_add_test(member, what_is_published_may_be_refused);
    tcase_add_test(member, the_session_ends_while_data_are_written);
    tcase_add_test(member, the_member_leaves_while_data_are_written);
    tcase_add_test(member, a_turn_that_is_taken_too_late);
    suite_add_tcase(suite, member);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

/* The data of a group's member, or of a leader, in simulated time, when the write goes wrong, or its node is being made. */
#include "driver_bench.h"
#include "sim_thread.h"

#include <paddock/leader.h>
#include <string.h>

enum { FOR_EVER = 1000000 };

/* So much time later the first setting is over, and the data are these. */
static void check(int64_t ns, pdk_status status, const char *data) {
    platform_pass(ns);
    member_assert_set(&member_settings[0], status);
    member_assert_data(data);
    member_finish();
}

/* The next write goes wrong so. Sets the data, by the first thread. */
static void set(const char *data, int64_t timeout_ms, int32_t code, bool executed) {
    driver_arm(PDK__OP_SET, GROUP_DIR);
    fault.code = code;
    fault.executed = executed;
    member_set(0, data, timeout_ms);
}

START_TEST(data_that_are_not_sent_are_sent_later) {
    member_begin();
    driver_spoil(PDK__OP_SET, GROUP_DIR, 0, false);
    member_set(0, "two", PDK_FOREVER);
    check(SECOND, PDK_OK, "two");
}
END_TEST

START_TEST(data_are_written_to_the_next_node_when_the_handle_goes) {
    member_begin();
    set("two", 60000, 0, false);
    driver_step_until_seen();
    rival_reopen(first);
    check(4 * TIMEOUT, PDK_OK, "two");
}
END_TEST

/* A write without an answer, which is carried out or not. What it did cannot be seen in time, nor is it tried again. */
static void set_unsure(const char *data, bool executed) {
    set(data, 300, LOST_CODE, executed);
    driver_step_until_seen();
    driver_arm(executed ? PDK__OP_GET : PDK__OP_SET, GROUP_DIR);
    fault.code = executed ? LOST_CODE : 0;
    fault.refuse = FOR_EVER;
    platform_pass(SECOND);
    member_assert_set(&member_settings[0], PDK_UNAVAILABLE);
    driver_arm(PDK__OP_GET, GROUP_DIR);
}

START_TEST(our_own_data_are_told_from_those_of_others) {
    const bool executed = _i % 2, theirs = _i / 2;
    member_begin();
    set_unsure("two", executed);
    member_assert_data(executed ? "two" : "one");
    if (theirs)
        platform_admin(SIM_OP_SET, platform_child(GROUP_DIR, 0));
    platform_pass(SECOND);
    member_set(0, "three", 5000);
    check(SECOND, theirs ? PDK_REPLACED : PDK_OK, theirs ? "theirs" : "three");
}
END_TEST

/* The next write, of other data, is answered as little as the first one, which was carried out. */
START_TEST(several_writes_may_be_unsure) {
    const bool unseen = _i % 2, theirs = _i / 2;
    member_begin();
    set_unsure("two", true);
    if (theirs)
        platform_admin(SIM_OP_SET, platform_child(GROUP_DIR, 0));
    if (unseen) /* nor can it be seen what the second one did */
        set_unsure("unseen", true);
    set("three", 5000, LOST_CODE, true);
    check(2 * SECOND, theirs ? PDK_REPLACED : PDK_OK, theirs ? "theirs" : "three");
}
END_TEST

/* Any bytes may be data, those of a wish as well. */
START_TEST(data_that_look_like_a_wish_are_our_own) {
    static const char data[] = "__REVOKE__ 500 anna\ntwo";
    member_begin();
    set(data, 5000, LOST_CODE, true);
    check(SECOND, PDK_OK, data);
}
END_TEST

/* The hold reads its node, too, when it has changed. The loss strikes that read or the look, as the times fall. */
START_TEST(a_look_that_is_not_answered_is_taken_again) {
    uint32_t most = 0;
    for (int ms = 0; ms < 40; ms += 2) {
        member_begin();
        platform_pass(ms * SIM_MS);
        set("two", 5000, LOST_CODE, true);
        driver_step_until_seen();
        driver_arm(PDK__OP_GET, GROUP_DIR);
        fault.code = LOST_CODE;
        check(SECOND, PDK_OK, "two");
        most = MAX(most, fault.seen);
    }
    ck_assert_uint_ge(most, 2);
}
END_TEST

/* Another node has the name by now, and it was written as often. */
static void replace_node(void) {
    const char *node = platform_child(GROUP_DIR, 0);
    platform_admin(SIM_OP_DELETE, node);
    platform_admin(SIM_OP_CREATE, node);
    platform_admin(SIM_OP_SET, node);
}

START_TEST(another_node_of_the_same_name_is_not_ours) {
    member_begin();
    driver_arm(PDK__OP_SET, GROUP_DIR);
    fault.act = replace_node;
    member_set(0, "two", 20000);
    platform_pass(8 * SECOND);
    member_assert_set(&member_settings[0], PDK_OK);
    group_leave();
    platform_pass(SECOND);
    member_assert_data("theirs");
}
END_TEST

/* ---- refusals */

static void publish(void *user) {
    struct member_setting *setting = user;
    pdk_hold *hold = NULL;
    setting->status = pdk_election_wait(one->election, PDK_FOREVER, &hold);
    if (setting->status == PDK_OK)
        setting->status = pdk_election_publish(one->election, hold, NULL, 0, PDK_FOREVER);
    g_strlcpy(setting->why, pdk_last_error(), sizeof setting->why);
    pdk_hold_unref(hold);
    setting->over = true;
}

/* A quota does not go away by itself: a call that may wait for ever would. _i: of a leader. */
START_TEST(a_write_that_is_refused_is_not_repeated) {
    member_begin();
    if (_i) {
        driver_join(one);
        platform_pass(SECOND);
    }
    driver_spoil(PDK__OP_SET, _i ? "/office" : GROUP_DIR, QUOTA_CODE, false);
    if (_i)
        sim_thread_start(&first->process, publish, &member_settings[0]);
    else
        member_set(0, "two", PDK_FOREVER);
    platform_pass(SECOND);
    ck_assert_uint_eq(fault.seen, 1);
    ck_assert_msg(strstr(member_settings[0].why, "QUOTAEXCEEDED(-125)"), "%s", member_settings[0].why);
    check(0, PDK_UNSUPPORTED, "one");
    driver_leave(one);
}
END_TEST

/* ---- how calls end */

/* Its session ends; or it leaves: its hold was released, and there is no other one to write to. */
START_TEST(an_end_while_data_are_written) {
    member_begin();
    driver_arm(PDK__OP_SET, GROUP_DIR);
    fault.refuse = FOR_EVER;
    const struct member_setting *setting = member_set(0, "two", PDK_FOREVER);
    platform_pass(SECOND);
    ck_assert(!setting->over);
    if (_i)
        pdk_session_close(first->session, 0);
    else
        ck_assert_int_eq(pdk_member_leave(group.members[0]), PDK_OK);
    platform_pass(SECOND);
    member_assert_set(setting, _i ? PDK_CLOSED : PDK_NOT_HELD);
    ck_assert_msg(_i || strstr(setting->why, "it has left"), "%s", setting->why);
    member_finish();
}
END_TEST

/* The turn comes in time, but the process sleeps before it can be taken. */
START_TEST(a_turn_that_is_taken_too_late) {
    member_begin();
    driver_arm(PDK__OP_SET, GROUP_DIR);
    fault.refuse = 4;
    const struct member_setting *before = member_set(0, "two", 5000), *late = member_set(1, "three", 1000);
    while (!before->over)
        platform_step();
    ck_assert(!late->over);
    driver_hold_up(SECOND + TIMEOUT / 4);
    platform_pass(2 * TIMEOUT);
    member_assert_set(before, PDK_OK);
    member_assert_set(late, PDK_UNAVAILABLE);
    member_finish();
}
END_TEST

/* ---- data that are set while the node is made */

/* The node is gone, and the next one cannot be made yet. */
START_TEST(data_that_are_set_before_the_create) {
    member_begin();
    driver_arm(PDK__OP_CREATE, GROUP_DIR);
    fault.refuse = FOR_EVER;
    platform_admin(SIM_OP_DELETE, platform_child(GROUP_DIR, 0));
    driver_step_until_seen();
    set("two", 0, 0, false);
    check(SECOND, PDK_UNAVAILABLE, "two");
    ck_assert_uint_eq(fault.seen, 0);
}
END_TEST

/* The create is on its way, and goes wrong so, when the data become "two". The set does not wait for it. */
static void set_during_create(int32_t code, bool executed) {
    member_begin();
    group_leave();
    platform_pass(SECOND); /* the directory stays for a while */
    driver_arm(PDK__OP_CREATE, GROUP_DIR);
    fault.code = code;
    fault.executed = executed;
    group_join(one, 0);
    driver_step_until_seen();
    set("two", 0, 0, false);
    member_assert_set(&member_settings[0], PDK_UNAVAILABLE);
}

START_TEST(data_that_are_set_during_the_create) {
    static const struct {
        int32_t code;
        bool executed;
        uint32_t writes;
    } cases[] = {{0, true, 1}, {LOST_CODE, true, 1}, {LOST_CODE, false, 0}, {NOT_NOW_CODE, false, 0}};
    set_during_create(cases[_i].code, cases[_i].executed);
    check(2 * SECOND, PDK_UNAVAILABLE, "two");
    ck_assert_uint_eq(fault.seen, cases[_i].writes);
}
END_TEST

/* The write that makes up for it goes wrong. Nobody waits for it, and it is made again. */
START_TEST(data_are_made_up_for_whatever_goes_wrong) {
    static const struct {
        int32_t refuse, code;
        bool executed;
    } cases[] = {{2, 0, true}, {0, LOST_CODE, true}, {0, LOST_CODE, false}, {0, NOT_NOW_CODE, false}};
    set_during_create(0, true);
    fault.refuse = cases[_i].refuse;
    fault.code = cases[_i].code;
    fault.executed = cases[_i].executed;
    platform_pass(2 * SECOND);
    member_assert_data("two");
    member_set(0, "three", 5000);
    check(SECOND, PDK_OK, "three");
}
END_TEST

/* A set comes before the write that makes up for the first one, or while that is under way; and has no time for an answer, or does. */
START_TEST(a_set_goes_before_what_is_made_up_for) {
    const bool under_way = _i & 1, late = _i & 2, lost = _i & 4;
    set_during_create(0, true);
    fault.code = lost ? LOST_CODE : 0;
    fault.executed = true;
    if (under_way)
        driver_step_until_seen();
    const struct member_setting *three = member_set(1, "three", late ? 0 : 5000);
    platform_pass(2 * SECOND);
    member_assert_set(three, late ? PDK_UNAVAILABLE : PDK_OK);
    member_assert_data("three");
    member_set(0, "four", 5000);
    check(SECOND, PDK_OK, "four");
}
END_TEST

/* Its writes are not sent. Somebody else writes, and that stands, as after a set; the member leaves; or its session is closed. */
START_TEST(what_ends_while_data_are_made_up_for) {
    set_during_create(0, true);
    fault.refuse = _i == 0 ? 3 : FOR_EVER;
    driver_step_until_seen();
    if (_i == 0) {
        platform_admin(SIM_OP_SET, platform_child(GROUP_DIR, 0));
        platform_pass(SECOND);
        member_assert_data("theirs");
    } else if (_i == 1) {
        pdk_session_close(first->session, 0);
    }
    member_finish();
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_group_data");
    TCase *member = tcase_create("member");
    tcase_add_checked_fixture(member, platform_setup, driver_teardown);
    tcase_add_test(member, data_that_are_not_sent_are_sent_later);
    tcase_add_test(member, data_are_written_to_the_next_node_when_the_handle_goes);
    tcase_add_loop_test(member, our_own_data_are_told_from_those_of_others, 0, 4);
    tcase_add_loop_test(member, several_writes_may_be_unsure, 0, 4);
    tcase_add_test(member, data_that_look_like_a_wish_are_our_own);
    tcase_add_test(member, a_look_that_is_not_answered_is_taken_again);
    tcase_add_test(member, another_node_of_the_same_name_is_not_ours);
    tcase_add_loop_test(member, a_write_that_is_refused_is_not_repeated, 0, 2);
    tcase_add_loop_test(member, an_end_while_data_are_written, 0, 2);
    tcase_add_test(member, a_turn_that_is_taken_too_late);
    tcase_add_test(member, data_that_are_set_before_the_create);
    tcase_add_loop_test(member, data_that_are_set_during_the_create, 0, 4);
    tcase_add_loop_test(member, data_are_made_up_for_whatever_goes_wrong, 0, 4);
    tcase_add_loop_test(member, a_set_goes_before_what_is_made_up_for, 0, 8);
    tcase_add_loop_test(member, what_ends_while_data_are_made_up_for, 0, 3);
    suite_add_tcase(suite, member);
    return ts_run_suite(suite);
}

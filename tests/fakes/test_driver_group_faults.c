/* A group's watcher in simulated time whose requests go wrong, and whose views are told late. */
#include "driver_bench.h"
#include "session/session.h"

static void begin(int members) {
    group_begin(members);
    group_watch();
    platform_pass(SECOND);
}

static void finish(void) {
    driver_refuses = NULL;
    group_unwatch();
    group_leave();
    platform_pass(SECOND);
    ck_assert_int_eq(group.freed, 1);
}

static void assert_seen(int64_t ns, size_t count, bool exact) {
    platform_pass(ns);
    ck_assert_uint_eq(group.count, count);
    ck_assert(group.exact == exact);
}

/* Of the first view: the barrier, the list and a member, not sent, not answered, or asked by a handle that goes (0). The member may be gone,
 * and is listed still, so it is read again. */
START_TEST(a_question_goes_wrong) {
    static const struct {
        enum pdk__op_kind kind;
        const char *part;
    } asked[] = {{PDK__OP_BARRIER, GROUP_DIR}, {PDK__OP_LIST, GROUP_DIR}, {PDK__OP_WATCH, GROUP_DIR "/"}};
    static const int32_t codes[] = {LOST_CODE, NOT_NOW_CODE, 0, NO_NODE_CODE};
    for (size_t i = 0; i < G_N_ELEMENTS(codes) * 2; i++) {
        const int32_t code = codes[i / 2], refuse = i % 2 ? 3 : 0;
        if (code == NO_NODE_CODE && asked[_i].kind != PDK__OP_WATCH)
            continue;
        group_begin(2);
        driver_arm(asked[_i].kind, asked[_i].part);
        fault.code = code;
        fault.refuse = refuse;
        group_watch();
        driver_step_until_seen();
        if (code == 0)
            rival_reopen(first);
        assert_seen(4 * TIMEOUT, 2, true);
        ck_assert_int_eq(fault.refuse, 0);
        ck_assert_int_eq(group.views, code == NO_NODE_CODE ? group.views : 1);
        ck_assert_uint_ge(fault.seen, 2);
        finish();
    }
}
END_TEST

/* A list that comes later, without a barrier ahead of it; or an answer that makes no sense. */
START_TEST(a_list_that_is_not_answered_is_asked_for_again) {
    static const int32_t codes[] = {LOST_CODE, NOT_NOW_CODE, BAD_ARGUMENTS_CODE};
    begin(1);
    driver_spoil(PDK__OP_LIST, GROUP_DIR, codes[_i], false);
    group_join(two, 1);
    assert_seen(SECOND, 2, true);
    ck_assert_uint_ge(fault.seen, 2);
    ck_assert_int_eq(group.views, 2);
    finish();
}
END_TEST

/* Whenever it is stopped: nothing is told afterwards, and what it has is freed. */
START_TEST(a_watcher_that_is_stopped_at_any_time) {
    int told = 0;
    for (int steps = 0; told < 3; steps++) {
        group_begin(2);
        driver_arm(PDK__OP_LIST, GROUP_DIR);
        group_watch();
        driver_step_until_seen();
        for (int i = 0; i < steps; i++)
            platform_step();
        group_unwatch();
        ck_assert_int_eq(group.freed, 1);
        const int views = group.views;
        platform_pass(3 * TIMEOUT);
        ck_assert_int_eq(group.views, views);
        told += views > 0;
        finish();
    }
}
END_TEST

/* No callback runs, as if the one before did not return. */
static void hold_callbacks(bool held) {
    pdk_session *s = first->session;
    pthread_mutex_lock(&s->outbox.lock);
    s->outbox.busy = held;
    pthread_mutex_unlock(&s->outbox.lock);
    s->platform->wake(s);
    platform_pass(SECOND);
}

/* Views become one; that of a watcher that is stopped is not told; nor is it in a session that ends, and it is freed. */
START_TEST(views_that_are_not_told_in_time) {
    group_begin(1);
    hold_callbacks(true);
    group_watch();
    platform_pass(SECOND);
    group_join(two, 1);
    platform_pass(SECOND);
    ck_assert_int_eq(group.views, 0);
    if (_i == 1)
        group_unwatch();
    else if (_i == 2)
        pdk_session_close(first->session, 0);
    ck_assert_int_eq(group.freed, _i == 1);
    hold_callbacks(false);
    ck_assert_int_eq(group.views, _i == 0);
    if (_i == 0)
        assert_seen(0, 2, true);
    finish();
    ck_assert_int_eq(group.views, _i == 0);
}
END_TEST

START_TEST(a_watcher_without_watches_has_no_exact_view) {
    group_begin(1);
    driver_fill_watches(one, PDK__WATCHED_BYTES_MAX);
    driver_spoil(PDK__OP_GET, GROUP_DIR "/", LOST_CODE, false);
    group_watch();
    assert_seen(3 * SECOND, 1, false);
    ck_assert_int_eq(group.views, 1);
    group_leave(); /* the directory stays for a while */
    assert_seen(2 * SECOND, 0, false);
    driver_fill_watches(one, (size_t)-PDK__WATCHED_BYTES_MAX);
    assert_seen(2 * SECOND, 0, true); /* nobody came or went: it is told all the same */
    ck_assert_int_eq(group.views, 3);
    finish();
}
END_TEST

/* They change so fast that something is always under way. */
START_TEST(members_that_never_rest_are_told_from_time_to_time) {
    const char *nodes[GROUP_MEMBERS];
    begin(GROUP_MEMBERS);
    assert_seen(0, GROUP_MEMBERS, true);
    for (int i = 0; i < GROUP_MEMBERS; i++)
        nodes[i] = platform_child(GROUP_DIR, (size_t)i);
    for (int i = 0; i < 15000; i++) {
        platform_admin(SIM_OP_SET, nodes[i % GROUP_MEMBERS]);
        platform_pass(SIM_MS / 10);
    }
    ck_assert_int_ge(group.inexact, 1);
    assert_seen(SECOND, GROUP_MEMBERS, true);
    finish();
}
END_TEST

/* Each change is a question, until there are too many of them. */
START_TEST(changes_that_never_end_are_asked_after_ever_later) {
    begin(1);
    driver_forget_seen();
    for (int i = 0; i < 400; i++) {
        platform_admin(SIM_OP_SET, platform_child(GROUP_DIR, 0));
        platform_pass(5 * SIM_MS);
    }
    ck_assert_uint_ge(driver_seen[PDK__OP_WATCH], 64);
    ck_assert_uint_le(driver_seen[PDK__OP_WATCH], 150);
    assert_seen(SECOND, 1, true);
    finish();
}
END_TEST

/* Data that change put off the look that comes after each session timeout: the list is read all the same. */
START_TEST(the_directory_is_listed_while_data_change) {
    begin(1);
    driver_arm(PDK__OP_LIST, GROUP_DIR);
    for (int i = 0; i < 30; i++) {
        platform_admin(SIM_OP_SET, platform_child(GROUP_DIR, 0));
        platform_pass(TIMEOUT / 5);
    }
    ck_assert_uint_ge(fault.seen, 3);
    assert_seen(0, 1, true);
    finish();
}
END_TEST

START_TEST(a_member_that_may_be_read_no_more) {
    begin(1);
    ck_assert_int_eq(group.status, PDK_OK);
    driver_spoil(PDK__OP_WATCH, GROUP_DIR, NOT_ALLOWED_CODE,
                 false); /* as to every reader, who may not be told of changes then */
    platform_admin(SIM_OP_SET, platform_child(GROUP_DIR, 0));
    platform_pass(SECOND);
    ck_assert_int_eq(group.status, PDK_NO_PERMISSION);
    ck_assert_uint_eq(group.count, 1);
    finish();
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_group_faults");
    TCase *watcher = tcase_create("watcher");
    tcase_add_checked_fixture(watcher, platform_setup, driver_teardown);
    tcase_add_loop_test(watcher, a_question_goes_wrong, 0, 3);
    tcase_add_loop_test(watcher, a_list_that_is_not_answered_is_asked_for_again, 0, 3);
    tcase_add_loop_test(watcher, views_that_are_not_told_in_time, 0, 3);
    tcase_add_test(watcher, a_watcher_that_is_stopped_at_any_time);
    tcase_add_test(watcher, a_watcher_without_watches_has_no_exact_view);
    tcase_add_test(watcher, members_that_never_rest_are_told_from_time_to_time);
    tcase_add_test(watcher, changes_that_never_end_are_asked_after_ever_later);
    tcase_add_test(watcher, the_directory_is_listed_while_data_change);
    tcase_add_test(watcher, a_member_that_may_be_read_no_more);
    suite_add_tcase(suite, watcher);
    return ts_run_suite(suite);
}

/* A group's watcher in simulated time whose requests go wrong, and whose views are told late. */
#include "group_bench.h"
#include "session/session.h"

static void finish(void) {
    driver_refuses = NULL;
    group_call(group_one, group_stop_in, NULL);
    group_call(group_two, group_leave_in, NULL);
    platform_pass(SECOND);
    ck_assert_int_eq(group.freed, 1);
}

static void assert_seen(size_t count, bool exact) {
    ck_assert_uint_eq(group.count, count);
    ck_assert(group.exact == exact);
}

static void spend_watches_in(void *subject, void *bytes) {
    pdk_session *s = ((struct rival *)subject)->session;
    pdk__lock(s);
    s->watched_bytes += *(const size_t *)bytes;
    pdk__unlock(s);
}

static const struct {
    enum pdk__op_kind kind;
    const char *part;
} asked[] = {{PDK__OP_BARRIER, GROUP_DIR}, {PDK__OP_LIST, GROUP_DIR}, {PDK__OP_WATCH, GROUP_DIR "/"}};

START_TEST(a_watcher_whose_answers_do_not_come) {
    static const int32_t codes[] = {GROUP_LOST, GROUP_NOT_NOW, 0}; /* 0: the handle is gone before */
    for (size_t i = 0; i < G_N_ELEMENTS(asked) * G_N_ELEMENTS(codes); i++) {
        group_begin(2);
        group_arm(asked[i % G_N_ELEMENTS(asked)].kind, asked[i % G_N_ELEMENTS(asked)].part);
        group_fault.code = codes[i / G_N_ELEMENTS(asked)];
        const bool reopen = group_fault.code == 0;
        group_call(group_one, group_watch_in, NULL);
        group_step_until_seen();
        if (reopen)
            group_call(group_one, group_reopen_in, NULL);
        platform_pass(4 * SECOND);
        assert_seen(2, true);
        ck_assert_int_eq(group.views, 1);
        ck_assert_uint_ge(group_fault.seen, 2);
        finish();
    }
}
END_TEST

START_TEST(a_watcher_whose_questions_are_not_sent) {
    for (size_t i = 0; i < G_N_ELEMENTS(asked); i++) {
        group_begin(2);
        group_arm(asked[i].kind, asked[i].part);
        group_fault.refuse = 3;
        group_call(group_one, group_watch_in, NULL);
        platform_pass(SECOND);
        ck_assert_int_eq(group_fault.refuse, 0);
        assert_seen(2, true);
        finish();
    }
}
END_TEST

/* A list that comes later, without a barrier ahead of it; or an answer that makes no sense. */
START_TEST(a_list_that_is_not_answered_is_asked_for_again) {
    static const int32_t codes[] = {GROUP_LOST, GROUP_NOT_NOW, GROUP_BAD_ARGUMENTS};
    for (size_t i = 0; i < G_N_ELEMENTS(codes); i++) {
        group_begin(1);
        group_call(group_one, group_watch_in, NULL);
        platform_pass(SECOND);
        group_arm(PDK__OP_LIST, GROUP_DIR);
        group_fault.code = codes[i];
        group_call(group_two, group_join_in, &group.members[1]);
        platform_pass(SECOND);
        ck_assert_uint_ge(group_fault.seen, 2);
        assert_seen(2, true);
        ck_assert_int_eq(group.views, 2);
        finish();
    }
}
END_TEST

START_TEST(a_member_that_goes_between_the_list_and_the_read) {
    group_begin(2);
    group_arm(PDK__OP_WATCH, GROUP_DIR "/");
    group_fault.code = GROUP_NO_NODE;
    group_call(group_one, group_watch_in, NULL);
    platform_pass(4 * TIMEOUT);
    assert_seen(2, true); /* it is listed still, so it is read again */
    ck_assert_uint_ge(group_fault.seen, 3);
    finish();
}
END_TEST

/* Whenever it is stopped: nothing is told afterwards, and what it has is freed. */
START_TEST(a_watcher_that_is_stopped_at_any_time) {
    int told = 0;
    for (int steps = 0; told < 3; steps++) {
        group_begin(2);
        group_arm(PDK__OP_LIST, GROUP_DIR);
        group_call(group_one, group_watch_in, NULL);
        group_step_until_seen();
        for (int i = 0; i < steps; i++)
            group_step();
        group_call(group_one, group_stop_in, NULL);
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
static void hold_callbacks_in(void *subject, void *held) {
    pdk_session *s = ((struct rival *)subject)->session;
    pthread_mutex_lock(&s->outbox.lock);
    s->outbox.busy = *(const bool *)held;
    pthread_mutex_unlock(&s->outbox.lock);
    s->platform->wake(s);
}

static void hold_callbacks(bool held) {
    group_call(group_one, hold_callbacks_in, &held);
    platform_pass(SECOND);
}

static void begin_held(void) {
    group_begin(1);
    hold_callbacks(true);
    group_call(group_one, group_watch_in, NULL);
    platform_pass(SECOND);
    group_call(group_two, group_join_in, &group.members[1]);
    platform_pass(SECOND);
    ck_assert_int_eq(group.views, 0);
}

START_TEST(views_that_are_not_told_in_time_become_one) {
    begin_held();
    hold_callbacks(false);
    ck_assert_int_eq(group.views, 1);
    assert_seen(2, true);
    finish();
}
END_TEST

START_TEST(a_view_of_a_watcher_that_is_stopped_is_not_told) {
    begin_held();
    group_call(group_one, group_stop_in, NULL);
    ck_assert_int_eq(group.freed, 1);
    hold_callbacks(false);
    ck_assert_int_eq(group.views, 0);
    finish();
}
END_TEST

START_TEST(a_view_that_is_never_told_is_freed) {
    begin_held();
    group_call(group_one, group_close_in, NULL);
    hold_callbacks(false);
    finish();
    ck_assert_int_eq(group.views, 0);
}
END_TEST

START_TEST(a_watcher_without_watches_has_no_exact_view) {
    size_t bytes = PDK__WATCHED_BYTES_MAX;
    group_begin(1);
    group_call(group_one, spend_watches_in, &bytes);
    group_arm(PDK__OP_GET, GROUP_DIR "/");
    group_fault.code = GROUP_LOST;
    group_call(group_one, group_watch_in, NULL);
    platform_pass(3 * SECOND);
    assert_seen(1, false);
    ck_assert_int_eq(group.views, 1);
    group_call(group_two, group_leave_in, NULL); /* the directory stays for a while */
    platform_pass(2 * SECOND);
    assert_seen(0, false);
    bytes = (size_t)-bytes;
    group_call(group_one, spend_watches_in, &bytes);
    platform_pass(2 * SECOND);
    assert_seen(0, true); /* nobody came or went: it is told all the same */
    ck_assert_int_eq(group.views, 3);
    finish();
}
END_TEST

/* They change so fast that something is always under way. */
START_TEST(members_that_never_rest_are_told_from_time_to_time) {
    group_begin(GROUP_MEMBERS);
    group_call(group_one, group_watch_in, NULL);
    platform_pass(SECOND);
    assert_seen(GROUP_MEMBERS, true);
    const char *nodes[GROUP_MEMBERS];
    for (int i = 0; i < GROUP_MEMBERS; i++)
        nodes[i] = group_node((size_t)i);
    for (int i = 0; i < 15000; i++) {
        group_admin(SIM_OP_SET, nodes[i % GROUP_MEMBERS]);
        platform_pass(SIM_MS / 10);
    }
    ck_assert_int_ge(group.inexact, 1);
    platform_pass(SECOND);
    assert_seen(GROUP_MEMBERS, true);
    finish();
}
END_TEST

/* Data that change put off the look that comes after each session timeout: the list is read all the same. */
START_TEST(the_directory_is_listed_while_data_change) {
    group_begin(1);
    group_call(group_one, group_watch_in, NULL);
    platform_pass(SECOND);
    group_arm(PDK__OP_LIST, GROUP_DIR);
    for (int i = 0; i < 30; i++) {
        group_admin(SIM_OP_SET, group_node(0));
        platform_pass(TIMEOUT / 5);
    }
    ck_assert_uint_ge(group_fault.seen, 3);
    assert_seen(1, true);
    finish();
}
END_TEST

START_TEST(a_member_that_may_be_read_no_more) {
    group_begin(1);
    group_call(group_one, group_watch_in, NULL);
    platform_pass(SECOND);
    ck_assert_int_eq(group.status, PDK_OK);
    group_arm(PDK__OP_WATCH, GROUP_DIR);
    group_fault.code = GROUP_NOT_ALLOWED; /* as to every reader, who may not be told of changes then */
    group_admin(SIM_OP_SET, group_node(0));
    platform_pass(SECOND);
    ck_assert_int_eq(group.status, PDK_NO_PERMISSION);
    ck_assert_uint_eq(group.count, 1);
    finish();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_group_faults");
    TCase *watcher = tcase_create("watcher");
    tcase_add_checked_fixture(watcher, platform_setup, driver_teardown);
    tcase_add_test(watcher, a_watcher_whose_answers_do_not_come);
    tcase_add_test(watcher, a_watcher_whose_questions_are_not_sent);
    tcase_add_test(watcher, a_list_that_is_not_answered_is_asked_for_again);
    tcase_add_test(watcher, a_member_that_goes_between_the_list_and_the_read);
    tcase_add_test(watcher, views_that_are_not_told_in_time_become_one);
    tcase_add_test(watcher, a_view_of_a_watcher_that_is_stopped_is_not_told);
    tcase_add_test(watcher, a_view_that_is_never_told_is_freed);
    tcase_add_test(watcher, a_watcher_that_is_stopped_at_any_time);
    tcase_add_test(watcher, a_watcher_without_watches_has_no_exact_view);
    tcase_add_test(watcher, members_that_never_rest_are_told_from_time_to_time);
    tcase_add_test(watcher, the_directory_is_listed_while_data_change);
    tcase_add_test(watcher, a_member_that_may_be_read_no_more);
    suite_add_tcase(suite, watcher);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

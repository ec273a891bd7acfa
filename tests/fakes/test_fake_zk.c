/* The fake ZooKeeper behaves as the real one where the model relies on it, through the driver's own table of calls. */
#include "fake_bench.h"

START_TEST(a_pipelined_list_shows_the_new_node) {
    fake_begin(2);
    fake_submit(&fake_a, 1, PDK__OP_CREATE, "/locks/a/" MARK_A);
    fake_submit(&fake_a, 2, PDK__OP_LIST, "/locks/a");
    fake_settle();
    fake_heard(&fake_a, "1=0:" MARK_A "0000000000 2=0," MARK_A "0000000000");
    fake_submit(&fake_b, 1, PDK__OP_CREATE, "/locks/a/" MARK_B);
    fake_settle();
    fake_heard(&fake_b, "1=0:" MARK_B "0000000001");
    ck_assert_int_gt(fake_b.token, fake_a.token);
    fake_end();
}
END_TEST

START_TEST(levels_of_the_directory_are_made_in_order) {
    fake_begin(0);
    fake_submit(&fake_a, 1, PDK__OP_CREATE, "/locks/a/" MARK_A);
    fake_submit(&fake_a, 2, PDK__OP_LIST, "/locks/a");
    fake_submit(&fake_a, 3, PDK__OP_MKDIR, "/locks/a");
    fake_submit(&fake_a, 4, PDK__OP_MKDIR, "/locks");
    fake_submit(&fake_a, 5, PDK__OP_MKDIR, "/locks");
    fake_submit(&fake_a, 6, PDK__OP_MKDIR, "/locks/a");
    fake_submit(&fake_a, 7, PDK__OP_BARRIER, "/locks");
    fake_settle();
    fake_heard(&fake_a, "1=1 2=1 3=1 4=0 5=2 6=0 7=0");
    fake_end();
}
END_TEST

START_TEST(a_watch_fires_once_and_before_a_read_shows_it) {
    fake_begin(2);
    fake_submit(&fake_a, 1, PDK__OP_CREATE, "/locks/a/" MARK_A);
    fake_settle();
    fake_submit(&fake_b, 1, PDK__OP_WATCH, "/locks/a/" MARK_A "0000000000");
    fake_submit(&fake_b, 2, PDK__OP_WATCH, "/locks/a/" MARK_A "0000000000");
    fake_submit(&fake_b, 3, PDK__OP_WATCH, "/locks/a/" MARK_A "0000000001");
    fake_settle();
    fake_heard(&fake_b, "1=0 2=0 3=1");
    fake_submit(&fake_a, 2, PDK__OP_DELETE, "/locks/a/" MARK_A "0000000000");
    fake_submit(&fake_b, 4, PDK__OP_LIST, "/locks/a");
    fake_environment.next = (int32_t)fake_a.session - 1; /* the delete first */
    fake_settle();
    fake_heard(&fake_b, "gone:/locks/a/" MARK_A "0000000000 4=0");
    fake_end();
}
END_TEST

START_TEST(a_write_fires_it_too) {
    fake_begin(2);
    fake_submit(&fake_a, 1, PDK__OP_CREATE, "/locks/a/" MARK_A);
    fake_settle();
    fake_submit(&fake_b, 1, PDK__OP_WATCH, "/locks/a/" MARK_A "0000000000");
    fake_settle();
    ts_fake_touch(&fake_environment.fake, fake_environment.fake.tree.nodes[0].name);
    ts_fake_touch(&fake_environment.fake, fake_environment.fake.tree.nodes[0].name);
    fake_settle();
    fake_heard(&fake_b, "1=0 changed:/locks/a/" MARK_A "0000000000");
    fake_end();
}
END_TEST

START_TEST(a_cut_loses_requests_and_replies_alike) {
    fake_begin(2);
    fake_submit(&fake_a, 1, PDK__OP_CREATE, "/locks/a/" MARK_A);
    fake_submit(&fake_a, 2, PDK__OP_CREATE, "/locks/a/" MARK_A);
    ts_fake_execute(&fake_environment.fake, &fake_environment.names, (int32_t)fake_a.session - 1, NULL);
    ts_fake_environment_cut(&fake_environment, (int32_t)fake_a.session - 1);
    fake_settle();
    fake_heard(&fake_a, "connecting 1=3 2=3 connected");
    fake_submit(&fake_a, 3, PDK__OP_LIST, "/locks/a");
    fake_settle();
    fake_heard(&fake_a, "3=0," MARK_A "0000000000");
    ts_fake_execute_zombie(&fake_environment.fake, &fake_environment.names, (int32_t)fake_a.session - 1,
                           NULL); /* the second one, after all */
    fake_submit(&fake_a, 4, PDK__OP_LIST, "/locks/a");
    fake_settle();
    fake_heard(&fake_a, "4=0," MARK_A "0000000001," MARK_A "0000000000");
    fake_end();
}
END_TEST

START_TEST(a_barrier_ends_what_was_on_its_way) {
    fake_begin(2);
    fake_submit(&fake_a, 1, PDK__OP_CREATE, "/locks/a/" MARK_A);
    ts_fake_environment_cut(&fake_environment, (int32_t)fake_a.session - 1);
    fake_settle();
    ck_assert_int_eq(fake_environment.fake.sessions[fake_a.session - 1].zombies, 1);
    fake_submit(&fake_a, 2, PDK__OP_LIST, "/locks/a");
    fake_settle();
    ck_assert_int_eq(fake_environment.fake.sessions[fake_a.session - 1].zombies, 1);
    fake_submit(&fake_a, 3, PDK__OP_BARRIER, "/locks/a");
    fake_settle();
    ck_assert_int_eq(fake_environment.fake.sessions[fake_a.session - 1].zombies, 0);
    fake_heard(&fake_a, "connecting 1=3 connected 2=0 3=0");
    fake_end();
}
END_TEST

START_TEST(lost_writes_come_late_in_their_order) {
    fake_begin(2);
    int32_t session = (int32_t)fake_a.session - 1;
    fake_submit(&fake_a, 1, PDK__OP_CREATE, "/locks/a/" MARK_A);
    fake_settle();
    fake_submit(&fake_a, 2, PDK__OP_CREATE, "/locks/a/" MARK_B);
    fake_submit(&fake_a, 3, PDK__OP_DELETE, "/locks/a/" MARK_A "0000000000");
    ts_fake_environment_cut(&fake_environment, session);
    fake_settle();
    ck_assert_int_eq(fake_environment.fake.sessions[session].zombies, 2);
    ts_fake_execute_zombie(&fake_environment.fake, &fake_environment.names, session, NULL);
    ck_assert_int_eq(fake_environment.fake.tree.count, 2);
    ts_fake_execute_zombie(&fake_environment.fake, &fake_environment.names, session, NULL);
    fake_submit(&fake_a, 4, PDK__OP_LIST, "/locks/a");
    fake_settle();
    fake_heard(&fake_a, "1=0:" MARK_A "0000000000 connecting 2=3 3=3 connected 4=0," MARK_B "0000000001");
    fake_end();
}
END_TEST

START_TEST(watches_are_set_again_and_miss_nothing) {
    fake_begin(2);
    fake_submit(&fake_a, 1, PDK__OP_CREATE, "/locks/a/" MARK_A);
    fake_submit(&fake_a, 2, PDK__OP_CREATE, "/locks/a/" MARK_A);
    fake_settle();
    fake_submit(&fake_b, 1, PDK__OP_WATCH, "/locks/a/" MARK_A "0000000000");
    fake_submit(&fake_b, 2, PDK__OP_WATCH, "/locks/a/" MARK_A "0000000001");
    fake_settle();
    ts_fake_environment_cut(&fake_environment, (int32_t)fake_b.session - 1);
    ts_fake_remove(&fake_environment.fake, fake_environment.fake.tree.nodes[0].name, NULL);
    fake_settle();
    fake_heard(&fake_b, "1=0 2=0 connecting connected gone:/locks/a/" MARK_A "0000000000");
    fake_submit(&fake_a, 3, PDK__OP_DELETE, "/locks/a/" MARK_A "0000000001");
    fake_settle();
    fake_heard(&fake_b, "gone:/locks/a/" MARK_A "0000000001");
    fake_end();
}
END_TEST

/* The event is missed because it came while there was no connection, or was lost with it. */
START_TEST(a_write_that_was_missed_is_told) {
    fake_begin(2);
    fake_submit(&fake_a, 1, PDK__OP_CREATE, "/locks/a/" MARK_A);
    fake_settle();
    fake_submit(&fake_b, 1, PDK__OP_WATCH, "/locks/a/" MARK_A "0000000000");
    fake_settle();
    ts_fake_environment_cut(&fake_environment, (int32_t)fake_b.session - 1);
    ts_fake_touch(&fake_environment.fake, fake_environment.fake.tree.nodes[0].name);
    fake_settle();
    fake_heard(&fake_b, "1=0 connecting connected changed:/locks/a/" MARK_A "0000000000");
    fake_submit(&fake_b, 2, PDK__OP_WATCH, "/locks/a/" MARK_A "0000000000");
    fake_settle();
    ts_fake_touch(&fake_environment.fake, fake_environment.fake.tree.nodes[0].name);
    ts_fake_environment_cut(&fake_environment, (int32_t)fake_b.session - 1);
    fake_settle();
    fake_heard(&fake_b, "2=0 connecting connected changed:/locks/a/" MARK_A "0000000000");
    fake_submit(&fake_a, 2, PDK__OP_DELETE, "/locks/a/" MARK_A "0000000000");
    fake_settle();
    fake_heard(&fake_b, "");
    fake_end();
}
END_TEST

START_TEST(expiry_takes_the_nodes_and_is_heard_of_later) {
    fake_begin(2);
    fake_submit(&fake_a, 1, PDK__OP_CREATE, "/locks/a/" MARK_A);
    fake_settle();
    fake_submit(&fake_b, 1, PDK__OP_WATCH, "/locks/a/" MARK_A "0000000000");
    fake_settle();
    ts_fake_environment_expire(&fake_environment, (int32_t)fake_a.session - 1);
    fake_submit(&fake_a, 2, PDK__OP_LIST, "/locks/a");
    fake_settle();
    fake_heard(&fake_b, "1=0 gone:/locks/a/" MARK_A "0000000000");
    fake_heard(&fake_a, "1=0:" MARK_A "0000000000 connecting 2=3 expired");
    ck_assert(!ts_fake_calls.submit(fake_a.zk, &(struct pdk__request){.kind = PDK__OP_LIST, .path = "/locks/a"}));
    fake_end();
}
END_TEST

START_TEST(close_answers_everything_and_ends_the_session) {
    fake_begin(2);
    fake_submit(&fake_a, 1, PDK__OP_CREATE, "/locks/a/" MARK_A);
    fake_settle();
    fake_submit(&fake_a, 2, PDK__OP_DELETE, "/locks/a/" MARK_A "0000000000");
    fake_a.heard[0] = '\0';
    ts_fake_calls.close(fake_a.zk);
    fake_heard(&fake_a, "2=3");
    fake_submit(&fake_b, 1, PDK__OP_LIST, "/locks/a");
    fake_settle();
    fake_heard(&fake_b, "1=0");
    fake_open(&fake_a);
    fake_settle();
    fake_end();
}
END_TEST

START_TEST(the_sequence_wraps) {
    ts_fake_environment_init(&fake_environment, "/l", 1, INT32_MAX);
    ts_fake_environment_use(&fake_environment);
    fake_open(&fake_a);
    fake_settle();
    fake_submit(&fake_a, 1, PDK__OP_CREATE, "/l/" MARK_A);
    fake_submit(&fake_a, 2, PDK__OP_CREATE, "/l/" MARK_A);
    fake_submit(&fake_a, 3, PDK__OP_STAT, "/l/" MARK_A "-2147483648");
    fake_submit(&fake_a, 4, PDK__OP_DELETE, "/l/" MARK_A "-2147483648");
    fake_settle();
    fake_heard(&fake_a, "connected 1=0:" MARK_A "2147483647 2=0:" MARK_A "-2147483648 3=0 4=0");
    ck_assert_int_eq(fake_a.owner, fake_a.session);
    ts_fake_calls.close(fake_a.zk);
}
END_TEST

/* As "%010d" writes it. */
START_TEST(a_negative_sequence_takes_ten_characters) {
    ts_fake_environment_init(&fake_environment, "/l", 1, -5);
    ts_fake_environment_use(&fake_environment);
    fake_open(&fake_a);
    fake_settle();
    fake_submit(&fake_a, 1, PDK__OP_CREATE, "/l/" MARK_A);
    fake_submit(&fake_a, 2, PDK__OP_DELETE, "/l/" MARK_A "-000000005");
    fake_settle();
    fake_heard(&fake_a, "connected 1=0:" MARK_A "-000000005 2=0");
    ts_fake_calls.close(fake_a.zk);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("fake_zk");
    TCase *cases = tcase_create("fake_zk");
    tcase_add_test(cases, a_pipelined_list_shows_the_new_node);
    tcase_add_test(cases, levels_of_the_directory_are_made_in_order);
    tcase_add_test(cases, a_watch_fires_once_and_before_a_read_shows_it);
    tcase_add_test(cases, a_write_fires_it_too);
    tcase_add_test(cases, a_cut_loses_requests_and_replies_alike);
    tcase_add_test(cases, a_barrier_ends_what_was_on_its_way);
    tcase_add_test(cases, lost_writes_come_late_in_their_order);
    tcase_add_test(cases, watches_are_set_again_and_miss_nothing);
    tcase_add_test(cases, a_write_that_was_missed_is_told);
    tcase_add_test(cases, expiry_takes_the_nodes_and_is_heard_of_later);
    tcase_add_test(cases, close_answers_everything_and_ends_the_session);
    tcase_add_test(cases, the_sequence_wraps);
    tcase_add_test(cases, a_negative_sequence_takes_ten_characters);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

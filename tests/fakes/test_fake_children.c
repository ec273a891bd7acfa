/* The small fake ZooKeeper's watches on children, nodes with a name of their own, and writes, as a real server has them. */
#include "fake_bench.h"

#define DIR "/locks/a"
#define NODE "/locks/a/" MARK_A

START_TEST(a_children_watch_fires_once) {
    fake_begin(2);
    fake_watch_children(&fake_b, 1);
    fake_watch_children(&fake_b, 2);
    fake_settle();
    fake_heard(&fake_b, "1=0 2=0");
    fake_submit(&fake_a, 1, PDK__OP_CREATE, NODE);
    fake_submit(&fake_a, 2, PDK__OP_CREATE, NODE);
    fake_submit(&fake_a, 3, PDK__OP_DELETE, NODE "0000000000");
    fake_settle();
    fake_heard(&fake_b, "children:" DIR);
    fake_watch_children(&fake_b, 3);
    fake_settle();
    fake_submit(&fake_a, 4, PDK__OP_DELETE, NODE "0000000001");
    fake_settle();
    fake_heard(&fake_b, "3=0," MARK_A "0000000001 children:" DIR);
    fake_end();
}
END_TEST

START_TEST(only_children_that_come_and_go_fire_it) {
    fake_begin(2);
    fake_submit(&fake_a, 1, PDK__OP_CREATE, NODE);
    fake_submit(&fake_b, 1, PDK__OP_LIST, DIR); /* leaves none */
    fake_settle();
    fake_submit(&fake_a, 2, PDK__OP_CREATE, NODE);
    fake_settle();
    fake_watch_children(&fake_b, 2);
    fake_settle();
    fake_submit(&fake_a, 3, PDK__OP_SET, NODE "0000000000");
    fake_submit(&fake_a, 4, PDK__OP_SET, DIR);
    fake_submit(&fake_a, 5, PDK__OP_MKDIR, DIR);
    fake_submit(&fake_a, 6, PDK__OP_BARRIER, DIR);
    fake_submit(&fake_a, 7, PDK__OP_DELETE, NODE "0000000009");
    fake_settle();
    fake_create_named(&fake_a, 8, NODE "0000000000");
    fake_settle();
    fake_heard(&fake_b, "1=0," MARK_A "0000000000 2=0," MARK_A "0000000001," MARK_A "0000000000");
    fake_heard(&fake_a, "1=0:" MARK_A "0000000000 2=0:" MARK_A "0000000001 3=0 4=0 5=2 6=0 7=1 8=2");
    fake_end();
}
END_TEST

/* Before the answer to the client's own write, and behind the deleted node's own watch. */
START_TEST(its_event_has_a_place_among_the_others) {
    fake_begin(2);
    fake_submit(&fake_a, 1, PDK__OP_CREATE, NODE);
    fake_watch_children(&fake_a, 2);
    fake_submit(&fake_a, 3, PDK__OP_WATCH, NODE "0000000000");
    fake_submit(&fake_a, 4, PDK__OP_DELETE, NODE "0000000000");
    fake_submit(&fake_a, 5, PDK__OP_LIST, DIR);
    fake_settle();
    fake_heard(&fake_a, "1=0:" MARK_A "0000000000 2=0," MARK_A "0000000000 3=0 gone:" NODE "0000000000 children:" DIR
                        " 4=0 5=0");
    fake_end();
}
END_TEST

START_TEST(a_missing_directory_is_not_watched) {
    fake_begin(1);
    fake_watch_children(&fake_b, 1);
    fake_settle();
    fake_submit(&fake_a, 1, PDK__OP_MKDIR, DIR);
    fake_submit(&fake_a, 2, PDK__OP_CREATE, NODE);
    fake_settle();
    fake_heard(&fake_b, "1=1");
    fake_end();
}
END_TEST

START_TEST(the_end_of_the_directory_is_told_as_that) {
    fake_begin(2);
    fake_submit(&fake_a, 1, PDK__OP_CREATE, NODE);
    fake_settle();
    fake_submit(&fake_a, 2, PDK__OP_DELETE, DIR); /* not while it has children */
    fake_submit(&fake_a, 3, PDK__OP_DELETE, NODE "0000000000");
    fake_settle();
    fake_watch_children(&fake_b, 1);
    fake_settle();
    fake_submit(&fake_a, 4, PDK__OP_DELETE, DIR);
    fake_submit(&fake_a, 5, PDK__OP_DELETE, DIR);
    fake_submit(&fake_a, 6, PDK__OP_DELETE, "/locks");
    fake_submit(&fake_a, 7, PDK__OP_MKDIR, DIR);
    fake_settle();
    fake_heard(&fake_a, "1=0:" MARK_A "0000000000 2=6 3=0 4=0 5=1 6=0 7=1");
    fake_heard(&fake_b, "1=0 gone:" DIR);
    fake_end();
}
END_TEST

/* ---- over a cut */

static void cut(const struct fake_client *c) { ts_fake_environment_cut(&fake_environment, fake_session(c)); }

START_TEST(it_is_set_again) {
    fake_begin(2);
    fake_watch_children(&fake_b, 1);
    fake_settle();
    cut(&fake_b);
    fake_settle();
    fake_heard(&fake_b, "1=0 connecting connected");
    fake_submit(&fake_a, 1, PDK__OP_CREATE, NODE);
    fake_submit(&fake_a, 2, PDK__OP_CREATE, NODE);
    fake_settle();
    fake_heard(&fake_b, "children:" DIR);
    cut(&fake_b); /* it has fired, so there is nothing to set */
    fake_submit(&fake_a, 3, PDK__OP_CREATE, NODE);
    fake_settle();
    fake_heard(&fake_b, "connecting connected");
    fake_end();
}
END_TEST

/* The server carries out the client's next request, and nothing else happens. */
static void execute(const struct fake_client *c) {
    ts_fake_execute(&fake_environment.fake, &fake_environment.names, fake_session(c), NULL);
}

START_TEST(what_was_missed_is_told) {
    fake_begin(2);
    fake_watch_children(&fake_b, 1);
    fake_settle();
    cut(&fake_b);
    fake_submit(&fake_a, 1, PDK__OP_CREATE, NODE);
    execute(&fake_a);
    fake_settle();
    fake_heard(&fake_b, "1=0 connecting connected children:" DIR);
    fake_watch_children(&fake_b, 2);
    fake_settle();
    fake_submit(&fake_a, 2, PDK__OP_DELETE, NODE "0000000000");
    execute(&fake_a);
    cut(&fake_b); /* the event was on its way */
    fake_settle();
    fake_heard(&fake_b, "2=0," MARK_A "0000000000 connecting connected children:" DIR);
    fake_submit(&fake_a, 3, PDK__OP_CREATE, NODE);
    fake_settle();
    fake_heard(&fake_b, "");
    fake_watch_children(&fake_b, 3);
    fake_settle();
    cut(&fake_b); /* nothing new was missed */
    fake_settle();
    fake_heard(&fake_b, "3=0," MARK_A "0000000001 connecting connected");
    fake_end();
}
END_TEST

START_TEST(a_write_is_nothing_to_miss) {
    fake_begin(2);
    fake_submit(&fake_a, 1, PDK__OP_CREATE, NODE);
    fake_settle();
    fake_watch_children(&fake_b, 1);
    fake_settle();
    cut(&fake_b);
    fake_submit(&fake_a, 2, PDK__OP_SET, NODE "0000000000");
    execute(&fake_a);
    fake_settle();
    fake_heard(&fake_b, "1=0," MARK_A "0000000000 connecting connected");
    fake_submit(&fake_a, 3, PDK__OP_CREATE, NODE);
    fake_settle();
    fake_heard(&fake_b, "children:" DIR);
    fake_end();
}
END_TEST

START_TEST(a_missed_end_is_told_unless_it_was_made_again) {
    fake_begin(2);
    fake_watch_children(&fake_b, 1);
    fake_settle();
    cut(&fake_b);
    fake_submit(&fake_a, 1, PDK__OP_DELETE, DIR);
    execute(&fake_a);
    fake_settle();
    fake_heard(&fake_b, "1=0 connecting connected gone:" DIR);
    fake_submit(&fake_a, 2, PDK__OP_MKDIR, DIR);
    fake_settle();
    fake_watch_children(&fake_b, 2);
    fake_settle();
    cut(&fake_b);
    fake_submit(&fake_a, 3, PDK__OP_DELETE, DIR);
    fake_submit(&fake_a, 4, PDK__OP_MKDIR, DIR);
    execute(&fake_a);
    execute(&fake_a);
    fake_settle();
    fake_heard(&fake_b, "2=0 connecting connected children:" DIR);
    fake_submit(&fake_a, 5, PDK__OP_CREATE, NODE);
    fake_settle();
    fake_heard(&fake_b, "");
    fake_end();
}
END_TEST

/* As for a client that does not keep its watches. */
START_TEST(without_its_watches_it_hears_of_nothing) {
    fake_begin(2);
    fake_watch_children(&fake_b, 1);
    fake_settle();
    cut(&fake_b);
    fake_submit(&fake_a, 1, PDK__OP_CREATE, NODE);
    execute(&fake_a);
    ck_assert(ts_fake_connect(&fake_environment.fake, &fake_environment.names, fake_session(&fake_b), false));
    fake_submit(&fake_a, 2, PDK__OP_CREATE, NODE);
    fake_settle();
    fake_heard(&fake_b, "1=0 connecting");
    fake_end();
}
END_TEST

START_TEST(a_watch_whose_answer_was_lost_is_not_set) {
    fake_begin(2);
    fake_watch_children(&fake_b, 1);
    execute(&fake_b);
    cut(&fake_b);
    fake_settle();
    fake_submit(&fake_a, 1, PDK__OP_CREATE, NODE);
    fake_settle();
    fake_heard(&fake_b, "connecting 1=3 connected");
    fake_end();
}
END_TEST

START_TEST(the_end_of_a_session_is_one_change) {
    fake_begin(2);
    fake_submit(&fake_a, 1, PDK__OP_CREATE, NODE);
    fake_submit(&fake_a, 2, PDK__OP_CREATE, NODE);
    fake_watch_children(&fake_a, 3);
    fake_settle();
    fake_watch_children(&fake_b, 1);
    fake_settle();
    fake_a.heard[0] = fake_b.heard[0] = '\0';
    ts_fake_environment_expire(&fake_environment, fake_session(&fake_a));
    ck_assert_int_eq(fake_environment.fake.sessions[fake_session(&fake_a)].replies_count,
                     0); /* no event for the dead */
    fake_settle();
    fake_heard(&fake_b, "children:" DIR);
    fake_heard(&fake_a, "connecting expired");
    fake_end();
}
END_TEST

/* ---- names and writes */

START_TEST(a_name_is_given_once_and_counts) {
    fake_begin(1);
    fake_create_named(&fake_a, 1, NODE "0000000002");
    fake_submit(&fake_a, 2, PDK__OP_MKDIR, DIR);
    fake_create_named(&fake_a, 3, NODE "0000000002");
    fake_settle();
    fake_heard(&fake_a, "1=1 2=0 3=0:" MARK_A "0000000002");
    fake_create_named(&fake_b, 1, NODE "0000000002");
    fake_submit(&fake_b, 2, PDK__OP_STAT, NODE "0000000002");
    fake_submit(&fake_b, 3, PDK__OP_CREATE, NODE);
    fake_settle();
    fake_heard(&fake_b, "1=2 2=0 3=0:" MARK_A "0000000001");
    ck_assert_int_eq(fake_b.owner, fake_a.session);
    fake_submit(&fake_b, 4, PDK__OP_CREATE, NODE); /* the number whose name is taken */
    fake_create_named(&fake_b, 5, "/locks/a/" MARK_B "0000000001");
    fake_submit(&fake_b, 6, PDK__OP_CREATE, NODE);
    fake_settle();
    fake_heard(&fake_b, "4=2 5=0:" MARK_B "0000000001 6=0:" MARK_A "0000000003");
    ck_assert(!ts_fake_calls.submit(
        fake_b.zk, &(struct pdk__request){.kind = PDK__OP_CREATE, .path = DIR, .named = true})); /* no child of it */
    fake_end();
}
END_TEST

START_TEST(a_name_that_was_given_again_is_a_change) {
    fake_begin(2);
    fake_create_named(&fake_a, 1, NODE "0000000007");
    fake_settle();
    fake_submit(&fake_b, 1, PDK__OP_WATCH, NODE "0000000007");
    fake_settle();
    cut(&fake_b);
    fake_submit(&fake_a, 2, PDK__OP_DELETE, NODE "0000000007");
    fake_create_named(&fake_a, 3, NODE "0000000007");
    execute(&fake_a);
    execute(&fake_a);
    fake_settle();
    fake_heard(&fake_b, "1=0 connecting connected changed:" NODE "0000000007");
    fake_submit(&fake_b, 2, PDK__OP_WATCH, NODE "0000000007");
    fake_settle();
    fake_submit(&fake_a, 4, PDK__OP_DELETE, NODE "0000000007");
    execute(&fake_a);
    cut(&fake_b); /* the deletion was on its way */
    fake_create_named(&fake_a, 5, NODE "0000000007");
    execute(&fake_a);
    fake_settle();
    fake_heard(&fake_b, "2=0 connecting connected changed:" NODE "0000000007");
    fake_end();
}
END_TEST

START_TEST(a_write_fires_the_watch_of_its_node) {
    fake_begin(2);
    fake_submit(&fake_a, 1, PDK__OP_CREATE, NODE);
    fake_submit(&fake_a, 2, PDK__OP_SET, NODE "0000000001");
    fake_settle();
    fake_heard(&fake_a, "1=0:" MARK_A "0000000000 2=1");
    fake_submit(&fake_b, 1, PDK__OP_WATCH, NODE "0000000000");
    fake_settle();
    fake_submit(&fake_b, 2, PDK__OP_SET, NODE "0000000000");
    fake_submit(&fake_a, 3, PDK__OP_SET, NODE "0000000000");
    fake_settle();
    fake_heard(&fake_b, "1=0 changed:" NODE "0000000000 2=0");
    fake_end();
}
END_TEST

START_TEST(a_lost_write_may_come_late) {
    fake_begin(2);
    fake_submit(&fake_a, 1, PDK__OP_CREATE, NODE);
    fake_settle();
    fake_submit(&fake_a, 2, PDK__OP_SET, NODE "0000000000");
    cut(&fake_a);
    fake_submit(&fake_b, 1, PDK__OP_WATCH, NODE "0000000000");
    fake_settle();
    fake_heard(&fake_b, "1=0");
    ck_assert_int_eq(fake_environment.fake.sessions[fake_session(&fake_a)].zombies, 1);
    ts_fake_execute_zombie(&fake_environment.fake, &fake_environment.names, fake_session(&fake_a), NULL);
    fake_settle();
    fake_heard(&fake_b, "changed:" NODE "0000000000");
    cut(&fake_a);
    fake_settle();
    fake_submit(&fake_a, 3, PDK__OP_DELETE, NODE "0000000000");
    cut(&fake_a);
    fake_settle();
    fake_submit(&fake_a, 4, PDK__OP_SET, NODE "0000000000"); /* the delete cannot come after it */
    fake_settle();
    ck_assert_int_eq(fake_environment.fake.sessions[fake_session(&fake_a)].zombies, 0);
    fake_end();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("fake_children");
    TCase *cases = tcase_create("fake_children");
    tcase_add_test(cases, a_children_watch_fires_once);
    tcase_add_test(cases, only_children_that_come_and_go_fire_it);
    tcase_add_test(cases, its_event_has_a_place_among_the_others);
    tcase_add_test(cases, a_missing_directory_is_not_watched);
    tcase_add_test(cases, the_end_of_the_directory_is_told_as_that);
    tcase_add_test(cases, it_is_set_again);
    tcase_add_test(cases, what_was_missed_is_told);
    tcase_add_test(cases, a_write_is_nothing_to_miss);
    tcase_add_test(cases, a_missed_end_is_told_unless_it_was_made_again);
    tcase_add_test(cases, without_its_watches_it_hears_of_nothing);
    tcase_add_test(cases, a_watch_whose_answer_was_lost_is_not_set);
    tcase_add_test(cases, the_end_of_a_session_is_one_change);
    tcase_add_test(cases, a_name_is_given_once_and_counts);
    tcase_add_test(cases, a_name_that_was_given_again_is_a_change);
    tcase_add_test(cases, a_write_fires_the_watch_of_its_node);
    tcase_add_test(cases, a_lost_write_may_come_late);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

/* The fake ensemble's watches of data and of children: they fire once, ahead of any answer that shows the change, and
 * none is missed across a reconnect. */
#include "sim_bench.h"

#include <glib.h>
#include <string.h>

START_TEST(a_watch_fires_once_and_before_a_read_shows_it) {
    sim_bench_begin(3);
    sim_bench_create("/a", SIM_PERSISTENT);
    sim_player_connect(&sim_a, 0);
    sim_player_connect(&sim_b, 1);
    sim_player_watch(&sim_b, 1, "/a");
    sim_player_watch(&sim_b, 2, "/a");
    sim_player_watch(&sim_b, 3, "/none");
    sim_bench_run(20);
    sim_player_check(&sim_b, "1=0 2=0 3=-101");
    sim_player_create(&sim_a, 1, "/none", SIM_PERSISTENT); /* no watch was left there */
    sim_player_create(&sim_a, 2, "/a/child", SIM_PERSISTENT);
    sim_player_send(&sim_a,
                    &(struct sim_packet){.kind = SIM_REQUEST, .tag = 3, .op = SIM_OP_SET, .path = "/a", .data = "new"});
    sim_player_ask(&sim_a, 4, SIM_OP_SET, "/none");
    /* Asked without pause: some answer is the first that shows it. */
    for (uint64_t i = 0; i < 16; i++) {
        sim_player_ask(&sim_b, 4, SIM_OP_GET, "/a");
        sim_bench_run(1);
    }
    const char *told = strstr(sim_b.heard, "changed:/a"), *shown = strstr(sim_b.heard, "4=0\"new\"");
    ck_assert_msg(told && shown && told < shown, "%s", sim_b.heard);
    ck_assert_msg(g_str_has_prefix(sim_b.heard, "4=0 "), "%s", sim_b.heard);
    ck_assert_ptr_null(strstr(told + 1, "changed"));
}
END_TEST

/* The writer's own watch too, and its answer comes after. */
START_TEST(an_event_comes_before_the_answer_of_the_write) {
    sim_bench_begin(3);
    sim_player_connect(&sim_a, sim_bench_follower(1));
    sim_player_create(&sim_a, 1, "/a", SIM_EPHEMERAL);
    sim_player_watch(&sim_a, 2, "/a");
    sim_player_ask(&sim_a, 3, SIM_OP_DELETE, "/a");
    sim_player_watch(&sim_a, 4, "/a");
    sim_bench_run(20);
    sim_player_check(&sim_a, "1=0:/a 2=0 deleted:/a 3=0 4=-101");
}
END_TEST

START_TEST(permissions_and_counters_fire_nothing) {
    sim_bench_begin(1);
    sim_bench_create("/a", SIM_PERSISTENT);
    sim_player_connect(&sim_a, 0);
    sim_player_watch(&sim_a, 1, "/a");
    sim_bench_run(10);
    ck_assert(sim_admin_set(sim_ensemble, "/a", SIM_SET_ACL, SIM_NO_DELETE));
    ck_assert(sim_admin_set(sim_ensemble, "/a", SIM_SET_COUNTER, 7));
    sim_player_ask(&sim_a, 2, SIM_OP_MULTI_CHECK, "/a");
    sim_bench_run(10);
    sim_player_check(&sim_a, "1=0 2=0");
    sim_player_ask(&sim_a, 3, SIM_OP_SET, "/a");
    sim_bench_run(10);
    sim_player_check(&sim_a, "changed:/a 3=0");
}
END_TEST

/* The watch is gone nevertheless. */
START_TEST(who_may_no_longer_read_is_told_nothing) {
    sim_bench_begin(1);
    sim_bench_create("/a", SIM_PERSISTENT);
    sim_player_connect(&sim_a, 0);
    sim_player_watch(&sim_a, 1, "/a");
    sim_bench_run(10);
    ck_assert(sim_admin_set(sim_ensemble, "/a", SIM_SET_ACL, SIM_NO_READ));
    sim_player_ask(&sim_a, 2, SIM_OP_SET, "/a");
    sim_bench_run(10);
    ck_assert(sim_admin_set(sim_ensemble, "/a", SIM_SET_ACL, 0));
    sim_player_ask(&sim_a, 3, SIM_OP_SET, "/a");
    sim_bench_run(10);
    sim_player_check(&sim_a, "1=0 2=0 3=0");
}
END_TEST

static void set_watches(struct sim_player *p, const char *const *paths, size_t count) {
    sim_player_send(p, &(struct sim_packet){.kind = SIM_SET_WATCHES, .paths = paths, .count = count, .zxid = p->zxid});
}

static void set_children_watches(struct sim_player *p, const char *const *parents, size_t count) {
    sim_player_send(
        p, &(struct sim_packet){.kind = SIM_SET_WATCHES, .parents = parents, .parents_count = count, .zxid = p->zxid});
}

START_TEST(watches_are_set_again_and_miss_nothing) {
    static const char *const paths[] = {"/kept", "/set", "/gone", "/again"};
    sim_bench_begin(3);
    for (size_t i = 0; i < 4; i++)
        sim_bench_create(paths[i], SIM_PERSISTENT);
    sim_player_connect(&sim_a, sim_bench_follower(0));
    sim_player_connect(&sim_b, sim_bench_leader());
    for (size_t i = 0; i < 4; i++)
        sim_player_watch(&sim_a, i, paths[i]);
    sim_bench_run(10);
    sim_player_check(&sim_a, "0=0 1=0 2=0 3=0");
    sim_player_leave(&sim_a);
    sim_player_ask(&sim_b, 1, SIM_OP_SET, "/set");
    sim_player_ask(&sim_b, 2, SIM_OP_DELETE, "/gone");
    sim_player_ask(&sim_b, 3, SIM_OP_DELETE, "/again");
    sim_player_create(&sim_b, 4, "/again", SIM_PERSISTENT);
    sim_bench_run(20);
    sim_player_check(&sim_b, "1=0 2=0 3=0 4=0:/again");
    sim_player_connect(&sim_a, sim_bench_follower(1));
    set_watches(&sim_a, paths, 4);
    sim_bench_run(10);
    sim_player_check(&sim_a, "changed:/set deleted:/gone changed:/again watching");
    sim_player_ask(&sim_b, 5, SIM_OP_SET, "/kept");
    sim_player_ask(&sim_b, 6, SIM_OP_SET, "/set");
    sim_bench_run(10);
    sim_player_check(&sim_a, "changed:/kept");
}
END_TEST

/* ---- of children */

START_TEST(children_that_come_and_go_fire_once) {
    sim_bench_begin(3);
    sim_bench_create("/a", SIM_PERSISTENT);
    sim_player_connect(&sim_a, sim_bench_leader());
    sim_player_connect(&sim_b, sim_bench_follower(0));
    sim_player_watch_children(&sim_b, 1, "/a");
    sim_player_watch_children(&sim_b, 2, "/a");
    sim_player_watch_children(&sim_b, 3, "/none");
    sim_bench_run(20);
    sim_player_check(&sim_b, "1=0 2=0 3=-101");
    sim_player_ask(&sim_a, 1, SIM_OP_SET, "/a"); /* no child */
    sim_player_create(&sim_a, 2, "/none", SIM_PERSISTENT);
    sim_player_create(&sim_a, 3, "/a/x", SIM_PERSISTENT);
    sim_player_create(&sim_a, 4, "/a/y", SIM_PERSISTENT);
    sim_bench_run(20);
    sim_player_check(&sim_b, "children:/a");
    sim_player_watch_children(&sim_b, 4, "/a");
    sim_bench_run(20);
    sim_player_create(&sim_a, 5, "/a/x/deep", SIM_PERSISTENT);
    sim_player_ask(&sim_a, 6, SIM_OP_SET, "/a/y");
    sim_player_ask(&sim_a, 7, SIM_OP_DELETE, "/a/y");
    sim_bench_run(20);
    sim_player_check(&sim_b, "4=0,x,y children:/a");
}
END_TEST

/* Asked without pause: some answer is the first that shows the new child. */
START_TEST(a_list_never_shows_a_child_before_the_event) {
    sim_bench_begin(3);
    sim_bench_create("/a", SIM_PERSISTENT);
    sim_player_connect(&sim_a, sim_bench_leader());
    sim_player_connect(&sim_b, sim_bench_follower(0));
    sim_player_watch_children(&sim_b, 1, "/a");
    sim_bench_run(20);
    sim_player_create(&sim_a, 1, "/a/x", SIM_PERSISTENT);
    for (int i = 0; i < 16; i++) {
        sim_player_ask(&sim_b, 2, SIM_OP_LIST, "/a");
        sim_bench_run(1);
    }
    sim_bench_run(10);
    const char *told = strstr(sim_b.heard, "children:/a"), *shown = strstr(sim_b.heard, "2=0,x");
    ck_assert_msg(told && shown && told < shown, "%s", sim_b.heard);
    ck_assert_msg(strstr(sim_b.heard, "2=0 ") < told, "%s", sim_b.heard); /* it was asked before, too */
}
END_TEST

/* The deleted node's own watches fire first, and once. Then its parent's do. */
START_TEST(a_deletion_is_told_to_the_node_and_to_the_parent) {
    sim_bench_begin(1);
    sim_bench_create("/a", SIM_PERSISTENT);
    sim_bench_create("/a/x", SIM_PERSISTENT);
    sim_player_connect(&sim_a, 0);
    sim_player_watch_children(&sim_a, 1, "/");
    sim_player_watch_children(&sim_a, 2, "/a");
    sim_player_watch_children(&sim_a, 3, "/a/x");
    sim_player_watch(&sim_a, 4, "/a/x");
    sim_player_ask(&sim_a, 5, SIM_OP_DELETE, "/a/x");
    sim_player_ask(&sim_a, 6, SIM_OP_DELETE, "/a");
    sim_bench_run(20);
    sim_player_check(&sim_a, "1=0,a 2=0,x 3=0 4=0 deleted:/a/x children:/a 5=0 children:/ 6=0");
}
END_TEST

/* For either kind of watch the node itself counts: its data for the one, its list for the other. */
START_TEST(who_may_not_list_is_told_nothing_of_children) {
    sim_bench_begin(1);
    sim_bench_create("/a", SIM_PERSISTENT);
    sim_bench_create("/a/x", SIM_PERSISTENT);
    sim_player_connect(&sim_a, 0);
    sim_player_watch_children(&sim_a, 1, "/a");
    sim_player_watch(&sim_a, 2, "/a/x");
    sim_bench_run(10);
    ck_assert(sim_admin_set(sim_ensemble, "/a", SIM_SET_ACL, SIM_NO_READ));
    sim_player_ask(&sim_a, 3, SIM_OP_DELETE, "/a/x");
    sim_bench_run(10);
    ck_assert(sim_admin_set(sim_ensemble, "/a", SIM_SET_ACL, 0));
    sim_player_create(&sim_a, 4, "/a/y", SIM_PERSISTENT);
    sim_bench_run(10);
    sim_player_check(&sim_a, "1=0,x 2=0 deleted:/a/x 3=0 4=0:/a/y");
}
END_TEST

START_TEST(children_watches_are_set_again_and_miss_nothing) {
    static const char *const parents[] = {"/kept", "/written", "/fuller", "/emptier", "/gone", "/again"};
    sim_bench_begin(3);
    for (size_t i = 0; i < 6; i++)
        sim_bench_create(parents[i], SIM_PERSISTENT);
    sim_bench_create("/emptier/x", SIM_PERSISTENT);
    sim_player_connect(&sim_a, sim_bench_follower(0));
    sim_player_connect(&sim_b, sim_bench_leader());
    for (size_t i = 0; i < 6; i++)
        sim_player_watch_children(&sim_a, i, parents[i]);
    sim_bench_run(10);
    sim_player_check(&sim_a, "0=0 1=0 2=0 3=0,x 4=0 5=0");
    sim_player_leave(&sim_a);
    sim_player_ask(&sim_b, 1, SIM_OP_SET, "/written");
    sim_player_create(&sim_b, 2, "/fuller/x", SIM_PERSISTENT);
    sim_player_ask(&sim_b, 3, SIM_OP_DELETE, "/emptier/x");
    sim_player_ask(&sim_b, 4, SIM_OP_DELETE, "/gone");
    sim_player_ask(&sim_b, 5, SIM_OP_DELETE, "/again");
    sim_player_create(&sim_b, 6, "/again", SIM_PERSISTENT);
    sim_bench_run(20);
    sim_player_connect(&sim_a, sim_bench_follower(1));
    set_children_watches(&sim_a, parents, 6);
    sim_bench_run(10);
    sim_player_check(&sim_a, "children:/fuller children:/emptier deleted:/gone children:/again watching");
    sim_player_create(&sim_b, 7, "/kept/x", SIM_PERSISTENT);
    sim_player_create(&sim_b, 8, "/fuller/y", SIM_PERSISTENT);
    sim_player_create(&sim_b, 9, "/written/x", SIM_PERSISTENT);
    sim_bench_run(10);
    sim_player_check(&sim_a, "children:/kept children:/written");
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("sim_watches");
    TCase *cases = tcase_create("sim_watches");
    tcase_add_checked_fixture(cases, NULL, sim_bench_end);
    tcase_add_test(cases, a_watch_fires_once_and_before_a_read_shows_it);
    tcase_add_test(cases, an_event_comes_before_the_answer_of_the_write);
    tcase_add_test(cases, permissions_and_counters_fire_nothing);
    tcase_add_test(cases, who_may_no_longer_read_is_told_nothing);
    tcase_add_test(cases, watches_are_set_again_and_miss_nothing);
    tcase_add_test(cases, children_that_come_and_go_fire_once);
    tcase_add_test(cases, a_list_never_shows_a_child_before_the_event);
    tcase_add_test(cases, a_deletion_is_told_to_the_node_and_to_the_parent);
    tcase_add_test(cases, who_may_not_list_is_told_nothing_of_children);
    tcase_add_test(cases, children_watches_are_set_again_and_miss_nothing);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

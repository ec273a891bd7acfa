/* The fake ensemble without faults: sessions, writes, reads, the answers and their order. */
#include "sim_bench.h"

#include <string.h>
#include <zookeeper/zookeeper.h>

START_TEST(each_server_gives_a_session) {
    sim_bench_begin(3);
    sim_player_connect(&sim_a, 0);
    sim_player_connect(&sim_b, 1);
    sim_player_connect(&sim_c, 2);
    ck_assert(sim_a.session != sim_b.session && sim_b.session != sim_c.session && sim_a.session != sim_c.session);
    ck_assert_int_eq(sim_a.timeout, 2000 * SIM_MS);
    ck_assert_uint_eq(sim_truth(sim_ensemble)->sessions_count, 3);
    sim_player_send(&sim_a, &(struct sim_packet){.kind = SIM_CLOSE});
    sim_bench_run(20);
    sim_player_check(&sim_a, "closed end");
    ck_assert_uint_eq(sim_truth(sim_ensemble)->sessions_count, 2);
}
END_TEST

/* A client need not wait for its session before it asks. */
START_TEST(what_comes_before_the_session_is_held) {
    sim_bench_begin(3);
    sim_player_dial(&sim_a, sim_bench_follower(0));
    sim_player_create(&sim_a, 1, "/a", SIM_EPHEMERAL);
    sim_player_ask(&sim_a, 2, SIM_OP_EXISTS, "/a");
    sim_bench_run(20);
    sim_player_check(&sim_a, "connected 1=0:/a 2=0");
    sim_player_dial(&sim_a, sim_bench_follower(1));
    sim_player_ask(&sim_a, 3, SIM_OP_EXISTS, "/a");
    sim_player_send(&sim_a, &(struct sim_packet){.kind = SIM_CLOSE});
    sim_bench_run(20);
    sim_player_check(&sim_a, "connected 3=0 closed end");
    sim_player_ask(&sim_a, 4, SIM_OP_EXISTS, "/a"); /* nobody listens */
    sim_bench_run(20);
    sim_player_check(&sim_a, "");
}
END_TEST

START_TEST(timeouts_are_clamped) {
    sim_bench_begin(1);
    sim_a.asked_timeout = SIM_MS;
    sim_b.asked_timeout = 3600000 * SIM_MS;
    sim_player_connect(&sim_a, 0);
    sim_player_connect(&sim_b, 0);
    ck_assert_int_eq(sim_a.timeout, 2 * SIM_TICK);
    ck_assert_int_eq(sim_b.timeout, 20 * SIM_TICK);
}
END_TEST

START_TEST(a_pipelined_list_shows_the_new_node) {
    struct sim_player *players[] = {&sim_a, &sim_b, &sim_c};
    sim_bench_begin(3);
    sim_bench_create("/l", SIM_PERSISTENT);
    for (int32_t i = 0; i < 3; i++) {
        sim_player_connect(players[i], i);
        sim_player_create(players[i], 1, "/l/x-", SIM_EPHEMERAL_SEQUENTIAL);
        sim_player_ask(players[i], 2, SIM_OP_LIST, "/l");
        sim_bench_run(20);
        ck_assert_int_eq(players[i]->stat.children, i + 1);
    }
    sim_player_check(&sim_a, "1=0:/l/x-0000000000 2=0,x-0000000000");
    sim_player_check(&sim_b, "1=0:/l/x-0000000001 2=0,x-0000000000,x-0000000001");
    sim_player_check(&sim_c, "1=0:/l/x-0000000002 2=0,x-0000000000,x-0000000001,x-0000000002");
}
END_TEST

/* Every write is answered in the order of the requests, whether it fails or not. Each consumes a zxid. */
START_TEST(codes_of_writes) {
    sim_bench_begin(3);
    sim_player_connect(&sim_a, sim_bench_follower(0));
    int64_t before = sim_truth(sim_ensemble)->zxid;
    sim_player_create(&sim_a, 1, "/a/b", SIM_PERSISTENT);
    sim_player_create(&sim_a, 2, "/a", SIM_PERSISTENT);
    sim_player_create(&sim_a, 3, "/a", SIM_EPHEMERAL);
    sim_player_create(&sim_a, 4, "/a/e", SIM_EPHEMERAL);
    sim_player_create(&sim_a, 5, "/a/e/x-", SIM_EPHEMERAL_SEQUENTIAL);
    sim_player_ask(&sim_a, 6, SIM_OP_DELETE, "/a");
    sim_player_ask(&sim_a, 7, SIM_OP_DELETE, "/a/none");
    sim_player_ask(&sim_a, 8, SIM_OP_MULTI_CHECK, "/a/e");
    sim_player_ask(&sim_a, 9, SIM_OP_MULTI_CHECK, "/a/none");
    sim_player_ask(&sim_a, 10, SIM_OP_SET, "/a/none");
    sim_player_ask(&sim_a, 11, SIM_OP_SET, "/a");
    sim_player_create(&sim_a, 12, "/a//b", SIM_PERSISTENT);
    sim_player_create(&sim_a, 13, "/a/", SIM_PERSISTENT);
    sim_player_create(&sim_a, 14, "/a/", SIM_SEQUENTIAL);
    sim_player_create(&sim_a, 15, "/a/../b", SIM_PERSISTENT);
    sim_player_ask(&sim_a, 16, SIM_OP_DELETE, "/");
    sim_player_ask(&sim_a, 17, SIM_OP_DELETE, "/a/e");
    sim_player_ask(&sim_a, 18, SIM_OP_SYNC, "/a");
    sim_player_ask(&sim_a, 19, SIM_OP_SYNC, "/a");
    sim_bench_run(20);
    sim_player_check(&sim_a, "1=-101 2=0:/a 3=-110 4=0:/a/e 5=-108 6=-111 7=-101 8=0 9=-101 10=-101 11=0 12=-8 13=-8 "
                             "14=0:/a/0000000001 15=-8 16=-8 17=0 18=0 19=0");
    ck_assert_int_eq(sim_truth(sim_ensemble)->zxid, before + 17);
    ck_assert_int_eq(sim_a.zxid, before + 17);
    sim_player_create(&sim_a, 20, "a", SIM_PERSISTENT);
    sim_player_create(&sim_a, 21, "/a/\x7f", SIM_PERSISTENT);
    sim_player_ask(&sim_a, 22, SIM_OP_SET, "/a/");
    sim_player_ask(&sim_a, 23, SIM_OP_MULTI_CHECK, "/a/./b");
    sim_player_ask(&sim_a, 24, SIM_OP_DELETE, "/none/x");
    sim_player_ask(&sim_a, 25, SIM_OP_GET, "/a/");
    sim_bench_run(20);
    sim_player_check(&sim_a, "20=-8 21=-8 22=-8 23=-8 24=-101 25=-101");
}
END_TEST

START_TEST(codes_of_reads) {
    sim_bench_begin(3);
    sim_bench_create("/a", SIM_PERSISTENT);
    sim_player_connect(&sim_a, sim_bench_follower(0));
    sim_player_send(
        &sim_a, &(struct sim_packet){.kind = SIM_REQUEST, .tag = 1, .op = SIM_OP_SET, .path = "/a", .data = "text"});
    sim_player_ask(&sim_a, 2, SIM_OP_GET, "/a");
    sim_player_ask(&sim_a, 3, SIM_OP_GET, "/b");
    sim_player_ask(&sim_a, 4, SIM_OP_LIST, "/b");
    sim_player_ask(&sim_a, 5, SIM_OP_EXISTS, "/b");
    sim_player_ask(&sim_a, 6, SIM_OP_LIST, "/");
    sim_player_ask(&sim_a, 7, SIM_OP_EXISTS, "/a");
    sim_bench_run(20);
    sim_player_check(&sim_a, "1=0 2=0\"text\" 3=-101 4=-101 5=-101 6=0,a 7=0");
    ck_assert_int_eq(sim_a.stat.version, 1);
    ck_assert_int_gt(sim_a.stat.mzxid, sim_a.stat.czxid);
}
END_TEST

START_TEST(nodes_refuse) {
    sim_bench_begin(3);
    sim_bench_create("/a", SIM_PERSISTENT);
    sim_bench_create("/a/b", SIM_PERSISTENT);
    ck_assert(sim_admin_set(sim_ensemble, "/a", SIM_SET_ACL, SIM_NO_READ | SIM_NO_CREATE | SIM_NO_DELETE));
    ck_assert(sim_admin_set(sim_ensemble, "/a/b", SIM_SET_ACL, SIM_NO_WRITE));
    sim_player_connect(&sim_a, 0);
    sim_player_ask(&sim_a, 1, SIM_OP_GET, "/a");
    sim_player_ask(&sim_a, 2, SIM_OP_LIST, "/a");
    sim_player_ask(&sim_a, 3, SIM_OP_EXISTS, "/a");
    sim_player_ask(&sim_a, 4, SIM_OP_MULTI_CHECK, "/a");
    sim_player_create(&sim_a, 5, "/a/c", SIM_EPHEMERAL);
    sim_player_ask(&sim_a, 6, SIM_OP_DELETE, "/a/b"); /* the parent permits it */
    sim_player_ask(&sim_a, 7, SIM_OP_DELETE, "/a/none");
    sim_player_ask(&sim_a, 8, SIM_OP_SET, "/a/b");
    sim_player_ask(&sim_a, 9, SIM_OP_GET, "/a/b");
    sim_bench_run(20);
    sim_player_check(&sim_a, "1=-102 2=-102 3=0 4=-102 5=-102 6=-102 7=-102 8=-102 9=0");
    ck_assert(sim_admin(sim_ensemble, &(struct sim_packet){.kind = SIM_REQUEST, .op = SIM_OP_DELETE, .path = "/a/b"}));
    sim_bench_create("/a/admins", SIM_PERSISTENT);
    ck_assert_ptr_null(sim_tree_find(sim_truth(sim_ensemble), "/a/b"));
    ck_assert_ptr_nonnull(sim_tree_find(sim_truth(sim_ensemble), "/a/admins"));
}
END_TEST

START_TEST(a_set_answer_is_given_once) {
    sim_bench_begin(3);
    sim_player_connect(&sim_a, sim_bench_follower(0));
    sim_answer_next(sim_ensemble, sim_a.session, ZTHROTTLEDOP, false);
    sim_answer_next(sim_ensemble, sim_a.session, ZOPERATIONTIMEOUT, true);
    sim_answer_next(sim_ensemble, sim_a.session, ZSYSTEMERROR, false);
    sim_player_create(&sim_a, 1, "/a", SIM_PERSISTENT);
    sim_player_create(&sim_a, 2, "/b", SIM_PERSISTENT);
    sim_player_ask(&sim_a, 3, SIM_OP_LIST, "/");
    sim_player_ask(&sim_a, 4, SIM_OP_LIST, "/");
    sim_bench_run(20);
    sim_player_check(&sim_a, "1=-127 2=-7 3=-1 4=0,b");
    int64_t before = sim_truth(sim_ensemble)->zxid;
    sim_answer_next(sim_ensemble, sim_a.session, ZNONODE, false);
    sim_player_ask(&sim_a, 5, SIM_OP_MULTI_CHECK, "/");
    sim_bench_run(20);
    sim_player_check(&sim_a, "5=-101");
    ck_assert_int_eq(sim_truth(sim_ensemble)->zxid, before + 1);
    sim_answer_next(sim_ensemble, sim_a.session, ZSESSIONMOVED, true);
    sim_player_create(&sim_a, 5, "/c", SIM_PERSISTENT);
    sim_bench_run(20);
    sim_player_check(&sim_a, "end");
    ck_assert_ptr_nonnull(sim_tree_find(sim_truth(sim_ensemble), "/c"));
}
END_TEST

/* ---- sequences, containers */

/* At 2147483647 it sticks: the name is taken, or the same name comes again. */
static void exhaust(int32_t server) {
    sim_player_connect(&sim_a, server);
    sim_bench_create("/l", SIM_PERSISTENT);
    ck_assert(sim_admin_set(sim_ensemble, "/l", SIM_SET_COUNTER, INT32_MAX - 1));
    for (uint64_t i = 1; i <= 4; i++) {
        sim_player_create(&sim_a, i, "/l/x-", SIM_EPHEMERAL_SEQUENTIAL);
        sim_bench_run(20);
    }
    sim_player_check(&sim_a, "1=0:/l/x-2147483646 2=0:/l/x-2147483647 3=-110 4=-110");
    sim_player_ask(&sim_a, 5, SIM_OP_DELETE, "/l/x-2147483647");
    sim_bench_run(20);
    sim_player_create(&sim_a, 6, "/l/x-", SIM_EPHEMERAL_SEQUENTIAL);
    sim_bench_run(20);
    sim_player_create(&sim_a, 7, "/l/x-", SIM_EPHEMERAL_SEQUENTIAL);
    sim_bench_run(20);
    sim_player_check(&sim_a, "5=0 6=0:/l/x-2147483647 7=-110");
    /* While creates are on their way the leader counts on; then it sticks again. */
    sim_player_create(&sim_a, 8, "/l/y-", SIM_EPHEMERAL_SEQUENTIAL);
    sim_player_create(&sim_a, 9, "/l/y-", SIM_EPHEMERAL_SEQUENTIAL);
    sim_player_create(&sim_a, 10, "/l/y-", SIM_EPHEMERAL_SEQUENTIAL);
    sim_bench_run(20);
    sim_player_create(&sim_a, 11, "/l/y-", SIM_EPHEMERAL_SEQUENTIAL);
    sim_bench_run(20);
}

START_TEST(a_counter_sticks) {
    sim_bench_begin(3);
    exhaust(sim_bench_follower(0));
    sim_player_check(&sim_a, "8=0:/l/y-2147483647 9=0:/l/y--2147483648 10=0:/l/y--2147483647 11=-110");
    sim_bench_begin(1);
    exhaust(0);
    sim_player_check(&sim_a, "8=0:/l/y-2147483647 9=-110 10=-110 11=-110"); /* nothing is on its way with one server */
}
END_TEST

START_TEST(containers_disappear_when_they_are_empty_and_had_a_child) {
    struct sim_ensemble_config config = sim_bench_config(3);
    config.container_interval = 1000 * SIM_MS;
    sim_bench_begin_with(&config);
    sim_player_connect(&sim_a, 0);
    sim_player_create(&sim_a, 1, "/c", SIM_CONTAINER);
    sim_player_create(&sim_a, 2, "/plain", SIM_PERSISTENT);
    sim_bench_run(2500);
    ck_assert_ptr_nonnull(sim_tree_find(sim_truth(sim_ensemble), "/c"));
    sim_player_create(&sim_a, 3, "/c/x", SIM_EPHEMERAL);
    sim_player_create(&sim_a, 4, "/plain/x", SIM_EPHEMERAL);
    sim_bench_run(2500);
    ck_assert_ptr_nonnull(sim_tree_find(sim_truth(sim_ensemble), "/c"));
    ck_assert_int_eq(sim_tree_find(sim_truth(sim_ensemble), "/c")->stat.owner, 0);
    sim_player_ask(&sim_a, 5, SIM_OP_DELETE, "/c/x");
    sim_player_ask(&sim_a, 6, SIM_OP_DELETE, "/plain/x");
    sim_bench_run(1100);
    ck_assert_ptr_null(sim_tree_find(sim_truth(sim_ensemble), "/c"));
    ck_assert_ptr_nonnull(sim_tree_find(sim_truth(sim_ensemble), "/plain"));
    sim_player_check(&sim_a, "1=0:/c 2=0:/plain 3=0:/c/x 4=0:/plain/x 5=0 6=0");
}
END_TEST

START_TEST(a_server_may_not_know_containers) {
    struct sim_ensemble_config config = sim_bench_config(1);
    config.containers = false;
    sim_bench_begin_with(&config);
    sim_player_connect(&sim_a, 0);
    sim_player_create(&sim_a, 1, "/c", SIM_CONTAINER);
    sim_bench_run(10);
    sim_player_check(&sim_a, "1=-6");
}
END_TEST

/* ---- the truth, as the checks get it */

struct seen {
    int32_t committed, fired;
    int64_t zxid, fired_session;
};

static void on_committed(void *user, const struct sim_txn *txn) {
    struct seen *seen = user;
    ck_assert_int_gt(txn->zxid, seen->zxid);
    ck_assert_int_eq(sim_truth(sim_ensemble)->zxid, txn->zxid);
    seen->zxid = txn->zxid;
    seen->committed++;
}

static void on_fired(void *user, int64_t session, const char *path, enum sim_event event) {
    struct seen *seen = user;
    ck_assert_str_eq(path, "/a");
    ck_assert_int_eq(event, SIM_DELETED);
    seen->fired++;
    seen->fired_session = session;
}

START_TEST(each_commit_is_told_once_and_in_order) {
    struct seen seen = {0};
    sim_bench_begin(5);
    sim_observe(sim_ensemble, on_committed, on_fired, &seen);
    sim_player_connect(&sim_a, 3);
    sim_player_create(&sim_a, 1, "/a", SIM_EPHEMERAL);
    sim_player_watch(&sim_a, 2, "/a");
    sim_player_ask(&sim_a, 3, SIM_OP_DELETE, "/b");
    sim_player_ask(&sim_a, 4, SIM_OP_DELETE, "/a");
    sim_bench_run(50);
    ck_assert_int_eq(seen.committed, 4);
    ck_assert_int_eq(seen.fired, 1);
    ck_assert_int_eq(seen.fired_session, sim_a.session);
    ck_assert(sim_settled(sim_ensemble));
}
END_TEST

/* Keeping time is no event of a schedule. */
START_TEST(an_idle_ensemble_is_idle) {
    sim_bench_begin(3);
    sim_player_connect(&sim_a, 0);
    uint64_t busy = sim_agenda.steps - sim_agenda.idle_steps, steps = sim_agenda.steps;
    sim_bench_run(10000);
    ck_assert_uint_gt(sim_agenda.steps, steps + 200);
    /* The player's own timer and the pongs that it hears are left. */
    ck_assert_uint_le(sim_agenda.steps - sim_agenda.idle_steps - busy, UINT64_C(68));
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("sim_ensemble");
    TCase *cases = tcase_create("sim_ensemble");
    tcase_add_checked_fixture(cases, NULL, sim_bench_end);
    tcase_add_test(cases, each_server_gives_a_session);
    tcase_add_test(cases, what_comes_before_the_session_is_held);
    tcase_add_test(cases, timeouts_are_clamped);
    tcase_add_test(cases, a_pipelined_list_shows_the_new_node);
    tcase_add_test(cases, codes_of_writes);
    tcase_add_test(cases, codes_of_reads);
    tcase_add_test(cases, nodes_refuse);
    tcase_add_test(cases, a_set_answer_is_given_once);
    tcase_add_test(cases, a_counter_sticks);
    tcase_add_test(cases, containers_disappear_when_they_are_empty_and_had_a_child);
    tcase_add_test(cases, a_server_may_not_know_containers);
    tcase_add_test(cases, each_commit_is_told_once_and_in_order);
    tcase_add_test(cases, an_idle_ensemble_is_idle);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

/* The fake ensemble's late servers, and requests that are late. */
#include "sim_bench.h"
#include "sim_server.h"

START_TEST(a_lagging_follower_shows_the_past) {
    sim_bench_begin(3);
    int32_t late = sim_bench_follower(0);
    sim_player_connect(&sim_a, late);
    sim_player_connect(&sim_b, sim_bench_leader());
    sim_server_lag(sim_ensemble, late, 200 * SIM_MS);
    sim_player_create(&sim_b, 1, "/b", SIM_PERSISTENT);
    sim_bench_run(10);
    sim_player_check(&sim_b, "1=0:/b");
    sim_player_ask(&sim_a, 1, SIM_OP_LIST, "/");
    sim_bench_run(10);
    sim_player_check(&sim_a, "1=0");
    ck_assert(!sim_settled(sim_ensemble));
    sim_player_create(&sim_a, 2, "/a", SIM_PERSISTENT);
    sim_player_ask(&sim_a, 3, SIM_OP_LIST, "/");
    sim_bench_run(100);
    ck_assert(sim_bench_exists("/a"));
    sim_player_check(&sim_a, "");
    /* A client that has seen more is sent away. */
    sim_player_ask(&sim_b, 2, SIM_OP_EXISTS, "/a");
    sim_bench_run(10);
    sim_player_leave(&sim_b);
    sim_player_dial(&sim_b, late);
    sim_bench_run(10);
    sim_player_check(&sim_b, "2=0 end");
    sim_server_lag(sim_ensemble, late, 0); /* late entries stay late, and in order */
    sim_player_ask(&sim_a, 4, SIM_OP_SYNC, "/");
    sim_player_create(&sim_a, 5, "/c", SIM_PERSISTENT);
    size_t applied = sim_ensemble->servers[late].applied;
    sim_bench_run(50);
    ck_assert(sim_bench_exists("/c"));
    ck_assert_uint_eq(sim_ensemble->servers[late].applied, applied);
    sim_player_check(&sim_a, "");
    sim_bench_run(100);
    sim_player_check(&sim_a, "2=0:/a 3=0,a,b 4=0 5=0:/c");
    ck_assert(sim_settled(sim_ensemble));
}
END_TEST

START_TEST(a_sync_waits_for_what_was_committed_before_it) {
    sim_bench_begin(3);
    int32_t late = sim_bench_follower(0);
    sim_player_connect(&sim_a, late);
    sim_server_lag(sim_ensemble, late, 200 * SIM_MS);
    sim_bench_create("/b", SIM_PERSISTENT);
    sim_player_ask(&sim_a, 1, SIM_OP_SYNC, "/");
    sim_player_ask(&sim_a, 2, SIM_OP_LIST, "/");
    sim_player_ask(&sim_a, 3, SIM_OP_SYNC, "/");
    sim_bench_run(100);
    sim_player_check(&sim_a, "");
    sim_bench_run(100);
    sim_player_check(&sim_a, "1=0 2=0,b 3=0");
}
END_TEST

START_TEST(a_lagging_leader_numbers_in_the_order_of_proposals) {
    sim_bench_begin(3);
    sim_server_lag(sim_ensemble, sim_bench_leader(), 200 * SIM_MS);
    sim_bench_create("/l", SIM_PERSISTENT);
    sim_bench_run(300);
    sim_player_dial(&sim_a, sim_bench_leader());
    sim_bench_run(250);
    for (uint64_t i = 1; i <= 3; i++)
        sim_player_create(&sim_a, i, "/l/x-", SIM_EPHEMERAL_SEQUENTIAL);
    sim_player_ask(&sim_a, 4, SIM_OP_DELETE, "/l/x-0000000001");
    sim_player_create(&sim_a, 5, "/l/x-", SIM_EPHEMERAL_SEQUENTIAL);
    sim_bench_run(250);
    sim_player_check(&sim_a, "connected 1=0:/l/x-0000000000 2=0:/l/x-0000000001 3=0:/l/x-0000000002 4=0 "
                             "5=0:/l/x-0000000003");
    for (uint64_t i = 6; i <= 11; i++) { /* some are applied while others are on their way */
        sim_player_create(&sim_a, i, "/l/x-", SIM_EPHEMERAL_SEQUENTIAL);
        sim_bench_run(60);
    }
    sim_bench_run(250);
    sim_player_check(&sim_a, "6=0:/l/x-0000000004 7=0:/l/x-0000000005 8=0:/l/x-0000000006 9=0:/l/x-0000000007 "
                             "10=0:/l/x-0000000008 11=0:/l/x-0000000009");
}
END_TEST

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

/* ---- requests that are late */

START_TEST(what_was_sent_on_a_connection_given_up_may_come_late) {
    sim_bench_begin(3);
    sim_player_connect(&sim_a, 0);
    sim_net_block(&sim_net, sim_a.host, 0, true);
    sim_player_create(&sim_a, 1, "/a", SIM_EPHEMERAL);
    sim_player_leave(&sim_a);
    sim_bench_run(1000);
    ck_assert(!sim_bench_exists("/a"));
    sim_net_block(&sim_net, sim_a.host, 0, false);
    sim_bench_run(10);
    ck_assert(sim_bench_exists("/a"));
}
END_TEST

START_TEST(but_not_after_the_session_has_ended) {
    sim_bench_begin(3);
    sim_player_connect(&sim_a, 0);
    sim_net_block(&sim_net, sim_a.host, 0, true);
    sim_player_create(&sim_a, 1, "/a", SIM_EPHEMERAL);
    sim_player_leave(&sim_a);
    sim_bench_run(3000);
    ck_assert_ptr_null(sim_tree_session(sim_truth(sim_ensemble), sim_a.session));
    sim_net_block(&sim_net, sim_a.host, 0, false);
    sim_bench_run(100);
    ck_assert(!sim_bench_exists("/a"));
}
END_TEST

static bool outlives(uint64_t seed) {
    sim_bench_begin(3);
    int32_t server = sim_bench_follower(0), leader = sim_bench_leader();
    sim_player_connect(&sim_a, server);
    sim_net.extra[server][leader] = 300 * SIM_MS;
    sim_player_create(&sim_a, 1, "/a", SIM_EPHEMERAL);
    sim_bench_run(10);
    sim_random_begin(&sim_agenda.chance, seed);
    sim_server_kill(sim_ensemble, server);
    sim_bench_run(10);
    sim_player_check(&sim_a, "end");
    sim_bench_run(1000);
    return sim_bench_exists("/a");
}

/* Packets that a dead server had handed to its kernel arrive, or do not. */
START_TEST(a_write_may_outlive_its_server) {
    int32_t executed = 0;
    for (uint64_t seed = 0; seed < 20; seed++)
        executed += outlives(seed);
    ck_assert_int_gt(executed, 0);
    ck_assert_int_lt(executed, 20);
}
END_TEST

int main(void) {
    return ts_run("sim_late", NULL, sim_bench_end, a_lagging_follower_shows_the_past,
                  a_sync_waits_for_what_was_committed_before_it, a_lagging_leader_numbers_in_the_order_of_proposals,
                  a_counter_sticks, what_was_sent_on_a_connection_given_up_may_come_late,
                  but_not_after_the_session_has_ended, a_write_may_outlive_its_server, NULL);
}

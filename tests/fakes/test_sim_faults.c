/* The fake ensemble's servers under faults: cut off, deposed, paused, dead; and the stale state that their clients
 * see. */
#include "sim_bench.h"
#include "sim_server.h"

#include <string.h>

/* The others lose the leader at once, the leader does not notice. */
static void depose(int32_t leader) {
    int32_t others[] = {sim_bench_follower(0), sim_bench_follower(1)};
    sim_bench_isolate(leader, true);
    for (int32_t i = 0; i < 2; i++) {
        sim_server_kill(sim_ensemble, others[i]);
        sim_server_start(sim_ensemble, others[i]);
    }
    sim_bench_await_other_leader(leader);
}

/* ---- servers that are cut off */

START_TEST(an_isolated_follower_serves_on) {
    sim_bench_begin(3);
    int32_t cut = sim_bench_follower(0);
    sim_a.asked_timeout = 2 * SIM_TICK;
    sim_player_connect(&sim_a, cut);
    sim_player_connect(&sim_b, sim_bench_follower(1));
    sim_player_create(&sim_a, 1, "/a", SIM_EPHEMERAL);
    sim_bench_run(10);
    sim_player_watch(&sim_b, 1, "/a");
    sim_bench_run(500);
    sim_bench_isolate(cut, true);
    sim_bench_run(1900);
    sim_player_create(&sim_b, 2, "/b", SIM_EPHEMERAL);
    sim_bench_run(20);
    sim_player_check(&sim_b, "1=0 deleted:/a 2=0:/b");
    /* Its session is gone, and its server says that all is well. */
    ck_assert_ptr_null(sim_tree_session(sim_truth(sim_ensemble), sim_a.session));
    int32_t pongs = sim_a.pongs;
    sim_player_ask(&sim_a, 2, SIM_OP_LIST, "/");
    sim_player_ask(&sim_a, 3, SIM_OP_EXISTS, "/a");
    sim_bench_run(400);
    sim_player_check(&sim_a, "1=0:/a 2=0,a 3=0");
    ck_assert_int_gt(sim_a.pongs, pongs);
    sim_player_ask(&sim_a, 4, SIM_OP_SYNC, "/");
    sim_player_ask(&sim_a, 5, SIM_OP_EXISTS, "/a"); /* behind it */
    sim_bench_run(1000);
    sim_player_check(&sim_a, "end"); /* syncLimit */
    sim_player_dial(&sim_a, cut);
    sim_bench_run(10);
    sim_player_check(&sim_a, "end");
    sim_bench_isolate(cut, false);
    sim_bench_settle();
    sim_player_dial(&sim_a, cut);
    sim_bench_run(10);
    sim_player_check(&sim_a, "expired end");
}
END_TEST

START_TEST(a_deposed_leader_serves_on) {
    sim_bench_begin(3);
    int32_t old = sim_bench_leader();
    sim_player_connect(&sim_a, old);
    sim_player_create(&sim_a, 1, "/a", SIM_EPHEMERAL);
    sim_bench_run(10);
    depose(old);
    ck_assert_int_eq(sim_server_role(sim_ensemble, old), SIM_LEADING);
    ck_assert_int_ne(sim_bench_leader(), old);
    sim_player_connect(&sim_b, sim_bench_leader());
    ck_assert(sim_admin(sim_ensemble, &(struct sim_packet){.kind = SIM_REQUEST, .op = SIM_OP_DELETE, .path = "/a"}));
    sim_player_create(&sim_b, 1, "/b", SIM_EPHEMERAL);
    sim_bench_run(10);
    sim_player_check(&sim_b, "1=0:/b");
    sim_player_ask(&sim_a, 2, SIM_OP_SYNC, "/");
    sim_player_ask(&sim_a, 3, SIM_OP_LIST, "/");
    sim_player_ask(&sim_a, 4, SIM_OP_MULTI_CHECK, "/a");
    sim_bench_run(10);
    sim_player_check(&sim_a, "1=0:/a 2=0 3=0,a");
    /* A client that asks for a session there waits. A client that has one may resume it. */
    sim_player_dial(&sim_c, old);
    sim_player_leave(&sim_a);
    sim_player_connect(&sim_a, old);
    sim_bench_run(3100);
    sim_player_check(&sim_a, "end");
    sim_player_check(&sim_c, "end");
    ck_assert_int_eq(sim_server_role(sim_ensemble, old), SIM_LOOKING);
    sim_bench_isolate(old, false);
    sim_bench_settle();
    sim_player_connect(&sim_c, old);
    sim_player_ask(&sim_c, 1, SIM_OP_LIST, "/");
    sim_bench_run(10);
    sim_player_check(&sim_c, "1=0,b");
}
END_TEST

START_TEST(what_a_deposed_leader_proposed_is_lost) {
    sim_bench_begin(3);
    int32_t old = sim_bench_leader();
    sim_player_connect(&sim_a, old);
    depose(old);
    sim_player_create(&sim_a, 1, "/a", SIM_PERSISTENT);
    sim_bench_create("/b", SIM_PERSISTENT);
    sim_bench_run(4000);
    sim_player_check(&sim_a, "end");
    sim_bench_isolate(old, false);
    sim_bench_settle();
    sim_player_dial(&sim_a, old);
    sim_bench_run(10);
    sim_player_ask(&sim_a, 2, SIM_OP_LIST, "/");
    sim_bench_run(10);
    sim_a.heard[0] = '\0';
    ck_assert(!sim_bench_exists("/a") && sim_bench_exists("/b"));
    for (int32_t i = 0; i < 3; i++) {
        sim_player_connect(&sim_b, i);
        sim_player_ask(&sim_b, 1, SIM_OP_LIST, "/");
        sim_bench_run(10);
        sim_player_check(&sim_b, "1=0,b");
        sim_player_leave(&sim_b);
    }
}
END_TEST

START_TEST(or_it_is_committed_when_its_log_is_the_longest) {
    sim_bench_begin(3);
    int32_t old = sim_bench_leader(), others[] = {sim_bench_follower(0), sim_bench_follower(1)};
    sim_player_connect(&sim_a, old);
    sim_bench_isolate(old, true);
    sim_player_create(&sim_a, 1, "/a", SIM_PERSISTENT);
    sim_bench_run(10);
    ck_assert_int_eq(sim_leader(sim_ensemble), -1); /* it leads nobody */
    sim_server_kill(sim_ensemble, others[0]);
    sim_server_kill(sim_ensemble, others[1]);
    ck_assert(!sim_bench_exists("/a"));
    sim_bench_isolate(old, false);
    sim_bench_run(1000);
    sim_player_check(&sim_a, "end");
    ck_assert_int_eq(sim_leader(sim_ensemble), -1);
    sim_server_start(sim_ensemble, others[0]);
    sim_bench_settle();
    ck_assert(sim_bench_exists("/a"));
    sim_player_connect(&sim_a, others[0]);
    sim_player_create(&sim_a, 2, "/a", SIM_PERSISTENT);
    sim_bench_run(10);
    sim_player_check(&sim_a, "2=-110");
}
END_TEST

START_TEST(a_paused_leader_wakes_up_deposed) {
    sim_bench_begin(3);
    int32_t old = sim_bench_leader();
    sim_a.asked_timeout = 20 * SIM_TICK;
    sim_player_connect(&sim_a, old);
    sim_bench_create("/a", SIM_PERSISTENT);
    sim_server_pause(sim_ensemble, old, true);
    sim_player_ask(&sim_a, 1, SIM_OP_EXISTS, "/a");
    sim_bench_await_other_leader(old);
    sim_player_check(&sim_a, "");
    ck_assert(sim_admin(sim_ensemble, &(struct sim_packet){.kind = SIM_REQUEST, .op = SIM_OP_DELETE, .path = "/a"}));
    sim_bench_run(10);
    ck_assert(!sim_bench_exists("/a"));
    sim_server_pause(sim_ensemble, old, false);
    ck_assert_int_eq(sim_server_role(sim_ensemble, old), SIM_LEADING);
    sim_bench_run(5);
    ck_assert_msg(strstr(sim_a.heard, "1=0") == sim_a.heard, "%s", sim_a.heard);
    sim_bench_run(1000);
    ck_assert_ptr_nonnull(strstr(sim_a.heard, "end"));
    sim_bench_settle();
}
END_TEST

/* It reads packets that came meanwhile before it misses its leader. */
START_TEST(a_paused_follower_stays_if_its_leader_did) {
    sim_bench_begin(3);
    int32_t paused = sim_bench_follower(0);
    sim_a.asked_timeout = 20 * SIM_TICK;
    sim_player_connect(&sim_a, paused);
    sim_server_pause(sim_ensemble, paused, true);
    sim_bench_create("/a", SIM_PERSISTENT);
    sim_player_ask(&sim_a, 1, SIM_OP_LIST, "/");
    int64_t heard = sim_ensemble->servers[paused].heard, limit = heard + 5 * SIM_TICK;
    sim_bench_run((limit - sim_agenda.now) / SIM_MS + 100);
    sim_player_check(&sim_a, "");
    ck_assert(!sim_settled(sim_ensemble));
    sim_server_pause(sim_ensemble, paused, false);
    sim_bench_run(10);
    sim_player_check(&sim_a, "1=0,a");
    ck_assert_int_eq(sim_server_role(sim_ensemble, paused), SIM_FOLLOWING);
    ck_assert(sim_settled(sim_ensemble));
    /* Also when the moment came first, and the packets of the leader after. */
    sim_bench_isolate(paused, true);
    heard = sim_ensemble->servers[paused].heard;
    sim_bench_run((heard + 5 * SIM_TICK - sim_agenda.now) / SIM_MS - 10);
    sim_server_pause(sim_ensemble, paused, true);
    sim_bench_run(20);
    sim_bench_isolate(paused, false);
    sim_bench_run(10);
    sim_server_pause(sim_ensemble, paused, false);
    sim_bench_run(10);
    ck_assert_int_eq(sim_server_role(sim_ensemble, paused), SIM_FOLLOWING);
}
END_TEST

START_TEST(a_paused_leader_is_not_joined) {
    sim_bench_begin(3);
    int32_t leader = sim_bench_leader(), other = sim_bench_follower(0);
    sim_server_pause(sim_ensemble, leader, true);
    sim_server_kill(sim_ensemble, other);
    sim_server_start(sim_ensemble, other);
    sim_bench_run(1000);
    ck_assert_int_eq(sim_server_role(sim_ensemble, other), SIM_LOOKING);
    sim_server_pause(sim_ensemble, leader, false);
    sim_bench_settle();
    ck_assert_int_eq(sim_bench_leader(), leader);
}
END_TEST

/* ---- servers that are not there */

START_TEST(whoever_dials_a_paused_server_hears_of_its_end) {
    sim_bench_begin(3);
    sim_server_pause(sim_ensemble, 0, true);
    sim_player_dial(&sim_a, 0);
    sim_bench_run(100);
    sim_player_check(&sim_a, "");
    sim_server_kill(sim_ensemble, 0);
    sim_bench_run(10);
    sim_player_check(&sim_a, "end");
}
END_TEST

START_TEST(the_log_survives_them_all) {
    sim_bench_begin(3);
    sim_player_connect(&sim_a, 0);
    sim_player_create(&sim_a, 1, "/a", SIM_EPHEMERAL);
    sim_bench_run(100);
    for (int32_t i = 0; i < 3; i++)
        sim_server_kill(sim_ensemble, i);
    sim_bench_run(20000);
    ck_assert(!sim_settled(sim_ensemble));
    for (int32_t i = 0; i < 3; i++)
        sim_server_start(sim_ensemble, i);
    sim_bench_settle();
    ck_assert(sim_bench_exists("/a"));
    sim_player_check(&sim_a, "1=0:/a end");
    sim_player_connect(&sim_a, 1);
    sim_player_ask(&sim_a, 2, SIM_OP_EXISTS, "/a");
    sim_bench_run(10);
    sim_player_check(&sim_a, "2=0");
    ck_assert_int_eq(sim_a.stat.owner, sim_a.session);
}
END_TEST

int main(void) {
    return ts_run("sim_faults", NULL, sim_bench_end, an_isolated_follower_serves_on, a_deposed_leader_serves_on,
                  what_a_deposed_leader_proposed_is_lost, or_it_is_committed_when_its_log_is_the_longest,
                  a_paused_leader_wakes_up_deposed, a_paused_follower_stays_if_its_leader_did,
                  a_paused_leader_is_not_joined, whoever_dials_a_paused_server_hears_of_its_end,
                  the_log_survives_them_all, NULL);
}

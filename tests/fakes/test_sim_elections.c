/* The fake ensemble's links and elections: which server leads, which joins, and how long it takes. */
#include "sim_bench.h"
#include "sim_server.h"

/* A test that waits until all is well must not take the moment before both ends have noticed for it. */
START_TEST(a_broken_link_is_none) {
    sim_bench_begin(3);
    int32_t leader = sim_bench_leader(), follower = sim_bench_follower(0);
    sim_net_reset(&sim_net, leader, follower);
    ck_assert(!sim_settled(sim_ensemble));
    ck_assert_int_eq(sim_server_role(sim_ensemble, follower), SIM_FOLLOWING);
    sim_bench_run(5);
    ck_assert_int_eq(sim_server_role(sim_ensemble, follower), SIM_LOOKING);
    sim_bench_settle();
    ck_assert_int_eq(sim_bench_leader(), leader);
}
END_TEST

START_TEST(a_follower_may_be_back_before_its_end_is_heard_of) {
    sim_bench_begin(3);
    int32_t leader = sim_bench_leader(), back = sim_bench_follower(0), open = 0;
    sim_net.extra[back][leader] = 1000 * SIM_MS;
    sim_server_kill(sim_ensemble, back);
    sim_server_start(sim_ensemble, back);
    sim_bench_run(500);
    ck_assert_int_eq(sim_server_role(sim_ensemble, back), SIM_FOLLOWING);
    sim_bench_run(3000);
    ck_assert(sim_settled(sim_ensemble));
    for (const struct sim_pipe *pipe = sim_net.pipes; pipe; pipe = pipe->next)
        open += !pipe->ended;
    ck_assert_int_eq(open, 4); /* two followers, two directions */
}
END_TEST

/* One of the two that could have acknowledged it is dead. The other's acknowledgement does not arrive. */
START_TEST(whoever_joins_hears_what_is_proposed) {
    sim_bench_begin(3);
    int32_t leader = sim_bench_leader(), back = sim_bench_follower(0), mute = sim_bench_follower(1);
    sim_server_kill(sim_ensemble, back);
    sim_bench_run(10);
    sim_net.extra[mute][leader] = 2000 * SIM_MS;
    sim_player_dial(&sim_a, leader);
    sim_bench_run(50);
    sim_player_check(&sim_a, "");
    sim_server_start(sim_ensemble, back);
    sim_bench_run(250);
    sim_player_check(&sim_a, "connected");
    ck_assert_ptr_nonnull(sim_tree_session(&sim_ensemble->servers[back].tree, sim_a.session));
}
END_TEST

/* From "a majority looks" on. */
START_TEST(an_election_takes_its_time) {
    for (int64_t wait = 130; wait <= 400; wait += 30) {
        sim_bench_begin(3);
        int32_t old = sim_bench_leader(), second = sim_bench_follower(1);
        sim_net_block(&sim_net, old, second, true);
        sim_server_kill(sim_ensemble, old);
        sim_bench_run(wait);
        sim_net_block(&sim_net, old, second, false); /* only now it hears of the end */
        int64_t begun = sim_agenda.now;
        sim_bench_await_other_leader(old);
        ck_assert_int_ge(sim_agenda.now, begun + 100 * SIM_MS);
        ck_assert_int_le(sim_agenda.now, begun + 410 * SIM_MS);
    }
}
END_TEST

/* Of five, three have logged it; two of these die, and the third is reached by one of the others alone. */
START_TEST(nobody_leads_without_what_is_committed) {
    sim_bench_begin(5);
    int32_t leader = sim_bench_leader(), with = sim_bench_follower(0), longest = sim_bench_follower(1);
    int32_t others[] = {sim_bench_follower(2), sim_bench_follower(3)};
    sim_net_block(&sim_net, leader, others[0], true);
    sim_net_block(&sim_net, leader, others[1], true);
    sim_bench_create("/a", SIM_PERSISTENT);
    ck_assert(sim_bench_exists("/a"));
    sim_server_kill(sim_ensemble, leader);
    sim_server_kill(sim_ensemble, with);
    sim_net_block(&sim_net, longest, others[0], true);
    sim_bench_run(10000);
    ck_assert_int_eq(sim_leader(sim_ensemble), -1);
    sim_net_block(&sim_net, longest, others[0], false);
    sim_bench_run(1000);
    ck_assert_int_eq(sim_bench_leader(), longest);
}
END_TEST

int main(void) {
    return ts_run("sim_elections", NULL, sim_bench_end, a_broken_link_is_none,
                  a_follower_may_be_back_before_its_end_is_heard_of, whoever_joins_hears_what_is_proposed,
                  an_election_takes_its_time, nobody_leads_without_what_is_committed, NULL);
}

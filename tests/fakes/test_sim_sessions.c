/* The fake ensemble's clock of sessions: ticks, touches, the servers that know of them, and sessions that move. */
#include "sim_bench.h"
#include "sim_server.h"

#include <string.h>
#include <zookeeper/zookeeper.h>

/* The ends of sessions, as they were committed. */
static struct {
    int32_t count;
    int64_t at[4], session[4];
    bool expired[4];
    int32_t refused; /* the code of the last write that failed */
} ends;

static void on_committed(void *user, const struct sim_txn *txn) {
    (void)user;
    if (txn->kind == SIM_TXN_ERROR)
        ends.refused = txn->code;
    if (txn->kind != SIM_TXN_CLOSE || ends.count == 4)
        return;
    ends.at[ends.count] = txn->at;
    ends.session[ends.count] = txn->session;
    ends.expired[ends.count++] = txn->expired;
}

static void begin(int32_t servers) {
    sim_bench_begin(servers);
    memset(&ends, 0, sizeof ends);
    sim_observe(sim_ensemble, on_committed, NULL, NULL);
    sim_a.pings = sim_b.pings = sim_c.pings = false;
}

/* After a touch at the leader at that time: no earlier than the timeout, and within a tick. */
static void check_end(int32_t nth, int64_t touched) {
    ck_assert_int_gt(ends.count, nth);
    ck_assert(ends.expired[nth]);
    ck_assert_int_gt(ends.at[nth], touched + 2000 * SIM_MS);
    ck_assert_int_le(ends.at[nth], touched + 2000 * SIM_MS + SIM_TICK);
}

START_TEST(sessions_end_at_ticks) {
    begin(1);
    sim_player_dial(&sim_a, 0);
    int64_t a = sim_agenda.now + SIM_MS;
    sim_bench_run(333);
    sim_player_dial(&sim_b, 0);
    int64_t b = sim_agenda.now + SIM_MS;
    sim_bench_run(400);
    sim_player_dial(&sim_c, 0);
    sim_bench_run(1000);
    sim_player_send(&sim_c, &(struct sim_packet){.kind = SIM_PING});
    int64_t c = sim_agenda.now + SIM_MS;
    sim_bench_run(3000);
    ck_assert_int_eq(ends.count, 3);
    check_end(0, a);
    check_end(1, b);
    check_end(2, c);
    ck_assert_int_eq(ends.session[2], sim_c.session);
    ck_assert_int_eq((ends.at[1] - ends.at[0]) % SIM_TICK, 0);
    ck_assert_int_eq((ends.at[2] - ends.at[0]) % SIM_TICK, 0);
    ck_assert_int_eq(sim_expires_at(sim_ensemble, sim_b.session), ends.at[1]);
}
END_TEST

/* The end that the checks see beforehand is the real end, unless the leader hears more or another takes over. */
START_TEST(the_end_is_known_beforehand) {
    begin(3);
    int32_t leader = sim_bench_leader();
    sim_player_connect(&sim_a, sim_bench_follower(0));
    sim_player_connect(&sim_b, leader);
    sim_player_connect(&sim_c, leader);
    ck_assert_int_eq(sim_expires_at(sim_ensemble, 1), INT64_MAX);
    sim_bench_run(1000);
    int64_t a = sim_expires_at(sim_ensemble, sim_a.session), b = sim_expires_at(sim_ensemble, sim_b.session);
    ck_assert(a > sim_agenda.now && b > sim_agenda.now);
    int64_t promised = sim_promised_until(sim_ensemble, sim_a.session);
    ck_assert(promised < a && promised >= a - SIM_TICK && promised > sim_agenda.now + 1000 * SIM_MS - SIM_TICK);
    sim_server_pause(sim_ensemble, leader, true);
    ck_assert_int_eq(sim_expires_at(sim_ensemble, sim_b.session), b);
    sim_server_pause(sim_ensemble, leader, false);
    sim_player_send(&sim_b, &(struct sim_packet){.kind = SIM_PING});
    sim_player_send(&sim_c, &(struct sim_packet){.kind = SIM_CLOSE});
    sim_bench_run(10);
    ck_assert_int_gt(sim_expires_at(sim_ensemble, sim_b.session), b);
    ck_assert_int_eq(sim_expires_at(sim_ensemble, sim_c.session), INT64_MAX); /* as it wished */
    sim_bench_run(1700);
    ck_assert(ends.count == 2 && ends.at[1] == a && ends.session[1] == sim_a.session);
    ck_assert_int_eq(sim_expires_at(sim_ensemble, sim_a.session), a);
    ck_assert(sim_admin_expire(sim_ensemble, sim_b.session));
    ck_assert_int_eq(sim_expires_at(sim_ensemble, sim_b.session), INT64_MAX);
    sim_bench_run(10);
    ck_assert_int_eq(sim_expires_at(sim_ensemble, sim_b.session), INT64_MAX);
}
END_TEST

/* Run until a follower has just reported its touches. */
static void await_beat(int32_t follower) {
    struct sim_server *s = &sim_ensemble->servers[follower];
    sim_follow_touch(s, 1, SIM_MS); /* of nobody's session */
    while (s->touches_count > 0)
        ck_assert(sim_step(&sim_agenda, sim_agenda.now + SIM_TICK));
}

START_TEST(a_follower_reports_touches_with_the_next_beat) {
    begin(3);
    int32_t follower = sim_bench_follower(0);
    sim_player_connect(&sim_a, follower);
    sim_bench_run(1000);
    await_beat(follower);
    sim_player_send(&sim_a, &(struct sim_packet){.kind = SIM_PING});
    sim_bench_run(10);
    int64_t pinged = sim_agenda.now;
    ck_assert_int_eq(sim_a.pongs, 1);
    await_beat(follower);
    ck_assert_int_ge(sim_agenda.now, pinged + 200 * SIM_MS);
    int64_t reported = sim_agenda.now + SIM_MS;
    sim_bench_run(4000);
    check_end(0, reported);
}
END_TEST

/* The write reaches the leader, the report of the touch no more. */
START_TEST(a_forwarded_write_touches_nothing) {
    begin(3);
    int32_t follower = sim_bench_follower(0);
    sim_player_connect(&sim_a, follower);
    await_beat(follower);
    int64_t reported = sim_agenda.now + SIM_MS;
    sim_bench_run(1200);
    await_beat(follower);
    sim_player_create(&sim_a, 1, "/a", SIM_EPHEMERAL);
    sim_bench_run(10);
    sim_player_check(&sim_a, "1=0:/a");
    sim_bench_isolate(follower, true);
    sim_bench_run(4000);
    check_end(0, reported);
}
END_TEST

START_TEST(a_reconnect_touches) {
    begin(3);
    sim_player_connect(&sim_a, sim_bench_follower(0));
    sim_bench_run(1900);
    sim_player_leave(&sim_a);
    sim_player_dial(&sim_a, sim_bench_follower(1));
    int64_t touched = sim_agenda.now + 2 * SIM_MS;
    sim_bench_run(5000);
    sim_player_check(&sim_a, "connected end");
    ck_assert_int_eq(ends.count, 1);
    ck_assert_int_gt(ends.at[0], touched + 2000 * SIM_MS);
}
END_TEST

START_TEST(a_new_leader_gives_everybody_a_full_timeout) {
    begin(3);
    int32_t old = sim_bench_leader();
    sim_player_connect(&sim_a, old);
    sim_bench_run(1900);
    sim_server_kill(sim_ensemble, old);
    while (sim_leader(sim_ensemble) < 0 || sim_leader(sim_ensemble) == old)
        ck_assert(sim_step(&sim_agenda, sim_agenda.now + SIM_TICK));
    int64_t elected = sim_agenda.now;
    sim_bench_run(4000);
    ck_assert_int_eq(ends.count, 1);
    check_end(0, elected);
}
END_TEST

/* The leader's clock goes on while it has no majority. But nobody hears of an end that is not committed. */
START_TEST(a_leader_alone_refuses_those_whose_time_is_over) {
    begin(3);
    int32_t old = sim_bench_leader();
    sim_a.asked_timeout = 2 * SIM_TICK;
    sim_player_connect(&sim_a, old);
    sim_bench_isolate(old, true);
    sim_bench_run(1800);
    ck_assert_int_eq(sim_server_role(sim_ensemble, old), SIM_LEADING);
    sim_player_ask(&sim_a, 1, SIM_OP_EXISTS, "/");
    sim_bench_run(20);
    sim_player_check(&sim_a, ""); /* dropped */
    sim_player_leave(&sim_a);
    sim_player_dial(&sim_a, old);
    sim_bench_run(20);
    sim_player_check(&sim_a, "expired end");
    ck_assert_int_eq(ends.count, 0);
    ck_assert_ptr_nonnull(sim_tree_session(sim_truth(sim_ensemble), sim_a.session));
}
END_TEST

/* The leader sleeps beyond the end of a session whose client has written meanwhile, through a follower. Its first
 * action when it wakes up is chance: the write is committed and the session ends nevertheless, or the write is
 * refused. */
START_TEST(a_leader_that_slept_ends_a_session_that_writes) {
    int32_t written = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        begin(3);
        int32_t leader = sim_bench_leader(), follower = sim_bench_follower(0);
        sim_player_connect(&sim_a, follower);
        sim_bench_run(1200);
        sim_player_send(&sim_a, &(struct sim_packet){.kind = SIM_PING});
        sim_bench_run(2);
        await_beat(follower);
        sim_bench_run(10);
        sim_random_begin(&sim_agenda.chance, seed);
        sim_server_pause(sim_ensemble, leader, true);
        sim_bench_run(1500); /* past the moment at which the session would have ended without the ping */
        sim_player_ask(&sim_a, 1, SIM_OP_MULTI_CHECK, "/");
        sim_bench_run(940);
        sim_server_pause(sim_ensemble, leader, false);
        sim_bench_run(20);
        written += strcmp(sim_a.heard, "1=0 end") == 0;
        ck_assert_ptr_nonnull(strstr(sim_a.heard, "end"));
        ck_assert(ends.count == 1 && ends.expired[0]);
    }
    ck_assert_int_gt(written, 0);
    ck_assert_int_lt(written, 20);
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

/* ---- moves */

/* Both connections of a session are open. The one it has moved from may read at a follower, but not write. */
static void move(int32_t from, int32_t to, bool reads) {
    begin(3);
    sim_player_connect(&sim_a, from);
    sim_b.session = sim_a.session;
    sim_player_connect(&sim_b, to);
    sim_player_ask(&sim_a, 1, SIM_OP_EXISTS, "/");
    sim_bench_run(20);
    sim_player_check(&sim_a, reads ? "1=0" : "end");
    sim_player_create(&sim_a, 2, "/a", SIM_EPHEMERAL);
    sim_bench_run(20);
    sim_player_check(&sim_a, reads ? "end" : "");
    ck_assert_int_eq(ends.refused, reads ? ZSESSIONMOVED : 0);
    ck_assert_ptr_null(sim_tree_find(sim_truth(sim_ensemble), "/a"));
    sim_player_create(&sim_b, 3, "/b", SIM_EPHEMERAL);
    sim_bench_run(20);
    sim_player_check(&sim_b, "3=0:/b");
    ck_assert_int_eq(sim_b.stat.owner, sim_a.session);
}

START_TEST(a_write_by_the_old_way_is_refused) {
    sim_bench_begin(3);
    int32_t leader = sim_bench_leader(), first = sim_bench_follower(0), second = sim_bench_follower(1);
    move(first, second, true);
    move(first, leader, true);
    move(leader, second, false); /* the leader looks at reads as well */
}
END_TEST

/* What it has sent through its first server is on its way for long. It comes back there, or moves. */
static void come_late(const struct sim_packet *packet, bool moves) {
    begin(3);
    int32_t leader = sim_bench_leader(), slow = sim_bench_follower(0);
    sim_player_connect(&sim_a, slow);
    sim_net.extra[slow][leader] = 300 * SIM_MS;
    sim_player_send(&sim_a, packet);
    sim_bench_run(5);
    sim_player_leave(&sim_a);
    sim_player_dial(&sim_a, moves ? sim_bench_follower(1) : slow);
    sim_bench_run(5);
}

static const struct sim_packet late_write = {
    .kind = SIM_REQUEST, .tag = 1, .op = SIM_OP_CREATE, .path = "/a", .mode = SIM_EPHEMERAL};

/* The move overtakes it. */
START_TEST(a_late_write_of_a_moved_session_is_refused) {
    come_late(&late_write, true);
    sim_bench_run(1000);
    ck_assert_int_eq(ends.refused, ZSESSIONMOVED);
    sim_player_ask(&sim_a, 2, SIM_OP_LIST, "/");
    sim_bench_run(20);
    sim_player_check(&sim_a, "connected 2=0");
}
END_TEST

/* Reads of the new connection wait behind it. */
START_TEST(a_late_write_by_the_same_way_is_executed) {
    come_late(&late_write, false);
    sim_player_ask(&sim_a, 2, SIM_OP_LIST, "/");
    sim_bench_run(1000);
    sim_player_check(&sim_a, "connected 2=0,a");
}
END_TEST

START_TEST(a_late_close_ends_a_moved_session) {
    come_late(&(struct sim_packet){.kind = SIM_CLOSE}, true);
    sim_bench_run(1000);
    sim_player_check(&sim_a, "connected end");
    ck_assert(ends.count == 1 && !ends.expired[0]);
}
END_TEST

int main(void) {
    return ts_run("sim_sessions", NULL, sim_bench_end, sessions_end_at_ticks, the_end_is_known_beforehand,
                  a_follower_reports_touches_with_the_next_beat, a_forwarded_write_touches_nothing, a_reconnect_touches,
                  a_new_leader_gives_everybody_a_full_timeout, a_leader_alone_refuses_those_whose_time_is_over,
                  a_leader_that_slept_ends_a_session_that_writes, an_idle_ensemble_is_idle,
                  a_write_by_the_old_way_is_refused, a_late_write_of_a_moved_session_is_refused,
                  a_late_write_by_the_same_way_is_executed, a_late_close_ends_a_moved_session, NULL);
}

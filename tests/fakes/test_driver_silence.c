/* How long a session stays with servers that say nothing: the production driver in simulated time. */
#include "platform_bench.h"
#include "session/session.h"
#include "sim_ensemble.h"

#include <string.h>

#define STEP (10 * SIM_MS)

/* What a test puts in place of the client library. They stay when it fails: the session ends after that. */
static struct pdk__zk_calls calls;
static struct pdk__platform platform;

static void pause_all(bool paused, int32_t but) {
    for (int32_t i = 0; i < 3; i++)
        if (i != but)
            sim_server_pause(platform_ensemble, i, paused);
}

static void begin(void) {
    rival_open(first);
    platform_pass(SECOND);
    ck_assert_str_eq(first->events->str, "connected");
    calls = sim_client_calls;
    platform = sim_platform;
    platform.zk = &calls;
}

/* From now on the calls are those. */
static void use_calls(void) { first->session->platform = &platform; }
static void teardown(void) {
    first->session->platform = &sim_platform;
    platform_teardown();
}

static bool is_connected(const struct rival *r) {
    return !g_str_has_suffix(r->events->str, "suspended") && !g_str_has_suffix(r->events->str, "expired");
}

static int32_t a_follower(uint64_t which) {
    int32_t leader = sim_leader(platform_ensemble);
    ck_assert_int_ge(leader, 0);
    return (leader + 1 + (int32_t)(which % 2)) % 3;
}

/* All servers are silent for so long. Then one follower stays so. How long it takes after that until the session is connected. */
static int64_t found_after(uint64_t seed, int64_t silence) {
    platform_end();
    platform_begin(seed);
    begin();
    int32_t silent = a_follower(seed);
    pause_all(true, -1);
    platform_pass(silence);
    ck_assert(g_str_has_suffix(first->events->str, "suspended"));
    int64_t from = platform_agenda.now;
    pause_all(false, silent);
    while (!is_connected(first) && platform_agenda.now < from + 2 * TIMEOUT)
        platform_pass(STEP);
    ck_assert(is_connected(first));
    sim_server_pause(platform_ensemble, silent, false);
    return platform_agenda.now - from;
}

/* While there is no leader no server answers a handshake, and a client has tried each of them more than once. Then all answer but the
 * lost one. The next try may go there: its patience is that of the second round of servers, not of the sixth try. */
START_TEST(servers_that_answer_again_are_found_soon) {
    int64_t longest = 0;
    for (uint64_t seed = 1; seed <= 30; seed++)
        longest = MAX(longest, found_after(seed, (900 + 20 * (int64_t)seed) * SIM_MS));
    /* T/5 after a look at the handle has seen the handshake; the connector and the client library take a moment. */
    ck_assert_int_le(longest, TIMEOUT / 5 + 150 * SIM_MS);
    ck_assert_int_gt(longest, TIMEOUT / 10); /* some went to the lost one first */
}
END_TEST

/* Nobody answers for 3.5 T. By then each try has the longest patience there is, 2T/3. */
START_TEST(the_patience_has_an_end) {
    for (uint64_t seed = 1; seed <= 10; seed++) {
        platform_end();
        platform_begin(seed);
        begin();
        platform_block(first, true);
        platform_pass(TIMEOUT * 7 / 2);
        ck_assert(!is_connected(first));
        platform_block(first, false);
        platform_pass(TIMEOUT);
        ck_assert(is_connected(first));
    }
}
END_TEST

/* ---- a client library that says it dials */

static struct {
    int64_t at[40];
    int asked, left; /* at first nothing is given up, and then each time something is */
} dialled;

static enum pdk__zk_dial dial(pdk__zk *zk) {
    enum pdk__zk_dial dial = sim_client_calls.dial(zk);
    return dial == PDK__ZK_IDLE ? PDK__ZK_DIALS : dial;
}

static enum pdk__zk_parting hurry(pdk__zk *zk, enum pdk__zk_dial what, int64_t patience_ms) {
    if (what != PDK__ZK_DIALS)
        return sim_client_calls.hurry(zk, what, patience_ms);
    dialled.at[dialled.asked++ % 40] = platform_agenda.now;
    dialled.left += dialled.asked > 1;
    return dialled.asked > 1 ? PDK__ZK_LEAVES : PDK__ZK_STAYS;
}

/* One look takes note of what is dialled, another one gives it up, after the patience. The server that is dialled then is noted at
 * the next look. */
START_TEST(who_is_dialled_has_a_patience) {
    memset(&dialled, 0, sizeof dialled);
    begin();
    calls.dial = dial;
    calls.hurry = hurry;
    use_calls();
    for (int32_t i = 0; i < PLATFORM_SERVERS; i++)
        sim_server_kill(platform_ensemble, i);
    platform_pass(TIMEOUT);
    ck_assert_int_ge(dialled.asked, 3);
    ck_assert_int_ge(dialled.at[1] - dialled.at[0], TIMEOUT / 10);
    ck_assert_int_lt(dialled.at[2] - dialled.at[1], TIMEOUT / 10);
    ck_assert_int_eq((int)first->session->stats.counts.server_hurries, dialled.left);
}
END_TEST

/* ---- the handle goes while its sockets are looked at */

static int parted;

/* In its process, and not under the monitor. */
static void reopen(void) {
    if (parted++ == 0)
        rival_reopen(first);
}

static enum pdk__zk_parting leave_late(pdk__zk *zk) {
    enum pdk__zk_parting parting = sim_client_calls.leave(zk);
    reopen();
    return parting;
}

static enum pdk__zk_parting hurry_late(pdk__zk *zk, enum pdk__zk_dial what, int64_t patience_ms) {
    enum pdk__zk_parting parting = sim_client_calls.hurry(zk, what, patience_ms);
    reopen();
    return parting;
}

/* What is found out about it counts for nothing. _i: a server is left, or a handshake is given up. */
START_TEST(a_parting_of_an_older_handle_does_not_count) {
    parted = 0;
    begin();
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    if (_i)
        calls.hurry = hurry_late;
    else
        calls.leave = leave_late;
    use_calls();
    pause_all(true, -1);
    for (int64_t until = platform_agenda.now + 4 * TIMEOUT; parted == 0; platform_pass(SIM_MS))
        ck_assert_int_lt(platform_agenda.now, until);
    const uint64_t hurries = first->session->stats.counts.server_hurries;
    ck_assert_uint_eq(_i ? hurries : first->session->stats.counts.server_leaves, 0);
    pause_all(false, -1);
    platform_pass(3 * TIMEOUT);
    ck_assert_msg(g_str_has_suffix(first->events->str, "expired reopened"), "%s", first->events->str);
}
END_TEST

/* ---- since when the next handshake counts */

static enum pdk__zk_dial dials_nobody(pdk__zk *zk) {
    (void)zk;
    return PDK__ZK_IDLE;
}

/* Held up meanwhile: by its clock it takes a while. */
enum { HELD_UP_MS = 200 };
static int64_t parted_from;

static enum pdk__zk_parting leave_slowly(pdk__zk *zk) {
    enum pdk__zk_parting parting = sim_client_calls.leave(zk);
    parted_from = sim_process_clock(&first->process);
    first->process.offset += HELD_UP_MS * SIM_MS;
    return parting == PDK__ZK_STAYS ? parting : PDK__ZK_HAS_LEFT;
}

/* Whether it has left is not known yet. */
static enum pdk__zk_parting leave_later(pdk__zk *zk) {
    enum pdk__zk_parting parting = sim_client_calls.leave(zk);
    return parting == PDK__ZK_STAYS ? parting : PDK__ZK_LEAVES;
}

/* It was sent at some moment after the one before which no connection was there. _i: two looks found none; a server was left. */
START_TEST(a_handshake_counts_from_before_it_was_looked_for) {
    begin();
    parted_from = INT64_MAX;
    calls.leave = _i ? leave_slowly : leave_later;
    if (_i == 0)
        calls.dial = dials_nobody;
    use_calls();
    const struct pdk__lease *lease = &first->session->lease;
    int64_t before = lease->dialled;
    pause_all(true, -1);
    for (int64_t until = platform_agenda.now + TIMEOUT; lease->dialled == before; platform_pass(SIM_MS))
        ck_assert_int_lt(platform_agenda.now, until);
    ck_assert_int_le(lease->dialled, parted_from);
    ck_assert_int_ge(lease->dialled_seen - lease->dialled, _i ? HELD_UP_MS * SIM_MS : 50 * SIM_MS);
    pause_all(false, -1);
    platform_pass(TIMEOUT);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_silence");
    TCase *cases = tcase_create("driver_silence");
    tcase_add_checked_fixture(cases, platform_setup, teardown);
    tcase_add_test(cases, servers_that_answer_again_are_found_soon);
    tcase_add_test(cases, the_patience_has_an_end);
    tcase_add_test(cases, who_is_dialled_has_a_patience);
    tcase_add_loop_test(cases, a_parting_of_an_older_handle_does_not_count, 0, 2);
    tcase_add_loop_test(cases, a_handshake_counts_from_before_it_was_looked_for, 0, 2);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}

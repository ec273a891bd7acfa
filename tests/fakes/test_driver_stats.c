/* What a session has counted after a run whose every step is known: the production driver in simulated time. */
#include "platform_bench.h"
#include "session/session.h"
#include "sim_client.h"

#include <string.h>

#define US_OF(ns) ((uint64_t)((ns) / 1000))

static pdk_stats stats;

/* What is counted by path, which is all from `claims_waiting` up to `lost_closed`. */
enum { BY_PATH = offsetof(pdk_stats, session_timeout_us) / sizeof(uint64_t) };

/* The figures of the paths together are those of the session, but for the longest time. */
static void check_paths(pdk_session *session) {
    uint64_t sums[BY_PATH] = {0}, whole[BY_PATH];
    for (size_t i = 0; i < pdk_session_stats_paths(session); i++) {
        pdk_stats path = PDK_STATS_INIT;
        uint64_t numbers[BY_PATH];
        ck_assert_int_eq(pdk_session_stats_path(session, i, &path, NULL, NULL), PDK_OK);
        path.wait_time.max_us = path.hold_time.max_us = 0;
        memcpy(numbers, &path, sizeof numbers);
        for (size_t k = 1; k < BY_PATH; k++)
            sums[k] += numbers[k];
    }
    pdk_stats all = stats;
    all.wait_time.max_us = all.hold_time.max_us = 0;
    memcpy(whole, &all, sizeof whole);
    for (size_t k = 1; k < BY_PATH; k++)
        ck_assert_msg(sums[k] == whole[k], "number %zu of the struct is %lu, and of its paths %lu", k, whole[k],
                      sums[k]);
}

static void read_in(void *subject, void *what) {
    pdk_session *session = ((struct rival *)subject)->session;
    (void)what;
    stats = (pdk_stats)PDK_STATS_INIT;
    ck_assert_int_eq(pdk_session_stats(session, &stats), PDK_OK);
    check_paths(session);
}

static const pdk_stats *stats_of(struct rival *r) {
    sim_call_in(&r->process, read_in, r, NULL);
    return &stats;
}

static void reset_in(void *subject, void *what) {
    (void)what;
    ck_assert_int_eq(pdk_session_stats_reset(((struct rival *)subject)->session), PDK_OK);
}

static void reset(struct rival *r) { sim_call_in(&r->process, reset_in, r, NULL); }

static void setup(void) {
    platform_setup();
    rival_open(first);
    rival_open(second);
    platform_pass(SECOND);
}

/* The holder has it for that long. */
static void hold_for(struct rival *r, int64_t ns) {
    rival_acquire(r, PDK_FOREVER);
    platform_pass(SECOND);
    ck_assert_int_eq(r->status, PDK_OK);
    platform_pass(ns - (platform_agenda.now - r->granted_at));
    rival_release(r);
}

/* ---- claims and holds */

START_TEST(a_session_that_did_nothing) {
    const pdk_stats *s = stats_of(first);
    ck_assert_uint_eq(s->size, sizeof stats);
    ck_assert_uint_eq(s->claims_waiting + s->claims_granted + s->holds + s->hold_time.count + s->wait_time.count, 0);
    ck_assert_uint_eq(s->session_timeout_us, US_OF(TIMEOUT));
    ck_assert_uint_eq(s->connected, 1);
    ck_assert_uint_eq(s->ephemeral_bytes + s->watched_bytes + s->deletes_pending, 0);
    ck_assert_uint_eq(s->ephemeral_bytes_max, 1000 * 1024);
    ck_assert_uint_eq(s->watched_bytes_max, 900 * 1000);
    ck_assert_int_eq(s->lease_least_us, -1);
    ck_assert_uint_gt(s->lease_us, US_OF(TIMEOUT / 4));
    ck_assert_uint_lt(s->lease_us, US_OF(TIMEOUT));
}
END_TEST

START_TEST(each_hold_is_counted_with_how_long_it_was) {
    for (int i = 1; i <= 10; i++)
        hold_for(first, (1 + i) * SECOND);
    platform_pass(SECOND);
    const pdk_stats *s = stats_of(first);
    ck_assert_uint_eq(s->claims_granted, 10);
    ck_assert_uint_eq(s->claims_waiting + s->holds + s->handovers, 0);
    ck_assert_uint_eq(s->lost_closed + s->lost_expired + s->lost_lease + s->lost_node_gone, 0);
    ck_assert_uint_eq(s->hold_time.count, 10);
    ck_assert_uint_ge(s->hold_time.sum_us, 64 * US_OF(SECOND));
    ck_assert_uint_le(s->hold_time.sum_us, 66 * US_OF(SECOND));
    ck_assert_uint_ge(s->hold_time.max_us, 11 * US_OF(SECOND));
    ck_assert_uint_ge(pdk_histogram_quantile_us(&s->hold_time, 0.5), 6 * US_OF(SECOND));
    ck_assert_uint_le(pdk_histogram_quantile_us(&s->hold_time, 0.5), 8 * US_OF(SECOND));
    ck_assert_uint_eq(s->wait_time.count, 10);
    ck_assert_uint_lt(s->wait_time.max_us, US_OF(100 * SIM_MS));
    ck_assert_uint_gt(s->wait_time.max_us, 0);
}
END_TEST

START_TEST(a_wait_is_as_long_as_others_hold) {
    rival_acquire(second, PDK_FOREVER);
    platform_pass(SECOND);
    rival_acquire(first, PDK_FOREVER);
    platform_pass(5 * SECOND);
    ck_assert_uint_eq(stats_of(first)->claims_waiting, 1);
    ck_assert_uint_gt(stats.ephemeral_bytes, strlen("/app/locks/one/"));
    ck_assert_uint_gt(stats.watched_bytes, strlen("/app/locks/one/"));
    ck_assert_uint_eq(stats_of(second)->holds, 1);
    rival_release(second);
    platform_pass(SECOND);
    ck_assert_uint_eq(stats_of(first)->claims_waiting, 0);
    ck_assert_uint_eq(stats.holds, 1);
    ck_assert_uint_ge(stats.wait_time.max_us, 5 * US_OF(SECOND));
    ck_assert_uint_le(stats.wait_time.max_us, 5 * US_OF(SECOND) + US_OF(50 * SIM_MS));
}
END_TEST

static void release_at_once(pdk_status status, pdk_hold *hold, void *user) {
    (void)status;
    (void)user;
    pdk_hold_release(hold);
}

static void want_in(void *subject, void *what) {
    for (int i = 0; i < *(int *)what; i++)
        ck_assert_int_eq(
            pdk_lock_acquire_async(((struct rival *)subject)->lock, PDK_FOREVER, release_at_once, NULL, NULL), PDK_OK);
}

START_TEST(claims_of_one_process_are_handed_over) {
    int claims = 20;
    sim_call_in(&first->process, want_in, first, &claims);
    ck_assert_uint_eq(stats_of(first)->claims_waiting, 20);
    platform_pass(SECOND);
    ck_assert_uint_eq(stats_of(first)->claims_granted, 20);
    ck_assert_uint_eq(stats.handovers, 19);
    ck_assert_uint_eq(stats.hold_time.count, 20);
}
END_TEST

static void drop_lock_in(void *subject, void *what) {
    (void)what;
    pdk_lock_unref(g_steal_pointer(&((struct rival *)subject)->lock));
}

START_TEST(claims_that_are_not_granted_are_counted_by_why) {
    rival_acquire(second, PDK_FOREVER);
    platform_pass(SECOND);
    rival_acquire(first, 0);
    rival_acquire(first, 500);
    rival_acquire(first, 600);
    platform_pass(SECOND);
    ck_assert_uint_eq(stats_of(first)->claims_busy, 1);
    ck_assert_uint_eq(stats.claims_timed_out, 2);
    platform_block(first, true);
    rival_acquire(first, 100);
    platform_pass(200 * SIM_MS);
    ck_assert_int_eq(first->status, PDK_UNAVAILABLE);
    platform_block(first, false);
    platform_pass(SECOND);
    first->session->ephemeral_bytes += PDK__EPHEMERAL_BYTES_MAX;
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    ck_assert_int_eq(first->status, PDK_LIMIT);
    ck_assert_uint_gt(stats_of(first)->ephemeral_bytes, stats.ephemeral_bytes_max - 1);
    first->session->ephemeral_bytes -= PDK__EPHEMERAL_BYTES_MAX;
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    sim_call_in(&first->process, drop_lock_in, first, NULL);
    platform_pass(SECOND);
    ck_assert_uint_eq(stats_of(first)->claims_cancelled, 1);
    ck_assert_uint_eq(stats.claims_unavailable, 1);
    ck_assert_uint_eq(stats.claims_failed, 1);
    ck_assert_uint_eq(stats.claims_granted + stats.claims_waiting + stats.wait_time.count, 0);
    ck_assert_uint_eq(first->answers, 1 + 2 + 1 + 1 + 1);
}
END_TEST

/* It sleeps between the grant and its callback, until the session is over. The claim queues again. */
START_TEST(a_grant_that_lapsed_before_it_was_received) {
    rival_acquire(first, PDK_FOREVER);
    while (first->session->stats.counts.claims_granted == 0)
        ck_assert(sim_step(&platform_agenda, INT64_MAX - 1));
    ck_assert_uint_eq(first->answers, 0);
    sim_process_pause(&first->process, true);
    platform_pass(2 * TIMEOUT);
    sim_process_pause(&first->process, false);
    platform_pass(TIMEOUT);
    ck_assert_uint_eq(first->answers, 1);
    ck_assert_uint_eq(stats_of(first)->grants_lapsed, 1);
    ck_assert_uint_eq(stats.claims_granted, 2);
    ck_assert_uint_eq(stats.holds, 1);
    ck_assert_uint_eq(stats.hold_time.count, 1);
}
END_TEST

/* ---- losses */

static void take(struct rival *r) {
    rival_acquire(r, PDK_FOREVER);
    platform_pass(SECOND);
    ck_assert_ptr_nonnull(r->hold);
}

START_TEST(a_lease_that_is_over) {
    take(first);
    platform_block(first, true);
    platform_pass(2 * TIMEOUT);
    ck_assert_int_eq(first->reason, PDK_REASON_LEASE);
    ck_assert_uint_eq(stats_of(first)->lost_lease, 1);
    ck_assert_uint_eq(stats.lost_expired + stats.lost_node_gone + stats.lost_closed, 0);
    ck_assert_uint_eq(stats.holds, 0);
    ck_assert_uint_eq(stats.hold_time.count, 1);
    ck_assert_uint_eq(stats.connected, 0);
    ck_assert_uint_eq(stats.lease_us, 0);
    ck_assert_int_eq(stats.lease_least_us, 0);
    platform_block(first, false);
    platform_pass(TIMEOUT);
    ck_assert_uint_eq(stats_of(first)->sessions_lost, 1);
    ck_assert_uint_eq(stats.reopens, 1);
    ck_assert_uint_eq(stats.reconnects, 0);
    ck_assert_uint_eq(stats.connected, 1);
    ck_assert_str_eq(first->events->str, "connected suspended expired reopened");
}
END_TEST

/* Cut off meanwhile, it does not hear first that its node is gone. */
START_TEST(a_session_that_the_servers_ended) {
    take(first);
    platform_block(first, true);
    ck_assert(sim_admin_expire(platform_ensemble, first->session->id));
    platform_pass(100 * SIM_MS);
    platform_block(first, false);
    sim_client_cut(&first->process);
    platform_pass(SECOND);
    ck_assert_int_eq(first->reason, PDK_REASON_EXPIRED);
    ck_assert_uint_eq(stats_of(first)->lost_expired, 1);
    ck_assert_uint_eq(stats.lost_lease + stats.lost_node_gone + stats.lost_closed, 0);
    ck_assert_uint_eq(stats.sessions_lost, 1);
}
END_TEST

static void node_in(void *subject, void *what) {
    *(const char **)what = pdk_hold_node(((struct rival *)subject)->hold);
}

START_TEST(a_node_that_somebody_deleted) {
    struct sim_packet packet = {.kind = SIM_REQUEST, .op = SIM_OP_DELETE};
    take(first);
    sim_call_in(&first->process, node_in, first, &packet.path);
    ck_assert(sim_admin(platform_ensemble, &packet));
    platform_pass(SECOND);
    ck_assert_int_eq(first->reason, PDK_REASON_NODE_GONE);
    ck_assert_uint_eq(stats_of(first)->lost_node_gone, 1);
    ck_assert_uint_eq(stats.lost_lease + stats.lost_expired + stats.lost_closed + stats.sessions_lost, 0);
}
END_TEST

static void close_in_callback(pdk_status status, pdk_hold *hold, void *user) {
    ck_assert_int_eq(status, PDK_OK);
    ck_assert_int_eq(pdk_session_close(((struct rival *)user)->session, 0), PDK_OK);
    pdk_hold_unref(hold);
}

static void close_in(void *subject, void *what) {
    struct rival *r = subject;
    (void)what;
    ck_assert_int_eq(pdk_lock_acquire_async(r->lock, PDK_FOREVER, close_in_callback, r, NULL), PDK_OK);
}

/* A closed session has its figures, too. */
START_TEST(a_session_that_was_closed) {
    sim_call_in(&first->process, close_in, first, NULL);
    platform_pass(SECOND);
    ck_assert_uint_eq(stats_of(first)->lost_closed, 1);
    ck_assert_uint_eq(stats.lost_lease + stats.lost_expired + stats.lost_node_gone + stats.sessions_lost, 0);
    ck_assert_uint_eq(stats.claims_granted, 1);
    ck_assert_uint_eq(stats.lease_us, 0);
    ck_assert_uint_eq(stats.connected, 0);
}
END_TEST

/* ---- the lease and the connection */

/* Held for ten timeouts: one renewal in each tenth, and some when it began. */
START_TEST(renewals_are_counted_with_how_long_they_took) {
    take(first);
    const pdk_stats before = *stats_of(first);
    platform_pass(10 * TIMEOUT);
    ck_assert_uint_ge(stats_of(first)->renewals_sent - before.renewals_sent, 90);
    ck_assert_uint_le(stats.renewals_sent - before.renewals_sent, 110);
    ck_assert_uint_ge(stats.renewals_sent, stats.renewals_answered);
    ck_assert_uint_le(stats.renewals_sent - stats.renewals_answered, 1);
    ck_assert_uint_eq(stats.renewal_time.count, stats.renewals_answered);
    ck_assert_uint_lt(stats.renewal_time.max_us, US_OF(20 * SIM_MS));
}
END_TEST

START_TEST(the_least_of_the_lease_is_kept_until_it_is_reset) {
    take(first);
    platform_pass(TIMEOUT);
    reset(first); /* the first renewals come sooner */
    platform_pass(5 * TIMEOUT);
    int64_t calm = stats_of(first)->lease_least_us;
    ck_assert_int_gt(calm, (int64_t)US_OF(TIMEOUT / 4));
    ck_assert_int_lt(calm, (int64_t)US_OF(TIMEOUT));
    platform_block(first, true);
    platform_pass(TIMEOUT / 8);
    platform_block(first, false);
    platform_pass(5 * TIMEOUT);
    ck_assert_uint_eq(first->losses, 0);
    int64_t near = stats_of(first)->lease_least_us;
    ck_assert_int_gt(near, 0);
    ck_assert_int_lt(near, calm - (int64_t)US_OF(TIMEOUT / 16));
    ck_assert_uint_gt(stats.lease_us, (uint64_t)near);
    ck_assert_int_eq(stats_of(first)->lease_least_us, near);
    reset(first);
    platform_pass(TIMEOUT);
    ck_assert_int_gt(stats_of(first)->lease_least_us, near);
    rival_release(first);
    reset(first);
    platform_pass(TIMEOUT);
    ck_assert_int_eq(stats_of(first)->lease_least_us, -1);
}
END_TEST

START_TEST(each_reconnect_is_counted) {
    for (int i = 1; i <= 5; i++) {
        sim_client_cut(&first->process);
        platform_pass(SECOND);
        ck_assert_uint_eq(stats_of(first)->reconnects, (uint64_t)i);
    }
    ck_assert_uint_eq(stats.sessions_lost + stats.reopens + stats.server_leaves + stats.server_hurries, 0);
}
END_TEST

/* Its server does nothing any more: writes there have no answer. Both ways to part from it are counted. */
START_TEST(each_server_that_was_left_is_counted) {
    take(first);
    int32_t server = sim_client_server(&first->process);
    sim_server_pause(platform_ensemble, server, true);
    platform_pass(TIMEOUT / 2);
    ck_assert_uint_eq(stats_of(first)->server_leaves, 1);
    sim_server_pause(platform_ensemble, server, false);
    platform_pass(TIMEOUT);
    uint64_t hurries = stats_of(first)->server_hurries;
    platform_block(first, true);
    platform_pass(TIMEOUT);
    ck_assert_uint_gt(stats_of(first)->server_hurries, hurries);
}
END_TEST

START_TEST(a_node_that_cannot_be_deleted_yet_is_pending) {
    take(first);
    platform_block(first, true);
    rival_release(first);
    ck_assert_uint_eq(stats_of(first)->deletes_pending, 1);
    platform_block(first, false);
    platform_pass(TIMEOUT);
    ck_assert_uint_eq(stats_of(first)->deletes_pending, 0);
    ck_assert_uint_eq(stats.ephemeral_bytes, 0);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_stats");
    TCase *cases = tcase_create("driver_stats");
    tcase_add_checked_fixture(cases, setup, platform_teardown);
    tcase_add_test(cases, a_session_that_did_nothing);
    tcase_add_test(cases, each_hold_is_counted_with_how_long_it_was);
    tcase_add_test(cases, a_wait_is_as_long_as_others_hold);
    tcase_add_test(cases, claims_of_one_process_are_handed_over);
    tcase_add_test(cases, claims_that_are_not_granted_are_counted_by_why);
    tcase_add_test(cases, a_grant_that_lapsed_before_it_was_received);
    tcase_add_test(cases, a_lease_that_is_over);
    tcase_add_test(cases, a_session_that_the_servers_ended);
    tcase_add_test(cases, a_node_that_somebody_deleted);
    tcase_add_test(cases, a_session_that_was_closed);
    tcase_add_test(cases, renewals_are_counted_with_how_long_they_took);
    tcase_add_test(cases, the_least_of_the_lease_is_kept_until_it_is_reset);
    tcase_add_test(cases, each_reconnect_is_counted);
    tcase_add_test(cases, each_server_that_was_left_is_counted);
    tcase_add_test(cases, a_node_that_cannot_be_deleted_yet_is_pending);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

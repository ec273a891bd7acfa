/* What a session has counted after a run whose every step is known: the production driver in simulated time. */
#include "driver_bench.h"
#include "session/session.h"
#include "sim_client.h"

#include <string.h>

#define US_OF(ns) ((uint64_t)((ns) / 1000))

static pdk_stats stats;

static void read_stats(struct rival *r) {
    stats = (pdk_stats)PDK_STATS_INIT;
    ck_assert_int_eq(pdk_session_stats(r->session, &stats), PDK_OK);
}

static void setup(void) {
    platform_setup();
    rival_open(first);
    rival_open(second);
    platform_pass(SECOND);
}

static void take(struct rival *r) {
    rival_acquire(r, PDK_FOREVER);
    platform_pass(SECOND);
    ck_assert_ptr_nonnull(r->hold);
}

/* ---- one thing happens, and is counted: once, and nothing else of these is */

static void do_nothing(void) {}

static void try_in_vain(void) {
    take(second);
    rival_acquire(first, 0);
    platform_pass(SECOND);
}

static void wait_in_vain(void) {
    take(second);
    rival_acquire(first, 500);
    platform_pass(SECOND);
}

static void wait_without_a_server(void) {
    platform_block(first, true);
    rival_acquire(first, 100);
    platform_pass(200 * SIM_MS);
    platform_block(first, false);
    platform_pass(SECOND);
}

static void have_no_room(void) {
    first->session->ephemeral_bytes += PDK__EPHEMERAL_BYTES_MAX;
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    first->session->ephemeral_bytes -= PDK__EPHEMERAL_BYTES_MAX;
}

static void drop_what_waits(void) {
    take(second);
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    pdk_lock_unref(g_steal_pointer(&first->lock));
    platform_pass(SECOND);
}

static void lose_its_lease(void) {
    take(first);
    platform_block(first, true);
    platform_pass(2 * TIMEOUT);
    read_stats(first);
    ck_assert_uint_eq(stats.connected + stats.lease_us, 0);
    ck_assert_int_eq(stats.lease_least_us, 0);
    platform_block(first, false);
    platform_pass(TIMEOUT);
    ck_assert_str_eq(first->events->str, "connected suspended expired reopened");
}

/* Cut off meanwhile, it does not hear first that its node is gone. */
static void be_expired(void) {
    take(first);
    platform_block(first, true);
    ck_assert(sim_admin_expire(platform_ensemble, first->session->id));
    platform_pass(100 * SIM_MS);
    platform_block(first, false);
    sim_client_cut(&first->process);
    platform_pass(SECOND);
}

static void lose_its_node(void) {
    take(first);
    platform_admin(SIM_OP_DELETE, pdk_hold_node(first->hold));
    platform_pass(SECOND);
}

static void close_it(void) {
    take(first);
    pdk_session_close(first->session, 0);
    platform_pass(SECOND);
}

static void be_cut(void) {
    sim_client_cut(&first->process);
    platform_pass(SECOND);
}

/* Its server does nothing any more: writes there have no answer. */
static void have_a_silent_server(void) {
    take(first);
    int32_t server = sim_client_server(&first->process);
    sim_server_pause(platform_ensemble, server, true);
    platform_pass(TIMEOUT / 2);
    sim_server_pause(platform_ensemble, server, false);
}

/* It sleeps between the grant and its callback, until the session is over. The claim queues again. */
static void sleep_before_it_is_told(void) {
    rival_acquire(first, PDK_FOREVER);
    while (first->session->stats.counts.claims_granted == 0)
        platform_step();
    ck_assert_uint_eq(first->answers, 0);
    driver_hold_up(2 * TIMEOUT);
    platform_pass(TIMEOUT);
    ck_assert_uint_eq(first->answers, 1);
}

#define AT(field) offsetof(pdk_stats, field)

static const struct counted {
    const char *name;
    void (*happens)(void);
    size_t fields[6]; /* each is 1 */
} counted[] = {
    {"nothing", do_nothing, {AT(connected)}},
    {"busy", try_in_vain, {AT(claims_busy), AT(connected)}},
    {"timed out", wait_in_vain, {AT(claims_timed_out), AT(connected)}},
    {"unavailable", wait_without_a_server, {AT(claims_unavailable), AT(connected)}},
    {"failed", have_no_room, {AT(claims_failed), AT(connected)}},
    {"cancelled", drop_what_waits, {AT(claims_cancelled), AT(connected)}},
    {"lease", lose_its_lease, {AT(lost_lease), AT(server_leaves), AT(sessions_lost), AT(reopens), AT(connected)}},
    {"expired", be_expired, {AT(lost_expired), AT(sessions_lost), AT(reopens), AT(connected)}},
    {"node", lose_its_node, {AT(lost_node_gone), AT(connected)}},
    {"closed", close_it, {AT(lost_closed)}},
    {"cut", be_cut, {AT(reconnects), AT(connected)}},
    {"silent server", have_a_silent_server, {AT(server_leaves), AT(holds)}},
    {"lapsed",
     sleep_before_it_is_told,
     {AT(grants_lapsed), AT(lost_lease), AT(holds), AT(sessions_lost), AT(reopens), AT(connected)}}};

static const size_t watched[] = {AT(claims_waiting), AT(claims_busy),      AT(claims_timed_out), AT(claims_unavailable),
                                 AT(claims_failed),  AT(claims_cancelled), AT(handovers),        AT(holds),
                                 AT(grants_lapsed),  AT(lost_lease),       AT(lost_expired),     AT(lost_node_gone),
                                 AT(lost_closed),    AT(sessions_lost),    AT(reopens),          AT(reconnects),
                                 AT(server_leaves),  AT(connected)};

static uint64_t figure(size_t offset) { return *(const uint64_t *)(const void *)((const char *)&stats + offset); }

START_TEST(what_happens_is_counted_once) {
    const struct counted *c = &counted[_i];
    c->happens();
    read_stats(first);
    for (size_t i = 0; i < G_N_ELEMENTS(watched); i++) {
        uint64_t expected = 0;
        for (size_t k = 0; k < G_N_ELEMENTS(c->fields); k++)
            expected += c->fields[k] == watched[i];
        ck_assert_msg(figure(watched[i]) == expected, "%s: the figure at %zu is %lu, not %lu", c->name, watched[i],
                      figure(watched[i]), expected);
    }
    ck_assert_uint_eq(stats.hold_time.count,
                      stats.lost_lease + stats.lost_expired + stats.lost_node_gone + stats.lost_closed);
    ck_assert_uint_eq(stats.wait_time.count, stats.claims_granted);
}
END_TEST

/* ---- how long, and how many bytes */

START_TEST(a_session_that_did_nothing) {
    read_stats(first);
    ck_assert_uint_eq(stats.size, sizeof stats);
    ck_assert_uint_eq(stats.session_timeout_us, US_OF(TIMEOUT));
    ck_assert_uint_eq(stats.ephemeral_bytes + stats.watched_bytes + stats.deletes_pending, 0);
    ck_assert_uint_eq(stats.ephemeral_bytes_max, 1000 * 1024);
    ck_assert_uint_eq(stats.watched_bytes_max, 900 * 1000);
    ck_assert_int_eq(stats.lease_least_us, -1);
    ck_assert_uint_gt(stats.lease_us, US_OF(TIMEOUT / 4));
    ck_assert_uint_lt(stats.lease_us, US_OF(TIMEOUT));
}
END_TEST

START_TEST(each_hold_is_counted_with_how_long_it_was) {
    for (int i = 1; i <= 10; i++) {
        take(first);
        platform_pass((1 + i) * SECOND - (platform_agenda.now - first->granted_at));
        rival_release(first);
    }
    platform_pass(SECOND);
    read_stats(first);
    ck_assert_uint_eq(stats.claims_granted, 10);
    ck_assert_uint_eq(stats.hold_time.count, 10);
    ck_assert_uint_ge(stats.hold_time.sum_us, 64 * US_OF(SECOND));
    ck_assert_uint_le(stats.hold_time.sum_us, 66 * US_OF(SECOND));
    ck_assert_uint_ge(stats.hold_time.max_us, 11 * US_OF(SECOND));
    ck_assert_uint_ge(pdk_histogram_quantile_us(&stats.hold_time, 0.5), 6 * US_OF(SECOND));
    ck_assert_uint_le(pdk_histogram_quantile_us(&stats.hold_time, 0.5), 8 * US_OF(SECOND));
    ck_assert_uint_eq(stats.wait_time.count, 10);
    ck_assert_uint_lt(stats.wait_time.max_us, US_OF(100 * SIM_MS));
    ck_assert_uint_gt(stats.wait_time.max_us, 0);
}
END_TEST

START_TEST(a_wait_is_as_long_as_others_hold) {
    take(second);
    rival_acquire(first, PDK_FOREVER);
    platform_pass(5 * SECOND);
    read_stats(first);
    ck_assert_uint_eq(stats.claims_waiting, 1);
    ck_assert_uint_gt(stats.ephemeral_bytes, strlen("/app/locks/one/"));
    ck_assert_uint_gt(stats.watched_bytes, strlen("/app/locks/one/"));
    rival_release(second);
    platform_pass(SECOND);
    read_stats(first);
    ck_assert_uint_eq(stats.claims_waiting, 0);
    ck_assert_uint_eq(stats.holds, 1);
    ck_assert_uint_ge(stats.wait_time.max_us, 5 * US_OF(SECOND));
    ck_assert_uint_le(stats.wait_time.max_us, 5 * US_OF(SECOND) + US_OF(50 * SIM_MS));
}
END_TEST

/* Held for ten timeouts: one renewal in each tenth, and some when it began. */
START_TEST(renewals_are_counted_with_how_long_they_took) {
    take(first);
    read_stats(first);
    const uint64_t before = stats.renewals_sent;
    platform_pass(10 * TIMEOUT);
    read_stats(first);
    ck_assert_uint_ge(stats.renewals_sent - before, 90);
    ck_assert_uint_le(stats.renewals_sent - before, 110);
    ck_assert_uint_ge(stats.renewals_sent, stats.renewals_answered);
    ck_assert_uint_le(stats.renewals_sent - stats.renewals_answered, 1);
    ck_assert_uint_eq(stats.renewal_time.count, stats.renewals_answered);
    ck_assert_uint_lt(stats.renewal_time.max_us, US_OF(20 * SIM_MS));
}
END_TEST

/* After a reset, and so much time. */
static int64_t least_of_the_lease(int64_t ns) {
    platform_pass(ns);
    read_stats(first);
    return stats.lease_least_us;
}

START_TEST(the_least_of_the_lease_is_kept_until_it_is_reset) {
    take(first);
    platform_pass(TIMEOUT);
    ck_assert_int_eq(pdk_session_stats_reset(first->session), PDK_OK); /* the first renewals come sooner */
    int64_t calm = least_of_the_lease(5 * TIMEOUT);
    ck_assert_int_gt(calm, (int64_t)US_OF(TIMEOUT / 4));
    ck_assert_int_lt(calm, (int64_t)US_OF(TIMEOUT));
    platform_block(first, true);
    platform_pass(TIMEOUT / 8);
    platform_block(first, false);
    int64_t near = least_of_the_lease(5 * TIMEOUT);
    ck_assert_uint_eq(first->losses, 0);
    ck_assert_int_gt(near, 0);
    ck_assert_int_lt(near, calm - (int64_t)US_OF(TIMEOUT / 16));
    ck_assert_uint_gt(stats.lease_us, (uint64_t)near);
    ck_assert_int_eq(pdk_session_stats_reset(first->session), PDK_OK);
    ck_assert_int_gt(least_of_the_lease(TIMEOUT), near);
    rival_release(first);
    ck_assert_int_eq(pdk_session_stats_reset(first->session), PDK_OK);
    ck_assert_int_eq(least_of_the_lease(TIMEOUT), -1);
}
END_TEST

START_TEST(what_is_on_its_way_is_counted) {
    take(first);
    platform_block(first, true);
    rival_release(first);
    read_stats(first);
    ck_assert_uint_eq(stats.deletes_pending, 1);
    const uint64_t hurries = stats.server_hurries;
    platform_pass(TIMEOUT);
    read_stats(first);
    ck_assert_uint_gt(stats.server_hurries, hurries);
    platform_block(first, false);
    platform_pass(TIMEOUT);
    read_stats(first);
    ck_assert_uint_eq(stats.deletes_pending + stats.ephemeral_bytes, 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_stats");
    TCase *cases = tcase_create("driver_stats");
    tcase_add_checked_fixture(cases, setup, platform_teardown);
    tcase_add_loop_test(cases, what_happens_is_counted_once, 0, G_N_ELEMENTS(counted));
    tcase_add_test(cases, a_session_that_did_nothing);
    tcase_add_test(cases, each_hold_is_counted_with_how_long_it_was);
    tcase_add_test(cases, a_wait_is_as_long_as_others_hold);
    tcase_add_test(cases, renewals_are_counted_with_how_long_they_took);
    tcase_add_test(cases, the_least_of_the_lease_is_kept_until_it_is_reset);
    tcase_add_test(cases, what_is_on_its_way_is_counted);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}

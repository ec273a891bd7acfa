/* A server that says nothing costs no hold while another one works. Three servers with default ticks. */
#include <glib.h>
#include <stdio.h>

#include "event_log.h"
#include "ts_check.h"
#include "ts_ensemble.h"
#include "ts_paddock.h"
#include "ts_support.h"

enum { SESSION_MS = 4000, SLACK_MS = 1000 };

static ts_ensemble *ensemble;
static int leader;

/* ---- a hold */

static struct {
    pdk_session *session;
    pdk_lock *lock;
    pdk_hold *hold;
    ts_lost *lost;
    struct event_log events;
} it;

static void begin(void) {
    ensemble = ts_ensemble_start(&(ts_ensemble_options){.nodes = 3, .tick_ms = 2000});
    ck_assert_ptr_nonnull(ensemble);
    leader = ts_ensemble_leader(ensemble);
    ck_assert_int_ge(leader, 0);
}

static void end(void) { ts_ensemble_stop(ensemble); }

static void set_up(void) { event_log_init(&it.events); }

static void clear(void) {
    pdk_lock_unref(it.lock);
    pdk_session_unref(it.session);
    event_log_clear(&it.events);
    for (int i = 0; i < 3; i++)
        ts_proxy_heal(ts_ensemble_proxy(ensemble, i));
    ts_paddock_clear();
    ck_assert(ts_ensemble_wait_ready(ensemble, ts_patience(30000)));
}

/* A session that may go to any server, and begins at a follower. */
static void acquire_it(void) {
    ts_proxy *at_leader = ts_ensemble_proxy(ensemble, leader);
    ts_proxy_set_mode(at_leader, TS_CUT);
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = SESSION_MS;
    event_log_attach(&it.events, &options);
    ck_assert_int_eq(pdk_session_open(ts_ensemble_proxied_hosts(ensemble), &options, &it.session), PDK_OK);
    event_log_keep(&it.events, it.session);
    ts_proxy_heal(at_leader);
    ck_assert_int_eq(pdk_lock_new(it.session, ts_fresh_path(), NULL, &it.lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(it.lock, 5000, &it.hold), PDK_OK);
    it.lost = ts_lost_watch(it.hold);
    ck_assert_int_eq(pdk_hold_ensure(it.hold, SESSION_MS / 3), PDK_OK);
}

/* The server that it is connected to. */
static int connected_to(void) {
    for (int i = 0; i < 3; i++) {
        ts_proxy_counters counters;
        ts_proxy_read(ts_ensemble_proxy(ensemble, i), &counters);
        if (counters.open > 0)
            return i;
    }
    ck_abort_msg("it is connected to none");
}

/* It lasts for longer than a session does without a renewal. */
static void assert_kept_for(int64_t ms) {
    int64_t until = ts_now_ms() + ms, least = INT64_MAX;
    while (ts_now_ms() < until) {
        least = MIN(least, pdk_hold_remaining_ms(it.hold));
        ck_assert_msg(pdk_hold_is_valid(it.hold), "lost %lld ms before the end", (long long)(until - ts_now_ms()));
        ts_sleep_ms(5);
    }
    printf("        at least %lld ms of lease were left\n", (long long)least);
    ck_assert_int_eq(ts_lost_count(it.lost), 0);
    ck_assert_int_eq(event_log_count(&it.events, PDK_SESSION_EXPIRED), 0);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
}

START_TEST(a_link_falls_silent) {
    acquire_it();
    ts_proxy_set_mode(ts_ensemble_proxy(ensemble, connected_to()), TS_BLACKHOLE);
    assert_kept_for(SESSION_MS + SLACK_MS);
}
END_TEST

/* The client library itself would wait for two thirds of the timeout. */
START_TEST(a_handshake_is_swallowed) {
    acquire_it();
    int at = connected_to();
    ts_proxy *good = ts_ensemble_proxy(ensemble, at);
    for (int i = 0; i < 3; i++)
        if (i != at)
            ts_proxy_set_mode(ts_ensemble_proxy(ensemble, i), TS_BLACKHOLE);
    int64_t began = ts_now_ms();
    ts_proxy_reset(good);
    ck_assert(event_log_wait(&it.events, PDK_SESSION_SUSPENDED, 1, ts_patience(SLACK_MS)));
    ck_assert(event_log_wait(&it.events, PDK_SESSION_RESTORED, 1, ts_patience(3 * SESSION_MS / 10 + SLACK_MS)));
    printf("        restored after %lld ms\n", (long long)(ts_now_ms() - began));
    assert_kept_for(SESSION_MS);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("silence");
    TCase *tcase = tcase_create("silence");

    tcase_add_unchecked_fixture(tcase, begin, end);
    tcase_add_checked_fixture(tcase, set_up, clear);
    tcase_add_test(tcase, a_handshake_is_swallowed);
    tcase_add_test(tcase, a_link_falls_silent);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

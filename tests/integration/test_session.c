/* The life of a session: opened in time, or not at all, or in the background; its events in order; chroots. */
#include <check.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <string.h>
#include <unistd.h>

#include "event_log.h"
#include "refused.h"
#include "self.h"
#include "ts_check.h"
#include "ts_paddock.h"
#include "ts_support.h"

enum { TIMEOUT_MS = 4000, SLACK_MS = 1000, PATIENCE_MS = 15000, GONE_MS = 20000 };

static ts_ensemble *server;
static ts_proxy *proxy;
static struct event_log event_log;
static int threads_before, descriptors_before;

static void begin(void) {
    server = ts_ensemble_start(NULL);
    ck_assert_ptr_nonnull(server);
    proxy = ts_ensemble_proxy(server, 0);
}

static void end(void) { ts_ensemble_stop(server); }

static void set_up(void) {
    ts_proxy_set_mode(proxy, TS_CUT);
    threads_before = self_thread_count();
    descriptors_before = self_descriptor_count();
    event_log_init(&event_log);
    ts_proxy_heal(proxy);
}

static bool descriptors_are_back(void *unused) {
    (void)unused;
    return self_descriptor_count() <= descriptors_before;
}

static void check_nothing_left(void) {
    bool overlapped = event_log_overlapped(&event_log);
    event_log_clear(&event_log);
    ck_assert(!overlapped);
    ck_assert_msg(self_wait_threads(threads_before, GONE_MS), "%d threads of %d", self_thread_count(), threads_before);
    ts_proxy_set_mode(proxy, TS_CUT); /* its connections are descriptors of this process too */
    ck_assert(ts_wait_until(descriptors_are_back, NULL, GONE_MS));
}

static pdk_session_options options_with_event_log(void) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = TIMEOUT_MS;
    event_log_attach(&event_log, &options);
    return options;
}

static pdk_session *open_at(const char *hosts) {
    pdk_session_options options = options_with_event_log();
    pdk_session *s = NULL;
    pdk_status status = pdk_session_open(hosts, &options, &s);
    ck_assert_msg(status == PDK_OK, "%s: %s", hosts, pdk_last_error());
    event_log_keep(&event_log, s);
    return s;
}

static void close_session(pdk_session *s) {
    ck_assert_int_eq(pdk_session_close(s, 5000), PDK_OK);
    pdk_session_unref(s);
}

static pdk_hold *acquire(pdk_session *s, const char *path) {
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_new(s, path, NULL, &lock), PDK_OK);
    pdk_status status = pdk_lock_acquire(lock, 10000, &hold);
    ck_assert_msg(status == PDK_OK, "%s", pdk_last_error());
    pdk_lock_unref(lock);
    return hold;
}

/* ---- opening */

/* It is silent, it refuses, or it accepts and says nothing. A session that was never handed out tells no event. */
START_TEST(a_server_is_unavailable_in_time) {
    static const ts_proxy_mode modes[] = {TS_BLACKHOLE, TS_CUT, TS_BLACKHOLE_DOWN};
    pdk_session_options options = options_with_event_log();
    pdk_session *out = (pdk_session *)&server;
    options.connect_timeout_ms = 300;
    ts_proxy_set_mode(proxy, modes[_i]);
    int64_t began = ts_now_ms();
    pdk_status status = pdk_session_open(ts_ensemble_proxied_hosts(server), &options, &out);
    int64_t took = ts_now_ms() - began;
    refused(status, PDK_UNAVAILABLE, "hosts");
    ck_assert_ptr_eq(out, (pdk_session *)&server);
    ck_assert_int_ge(took, options.connect_timeout_ms - 50);
    ck_assert_int_lt(took, options.connect_timeout_ms + SLACK_MS);
    event_log_expect_silence(&event_log);
    ck_assert(self_wait_threads(threads_before, GONE_MS));
    ck_assert_int_eq(event_log_late(&event_log), 0);
}
END_TEST

START_TEST(dead_servers_in_the_list_are_passed_over) {
    int ports[3], reserved[3];
    GString *hosts = g_string_new(NULL);
    for (int i = 0; i < 3; i++) {
        reserved[i] = ts_port_reserve("127.0.0.1", &ports[i]);
        ck_assert_int_ge(reserved[i], 0);
        g_string_append_printf(hosts, "127.0.0.1:%d,", ports[i]);
    }
    g_string_append(hosts, ts_ensemble_proxied_hosts(server)); /* four, and only the last one is a server */
    pdk_session *s = open_at(hosts->str);
    for (int i = 0; i < 2; i++) { /* also at the reconnect */
        ts_proxy_reset(proxy);
        ck_assert(event_log_wait(&event_log, PDK_SESSION_RESTORED, i + 1, 20000));
    }
    pdk_hold *hold = acquire(s, "/session/dead");
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    close_session(s);
    ck_assert_int_eq(event_log_count(&event_log, PDK_SESSION_EXPIRED), 0);
    for (int i = 0; i < 3; i++)
        close(reserved[i]);
    g_string_free(hosts, TRUE);
}
END_TEST

/* ---- in the background: the program starts whether or not a server does */

static pdk_session *open_in_background(const char *hosts, pdk_lock **lock) {
    pdk_session_options options = options_with_event_log();
    pdk_session *s = NULL;
    options.request_timeout_ms = 300;
    options.connect_timeout_ms = PATIENCE_MS;
    options.open_in_background = 1;
    const int64_t began = ts_now_ms();
    ck_assert_int_eq(pdk_session_open(hosts, &options, &s), PDK_OK);
    ck_assert_int_lt(ts_now_ms() - began, ts_patience(SLACK_MS));
    event_log_keep(&event_log, s);
    ck_assert_int_eq(pdk_lock_new(s, "/session/background", NULL, lock), PDK_OK);
    return s;
}

static ts_answer *assert_waits(pdk_session *s, pdk_lock *lock) {
    pdk_hold *none = NULL;
    ck_assert_int_eq(pdk_session_id(s), 0);
    ck_assert_int_eq(pdk_session_timeout_ms(s), 0);
    ck_assert_int_eq(pdk_lock_acquire(lock, 0, &none), PDK_UNAVAILABLE);
    ck_assert_int_eq(pdk_lock_acquire(lock, 100, &none), PDK_UNAVAILABLE);
    ts_answer *answer = ts_acquire_async(lock, PDK_FOREVER);
    ck_assert(!ts_answer_wait(answer, 300));
    ck_assert_int_eq(event_log_count(&event_log, PDK_SESSION_CONNECTED), 0);
    return answer;
}

static void close_soon(pdk_session *s, pdk_lock *lock) {
    const int64_t began = ts_now_ms();
    ck_assert_int_eq(pdk_session_close(s, ts_patience(PATIENCE_MS)), PDK_OK);
    ck_assert_int_lt(ts_now_ms() - began, ts_patience(2 * SLACK_MS));
    pdk_lock_unref(lock);
    pdk_session_unref(s);
}

START_TEST(a_server_that_comes_later) {
    pdk_lock *lock = NULL;
    ts_proxy_set_mode(proxy, TS_CUT);
    pdk_session *s = open_in_background(ts_ensemble_proxied_hosts(server), &lock);
    ts_answer *answer = assert_waits(s, lock);
    ts_proxy_heal(proxy);
    ck_assert(event_log_wait(&event_log, PDK_SESSION_CONNECTED, 1, ts_patience(PATIENCE_MS)));
    ck_assert(ts_answer_wait(answer, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ts_answer_status(answer), PDK_OK);
    ck_assert_int_eq(ts_answer_release(answer), PDK_OK);
    close_soon(s, lock);
    ts_paddock_clear();
}
END_TEST

/* Nothing of it ever reached a server: its close has nothing to wait for. */
START_TEST(no_address_ever) {
    pdk_lock *lock = NULL;
    pdk_session *s = open_in_background("no-such-host.invalid:2181", &lock);
    ck_assert(event_log_wait_line(&event_log, "cannot connect", ts_patience(PATIENCE_MS)));
    ts_answer *answer = assert_waits(s, lock);
    close_soon(s, lock);
    ck_assert_int_eq(ts_answer_status(answer), PDK_CLOSED);
    ts_paddock_clear();
}
END_TEST

/* ---- events */

START_TEST(a_cut_a_return_and_an_expiry_are_told) {
    pdk_session *s = open_at(ts_ensemble_proxied_hosts(server));
    pdk_hold *hold = acquire(s, "/session/events");
    int64_t id = pdk_session_id(s);
    ts_proxy_set_mode(proxy, TS_CUT);
    ck_assert(event_log_wait(&event_log, PDK_SESSION_SUSPENDED, 1, 10000));
    int64_t left = event_log_time_left(&event_log, PDK_SESSION_SUSPENDED);
    ck_assert_int_gt(left, 0);
    ck_assert_int_le(left, TIMEOUT_MS);
    ts_proxy_heal(proxy);
    ck_assert(event_log_wait(&event_log, PDK_SESSION_RESTORED, 1, 10000));
    ck_assert_int_gt(event_log_time_left(&event_log, PDK_SESSION_RESTORED), 0);
    ck_assert_int_eq(pdk_session_id(s), id);
    ck_assert(pdk_hold_is_valid(hold));

    ck_assert_int_eq(ts_expire(proxy, ts_ensemble_host(server, 0)), 0);
    ck_assert(event_log_wait(&event_log, PDK_SESSION_REOPENED, 1, 20000));
    ck_assert_int_eq(event_log_time_left(&event_log, PDK_SESSION_EXPIRED), 0);
    ck_assert_int_ne(pdk_session_id(s), id);
    ck_assert_int_ne(pdk_session_id(s), 0);
    ck_assert_int_eq(pdk_hold_reason(hold), PDK_REASON_EXPIRED);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
    close_session(s);
    char *history = event_log_history(&event_log);
    ck_assert_str_eq(history, "connected suspended restored suspended expired reopened closed");
    g_free(history);
}
END_TEST

/* ---- chroot */

START_TEST(a_missing_chroot_is_made_with_the_first_lock) {
    char *hosts = g_strconcat(ts_ensemble_hosts(server), "/not/yet", NULL);
    pdk_session *s = open_at(hosts);
    ck_assert_int_eq(ts_exists(ts_ensemble_hosts(server), "/not", NULL), -101);
    pdk_hold *hold = acquire(s, "/locks/orders");
    ck_assert_int_eq(ts_child_count(ts_ensemble_hosts(server), "/not/yet/locks/orders"), 1);
    ck_assert(g_str_has_prefix(pdk_hold_sequencer(hold), "pdk1 /not/yet/locks/orders/"));
    ck_assert_int_eq(pdk_session_check_sequencer(s, pdk_hold_sequencer(hold), 5000), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    close_session(s);
    ck_assert_int_eq(event_log_lines_with(&event_log, "the chroot /not/yet was missing"), 1);

    s = open_at(hosts); /* now it exists */
    hold = acquire(s, "/locks/orders");
    pdk_session *outside = NULL; /* without an event log: callbacks of two sessions may overlap */
    ck_assert_int_eq(pdk_session_open(ts_ensemble_hosts(server), NULL, &outside), PDK_OK);
    pdk_lock *same = NULL;
    pdk_hold *none = NULL;
    ck_assert_int_eq(pdk_lock_new(outside, "/not/yet/locks/orders", NULL, &same), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(same, 0, &none), PDK_BUSY); /* one node, two names */
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    pdk_lock_unref(same);
    hold = acquire(s, "/another");
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    close_session(s);
    close_session(outside);
    ck_assert_int_eq(event_log_lines_with(&event_log, "the chroot /not/yet was missing"), 1);
    g_free(hosts);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("session");
    TCase *cases = tcase_create("session");
    tcase_add_unchecked_fixture(cases, begin, end);
    tcase_add_checked_fixture(cases, set_up, check_nothing_left);
    tcase_add_loop_test(cases, a_server_is_unavailable_in_time, 0, 3);
    tcase_add_test(cases, dead_servers_in_the_list_are_passed_over);
    tcase_add_test(cases, a_server_that_comes_later);
    tcase_add_test(cases, no_address_ever);
    tcase_add_test(cases, a_cut_a_return_and_an_expiry_are_told);
    tcase_add_test(cases, a_missing_chroot_is_made_with_the_first_lock);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

/* The life of a session: opened in time or not at all, its events in order, reconnects, chroots, host lists. */
#include <check.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <string.h>
#include <unistd.h>

#include "event_log.h"
#include "refused.h"
#include "self.h"
#include "ts_check.h"
#include "ts_support.h"

#define GONE_MS 20000
#define SLACK_MS 1000
#define TIMEOUT_MS 4000

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

/* A session that was never handed out tells no event. */
static void check_unavailable(const char *hosts, int32_t connect_timeout_ms) {
    pdk_session_options options = options_with_event_log();
    pdk_session *out = (pdk_session *)&server;
    options.connect_timeout_ms = connect_timeout_ms;
    int64_t began = ts_now_ms();
    pdk_status status = pdk_session_open(hosts, &options, &out);
    int64_t took = ts_now_ms() - began;
    refused(status, PDK_UNAVAILABLE, "hosts");
    ck_assert_ptr_eq(out, (pdk_session *)&server);
    ck_assert_int_ge(took, connect_timeout_ms - 50);
    ck_assert_int_lt(took, connect_timeout_ms + SLACK_MS);
    event_log_expect_silence(&event_log);
    ck_assert(self_wait_threads(threads_before, GONE_MS));
    ck_assert_int_eq(event_log_late(&event_log), 0);
}

/* It is silent, it refuses, or it accepts and says nothing. */
START_TEST(a_server_is_unavailable_in_time) {
    static const ts_proxy_mode modes[] = {TS_BLACKHOLE, TS_CUT, TS_BLACKHOLE_DOWN};
    ts_proxy_set_mode(proxy, modes[_i]);
    check_unavailable(ts_ensemble_proxied_hosts(server), 300);
}
END_TEST

static void *heal_soon(void *unused) {
    ts_sleep_ms(300);
    ts_proxy_heal(proxy);
    return unused;
}

START_TEST(a_server_that_answers_in_time_is_connected) {
    ts_proxy_set_mode(proxy, TS_CUT);
    GThread *healer = g_thread_new("healer", heal_soon, NULL);
    pdk_session *s = open_at(ts_ensemble_proxied_hosts(server));
    g_thread_join(healer);
    close_session(s);
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

START_TEST(a_name_and_an_unresolvable_name) {
    const char *port = strrchr(ts_ensemble_host(server, 0), ':');
    char *hosts = g_strconcat("nowhere.invalid:2181,localhost", port, NULL);
    pdk_session *s = open_at(hosts);
    close_session(s);
    g_free(hosts);
}
END_TEST

/* ---- its properties */

START_TEST(id_and_timeout_are_those_of_the_server) {
    ts_session_key key;
    pdk_session *s = open_at(ts_ensemble_proxied_hosts(server));
    ck_assert(ts_proxy_last_session(proxy, &key));
    ck_assert_int_eq(pdk_session_id(s), key.id);
    ck_assert_int_eq(pdk_session_timeout_ms(s), TIMEOUT_MS);
    close_session(s);
}
END_TEST

/* ---- events */

START_TEST(a_cut_and_a_return_are_told) {
    pdk_session *s = open_at(ts_ensemble_proxied_hosts(server));
    pdk_hold *hold = acquire(s, "/session/cut");
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
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    close_session(s);
    char *history = event_log_history(&event_log);
    ck_assert_str_eq(history, "connected suspended restored closed");
    g_free(history);
}
END_TEST

/* A query has a time limit, which it keeps across a cut. */
START_TEST(a_query_is_answered_after_the_cut) {
    pdk_session *s = open_at(ts_ensemble_proxied_hosts(server));
    pdk_hold *hold = acquire(s, "/session/question");
    pdk_lock *lock = NULL;
    pdk_contenders *list = NULL;
    ck_assert_int_eq(pdk_lock_new(s, "/session/question", NULL, &lock), PDK_OK);
    ts_proxy_set_mode(proxy, TS_CUT);
    ck_assert(event_log_wait(&event_log, PDK_SESSION_SUSPENDED, 1, 10000));
    int64_t began = ts_now_ms();
    refused(pdk_lock_list(lock, 200, &list), PDK_UNAVAILABLE, "/session/question");
    refused(pdk_session_check_sequencer(s, pdk_hold_sequencer(hold), 200), PDK_UNAVAILABLE, "/session/question");
    ck_assert_int_ge(ts_now_ms() - began, 350); /* not before the time has passed */
    ck_assert_int_lt(ts_now_ms() - began, 400 + SLACK_MS);
    GThread *healer = g_thread_new("healer", heal_soon, NULL);
    pdk_status status = pdk_lock_holder(lock, 10000, &list);
    g_thread_join(healer);
    ck_assert_msg(status == PDK_OK, "%s", pdk_last_error());
    ck_assert_uint_eq(pdk_contenders_count(list), 1);
    ck_assert_int_eq(pdk_contenders_token(list, 0), pdk_hold_token(hold));
    pdk_contenders_free(list);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    pdk_lock_unref(lock);
    close_session(s);
}
END_TEST

START_TEST(an_expiry_is_told_and_the_session_reopened) {
    pdk_session *s = open_at(ts_ensemble_proxied_hosts(server));
    pdk_hold *hold = acquire(s, "/session/expiry");
    int64_t id = pdk_session_id(s);
    ck_assert_int_eq(ts_expire(proxy, ts_ensemble_host(server, 0)), 0);
    ck_assert(event_log_wait(&event_log, PDK_SESSION_REOPENED, 1, 20000));
    ck_assert_int_eq(event_log_time_left(&event_log, PDK_SESSION_EXPIRED), 0);
    ck_assert_int_ne(pdk_session_id(s), id);
    ck_assert_int_ne(pdk_session_id(s), 0);
    ck_assert(!pdk_hold_is_valid(hold));
    ck_assert_int_eq(pdk_hold_reason(hold), PDK_REASON_EXPIRED);
    int64_t token = pdk_hold_token(hold);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
    hold = acquire(s, "/session/expiry");
    ck_assert_int_gt(pdk_hold_token(hold), token);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    close_session(s);
    char *history = event_log_history(&event_log);
    ck_assert_str_eq(history, "connected suspended expired reopened closed");
    g_free(history);
}
END_TEST

/* Two sessions in one process. The expiry of one does not affect the other, and a claim of the expired one queues
 * again. */
struct wait {
    pdk_lock *lock;
    pdk_status status;
};

static void *wait_in_queue(void *user) {
    struct wait *w = user;
    pdk_hold *hold = NULL;
    w->status = pdk_lock_acquire(w->lock, 30000, &hold);
    return hold;
}

START_TEST(a_claim_outlives_the_session_it_was_made_in) {
    pdk_session *other = NULL, *s = open_at(ts_ensemble_proxied_hosts(server));
    struct wait w = {NULL, PDK_OK};
    ck_assert_int_eq(pdk_session_open(ts_ensemble_hosts(server), NULL, &other), PDK_OK);
    ck_assert_int_ne(pdk_session_id(other), pdk_session_id(s));
    pdk_hold *theirs = acquire(other, "/session/again");
    ck_assert_int_eq(pdk_lock_new(s, "/session/again", NULL, &w.lock), PDK_OK);
    GThread *thread = g_thread_new("waiter", wait_in_queue, &w);
    ck_assert(ts_wait_children(ts_ensemble_hosts(server), "/session/again", 2, 5000));

    ck_assert_int_eq(ts_expire(proxy, ts_ensemble_host(server, 0)), 0);
    ck_assert(event_log_wait(&event_log, PDK_SESSION_REOPENED, 1, 20000));
    ck_assert(ts_wait_children(ts_ensemble_hosts(server), "/session/again", 2, 5000));
    ck_assert(pdk_hold_is_valid(theirs));
    ck_assert_int_eq(pdk_hold_release(theirs), PDK_OK);
    pdk_hold *ours = g_thread_join(thread);
    ck_assert_int_eq(w.status, PDK_OK);
    ck_assert(pdk_hold_is_valid(ours));
    ck_assert_int_eq(pdk_hold_release(ours), PDK_OK);
    pdk_lock_unref(w.lock);
    close_session(s);
    close_session(other);
}
END_TEST

START_TEST(a_server_that_restarts_is_found_again) {
    pdk_session *s = open_at(ts_ensemble_hosts(server));
    pdk_hold *hold = acquire(s, "/session/restart");
    pdk_hold_release(hold);
    ts_ensemble_kill(server, 0);
    ck_assert(event_log_wait(&event_log, PDK_SESSION_SUSPENDED, 1, 10000));
    ck_assert(ts_ensemble_restart(server, 0));
    ck_assert(ts_ensemble_wait_ready(server, 20000));
    hold = acquire(s, "/session/restart");
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    close_session(s);
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
    close_session(s);
    close_session(outside);
    g_free(hosts);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("session");
    TCase *cases = tcase_create("session");
    tcase_add_unchecked_fixture(cases, begin, end);
    tcase_add_checked_fixture(cases, set_up, check_nothing_left);
    tcase_add_loop_test(cases, a_server_is_unavailable_in_time, 0, 3);
    tcase_add_test(cases, a_server_that_answers_in_time_is_connected);
    tcase_add_test(cases, dead_servers_in_the_list_are_passed_over);
    tcase_add_test(cases, a_name_and_an_unresolvable_name);
    tcase_add_test(cases, id_and_timeout_are_those_of_the_server);
    tcase_add_test(cases, a_cut_and_a_return_are_told);
    tcase_add_test(cases, a_query_is_answered_after_the_cut);
    tcase_add_test(cases, an_expiry_is_told_and_the_session_reopened);
    tcase_add_test(cases, a_claim_outlives_the_session_it_was_made_in);
    tcase_add_test(cases, a_server_that_restarts_is_found_again);
    tcase_add_test(cases, a_missing_chroot_is_made_with_the_first_lock);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

/* A session that is opened in the background: the program starts whether or not a server does. */
#include <check.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <string.h>

#include "event_log.h"
#include "self.h"
#include "ts_check.h"
#include "ts_paddock.h"
#include "ts_support.h"

enum { SESSION_MS = 4000, AT_ONCE_MS = 1000, PATIENCE_MS = 15000 };

static ts_ensemble *server;
static ts_proxy *proxy;
static struct event_log event_log;
static pdk_session *session;
static pdk_lock *lock;
static int threads_before;

static void begin(void) {
    server = ts_ensemble_start(NULL);
    ck_assert_ptr_nonnull(server);
    proxy = ts_ensemble_proxy(server, 0);
}

static void end(void) { ts_ensemble_stop(server); }

static void open_at(const char *hosts) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;

    event_log_init(&event_log);
    event_log_attach(&event_log, &options);
    options.session_timeout_ms = SESSION_MS;
    options.request_timeout_ms = 300;
    options.connect_timeout_ms = PATIENCE_MS;
    options.open_in_background = 1;
    threads_before = self_thread_count();
    const int64_t began = ts_now_ms();
    ck_assert_int_eq(pdk_session_open(hosts, &options, &session), PDK_OK);
    ck_assert_int_lt(ts_now_ms() - began, ts_patience(AT_ONCE_MS));
    ck_assert_int_eq(pdk_lock_new(session, "/background/lock", NULL, &lock), PDK_OK);
}

static void close_it(void) {
    const int64_t began = ts_now_ms();
    ck_assert_int_eq(pdk_session_close(session, ts_patience(PATIENCE_MS)), PDK_OK);
    ck_assert_int_lt(ts_now_ms() - began, ts_patience(2 * AT_ONCE_MS));
    pdk_lock_unref(lock);
    pdk_session_unref(session);
    ck_assert(self_wait_threads(threads_before, ts_patience(PATIENCE_MS)));
    ck_assert(!event_log_overlapped(&event_log));
    event_log_clear(&event_log);
}

static ts_answer *assert_waits(void) {
    pdk_hold *none = NULL;

    ck_assert_int_eq(pdk_session_id(session), 0);
    ck_assert_int_eq(pdk_session_timeout_ms(session), 0);
    ck_assert_int_eq(pdk_lock_acquire(lock, 0, &none), PDK_UNAVAILABLE);
    ck_assert_int_eq(pdk_lock_acquire(lock, 100, &none), PDK_UNAVAILABLE);
    ts_answer *answer = ts_acquire_async(lock, PDK_FOREVER);
    ck_assert(!ts_answer_wait(answer, 300));
    ck_assert_int_eq(event_log_count(&event_log, PDK_SESSION_CONNECTED), 0);
    return answer;
}

START_TEST(a_server_that_comes_later) {
    ts_proxy_set_mode(proxy, TS_CUT);
    open_at(ts_ensemble_proxied_hosts(server));
    ts_answer *answer = assert_waits();
    ts_proxy_heal(proxy);
    ck_assert(event_log_wait(&event_log, PDK_SESSION_CONNECTED, 1, ts_patience(PATIENCE_MS)));
    ck_assert(ts_answer_wait(answer, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ts_answer_status(answer), PDK_OK);
    ck_assert_int_eq(ts_answer_release(answer), PDK_OK);
    close_it();
    ts_paddock_clear();
}
END_TEST

START_TEST(a_server_that_is_there) {
    ts_proxy_heal(proxy);
    open_at(ts_ensemble_proxied_hosts(server));
    ck_assert(event_log_wait(&event_log, PDK_SESSION_CONNECTED, 1, ts_patience(PATIENCE_MS)));
    close_it();
}
END_TEST

/* Nothing of it ever reached a server: its close has nothing to wait for. */
START_TEST(no_server_ever) {
    ts_proxy_set_mode(proxy, TS_CUT);
    open_at(ts_ensemble_proxied_hosts(server));
    ts_answer *answer = assert_waits();
    close_it();
    ck_assert_int_eq(ts_answer_status(answer), PDK_CLOSED);
    ts_paddock_clear();
}
END_TEST

START_TEST(no_address_ever) {
    open_at("no-such-host.invalid:2181");
    ck_assert(event_log_wait_line(&event_log, "cannot connect", ts_patience(PATIENCE_MS)));
    ts_answer *answer = assert_waits();
    close_it();
    ck_assert_int_eq(ts_answer_status(answer), PDK_CLOSED);
    ts_paddock_clear();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("open_background");
    TCase *tcase = tcase_create("open_background");

    tcase_add_unchecked_fixture(tcase, begin, end);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_server_that_comes_later);
    tcase_add_test(tcase, a_server_that_is_there);
    tcase_add_test(tcase, no_server_ever);
    tcase_add_test(tcase, no_address_ever);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

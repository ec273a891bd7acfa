/* A loss is told in time, however slow the log callback is, and whatever else is due. */
#include <check.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <stdatomic.h>

#include "ts_check.h"
#include "ts_support.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { SLOW_MS = 50, SLACK_MS = 2000 };
#else
enum { SLOW_MS = 50, SLACK_MS = 500 };
#endif

static ts_ensemble *server;
static ts_proxy *proxy;

static void begin(void) {
    server = ts_ensemble_start(NULL);
    ck_assert_ptr_nonnull(server);
    proxy = ts_ensemble_proxy(server, 0);
}

static void end(void) { ts_ensemble_stop(server); }

static atomic_llong told_at; /* 0: not yet */
static atomic_bool hurry;    /* the log callback is slow no more */

static void on_log(pdk_log_level level, const char *text, void *user) {
    (void)level;
    (void)text;
    (void)user;
    if (!atomic_load(&hurry))
        g_usleep(SLOW_MS * 1000);
}

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)hold;
    (void)reason;
    (void)user;
    atomic_store(&told_at, ts_now_ms());
}

static void on_deposed(pdk_reason reason, void *user) { on_lost(NULL, reason, user); }

static bool is_told(void *unused) {
    (void)unused;
    return atomic_load(&told_at) != 0;
}

/* Something to log: many lines wait. */
static void talk(pdk_session *s) {
    pdk_lock *lock = NULL;
    ck_assert_int_eq(pdk_lock_new(s, "/first/talk", NULL, &lock), PDK_OK);
    for (int i = 0; i < 20; i++) {
        pdk_hold *hold = NULL;
        ck_assert_int_eq(pdk_lock_acquire(lock, 10000, &hold), PDK_OK);
        ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    }
    pdk_lock_unref(lock);
}

static pdk_session *open_session(void) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    atomic_store(&told_at, 0);
    atomic_store(&hurry, false);
    ts_proxy_heal(proxy);
    options.session_timeout_ms = 2000;
    options.on_log = on_log;
    options.log_level = PDK_LOG_DEBUG;
    ck_assert_int_eq(pdk_session_open(ts_ensemble_proxied_hosts(server), &options, &s), PDK_OK);
    return s;
}

static void cut_and_check(pdk_session *s, pdk_hold *hold) {
    talk(s);
    ts_proxy_set_mode(proxy, TS_CUT);
    while (pdk_hold_is_valid(hold))
        g_usleep(1000);
    int64_t over = ts_now_ms();
    ck_assert(ts_wait_until(is_told, NULL, 20000));
    int64_t late = atomic_load(&told_at) - over;
    ck_assert_msg(late < SLOW_MS + SLACK_MS, "LOST came %d ms after the end of the lease", (int)late);
}

static void close_session(pdk_session *s) {
    atomic_store(&hurry, true);
    ts_proxy_heal(proxy);
    ck_assert_int_eq(pdk_session_close(s, 20000), PDK_OK);
    pdk_session_unref(s);
}

START_TEST(a_loss_does_not_wait_for_log_lines) {
    pdk_session *s = open_session();
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_new(s, "/first/lock", NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(lock, 10000, &hold), PDK_OK);
    ck_assert_int_eq(pdk_hold_on_lost(hold, on_lost, NULL, NULL), PDK_OK);
    cut_and_check(s, hold);
    pdk_hold_release(hold);
    pdk_lock_unref(lock);
    close_session(s);
}
END_TEST

START_TEST(a_deposition_does_not_wait_for_log_lines) {
    pdk_session *s = open_session();
    pdk_election *election = NULL;
    pdk_election_callbacks callbacks = PDK_ELECTION_CALLBACKS_INIT;
    pdk_hold *hold = NULL;
    callbacks.deposed = on_deposed;
    ck_assert_int_eq(pdk_election_new(s, "/first/election", NULL, &election), PDK_OK);
    ck_assert_int_eq(pdk_election_join(election, &callbacks), PDK_OK);
    ck_assert_int_eq(pdk_election_wait(election, 10000, &hold), PDK_OK);
    cut_and_check(s, hold);
    pdk_hold_unref(hold);
    pdk_election_leave(election);
    pdk_election_unref(election);
    close_session(s);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("loss_first");
    TCase *cases = tcase_create("loss_first");
    tcase_add_unchecked_fixture(cases, begin, end);
    tcase_add_test(cases, a_loss_does_not_wait_for_log_lines);
    tcase_add_test(cases, a_deposition_does_not_wait_for_log_lines);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

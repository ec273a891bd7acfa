/* A server that speaks ZooKeeper's protocol and is none: what it cannot do is said as the session opens, and what it does otherwise
 * costs holds, and never a second holder. */
#include <check.h>
#include <paddock/paddock.h>

#include "event_log.h"
#include "refused.h"
#include "ts_check.h"
#include "ts_keeper.h"
#include "ts_support.h"

enum { TICK_MS = 200, SESSION_MS = 2000 };

static ts_ensemble *server;
static ts_keeper *keeper;
static struct event_log event_log;

static void begin(void) {
    static const ts_ensemble_options options = {.tick_ms = TICK_MS};
    server = ts_ensemble_start(&options);
    ck_assert_ptr_nonnull(server);
}

static void end(void) { ts_ensemble_stop(server); }

static void set_up(void) { event_log_init(&event_log); }

static void tear_down(void) {
    event_log_clear(&event_log);
    ts_keeper_stop(keeper);
}

static pdk_status open_on(enum ts_keeper_kind kind, int background, pdk_session **out) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    keeper = ts_keeper_start(ts_ensemble_host(server, 0), kind);
    event_log_attach(&event_log, &options);
    options.session_timeout_ms = SESSION_MS;
    options.server_tick_ms = TICK_MS;
    options.connect_timeout_ms = 60000;
    options.open_in_background = background;
    pdk_status status = pdk_session_open(ts_keeper_address(keeper), &options, out);
    if (status == PDK_OK)
        event_log_keep(&event_log, *out);
    return status;
}

static void close_session(pdk_session *s) {
    ck_assert_int_eq(pdk_session_close(s, 5000), PDK_OK);
    pdk_session_unref(s);
}

/* At once, not after all of connect_timeout_ms. */
START_TEST(without_create2_it_is_refused) {
    pdk_session *s = NULL;
    const int64_t begun = ts_now_ns();
    refused(open_on(_i ? TS_KEEPER_REFUSES : TS_KEEPER_OLD, 0, &s), PDK_UNSUPPORTED,
            _i ? "has no create2" : "hung up on create2, the request that makes a contender's node, or the connection");
    ck_assert_int_lt((ts_now_ns() - begun) / 1000000, 30000);
    ck_assert_ptr_null(s);
    ck_assert_int_ge(ts_keeper_refusals(keeper), 1);
}
END_TEST

/* A session in the background says so, and goes on looking. */
START_TEST(in_the_background_the_log_says_it) {
    pdk_session *s = NULL;
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    ck_assert_int_eq(open_on(TS_KEEPER_OLD, 1, &s), PDK_OK);
    ck_assert(event_log_wait_line(&event_log, "cannot connect: the server is no ZooKeeper", 20000));
    ck_assert_int_eq(pdk_lock_new(s, "/keeper/none", NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(lock, 500, &hold), PDK_UNAVAILABLE);
    pdk_lock_unref(lock);
    close_session(s);
}
END_TEST

static pdk_hold *acquire(pdk_session *s, const char *path) {
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_new(s, path, NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(lock, 60000, &hold), PDK_OK);
    pdk_lock_unref(lock);
    return hold;
}

/* The lock works, without containers. A lost connection ends its hold, and the next one waits until the servers have forgotten it. */
START_TEST(with_create2_a_lost_connection_ends_all_holds) {
    pdk_session *s = NULL;
    ck_assert_int_eq(open_on(TS_KEEPER_NEW, 0, &s), PDK_OK);
    ck_assert_int_eq(event_log_lines_with(&event_log, "W the server is no ZooKeeper"), 1);
    pdk_hold *hold = acquire(s, "/keeper/lock");
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_int_eq(ts_keeper_refusals(keeper), 0);
    const int64_t token = pdk_hold_token(hold);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);

    hold = acquire(s, "/keeper/lock");
    ts_keeper_cut(keeper);
    ck_assert(ts_fd_readable(pdk_hold_fd(hold), 20000));
    ck_assert_int_eq(pdk_hold_reason(hold), PDK_REASON_EXPIRED);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
    ck_assert(event_log_wait(&event_log, PDK_SESSION_REOPENED, 1, 20000));
    ck_assert_int_eq(ts_keeper_sessions(keeper) >= 2, 1);
    pdk_hold *next = acquire(s, "/keeper/lock");
    ck_assert_int_gt(pdk_hold_token(next), token);
    ck_assert_int_eq(pdk_hold_release(next), PDK_OK);
    ck_assert(ts_wait_children(ts_ensemble_hosts(server), "/keeper/lock", 0, 20000));
    ck_assert_int_eq(ts_keeper_refusals(keeper), 0);
    close_session(s);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("keeper");
    TCase *cases = tcase_create("keeper");
    tcase_add_unchecked_fixture(cases, begin, end);
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_loop_test(cases, without_create2_it_is_refused, 0, 2);
    tcase_add_test(cases, in_the_background_the_log_says_it);
    tcase_add_test(cases, with_create2_a_lost_connection_ends_all_holds);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

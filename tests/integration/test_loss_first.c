/* A loss is told in time, however slow the log callback is, and whatever else is due. */
#include <glib.h>
#include <stdatomic.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { SESSION_MS = 2000, SLOW_MS = 50, SLACK_MS = 2000, PATIENCE_MS = 20000 };
#else
enum { SESSION_MS = 2000, SLOW_MS = 50, SLACK_MS = 500, PATIENCE_MS = 20000 };
#endif

static atomic_llong told_at; /* 0: not yet */
static atomic_bool hurry;    /* the log callback is slow no more */

static void on_log(pdk_log_level level, const char *text, void *user) {
    (void)level;
    (void)text;
    (void)user;
    if (!atomic_load(&hurry))
        g_usleep(SLOW_MS * 1000);
}

static void on_deposed(pdk_reason reason, void *user) {
    (void)reason;
    (void)user;
    atomic_store(&told_at, ts_now_ms());
}

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)hold;
    on_deposed(reason, user);
}

static bool is_told(void *unused) {
    (void)unused;
    return atomic_load(&told_at) != 0;
}

/* Of the lock, or of the office. */
static pdk_hold *hold_of(const ts_client *client, pdk_election *election) {
    pdk_hold *hold = NULL;
    if (election) {
        pdk_election_callbacks callbacks = PDK_ELECTION_CALLBACKS_INIT;
        callbacks.deposed = on_deposed;
        ck_assert_int_eq(pdk_election_join(election, &callbacks), PDK_OK);
        ck_assert_int_eq(pdk_election_wait(election, PATIENCE_MS, &hold), PDK_OK);
    } else {
        hold = ts_bench_acquire(ts_lock(client, ts_fresh_path()), PATIENCE_MS);
        ck_assert_int_eq(pdk_hold_on_lost(hold, on_lost, NULL, NULL), PDK_OK);
    }
    return hold;
}

/* _i: a deposition. Many lines wait when the link is cut. */
START_TEST(a_loss_does_not_wait_for_log_lines) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_election *election = NULL;
    options.session_timeout_ms = SESSION_MS;
    options.on_log = on_log;
    options.log_level = PDK_LOG_DEBUG;
    atomic_store(&told_at, 0);
    atomic_store(&hurry, false);
    const ts_client *client = ts_client_open_with(ts_bench_server(), NULL, &options);
    ck_assert_ptr_nonnull(client);
    if (_i)
        ck_assert_int_eq(pdk_election_new(client->session, ts_fresh_path(), NULL, &election), PDK_OK);
    pdk_hold *hold = hold_of(client, election);
    pdk_lock *talk = ts_lock(client, ts_fresh_path());
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(pdk_hold_release(ts_bench_acquire(talk, PATIENCE_MS)), PDK_OK);
    ts_proxy_set_mode(client->proxy, TS_CUT);
    while (pdk_hold_is_valid(hold))
        g_usleep(1000);
    const int64_t over = ts_now_ms();
    ck_assert(ts_wait_until(is_told, NULL, PATIENCE_MS));
    const int64_t late = atomic_load(&told_at) - over;
    ck_assert_msg(late < SLOW_MS + SLACK_MS, "LOST came %d ms after the end of the lease", (int)late);
    pdk_hold_unref(hold);
    pdk_election_unref(election);
    atomic_store(&hurry, true);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("loss_first");
    TCase *cases = ts_bench_case(suite, "loss_first");
    tcase_add_loop_test(cases, a_loss_does_not_wait_for_log_lines, 0, 2);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

/* A close answers all claims, and leaves what was made before in the hands of its owners. Which status each call answers from then
 * on, tests/input plays. */
#include <check.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <stdatomic.h>
#include <string.h>

#include "event_log.h"
#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_rwlock.h"
#include "ts_support.h"

static ts_ensemble *server;

static struct {
    struct event_log event_log;
    pdk_session *session;
    pdk_lock *lock, *second;
    pdk_hold *hold;
    pdk_claim *claim;
    char *node;
    int64_t token;
    atomic_int answers;
    pdk_status answer;
} old; /* all of it was made before the close */

static void begin(void) {
    server = ts_ensemble_start(NULL);
    ck_assert_ptr_nonnull(server);
}

static void end(void) { ts_ensemble_stop(server); }

static void on_answer(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    old.answer = status;
    atomic_fetch_add(&old.answers, 1);
    if (hold)
        pdk_hold_release(hold);
}

static void open_all(pdk_dispatch dispatch) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    memset(&old, 0, sizeof old);
    event_log_init(&old.event_log);
    event_log_attach(&old.event_log, &options);
    options.dispatch = dispatch;
    ck_assert_int_eq(pdk_session_open(ts_ensemble_hosts(server), &options, &old.session), PDK_OK);
    ck_assert_int_eq(pdk_lock_new(old.session, "/closed/lock", NULL, &old.lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_new(old.session, "/closed/lock", NULL, &old.second), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(old.lock, 5000, &old.hold), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire_async(old.second, PDK_FOREVER, on_answer, NULL, &old.claim), PDK_OK);
    ck_assert(ts_wait_children(ts_ensemble_hosts(server), "/closed/lock", 2, 5000));
    old.node = g_strdup(pdk_hold_sequencer(old.hold));
    old.token = pdk_hold_token(old.hold);
    ck_assert_int_eq(pdk_session_close(old.session, 10000), PDK_OK);
    event_log_expect_silence(&old.event_log);
}

static void open_threaded(void) { open_all(PDK_DISPATCH_THREAD); }
static void open_manual(void) { open_all(PDK_DISPATCH_MANUAL); }

static void drop_all(void) {
    pdk_claim_unref(old.claim);
    pdk_hold_unref(old.hold);
    pdk_lock_unref(old.lock);
    pdk_lock_unref(old.second);
    pdk_session_unref(old.session);
    ck_assert_int_eq(event_log_late(&old.event_log), 0);
    event_log_clear(&old.event_log);
    g_free(old.node);
}

START_TEST(the_close_answered_all_claims) {
    char *history = event_log_history(&old.event_log);
    ck_assert_str_eq(history, "connected closed");
    ck_assert_int_eq(event_log_time_left(&old.event_log, PDK_SESSION_CLOSED), 0);
    ck_assert_int_eq(atomic_load(&old.answers), 1);
    ck_assert_int_eq(old.answer, PDK_CLOSED);
    ck_assert_int_eq(ts_child_count(ts_ensemble_hosts(server), "/closed/lock"), 0);
    g_free(history);
}
END_TEST

START_TEST(the_session_is_known_still) {
    ck_assert_int_eq(pdk_session_close(old.session, 1000), PDK_OK);
    ck_assert_int_eq(pdk_session_close(old.session, 0), PDK_OK);
    ck_assert_int_eq(pdk_session_id(old.session), 0);
    ck_assert_ptr_nonnull(strchr(pdk_session_identity(old.session), ':'));
    refused(pdk_claim_cancel(old.claim), PDK_NOT_HELD, "claim");
}
END_TEST

static void lost_after_close(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)hold;
    (void)reason;
    (void)user;
    g_error("a callback after pdk_session_close has returned");
}

static void count_up(void *number) { ++*(int *)number; }

START_TEST(calls_on_the_hold) {
    int freed = 0;
    ck_assert(!pdk_hold_is_valid(old.hold));
    ck_assert_int_eq(pdk_hold_remaining_ms(old.hold), 0);
    ck_assert_int_eq(pdk_hold_reason(old.hold), PDK_REASON_CLOSED);
    ck_assert_int_eq(pdk_hold_token(old.hold), old.token);
    ck_assert_int_eq(g_ascii_strtoll(pdk_hold_token_text(old.hold), NULL, 10), old.token);
    ck_assert_str_eq(pdk_hold_sequencer(old.hold), old.node);
    ck_assert(ts_fd_readable(pdk_hold_fd(old.hold), 0));
    pdk_hold_detach_thread(old.hold);
    refused(pdk_hold_ensure(old.hold, 0), PDK_LOST, "lost");
    ck_assert_int_eq(pdk_hold_on_lost(old.hold, lost_after_close, &freed, count_up), PDK_OK);
    pdk_hold *kept = pdk_hold_ref(old.hold);
    refused(pdk_hold_release(old.hold), PDK_LOST, "CLOSED");
    refused(pdk_hold_release(kept), PDK_NOT_HELD, "released");
    ck_assert_int_eq(freed, 1);
    old.hold = NULL;
}
END_TEST

START_TEST(dispatching_runs_nothing_more) {
    int count = 77;
    ck_assert(ts_fd_readable(pdk_session_fd(old.session), 0)); /* so a loop hears of the close */
    refused(pdk_session_dispatch(old.session, &count), PDK_CLOSED, "closed");
    ck_assert_int_eq(count, 77);
    ck_assert(ts_fd_readable(pdk_session_fd(old.session), 0));
}
END_TEST

/* ---- readers and writers that wait meanwhile */

START_TEST(a_downgrade_is_under_way) {
    ts_client *a = ts_bench_client(6000);
    const char *path = ts_fresh_path();
    pdk_rwlock *lock = ts_rwlock(a, path);
    pdk_hold *held = ts_bench_write(lock, 5000);
    ts_lost *lost = ts_lost_watch(held);
    ts_answer *waiting[] = {ts_read_async(lock, PDK_FOREVER), ts_write_async(lock, PDK_FOREVER),
                            ts_read_thread(ts_rwlock(a, path), PDK_FOREVER),
                            ts_write_thread(ts_rwlock(a, path), PDK_FOREVER)};

    ck_assert(ts_wait_children(ts_bench_server(), path, 4, 5000));
    ck_assert_int_eq(pdk_hold_downgrade(held), PDK_OK); /* under way when the session ends */
    ck_assert_int_eq(pdk_session_close(a->session, 5000), PDK_OK);
    ck_assert_int_eq(ts_child_count(ts_bench_server(), path), 0);
    for (size_t i = 0; i < G_N_ELEMENTS(waiting); i++) {
        ck_assert(ts_answer_wait(waiting[i], ts_patience(1000)));
        const pdk_status status = ts_answer_status(waiting[i]);
        ck_assert(status == PDK_CLOSED || (i % 2 == 0 && status == PDK_OK)); /* a reader may have been granted */
        ck_assert(status == PDK_CLOSED || !pdk_hold_is_valid(ts_answer_hold(waiting[i])));
    }
    ck_assert_int_eq(ts_lost_count(lost), 1);
    ck_assert_int_eq(ts_lost_reason(lost), PDK_REASON_CLOSED);
    refused(pdk_hold_downgrade(held), PDK_LOST, "lost");
    refused(pdk_hold_release(held), PDK_LOST, "CLOSED");
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("closed");
    TCase *threaded = tcase_create("threaded");
    TCase *manual = tcase_create("manual");
    tcase_add_unchecked_fixture(threaded, begin, end);
    tcase_add_checked_fixture(threaded, open_threaded, drop_all);
    tcase_add_test(threaded, the_close_answered_all_claims);
    tcase_add_test(threaded, the_session_is_known_still);
    tcase_add_test(threaded, calls_on_the_hold);
    suite_add_tcase(suite, threaded);
    tcase_add_unchecked_fixture(manual, begin, end);
    tcase_add_checked_fixture(manual, open_manual, drop_all);
    tcase_add_test(manual, the_close_answered_all_claims);
    tcase_add_test(manual, calls_on_the_hold);
    tcase_add_test(manual, dispatching_runs_nothing_more);
    suite_add_tcase(suite, manual);
    tcase_add_test(ts_bench_case(suite, "bench"), a_downgrade_is_under_way);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

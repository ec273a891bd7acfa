/* The last reference to a session is given back, and nobody has closed it: it closes in the background, whatever is
 * still due. */
#include <glib.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "elections.h"
#include "self.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 30000, PATIENCE_MS = 8000 };

static struct {
    pdk_session *session;
    const char *path;
    int threads;
    atomic_int calls, freed, deaf;
} it;

static void open_it(pdk_dispatch dispatch) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;

    options.session_timeout_ms = SESSION_MS;
    options.dispatch = dispatch;
    it.threads = self_thread_count();
    it.path = ts_fresh_path();
    atomic_store(&it.calls, 0);
    atomic_store(&it.freed, 0);
    ck_assert_int_eq(pdk_session_open(ts_bench_server(), &options, &it.session), PDK_OK);
}

/* No thread, and no node long before its session expires. */
static void assert_gone(void) {
    ck_assert(self_wait_threads(it.threads, ts_patience(PATIENCE_MS)));
    ck_assert(ts_wait_children(ts_bench_server(), it.path, 0, ts_patience(PATIENCE_MS)));
}

static void count_answer(pdk_status status, pdk_hold *hold, void *user) {
    (void)status;
    (void)user;
    it.calls++;
    pdk_hold_release(hold);
}

static bool is_decided(void *claim) {
    int32_t ahead;
    return pdk_claim_position(claim, &ahead) == PDK_NOT_HELD;
}

/* A claim that is granted, and whose callback is due. */
static pdk_lock *undelivered_claim(void) {
    pdk_lock *lock = NULL;
    pdk_claim *claim = NULL;

    ck_assert_int_eq(pdk_lock_new(it.session, it.path, NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire_async(lock, PDK_FOREVER, count_answer, NULL, &claim), PDK_OK);
    ck_assert(ts_wait_until(is_decided, claim, ts_patience(PATIENCE_MS)));
    pdk_claim_unref(claim);
    return lock;
}

START_TEST(with_a_claim_undelivered) {
    open_it(PDK_DISPATCH_MANUAL);
    pdk_lock_unref(undelivered_claim());
    pdk_session_unref(it.session);
    assert_gone();
    ck_assert_int_eq(it.calls, 0);
}
END_TEST

/* The references come back the other way round: what is due then was never due for anybody. */
START_TEST(with_a_claim_cancelled_after_it) {
    pdk_lock *lock = NULL;

    open_it(PDK_DISPATCH_MANUAL);
    pdk_session_ref(it.session);
    ck_assert_int_eq(pdk_lock_new(it.session, it.path, NULL, &lock), PDK_OK);
    pdk_session_unref(it.session);
    pdk_session_unref(it.session);
    ts_sleep_ms(100); /* the connector sleeps again */
    ck_assert_int_eq(pdk_lock_acquire_async(lock, PDK_FOREVER, count_answer, NULL, NULL), PDK_OK);
    pdk_lock_unref(lock);
    assert_gone();
    ck_assert_int_eq(it.calls, 0);
}
END_TEST

static void count_loss(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)hold;
    (void)reason;
    (void)user;
    it.calls++;
}

static void count_freed(void *user) {
    sigset_t mask;
    (void)user;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    atomic_store(&it.deaf, sigismember(&mask, SIGTERM)); /* and with it a child that it makes */
    it.freed++;
}

static bool is_invalid(void *hold) { return !pdk_hold_is_valid(hold); }

START_TEST(with_a_loss_undelivered) {
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;

    open_it(PDK_DISPATCH_MANUAL);
    ck_assert_int_eq(pdk_lock_new(it.session, it.path, NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(lock, ts_patience(PATIENCE_MS), &hold), PDK_OK);
    ck_assert_int_eq(pdk_hold_on_lost(hold, count_loss, NULL, count_freed), PDK_OK);
    delete_node_of(hold);
    ck_assert(ts_wait_until(is_invalid, hold, ts_patience(PATIENCE_MS)));
    pdk_lock_unref(lock);
    pdk_hold_unref(hold);
    pdk_session_unref(it.session);
    assert_gone();
    ck_assert_int_eq(it.calls, 0);
    ck_assert_int_eq(it.freed, 1);
    ck_assert_int_eq(it.deaf, 0);
}
END_TEST

START_TEST(with_a_leader_that_was_never_told) {
    pdk_election *election = NULL;
    pdk_hold *hold = NULL;

    open_it(PDK_DISPATCH_MANUAL);
    ck_assert_int_eq(pdk_election_new(it.session, it.path, NULL, &election), PDK_OK);
    ck_assert_int_eq(pdk_election_join(election, NULL), PDK_OK);
    ck_assert_int_eq(pdk_election_wait(election, ts_patience(PATIENCE_MS), &hold), PDK_OK);
    pdk_hold_unref(hold);
    pdk_election_unref(election);
    pdk_session_unref(it.session);
    assert_gone();
}
END_TEST

/* A hold outlives the reference to the session, also where nobody dispatches. */
START_TEST(a_hold_keeps_the_session) {
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;

    open_it(PDK_DISPATCH_MANUAL);
    pdk_lock_unref(undelivered_claim());
    ck_assert_int_eq(pdk_session_dispatch(it.session, NULL), PDK_OK);
    ck_assert_int_eq(it.calls, 1);
    ck_assert_int_eq(pdk_lock_new(it.session, it.path, NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(lock, ts_patience(PATIENCE_MS), &hold), PDK_OK);
    pdk_lock_unref(lock);
    pdk_session_unref(it.session);
    ts_sleep_ms(200);
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    assert_gone();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("session_dropped");
    TCase *tcase = ts_bench_case(suite, "session_dropped");

    tcase_add_test(tcase, with_a_claim_undelivered);
    tcase_add_test(tcase, with_a_claim_cancelled_after_it);
    tcase_add_test(tcase, with_a_loss_undelivered);
    tcase_add_test(tcase, with_a_leader_that_was_never_told);
    tcase_add_test(tcase, a_hold_keeps_the_session);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

/* Closing. It ends in time whatever the link does. All waiters wake up, the deletes are flushed, and nothing goes on
 * running. */
#include <check.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <stdatomic.h>
#include <string.h>

#include "event_log.h"
#include "self.h"
#include "ts_check.h"
#include "ts_support.h"

/* The threads and handles of a session that could not say goodbye are gone after this time. */
#define GONE_MS 20000
#define SLACK_MS 1000

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

static pdk_session *open_session(pdk_dispatch dispatch, int32_t timeout_ms) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    event_log_attach(&event_log, &options);
    options.dispatch = dispatch;
    options.session_timeout_ms = timeout_ms;
    ck_assert_int_eq(pdk_session_open(ts_ensemble_proxied_hosts(server), &options, &s), PDK_OK);
    return s;
}

static void open_all(pdk_dispatch dispatch) {
    threads_before = self_thread_count();
    event_log_init(&event_log);
    session = open_session(dispatch, 6000);
    ck_assert_int_eq(pdk_lock_new(session, "/close/lock", NULL, &lock), PDK_OK);
}

static void open_threaded(void) { open_all(PDK_DISPATCH_THREAD); }

static int children(void) { return ts_child_count(ts_ensemble_hosts(server), "/close/lock"); }

/* No thread, no node and no callback outlives a test. */
static void check_nothing_left(void) {
    ts_proxy_heal(proxy);
    event_log_expect_silence(&event_log);
    pdk_lock_unref(lock);
    pdk_session_unref(session);
    ck_assert_msg(self_wait_threads(threads_before, GONE_MS), "%d threads of %d", self_thread_count(), threads_before);
    ck_assert(ts_wait_children(ts_ensemble_hosts(server), "/close/lock", 0, GONE_MS));
    ck_assert_int_eq(event_log_late(&event_log), 0);
    ck_assert(!event_log_overlapped(&event_log));
    event_log_clear(&event_log);
}

/* ---- a close wakes all waiters */

struct waiter {
    pdk_lock *lock;
    pdk_hold *hold;
    int64_t timeout_ms, woken_at;
    pdk_status status;
    atomic_bool begun;
};

static void *wait_for_lock(void *user) {
    struct waiter *w = user;
    pdk_hold *hold = NULL;
    atomic_store(&w->begun, true);
    w->status = pdk_lock_acquire(w->lock, w->timeout_ms, &hold);
    w->woken_at = ts_now_ms();
    return hold;
}

static void *wait_for_contenders(void *user) {
    struct waiter *w = user;
    pdk_contenders *list = NULL;
    atomic_store(&w->begun, true);
    w->status = pdk_lock_list(w->lock, w->timeout_ms, &list);
    w->woken_at = ts_now_ms();
    return list;
}

static void *wait_for_flush(void *user) {
    struct waiter *w = user;
    atomic_store(&w->begun, true);
    w->status = pdk_session_flush(session, w->timeout_ms);
    w->woken_at = ts_now_ms();
    return NULL;
}

static void *wait_for_lease(void *user) {
    struct waiter *w = user;
    atomic_store(&w->begun, true);
    w->status = pdk_hold_ensure(w->hold, pdk_hold_remaining_ms(w->hold) + 50);
    w->woken_at = ts_now_ms();
    return NULL;
}

static bool lease_is_short(void *hold) { return pdk_hold_remaining_ms(hold) < 2500; }

static bool has_begun(void *waiter) { return atomic_load(&((struct waiter *)waiter)->begun); }

static GThread *start_waiter(struct waiter *w, void *(*run)(void *)) {
    atomic_store(&w->begun, false);
    GThread *thread = g_thread_new("waiter", run, w);
    ck_assert(ts_wait_until(has_begun, w, 5000));
    ts_sleep_ms(50); /* until it really waits */
    return thread;
}

static pdk_status answer;
static atomic_int answers;

static void on_answer(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    event_log_enter(&event_log);
    answer = status;
    atomic_fetch_add(&answers, 1);
    if (hold)
        pdk_hold_release(hold);
    event_log_leave(&event_log);
}

START_TEST(queued_claims_are_answered_closed) {
    pdk_session *other = NULL; /* without an event log: callbacks of two sessions may overlap */
    pdk_lock *theirs = NULL;
    pdk_hold *held = NULL;
    struct waiter w = {.lock = lock, .timeout_ms = PDK_FOREVER, .status = PDK_OK};
    atomic_store(&answers, 0);
    ck_assert_int_eq(pdk_session_open(ts_ensemble_proxied_hosts(server), NULL, &other), PDK_OK);
    ck_assert_int_eq(pdk_lock_new(other, "/close/lock", NULL, &theirs), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(theirs, 5000, &held), PDK_OK);
    GThread *thread = start_waiter(&w, wait_for_lock);
    ck_assert_int_eq(pdk_lock_acquire_async(lock, PDK_FOREVER, on_answer, NULL, NULL), PDK_OK);
    ck_assert(ts_wait_children(ts_ensemble_hosts(server), "/close/lock", 2, 5000));

    int64_t began = ts_now_ms();
    ck_assert_int_eq(pdk_session_close(session, 10000), PDK_OK);
    ck_assert_ptr_null(g_thread_join(thread));
    ck_assert_int_eq(w.status, PDK_CLOSED);
    ck_assert_int_lt(w.woken_at - began, SLACK_MS);
    ck_assert_int_eq(atomic_load(&answers), 1);
    ck_assert_int_eq(answer, PDK_CLOSED);
    ck_assert_int_eq(children(), 1); /* the other session's */
    ck_assert(pdk_hold_is_valid(held));
    pdk_hold_release(held);
    pdk_lock_unref(theirs);
    ck_assert_int_eq(pdk_session_close(other, 5000), PDK_OK);
    pdk_session_unref(other);
}
END_TEST

/* On a silent link no answer can come, so the close itself must wake them. */
START_TEST(blocked_calls_are_woken_on_a_silent_link) {
    pdk_lock *other = NULL;
    pdk_hold *hold = NULL, *released = NULL;
    ck_assert_int_eq(pdk_lock_new(session, "/close/other", NULL, &other), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(other, 5000, &hold), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(lock, 5000, &released), PDK_OK);
    ts_proxy_set_mode(proxy, TS_BLACKHOLE);
    ck_assert_int_eq(pdk_hold_release(released), PDK_OK);
    struct waiter w[4] = {{.lock = lock, .timeout_ms = PDK_FOREVER},
                          {.lock = lock, .timeout_ms = PDK_FOREVER},
                          {.timeout_ms = PDK_FOREVER},
                          {.hold = hold}};
    static void *(*const run[])(void *) = {wait_for_lock, wait_for_contenders, wait_for_flush, wait_for_lease};
    static const pdk_status wanted[] = {PDK_CLOSED, PDK_CLOSED, PDK_CLOSED, PDK_LOST};
    GThread *threads[4];
    for (int i = 0; i < 4; i++) {
        if (run[i] == wait_for_lease) /* so that it can ask for more */
            ck_assert(ts_wait_until(lease_is_short, hold, 10000));
        threads[i] = start_waiter(&w[i], run[i]);
    }
    int64_t began = ts_now_ms();
    ck_assert_int_eq(pdk_session_close(session, 300), PDK_TIMEOUT);
    for (int i = 0; i < 4; i++) {
        ck_assert_ptr_null(g_thread_join(threads[i]));
        ck_assert_msg(w[i].status == wanted[i], "%d: %s", i, pdk_status_name(w[i].status));
        ck_assert_msg(w[i].woken_at - began < 300 + SLACK_MS, "%d: after %d ms", i, (int)(w[i].woken_at - began));
    }
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
    pdk_lock_unref(other);
}
END_TEST

/* ---- in time */

START_TEST(a_silent_link_does_not_delay_it) {
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_acquire(lock, 5000, &hold), PDK_OK);
    ts_proxy_set_mode(proxy, TS_BLACKHOLE);
    int64_t began = ts_now_ms();
    ck_assert_int_eq(pdk_session_close(session, 500), PDK_TIMEOUT);
    int64_t took = ts_now_ms() - began;
    ck_assert_int_ge(took, 450);
    ck_assert_int_lt(took, 500 + SLACK_MS);
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "background"));
    event_log_expect_silence(&event_log);
    ck_assert_int_eq(pdk_hold_reason(hold), PDK_REASON_CLOSED);
    ck_assert_int_eq(pdk_session_close(session, GONE_MS), PDK_OK); /* it waits for the rest */
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
}
END_TEST

/* Nobody heals this link. The threads end all the same, and the node goes when the server ends the session. */
START_TEST(closed_is_the_last_event) {
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_acquire(lock, 5000, &hold), PDK_OK);
    ts_proxy_set_mode(proxy, TS_BLACKHOLE);
    pdk_session_close(session, 2 * pdk_session_timeout_ms(session)); /* it notices the silence meanwhile */
    char *history = event_log_history(&event_log);
    bool last = g_str_has_suffix(history, "closed");
    ck_assert_msg(last, "%s", history);
    g_free(history);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
}
END_TEST

START_TEST(a_link_that_stays_silent_leaves_nothing_either) {
    ck_assert_int_eq(pdk_session_close(session, 5000), PDK_OK); /* that of the fixture is not under test */
    int threads = self_thread_count();
    pdk_session *s = open_session(PDK_DISPATCH_THREAD, 2000);
    pdk_lock *own = NULL;
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_new(s, "/close/silent", NULL, &own), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(own, 5000, &hold), PDK_OK);
    ts_proxy_set_mode(proxy, TS_BLACKHOLE);
    ck_assert_int_eq(pdk_session_close(s, 100), PDK_TIMEOUT);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
    pdk_lock_unref(own);
    pdk_session_unref(s);
    ck_assert(self_wait_threads(threads, GONE_MS));
    ck_assert(ts_wait_children(ts_ensemble_hosts(server), "/close/silent", 0, GONE_MS));
}
END_TEST

START_TEST(a_cut_link_does_not_delay_it) {
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_acquire(lock, 5000, &hold), PDK_OK);
    ts_proxy_set_mode(proxy, TS_CUT);
    ck_assert(event_log_wait(&event_log, PDK_SESSION_SUSPENDED, 1, 10000));
    int64_t began = ts_now_ms();
    ck_assert_int_eq(pdk_session_close(session, 500), PDK_TIMEOUT); /* the node still exists */
    ck_assert_int_lt(ts_now_ms() - began, 500 + SLACK_MS);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
}
END_TEST

static void *heal_soon(void *unused) {
    ts_sleep_ms(300);
    ts_proxy_heal(proxy);
    return unused;
}

START_TEST(a_link_that_comes_back_is_waited_for) {
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_acquire(lock, 5000, &hold), PDK_OK);
    ts_proxy_set_mode(proxy, TS_CUT);
    ck_assert(event_log_wait(&event_log, PDK_SESSION_SUSPENDED, 1, 10000));
    GThread *healer = g_thread_new("healer", heal_soon, NULL);
    pdk_status status = pdk_session_close(session, 10000);
    int left = children();
    g_thread_join(healer);
    ck_assert_int_eq(status, PDK_OK);
    ck_assert_int_eq(left, 0);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
}
END_TEST

START_TEST(a_close_with_no_time_begins) {
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_acquire(lock, 5000, &hold), PDK_OK);
    int64_t began = ts_now_ms();
    pdk_status status = pdk_session_close(session, 0);
    ck_assert_int_lt(ts_now_ms() - began, SLACK_MS);
    ck_assert(status == PDK_OK || status == PDK_TIMEOUT);
    ck_assert(!pdk_hold_is_valid(hold));
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
}
END_TEST

START_TEST(pending_deletes_are_flushed) {
    enum { LOCKS = 20 };
    pdk_lock *locks[LOCKS];
    pdk_hold *holds[LOCKS];
    for (int i = 0; i < LOCKS; i++) {
        char *path = g_strdup_printf("/close/many/%d", i);
        ck_assert_int_eq(pdk_lock_new(session, path, NULL, &locks[i]), PDK_OK);
        ck_assert_int_eq(pdk_lock_acquire(locks[i], 5000, &holds[i]), PDK_OK);
        g_free(path);
    }
    ck_assert_int_eq(ts_ephemeral_count(ts_ensemble_host(server, 0)), LOCKS);
    ts_proxy_set_delay(proxy, 20000, 20000); /* so that no delete is confirmed at once */
    ts_proxy_zero(proxy);
    for (int i = 0; i < LOCKS; i++)
        ck_assert_int_eq(pdk_hold_release(holds[i]), PDK_OK);
    ck_assert_int_eq(pdk_session_close(session, 10000), PDK_OK);
    ck_assert_int_eq(ts_ephemeral_count(ts_ensemble_host(server, 0)), 0);
    ck_assert_uint_eq(ts_proxy_count(proxy, TS_OP_DELETE), LOCKS);
    for (int i = 0; i < LOCKS; i++)
        pdk_lock_unref(locks[i]);
    ts_proxy_set_delay(proxy, 0, 0);
}
END_TEST

/* ---- flush */

START_TEST(flush_waits_for_every_release) {
    pdk_hold *hold = NULL;
    ts_proxy_set_delay(proxy, 20000, 20000);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(pdk_lock_acquire(lock, 5000, &hold), PDK_OK);
        ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
        ck_assert_int_eq(pdk_session_flush(session, 5000), PDK_OK);
        ck_assert_int_eq(children(), 0);
    }
    ts_proxy_set_delay(proxy, 0, 0);
    ck_assert_int_eq(pdk_session_flush(session, 0), PDK_OK); /* nothing to wait for */
    ck_assert_int_eq(pdk_session_close(session, 5000), PDK_OK);
}
END_TEST

START_TEST(flush_ends_in_time_when_cut_and_may_be_repeated) {
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_acquire(lock, 5000, &hold), PDK_OK);
    ts_proxy_set_mode(proxy, TS_BLACKHOLE);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    int64_t began = ts_now_ms();
    ck_assert_int_eq(pdk_session_flush(session, 300), PDK_TIMEOUT);
    ck_assert_int_lt(ts_now_ms() - began, 300 + SLACK_MS);
    ck_assert_int_eq(children(), 1);
    ts_proxy_heal(proxy);
    ck_assert_int_eq(pdk_session_flush(session, 10000), PDK_OK);
    ck_assert_int_eq(children(), 0);
    ck_assert_int_eq(pdk_session_close(session, 5000), PDK_OK);
}
END_TEST

static void add_tests(TCase *threaded) {
    tcase_add_test(threaded, queued_claims_are_answered_closed);
    tcase_add_test(threaded, blocked_calls_are_woken_on_a_silent_link);
    tcase_add_test(threaded, a_silent_link_does_not_delay_it);
    tcase_add_test(threaded, a_cut_link_does_not_delay_it);
    tcase_add_test(threaded, closed_is_the_last_event);
    tcase_add_test(threaded, a_link_that_stays_silent_leaves_nothing_either);
    tcase_add_test(threaded, a_link_that_comes_back_is_waited_for);
    tcase_add_test(threaded, a_close_with_no_time_begins);
    tcase_add_test(threaded, pending_deletes_are_flushed);
    tcase_add_test(threaded, flush_waits_for_every_release);
    tcase_add_test(threaded, flush_ends_in_time_when_cut_and_may_be_repeated);
}

static Suite *make_suite(void) {
    Suite *suite = suite_create("close");
    TCase *threaded = tcase_create("close");
    tcase_add_unchecked_fixture(threaded, begin, end);
    tcase_add_checked_fixture(threaded, open_threaded, check_nothing_left);
    add_tests(threaded);
    suite_add_tcase(suite, threaded);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

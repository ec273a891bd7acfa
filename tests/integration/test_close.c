/* Closing: by every dispatch, whatever the link does, whatever is due, and by the last unref. It ends in time, and nothing goes on
 * running. */
#include <glib.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "elections.h"
#include "event_log.h"
#include "self.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

/* GONE_MS: the threads and handles of a session that could not say goodbye are gone after this time. */
enum { SESSION_MS = 6000, SHORT_MS = 2000, PATIENCE_MS = 10000, GONE_MS = 20000, SLACK_MS = 1000, A_WHILE_MS = 200 };

static struct {
    ts_proxy *proxy;
    struct event_log log;
    pdk_session *session;
    pdk_lock *lock;
    const char *path;
    int threads, descriptors;
    bool keeps_silent; /* the link, to the end */
    /* Of callbacks. */
    atomic_bool inside, may_go, over;
    atomic_int calls, freed, deaf;
    pdk_status status;
    GThread *thread;
} it;

static const char *server(void) { return ts_bench_server(); }

static pdk_session *open_session(pdk_dispatch dispatch, int32_t timeout_ms) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    event_log_attach(&it.log, &options);
    options.dispatch = (int32_t)dispatch;
    options.session_timeout_ms = timeout_ms;
    ck_assert_int_eq(pdk_session_open(ts_proxy_address(it.proxy), &options, &s), PDK_OK);
    return s;
}

static void open_with(pdk_dispatch dispatch, int32_t timeout_ms) {
    it.session = open_session(dispatch, timeout_ms);
    ck_assert_int_eq(pdk_lock_new(it.session, it.path, NULL, &it.lock), PDK_OK);
}

static void open_it(pdk_dispatch dispatch) { open_with(dispatch, SESSION_MS); }

static void begin(void) {
    memset(&it, 0, sizeof it);
    event_log_init(&it.log);
    it.path = ts_fresh_path();
    it.descriptors = self_descriptor_count();
    it.proxy = ts_proxy_start(server());
    ck_assert_ptr_nonnull(it.proxy);
    it.threads = self_thread_count();
}

static bool nobody_is_there(void *unused) {
    (void)unused;
    return ts_session_count(server()) == 0 && ts_ephemeral_count(server()) == 0;
}

/* No thread, no node, no descriptor, no session and no callback outlives a test. */
static void nothing_is_left(void) {
    if (!it.keeps_silent)
        ts_proxy_heal(it.proxy);
    if (it.session)
        event_log_expect_silence(&it.log);
    pdk_lock_unref(it.lock);
    pdk_session_unref(it.session);
    ck_assert_msg(self_wait_threads(it.threads, GONE_MS), "%d threads of %d", self_thread_count(), it.threads);
    ck_assert(ts_wait_until(nobody_is_there, NULL, GONE_MS));
    ck_assert_int_eq(event_log_late(&it.log), 0);
    ck_assert(!event_log_overlapped(&it.log));
    event_log_clear(&it.log);
    ts_proxy_stop(it.proxy);
    ck_assert_int_eq(self_descriptor_count(), it.descriptors);
}

static int children(void) { return ts_child_count(server(), it.path); }
static bool is_set(void *flag) { return atomic_load((atomic_bool *)flag); }
static bool is_invalid(void *hold) { return !pdk_hold_is_valid(hold); }

static void on_answer(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    event_log_enter(&it.log);
    it.status = status;
    it.thread = g_thread_self();
    atomic_fetch_add(&it.calls, 1);
    pdk_hold_release(hold);
    event_log_leave(&it.log);
}

static void claim_by(pdk_acquired_fn fn) {
    ck_assert_int_eq(pdk_lock_acquire_async(it.lock, PDK_FOREVER, fn, NULL, NULL), PDK_OK);
}

/* ---- in time, with a hold */

static void *heal_soon(void *unused) {
    ts_sleep_ms(300);
    ts_proxy_heal(it.proxy);
    return unused;
}

/* The last one keeps silent, and the session notices: it tells so, and CLOSED is the last event all the same. */
static const struct {
    ts_proxy_mode link;
    int session_ms, close_ms;
    pdk_status status;
    bool heals;
} links[] = {{TS_BLACKHOLE, SESSION_MS, 500, PDK_TIMEOUT, false},
             {TS_CUT, SESSION_MS, 500, PDK_TIMEOUT, false}, /* the node still exists */
             {TS_CUT, SESSION_MS, PATIENCE_MS, PDK_OK, true},
             {TS_PASS, SESSION_MS, 0, PDK_TIMEOUT, false},
             {TS_BLACKHOLE, SHORT_MS, 2 * SHORT_MS, PDK_TIMEOUT, false}};

START_TEST(a_link_does_not_delay_it) {
    pdk_hold *hold = NULL;
    open_with(PDK_DISPATCH_THREAD, links[_i].session_ms);
    ck_assert_int_eq(pdk_lock_acquire(it.lock, 5000, &hold), PDK_OK);
    ts_proxy_set_mode(it.proxy, links[_i].link);
    if (links[_i].link == TS_CUT)
        ck_assert(event_log_wait(&it.log, PDK_SESSION_SUSPENDED, 1, 10000));
    GThread *healer = links[_i].heals ? g_thread_new("healer", heal_soon, NULL) : NULL;
    it.keeps_silent = links[_i].session_ms == SHORT_MS;
    int64_t began = ts_now_ms();
    pdk_status status = pdk_session_close(it.session, links[_i].close_ms);
    int64_t took = ts_now_ms() - began;
    ck_assert_msg(status == links[_i].status || (!it.keeps_silent && links[_i].link == TS_PASS && status == PDK_OK),
                  "%s", pdk_status_name(status));
    ck_assert_int_lt(took, links[_i].close_ms + SLACK_MS);
    if (status == PDK_OK)
        ck_assert_int_eq(children(), 0);
    else
        ck_assert_ptr_nonnull(strstr(pdk_last_error(), "background"));
    if (links[_i].link == TS_BLACKHOLE && !it.keeps_silent)
        ck_assert_int_ge(took, links[_i].close_ms - 50);
    event_log_expect_silence(&it.log);
    ck_assert_int_eq(pdk_hold_reason(hold), PDK_REASON_CLOSED);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
    if (healer)
        g_thread_join(healer);
    g_autofree char *history = event_log_history(&it.log);
    if (it.keeps_silent)
        ck_assert_msg(g_str_has_suffix(history, "closed"), "%s", history);
    else
        ck_assert_int_eq(pdk_session_close(it.session, GONE_MS), PDK_OK); /* it waits for the rest */
}
END_TEST

/* ---- flush */

START_TEST(flush_ends_in_time_when_cut_and_may_be_repeated) {
    pdk_hold *hold = NULL;
    open_it(PDK_DISPATCH_THREAD);
    ck_assert_int_eq(pdk_lock_acquire(it.lock, 5000, &hold), PDK_OK);
    ts_proxy_set_mode(it.proxy, TS_BLACKHOLE);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    int64_t began = ts_now_ms();
    ck_assert_int_eq(pdk_session_flush(it.session, 300), PDK_TIMEOUT);
    ck_assert_int_lt(ts_now_ms() - began, 300 + SLACK_MS);
    ck_assert_int_eq(children(), 1);
    ts_proxy_heal(it.proxy);
    ck_assert_int_eq(pdk_session_flush(it.session, PATIENCE_MS), PDK_OK);
    ck_assert_int_eq(children(), 0);
    ck_assert_int_eq(pdk_session_close(it.session, 5000), PDK_OK);
}
END_TEST

static void *flush_main(void *status) {
    *(pdk_status *)status = pdk_session_flush(it.session, PDK_FOREVER);
    return NULL;
}

/* On a silent link no answer can come, so the close itself must wake it. */
START_TEST(a_flush_is_woken) {
    pdk_hold *hold = NULL;
    pdk_status status = PDK_SYSTEM;
    open_it(PDK_DISPATCH_THREAD);
    ck_assert_int_eq(pdk_lock_acquire(it.lock, 5000, &hold), PDK_OK);
    ts_proxy_set_mode(it.proxy, TS_BLACKHOLE);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    GThread *thread = g_thread_new("flush", flush_main, &status);
    ts_sleep_ms(50); /* until it really waits */
    ck_assert_int_eq(pdk_session_close(it.session, 300), PDK_TIMEOUT);
    g_thread_join(thread);
    ck_assert_int_eq(status, PDK_CLOSED);
}
END_TEST

/* ---- while a callback runs: a further close waits for the rest, and says when it is over */

static void sit(pdk_status status, pdk_hold *hold, void *user) {
    (void)status;
    (void)user;
    atomic_store(&it.inside, true);
    ts_wait_until(is_set, &it.may_go, GONE_MS);
    pdk_hold_release(hold);
    ts_sleep_ms(50);
    atomic_store(&it.over, true);
}

static void close_and_sit(pdk_status status, pdk_hold *hold, void *user) {
    it.status = pdk_session_close(it.session, PDK_FOREVER);
    sit(status, hold, user);
}

static void *dispatch_main(void *user) {
    while (!atomic_load(&it.over)) {
        pdk_session_dispatch(it.session, NULL);
        ts_sleep_ms(2);
    }
    return user;
}

static void *close_main(void *status) {
    *(pdk_status *)status = pdk_session_close(it.session, PDK_FOREVER);
    return NULL;
}

static const struct {
    pdk_dispatch dispatch; /* by hand: on another thread */
    pdk_acquired_fn callback;
} sitting[] = {{PDK_DISPATCH_THREAD, sit}, {PDK_DISPATCH_MANUAL, sit}, {PDK_DISPATCH_THREAD, close_and_sit}};

START_TEST(while_a_callback_runs) {
    pdk_status status = PDK_SYSTEM;
    open_it(sitting[_i].dispatch);
    claim_by(sitting[_i].callback);
    GThread *other = sitting[_i].dispatch == PDK_DISPATCH_MANUAL ? g_thread_new("dispatch", dispatch_main, NULL) : NULL;
    ck_assert(ts_wait_until(is_set, &it.inside, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(it.status, PDK_OK);
    for (int i = 0; i < 2; i++) {
        int64_t began = ts_now_ms();
        ck_assert_int_eq(pdk_session_close(it.session, A_WHILE_MS), PDK_TIMEOUT);
        ck_assert_int_lt(ts_now_ms() - began, A_WHILE_MS + SLACK_MS);
        event_log_expect_silence(&it.log); /* the one that runs may end; none begins */
    }
    ck_assert(!atomic_load(&it.over));
    GThread *closer = g_thread_new("closer", close_main, &status);
    atomic_store(&it.may_go, true);
    ck_assert_int_eq(pdk_session_close(it.session, PDK_FOREVER), PDK_OK);
    ck_assert(atomic_load(&it.over));
    g_thread_join(closer);
    ck_assert_int_eq(status, PDK_OK);
    ck_assert_int_eq(pdk_session_close(it.session, 0), PDK_OK);
    if (other)
        g_thread_join(other);
}
END_TEST

START_TEST(the_close_dispatches_due_callbacks) {
    pdk_hold *hold = NULL;
    open_it(PDK_DISPATCH_MANUAL);
    ck_assert_int_eq(pdk_lock_acquire(it.lock, 5000, &hold), PDK_OK);
    for (int i = 0; i < 3; i++)
        claim_by(on_answer);
    ck_assert_int_eq(event_log_count(&it.log, PDK_SESSION_CONNECTED), 0);
    ck_assert_int_eq(pdk_session_close(it.session, PDK_FOREVER), PDK_OK);
    event_log_expect_silence(&it.log);
    ck_assert_int_eq(atomic_load(&it.calls), 3);
    ck_assert_int_eq(it.status, PDK_CLOSED);
    ck_assert_ptr_eq(it.thread, g_thread_self());
    g_autofree char *history = event_log_history(&it.log);
    ck_assert_str_eq(history, "connected closed");
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
}
END_TEST

/* ---- by the last unref: it closes in the background, whatever is still due, long before its session expires */

static void drop(void) { pdk_session_unref(g_steal_pointer(&it.session)); }

/* A hold outlives the references to session and lock, also where nobody dispatches. It has what it needs of them. */
START_TEST(a_hold_keeps_the_session) {
    pdk_hold *hold = NULL;
    open_it((pdk_dispatch)_i);
    ck_assert_int_eq(pdk_lock_acquire(it.lock, ts_patience(PATIENCE_MS), &hold), PDK_OK);
    drop();
    pdk_lock_unref(g_steal_pointer(&it.lock));
    ts_sleep_ms(A_WHILE_MS);
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_int_eq(children(), 1);
    pdk_hold_unref(hold);
}
END_TEST

static bool is_decided(void *claim) {
    int32_t ahead;
    return pdk_claim_position(claim, &ahead) == PDK_NOT_HELD;
}

START_TEST(with_a_claim_undelivered) {
    pdk_claim *claim = NULL;
    open_it(PDK_DISPATCH_MANUAL);
    ck_assert_int_eq(pdk_lock_acquire_async(it.lock, PDK_FOREVER, on_answer, NULL, &claim), PDK_OK);
    ck_assert(ts_wait_until(is_decided, claim, ts_patience(PATIENCE_MS)));
    pdk_claim_unref(claim);
    event_log_expect_silence(&it.log); /* nobody dispatches */
    pdk_lock_unref(g_steal_pointer(&it.lock));
    drop();
    ck_assert(self_wait_threads(it.threads, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(atomic_load(&it.calls), 0);
}
END_TEST

/* The references come back the other way round: what is due then was never due for anybody. */
START_TEST(with_a_claim_cancelled_after_it) {
    open_it(PDK_DISPATCH_MANUAL);
    pdk_session_unref(pdk_session_ref(it.session));
    drop();
    ts_sleep_ms(100); /* the connector sleeps again */
    claim_by(on_answer);
    pdk_lock_unref(g_steal_pointer(&it.lock));
    ck_assert(self_wait_threads(it.threads, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(atomic_load(&it.calls), 0);
}
END_TEST

static void count_loss(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)hold;
    (void)reason;
    (void)user;
    atomic_fetch_add(&it.calls, 1);
}

static void count_freed(void *user) {
    sigset_t mask;
    (void)user;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    atomic_store(&it.deaf, sigismember(&mask, SIGTERM)); /* and with it a child that it makes */
    atomic_fetch_add(&it.freed, 1);
}

START_TEST(with_a_loss_undelivered) {
    pdk_hold *hold = NULL;
    open_it(PDK_DISPATCH_MANUAL);
    ck_assert_int_eq(pdk_lock_acquire(it.lock, ts_patience(PATIENCE_MS), &hold), PDK_OK);
    ck_assert_int_eq(pdk_hold_on_lost(hold, count_loss, NULL, count_freed), PDK_OK);
    delete_node_of(hold);
    ck_assert(ts_wait_until(is_invalid, hold, ts_patience(PATIENCE_MS)));
    pdk_lock_unref(g_steal_pointer(&it.lock));
    pdk_hold_unref(hold);
    drop();
    ck_assert(self_wait_threads(it.threads, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(atomic_load(&it.calls), 0);
    ck_assert_int_eq(atomic_load(&it.freed), 1);
    ck_assert_int_eq(atomic_load(&it.deaf), 0);
}
END_TEST

/* ---- while other threads go on with what the session has */

enum { HOLDS = 400, ROUNDS = 12 };

static struct {
    pdk_hold *holds[HOLDS];
    ts_lost *lost[HOLDS];
    pthread_t closer;
} many;

/* Holds the closing thread up between any two of its steps. */
static void stop_a_moment(int number) {
    (void)number;
    g_usleep(500);
}

/* Asks to hear of each loss while the close goes on, the last ones after it. */
static void *watch_all(void *user) {
    while (pdk_hold_is_valid(many.holds[0]))
        g_thread_yield();
    for (int i = 0; i < HOLDS; i++) {
        many.lost[i] = ts_lost_watch(many.holds[i]);
        if (i % 4 == 0) {
            pthread_kill(many.closer, SIGUSR1);
            g_usleep(100);
        }
    }
    return user;
}

static void *close_too(void *status) {
    many.closer = pthread_self(); /* nobody reads it before a hold is lost */
    close_main(status);
    atomic_store(&it.over, true);
    return NULL;
}

static void close_and_watch(pdk_dispatch dispatch) {
    pdk_lock_options reentrant = PDK_LOCK_OPTIONS_INIT;
    pdk_lock *lock = NULL;
    pdk_status status = PDK_SYSTEM;
    reentrant.reentrant = 1;
    signal(SIGUSR1, stop_a_moment);
    it.session = open_session(dispatch, SESSION_MS);
    ck_assert_int_eq(pdk_lock_new(it.session, ts_fresh_path(), &reentrant, &lock), PDK_OK);
    for (int i = 0; i < HOLDS; i++)
        many.holds[i] = ts_bench_acquire(lock, ts_patience(5000));
    atomic_store(&it.over, false);
    GThread *watcher = g_thread_new("watcher", watch_all, NULL), *closer = g_thread_new("closer", close_too, &status);
    ck_assert(ts_wait_until(is_set, &it.over, ts_patience(5000)));
    g_thread_join(watcher);
    g_thread_join(closer);
    ck_assert_int_eq(status, PDK_OK);
    for (int i = 0; i < HOLDS; i++) {
        ck_assert_ptr_nonnull(many.lost[i]);
        ck_assert_int_le(ts_lost_count(many.lost[i]), 1);
        pdk_hold_release(many.holds[i]);
        ck_assert_int_eq(ts_lost_freed(many.lost[i]), 1);
    }
    pdk_lock_unref(lock);
    drop();
}

/* A callback that becomes due when the session's own thread has nothing left to do, or the closing thread waits already. */
START_TEST(losses_are_watched_during_a_close) {
    for (int i = 0; i < ROUNDS; i++)
        close_and_watch((pdk_dispatch)_i);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("close");
    TCase *tcase = ts_bench_case(suite, "close");
    const int first = PDK_DISPATCH_THREAD, end = PDK_DISPATCH_MANUAL + 1;
    tcase_add_checked_fixture(tcase, begin, nothing_is_left);
    tcase_add_loop_test(tcase, a_link_does_not_delay_it, 0, G_N_ELEMENTS(links));
    tcase_add_test(tcase, flush_ends_in_time_when_cut_and_may_be_repeated);
    tcase_add_test(tcase, a_flush_is_woken);
    tcase_add_loop_test(tcase, while_a_callback_runs, 0, G_N_ELEMENTS(sitting));
    tcase_add_test(tcase, the_close_dispatches_due_callbacks);
    tcase_add_loop_test(tcase, a_hold_keeps_the_session, first, end);
    tcase_add_test(tcase, with_a_claim_undelivered);
    tcase_add_test(tcase, with_a_claim_cancelled_after_it);
    tcase_add_test(tcase, with_a_loss_undelivered);
    TCase *watched = ts_bench_case(suite, "watched");
    tcase_add_checked_fixture(watched, begin, nothing_is_left);
    tcase_add_loop_test(watched, losses_are_watched_during_a_close, first, end);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

/* Callbacks: where they run, on the session's thread or on the caller's, one at a time; when they do not run any more; what they may do,
 * and what a slow one must not delay. tests/input has the calls that they must not make, test_user_free the end of what they use. */
#include <glib.h>
#include <stdatomic.h>
#include <string.h>

#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 6000, SLOW_MS = 2000 };

static const char *server(void) { return ts_bench_server(); }

static struct {
    const char *path;
    ts_client *client;
    pdk_lock *lock;
    pdk_hold *hold;
} it;

static void open_it(pdk_dispatch dispatch) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = SESSION_MS;
    options.dispatch = (int32_t)dispatch;
    it.path = ts_fresh_path();
    it.client = ts_client_open_with(server(), NULL, &options);
    ck_assert_ptr_nonnull(it.client);
    it.lock = ts_lock(it.client, it.path);
}

static void acquire_it(void) {
    open_it(PDK_DISPATCH_THREAD);
    it.hold = ts_bench_acquire(it.lock, 5000);
}

static void delete_node(const pdk_hold *hold) {
    g_autofree char *node = ts_hold_node(hold);
    ck_assert_int_eq(ts_delete(server(), node), 0);
}

static bool is_invalid(void *hold) { return !pdk_hold_is_valid(hold); }

static void lose(pdk_hold *hold) {
    delete_node(hold);
    ck_assert(ts_wait_until(is_invalid, hold, ts_patience(2000)));
}

/* ---- when */

static void count_up(void *counter) { ++*(int *)counter; }

static void never(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)hold;
    (void)reason;
    (void)user;
    g_error("a callback of a hold that was not lost");
}

START_TEST(set_after_the_loss_it_fires_at_once) {
    acquire_it();
    lose(it.hold);
    ts_lost *lost = ts_lost_watch(it.hold);
    ck_assert_ptr_nonnull(lost);
    ck_assert(ts_lost_wait(lost, ts_patience(500)));
    ck_assert_int_eq(ts_lost_reason(lost), PDK_REASON_NODE_GONE);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_LOST);
    ck_assert(ts_lost_wait_freed(lost, ts_patience(500)));
    ts_sleep_ms(50);
    ck_assert_int_eq(ts_lost_count(lost), 1);
    ck_assert_int_eq(ts_lost_freed(lost), 1);
}
END_TEST

/* It is called never, and neither is its user_free. */
START_TEST(a_second_callback_is_refused) {
    int freed = 0, kept = 0;
    acquire_it();
    pdk_hold *hold = pdk_hold_ref(it.hold);
    ck_assert_int_eq(pdk_hold_on_lost(hold, never, &freed, count_up), PDK_OK);
    refused(pdk_hold_on_lost(hold, never, &kept, count_up), PDK_INVALID, "has a callback already");
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
    ck_assert_int_eq(freed, 1);
    refused(pdk_hold_on_lost(hold, never, &kept, count_up), PDK_NOT_HELD, "released");
    pdk_hold_unref(hold);
    ck_assert_int_eq(pdk_session_close(it.client->session, 5000), PDK_OK);
    ck_assert_int_eq(freed, 1);
    ck_assert_int_eq(kept, 0);
}
END_TEST

/* One thread releases the hold while another loses it. A callback that has not begun when release returns never
 * begins. */
START_TEST(release_races_the_loss) {
    int told = 0;
    acquire_it();
    pdk_hold_release(it.hold);
    for (int i = 0; i < 60; i++) {
        pdk_hold *hold = ts_bench_acquire(it.lock, 5000);
        ts_lost *lost = ts_lost_watch(hold);

        if (i % 2)
            ts_sleep_ms(12); /* long enough for the hold to watch its own node */
        delete_node(hold);
        for (int spins = i * 400; spins > 0; spins--)
            pdk_hold_is_valid(hold);
        const pdk_status status = pdk_hold_release(hold);
        const int count = ts_lost_count(lost);
        ck_assert(status == PDK_OK || status == PDK_LOST);
        ck_assert(count <= 1 && (count == 0 || status == PDK_LOST));
        ck_assert(ts_lost_wait_freed(lost, ts_patience(1000)));
        ck_assert_int_eq(pdk_session_flush(it.client->session, 5000), PDK_OK);
        ck_assert_int_eq(ts_lost_count(lost), count);
        ck_assert_int_eq(ts_lost_freed(lost), 1);
        ck_assert(!ts_lost_freed_early(lost));
        told += count;
    }
    ck_assert(ts_wait_children(server(), it.path, 0, 2000));
    (void)told; /* how often the loss came first depends on the machine */
}
END_TEST

/* ---- what it may do */

static struct {
    pdk_status status;
    ts_answer *again;
} did;

static void release_it(pdk_hold *hold, void *unused) {
    (void)unused;
    did.status = pdk_hold_release(hold);
}

static void drop_it(pdk_hold *hold, void *unused) {
    (void)unused;
    did.status = PDK_LOST;
    pdk_hold_unref(hold);
}

static void close_it(pdk_hold *hold, void *unused) {
    release_it(hold, unused);
    if (pdk_session_close(it.client->session, 5000) != PDK_OK)
        did.status = PDK_SYSTEM;
}

static void acquire_again(pdk_hold *hold, void *unused) {
    did.again = ts_acquire_async(it.lock, 5000);
    release_it(hold, unused);
}

static void (*const acts[])(pdk_hold *hold, void *unused) = {release_it, drop_it, close_it, acquire_again};

START_TEST(it_may_end_what_has_called_it) {
    pdk_hold *next = NULL;
    memset(&did, 0, sizeof did);
    acquire_it();
    ts_lost *lost = ts_lost_watch_with(it.hold, acts[_i], NULL);
    delete_node(it.hold);
    ck_assert(ts_lost_wait_freed(lost, ts_patience(3000)));
    ck_assert_int_eq(ts_lost_count(lost), 1);
    ck_assert_int_eq(ts_lost_freed(lost), 1);
    ck_assert(!ts_lost_freed_early(lost));
    ck_assert_int_eq(did.status, PDK_LOST);
    if (did.again) {
        ck_assert(ts_answer_wait(did.again, ts_patience(2000)));
        ck_assert_int_eq(ts_answer_release(did.again), PDK_OK);
    }
    ck_assert_int_eq(pdk_lock_acquire(it.lock, 5000, &next), acts[_i] == close_it ? PDK_CLOSED : PDK_OK);
    pdk_hold_release(next);
}
END_TEST

/* ---- what a slow one must not delay */

static void sleep_long(pdk_hold *hold, void *user) {
    (void)hold;
    (void)user;
    ts_sleep_ms(SLOW_MS);
}

/* The release of its own hold does not wait for it either. Its data lives until it has ended. */
START_TEST(a_slow_callback_delays_only_callbacks) {
    acquire_it();
    pdk_hold *second = ts_bench_acquire(ts_lock(it.client, ts_fresh_path()), 5000);
    pdk_hold *third = ts_bench_acquire(ts_lock(it.client, ts_fresh_path()), 5000);
    ts_lost *slow = ts_lost_watch_with(it.hold, sleep_long, NULL), *late = ts_lost_watch(second);

    delete_node(it.hold);
    ck_assert(ts_lost_wait(slow, ts_patience(2000)));
    const int64_t began = ts_now_ms();
    delete_node(second);
    ck_assert(ts_fd_readable(pdk_hold_fd(second), SLOW_MS / 2));
    ck_assert(!pdk_hold_is_valid(second));
    ck_assert_int_eq(pdk_hold_reason(second), PDK_REASON_NODE_GONE);
    pdk_hold *fourth = ts_bench_acquire(ts_lock(it.client, ts_fresh_path()), SLOW_MS / 2);
    ck_assert_int_eq(pdk_hold_ensure(third, 100), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(fourth), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(it.client->session, SLOW_MS / 2), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_LOST);
    ck_assert_int_lt(ts_now_ms() - began, SLOW_MS * 3 / 4);
    ck_assert_int_eq(ts_lost_freed(slow), 0);
    ck_assert_int_eq(ts_lost_count(late), 0);
    ck_assert(ts_lost_wait(late, ts_patience(SLOW_MS + 500)));
    ck_assert(ts_lost_wait_freed(slow, ts_patience(500)));
    ck_assert(!ts_lost_freed_early(slow));
    ck_assert(pdk_hold_is_valid(third));
    ck_assert_int_eq(pdk_hold_release(second), PDK_LOST);
    ck_assert_int_eq(pdk_hold_release(third), PDK_OK);
}
END_TEST

/* ---- manual dispatch */

START_TEST(with_manual_dispatch_nothing_runs_by_itself) {
    int count = -1;
    open_it(PDK_DISPATCH_MANUAL);
    pdk_session *s = it.client->session;
    it.hold = ts_bench_acquire(it.lock, 5000); /* blocking calls need no dispatch */
    ts_lost *lost = ts_lost_watch(it.hold);
    ck_assert(ts_fd_readable(pdk_session_fd(s), ts_patience(2000)));
    ck_assert_int_eq(ts_events(it.client, PDK_SESSION_CONNECTED), 0);
    ck_assert_int_eq(pdk_session_dispatch(s, &count), PDK_OK);
    ck_assert_int_eq(ts_events(it.client, PDK_SESSION_CONNECTED), 1);
    ck_assert(!ts_fd_readable(pdk_session_fd(s), 0));
    delete_node(it.hold);
    ck_assert(ts_fd_readable(pdk_hold_fd(it.hold), ts_patience(2000)));
    ck_assert(!pdk_hold_is_valid(it.hold));
    ck_assert(ts_fd_readable(pdk_session_fd(s), ts_patience(500)));
    ts_sleep_ms(50);
    ck_assert_int_eq(ts_lost_count(lost), 0);
    ck_assert_int_eq(pdk_session_dispatch(s, &count), PDK_OK);
    ck_assert_int_eq(count, 1);
    ck_assert_int_eq(ts_lost_count(lost), 1);
    ck_assert(!ts_fd_readable(pdk_session_fd(s), 0));
    ck_assert_int_eq(pdk_session_dispatch(s, &count), PDK_OK);
    ck_assert_int_eq(count, 0);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_LOST);
}
END_TEST

/* The hold is lost and its callback is due. It is released before the dispatch, so the callback never runs. */
START_TEST(released_before_it_was_dispatched) {
    open_it(PDK_DISPATCH_MANUAL);
    it.hold = ts_bench_acquire(it.lock, 5000);
    ts_lost *lost = ts_lost_watch(it.hold);
    lose(it.hold);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_LOST);
    ck_assert_int_eq(ts_lost_freed(lost), 1);
    ck_assert_int_eq(pdk_session_dispatch(it.client->session, NULL), PDK_OK);
    ck_assert_int_eq(ts_lost_count(lost), 0);
    ck_assert_int_eq(ts_lost_freed(lost), 1);
}
END_TEST

/* ---- where callbacks run */

static struct {
    atomic_bool done, may_go;
    atomic_int answered, running, overlapped;
    GThread *thread;
    pdk_status status;
} seen;

static void look_on(pdk_dispatch dispatch) {
    memset(&seen, 0, sizeof seen);
    open_it(dispatch);
}

static bool is_set(void *flag) {
    if (pdk_session_fd(it.client->session) >= 0)
        pdk_session_dispatch(it.client->session, NULL);
    return atomic_load((atomic_bool *)flag);
}

static void claim_by(pdk_lock *lock, pdk_acquired_fn fn) {
    ck_assert_int_eq(pdk_lock_acquire_async(lock, 20000, fn, NULL, NULL), PDK_OK);
}

static void on_nested(pdk_status status, pdk_hold *hold, void *user) {
    int count = 77;
    (void)status;
    (void)user;
    seen.status = pdk_session_dispatch(it.client->session, &count);
    g_assert(count == 77);
    pdk_hold_release(hold);
    atomic_store(&seen.done, true);
}

START_TEST(dispatching_from_a_dispatched_callback_is_refused) {
    look_on(PDK_DISPATCH_MANUAL);
    claim_by(it.lock, on_nested);
    ck_assert(ts_wait_until(is_set, &seen.done, ts_patience(10000)));
    ck_assert_int_eq(seen.status, PDK_WRONG_THREAD);
}
END_TEST

static void on_endless(pdk_status status, pdk_hold *hold, void *user) {
    (void)status;
    (void)user;
    atomic_store(&seen.done, true);
    while (!atomic_load(&seen.may_go))
        ts_sleep_ms(1);
    pdk_hold_release(hold);
}

static void *dispatch_main(void *unused) {
    while (ts_fd_readable(pdk_session_fd(it.client->session), 10000) && !atomic_load(&seen.done))
        pdk_session_dispatch(it.client->session, NULL);
    return unused;
}

static bool is_done(void *unused) {
    (void)unused;
    return atomic_load(&seen.done);
}

/* One callback at a time: the other thread finds nothing to do, and its close does not wait for the first. */
START_TEST(two_threads_may_dispatch) {
    int count = 77;
    look_on(PDK_DISPATCH_MANUAL);
    claim_by(it.lock, on_endless);
    GThread *other = g_thread_new("dispatches", dispatch_main, NULL);
    ck_assert(ts_wait_until(is_done, NULL, ts_patience(10000)));
    ck_assert_int_eq(pdk_session_dispatch(it.client->session, &count), PDK_OK);
    ck_assert_int_eq(count, 0);
    ck_assert_int_eq(pdk_session_close(it.client->session, 0), PDK_TIMEOUT);
    atomic_store(&seen.may_go, true);
    g_thread_join(other);
}
END_TEST

START_TEST(a_session_with_a_thread_cannot_be_dispatched) {
    int count = 77;
    look_on(PDK_DISPATCH_THREAD);
    ck_assert_int_eq(pdk_session_fd(it.client->session), -1);
    refused(pdk_session_dispatch(it.client->session, &count), PDK_INVALID, "PDK_DISPATCH_MANUAL");
    ck_assert_int_eq(count, 77);
}
END_TEST

static void on_counted(pdk_status status, pdk_hold *hold, void *user) {
    (void)status;
    (void)user;
    if (atomic_fetch_add(&seen.running, 1) > 0)
        atomic_store(&seen.overlapped, 1);
    g_assert(seen.thread == NULL || seen.thread == g_thread_self());
    seen.thread = g_thread_self();
    ts_sleep_ms(1);
    pdk_hold_release(hold);
    atomic_fetch_sub(&seen.running, 1);
    atomic_fetch_add(&seen.answered, 1);
}

static bool all_answered(void *wanted) { return atomic_load(&seen.answered) >= *(int *)wanted; }

START_TEST(callbacks_run_one_at_a_time) {
    int wanted = 100;
    pdk_lock *locks[10];
    look_on(PDK_DISPATCH_THREAD);
    for (int i = 0; i < 10; i++)
        locks[i] = ts_lock(it.client, ts_fresh_path());
    for (int i = 0; i < wanted; i++)
        claim_by(locks[i % 10], on_counted);
    ck_assert(ts_wait_until(all_answered, &wanted, ts_patience(20000)));
    ck_assert_int_eq(atomic_load(&seen.overlapped), 0);
    ck_assert_ptr_ne(seen.thread, g_thread_self());
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("callbacks");
    TCase *tcase = ts_bench_case(suite, "callbacks");
    tcase_add_test(tcase, set_after_the_loss_it_fires_at_once);
    tcase_add_test(tcase, a_second_callback_is_refused);
    tcase_add_test(tcase, release_races_the_loss);
    tcase_add_loop_test(tcase, it_may_end_what_has_called_it, 0, G_N_ELEMENTS(acts));
    tcase_add_test(tcase, a_slow_callback_delays_only_callbacks);
    tcase_add_test(tcase, with_manual_dispatch_nothing_runs_by_itself);
    tcase_add_test(tcase, released_before_it_was_dispatched);
    tcase_add_test(tcase, dispatching_from_a_dispatched_callback_is_refused);
    tcase_add_test(tcase, two_threads_may_dispatch);
    tcase_add_test(tcase, a_session_with_a_thread_cannot_be_dispatched);
    tcase_add_test(tcase, callbacks_run_one_at_a_time);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

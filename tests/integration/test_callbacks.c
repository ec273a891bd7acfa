/* LOST callbacks: when they run and when they do not run any more, what they may do, who frees their data, and what a
 * slow one must not delay. Both kinds of dispatch. */
#include <glib.h>
#include <pthread.h>

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

static void acquire_it(void) {
    it.path = ts_fresh_path();
    it.client = ts_bench_client(SESSION_MS);
    it.lock = ts_lock(it.client, it.path);
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

/* ---- when, and who frees ---- */

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

START_TEST(one_callback_per_hold_and_none_after_release) {
    acquire_it();
    ts_lost *first = ts_lost_watch(it.hold);
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_null(ts_lost_watch(it.hold));
    ck_assert_int_eq(pdk_hold_on_lost(it.hold, NULL, NULL, NULL), PDK_INVALID);
    pdk_hold_ref(it.hold);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
    ck_assert(ts_lost_wait_freed(first, ts_patience(500)));
    ck_assert_ptr_null(ts_lost_watch(it.hold));
    pdk_hold_unref(it.hold);
    ts_sleep_ms(50);
    ck_assert_int_eq(ts_lost_count(first), 0);
    ck_assert_int_eq(ts_lost_freed(first), 1);
}
END_TEST

/* A refused callback on a released hold: neither it nor its user_free ever runs. */
static void count_up(void *counter) { ++*(int *)counter; }
static void count_loss(pdk_hold *hold, pdk_reason reason, void *counter) {
    (void)hold;
    (void)reason;
    ++*(int *)counter;
}

START_TEST(a_refused_callback_costs_nothing) {
    int counter = 0;

    acquire_it();
    pdk_hold_ref(it.hold);
    pdk_hold_release(it.hold);
    ck_assert_int_eq(pdk_hold_on_lost(it.hold, count_loss, &counter, count_up), PDK_NOT_HELD);
    pdk_hold_unref(it.hold);
    pdk_session_close(it.client->session, 5000);
    ck_assert_int_eq(counter, 0);
}
END_TEST

/* Nobody releases the hold. It is lost when the session ends, and the last unref frees the data. */
START_TEST(a_session_is_closed_with_a_hold) {
    acquire_it();
    ts_lost *lost = ts_lost_watch(it.hold);
    ck_assert_int_eq(pdk_session_close(it.client->session, 5000), PDK_OK);
    ck_assert_int_eq(ts_lost_count(lost), 1); /* due before the close returned, so it has run */
    ck_assert_int_eq(ts_lost_reason(lost), PDK_REASON_CLOSED);
    pdk_hold_unref(it.hold);
    ck_assert_int_eq(ts_lost_freed(lost), 1);
    ck_assert_int_eq(ts_lost_count(lost), 1);
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

        if (i % 2) {
            ts_sleep_ms(12); /* long enough for the hold to watch its own node */
        }
        delete_node(hold);
        for (int spins = i * 400; spins > 0; spins--) {
            pdk_hold_is_valid(hold);
        }
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

/* ---- what it may do ---- */

static void release_it(pdk_hold *hold, void *status) { *(pdk_status *)status = pdk_hold_release(hold); }

START_TEST(it_may_release) {
    pdk_status status = PDK_SYSTEM;

    acquire_it();
    ts_lost *lost = ts_lost_watch_with(it.hold, release_it, &status);
    delete_node(it.hold);
    ck_assert(ts_lost_wait_freed(lost, ts_patience(2000)));
    ck_assert_int_eq(ts_lost_count(lost), 1);
    ck_assert_int_eq(ts_lost_freed(lost), 1);
    ck_assert(!ts_lost_freed_early(lost));
    ck_assert_int_eq(status, PDK_LOST);
    pdk_hold_release(ts_bench_acquire(it.lock, 5000));
}
END_TEST

static void unref_it(pdk_hold *hold, void *user) {
    (void)user;
    pdk_hold_unref(hold);
}

START_TEST(it_may_drop_the_last_reference) {
    acquire_it();
    ts_lost *lost = ts_lost_watch_with(it.hold, unref_it, NULL);
    delete_node(it.hold);
    ck_assert(ts_lost_wait_freed(lost, ts_patience(2000)));
    ck_assert_int_eq(ts_lost_count(lost), 1);
    ck_assert(!ts_lost_freed_early(lost));
    pdk_hold_release(ts_bench_acquire(it.lock, 5000));
}
END_TEST

static void close_it(pdk_hold *hold, void *status) {
    pdk_hold_release(hold);
    *(pdk_status *)status = pdk_session_close(it.client->session, 5000);
}

START_TEST(it_may_close_the_session) {
    pdk_status status = PDK_SYSTEM;
    pdk_hold *none = NULL;

    acquire_it();
    ts_lost *lost = ts_lost_watch_with(it.hold, close_it, &status);
    delete_node(it.hold);
    ck_assert(ts_lost_wait_freed(lost, ts_patience(3000)));
    ck_assert_int_eq(status, PDK_OK);
    ck_assert_int_eq(ts_lost_count(lost), 1);
    ck_assert_int_eq(pdk_lock_acquire(it.lock, 1000, &none), PDK_CLOSED);
    ck_assert_int_eq(pdk_session_close(it.client->session, 5000), PDK_OK);
}
END_TEST

static struct {
    ts_answer *again;
    pdk_status blocking, ensured;
} done;

static void try_every_call(pdk_hold *hold, void *user) {
    pdk_hold *out = NULL;

    (void)user;
    done.blocking = pdk_lock_acquire(it.lock, 1000, &out);
    done.ensured = pdk_hold_ensure(hold, 0);
    done.again = ts_acquire_async(it.lock, 5000);
}

START_TEST(it_may_acquire_again_but_not_block) {
    acquire_it();
    ts_lost *lost = ts_lost_watch_with(it.hold, try_every_call, NULL);
    delete_node(it.hold);
    ck_assert(ts_lost_wait(lost, ts_patience(2000)));
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_LOST);
    ck_assert(ts_lost_wait_freed(lost, ts_patience(2000)));
    ck_assert_int_eq(done.blocking, PDK_WRONG_THREAD);
    ck_assert_int_eq(done.ensured, PDK_WRONG_THREAD);
    ck_assert(ts_answer_wait(done.again, ts_patience(2000)));
    ck_assert_int_eq(ts_answer_status(done.again), PDK_OK);
}
END_TEST

/* ---- what a slow one must not delay ---- */

static void sleep_long(pdk_hold *hold, void *user) {
    (void)hold;
    (void)user;
    ts_sleep_ms(SLOW_MS);
}

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
    ck_assert_int_lt(ts_now_ms() - began, SLOW_MS * 3 / 4);
    ck_assert_int_eq(ts_lost_count(late), 0);
    ck_assert(ts_lost_wait(late, ts_patience(SLOW_MS + 500)));
    ck_assert(pdk_hold_is_valid(third));
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_LOST);
    ck_assert_int_eq(pdk_hold_release(second), PDK_LOST);
    ck_assert_int_eq(pdk_hold_release(third), PDK_OK);
}
END_TEST

/* The hold is released while its callback runs. The release does not wait for it, and the data lives until the callback
 * has ended. */
START_TEST(release_during_a_slow_callback) {
    acquire_it();
    ts_lost *slow = ts_lost_watch_with(it.hold, sleep_long, NULL);
    delete_node(it.hold);
    ck_assert(ts_lost_wait(slow, ts_patience(2000)));
    const int64_t began = ts_now_ms();
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_LOST);
    ck_assert_int_lt(ts_now_ms() - began, SLOW_MS / 2);
    ck_assert_int_eq(ts_lost_freed(slow), 0);
    ck_assert(ts_lost_wait_freed(slow, ts_patience(SLOW_MS + 500)));
    ck_assert(!ts_lost_freed_early(slow));
}
END_TEST

START_TEST(close_during_a_slow_callback_keeps_its_time) {
    acquire_it();
    ts_lost *slow = ts_lost_watch_with(it.hold, sleep_long, NULL);
    delete_node(it.hold);
    ck_assert(ts_lost_wait(slow, ts_patience(2000)));
    const int64_t began = ts_now_ms();
    ck_assert_int_eq(pdk_session_close(it.client->session, 300), PDK_TIMEOUT);
    ck_assert_int_lt(ts_now_ms() - began, 300 + ts_patience(250));
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_LOST);
    ck_assert(ts_lost_wait_freed(slow, ts_patience(SLOW_MS + 500)));
    ck_assert_int_eq(ts_lost_count(slow), 1);
}
END_TEST

/* ---- manual dispatch ---- */

static void open_manual(void) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;

    options.session_timeout_ms = SESSION_MS;
    options.dispatch = PDK_DISPATCH_MANUAL;
    it.path = ts_fresh_path();
    it.client = ts_client_open_with(server(), NULL, &options);
    ck_assert_ptr_nonnull(it.client);
    it.lock = ts_lock(it.client, it.path);
}

START_TEST(with_manual_dispatch_nothing_runs_by_itself) {
    int count = -1;

    open_manual();
    pdk_session *s = it.client->session;
    it.hold = ts_bench_acquire(it.lock, 5000); /* blocking calls need no dispatch */
    ts_lost *lost = ts_lost_watch(it.hold);
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
    open_manual();
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

/* The claim is granted, but nobody dispatches until the lease has ended. The claim queues again, and that grant is not
 * handed out. */
START_TEST(a_grant_that_lapsed_before_it_was_dispatched) {
    int32_t ahead;

    open_manual();
    ts_answer *answer = ts_acquire_async(it.lock, 60000);
    const int64_t end = ts_now_ms() + ts_patience(3000);
    while (pdk_claim_position(ts_answer_claim(answer), &ahead) != PDK_NOT_HELD) {
        ck_assert_int_lt(ts_now_ms(), end);
        ts_sleep_ms(2);
    }
    ck_assert_int_eq(ts_expire(it.client->proxy, server()), 0);
    pdk_hold *other = ts_bench_acquire(ts_lock(ts_bench_client(SESSION_MS), it.path), ts_patience(5000));
    while (ts_proxy_count(it.client->proxy, TS_OP_CONNECT) < 3) { /* the third is for a new session */
        ck_assert_int_lt(ts_now_ms(), end + ts_patience(5000));
        ts_sleep_ms(2);
    }
    for (int i = 0; i < 20; i++) {
        ck_assert_int_eq(pdk_session_dispatch(it.client->session, NULL), PDK_OK);
        ck_assert_int_eq(ts_answer_count(answer), 0);
        ts_sleep_ms(20);
    }
    ck_assert_int_eq(pdk_hold_release(other), PDK_OK);
    while (ts_answer_count(answer) == 0 && ts_now_ms() < end + ts_patience(5000)) {
        pdk_session_dispatch(it.client->session, NULL);
        ts_sleep_ms(2);
    }
    ck_assert_int_eq(ts_answer_status(answer), PDK_OK);
    ck_assert(pdk_hold_is_valid(ts_answer_hold(answer)));
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("callbacks");
    TCase *tcase = ts_bench_case(suite, "callbacks");

    tcase_add_test(tcase, set_after_the_loss_it_fires_at_once);
    tcase_add_test(tcase, one_callback_per_hold_and_none_after_release);
    tcase_add_test(tcase, a_refused_callback_costs_nothing);
    tcase_add_test(tcase, a_session_is_closed_with_a_hold);
    tcase_add_test(tcase, release_races_the_loss);
    tcase_add_test(tcase, it_may_release);
    tcase_add_test(tcase, it_may_drop_the_last_reference);
    tcase_add_test(tcase, it_may_close_the_session);
    tcase_add_test(tcase, it_may_acquire_again_but_not_block);
    tcase_add_test(tcase, a_slow_callback_delays_only_callbacks);
    tcase_add_test(tcase, release_during_a_slow_callback);
    tcase_add_test(tcase, close_during_a_slow_callback_keeps_its_time);
    tcase_add_test(tcase, with_manual_dispatch_nothing_runs_by_itself);
    tcase_add_test(tcase, released_before_it_was_dispatched);
    tcase_add_test(tcase, a_grant_that_lapsed_before_it_was_dispatched);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

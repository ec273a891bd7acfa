/* However a claim of a set ends, it leaves nothing: objects that are dropped, one or the other of its sessions that is closed, callbacks
 * that are dropped, and children of a fork. Threads and claims that are cancelled are in test_recipes_waiting.c. */
#include <glib.h>
#include <pthread.h>
#include <string.h>

#include "permits.h"
#include "set_bench.h"
#include "ts_check.h"
#include "ts_clock.h"
#include "ts_observer.h"
#include "ts_rwlock.h"

enum { SESSION_MS = 4000, PATIENCE_MS = 10000 };

/* A set of a lock, a reader's side and a permit, in this order, on two sessions. Another client has the permits. */
static struct {
    const char *path;
    char *lock_path, *rw_path, *permits_path;
    ts_client *client[2], *other;
    pdk_lock *lock;
    pdk_rwlock *rw;
    pdk_semaphore *permits;
    pdk_hold *theirs;
    struct set *set;
} it;

static char *below(const char *name) {
    char *path = g_strconcat(it.path, name, NULL);
    ts_paddock_keep(path, g_free);
    return path;
}

static ts_client *client_with(pdk_dispatch dispatch) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = SESSION_MS;
    options.dispatch = dispatch;
    return ts_client_open_with(ts_bench_server(), NULL, &options);
}

static void make_with(pdk_dispatch dispatch) {
    memset(&it, 0, sizeof it);
    it.path = ts_fresh_path();
    it.lock_path = below("/a");
    it.rw_path = below("/b");
    it.permits_path = below("/c");
    it.client[0] = client_with(dispatch);
    it.client[1] = ts_bench_client(SESSION_MS);
    it.other = ts_bench_client(SESSION_MS);
    it.theirs = permits_take(permits_at(it.other, it.permits_path, 1), 1);
    ck_assert_int_eq(pdk_lock_new(it.client[0]->session, it.lock_path, NULL, &it.lock), PDK_OK);
    it.rw = ts_rwlock(it.client[1], it.rw_path);
    ck_assert_int_eq(pdk_semaphore_new(it.client[1]->session, it.permits_path, 1, NULL, &it.permits), PDK_OK);
    it.set = set_of(pdk_right_permits(it.permits, 1), pdk_right_read(it.rw), pdk_right_lock(it.lock));
}

static void make_it(void) { make_with(PDK_DISPATCH_THREAD); }

static void release_theirs(void) { ck_assert_int_eq(pdk_hold_release(g_steal_pointer(&it.theirs)), PDK_OK); }

static void drop_it(void) {
    if (it.theirs)
        release_theirs();
    pdk_lock_unref(it.lock);
    pdk_semaphore_unref(it.permits);
    it.lock = NULL;
    it.permits = NULL;
}

/* It has the first two, and waits for the third. */
static void it_waits(void) {
    set_children(it.lock_path, 1);
    set_children(it.rw_path, 1);
    ck_assert(permits_wait_queued(it.permits_path, 1));
}

static void only_theirs_is_left(void) {
    set_children(it.lock_path, 0);
    set_children(it.rw_path, 0);
    ck_assert(permits_wait_queued(it.permits_path, 0));
    ck_assert(permits_wait_taken(it.permits_path, 1));
}

/* _i & 1: the lock that is held, or the semaphore that is waited for; & 2: a thread is blocked. */
START_TEST(a_dropped_object) {
    make_it();
    ts_answer *answer = _i & 2 ? set_thread(it.set, PDK_FOREVER) : set_async(it.set, PDK_FOREVER);
    it_waits();
    if (_i & 1) {
        pdk_semaphore_unref(g_steal_pointer(&it.permits));
        set_await(answer, PDK_CANCELED);
        only_theirs_is_left();
    } else { /* its hold stays as it is */
        pdk_lock_unref(g_steal_pointer(&it.lock));
        release_theirs();
        set_await(answer, PDK_OK);
        ck_assert_int_eq(ts_answer_release(answer), PDK_OK);
    }
    drop_it();
}
END_TEST

/* _i & 1: which of the sessions; & 2: a thread is blocked. */
START_TEST(a_closed_session) {
    make_it();
    ts_answer *answer = _i & 2 ? set_thread(it.set, PDK_FOREVER) : set_async(it.set, PDK_FOREVER);
    it_waits();
    ck_assert_int_eq(pdk_session_close(it.client[_i & 1]->session, PATIENCE_MS), PDK_OK);
    set_await(answer, PDK_CLOSED);
    only_theirs_is_left();
    drop_it();
}
END_TEST

/* A hold of which one session is closed is lost, and nothing of it stays. */
START_TEST(a_hold_and_a_closed_session) {
    make_it();
    release_theirs();
    pdk_set *held = set_take(it.set);
    ts_lost *told = ts_lost_watch_set(held, NULL, NULL);
    ck_assert_int_eq(pdk_session_close(it.client[_i]->session, PATIENCE_MS), PDK_OK);
    ck_assert(!pdk_set_is_valid(held));
    ck_assert(ts_lost_wait(told, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ts_lost_reason(told), PDK_REASON_CLOSED);
    ck_assert_int_eq(pdk_set_release(held), PDK_LOST);
    set_children(it.lock_path, 0);
    set_children(it.rw_path, 0);
    ck_assert(permits_wait_taken(it.permits_path, 0));
    drop_it();
}
END_TEST

static bool is_decided(void *claim) {
    int32_t ahead = 0;
    return pdk_set_claim_position(claim, &ahead) == PDK_NOT_HELD;
}

/* The callback is due, nobody dispatches it, and the session is closed at once. The rest of the set is in another session. */
START_TEST(a_dropped_callback) {
    make_with(PDK_DISPATCH_MANUAL);
    release_theirs();
    ts_answer *answer = set_async(it.set, PDK_FOREVER);
    for (int64_t end = ts_now_ms() + ts_patience(PATIENCE_MS); !is_decided(ts_answer_set_claim(answer));) {
        ck_assert_int_lt(ts_now_ms(), end);
        if (ts_child_count(ts_bench_server(), it.rw_path) < 1)
            pdk_session_dispatch(it.client[0]->session, NULL); /* the steps in that session */
    }
    ck_assert_int_eq(ts_answer_count(answer), 0);
    pdk_session_close(it.client[0]->session, 0);
    set_children(it.rw_path, 0);
    ck_assert(permits_wait_taken(it.permits_path, 0));
    ck_assert_int_eq(ts_answer_count(answer), 0);
    drop_it();
}
END_TEST

/* The callback runs so late that the grant has lapsed: all is taken anew. */
START_TEST(a_late_callback) {
    make_with(PDK_DISPATCH_MANUAL);
    release_theirs();
    ts_answer *answer = set_async(it.set, _i ? 2 * SESSION_MS : PDK_FOREVER);
    while (!is_decided(ts_answer_set_claim(answer)))
        if (ts_child_count(ts_bench_server(), it.rw_path) < 1)
            pdk_session_dispatch(it.client[0]->session, NULL);
    ts_proxy_set_mode(it.client[0]->proxy, TS_BLACKHOLE);
    ts_sleep_ms(2 * SESSION_MS);
    ts_proxy_heal_discard(it.client[0]->proxy);
    while (ts_answer_count(answer) == 0) {
        pdk_session_dispatch(it.client[0]->session, NULL);
        ts_sleep_ms(1);
    }
    set_await(answer, _i ? PDK_TIMEOUT : PDK_OK);
    ck_assert(_i || pdk_set_is_valid(ts_answer_set(answer)));
    drop_it();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("set_exits");
    TCase *all = ts_bench_case(suite, "set_exits");
    tcase_add_loop_test(all, a_dropped_object, 0, 4);
    tcase_add_loop_test(all, a_closed_session, 0, 4);
    tcase_add_loop_test(all, a_hold_and_a_closed_session, 0, 2);
    tcase_add_test(all, a_dropped_callback);
    tcase_add_loop_test(all, a_late_callback, 0, 2);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

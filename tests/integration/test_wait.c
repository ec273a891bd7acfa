/* Waiting in the queue: which node each waiter watches, what wakes a waiter and what must not, and that no wake-up is
 * lost. */
#include <glib.h>
#include <string.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 4000, WAITERS = 5 };

static const char *server(void) { return ts_bench_server(); }

/* A holder and the queue behind it, each in a session of its own, in this order. */
static struct {
    const char *path;
    ts_client *clients[WAITERS + 1];
    pdk_hold *held;
    ts_answer *waiters[WAITERS + 1]; /* index 0 is not used */
} queue;

static void await_position(ts_answer *answer) {
    int32_t ahead;
    const int64_t end = ts_now_ms() + ts_patience(5000);

    while (pdk_claim_position(ts_answer_claim(answer), &ahead) == PDK_UNAVAILABLE) {
        ck_assert_int_lt(ts_now_ms(), end);
        ts_sleep_ms(1);
    }
}

static void make_queue(int waiters) {
    queue.path = ts_fresh_path();
    for (int i = 0; i <= waiters; i++) {
        queue.clients[i] = ts_bench_client(SESSION_MS);
    }
    queue.held = ts_bench_acquire(ts_lock(queue.clients[0], queue.path), 5000);
    for (int i = 1; i <= waiters; i++) {
        queue.waiters[i] = ts_acquire_async(ts_lock(queue.clients[i], queue.path), 30000);
        await_position(queue.waiters[i]);
    }
}

static void assert_granted(int i) {
    ck_assert_msg(ts_answer_wait(queue.waiters[i], ts_patience(2500)), "waiter %d is not granted", i);
    ck_assert_int_eq(ts_answer_status(queue.waiters[i]), PDK_OK);
    ck_assert(pdk_hold_is_valid(ts_answer_hold(queue.waiters[i])));
}

static char *node_of(int i) {
    return i == 0 ? ts_hold_node(queue.held) : ts_hold_node(ts_answer_hold(queue.waiters[i]));
}

/* ---- the watches ---- */

typedef struct {
    int64_t wanted;
} watch_count;

static bool has_watches(void *user) { return ts_watch_count(server()) == ((watch_count *)user)->wanted; }

START_TEST(each_waiter_watches_its_predecessor_only) {
    watch_count count = {.wanted = WAITERS + 1}; /* the hold watches its own node */

    make_queue(WAITERS);
    ck_assert_msg(ts_wait_until(has_watches, &count, 2000), "%d watches", (int)ts_watch_count(server()));
    g_autofree char *wchp = ts_fourletter(server(), "wchp");
    g_auto(GStrv) children = ts_children(server(), queue.path, NULL);
    ck_assert_uint_eq(g_strv_length(children), WAITERS + 1);
    for (int i = 0; i <= WAITERS && wchp != NULL && strstr(wchp, "/") != NULL; i++) {
        ck_assert_int_eq(strstr(wchp, children[i]) != NULL, !g_str_has_suffix(children[i], "-0000000005"));
    }
    /* No watch is left. */
    ck_assert_int_eq(pdk_hold_release(queue.held), PDK_OK);
    for (int i = 1; i <= WAITERS; i++) {
        assert_granted(i);
        ck_assert_int_eq(ts_answer_release(queue.waiters[i]), PDK_OK);
    }
    count.wanted = 0;
    ck_assert_msg(ts_wait_until(has_watches, &count, 2000), "%d watches", (int)ts_watch_count(server()));
}
END_TEST

START_TEST(one_release_wakes_one_waiter) {
    uint64_t notifications = 0, lists = 0;
    ts_proxy_counters counters;

    make_queue(WAITERS);
    ts_sleep_ms(50);
    for (int i = 0; i <= WAITERS; i++) {
        ts_proxy_zero(queue.clients[i]->proxy);
    }
    ck_assert_int_eq(pdk_hold_release(queue.held), PDK_OK);
    assert_granted(1);
    ts_sleep_ms(200);
    for (int i = 1; i <= WAITERS; i++) {
        ts_proxy_read(queue.clients[i]->proxy, &counters);
        notifications += counters.notifications;
        lists += ts_proxy_count(queue.clients[i]->proxy, TS_OP_GET_CHILDREN);
        ck_assert_uint_eq(ts_proxy_count(queue.clients[i]->proxy, TS_OP_CREATE2), 0);
        ck_assert_uint_eq(ts_proxy_count(queue.clients[i]->proxy, TS_OP_DELETE), 0);
    }
    ck_assert_uint_eq(notifications, 1);
    ck_assert_uint_eq(lists, 1);
    ck_assert_uint_eq(ts_proxy_count(queue.clients[0]->proxy, TS_OP_DELETE), 1);
    ck_assert_uint_eq(ts_proxy_count(queue.clients[0]->proxy, TS_OP_GET_CHILDREN), 0);
}
END_TEST

/* ---- what happens to the predecessor's node ---- */

START_TEST(a_write_to_the_predecessor_does_not_lose_the_wake_up) {
    make_queue(2);
    for (int i = 0; i <= 2; i++) {
        g_autofree char *node = node_of(i);

        for (int n = 0; n < 3; n++) {
            ck_assert_int_eq(ts_set(server(), node, "__REVOKE__"), 0);
            ts_sleep_ms(n * 15);
        }
        if (i == 2) {
            break;
        }
        ck_assert_int_eq(ts_answer_count(queue.waiters[i + 1]), 0);
        ck_assert_int_eq(ts_set(server(), node, "x"), 0); /* immediately before the deletion */
        ck_assert_int_eq(i == 0 ? pdk_hold_release(queue.held) : ts_answer_release(queue.waiters[i]), PDK_OK);
        assert_granted(i + 1);
    }
}
END_TEST

/* Without permission to read its data, the waiter watches its existence. */
START_TEST(a_predecessor_that_may_not_be_read) {
    make_queue(0);
    g_autofree char *node = node_of(0);
    ts_observer *o = ts_observer_open(server());
    ck_assert_ptr_nonnull(o);
    const int rc = ts_observer_set_acl(o, node, TS_PERM_ADMIN, "world", "anyone");
    ts_observer_close(o);
    ck_assert_int_eq(rc, 0);
    queue.clients[1] = ts_bench_client(5 * SESSION_MS); /* it asks once a second all the same */
    queue.waiters[1] = ts_acquire_async(ts_lock(queue.clients[1], queue.path), 10000);
    await_position(queue.waiters[1]);
    ts_sleep_ms(100);
    ck_assert_int_eq(ts_answer_count(queue.waiters[1]), 0);
    ck_assert(pdk_hold_is_valid(queue.held));
    ck_assert_int_eq(pdk_hold_release(queue.held), PDK_OK);
    assert_granted(1);
}
END_TEST

/* The watch was set while reading was allowed, and the server holds its event back. The waiter asks again within a
 * session timeout. */
START_TEST(a_predecessor_that_may_not_be_read_any_more) {
    make_queue(1);
    g_autofree char *node = node_of(0);
    ts_observer *o = ts_observer_open(server());
    ck_assert_ptr_nonnull(o);
    ts_sleep_ms(100); /* the waiter's watch is set */
    const int rc = ts_observer_set_acl(o, node, TS_PERM_ADMIN, "world", "anyone");
    ts_observer_close(o);
    ck_assert_int_eq(rc, 0);
    ck_assert_int_eq(pdk_hold_release(queue.held), PDK_OK);
    ck_assert(ts_wait_children(server(), queue.path, 1, 2000));
    ck_assert_msg(ts_answer_wait(queue.waiters[1], SESSION_MS + ts_patience(1500)), "the waiter is not granted");
    ck_assert_int_eq(ts_answer_status(queue.waiters[1]), PDK_OK);
}
END_TEST

/* The release comes at each moment of the waiter's queueing: before its create, between list and watch, … */
START_TEST(a_predecessor_that_vanishes_at_any_moment) {
    const char *path = ts_fresh_path();
    ts_client *a = ts_bench_client(SESSION_MS), *b = ts_bench_client(SESSION_MS);
    pdk_lock *lock_a = ts_lock(a, path), *lock_b = ts_lock(b, path);

    pdk_hold_release(ts_bench_acquire(lock_b, 5000));
    ts_proxy_set_delay(b->proxy, 10000, 10000);
    for (int i = 0; i < 30; i++) {
        pdk_hold *held = ts_bench_acquire(lock_a, 5000);
        ts_answer *waiter = ts_acquire_async(lock_b, 10000);

        ts_sleep_ms(i * 3);
        ck_assert_int_eq(pdk_hold_release(held), PDK_OK);
        ck_assert_msg(ts_answer_wait(waiter, ts_patience(2500)), "not granted, offset %d ms", i * 3);
        ck_assert_int_eq(ts_answer_status(waiter), PDK_OK);
        ck_assert_int_eq(ts_answer_release(waiter), PDK_OK);
        ck_assert_int_eq(pdk_session_flush(b->session, 5000), PDK_OK);
    }
}
END_TEST

/* ---- a waiter leaves the middle of the queue ---- */

static void leave_by_cancel(void) { ck_assert_int_eq(pdk_claim_cancel(ts_answer_claim(queue.waiters[1])), PDK_OK); }

static void leave_by_close(void) { pdk_session_close(queue.clients[1]->session, 5000); }

static void leave_by_expiry(void) {
    ts_session_key key;

    ts_proxy_set_mode(queue.clients[1]->proxy, TS_CUT);
    ck_assert(ts_proxy_last_session(queue.clients[1]->proxy, &key));
    ck_assert_int_eq(ts_expire_session(server(), &key), 0);
}

static void leave_by_deletion(void) {
    g_auto(GStrv) children = ts_children(server(), queue.path, NULL);

    for (char **child = children; *child; child++) {
        g_autofree char *node = g_strdup_printf("%s/%s", queue.path, *child);

        if (g_str_has_suffix(*child, "-0000000001")) {
            ts_proxy_set_mode(queue.clients[1]->proxy, TS_CUT);
            ck_assert_int_eq(ts_delete(server(), node), 0);
        }
    }
}

START_TEST(the_middle_of_the_queue_leaves) {
    void (*const ways[])(void) = {leave_by_cancel, leave_by_close, leave_by_expiry, leave_by_deletion};

    make_queue(2);
    ways[_i]();
    ck_assert(ts_wait_children(server(), queue.path, 2, 2000));
    ts_sleep_ms(200);
    ck_assert_int_eq(ts_answer_count(queue.waiters[2]), 0);
    ck_assert(pdk_hold_is_valid(queue.held));
    ck_assert_int_eq(pdk_hold_release(queue.held), PDK_OK);
    assert_granted(2);
}
END_TEST

/* ---- the waiter's own link fails ---- */

START_TEST(a_release_while_the_waiter_is_cut_off) {
    const ts_proxy_mode modes[] = {TS_CUT, TS_BLACKHOLE, TS_BLACKHOLE_DOWN, TS_DROP_REPLIES};

    make_queue(1);
    ts_proxy *proxy = queue.clients[1]->proxy;
    ts_proxy_set_mode(proxy, modes[_i]);
    ts_sleep_ms(50);
    ck_assert_int_eq(pdk_hold_release(queue.held), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(queue.clients[0]->session, 5000), PDK_OK);
    ts_sleep_ms(300);
    ck_assert_int_eq(ts_answer_count(queue.waiters[1]), 0);
    ts_proxy_heal(proxy);
    assert_granted(1);
    ck_assert_int_eq(ts_events(queue.clients[1], PDK_SESSION_EXPIRED), 0);
}
END_TEST

/* Its link fails again and again while nothing else happens. It keeps its position, and is not granted. */
START_TEST(a_waiter_keeps_its_position_across_reconnects) {
    make_queue(2);
    for (int i = 0; i < 4; i++) {
        int32_t ahead = -1;

        ts_proxy_reset(queue.clients[1]->proxy);
        ck_assert(ts_wait_event(queue.clients[1], PDK_SESSION_RESTORED, i + 1, ts_patience(3000)));
        ck_assert_int_eq(pdk_claim_position(ts_answer_claim(queue.waiters[1]), &ahead), PDK_OK);
        ck_assert_int_eq(ahead, 1);
        ck_assert_int_eq(ts_answer_count(queue.waiters[1]) + ts_answer_count(queue.waiters[2]), 0);
    }
    ck_assert_int_eq(pdk_hold_release(queue.held), PDK_OK);
    assert_granted(1);
    ck_assert_int_eq(ts_answer_count(queue.waiters[2]), 0);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("wait");
    TCase *tcase = ts_bench_case(suite, "wait");

    tcase_add_test(tcase, each_waiter_watches_its_predecessor_only);
    tcase_add_test(tcase, one_release_wakes_one_waiter);
    tcase_add_test(tcase, a_write_to_the_predecessor_does_not_lose_the_wake_up);
    tcase_add_test(tcase, a_predecessor_that_may_not_be_read);
    tcase_add_test(tcase, a_predecessor_that_may_not_be_read_any_more);
    tcase_add_test(tcase, a_predecessor_that_vanishes_at_any_moment);
    tcase_add_loop_test(tcase, the_middle_of_the_queue_leaves, 0, 4);
    tcase_add_loop_test(tcase, a_release_while_the_waiter_is_cut_off, 0, 4);
    tcase_add_test(tcase, a_waiter_keeps_its_position_across_reconnects);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

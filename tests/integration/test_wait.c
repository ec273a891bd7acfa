/* Waiting in the queue: which node each waiter watches, what wakes a waiter and what must not, and that no wake-up is
 * lost. */
#include <glib.h>
#include <string.h>

#include "sides.h"
#include "ts_check.h"
#include "ts_rwlock.h"
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

static void make_queue(int waiters) {
    queue.path = ts_fresh_path();
    for (int i = 0; i <= waiters; i++) {
        queue.clients[i] = ts_bench_client(SESSION_MS);
    }
    queue.held = ts_bench_acquire(ts_lock(queue.clients[0], queue.path), 5000);
    for (int i = 1; i <= waiters; i++) {
        queue.waiters[i] = ts_acquire_async(ts_lock(queue.clients[i], queue.path), 30000);
        ts_await_queued(queue.waiters[i]);
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

static bool has_watches(void *wanted) { return ts_watch_count(server()) == *(int *)wanted; }

START_TEST(each_waiter_watches_its_predecessor_only) {
    int wanted = WAITERS + 2; /* the hold watches its own node, and so does the next one */

    make_queue(WAITERS);
    ck_assert_msg(ts_wait_until(has_watches, &wanted, 2000), "%d watches", (int)ts_watch_count(server()));
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
    wanted = 0;
    ck_assert_msg(ts_wait_until(has_watches, &wanted, 2000), "%d watches", (int)ts_watch_count(server()));
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
    ck_assert_uint_eq(lists, 0); /* the event has said all */
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

static void forbid_to_read(const char *node) {
    ts_observer *o = ts_observer_open(server());
    ck_assert_ptr_nonnull(o);
    const int rc = ts_observer_set_acl(o, node, TS_PERM_ADMIN, "world", "anyone");
    ts_observer_close(o);
    ck_assert_int_eq(rc, 0);
}

/* Without permission to read its data, the waiter watches its existence. */
START_TEST(a_predecessor_that_may_not_be_read) {
    make_queue(0);
    g_autofree char *node = node_of(0);
    forbid_to_read(node);
    queue.clients[1] = ts_bench_client(5 * SESSION_MS); /* it asks once a second all the same */
    queue.waiters[1] = ts_acquire_async(ts_lock(queue.clients[1], queue.path), 10000);
    ts_await_queued(queue.waiters[1]);
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
    ts_sleep_ms(100); /* the waiter's watch is set */
    forbid_to_read(node);
    ck_assert_int_eq(pdk_hold_release(queue.held), PDK_OK);
    ck_assert(ts_wait_children(server(), queue.path, 1, 2000));
    ck_assert_msg(ts_answer_wait(queue.waiters[1], SESSION_MS + ts_patience(1500)), "the waiter is not granted");
    ck_assert_int_eq(ts_answer_status(queue.waiters[1]), PDK_OK);
}
END_TEST

/* ---- the waiter's own link fails */

static const ts_proxy_mode ways_to_fail[] = {TS_CUT, TS_BLACKHOLE, TS_BLACKHOLE_DOWN, TS_DROP_REPLIES};

START_TEST(a_release_while_the_waiter_is_cut_off) {
    sides_wait(SESSION_MS, PDK_FOREVER);
    sides_links(1, ways_to_fail[_i]);
    ts_sleep_ms(50);
    for (each_side(s)) {
        pair_admit(&s->p, 0, s->held);
        pair_flush(&s->p, 0);
    }
    ts_sleep_ms(300);
    for (each_side(s))
        assert_recipe(s->p.r, ts_answer_count(s->waiter) == 0);
    sides_links(1, TS_PASS);
    for (each_side(s)) {
        pair_expect(&s->p, s->waiter, PDK_OK);
        ck_assert_int_eq(ts_events(s->p.client[1], PDK_SESSION_EXPIRED), 0);
    }
}
END_TEST

/* Its link fails again and again while nothing else happens: it keeps its place ahead of one that came later. */
START_TEST(a_waiter_keeps_its_place_across_reconnects) {
    ts_answer *later[RECIPES];
    sides_wait(SESSION_MS, PDK_FOREVER);
    for (each_side(s)) {
        const int nodes = recipe_nodes(s->p.path);
        later[s - sides] = recipe_async(s->p.r, s->p.object[0], PDK_FOREVER);
        recipe_await_nodes(s->p.r, s->p.path, nodes + 1);
    }
    for (int i = 1; i <= 4; i++) {
        for (each_side(s))
            ts_proxy_reset(s->p.client[1]->proxy);
        for (each_side(s)) {
            int32_t ahead = -1;
            assert_recipe(s->p.r, ts_wait_event(s->p.client[1], PDK_SESSION_RESTORED, i, ts_patience(3000)));
            assert_recipe(s->p.r, ts_answer_count(s->waiter) + ts_answer_count(later[s - sides]) == 0);
            assert_recipe(s->p.r,
                          !recipe_is_async(s->p.r) || (ts_answer_position(s->waiter, &ahead) == PDK_OK && ahead <= 1));
        }
    }
    for (each_side(s)) {
        pair_admit(&s->p, 0, s->held);
        pair_expect(&s->p, s->waiter, PDK_OK);
        assert_recipe(s->p.r, s->p.r->shares > 1 || ts_answer_count(later[s - sides]) == 0);
        pair_release(&s->p, 1, s->waiter);
        pair_expect(&s->p, later[s - sides], PDK_OK);
        assert_recipe(s->p.r, ts_events(s->p.client[1], PDK_SESSION_EXPIRED) == 0);
    }
}
END_TEST

/* The release comes at each moment of the waiter's steps: before its create, between list and watch, … No wake-up is lost. */
START_TEST(a_release_at_any_moment) {
    enum { MOMENTS = 30, DELAY_US = 10000 };
    sides_begin(SESSION_MS);
    for (each_side(s)) {
        pair_release(&s->p, 1, recipe_take(s->p.r, s->p.object[1]));
        ts_proxy_set_delay(s->p.client[1]->proxy, DELAY_US, DELAY_US);
    }
    for (int i = 0; i < MOMENTS; i++) {
        for (each_side(s))
            s->held = pair_obstruct(&s->p, 0);
        for (each_side(s))
            s->waiter = recipe_async(s->p.r, s->p.object[1], PDK_FOREVER);
        ts_sleep_ms(i * 3);
        for (each_side(s))
            pair_admit(&s->p, 0, s->held);
        for (each_side(s)) {
            ck_assert_msg(ts_answer_wait(s->waiter, ts_patience(2500)), "%s: not granted, %d ms", s->p.r->name, i * 3);
            pair_expect(&s->p, s->waiter, PDK_OK);
            pair_release(&s->p, 1, s->waiter);
        }
        for (each_side(s))
            pair_flush(&s->p, 1);
    }
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
    tcase_add_loop_test(tcase, a_release_while_the_waiter_is_cut_off, 0, G_N_ELEMENTS(ways_to_fail));
    tcase_add_test(tcase, a_waiter_keeps_its_place_across_reconnects);
    tcase_add_test(tcase, a_release_at_any_moment);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

/* Failures while a permit is taken: links that fail, administrators that delete, other clients that use the
 * directories. */
#include <glib.h>
#include <string.h>

#include "permits.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 3000 };

static ts_client *a, *b;

static void two_sessions(void) {
    a = ts_bench_client(SESSION_MS);
    b = ts_bench_client(SESSION_MS);
}

static const char *server(void) { return ts_bench_server(); }

static void delete_node(const char *path, const char *dir, unsigned rank) {
    g_autofree char *node = permits_node(path, dir, rank);

    ck_assert_ptr_nonnull(node);
    ck_assert_int_eq(ts_delete(server(), node), 0);
}

/* ---- links ---- */

/* The session ends while its nodes are being created. The claim queues again, and requests that arrive late take
 * nothing from others. */
START_TEST(the_session_expires_while_it_takes) {
    const char *path = ts_fresh_path();
    pdk_hold *held = permits_take(permits_at(b, path, 2), 1);
    ts_answer *taker = permits_async(permits_at(a, path, 2), 2, 20000);

    permits_await_ahead(taker, 0);
    ts_sleep_ms(50);
    ts_proxy_arm(a->proxy, TS_OP_CREATE2, _i == 0 ? TS_LOSE_REQUEST : TS_LOSE_REPLY, TS_BLACKHOLE);
    ck_assert_int_eq(pdk_hold_release(held), PDK_OK);
    ck_assert(ts_proxy_wait_fired(a->proxy, ts_patience(2000)));
    ck_assert_int_eq(ts_expire(a->proxy, server()), 0);
    ts_proxy_heal_discard(a->proxy);
    permits_await_grant(taker);
    ck_assert_int_eq(ts_events(a, PDK_SESSION_EXPIRED), 1);
    ck_assert_int_eq(permits_taken(path), 2);
    ck_assert_int_eq(ts_answer_release(taker), PDK_OK);
    permits_assert_none(path);
}
END_TEST

/* The answers to an admission come when claim and semaphore do not exist any more. */
START_TEST(answers_that_come_too_late) {
    const char *path = ts_fresh_path();
    pdk_semaphore *semaphore = NULL;

    ck_assert_int_eq(pdk_semaphore_new(a->session, path, 2, NULL, &semaphore), PDK_OK);
    ts_proxy_arm(a->proxy, TS_OP_GET_DATA, _i % 2 ? TS_LOSE_REPLY : TS_LOSE_REQUEST, TS_BLACKHOLE);
    ts_answer *taker = permits_thread(semaphore, 2, 300);
    permits_await_status(taker, PDK_TIMEOUT);
    ts_answer_join(taker);
    pdk_semaphore_unref(semaphore);
    if (_i < 2) {
        ts_proxy_heal(a->proxy);
    } else if (_i < 4) {
        ts_proxy_heal_discard(a->proxy);
    } else {
        ck_assert_int_eq(ts_expire(a->proxy, server()), 0);
        ts_proxy_heal_discard(a->proxy);
    }
    permits_assert_none(path);
    pdk_hold_release(permits_take(permits_at(a, path, 3), 3)); /* the directory was never made, or has no number */
}
END_TEST

/* ---- an administrator ---- */

/* The first in the queue loses its node while it waits. The next one becomes first, and the other queues again at the
 * end. */
START_TEST(the_first_node_is_deleted_while_it_waits) {
    const char *path = ts_fresh_path();
    pdk_hold *held = permits_take(permits_at(a, path, 2), 2);
    ts_answer *first = permits_async(permits_at(b, path, 2), 1, 20000);
    permits_await_ahead(first, 0);
    ts_answer *second = permits_async(permits_at(a, path, 2), 2, 20000);

    permits_await_ahead(second, 1);
    ts_sleep_ms(100); /* the first node in the queue is watched from here on */
    delete_node(path, "locks", 0);
    permits_await_ahead(second, 0);
    permits_await_ahead(first, 1);
    ck_assert_int_eq(pdk_hold_release(held), PDK_OK);
    permits_await_grant(second);
    ck_assert_int_eq(permits_taken(path), 2);
    ck_assert_int_eq(ts_answer_count(first), 0);
    ck_assert_int_eq(ts_answer_release(second), PDK_OK);
    permits_await_grant(first);
    ck_assert_int_eq(permits_taken(path), 1);
}
END_TEST

/* The first in the queue loses its node while its leases are being created. Two take at once, and one of them gets
 * nothing. */
START_TEST(the_first_node_is_deleted_while_it_takes) {
    const char *path = ts_fresh_path();
    const int32_t count = 1 + _i;
    pdk_hold *held = permits_take(permits_at(b, path, 2), 2);
    ts_answer *first = permits_async(permits_at(a, path, 2), count, 20000);
    permits_await_ahead(first, 0);
    ts_answer *second = permits_async(permits_at(b, path, 2), 2, 20000);

    permits_await_ahead(second, 1);
    ts_sleep_ms(100);
    ts_proxy_arm(a->proxy, TS_OP_CREATE2, TS_LOSE_REQUEST, TS_BLACKHOLE);
    ck_assert_int_eq(pdk_hold_release(held), PDK_OK);
    ck_assert(ts_proxy_wait_fired(a->proxy, ts_patience(2000)));
    delete_node(path, "locks", 0);
    permits_await_grant(second);
    ts_proxy_heal(a->proxy); /* the creates arrive now */
    ck_assert(!ts_answer_wait(first, 300));
    ck_assert(pdk_hold_is_valid(ts_answer_hold(second)));
    ck_assert(permits_wait_taken(path, 2)); /* none of its leases is left */
    ck_assert_int_eq(ts_answer_release(second), PDK_OK);
    permits_await_grant(first);
    ck_assert_int_eq(permits_taken(path), count);
    ck_assert_int_eq(ts_answer_release(first), PDK_OK);
    permits_assert_none(path);
}
END_TEST

/* A lease is deleted while the claim takes others. The claim takes it again. */
START_TEST(a_lease_is_deleted_while_others_are_taken) {
    const char *path = ts_fresh_path();
    pdk_semaphore *semaphore = permits_at(a, path, 3);

    pdk_hold_release(permits_take(semaphore, 3));
    permits_assert_none(path);
    for (int i = 0; i < 20; i++) {
        ts_proxy_set_delay(a->proxy, 3000, 3000);
        ts_answer *taker = permits_async(semaphore, 3, 20000);
        g_autofree char *node = NULL;
        while ((node = permits_node(path, "leases", (unsigned)i % 3)) == NULL) {
            ts_sleep_ms(1);
        }
        ck_assert_int_eq(ts_delete(server(), node), 0);
        ck_assert(ts_answer_wait(taker, ts_patience(5000)));
        ck_assert_int_eq(ts_answer_status(taker), PDK_OK);
        ts_proxy_set_delay(a->proxy, 0, 0);
        if (ts_fd_readable(pdk_hold_fd(ts_answer_hold(taker)), 100)) { /* it was granted before the deletion */
            ck_assert_int_eq(pdk_hold_reason(ts_answer_hold(taker)), PDK_REASON_NODE_GONE);
            ck_assert_int_eq(ts_answer_release(taker), PDK_LOST);
        } else {
            ck_assert_int_eq(permits_taken(path), 3);
            ck_assert_int_eq(ts_answer_release(taker), PDK_OK);
        }
        permits_assert_none(path);
    }
}
END_TEST

/* Everything below the path is deleted, under a holder, the first in the queue and one behind it. */
START_TEST(everything_is_deleted) {
    const char *path = ts_fresh_path();
    g_autofree char *leases = permits_leases(path);
    pdk_hold *held = permits_take(permits_at(a, path, 2), 2);
    ts_lost *lost = ts_lost_watch(held);
    ts_answer *first = permits_async(permits_at(b, path, 2), 2, 20000);
    permits_await_ahead(first, 0);
    ts_answer *second = permits_async(permits_at(a, path, 2), 1, 20000);
    char *number = NULL;

    permits_await_ahead(second, 1);
    ts_sleep_ms(100);
    ts_delete_tree(server(), _i == 0 ? leases : path); /* as far as they do not come back at once */
    ck_assert(ts_lost_wait(lost, ts_patience(2000)));
    ck_assert_int_eq(ts_lost_reason(lost), PDK_REASON_NODE_GONE);
    while (ts_answer_count(first) == 0 && ts_answer_count(second) == 0) {
        ts_sleep_ms(1);
    }
    ts_answer *earlier = ts_answer_count(first) > 0 ? first : second;
    permits_await_grant(earlier);
    ck_assert(_i == 1 || earlier == first);
    ck_assert_int_eq(ts_get(server(), leases, &number, NULL, NULL), 0);
    ck_assert_str_eq(number, "2");
    g_free(number);
    ck_assert_int_eq(pdk_hold_release(held), PDK_LOST);
    ck_assert_int_eq(ts_answer_release(earlier), PDK_OK);
    permits_await_grant(earlier == first ? second : first);
    ck_assert_int_eq(ts_answer_release(earlier == first ? second : first), PDK_OK);
    permits_assert_none(path);
}
END_TEST

/* ---- other clients ---- */

static void take_as_curator(ts_observer *curator, const char *path, int count) {
    g_autofree char *lease = g_strconcat(path, "/leases/_c_6f1ed002-ab5f-11ee-a506-0242ac120002-lease-", NULL);

    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(ts_observer_create(curator, lease, "127.0.0.1", TS_EPHEMERAL | TS_SEQUENTIAL, NULL), 0);
    }
}

/* Nodes that are no leases do not count. Leases of another client do. */
START_TEST(foreign_children_among_the_leases) {
    static const char *const foreign[] = {"zzz", "0", "x-0000000001", "_c_1-lock-0000000001", "lease-x", "lease-1"};
    const char *path = ts_fresh_path();
    pdk_semaphore *semaphore = permits_at(a, path, 2);
    ts_observer *curator = ts_observer_open(server());
    pdk_contenders *list = NULL;
    pdk_hold *none = NULL;

    pdk_hold_release(permits_take(semaphore, 1));
    ck_assert_ptr_nonnull(curator);
    for (size_t i = 0; i < G_N_ELEMENTS(foreign); i++) {
        g_autofree char *child = g_strdup_printf("%s/leases/%s", path, foreign[i]);
        ck_assert_int_eq(ts_create(server(), child, "", TS_PERSISTENT, NULL), 0);
    }
    pdk_hold_release(permits_take(semaphore, 2));
    take_as_curator(curator, path, 1);
    const pdk_status two = pdk_semaphore_acquire(semaphore, 2, 100, &none);
    pdk_hold *hold = permits_take(semaphore, 1);
    const pdk_status more = pdk_semaphore_acquire(semaphore, 1, 0, &none);
    ts_answer *waiter = permits_async(semaphore, 1, 20000);
    permits_await_ahead(waiter, 0);
    ck_assert_int_eq(pdk_semaphore_holders(semaphore, 5000, &list), PDK_OK);
    const size_t holders = pdk_contenders_count(list);
    g_autofree char *identity = g_strdup(pdk_contenders_identity(list, 0));
    pdk_contenders_free(list);
    ck_assert(!ts_answer_wait(waiter, 100));
    ts_observer_close(curator);
    permits_await_grant(waiter);
    ck_assert_int_eq(two, PDK_TIMEOUT);
    ck_assert_int_eq(more, PDK_BUSY);
    ck_assert_uint_eq(holders, 2);
    ck_assert_str_eq(identity, "127.0.0.1");
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

/* Another client takes leases out of order while ours are being created. Our claim is too late: it gives back all its
 * leases, and stays first. */
START_TEST(another_client_takes_out_of_order) {
    const char *path = ts_fresh_path();
    const int32_t count = 1 + _i;
    pdk_hold *held = permits_take(permits_at(b, path, 3), 3);
    ts_answer *taker = permits_async(permits_at(a, path, 3), count, 20000);
    ts_observer *curator = ts_observer_open(server());

    ck_assert_ptr_nonnull(curator);
    permits_await_ahead(taker, 0);
    ts_sleep_ms(50);
    ts_proxy_arm(a->proxy, TS_OP_CREATE2, TS_LOSE_REQUEST, TS_BLACKHOLE);
    ck_assert_int_eq(pdk_hold_release(held), PDK_OK);
    ck_assert(ts_proxy_wait_fired(a->proxy, ts_patience(2000)));
    ck_assert(permits_wait_taken(path, 0));
    take_as_curator(curator, path, 4 - count); /* one too many for both */
    ts_proxy_heal(a->proxy);
    const bool granted = ts_answer_wait(taker, 300);
    const bool given_back = permits_wait_taken(path, 4 - count);
    ts_observer_close(curator);
    ck_assert(!granted);
    ck_assert(given_back);
    permits_await_grant(taker);
    ck_assert_int_eq(permits_taken(path), count);
    ck_assert_int_eq(ts_answer_release(taker), PDK_OK);
    permits_assert_none(path);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("semaphore_ways");
    TCase *tcase = ts_bench_case(suite, "semaphore_ways");

    tcase_add_checked_fixture(tcase, two_sessions, NULL);
    tcase_add_loop_test(tcase, the_session_expires_while_it_takes, 0, 2);
    tcase_add_loop_test(tcase, answers_that_come_too_late, 0, 6);
    tcase_add_test(tcase, the_first_node_is_deleted_while_it_waits);
    tcase_add_loop_test(tcase, the_first_node_is_deleted_while_it_takes, 0, 2);
    tcase_add_test(tcase, a_lease_is_deleted_while_others_are_taken);
    tcase_add_loop_test(tcase, everything_is_deleted, 0, 2);
    tcase_add_test(tcase, foreign_children_among_the_leases);
    tcase_add_loop_test(tcase, another_client_takes_out_of_order, 0, 3);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

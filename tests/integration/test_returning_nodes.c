/* Servers that lose confirmed transactions leave nodes behind: a deleted node exists again, and its session lives on.
 * Here another connection of that session creates the node again. The session removes it when it next looks. No other
 * client does. */
#include <glib.h>

#include "permits.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_requests.h"
#include "ts_support.h"
#include "ts_wire.h"

enum { SESSION_MS = 6000, A_WHILE_MS = 300 };

static ts_client *a, *b;
static pdk_lock *of_a, *of_b;
static const char *path;

static void two_locks(pdk_naming naming) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    options.naming = naming;
    path = ts_fresh_path();
    a = ts_bench_client(SESSION_MS);
    b = ts_bench_client(SESSION_MS);
    of_a = ts_lock_with(a, path, &options);
    of_b = ts_lock_with(b, path, &options);
}

/* The name of a node that session a had. */
static char *once_held(void) {
    pdk_hold *hold = ts_bench_acquire(of_a, 5000);
    char *node = ts_hold_node(hold);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(a->session, 5000), PDK_OK);
    ck_assert_int_eq(ts_child_count(ts_bench_server(), path), 0);
    return node;
}

/* Creates the node again, in session a. */
static void bring_back(const char *node) {
    GByteArray *body = g_byte_array_new();
    ts_session_key key;
    ts_wire wire;

    ck_assert(ts_proxy_last_session(a->proxy, &key));
    ts_proxy_set_mode(a->proxy, TS_BLACKHOLE);
    ck_assert_int_eq(ts_wire_open(&wire, ts_bench_server(), key.timeout_ms, &key), 0);
    ts_put_create(body, node, "", TS_EPHEMERAL);
    ck_assert_int_eq(ts_wire_call(&wire, TS_OP_CREATE, body, NULL), 0);
    ts_wire_shut(&wire);
    g_byte_array_unref(body);
    ts_proxy_heal(a->proxy);
}

/* A node with a name of session a's, but of no session. */
static void imitate(const char *node) { ck_assert_int_eq(ts_create(ts_bench_server(), node, "", 0, NULL), 0); }

static void assert_granted(ts_answer *answer) {
    ck_assert(ts_answer_wait(answer, ts_patience(3000)));
    ck_assert_int_eq(ts_answer_status(answer), PDK_OK);
    ck_assert_int_eq(ts_answer_release(answer), PDK_OK);
}

/* A waiter behind the node waits until the session looks. */
START_TEST(a_node_that_is_back_is_removed) {
    two_locks(_i == 0 ? PDK_NAMING_CURATOR : PDK_NAMING_KAZOO);
    g_autofree char *node = once_held();
    bring_back(node);

    ts_answer *second = ts_acquire_async(of_b, 20000);
    ts_sleep_ms(A_WHILE_MS);
    ck_assert_int_eq(ts_answer_count(second), 0);
    ck_assert_int_eq(ts_child_count(ts_bench_server(), path), 2);

    ts_answer *third = ts_acquire_async(of_a, 20000);
    assert_granted(second);
    assert_granted(third);
    ck_assert(ts_wait_children(ts_bench_server(), path, 0, ts_patience(2000)));
}
END_TEST

/* The node comes back while its session waits in the queue. The session sees it after a reconnect. */
START_TEST(a_node_that_is_back_ahead_of_a_waiter) {
    two_locks(PDK_NAMING_CURATOR);
    g_autofree char *node = once_held();
    pdk_hold *held = ts_bench_acquire(of_b, 5000);
    ts_answer *waiter = ts_acquire_async(of_a, 20000);
    ck_assert(ts_wait_children(ts_bench_server(), path, 2, ts_patience(5000)));
    bring_back(node);
    ck_assert(ts_wait_children(ts_bench_server(), path, 2, ts_patience(5000)));
    ck_assert_int_ne(ts_exists(ts_bench_server(), node, NULL), 0);

    ck_assert_int_eq(pdk_hold_release(held), PDK_OK);
    assert_granted(waiter);
    ck_assert(ts_wait_children(ts_bench_server(), path, 0, ts_patience(2000)));
}
END_TEST

/* The node holds the only permit. */
START_TEST(a_permit_that_is_back_is_removed) {
    a = ts_bench_client(SESSION_MS);
    pdk_semaphore *semaphore = permits_at(a, ts_fresh_path(), 1);
    for (int turn = 0; turn < 2; turn++) {
        pdk_hold *hold = permits_take(semaphore, 1);
        g_autofree char *node = ts_hold_node(hold);
        ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
        ck_assert_int_eq(pdk_session_flush(a->session, 5000), PDK_OK);
        if (turn == 0)
            bring_back(node);
    }
}
END_TEST

/* A node with such a name that another client made counts like any other. A node that we cannot delete harms nobody. */
START_TEST(the_name_alone_does_not_make_it_ours) {
    two_locks(PDK_NAMING_CURATOR);
    g_autofree char *node = once_held();
    g_autofree char *below = g_strconcat(node, "/below", NULL);
    ck_assert_int_eq(ts_bench_stranger(node, "", 0, NULL), 0);
    ts_answer *waiter = ts_acquire_async(of_a, 20000);
    ck_assert(ts_wait_children(ts_bench_server(), path, 2, ts_patience(5000)));
    ts_sleep_ms(A_WHILE_MS);
    ck_assert_int_eq(ts_answer_count(waiter), 0);
    ck_assert_int_eq(ts_child_count(ts_bench_server(), path), 2);

    ck_assert_int_eq(ts_delete(ts_bench_server(), node), 0);
    assert_granted(waiter);

    imitate(node); /* no session owns it: it is passed over, and stays */
    imitate(below);
    pdk_hold *held = ts_bench_acquire(of_a, 5000);
    ck_assert_int_eq(pdk_hold_release(held), PDK_OK);
    ck_assert_int_eq(ts_delete(ts_bench_server(), below), 0);
    ck_assert_int_eq(ts_delete(ts_bench_server(), node), 0);
    ck_assert_int_eq(ts_events(a, PDK_SESSION_EXPIRED), 0);
}
END_TEST

/* Nodes in use are not taken for such nodes. */
START_TEST(nodes_in_use_stay) {
    enum { LOCKS = 8 };
    ts_answer *waiters[LOCKS];
    two_locks(PDK_NAMING_CURATOR);
    pdk_hold *held = ts_bench_acquire(of_a, 5000);
    ts_lost *lost = ts_lost_watch(held);

    for (int i = 0; i < LOCKS; i++)
        waiters[i] = ts_acquire_async(ts_lock(a, path), 20000); /* each has a node of its own */
    ck_assert(ts_wait_children(ts_bench_server(), path, 1 + LOCKS, ts_patience(5000)));
    ts_sleep_ms(A_WHILE_MS);
    ck_assert(pdk_hold_is_valid(held));
    ck_assert_int_eq(ts_child_count(ts_bench_server(), path), 1 + LOCKS);
    ck_assert_int_eq(pdk_hold_release(held), PDK_OK);
    for (int i = 0; i < LOCKS; i++)
        assert_granted(waiters[i]);
    ck_assert_int_eq(ts_lost_count(lost), 0);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("undone");
    TCase *tcase = ts_bench_case(suite, "undone");

    tcase_add_loop_test(tcase, a_node_that_is_back_is_removed, 0, 2);
    tcase_add_test(tcase, a_node_that_is_back_ahead_of_a_waiter);
    tcase_add_test(tcase, a_permit_that_is_back_is_removed);
    tcase_add_test(tcase, the_name_alone_does_not_make_it_ours);
    tcase_add_test(tcase, nodes_in_use_stay);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

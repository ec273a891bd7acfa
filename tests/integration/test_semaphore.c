/* What is a semaphore's own: several permits at once, which waiters wake up, what it costs, the list of holders, tokens, and leases that
 * other libraries make. What it shares with other recipes is in test_recipes.c and beside it. */
#include <glib.h>
#include <string.h>

#include "permits.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 6000 };

static ts_client *a, *b;

static void two_sessions(void) {
    a = ts_bench_client(SESSION_MS);
    b = ts_bench_client(SESSION_MS);
}

static const char *server(void) { return ts_bench_server(); }

/* ---- order ---- */

/* A claim takes all its permits or none. While it waits for enough, no claim behind it is granted. When it gives up, those are. */
START_TEST(a_large_claim_is_not_overtaken) {
    const char *path = ts_fresh_path();
    pdk_semaphore_options options = PDK_SEMAPHORE_OPTIONS_INIT;
    options.max_handovers = 0; /* otherwise b's next claim is admitted after b's first */
    pdk_semaphore *semaphore = permits_at(a, path, 4), *theirs = permits_with(b, path, 4, &options);
    pdk_hold *held[] = {permits_take(semaphore, 1), permits_take(semaphore, 2)}, *none = NULL;
    ts_answer *many = permits_async(theirs, 3, 20000);
    permits_await_ahead(many, 0);
    ts_answer *few = permits_async(semaphore, 1, 20000), *local = permits_async(theirs, 1, 20000);

    permits_await_ahead(few, 1);
    permits_await_ahead(local, 1);
    for (int free = 1; free <= 2; free++) {
        ck_assert_int_eq(pdk_semaphore_acquire(permits_at(a, path, 4), 1, 0, &none), PDK_BUSY);
        ts_sleep_ms(200);
        ck_assert_int_eq(ts_answer_count(many) + ts_answer_count(few) + ts_answer_count(local), 0);
        ck_assert_int_eq(permits_taken(path), 4 - free);
        if (free == 1)
            ck_assert_int_eq(pdk_hold_release(held[0]), PDK_OK);
    }
    if (_i == 0) {
        ck_assert_int_eq(pdk_hold_release(held[1]), PDK_OK);
        permits_await_grant(many);
        permits_await_ahead(local, 0);
        ck_assert_int_eq(ts_answer_count(local), 0);
        ck_assert_int_eq(ts_answer_release(many), PDK_OK);
    } else {
        ck_assert_int_eq(pdk_claim_cancel(ts_answer_claim(many)), PDK_OK);
        permits_await_status(many, PDK_CANCELED);
    }
    permits_await_grant(few);
    permits_await_grant(local);
    if (_i > 0)
        ck_assert_int_eq(pdk_hold_release(held[1]), PDK_OK);
}
END_TEST

/* ---- threads in front of one node ---- */

static uint64_t creates(const ts_client *client) { return ts_proxy_count(client->proxy, TS_OP_CREATE2); }

/* The admission is handed from thread to thread. The queue has one node, and the leases have one for each permit. */
START_TEST(threads_share_an_admission) {
    enum { THREADS = 6 };
    const char *path = ts_fresh_path();
    ts_answer *answers[THREADS];

    for (int handing_over = 0; handing_over < 2; handing_over++) {
        pdk_semaphore_options options = PDK_SEMAPHORE_OPTIONS_INIT;

        options.max_handovers = handing_over ? 256 : 0;
        options.max_handover_ms = 60000;
        pdk_semaphore *semaphore = permits_with(a, path, THREADS, &options);
        pdk_hold *all = permits_take(permits_at(b, path, THREADS), THREADS);
        ts_proxy_zero(a->proxy);
        for (int i = 0; i < THREADS; i++) {
            answers[i] = permits_async(semaphore, 1, 20000);
            permits_await_ahead(answers[i], i);
        }
        ck_assert_int_eq(pdk_hold_release(all), PDK_OK);
        for (int i = 0; i < THREADS; i++) {
            permits_await_grant(answers[i]);
            ck_assert(i == 0 || ts_answer_at_ns(answers[i]) > ts_answer_at_ns(answers[i - 1]));
            ck_assert_uint_eq(pdk_hold_handover(ts_answer_hold(answers[i])), 0); /* its lease node is its own */
        }
        ck_assert_uint_eq(creates(a), (handing_over ? 1 : THREADS) + THREADS);
        for (int i = 0; i < THREADS; i++) {
            ck_assert_int_eq(ts_answer_release(answers[i]), PDK_OK);
        }
        permits_assert_none(path);
    }
}
END_TEST

/* ---- which waiters wake up ---- */

/* The holder of all permits and the waiters, each in a session of its own, in this order. */
enum { WAITERS = 6 };

static struct {
    const char *path;
    ts_client *clients[WAITERS];
    ts_answer *waiters[WAITERS];
    pdk_hold *held[2];
} queue;

static void make_queue(void) {
    queue.path = ts_fresh_path();
    for (int i = 0; i < 2; i++) {
        queue.held[i] = permits_take(permits_at(a, queue.path, 2), 1);
    }
    for (int i = 0; i < WAITERS; i++) {
        queue.clients[i] = ts_bench_client(SESSION_MS);
        queue.waiters[i] = permits_async(permits_at(queue.clients[i], queue.path, 2), 1, 30000);
        permits_await_ahead(queue.waiters[i], i);
    }
    ts_sleep_ms(100); /* every watch is set */
}

/* The events and requests of a waiter, without those that keep its session alive. */
static uint64_t disturbances(const ts_client *client) {
    ts_proxy_counters counters;

    ts_proxy_read(client->proxy, &counters);
    return counters.notifications + counters.requests - ts_proxy_count(client->proxy, TS_OP_MULTI);
}

START_TEST(one_release_wakes_only_the_first_waiter) {
    make_queue();
    for (int i = 0; i < WAITERS; i++) {
        ts_proxy_zero(queue.clients[i]->proxy);
    }
    ck_assert_int_eq(pdk_hold_release(queue.held[0]), PDK_OK);
    permits_await_grant(queue.waiters[0]);
    permits_await_ahead(queue.waiters[1], 0);
    ts_sleep_ms(200);
    ck_assert_int_eq(ts_answer_count(queue.waiters[1]), 0);
    ck_assert_uint_eq(creates(queue.clients[0]), 1);
    ck_assert_uint_eq(ts_proxy_count(queue.clients[1]->proxy, TS_OP_GET_CHILDREN), 1); /* the leases */
    ck_assert_uint_eq(creates(queue.clients[1]), 0);
    for (int i = 2; i < WAITERS; i++) {
        ck_assert_msg(disturbances(queue.clients[i]) == 0, "waiter %d was woken", i);
    }
    pdk_hold_release(queue.held[1]);
}
END_TEST

/* The cost of one permit when nobody waits: its admission, a look, its node. A longer hold also watches its own node. */
START_TEST(the_cost_of_a_permit) {
    const char *path = ts_fresh_path();
    pdk_semaphore *semaphore = permits_at(a, path, 2);
    int64_t end = ts_now_ms() + ts_patience(10000), begin, took;

    for (int i = 0; i < 3; i++) { /* makes the directories, and from then on needs no list behind its create */
        pdk_hold_release(permits_take(semaphore, 1));
        ck_assert_int_eq(pdk_session_flush(a->session, 5000), PDK_OK);
    }
    do {
        ts_proxy_zero(a->proxy);
        begin = ts_now_ms();
        pdk_hold_release(permits_take(semaphore, 1));
        took = ts_now_ms() - begin;
        ck_assert_int_eq(pdk_session_flush(a->session, 5000), PDK_OK);
    } while (took > 8 && begin < end);
    ck_assert_uint_eq(creates(a), 2);
    ck_assert_uint_eq(ts_proxy_count(a->proxy, TS_OP_DELETE), 2);
    ck_assert_uint_eq(ts_proxy_count(a->proxy, TS_OP_GET_CHILDREN), 2);
    ck_assert_uint_eq(ts_proxy_count(a->proxy, TS_OP_GET_DATA), 1);
    ck_assert_uint_eq(ts_proxy_count(a->proxy, TS_OP_SET_DATA), 0);
    ts_sleep_ms(100);
    ck_assert_int_eq(ts_watch_count(server()), 1); /* on the queue's directory */
}
END_TEST

/* ---- the list of holders ---- */

static void assert_holder(const pdk_contenders *list, size_t i, const ts_client *client) {
    g_autofree char *name = g_strdup(pdk_contenders_node(list, i));

    ck_assert(g_str_has_prefix(name, "_c_") && strstr(name, "-lease-") != NULL);
    ck_assert_int_eq(pdk_contenders_session(list, i), pdk_session_id(client->session));
    ck_assert_str_eq(pdk_contenders_identity(list, i), pdk_session_identity(client->session));
    ck_assert_int_gt(pdk_contenders_since_ms(list, i), INT64_C(1600000000000));
    ck_assert(!pdk_contenders_is_shared(list, i));
    ck_assert(i == 0 || pdk_contenders_token(list, i) > pdk_contenders_token(list, i - 1));
}

START_TEST(holders_are_listed_by_permit) {
    const char *path = ts_fresh_path();
    pdk_semaphore *semaphore = permits_at(a, path, 4);
    pdk_contenders *list = NULL;

    ck_assert_int_eq(pdk_semaphore_holders(semaphore, 5000, &list), PDK_OK); /* not even the directory exists */
    ck_assert_uint_eq(pdk_contenders_count(list), 0);
    pdk_contenders_free(list);
    pdk_hold *one = permits_take(semaphore, 1), *two = permits_take(permits_at(b, path, 4), 2);
    ts_answer *waiter = permits_async(semaphore, 2, 20000); /* it holds nothing yet */
    permits_await_ahead(waiter, 0);
    ck_assert_int_eq(pdk_semaphore_holders(permits_at(b, path, 4), 5000, &list), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(list), 3);
    ck_assert_int_eq(pdk_contenders_token(list, 0), pdk_hold_token(one));
    ck_assert_int_eq(pdk_contenders_token(list, 1), pdk_hold_token(two));
    assert_holder(list, 0, a);
    assert_holder(list, 1, b);
    assert_holder(list, 2, b);
    pdk_contenders_free(list);
    pdk_hold_release(one);
    permits_await_grant(waiter);
    ck_assert_int_eq(pdk_hold_release(two), PDK_OK);
}
END_TEST

/* ---- tokens ---- */

START_TEST(the_token_is_that_of_its_oldest_node) {
    const char *path = ts_fresh_path();
    pdk_hold *three = permits_take(permits_at(a, path, 5), 3), *one = permits_take(permits_at(b, path, 5), 1);
    g_autofree char *oldest = permits_node(path, "leases", 0), *node = ts_hold_node(three);
    g_autofree char *proof = g_strdup_printf("pdk1 %s permit %" G_GINT64_FORMAT " 0", node, pdk_hold_token(three));
    ts_stat stat;

    ck_assert_str_eq(node, oldest);
    ck_assert_int_eq(ts_exists(server(), oldest, &stat), 0);
    ck_assert_int_eq(pdk_hold_token(three), stat.czxid);
    ck_assert_int_gt(pdk_hold_token(one), pdk_hold_token(three));
    ck_assert_str_eq(pdk_hold_sequencer(three), proof);
    ck_assert_int_eq(pdk_session_check_sequencer(b->session, proof, 5000), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(three), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(a->session, 5000), PDK_OK);
    ck_assert_int_eq(pdk_session_check_sequencer(b->session, proof, 5000), PDK_LOST);
    ck_assert_int_eq(pdk_session_check_sequencer(a->session, pdk_hold_sequencer(one), 5000), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(one), PDK_OK);
}
END_TEST

/* ---- leases of others ---- */

static void take_as_curator(ts_observer *curator, const char *path, int count) {
    g_autofree char *lease = g_strconcat(path, "/leases/_c_6f1ed002-ab5f-11ee-a506-0242ac120002-lease-", NULL);

    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(ts_observer_create(curator, lease, "127.0.0.1", TS_EPHEMERAL | TS_SEQUENTIAL, NULL), 0);
    }
}

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
    Suite *suite = suite_create("semaphore");
    TCase *tcase = ts_bench_case(suite, "semaphore");

    tcase_add_checked_fixture(tcase, two_sessions, NULL);
    tcase_add_loop_test(tcase, a_large_claim_is_not_overtaken, 0, 2);
    tcase_add_test(tcase, threads_share_an_admission);
    tcase_add_test(tcase, one_release_wakes_only_the_first_waiter);
    tcase_add_test(tcase, the_cost_of_a_permit);
    tcase_add_test(tcase, holders_are_listed_by_permit);
    tcase_add_test(tcase, the_token_is_that_of_its_oldest_node);
    tcase_add_loop_test(tcase, another_client_takes_out_of_order, 0, 3);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

/* What is a semaphore's own: how many permits, several at once, which waiters wake up, positions, the list of holders, and that permits
 * which were taken at once are one hold. What it shares with other recipes is in test_recipes.c and beside it. */
#include <glib.h>
#include <string.h>

#include "permits.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 6000, SCHEDULING_MS = 250, HAS = 5, TAKES = 3 };

static ts_client *a, *b;

static void two_sessions(void) {
    a = ts_bench_client(SESSION_MS);
    b = ts_bench_client(SESSION_MS);
}

static const char *server(void) { return ts_bench_server(); }

/* ---- limit and objects ---- */

/* Two semaphore objects of one session count the same permits. A thread may hold several of them. */
START_TEST(one_thread_and_two_objects) {
    const char *path = ts_fresh_path();
    pdk_semaphore *one = permits_at(a, path, 3), *two = permits_at(a, path, 3);
    pdk_hold *holds[3] = {permits_take(one, 1), permits_take(one, 1), permits_take(two, 1)}, *more = NULL;

    ck_assert_int_eq(pdk_semaphore_acquire(one, 1, 200, &more), PDK_TIMEOUT);
    ck_assert_int_eq(pdk_semaphore_acquire(two, 1, 200, &more), PDK_TIMEOUT);
    ck_assert_ptr_null(more);
    for (int i = 0; i < 3; i++) {
        ck_assert(pdk_hold_is_valid(holds[i]));
        ck_assert_int_eq(pdk_hold_release(holds[i]), PDK_OK);
    }
    permits_assert_none(path);
}
END_TEST

START_TEST(a_hundred_at_once) {
    const char *path = ts_fresh_path();
    pdk_semaphore *all = permits_at(a, path, PDK_SEMAPHORE_COUNT_MAX + 1);
    pdk_hold *hold = permits_take(all, PDK_SEMAPHORE_COUNT_MAX), *one = NULL, *none = NULL;

    ck_assert_int_eq(permits_taken(path), PDK_SEMAPHORE_COUNT_MAX);
    ck_assert_int_eq(pdk_session_flush(a->session, 5000), PDK_OK); /* out of the queue, where its node would be ahead */
    ck_assert_int_eq(pdk_semaphore_acquire(permits_at(b, path, PDK_SEMAPHORE_COUNT_MAX + 1), 1, 0, &one), PDK_OK);
    ck_assert_int_eq(pdk_semaphore_acquire(permits_at(b, path, PDK_SEMAPHORE_COUNT_MAX + 1), 1, 0, &none), PDK_BUSY);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(a->session, 5000), PDK_OK);
    ck_assert_int_eq(permits_taken(path), 1);
    pdk_hold_release(one);
    permits_assert_none(path);
}
END_TEST

/* ---- order ---- */

/* A claim takes all its permits or none. While it waits for enough, no claim behind it is granted. */
START_TEST(a_large_claim_is_not_overtaken) {
    const char *path = ts_fresh_path();
    pdk_semaphore_options options = PDK_SEMAPHORE_OPTIONS_INIT;
    options.max_handovers = 0; /* otherwise b's next claim is admitted after b's first */
    pdk_semaphore *semaphore = permits_at(a, path, 4), *theirs = permits_with(b, path, 4, &options);
    pdk_hold *first = permits_take(semaphore, 1), *second = permits_take(semaphore, 2), *none = NULL;
    ts_answer *many = permits_async(theirs, 3, 20000);
    permits_await_ahead(many, 0);
    ts_answer *few = permits_async(semaphore, 1, 20000), *local = permits_async(theirs, 1, 20000);

    permits_await_ahead(few, 1);
    permits_await_ahead(local, 1);
    ck_assert_int_eq(pdk_semaphore_acquire(permits_at(a, path, 4), 1, 0, &none), PDK_BUSY); /* one is free */
    ts_sleep_ms(200);
    ck_assert_int_eq(ts_answer_count(many) + ts_answer_count(few) + ts_answer_count(local), 0);
    ck_assert_int_eq(permits_taken(path), 3);
    ck_assert_int_eq(pdk_hold_release(first), PDK_OK); /* two are free */
    ts_sleep_ms(200);
    ck_assert_int_eq(ts_answer_count(many) + ts_answer_count(few) + ts_answer_count(local), 0);
    ck_assert_int_eq(permits_taken(path), 2);
    ck_assert_int_eq(pdk_hold_release(second), PDK_OK);
    permits_await_grant(many);
    permits_await_grant(few);
    permits_await_ahead(local, 0);
    ck_assert_int_eq(permits_taken(path), 4);
    ck_assert_int_eq(ts_answer_count(local), 0);
    ck_assert_int_eq(ts_answer_release(many), PDK_OK);
    permits_await_grant(local);
    ck_assert(pdk_hold_is_valid(ts_answer_hold(few)));
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

/* Waits until one of the two is granted. Returns whether it is the first. */
static bool is_granted_before(ts_answer *one, ts_answer *other) {
    const int64_t end = ts_now_ms() + ts_patience(5000);

    while (ts_answer_count(one) == 0 && ts_answer_count(other) == 0) {
        ck_assert_int_lt(ts_now_ms(), end);
        ts_sleep_ms(1);
    }
    return ts_answer_count(one) > 0;
}

/* Another session is admitted after a bounded number of admissions of ours. */
START_TEST(an_admission_is_handed_over_a_bounded_number_of_times) {
    enum { LOCAL = 8, HANDOVERS = 2 };
    pdk_semaphore_options options = PDK_SEMAPHORE_OPTIONS_INIT;
    const char *path = ts_fresh_path();
    ts_answer *local[LOCAL];
    int before = 0;

    options.max_handovers = HANDOVERS;
    options.max_handover_ms = 60000;
    pdk_semaphore *semaphore = permits_with(a, path, 1, &options);
    pdk_hold *hold = permits_take(permits_at(b, path, 1), 1);
    for (int i = 0; i < LOCAL; i++) {
        local[i] = permits_async(semaphore, 1, 20000);
        permits_await_ahead(local[i], i);
    }
    ts_answer *other = permits_async(permits_at(b, path, 1), 1, 20000);
    permits_await_ahead(other, 1);
    pdk_hold_release(hold);
    while (is_granted_before(local[before], other)) {
        ck_assert_int_eq(ts_answer_release(local[before++]), PDK_OK);
        ck_assert_int_lt(before, LOCAL);
    }
    ck_assert_int_eq(before, 1 + HANDOVERS);
    permits_await_grant(other);
    ck_assert_int_eq(ts_answer_release(other), PDK_OK);
    for (; before < LOCAL; before++) {
        permits_await_grant(local[before]);
        ck_assert_int_eq(ts_answer_release(local[before]), PDK_OK);
    }
    permits_assert_none(path);
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

/* The number of watches on children. The four-letter words that list paths know only watches on nodes. */
static int64_t watched_directories(void) {
    g_autofree char *wchs = ts_fourletter(server(), "wchs");
    const char *total = strstr(wchs, "Total watches:");

    ck_assert_ptr_nonnull(total);
    return ts_watch_count(server()) - g_ascii_strtoll(total + strlen("Total watches:"), NULL, 10);
}

/* The first in the queue watches the leases. Each other watches the node ahead of it. */
START_TEST(each_watches_one_thing) {
    make_queue();
    g_autofree char *wchp = ts_fourletter(server(), "wchp");

    ck_assert_int_eq(watched_directories(), 1);
    for (unsigned i = 0; i < WAITERS; i++) {
        g_autofree char *node = permits_node(queue.path, "locks", i);
        ck_assert_msg((strstr(wchp, node) != NULL) == (i + 1 < WAITERS), "%s:\n%s", node, wchp);
    }
    ck_assert_int_eq(pdk_claim_cancel(ts_answer_claim(queue.waiters[0])), PDK_OK);
    permits_await_ahead(queue.waiters[1], 0);
    ts_sleep_ms(100);
    ck_assert_int_eq(watched_directories(), 2); /* each that gave up leaves a watch, until the directory changes */
    pdk_hold_release(queue.held[0]);
    pdk_hold_release(queue.held[1]);
}
END_TEST

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
    ck_assert_uint_eq(ts_proxy_count(queue.clients[1]->proxy, TS_OP_GET_CHILDREN), 2); /* the queue, and the leases */
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

    pdk_hold_release(permits_take(semaphore, 1)); /* makes the directories */
    ck_assert_int_eq(pdk_session_flush(a->session, 5000), PDK_OK);
    do {
        ts_proxy_zero(a->proxy);
        begin = ts_now_ms();
        pdk_hold_release(permits_take(semaphore, 1));
        took = ts_now_ms() - begin;
        ck_assert_int_eq(pdk_session_flush(a->session, 5000), PDK_OK);
    } while (took > 8 && begin < end);
    ck_assert_uint_eq(creates(a), 2);
    ck_assert_uint_eq(ts_proxy_count(a->proxy, TS_OP_DELETE), 2);
    ck_assert_uint_eq(ts_proxy_count(a->proxy, TS_OP_GET_CHILDREN), 3);
    ck_assert_uint_eq(ts_proxy_count(a->proxy, TS_OP_GET_DATA), 1);
    ck_assert_uint_eq(ts_proxy_count(a->proxy, TS_OP_SET_DATA), 0);
    ts_sleep_ms(100);
    ck_assert_int_eq(ts_watch_count(server()), 0);
}
END_TEST

/* ---- tries ---- */

START_TEST(a_try_takes_what_is_free) {
    const char *path = ts_fresh_path();
    pdk_hold *one = NULL, *two = NULL, *none = NULL;

    ck_assert_int_eq(pdk_semaphore_acquire(permits_at(a, path, 3), 1, 0, &one), PDK_OK); /* makes the directories */
    ck_assert_int_eq(pdk_session_flush(a->session, 5000), PDK_OK); /* out of the queue, where its node would be ahead */
    ck_assert_int_eq(pdk_semaphore_acquire(permits_at(b, path, 3), 2, 0, &two), PDK_OK);
    ck_assert(pdk_hold_is_valid(one) && pdk_hold_is_valid(two));
    ck_assert_int_eq(pdk_semaphore_acquire(permits_at(a, path, 3), 1, 0, &none), PDK_BUSY);
    ck_assert_ptr_null(none);
    ck_assert_int_eq(permits_taken(path), 3);
    ck_assert_int_eq(pdk_hold_release(two), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(b->session, 5000), PDK_OK);
    ck_assert_int_eq(pdk_semaphore_acquire(permits_at(a, path, 3), 3, 0, &none), PDK_BUSY); /* two are free */
    ck_assert_int_eq(pdk_semaphore_acquire(permits_at(a, path, 3), 2, 0, &two), PDK_OK);
    pdk_hold_release(one);
    pdk_hold_release(two);
    permits_assert_none(path);
}
END_TEST

/* BUSY at once: for too few permits, and for a claim ahead, blocking or not. Nothing is left, not even a watch. */
START_TEST(a_try_tells_busy_at_once_and_leaves_nothing) {
    const char *path = ts_fresh_path();
    pdk_hold *held = permits_take(permits_at(a, path, 2), 1), *none = NULL;
    pdk_semaphore *semaphore = permits_at(b, path, 2);
    const int64_t before = ts_now_ms();

    ts_sleep_ms(100);
    const int64_t watches = ts_watch_count(server());
    ck_assert_int_eq(pdk_semaphore_acquire(semaphore, 2, 0, &none), PDK_BUSY);
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "too few"));
    permits_await_status(permits_async(semaphore, 2, 0), PDK_BUSY);
    ck_assert_int_lt(ts_now_ms() - before, ts_patience(1000));
    ck_assert(permits_wait_queued(path, 0));
    ck_assert_int_eq(permits_taken(path), 1);
    ck_assert_int_eq(ts_watch_count(server()), watches);
    ts_answer *waiter = permits_async(semaphore, 2, 20000);
    permits_await_ahead(waiter, 0);
    ck_assert_int_eq(pdk_semaphore_acquire(permits_at(a, path, 2), 1, 0, &none),
                     PDK_BUSY); /* one is free, but a claim is ahead */
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "somebody is ahead"));
    ck_assert_int_eq(pdk_semaphore_acquire(semaphore, 1, 0, &none), PDK_BUSY);
    ck_assert_ptr_null(none);
    ck_assert(permits_wait_queued(path, 1));
    ck_assert_int_eq(pdk_hold_release(held), PDK_OK);
    permits_await_grant(waiter);
}
END_TEST

/* ---- deadlines ---- */

/* The first in the queue gives up. The next one is admitted, with the permits that are free. */
START_TEST(a_large_claim_that_times_out_makes_room) {
    const char *path = ts_fresh_path();
    pdk_semaphore *semaphore = permits_at(b, path, 3);
    pdk_hold *held = permits_take(permits_at(a, path, 3), 1);
    ts_answer *many = permits_async(semaphore, 3, _i == 0 ? 400 : 20000);
    permits_await_ahead(many, 0);
    ts_answer *local = permits_async(semaphore, 1, 20000), *other = permits_async(permits_at(a, path, 3), 1, 20000);

    permits_await_ahead(local, 1);
    permits_await_ahead(other, 1);
    if (_i == 1) {
        ck_assert_int_eq(pdk_claim_cancel(ts_answer_claim(many)), PDK_OK);
        ck_assert_int_eq(pdk_claim_cancel(ts_answer_claim(many)), PDK_NOT_HELD);
    }
    permits_await_status(many, _i == 0 ? PDK_TIMEOUT : PDK_CANCELED);
    permits_await_grant(local);
    permits_await_grant(other);
    ck_assert_int_eq(permits_taken(path), 3);
    ck_assert_int_eq(pdk_hold_release(held), PDK_OK);
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
    ts_proxy_set_mode(b->proxy, TS_BLACKHOLE);
    list = NULL;
    const int64_t before = ts_now_ms();
    ck_assert_int_eq(pdk_semaphore_holders(permits_at(b, path, 4), 200, &list), PDK_UNAVAILABLE);
    ck_assert_int_le(ts_now_ms() - before, 200 + ts_patience(SCHEDULING_MS));
    ck_assert_ptr_null(list);
    ts_proxy_heal(b->proxy);
    pdk_hold_release(one);
    permits_await_grant(waiter);
    ck_assert_int_eq(pdk_hold_release(two), PDK_OK);
}
END_TEST

/* A hold of three permits out of five, and the witness of its loss. */
static struct {
    const char *path;
    ts_client *client, *other;
    pdk_semaphore *semaphore;
    pdk_hold *hold;
    ts_lost *lost;
} it;

static void acquire_it(void) {
    it.path = ts_fresh_path();
    it.client = ts_bench_client(SESSION_MS);
    it.other = ts_bench_client(SESSION_MS);
    it.semaphore = permits_at(it.client, it.path, HAS);
    it.hold = permits_take(it.semaphore, TAKES);
    it.lost = ts_lost_watch(it.hold);
    ck_assert_ptr_nonnull(it.lost);
    ck_assert_int_eq(permits_taken(it.path), TAKES);
}

/* The whole hold is lost within that time, once, for that reason. */
static void assert_lost(pdk_reason reason, int64_t within_ms) {
    ck_assert_msg(ts_fd_readable(pdk_hold_fd(it.hold), within_ms), "the descriptor is not readable in time");
    ck_assert(!pdk_hold_is_valid(it.hold));
    ck_assert_msg(ts_lost_wait(it.lost, ts_patience(SCHEDULING_MS)), "no LOST callback");
    ck_assert_str_eq(pdk_reason_name(ts_lost_reason(it.lost)), pdk_reason_name(reason));
    ck_assert_str_eq(pdk_reason_name(pdk_hold_reason(it.hold)), pdk_reason_name(reason));
    ck_assert_int_eq(pdk_hold_remaining_ms(it.hold), 0);
    ts_sleep_ms(150);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_LOST);
    ck_assert(ts_lost_wait_freed(it.lost, ts_patience(SCHEDULING_MS)));
    ck_assert_int_eq(ts_lost_count(it.lost), 1);
}

/* ---- tokens ---- */

START_TEST(the_token_is_that_of_its_oldest_node) {
    acquire_it();
    pdk_hold *one = permits_take(permits_at(it.other, it.path, HAS), 1);
    g_autofree char *oldest = permits_node(it.path, "leases", 0), *last = permits_node(it.path, "leases", TAKES);
    g_autofree char *node = ts_hold_node(it.hold), *theirs = ts_hold_node(one);
    g_autofree char *expected = g_strdup_printf("pdk1 %s permit %" G_GINT64_FORMAT " 0", node, pdk_hold_token(it.hold));
    ts_stat stat;

    ck_assert_str_eq(node, oldest);
    ck_assert_str_eq(theirs, last);
    ck_assert_int_eq(ts_exists(server(), oldest, &stat), 0);
    ck_assert_int_eq(pdk_hold_token(it.hold), stat.czxid);
    ck_assert_int_eq(pdk_session_id(it.client->session), stat.ephemeral_owner);
    ck_assert_int_gt(pdk_hold_token(one), pdk_hold_token(it.hold));
    ck_assert_str_eq(pdk_hold_sequencer(it.hold), expected);
    ck_assert_int_eq(pdk_session_check_sequencer(it.other->session, expected, 5000), PDK_OK);
    ck_assert_int_eq(pdk_session_check_sequencer(it.client->session, pdk_hold_sequencer(one), 5000), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(it.client->session, 5000), PDK_OK);
    ck_assert_int_eq(pdk_session_check_sequencer(it.other->session, expected, 5000), PDK_LOST);
    ck_assert_int_eq(pdk_session_check_sequencer(it.client->session, pdk_hold_sequencer(one), 5000), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(one), PDK_OK);
}
END_TEST

START_TEST(a_release_gives_back_all_of_it) {
    acquire_it();
    ts_answer *waiter = permits_async(permits_at(it.other, it.path, HAS), HAS, 20000);
    permits_await_ahead(waiter, 0);
    ck_assert_ptr_eq(pdk_hold_ref(it.hold), it.hold);
    ts_proxy_zero(it.client->proxy);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
    ck_assert(!pdk_hold_is_valid(it.hold));
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_NOT_HELD);
    permits_await_grant(waiter);
    ck_assert_int_eq(pdk_session_flush(it.client->session, 5000), PDK_OK);
    ck_assert_uint_eq(ts_proxy_count(it.client->proxy, TS_OP_DELETE), TAKES);
    ck_assert_int_eq(permits_taken(it.path), HAS);
    ck_assert_int_eq(ts_lost_count(it.lost), 0);
}
END_TEST

/* ---- losses ---- */

/* One of its nodes is deleted, and the whole hold is lost. Its other permits are given back, and free permits stay
 * free. */
START_TEST(one_node_is_deleted) {
    acquire_it();
    pdk_hold *bystander = permits_take(permits_at(it.client, it.path, HAS), 1);
    ts_answer *waiter = permits_async(permits_at(it.other, it.path, HAS), 4, 20000);
    g_autofree char *node = permits_node(it.path, "leases", (unsigned)_i);

    permits_await_ahead(waiter, 0);
    ck_assert(pdk_hold_is_valid(it.hold));
    ck_assert_int_eq(ts_delete(server(), node), 0);
    assert_lost(PDK_REASON_NODE_GONE, ts_patience(1500));
    permits_await_grant(waiter);
    ck_assert_int_eq(permits_taken(it.path), HAS);
    ck_assert(pdk_hold_is_valid(bystander));
    ck_assert_int_eq(ts_events(it.client, PDK_SESSION_EXPIRED), 0);
    pdk_hold_release(bystander);
    ck_assert_int_eq(ts_answer_release(waiter), PDK_OK);
    permits_assert_none(it.path);
}
END_TEST

START_TEST(all_nodes_are_deleted) {
    acquire_it();
    for (int i = 0; i < TAKES; i++) {
        g_autofree char *node = permits_node(it.path, "leases", 0);
        ck_assert(node == NULL || ts_delete(server(), node) != -4);
    }
    assert_lost(PDK_REASON_NODE_GONE, ts_patience(1500));
    pdk_hold *hold = permits_take(it.semaphore, HAS);
    ck_assert_int_eq(permits_taken(it.path), HAS);
    pdk_hold_release(hold);
    permits_assert_none(it.path);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("semaphore");
    TCase *tcase = ts_bench_case(suite, "semaphore");

    tcase_add_checked_fixture(tcase, two_sessions, NULL);
    tcase_add_test(tcase, one_thread_and_two_objects);
    tcase_add_test(tcase, a_hundred_at_once);
    tcase_add_test(tcase, a_large_claim_is_not_overtaken);
    tcase_add_test(tcase, threads_share_an_admission);
    tcase_add_test(tcase, an_admission_is_handed_over_a_bounded_number_of_times);
    tcase_add_test(tcase, each_watches_one_thing);
    tcase_add_test(tcase, one_release_wakes_only_the_first_waiter);
    tcase_add_test(tcase, the_cost_of_a_permit);
    tcase_add_test(tcase, a_try_takes_what_is_free);
    tcase_add_test(tcase, a_try_tells_busy_at_once_and_leaves_nothing);
    tcase_add_loop_test(tcase, a_large_claim_that_times_out_makes_room, 0, 2);
    tcase_add_test(tcase, holders_are_listed_by_permit);
    tcase_add_test(tcase, the_token_is_that_of_its_oldest_node);
    tcase_add_test(tcase, a_release_gives_back_all_of_it);
    tcase_add_loop_test(tcase, one_node_is_deleted, 0, TAKES);
    tcase_add_test(tcase, all_nodes_are_deleted);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

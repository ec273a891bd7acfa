/* Claims that wait, of each recipe: what wakes them, how they end, and that nothing of them is left. */
#include <glib.h>
#include <pthread.h>

#include "recipes.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 4000, PATIENCE_MS = 5000, DEADLINE_MS = 300, SCHEDULING_MS = 250 };

/* The second client waits for what the first one has. */
static struct pair it;
static ts_answer *obstacle;
static int ahead; /* nodes of the obstacle */

static void begin(int i) {
    pair_begin(&it, recipe_of(i), SESSION_MS);
    obstacle = pair_obstruct(&it, 0);
    ahead = recipe_nodes(it.path);
}

/* The obstacle is as it was, the claim has left nothing, and the next one is granted when the obstacle has gone. */
static void finish(void) {
    recipe_await_nodes(it.r, it.path, ahead);
    assert_recipe(it.r, ts_answer_is_valid(obstacle));
    pair_admit(&it, 0, obstacle);
    pair_release(&it, 1, recipe_take(it.r, it.object[1]));
    recipe_await_nodes(it.r, it.path, 0);
}

static bool blocks(int i) { return i >= RECIPES; }

/* A claim that waits, blocking or not. */
static ts_answer *wait_for(int i, int64_t timeout_ms) {
    return blocks(i) ? recipe_thread(it.r, it.object[1], timeout_ms) : recipe_async(it.r, it.object[1], timeout_ms);
}

/* ---- deadlines */

/* Long enough to reach the queue. */
static int64_t deadline(void) { return ts_patience(DEADLINE_MS); }

static void assert_in_time(ts_answer *answer, int64_t began, pdk_status status) {
    pair_expect(&it, answer, status);
    const int64_t took = ts_answer_at_ns(answer) / 1000000 - began;
    ck_assert_msg(took >= deadline(), "%s: after %d ms", it.r->name, (int)took);
    ck_assert_msg(took <= deadline() + ts_patience(SCHEDULING_MS), "%s: after %d ms", it.r->name, (int)took);
}

START_TEST(in_the_queue_the_deadline_is_kept) {
    begin(_i);
    const int64_t began = ts_now_ms();
    assert_in_time(wait_for(_i, deadline()), began, PDK_TIMEOUT);
    finish();
}
END_TEST

/* Behind a claim of its own object, where that may share a node with it; and one that is cancelled there. */
START_TEST(behind_a_claim_of_its_own) {
    begin(_i);
    ts_answer *first = pair_waits(&it, 1, ahead);
    const int64_t began = ts_now_ms();
    assert_in_time(recipe_thread(it.r, it.object[1], deadline()), began, PDK_TIMEOUT);
    if (recipe_is_async(it.r)) {
        ts_answer *cancelled = recipe_async(it.r, it.object[1], PDK_FOREVER);
        assert_recipe(it.r, ts_answer_cancel(cancelled) == PDK_OK);
        pair_expect(&it, cancelled, PDK_CANCELED);
    }
    assert_recipe(it.r, ts_answer_count(first) == 0);
    recipe_await_nodes(it.r, it.path, ahead + it.r->waiting);
    pair_admit(&it, 0, obstacle);
    pair_expect(&it, first, PDK_OK);
    pair_release(&it, 1, first);
    recipe_await_nodes(it.r, it.path, 0);
}
END_TEST

/* ---- ends */

START_TEST(a_cancelled_claim) {
    int32_t position = -1;
    begin(_i);
    if (!recipe_is_async(it.r))
        return;
    ts_answer *answer = pair_waits(&it, 1, ahead);
    assert_recipe(it.r, ts_answer_position(answer, &position) == PDK_OK && position <= 1);
    assert_recipe(it.r, ts_answer_cancel(answer) == PDK_OK);
    pair_expect(&it, answer, PDK_CANCELED);
    assert_recipe(it.r, ts_answer_cancel(answer) == PDK_NOT_HELD);
    assert_recipe(it.r, ts_answer_position(answer, &position) == PDK_NOT_HELD);
    finish();
    assert_recipe(it.r, ts_answer_count(answer) == 1);
}
END_TEST

static void *claim_main(void *unused) {
    (void)unused;
    recipe_now(it.r, it.object[1], PDK_FOREVER);
    return NULL;
}

/* While it waits, and before. */
START_TEST(a_cancelled_thread) {
    begin(_i);
    for (int pending = 0; pending < 2; pending++) {
        pthread_t thread;
        void *result = NULL;
        ck_assert_int_eq(pthread_create(&thread, NULL, claim_main, NULL), 0);
        if (!pending)
            recipe_await_nodes(it.r, it.path, ahead + it.r->waiting);
        ck_assert_int_eq(pthread_cancel(thread), 0);
        ck_assert_int_eq(pthread_join(thread, &result), 0);
        ck_assert_ptr_eq(result, PTHREAD_CANCELED);
        recipe_await_nodes(it.r, it.path, ahead);
    }
    finish();
}
END_TEST

static void *take_again_and_again(void *unused) {
    (void)unused;
    for (;;) {
        ts_answer *held = recipe_now(it.r, it.object[1], PATIENCE_MS);
        if (ts_answer_holds(held))
            recipe_release(it.r, it.object[1], held);
        pthread_testcancel();
    }
    return NULL;
}

START_TEST(a_thread_is_cancelled_at_any_moment) {
    enum { TIMES = 75 };
    pair_begin(&it, recipe_of(_i), SESSION_MS);
    for (int n = 0; n < TIMES; n++) {
        pthread_t thread;
        void *result = NULL;
        ck_assert_int_eq(pthread_create(&thread, NULL, take_again_and_again, NULL), 0);
        g_usleep((gulong)g_random_int_range(0, 3000));
        ck_assert_int_eq(pthread_cancel(thread), 0);
        ck_assert_int_eq(pthread_join(thread, &result), 0);
        ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    }
    pair_release(&it, 1, recipe_take(it.r, it.object[1]));
    recipe_await_nodes(it.r, it.path, 0);
}
END_TEST

/* ---- interrupts */

static pdk_interrupt *interrupt;

static void drop_interrupt(void *what) { pdk_interrupt_unref(what); }

static void begin_with_interrupt(int i) {
    begin(i);
    ck_assert_int_eq(pdk_interrupt_new(&interrupt), PDK_OK);
    ts_paddock_keep(interrupt, drop_interrupt);
}

static void *interrupted_main(void *unused) {
    (void)unused;
    if (pdk_interrupt_attach(interrupt) != PDK_OK)
        return NULL;
    ts_answer *answer = recipe_now(it.r, it.object[1], PDK_FOREVER);
    pdk_interrupt_detach();
    return answer;
}

START_TEST(an_interrupted_thread) {
    pthread_t thread;
    void *answer = NULL;
    begin_with_interrupt(_i);
    ck_assert_int_eq(pthread_create(&thread, NULL, interrupted_main, NULL), 0);
    recipe_await_nodes(it.r, it.path, ahead + it.r->waiting);
    pdk_interrupt_raise(interrupt);
    pthread_join(thread, &answer);
    ck_assert_ptr_nonnull(answer);
    pair_expect(&it, answer, PDK_CANCELED);
    finish();
}
END_TEST

/* It stays raised until it is cleared, and a claim under it asks nothing of a server. */
START_TEST(interrupted_before) {
    begin_with_interrupt(_i);
    pair_expect(&it, recipe_now(it.r, it.object[1], 0), PDK_BUSY); /* what the recipe asks once is known */
    pair_flush(&it, 1);
    ck_assert_int_eq(pdk_interrupt_attach(interrupt), PDK_OK);
    pdk_interrupt_raise(interrupt);
    ts_proxy_zero(it.client[1]->proxy);
    for (int i = 0; i < 4; i++)
        pair_expect(&it, recipe_now(it.r, it.object[1], i % 2 ? 0 : PDK_FOREVER), PDK_CANCELED);
    ck_assert_uint_eq(ts_proxy_count(it.client[1]->proxy, TS_OP_CREATE2), 0);
    pdk_interrupt_clear(interrupt);
    pair_expect(&it, recipe_now(it.r, it.object[1], 0), PDK_BUSY);
    pdk_interrupt_detach();
    finish();
}
END_TEST

/* ---- one leaves the middle of the queue */

static void leave_by_cancel(ts_client *client, ts_answer *answer) {
    if (recipe_is_async(it.r)) {
        assert_recipe(it.r, ts_answer_cancel(answer) == PDK_OK);
    } else {
        pdk_session_close(client->session, PATIENCE_MS);
    }
}

static void leave_by_close(ts_client *client, ts_answer *answer) {
    (void)answer;
    pdk_session_close(client->session, PATIENCE_MS);
}

static void leave_by_expiry(ts_client *client, ts_answer *answer) {
    ts_session_key key;
    (void)answer;
    ts_proxy_set_mode(client->proxy, TS_CUT);
    ck_assert(ts_proxy_last_session(client->proxy, &key));
    ck_assert_int_eq(ts_expire_session(ts_bench_server(), &key), 0);
}

static void leave_by_deletion(ts_client *client, ts_answer *answer) {
    g_autoptr(GPtrArray) nodes = recipe_nodes_of(client, it.path);
    (void)answer;
    ts_proxy_set_mode(client->proxy, TS_CUT);
    for (guint i = 0; i < nodes->len; i++)
        ck_assert_int_eq(ts_delete(ts_bench_server(), nodes->pdata[i]), 0);
}

static void (*const ways[])(ts_client *client, ts_answer *answer) = {leave_by_cancel, leave_by_close, leave_by_expiry,
                                                                     leave_by_deletion};
enum { WAYS = G_N_ELEMENTS(ways) };

START_TEST(the_middle_of_the_queue_leaves) {
    begin(_i);
    ts_client *middle = ts_bench_client(SESSION_MS);
    ts_answer *leaves = recipe_async(it.r, recipe_at(it.r, middle, it.path), PDK_FOREVER);
    recipe_await_waits(it.r, leaves, it.path, ahead);
    ts_answer *last = recipe_async(it.r, it.object[1], PDK_FOREVER);
    recipe_await_nodes(it.r, it.path, ahead + it.r->waiting + 1);
    ways[_i / RECIPES](middle, leaves);
    recipe_await_waits(it.r, last, it.path, ahead);
    pair_assert_waits(&it, last, 50);
    assert_recipe(it.r, ts_answer_is_valid(obstacle));
    pair_admit(&it, 0, obstacle);
    pair_expect(&it, last, PDK_OK);
}
END_TEST

/* An administrator deletes its nodes, also of what it has taken on its way: it queues again, and is granted in its turn. */
START_TEST(a_waiter_whose_nodes_are_deleted) {
    begin(_i);
    ts_answer *waiter = pair_waits(&it, 1, ahead);
    g_autoptr(GPtrArray) nodes = recipe_nodes_of(it.client[1], it.path);
    ck_assert_uint_gt(nodes->len, 0);
    for (guint i = 0; i < nodes->len; i++) { /* it may have given up the later ones itself */
        const int rc = ts_delete(ts_bench_server(), nodes->pdata[i]);
        ck_assert(rc == 0 || (i > 0 && rc == -101));
    }
    pair_assert_waits(&it, waiter, 50);
    assert_recipe(it.r, ts_answer_is_valid(obstacle));
    pair_admit(&it, 0, obstacle);
    pair_expect(&it, waiter, PDK_OK);
    pair_release(&it, 1, waiter);
    recipe_await_nodes(it.r, it.path, 0);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("recipes_waiting");
    recipes_each(suite, in_the_queue_the_deadline_is_kept, 2);
    recipes_each(suite, behind_a_claim_of_its_own, 1);
    recipes_each(suite, a_cancelled_claim, 1);
    recipes_each(suite, a_cancelled_thread, 1);
    recipes_each(suite, a_thread_is_cancelled_at_any_moment, 1);
    recipes_each(suite, an_interrupted_thread, 1);
    recipes_each(suite, interrupted_before, 1);
    recipes_each(suite, the_middle_of_the_queue_leaves, WAYS);
    recipes_each(suite, a_waiter_whose_nodes_are_deleted, 1);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

/* What every right is between sessions and between threads, for each recipe: how many hold it, in which order, and what a try, a
 * further claim of the same thread and the end of an object are told. */
#include <glib.h>
#include <pthread.h>

#include "recipes.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 6000, PATIENCE_MS = 5000, SHORT_MS = 200, REQUEST_MS = 200, SCHEDULING_MS = 250 };

static struct pair it;

static void begin(int i) { pair_begin(&it, recipe_of(i), SESSION_MS); }

/* ---- how many, and in which order */

START_TEST(held_and_given_back) {
    begin(_i);
    int64_t last = 0;
    for (int i = 0; i < 4; i++) {
        ts_answer *held = recipe_take(it.r, it.object[i % 2]);
        assert_recipe(it.r, ts_answer_remaining_ms(held) > 0 && ts_answer_remaining_ms(held) <= SESSION_MS);
        assert_recipe(it.r, ts_answer_reason(held) == PDK_REASON_NONE);
        assert_recipe(it.r, ts_answer_token(held) > last);
        last = ts_answer_token(held);
        recipe_await_nodes(it.r, it.path, it.r->held);
        pair_release(&it, i % 2, held);
        pair_flush(&it, i % 2);
        ck_assert_int_eq(recipe_nodes(it.path), 0);
    }
}
END_TEST

START_TEST(as_many_hold_it_as_may) {
    begin(_i);
    const int most = MIN(it.r->shares, 4);
    ts_answer *held[4];
    for (int i = 0; i < most; i++) { /* of this session and the other, blocking or not */
        void *object = recipe_at(it.r, it.client[i % 2], it.path);
        held[i] = i % 4 < 2 ? recipe_thread(it.r, object, PATIENCE_MS) : recipe_async(it.r, object, PATIENCE_MS);
        pair_expect(&it, held[i], PDK_OK);
        recipe_await_nodes(it.r, it.path, (i + 1) * it.r->held);
    }
    ts_answer *more = recipe_async(it.r, it.object[1], 20000);
    if (it.r->shares > most) {
        pair_expect(&it, more, PDK_OK);
    } else {
        pair_assert_waits(&it, more, SHORT_MS);
    }
    for (int i = 0; i < most; i++) {
        assert_recipe(it.r, ts_answer_is_valid(held[i]));
        pair_release(&it, 0, held[i]);
        pair_expect(&it, more, PDK_OK);
    }
    pair_release(&it, 1, more);
    recipe_await_nodes(it.r, it.path, 0);
}
END_TEST

/* Two objects of one session are two contenders, as two sessions are. */
START_TEST(objects_of_one_session_exclude_each_other) {
    begin(_i);
    ts_answer *obstacle = pair_obstruct(&it, 0);
    pair_expect(&it, recipe_now(it.r, it.object[0], 0), PDK_BUSY);
    ts_answer *waits = recipe_thread(it.r, it.object[0], 20000);
    pair_assert_waits(&it, waits, SHORT_MS);
    assert_recipe(it.r, ts_answer_is_valid(obstacle));
    pair_admit(&it, 0, obstacle);
    pair_expect(&it, waits, PDK_OK);
}
END_TEST

/* The first in the queue is granted first, whatever session or call it used. */
START_TEST(granted_in_order_of_arrival) {
    enum { WAITERS = 6 };
    begin(_i);
    ts_answer *obstacle = pair_obstruct(&it, 0), *waiters[WAITERS];
    int nodes = recipe_nodes(it.path) + it.r->waiting;
    int64_t last = ts_answer_token(obstacle);
    for (int i = 0; i < WAITERS; i++, nodes++) { /* the later ones wait in the first queue */
        ts_client *client = i % 3 == 2 ? ts_bench_client(SESSION_MS) : it.client[i % 3];
        void *object = recipe_at(it.r, client, it.path);
        waiters[i] = i % 2 ? recipe_thread(it.r, object, 20000) : recipe_async(it.r, object, PDK_FOREVER);
        recipe_await_nodes(it.r, it.path, nodes);
    }
    pair_admit(&it, 0, obstacle);
    for (int i = 0; i < WAITERS; i++) {
        pair_expect(&it, waiters[i], PDK_OK);
        for (int later = i + it.r->shares; later < WAITERS; later++)
            assert_recipe(it.r, ts_answer_count(waiters[later]) == 0);
        assert_recipe(it.r, ts_answer_token(waiters[i]) > last);
        last = ts_answer_token(waiters[i]);
        pair_release(&it, 0, waiters[i]);
    }
    recipe_await_nodes(it.r, it.path, 0);
}
END_TEST

/* ---- tries */

START_TEST(a_try_takes_what_is_free) {
    begin(_i);
    for (int i = 0; i < 4; i++) {
        ts_answer *held = i < 2 ? recipe_now(it.r, it.object[i % 2], 0) : recipe_async(it.r, it.object[i % 2], 0);
        pair_expect(&it, held, PDK_OK);
        pair_release(&it, i % 2, held);
        pair_flush(&it, i % 2);
    }
    ck_assert_int_eq(recipe_nodes(it.path), 0);
}
END_TEST

static int asked(int opcode) { return (int)ts_proxy_count(it.client[1]->proxy, opcode); }

/* It is told at once, at a known cost, and leaves nothing. */
START_TEST(a_try_of_what_is_taken) {
    begin(_i);
    ts_answer *obstacle = pair_obstruct(&it, 0);
    const int nodes = recipe_nodes(it.path);
    pair_expect(&it, recipe_now(it.r, it.object[1], 0), PDK_BUSY);
    pair_flush(&it, 1);
    ts_proxy_zero(it.client[1]->proxy);
    const int64_t before = ts_now_ms();
    for (int i = 0; i < 10; i++)
        pair_expect(&it, i % 2 ? recipe_async(it.r, it.object[1], 0) : recipe_now(it.r, it.object[1], 0), PDK_BUSY);
    assert_recipe(it.r, ts_now_ms() - before < ts_patience(1000));
    pair_flush(&it, 1);
    ck_assert_int_eq(recipe_nodes(it.path), nodes);
    assert_recipe(it.r, asked(TS_OP_CREATE2) == 10 * it.r->tried && asked(TS_OP_DELETE) == 10 * it.r->tried);
    assert_recipe(it.r, it.r->tried > 0 || asked(TS_OP_SYNC) == 10);
    pair_admit(&it, 0, obstacle);
    pair_flush(&it, 0);
    pair_expect(&it, recipe_now(it.r, it.object[1], 0), PDK_OK); /* it sees at once that the holder has left */
}
END_TEST

/* A waiter ahead makes a try busy, too: of this object, of another one, of another session. The waiter notices nothing. */
START_TEST(a_try_behind_a_waiter) {
    begin(_i);
    ts_answer *obstacle = pair_obstruct(&it, 0);
    const int nodes = recipe_nodes(it.path);
    ts_answer *waiter = pair_waits(&it, 1, nodes);
    pair_expect(&it, recipe_now(it.r, it.object[1], 0), PDK_BUSY);
    pair_expect(&it, recipe_now(it.r, it.object[0], 0), PDK_BUSY);
    pair_expect(&it, recipe_now(it.r, recipe_at(it.r, it.client[1], it.path), 0), PDK_BUSY);
    assert_recipe(it.r, ts_answer_count(waiter) == 0);
    ck_assert_int_eq(recipe_nodes(it.path), nodes + it.r->waiting);
    pair_admit(&it, 0, obstacle);
    pair_expect(&it, waiter, PDK_OK);
}
END_TEST

/* What this session has just given back, or given up, is free for it. */
START_TEST(a_try_does_not_meet_its_own_past) {
    begin(_i);
    int given_up = 0;
    for (int round = 0; round < 20; round++) {
        ts_answer *claim = recipe_async(it.r, it.object[0], 20000);
        ts_sleep_ms(round % 4);
        if (recipe_is_async(it.r)) {
            const bool canceled = ts_answer_cancel(claim) == PDK_OK; /* or it was granted before */
            pair_expect(&it, claim, canceled ? PDK_CANCELED : PDK_OK);
            given_up += canceled;
        } else {
            pair_expect(&it, claim, PDK_OK);
        }
        if (ts_answer_holds(claim))
            pair_release(&it, 0, claim);
        ts_answer *held = recipe_now(it.r, it.object[0], 0);
        pair_expect(&it, held, PDK_OK);
        pair_release(&it, 0, held);
    }
    assert_recipe(it.r, given_up > 0 || !recipe_is_async(it.r));
    ts_answer *obstacle = pair_obstruct(&it, 1);
    if (recipe_is_async(it.r))
        ts_answer_cancel(recipe_async(it.r, it.object[0], 20000));
    pair_expect(&it, recipe_now(it.r, it.object[0], 0), PDK_BUSY); /* a node of another client's does make it busy */
    pair_admit(&it, 1, obstacle);
    recipe_await_nodes(it.r, it.path, 0);
}
END_TEST

START_TEST(a_try_without_a_server) {
    begin(_i);
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = SESSION_MS;
    options.request_timeout_ms = REQUEST_MS;
    ts_client *client = ts_client_open_with(ts_bench_server(), NULL, &options);
    ck_assert_ptr_nonnull(client);
    void *object = recipe_at(it.r, client, it.path);
    for (int i = 0; i < 2; i++) {
        ts_proxy_set_mode(client->proxy, i == 0 ? TS_BLACKHOLE : TS_CUT);
        const int64_t before = ts_now_ms();
        pair_expect(&it, recipe_now(it.r, object, 0), PDK_UNAVAILABLE);
        ck_assert_int_ge(ts_now_ms() - before, REQUEST_MS);
        ck_assert_int_le(ts_now_ms() - before, REQUEST_MS + ts_patience(SCHEDULING_MS));
        ts_proxy_heal_discard(client->proxy);
    }
    recipe_await_nodes(it.r, it.path, 0);
    recipe_take(it.r, object);
}
END_TEST

/* ---- threads */

/* A server that is slow may not have put it into the queue before its time was over. */
static void expect_none(ts_answer *answer) {
    assert_recipe(it.r, ts_answer_wait(answer, ts_patience(PATIENCE_MS)) && !ts_answer_holds(answer));
    const pdk_status status = ts_answer_status(answer);
    assert_recipe(it.r, status == PDK_TIMEOUT || status == PDK_UNAVAILABLE);
}

/* Soon, where nothing comes of it; otherwise in time. */
static int64_t short_ms(void) { return it.r->shares > 1 ? ts_patience(PATIENCE_MS) : 50; }

/* Granted, and given back, where others may hold it as well. */
static void expect_beside(ts_answer *answer) {
    if (it.r->shares == 1) {
        expect_none(answer);
        return;
    }
    pair_expect(&it, answer, PDK_OK);
    pair_release(&it, 0, answer);
}

START_TEST(a_further_claim_of_the_thread_that_holds) {
    begin(_i);
    ts_answer *held = recipe_take(it.r, it.object[0]);
    ts_answer *again = recipe_now(it.r, it.object[0], short_ms());
    if (it.r->again == PDK_TIMEOUT)
        expect_none(again);
    else
        pair_expect(&it, again, it.r->again);
    if (it.r->again == PDK_OK)
        pair_release(&it, 0, again);
    if (it.r->again == PDK_DEADLOCK)
        pair_expect(&it, recipe_now(it.r, it.object[0], PDK_FOREVER), PDK_DEADLOCK);
    assert_recipe(it.r, ts_answer_is_valid(held));
    ts_answer_detach(held);
    again = recipe_now(it.r, it.object[0], short_ms());
    expect_beside(again);
    pair_release(&it, 0, held);
    recipe_take(it.r, it.object[0]);
}
END_TEST

/* A claim with a callback belongs to no thread, and the hold of a thread that has ended to none, though the system give a new thread
 * the same number. */
START_TEST(a_hold_of_no_thread) {
    begin(_i);
    for (int i = 0; i < 4; i++) {
        ts_answer *held = i ? recipe_thread(it.r, it.object[0], PATIENCE_MS) : recipe_async(it.r, it.object[0], 5000);
        pair_expect(&it, held, PDK_OK);
        ts_answer_join(held);
        ts_answer *next =
            i ? recipe_thread(it.r, it.object[0], short_ms()) : recipe_now(it.r, it.object[0], short_ms());
        expect_beside(next);
        ts_answer_join(next);
        pair_release(&it, 0, held);
    }
}
END_TEST

static void *release_main(void *held) { return GINT_TO_POINTER(recipe_release(it.r, it.object[0], held)); }

START_TEST(released_by_another_thread) {
    begin(_i);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        void *status;
        ck_assert_int_eq(pthread_create(&thread, NULL, release_main, recipe_take(it.r, it.object[0])), 0);
        pthread_join(thread, &status);
        assert_recipe(it.r, GPOINTER_TO_INT(status) == PDK_OK);
    }
}
END_TEST

/* ---- the end of an object */

START_TEST(a_hold_outlives_its_object) {
    begin(_i);
    void *object = it.r->make(it.client[0], it.path);
    ts_answer *held = recipe_take(it.r, object), *waits = NULL;
    if (it.r->shares == 1)
        waits = recipe_async(it.r, object, 20000);
    it.r->unref(object);
    if (waits)
        pair_expect(&it, waits, PDK_CANCELED);
    ts_sleep_ms(50);
    assert_recipe(it.r, ts_answer_is_valid(held) && ts_answer_ensure(held, 100) == PDK_OK);
    recipe_await_nodes(it.r, it.path, it.r->held);
    if (ts_answer_set(held)) {
        pdk_set_unref(pdk_set_ref(ts_answer_set(held)));
    } else {
        pdk_hold_unref(pdk_hold_ref(ts_answer_hold(held)));
    }
    assert_recipe(it.r, ts_answer_is_valid(held));
    ts_answer_drop(held); /* the last reference */
    recipe_await_nodes(it.r, it.path, 0);
}
END_TEST

/* Claims with a callback and blocking ones, and what a blocked thread has of it. */
START_TEST(the_last_unref_cancels_what_waits) {
    begin(_i);
    ts_answer *obstacle = pair_obstruct(&it, 0);
    const int nodes = recipe_nodes(it.path);
    void *object = it.r->make(it.client[1], it.path);
    ts_answer *claims[] = {recipe_async(it.r, object, PDK_FOREVER), NULL};
    recipe_await_waits(it.r, claims[0], it.path, nodes);
    claims[1] = recipe_thread(it.r, object, PDK_FOREVER);
    if (it.r->ref) {
        ck_assert_ptr_eq(it.r->ref(object), object);
        it.r->unref(object);
        pair_assert_waits(&it, claims[0], 50);
    }
    it.r->unref(object);
    pair_expect(&it, claims[0], PDK_CANCELED);
    pair_expect(&it, claims[1], PDK_CANCELED);
    recipe_await_nodes(it.r, it.path, nodes);
    assert_recipe(it.r, ts_answer_is_valid(obstacle));
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("recipes");
    recipes_each(suite, held_and_given_back, 1);
    recipes_each(suite, as_many_hold_it_as_may, 1);
    recipes_each(suite, objects_of_one_session_exclude_each_other, 1);
    recipes_each(suite, granted_in_order_of_arrival, 1);
    recipes_each(suite, a_try_takes_what_is_free, 1);
    recipes_each(suite, a_try_of_what_is_taken, 1);
    recipes_each(suite, a_try_behind_a_waiter, 1);
    recipes_each(suite, a_try_does_not_meet_its_own_past, 1);
    recipes_each(suite, a_try_without_a_server, 1);
    recipes_each(suite, a_further_claim_of_the_thread_that_holds, 1);
    recipes_each(suite, a_hold_of_no_thread, 1);
    recipes_each(suite, released_by_another_thread, 1);
    recipes_each(suite, a_hold_outlives_its_object, 1);
    recipes_each(suite, the_last_unref_cancels_what_waits, 1);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

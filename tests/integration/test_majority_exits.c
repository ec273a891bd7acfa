/* However a majority, or the claim of one, ends: sessions that are closed, objects that are dropped, threads that are cancelled and
 * interrupted, claims that are cancelled, in a queue and between two rounds. Nothing is left. */
#include <glib.h>
#include <pthread.h>
#include <string.h>

#include "majority_bench.h"
#include "ts_check.h"
#include "ts_clock.h"
#include "ts_observer.h"

enum { SESSION_MS = 4000, PATIENCE_MS = 15000, CLOSE_MS = 5000 };

static struct member *m;
static const char *path;

static void make_it(void) {
    path = ts_fresh_path();
    m = member_new(path, SESSION_MS, NULL);
}

/* From now on every round falls short. */
static void no_majority(void) {
    m->options.patience_ms = 50;
    member_links(m, 2, 3, TS_CUT);
}

static void heal(void) { member_links(m, 2, 3, TS_PASS); }

static void await(ts_answer *answer, pdk_status status) {
    ck_assert(ts_answer_wait(answer, ts_patience(PATIENCE_MS)));
    ck_assert_str_eq(pdk_status_name(ts_answer_status(answer)), pdk_status_name(status));
    ck_assert_int_eq(ts_answer_count(answer), 1);
}

/* Another one gets it, and nothing is left. */
static void check_clean(void) {
    struct member *other = member_new(path, SESSION_MS, NULL);
    ck_assert_int_eq(pdk_set_release(member_take(other)), PDK_OK);
    majority_nodes(path, 0);
}

/* ---- sessions that are closed */

START_TEST(the_session_that_tells_is_closed) {
    make_it();
    pdk_set *held = member_take(m);
    ts_lost *told = ts_lost_watch_set(held, NULL, NULL);
    parts_wait(held, ENSEMBLES);
    if (_i) { /* its part is missing, or on its way */
        member_links(m, 0, 1, TS_CUT);
        parts_wait(held, ENSEMBLES - 1);
        member_links(m, 0, 1, TS_PASS);
    }
    ck_assert_int_eq(pdk_session_close(m->client[0]->session, CLOSE_MS), PDK_OK);
    ck_assert(!pdk_set_is_valid(held));
    ck_assert_int_eq(pdk_set_reason(held), PDK_REASON_CLOSED);
    ck_assert_int_eq(ts_lost_count(told), 1);
    for (int i = 1; i < ENSEMBLES; i++)
        ck_assert(ts_wait_children(majority_server(i), m->path[i], 0, ts_patience(PATIENCE_MS))); /* at once */
    ck_assert_int_eq(pdk_set_release(held), PDK_LOST);
    check_clean();
}
END_TEST

START_TEST(other_sessions_are_closed) {
    make_it();
    pdk_set *held = member_take(m);
    ts_lost *told = ts_lost_watch_set(held, NULL, NULL);
    parts_wait(held, ENSEMBLES);
    for (int i = 3; i < 5; i++)
        ck_assert_int_eq(pdk_session_close(m->client[i]->session, CLOSE_MS), PDK_OK);
    ck_assert(pdk_set_is_valid(held));
    ck_assert_int_eq(pdk_hold_reason(pdk_set_part(held, 4)), PDK_REASON_CLOSED);
    ts_sleep_ms(200);
    ck_assert_int_eq(parts_held(held), 3);
    ck_assert_int_eq(ts_lost_count(told), 0);
    ck_assert_int_eq(pdk_session_close(m->client[2]->session, CLOSE_MS), PDK_OK);
    ck_assert(!pdk_set_is_valid(held));
    ck_assert(ts_lost_wait(told, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ts_lost_reason(told), PDK_REASON_CLOSED);
    ck_assert_int_eq(pdk_set_release(held), PDK_LOST);
    check_clean();
}
END_TEST

/* _i: a thread is blocked. Between two rounds nothing of it is in any queue. */
START_TEST(closed_between_rounds) {
    make_it();
    no_majority();
    ts_answer *answer = _i ? member_thread(m, PDK_FOREVER) : member_async(m, PDK_FOREVER);
    ts_sleep_ms(2000); /* by now the pauses are long */
    ck_assert_int_eq(pdk_session_close(m->client[0]->session, CLOSE_MS), PDK_OK);
    await(answer, PDK_CLOSED);
    heal();
    check_clean();
}
END_TEST

static void close_one(int i) { ck_assert_int_eq(pdk_session_close(m->client[i]->session, CLOSE_MS), PDK_OK); }

static void never(pdk_status status, pdk_set *held, void *user) {
    (void)held;
    (void)user;
    ck_abort_msg("answered: %s", pdk_status_name(status));
}

static void expect_closed(int which) {
    pdk_set *held = NULL;
    ck_assert_int_eq(member_acquire(m, 5000, &held), PDK_CLOSED);
    ck_assert_ptr_null(held);
    ck_assert(strstr(pdk_last_error(), m->path[which]));
    ck_assert_int_eq(pdk_set_acquire_async(m->right, ENSEMBLES, 5000, &m->options, never, NULL, NULL), PDK_CLOSED);
}

/* Their rights are left out, as long as there are enough others. */
START_TEST(closed_before) {
    make_it();
    for (int i = 1; i < 3; i++) {
        close_one(i);
        pdk_set *held = member_take(m);
        parts_wait(held, ENSEMBLES - i);
        ck_assert_ptr_null(pdk_set_part(held, i));
        ck_assert_int_eq(pdk_set_release(held), PDK_OK);
        ts_answer *answer = member_async(m, PDK_FOREVER);
        await(answer, PDK_OK);
        ck_assert_int_eq(ts_answer_release(answer), PDK_OK);
    }
    close_one(3);
    expect_closed(3);
    check_clean();
}
END_TEST

START_TEST(the_first_is_closed_before) {
    make_it();
    close_one(0);
    expect_closed(0);
    check_clean();
}
END_TEST

START_TEST(closed_meanwhile) {
    make_it();
    struct member *other = member_new(path, SESSION_MS, NULL);
    pdk_hold *first = ts_bench_acquire(other->lock[0], 5000);
    ts_answer *answer = _i ? member_thread(m, PDK_FOREVER) : member_async(m, PDK_FOREVER);
    ck_assert(ts_wait_children(majority_server(0), m->path[0], 2, ts_patience(PATIENCE_MS)));
    for (int i = 1; i < 3; i++)
        ck_assert_int_eq(pdk_session_close(m->client[i]->session, CLOSE_MS), PDK_OK);
    pdk_hold_release(first);
    await(answer, PDK_OK);
    const pdk_set *held = ts_answer_set(answer);
    ck_assert_int_eq(parts_held(held), 3);
    ck_assert_ptr_null(pdk_set_part(held, 1));
    ck_assert_int_eq(ts_answer_release(answer), PDK_OK);
    check_clean();
}
END_TEST

/* ---- a callback that comes too late */

static void dispatch(int from) {
    for (int i = from; i < ENSEMBLES; i++)
        pdk_session_dispatch(m->client[i]->session, NULL);
}

/* The first tells of the result. It is needed until the second is left out. */
static bool dispatch_until_decided(void *claim) {
    int32_t ahead;
    dispatch(ts_child_count(majority_server(2), m->path[2]) == 1 ? 1 : 0);
    return pdk_set_claim_position(claim, &ahead) == PDK_NOT_HELD;
}

static bool dispatch_until_answered(void *answer) {
    dispatch(0);
    return ts_answer_count(answer) > 0;
}

/* Enough of them were granted in time, so what the second had to say is not the answer. _i: it was silent; or its session was closed. */
START_TEST(a_late_callback) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.dispatch = PDK_DISPATCH_MANUAL;
    path = ts_fresh_path();
    m = member_new(path, SESSION_MS, &options);
    m->options.patience_ms = (int32_t)ts_patience(200);
    if (_i)
        member_links(m, 1, 1, TS_CUT);
    else
        close_one(1);
    ts_answer *answer = member_async(m, ts_patience(3000));
    const int64_t late = ts_now_ms() + ts_patience(3000);
    ck_assert(ts_wait_until(dispatch_until_decided, ts_answer_set_claim(answer), ts_patience(PATIENCE_MS)));
    ck_assert_int_lt(ts_now_ms(), late);
    ck_assert_int_eq(ts_answer_count(answer), 0);
    ts_sleep_ms(late - ts_now_ms() + 100);
    ck_assert(ts_wait_until(dispatch_until_answered, answer, ts_patience(PATIENCE_MS)));
    await(answer, PDK_TIMEOUT);
    check_clean();
}
END_TEST

/* ---- objects that are dropped */

START_TEST(a_lock_is_dropped_while_it_is_held) {
    make_it();
    pdk_set *held = member_take(m);
    parts_wait(held, ENSEMBLES);
    member_drop_lock(m, 1);
    ck_assert_int_eq(parts_held(held), ENSEMBLES);
    ck_assert_int_eq(ts_delete(majority_server(1), pdk_hold_node(pdk_set_part(held, 1))), 0);
    parts_wait(held, ENSEMBLES - 1);
    ts_sleep_ms(300);
    ck_assert_int_eq(parts_held(held), ENSEMBLES - 1); /* it is not taken again */
    ck_assert(pdk_set_is_valid(held));
    ck_assert_int_eq(pdk_set_release(held), PDK_OK);
    check_clean();
}
END_TEST

START_TEST(locks_are_dropped_while_it_waits) {
    make_it();
    struct member *other = member_new(path, SESSION_MS, NULL);
    pdk_set *held = member_take(other);
    ts_answer *answer = member_async(m, PDK_FOREVER);
    ck_assert(ts_wait_children(majority_server(0), m->path[0], 2, ts_patience(PATIENCE_MS)));
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(ts_answer_count(answer), 0);
        member_drop_lock(m, i);
        ts_sleep_ms(100); /* it goes on to the next */
    }
    await(answer, PDK_CANCELED);
    ck_assert_int_eq(pdk_set_release(held), PDK_OK);
    check_clean();
}
END_TEST

/* ---- threads and claims */

static void *acquire(void *unused) {
    pdk_set *held = NULL;
    (void)unused;
    member_acquire(m, PDK_FOREVER, &held);
    return NULL;
}

/* _i: between two rounds; or behind another one. */
START_TEST(a_cancelled_thread) {
    pthread_t thread;
    void *result = NULL;
    make_it();
    struct member *other = member_new(path, SESSION_MS, NULL);
    pdk_set *held = _i ? NULL : member_take(other);
    if (_i)
        no_majority();
    ck_assert_int_eq(pthread_create(&thread, NULL, acquire, NULL), 0);
    ts_sleep_ms(1000);
    ck_assert_int_eq(pthread_cancel(thread), 0);
    ck_assert_int_eq(pthread_join(thread, &result), 0);
    ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    pdk_set_release(held);
    heal();
    check_clean();
}
END_TEST

static void *ensure(void *set) {
    pdk_set_ensure(set, 1600); /* it waits: the links are silent */
    return NULL;
}

START_TEST(a_thread_is_cancelled_in_ensure) {
    pthread_t thread;
    void *result = NULL;
    make_it();
    pdk_set *held = member_take(m);
    member_links(m, 0, 5, TS_BLACKHOLE);
    while (pdk_set_remaining_ms(held) > 1500)
        ts_sleep_ms(5);
    ck_assert_int_eq(pthread_create(&thread, NULL, ensure, held), 0);
    ts_sleep_ms(200);
    ck_assert_int_eq(pthread_cancel(thread), 0);
    ck_assert_int_eq(pthread_join(thread, &result), 0);
    ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    member_links(m, 0, 5, TS_PASS);
    pdk_set_release(held);
    check_clean();
}
END_TEST

static pdk_interrupt *interrupt;

static pdk_status acquire_with_interrupt(void *unused, int64_t timeout_ms, pdk_set **out) {
    (void)unused;
    pdk_interrupt_attach(interrupt);
    pdk_status status = member_acquire(m, timeout_ms, out);
    pdk_interrupt_detach();
    return status;
}

START_TEST(an_interrupted_thread) {
    make_it();
    no_majority();
    ck_assert_int_eq(pdk_interrupt_new(&interrupt), PDK_OK);
    ts_answer *answer = ts_answer_block_set(acquire_with_interrupt, NULL, PDK_FOREVER);
    ts_sleep_ms(1000);
    pdk_interrupt_raise(interrupt);
    await(answer, PDK_CANCELED);
    pdk_interrupt_unref(interrupt);
    heal();
    check_clean();
}
END_TEST

START_TEST(a_cancelled_claim) {
    int32_t ahead;
    make_it();
    no_majority();
    ts_answer *answer = member_async(m, PDK_FOREVER);
    ts_sleep_ms(1000);
    ck_assert_int_eq(ts_answer_position(answer, &ahead), PDK_UNAVAILABLE);
    ck_assert_int_eq(ts_answer_cancel(answer), PDK_OK);
    await(answer, PDK_CANCELED);
    ck_assert_int_eq(ts_answer_cancel(answer), PDK_NOT_HELD);
    ck_assert_int_eq(ts_answer_position(answer, &ahead), PDK_NOT_HELD);
    heal();
    check_clean();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("majority_exits");
    TCase *all = majority_case(suite, "majority_exits");
    tcase_add_loop_test(all, the_session_that_tells_is_closed, 0, 2);
    tcase_add_test(all, other_sessions_are_closed);
    tcase_add_loop_test(all, closed_between_rounds, 0, 2);
    tcase_add_test(all, closed_before);
    tcase_add_test(all, the_first_is_closed_before);
    tcase_add_loop_test(all, closed_meanwhile, 0, 2);
    tcase_add_loop_test(all, a_late_callback, 0, 2);
    tcase_add_test(all, a_lock_is_dropped_while_it_is_held);
    tcase_add_test(all, locks_are_dropped_while_it_waits);
    tcase_add_loop_test(all, a_cancelled_thread, 0, 2);
    tcase_add_test(all, a_thread_is_cancelled_in_ensure);
    tcase_add_test(all, an_interrupted_thread);
    tcase_add_test(all, a_cancelled_claim);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

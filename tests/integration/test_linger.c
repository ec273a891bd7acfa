/* A lock whose node lingers after a release: it is taken without a packet, whoever comes gets it, and all that is known by the node is true
 * while it lingers. The table of docs/adr/0046 is played in simulated time (test_driver_linger). */
#include <glib.h>
#include <paddock/guarded.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_fork.h"
#include "ts_support.h"

enum { SESSION_MS = 6000, LONG_MS = 60000, PATIENCE_MS = 5000, SETTLED_MS = 50 };

static ts_client *a, *b;
static const char *path;
static pdk_lock *lock; /* a's, whose nodes linger */

static const char *server(void) { return ts_bench_server(); }
static int nodes(void) { return ts_child_count(server(), path); }

static void set_up(void) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    path = ts_fresh_path();
    a = ts_bench_client(SESSION_MS);
    b = ts_bench_client(SESSION_MS);
    options.linger_ms = options.max_handover_ms = LONG_MS;
    options.max_handovers = 1000000;
    options.reentrant = 1;
    lock = ts_lock_with(a, path, &options);
}

static pdk_hold *hold(void) { return ts_bench_acquire(lock, PATIENCE_MS); }
static void release(pdk_hold *of) { ck_assert_int_eq(pdk_hold_release(of), PDK_OK); }

/* The sequencer of a hold whose node lingers now, and whose watches stand. */
static char *linger(void) {
    pdk_hold *first = hold();
    ts_sleep_ms(SETTLED_MS);
    char *sequencer = g_strdup(pdk_hold_sequencer(first));
    release(first);
    ts_sleep_ms(SETTLED_MS);
    ck_assert_int_eq(nodes(), 1);
    return sequencer;
}

static void lingers(void) { g_free(linger()); }

static void assert_gone(void) { ck_assert(ts_wait_children(server(), path, 0, ts_patience(PATIENCE_MS))); }

/* ---- it is taken */

START_TEST(it_is_taken_without_a_packet) {
    enum { CYCLES = 10000 };
    ts_proxy_counters counters;
    lingers();
    ts_proxy_zero(a->proxy);
    for (uint32_t i = 1; i <= CYCLES; i++) {
        pdk_hold *next = hold();
        ck_assert_uint_eq(pdk_hold_handover(next), i);
        release(next);
    }
    ts_proxy_read(a->proxy, &counters);
    ck_assert_uint_eq(counters.requests, ts_proxy_count(a->proxy, TS_OP_MULTI)); /* renewals */
    ck_assert_int_eq(nodes(), 1);
}
END_TEST

static atomic_int inside, turns;

static void *take_turns(void *unused) {
    enum { TURNS = 2000 };
    (void)unused;
    for (int i = 0; i < TURNS; i++) {
        pdk_hold *mine = NULL;
        g_assert_cmpint(pdk_lock_acquire(lock, LONG_MS, &mine), ==, PDK_OK);
        g_assert_cmpint(atomic_fetch_add(&inside, 1), ==, 0);
        atomic_fetch_add(&turns, 1);
        atomic_fetch_sub(&inside, 1);
        g_assert_cmpint(pdk_hold_release(mine), ==, PDK_OK);
    }
    return NULL;
}

/* Two threads find it lingering, or wait for each other, and somebody else comes again and again. */
START_TEST(threads_and_somebody_else) {
    pthread_t threads[2];
    pdk_lock *theirs = ts_lock(b, path);
    int visits = 0;
    atomic_store(&turns, 0);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, take_turns, NULL), 0);
    for (; visits < 20; visits++) {
        pdk_hold *visit = ts_bench_acquire(theirs, LONG_MS);
        ck_assert_int_eq(atomic_load(&inside), 0);
        release(visit);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(atomic_load(&turns), 4000);
}
END_TEST

START_TEST(it_lingers_after_the_last_level) {
    pdk_hold *outer = hold(), *inner = hold();
    ck_assert_uint_eq(pdk_hold_handover(inner), 0);
    release(inner);
    release(outer);
    pdk_hold *next = hold();
    ck_assert_uint_eq(pdk_hold_handover(next), 1);
    release(next);
}
END_TEST

/* ---- it goes */

START_TEST(whoever_comes_gets_it) {
    lingers();
    pdk_hold *theirs = ts_bench_acquire(ts_lock(b, path), ts_patience(PATIENCE_MS));
    ts_answer *next = ts_acquire_async(lock, PATIENCE_MS);
    ck_assert(!ts_answer_wait(next, SETTLED_MS));
    release(theirs);
    ck_assert(ts_answer_wait(next, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ts_answer_status(next), PDK_OK);
    ck_assert_int_eq(ts_answer_release(next), PDK_OK);
}
END_TEST

START_TEST(a_try_of_another_process_finds_it_busy) {
    pdk_hold *theirs = NULL;
    lingers();
    refused(pdk_lock_acquire(ts_lock(b, path), 0, &theirs), PDK_BUSY, "somebody");
    pdk_hold *ours = NULL;
    ck_assert_int_eq(pdk_lock_acquire(lock, 0, &ours), PDK_OK);
    ck_assert_uint_eq(pdk_hold_handover(ours), 1);
    release(ours);
}
END_TEST

START_TEST(a_flush_or_the_end_of_its_lock_takes_it_along) {
    lingers();
    if (_i == 0) {
        ck_assert_int_eq(pdk_session_flush(a->session, ts_patience(PATIENCE_MS)), PDK_OK);
        ck_assert_int_eq(nodes(), 0);
    } else {
        pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
        pdk_lock *other = NULL;
        pdk_hold *last = NULL;
        options.linger_ms = options.max_handover_ms = LONG_MS;
        path = ts_fresh_path();
        ck_assert_int_eq(pdk_lock_new(a->session, path, &options, &other), PDK_OK);
        ck_assert_int_eq(pdk_lock_acquire(other, PATIENCE_MS, &last), PDK_OK);
        release(last);
        ck_assert_int_eq(nodes(), 1);
        pdk_lock_unref(other);
        assert_gone();
    }
}
END_TEST

START_TEST(a_close_is_not_delayed) {
    lingers();
    const int64_t before = ts_now_ms();
    ck_assert_int_eq(pdk_session_close(a->session, PATIENCE_MS), PDK_OK);
    ck_assert_int_lt(ts_now_ms() - before, ts_patience(PATIENCE_MS / 2));
    ck_assert_int_eq(nodes(), 0);
}
END_TEST

/* ---- what is known by its node */

START_TEST(its_sequencer_stands_as_long_as_it_does) {
    g_autofree char *sequencer = linger();
    ck_assert_int_eq(pdk_session_check_sequencer(b->session, sequencer, PATIENCE_MS), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(a->session, ts_patience(PATIENCE_MS)), PDK_OK);
    refused(pdk_session_check_sequencer(b->session, sequencer, PATIENCE_MS), PDK_LOST, "");
}
END_TEST

/* It is shown as a holder's, and broken as one. */
START_TEST(it_is_shown_and_can_be_broken) {
    pdk_contenders *shown = NULL;
    lingers();
    ck_assert_int_eq(pdk_lock_holder(ts_lock(b, path), PATIENCE_MS, &shown), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(shown), 1);
    const int64_t token = pdk_contenders_token(shown, 0);
    g_autofree char *node = g_strconcat(path, "/", pdk_contenders_node(shown, 0), NULL);
    ck_assert_int_eq(pdk_session_break(b->session, node, token, PATIENCE_MS, NULL), PDK_OK);
    pdk_contenders_free(shown);
    assert_gone();
    ts_sleep_ms(SETTLED_MS);
    pdk_hold *next = hold();
    ck_assert_int_gt(pdk_hold_token(next), token);
    ck_assert_uint_eq(pdk_hold_handover(next), 0);
    release(next);
}
END_TEST

START_TEST(a_wish_makes_it_go) {
    lingers();
    ck_assert_int_eq(pdk_session_request_release(b->session, path, NULL, "b", 0, PATIENCE_MS), PDK_OK);
    assert_gone();
}
END_TEST

START_TEST(the_next_hold_opens_a_guarded_znode_after_the_last) {
    pdk_guarded *opened = NULL, *again = NULL;
    g_autofree char *guarded = g_strconcat(ts_fresh_path(), "-guarded", NULL);
    pdk_hold *first = hold();
    ck_assert_int_eq(pdk_guarded_open(first, guarded, PATIENCE_MS, &opened), PDK_OK);
    ck_assert_int_eq(pdk_guarded_create(opened, "one", 3, PATIENCE_MS), PDK_OK);
    release(first);
    refused(pdk_guarded_write(opened, "late", 4, PATIENCE_MS), PDK_NOT_HELD, "");
    pdk_hold *next = hold();
    ck_assert_uint_eq(pdk_hold_handover(next), 1);
    ck_assert_int_eq(pdk_guarded_open(next, guarded, PATIENCE_MS, &again), PDK_OK);
    ck_assert_int_eq(pdk_guarded_write(again, "two", 3, PATIENCE_MS), PDK_OK);
    pdk_guarded_close(opened);
    pdk_guarded_close(again);
    release(next);
}
END_TEST

START_TEST(a_child_has_nothing_of_it) {
    lingers();
    const pid_t pid = ts_fork();
    if (pid == 0) {
        pdk_hold *none = NULL;
        const pdk_status status = pdk_lock_acquire(lock, 0, &none);
        pdk_lock_unref(lock);
        ts_end_child(status == PDK_FORKED ? 0 : 1);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    pdk_hold *next = hold();
    ck_assert_uint_eq(pdk_hold_handover(next), 1);
    release(next);
}
END_TEST

START_TEST(options_that_make_no_sense) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    pdk_lock *none = NULL;
    options.linger_ms = -1;
    refused(pdk_lock_new(a->session, path, &options, &none), PDK_INVALID, "linger_ms is -1");
    options.linger_ms = 1;
    options.lock_delay_ms = 1;
    refused(pdk_lock_new(a->session, path, &options, &none), PDK_INVALID, "lock_delay_ms");
}
END_TEST

int main(void) {
    Suite *suite = suite_create("linger");
    TCase *cases = ts_bench_case(suite, "linger");
    tcase_add_checked_fixture(cases, set_up, NULL);
    tcase_add_test(cases, it_is_taken_without_a_packet);
    tcase_add_test(cases, threads_and_somebody_else);
    tcase_add_test(cases, it_lingers_after_the_last_level);
    tcase_add_test(cases, whoever_comes_gets_it);
    tcase_add_test(cases, a_try_of_another_process_finds_it_busy);
    tcase_add_loop_test(cases, a_flush_or_the_end_of_its_lock_takes_it_along, 0, 2);
    tcase_add_test(cases, a_close_is_not_delayed);
    tcase_add_test(cases, its_sequencer_stands_as_long_as_it_does);
    tcase_add_test(cases, it_is_shown_and_can_be_broken);
    tcase_add_test(cases, a_wish_makes_it_go);
    tcase_add_test(cases, the_next_hold_opens_a_guarded_znode_after_the_last);
    tcase_add_test(cases, a_child_has_nothing_of_it);
    tcase_add_test(cases, options_that_make_no_sense);
    return ts_run_suite(suite);
}

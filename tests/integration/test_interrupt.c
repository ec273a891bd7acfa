/* An interrupt ends the blocking acquisition of one thread: of every recipe from a signal handler, and of an office and in a delay from
 * another thread, too; the other recipes are in test_recipes_waiting.c. No other claim notices. */
#include <glib.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "elections.h"
#include "recipes.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 4000 };

/* What is acquired by the second client, and what keeps it out. */
static struct {
    struct pair p;
    ts_answer *obstacle; /* NULL: an office, or a delay */
    pdk_interrupt *interrupt;
} it;

/* What is no row of the table of recipes: an office, of which another client has the leadership; and a lock whose last holder has ended
 * without a release. */
enum { OFFICE = RECIPES, DELAY, ALL };

static pdk_status lead(void *object, int64_t ms, pdk_hold **out) { return pdk_election_wait(object, ms, out); }
static pdk_status lock(void *object, int64_t ms, pdk_hold **out) { return pdk_lock_acquire(object, ms, out); }
static const recipe office = {.name = "office", .block = lead}, delay = {.name = "delay", .block = lock};

static void begin_with(const recipe *r) {
    it.p = (struct pair){.r = r, .path = ts_fresh_path()};
    for (int k = 0; k < 2; k++)
        it.p.client[k] = ts_bench_client(SESSION_MS);
}

static void begin_office(void) {
    begin_with(&office);
    candidate_elected(election_on(it.p.client[0], it.p.path, NULL));
    it.p.object[1] = election_on(it.p.client[1], it.p.path, NULL);
    candidate_join(it.p.object[1]);
    ck_assert(
        ts_wait_children(ts_bench_server(), it.p.path, 2, ts_patience(5000))); /* what comes later is not of the join */
}

static void begin_delay(void) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    begin_with(&delay);
    g_autofree char *pledge =
        g_strconcat(it.p.path, "/pledge-_c_01234567-89ab-8def-0123-456789abcdef-0000000099", NULL);
    options.lock_delay_ms = 60000;
    pdk_hold_release(ts_bench_acquire(ts_lock_with(it.p.client[0], it.p.path, &options), 5000));
    ck_assert_int_eq(ts_create(ts_bench_server(), pledge, "", TS_PERSISTENT, NULL), 0);
    it.p.object[1] = ts_lock_with(it.p.client[1], it.p.path, &options);
}

static void drop_interrupt(void *interrupt) { pdk_interrupt_unref(interrupt); }

static void make_it(int which) {
    it.obstacle = NULL;
    if (which == OFFICE) {
        begin_office();
    } else if (which == DELAY) {
        begin_delay();
    } else {
        pair_begin(&it.p, &recipes[which], SESSION_MS);
        it.obstacle = pair_obstruct(&it.p, 0);
    }
    ck_assert_int_eq(pdk_interrupt_new(&it.interrupt), PDK_OK);
    ts_paddock_keep(it.interrupt, drop_interrupt);
}

static void admit(void) { pair_admit(&it.p, 0, g_steal_pointer(&it.obstacle)); }

static pdk_status acquire(int64_t ms) { return ts_answer_status(recipe_now(it.p.r, it.p.object[1], ms)); }

/* ---- from another thread */

static pdk_status acquire_with_interrupt(void *object, int64_t timeout_ms, pdk_hold **out) {
    if (pdk_interrupt_attach(it.interrupt) != PDK_OK)
        return PDK_SYSTEM;
    const pdk_status status = it.p.r->block(object, timeout_ms, out);
    pdk_interrupt_detach();
    return status;
}

static void assert_ends(ts_answer *answer, pdk_status wanted) {
    ck_assert(ts_answer_wait(answer, ts_patience(1000)));
    ck_assert_str_eq(pdk_status_name(ts_answer_status(answer)), pdk_status_name(wanted));
}

START_TEST(from_another_thread) {
    make_it(_i);
    ts_answer *answer = ts_answer_block(acquire_with_interrupt, it.p.object[1], PDK_FOREVER);
    ck_assert(!ts_answer_wait(answer, 150));
    pdk_interrupt_raise(it.interrupt);
    assert_ends(answer, PDK_CANCELED);
}
END_TEST

/* A thread with an interrupt is woken by all that wakes others: a grant, a deadline, the end of the session. */
START_TEST(a_thread_with_an_interrupt_is_woken_as_others_are) {
    make_it(RECIPE_LOCK);
    assert_ends(ts_answer_block(acquire_with_interrupt, it.p.object[1], 150), PDK_TIMEOUT);
    ts_answer *granted = ts_answer_block(acquire_with_interrupt, it.p.object[1], PDK_FOREVER);
    ck_assert(!ts_answer_wait(granted, 150));
    admit();
    assert_ends(granted, PDK_OK);
    ts_answer_join(granted);
    ts_answer *closed = ts_answer_block(acquire_with_interrupt, it.p.object[1], PDK_FOREVER);
    ck_assert(!ts_answer_wait(closed, 100));
    ck_assert_int_eq(pdk_session_close(it.p.client[1]->session, 5000), PDK_OK);
    assert_ends(closed, PDK_CLOSED);
}
END_TEST

/* ---- from a signal handler */

static void on_alarm(int signal) {
    (void)signal;
    pdk_interrupt_raise(it.interrupt);
}

static void handle(int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    action.sa_flags = flags;
    ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
}

static gpointer alarm_soon(gpointer thread) {
    ts_sleep_ms(150);
    pthread_kill(*(pthread_t *)thread, SIGALRM);
    return NULL;
}

/* The handler runs on the thread that waits: with SA_RESTART, where the system call goes on, and without. */
START_TEST(from_a_signal_handler) {
    make_it(_i / 2);
    handle(_i % 2 == 0 ? SA_RESTART : 0);
    ck_assert_int_eq(pdk_interrupt_attach(it.interrupt), PDK_OK);
    pthread_t self = pthread_self();
    GThread *thread = g_thread_new("alarm", alarm_soon, &self);
    const int64_t before = ts_now_ms();
    ck_assert_str_eq(pdk_status_name(acquire(PDK_FOREVER)), "PDK_CANCELED");
    ck_assert_int_lt(ts_now_ms() - before, ts_patience(2000));
    ck_assert_msg(strstr(pdk_last_error(), "pdk_interrupt_clear") != NULL, "%s", pdk_last_error());
    g_thread_join(thread);
    pdk_interrupt_detach();
}
END_TEST

/* ---- before the call, and after the grant */

START_TEST(raised_before_the_call) {
    make_it(_i);
    ck_assert_int_eq(pdk_interrupt_attach(it.interrupt), PDK_OK);
    pdk_interrupt_raise(it.interrupt);
    ts_proxy_zero(it.p.client[1]->proxy);
    for (int i = 0; i < 2; i++) { /* it stays raised */
        ck_assert_int_eq(acquire(PDK_FOREVER), PDK_CANCELED);
        ck_assert_int_eq(acquire(0), PDK_CANCELED);
    }
    ck_assert_uint_eq(ts_proxy_count(it.p.client[1]->proxy, TS_OP_CREATE2), 0);
    pdk_interrupt_clear(it.interrupt);
    const pdk_status status = acquire(0);
    ck_assert_msg(status == PDK_BUSY || status == PDK_TIMEOUT, "%s", pdk_status_name(status));
    pdk_interrupt_detach();
}
END_TEST

START_TEST(raised_after_the_grant) {
    pdk_hold *hold = NULL, *second = NULL;
    make_it(RECIPE_LOCK);
    admit();
    ck_assert_int_eq(pdk_interrupt_attach(it.interrupt), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(it.p.object[1], 5000, &hold), PDK_OK);
    pdk_interrupt_raise(it.interrupt);
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_int_eq(pdk_hold_ensure(hold, 100), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(it.p.object[1], 5000, &second), PDK_CANCELED);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    pdk_interrupt_detach();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("interrupt");
    TCase *tcase = ts_bench_case(suite, "interrupt");
    tcase_add_loop_test(tcase, from_another_thread, OFFICE, ALL);
    tcase_add_test(tcase, a_thread_with_an_interrupt_is_woken_as_others_are);
    tcase_add_loop_test(tcase, from_a_signal_handler, 0, 2 * ALL);
    tcase_add_loop_test(tcase, raised_before_the_call, OFFICE, ALL);
    tcase_add_test(tcase, raised_after_the_grant);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

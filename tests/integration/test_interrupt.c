/* An interrupt ends the blocking acquisition of one thread: of every recipe, from another thread and from a signal
 * handler. Nothing is left of the claim, and no other claim notices. */
#include <glib.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "elections.h"
#include "permits.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_rwlock.h"
#include "ts_support.h"

enum { SESSION_MS = 4000 };

/* What is acquired, and what another client has of it. */
static struct {
    const char *path;
    ts_client *client;
    pdk_interrupt *interrupt;
    void *recipe;
    ts_block_fn acquire;
    pdk_hold *theirs; /* NULL: an office, or the test has released it */
} it;

static pdk_status lock(void *recipe, int64_t ms, pdk_hold **out) { return pdk_lock_acquire(recipe, ms, out); }
static pdk_status read_it(void *recipe, int64_t ms, pdk_hold **out) { return pdk_rwlock_acquire_read(recipe, ms, out); }
static pdk_status write_it(void *recipe, int64_t ms, pdk_hold **out) {
    return pdk_rwlock_acquire_write(recipe, ms, out);
}
static pdk_status permit(void *recipe, int64_t ms, pdk_hold **out) { return pdk_semaphore_acquire(recipe, 1, ms, out); }
static pdk_status lead(void *recipe, int64_t ms, pdk_hold **out) { return pdk_election_wait(recipe, ms, out); }

static void take_lock(const ts_client *other) {
    it.recipe = ts_lock(it.client, it.path);
    it.acquire = lock;
    it.theirs = ts_bench_acquire(ts_lock(other, it.path), 5000);
}

static void take_for_reader(const ts_client *other) {
    it.recipe = ts_rwlock(it.client, it.path);
    it.acquire = read_it;
    it.theirs = ts_bench_write(ts_rwlock(other, it.path), 5000);
}

static void take_for_writer(const ts_client *other) {
    it.recipe = ts_rwlock(it.client, it.path);
    it.acquire = write_it;
    it.theirs = ts_bench_read(ts_rwlock(other, it.path), 5000);
}

static void take_permit(const ts_client *other) {
    it.recipe = permits_at(it.client, it.path, 1);
    it.acquire = permit;
    it.theirs = permits_take(permits_at(other, it.path, 1), 1);
}

static bool children_are(const char *path, guint count) {
    g_auto(GStrv) children = ts_children(ts_bench_server(), path, NULL);
    return children && g_strv_length(children) == count;
}

static bool one_child(void *path) { return children_are(path, 1); }
static bool two_children(void *path) { return children_are(path, 2); }

static void take_office(const ts_client *other) {
    it.acquire = lead;
    it.theirs = NULL;
    candidate_elected(election_on(other, it.path, NULL));
    pdk_election *election = election_on(it.client, it.path, NULL);
    candidate_join(election);
    ck_assert(
        ts_wait_until(two_children, (void *)it.path, ts_patience(5000))); /* what comes later is not of the join */
    it.recipe = election;
}

static const char *const keys[] = {"one", "two"};

static pdk_status by_key(void *recipe, int64_t ms, pdk_hold **out) {
    return pdk_striped_acquire(recipe, keys[0], ms, out);
}
static pdk_status by_any(void *recipe, int64_t ms, pdk_hold **out) { return pdk_striped_acquire_any(recipe, ms, out); }
static pdk_status by_keys(void *recipe, int64_t ms, pdk_hold **out) {
    pdk_set *set = NULL;
    (void)out; /* it is interrupted */
    pdk_status status = pdk_striped_acquire_keys(recipe, keys, 2, ms, NULL, &set);
    pdk_set_unref(set);
    return status;
}

static void unref_striped(void *striped) { pdk_striped_unref(striped); }

/* One stripe, which the other client has. */
static void take_stripe(const ts_client *other) {
    pdk_striped *ours = NULL, *theirs = NULL;
    ck_assert_int_eq(pdk_striped_new(it.client->session, it.path, 1, NULL, &ours), PDK_OK);
    ck_assert_int_eq(pdk_striped_new(other->session, it.path, 1, NULL, &theirs), PDK_OK);
    ts_paddock_keep(ours, unref_striped);
    ts_paddock_keep(theirs, unref_striped);
    ck_assert_int_eq(pdk_striped_acquire_any(theirs, ts_patience(5000), &it.theirs), PDK_OK);
    it.recipe = ours;
}

static void take_for_key(const ts_client *other) {
    take_stripe(other);
    it.acquire = by_key;
}

static void take_for_any(const ts_client *other) {
    take_stripe(other);
    it.acquire = by_any;
}

static void take_for_keys(const ts_client *other) {
    take_stripe(other);
    it.acquire = by_keys;
}

/* Nobody has it: a holder has ended without a release. */
static void take_delayed(const ts_client *other) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    g_autofree char *pledge = g_strconcat(it.path, "/pledge-_c_01234567-89ab-8def-0123-456789abcdef-0000000099", NULL);
    options.lock_delay_ms = 60000;
    pdk_hold_release(ts_bench_acquire(ts_lock_with(other, it.path, &options), 5000));
    ck_assert_int_eq(ts_create(ts_bench_server(), pledge, "", TS_PERSISTENT, NULL), 0);
    it.recipe = ts_lock_with(it.client, it.path, &options);
    it.acquire = lock;
}

static void (*const recipes[])(const ts_client *other) = {
    take_lock,    take_for_reader, take_for_writer, take_permit,  take_office,
    take_for_key, take_for_any,    take_for_keys,   take_delayed,
};

static void drop_interrupt(void *interrupt) { pdk_interrupt_unref(interrupt); }

static void make_it(int recipe) {
    it.path = ts_fresh_path();
    it.client = ts_bench_client(SESSION_MS);
    recipes[recipe](ts_bench_client(SESSION_MS));
    ck_assert_int_eq(pdk_interrupt_new(&it.interrupt), PDK_OK);
    ts_paddock_keep(it.interrupt, drop_interrupt);
}

static void release_theirs(void) {
    if (it.theirs)
        pdk_hold_release(g_steal_pointer(&it.theirs));
}

/* ---- from another thread */

static pdk_status acquire_with_interrupt(void *recipe, int64_t timeout_ms, pdk_hold **out) {
    if (pdk_interrupt_attach(it.interrupt) != PDK_OK)
        return PDK_SYSTEM;
    const pdk_status status = it.acquire(recipe, timeout_ms, out);
    pdk_interrupt_detach();
    return status;
}

static void assert_ends(ts_answer *answer, pdk_status wanted) {
    ck_assert(ts_answer_wait(answer, ts_patience(1000)));
    ck_assert_str_eq(pdk_status_name(ts_answer_status(answer)), pdk_status_name(wanted));
}

START_TEST(from_another_thread) {
    make_it(_i);
    ts_answer *answer = ts_answer_block(acquire_with_interrupt, it.recipe, PDK_FOREVER);
    ck_assert(!ts_answer_wait(answer, 150));
    pdk_interrupt_raise(it.interrupt);
    assert_ends(answer, PDK_CANCELED);
    if (it.acquire == lock && it.theirs) /* the node of the claim goes */
        ck_assert(ts_wait_until(one_child, (void *)it.path, ts_patience(2000)));
}
END_TEST

/* The thread's own claim ends, and another thread of the same lock waits on and is granted. */
START_TEST(the_other_claims_of_the_lock_go_on) {
    make_it(0);
    ts_answer *first = ts_answer_block(acquire_with_interrupt, it.recipe, PDK_FOREVER);
    ck_assert(!ts_answer_wait(first, 150));
    ts_answer *second = ts_acquire_thread(it.recipe, PDK_FOREVER);
    ck_assert(!ts_answer_wait(second, 150));
    ts_answer *third = ts_acquire_async(it.recipe, PDK_FOREVER);
    pdk_interrupt_raise(it.interrupt);
    assert_ends(first, PDK_CANCELED);
    ck_assert(!ts_answer_wait(second, 100));
    ck_assert_int_eq(pdk_hold_release(g_steal_pointer(&it.theirs)), PDK_OK);
    assert_ends(second, PDK_OK);
    ck_assert_int_eq(ts_answer_count(third), 0);
}
END_TEST

/* A thread with an interrupt is woken by all that wakes others: a grant, a deadline, the end of the session. */
START_TEST(a_thread_with_an_interrupt_is_woken_as_others_are) {
    make_it(0);
    ts_answer *granted = ts_answer_block(acquire_with_interrupt, it.recipe, PDK_FOREVER);
    ck_assert(!ts_answer_wait(granted, 150));
    ck_assert_int_eq(pdk_hold_release(g_steal_pointer(&it.theirs)), PDK_OK);
    assert_ends(granted, PDK_OK);
    pdk_hold *hold = ts_answer_hold(granted);
    ts_answer_join(granted);
    ck_assert_int_eq(pdk_hold_ensure(hold, 1), PDK_OK);
    pdk_hold_detach_thread(hold);
    ts_answer *late = ts_answer_block(acquire_with_interrupt, it.recipe, 150);
    ck_assert(ts_answer_wait(late, ts_patience(2000)));
    ck_assert_int_eq(ts_answer_status(late), PDK_TIMEOUT);
    ts_answer_join(late);
    ts_answer *closed = ts_answer_block(acquire_with_interrupt, it.recipe, PDK_FOREVER);
    ck_assert(!ts_answer_wait(closed, 100));
    ck_assert_int_eq(pdk_session_close(it.client->session, 5000), PDK_OK);
    assert_ends(closed, PDK_CLOSED);
}
END_TEST

/* A wait with a deadline, as that of an election, keeps it. */
START_TEST(a_deadline_holds_with_an_interrupt) {
    pdk_hold *hold = NULL;
    make_it(4);
    ck_assert_int_eq(pdk_interrupt_attach(it.interrupt), PDK_OK);
    const int64_t before = ts_now_ms();
    ck_assert_int_eq(pdk_election_wait(it.recipe, 200, &hold), PDK_TIMEOUT);
    ck_assert_int_ge(ts_now_ms() - before, 199);
    pdk_interrupt_detach();
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
    pdk_hold *hold = NULL;
    make_it(_i / 2);
    handle(_i % 2 == 0 ? SA_RESTART : 0);
    ck_assert_int_eq(pdk_interrupt_attach(it.interrupt), PDK_OK);
    pthread_t self = pthread_self();
    GThread *thread = g_thread_new("alarm", alarm_soon, &self);
    const int64_t before = ts_now_ms();
    ck_assert_str_eq(pdk_status_name(it.acquire(it.recipe, PDK_FOREVER, &hold)), "PDK_CANCELED");
    ck_assert_int_lt(ts_now_ms() - before, ts_patience(2000));
    ck_assert_msg(strstr(pdk_last_error(), "pdk_interrupt_clear") != NULL, "%s", pdk_last_error());
    g_thread_join(thread);
    pdk_interrupt_detach();
}
END_TEST

/* ---- before the call, and after the grant */

START_TEST(raised_before_the_call) {
    pdk_hold *hold = NULL;
    make_it(_i);
    ck_assert_int_eq(pdk_interrupt_attach(it.interrupt), PDK_OK);
    pdk_interrupt_raise(it.interrupt);
    ts_proxy_zero(it.client->proxy);
    for (int i = 0; i < 2; i++) { /* it stays raised */
        ck_assert_int_eq(it.acquire(it.recipe, PDK_FOREVER, &hold), PDK_CANCELED);
        ck_assert_int_eq(it.acquire(it.recipe, 0, &hold), PDK_CANCELED);
    }
    ck_assert_uint_eq(ts_proxy_count(it.client->proxy, TS_OP_CREATE2), 0);
    pdk_interrupt_clear(it.interrupt);
    const pdk_status status = it.acquire(it.recipe, 0, &hold);
    ck_assert_msg(status == PDK_BUSY || status == PDK_TIMEOUT, "%s", pdk_status_name(status));
    pdk_interrupt_detach();
}
END_TEST

START_TEST(raised_after_the_grant) {
    pdk_hold *hold = NULL, *second = NULL;
    make_it(0);
    ck_assert_int_eq(pdk_hold_release(g_steal_pointer(&it.theirs)), PDK_OK);
    ck_assert_int_eq(pdk_interrupt_attach(it.interrupt), PDK_OK);
    ck_assert_int_eq(it.acquire(it.recipe, 5000, &hold), PDK_OK);
    pdk_interrupt_raise(it.interrupt);
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_int_eq(pdk_hold_ensure(hold, 100), PDK_OK);
    ck_assert_int_eq(it.acquire(it.recipe, 5000, &second), PDK_CANCELED);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    pdk_interrupt_detach();
}
END_TEST

static Suite *make_suite(void) {
    const int count = G_N_ELEMENTS(recipes);
    Suite *suite = suite_create("interrupt");
    TCase *tcase = ts_bench_case(suite, "interrupt");
    tcase_add_checked_fixture(tcase, NULL, release_theirs);

    tcase_add_loop_test(tcase, from_another_thread, 0, count);
    tcase_add_test(tcase, the_other_claims_of_the_lock_go_on);
    tcase_add_test(tcase, a_thread_with_an_interrupt_is_woken_as_others_are);
    tcase_add_test(tcase, a_deadline_holds_with_an_interrupt);
    tcase_add_loop_test(tcase, from_a_signal_handler, 0, 2 * count);
    tcase_add_loop_test(tcase, raised_before_the_call, 0, count);
    tcase_add_test(tcase, raised_after_the_grant);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

/* A thread that waits in the monitor of a session is woken when the monitor is free. By then it may be gone, and so may the
 * session. */
#include <glib.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>

#include "base/interrupt.h"
#include "session/session.h"
#include "ts_check.h"
#include "ts_clock.h"

enum { MANY = 3 * PDK__WOKEN_LATER, LONG_MS = 6000 };

static const struct pdk__platform platform = {.now = ts_now_ns};

static struct {
    pdk_session *s;
    struct pdk__waiters first, second;
    atomic_bool go;
    int64_t begun_ms;
    atomic_int wakes, under;   /* under the monitor */
    atomic_int destroyed;      /* interrupts */
    bool was_there;            /* the interrupt, when all else was gone */
    bool (*before_wake)(void); /* false: the interrupt is gone */
    GThread *thread;
} it;

/* The names that --wrap gives. NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
void __real_pdk__interrupt_wake(pdk_interrupt *interrupt);
void __wrap_pdk__interrupt_wake(pdk_interrupt *interrupt);
int __real_sem_destroy(sem_t *semaphore);
int __wrap_sem_destroy(sem_t *semaphore);

void __wrap_pdk__interrupt_wake(pdk_interrupt *interrupt) {
    const bool under = pdk__monitor_is_mine(&it.s->monitor);
    it.wakes++;
    it.under += under;
    if (under || !it.before_wake || it.before_wake())
        __real_pdk__interrupt_wake(interrupt);
}

int __wrap_sem_destroy(sem_t *semaphore) {
    it.destroyed++;
    return __real_sem_destroy(semaphore);
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

static void make_session(void) {
    memset(it.s, 0, sizeof *it.s);
    it.s->platform = &platform;
    pdk__monitor_init(&it.s->monitor);
}

static void set_up(void) {
    it.s = g_new0(pdk_session, 1);
    make_session();
    it.go = false;
    it.wakes = it.under = it.destroyed = 0;
    it.before_wake = NULL;
    it.begun_ms = ts_now_ms();
}

static void tear_down(void) {
    pdk__monitor_clear(&it.s->monitor);
    g_free(it.s);
}

/* A wake-up that is lost makes the test late. */
static void assert_in_time(void) { ck_assert_int_lt(ts_now_ms() - it.begun_ms, LONG_MS / 2); }

static gpointer wait_for_go(gpointer waiters) {
    pdk__lock(it.s);
    while (!it.go)
        pdk__wait(it.s, waiters, pdk__now(it.s) + LONG_MS * PDK__MS);
    pdk__unlock(it.s);
    return NULL;
}

static bool so_many_wait(void *count) {
    pdk__lock(it.s);
    guint waiting = it.s->monitor.all.threads.length;
    pdk__unlock(it.s);
    return waiting == GPOINTER_TO_UINT(count);
}

static void await_waiting(guint count) { ck_assert(ts_wait_until(so_many_wait, GUINT_TO_POINTER(count), LONG_MS)); }

START_TEST(a_thread_is_woken_when_the_monitor_is_free) {
    it.thread = g_thread_new("waits", wait_for_go, &it.first);
    await_waiting(1);
    pdk__lock(it.s);
    it.go = true;
    pdk__wake(&it.first);
    pdk__wake(&it.first);
    const int before = it.wakes;
    pdk__unlock(it.s);
    g_thread_join(it.thread);
    ck_assert_int_eq(before, 0);
    ck_assert_int_eq(it.wakes, 1);
    ck_assert_int_eq(it.under, 0);
    assert_in_time();
}
END_TEST

START_TEST(all_of_many_are_woken) {
    GThread *threads[MANY];
    for (int i = 0; i < MANY; i++)
        threads[i] = g_thread_new("waits", wait_for_go, &it.first);
    await_waiting(MANY);
    pdk__lock(it.s);
    it.go = true;
    pdk__wake_all(it.s);
    pdk__unlock(it.s);
    for (int i = 0; i < MANY; i++)
        g_thread_join(threads[i]);
    ck_assert_int_eq(it.wakes, MANY);
    ck_assert_int_eq(it.under, MANY - PDK__WOKEN_LATER);
    assert_in_time();
}
END_TEST

/* ---- a thread that sleeps itself gives up the monitor, too */

static gpointer answer(gpointer ignored) {
    wait_for_go(&it.first);
    pdk__lock(it.s);
    pdk__wake(&it.second);
    pdk__unlock(it.s);
    return ignored;
}

START_TEST(a_thread_that_falls_asleep_wakes_those_that_are_due) {
    it.thread = g_thread_new("answers", answer, NULL);
    await_waiting(1);
    pdk__lock(it.s);
    it.go = true;
    pdk__wake(&it.first);
    ck_assert(pdk__wait(it.s, &it.second, pdk__now(it.s) + LONG_MS * PDK__MS));
    pdk__unlock(it.s);
    g_thread_join(it.thread);
    assert_in_time();
}
END_TEST

/* ---- between the monitor and the wake-up the thread's time is over, and it ends */

static gpointer wait_a_moment(gpointer ignored) {
    pdk__lock(it.s);
    pdk__wait(it.s, &it.first, pdk__now(it.s) + 50 * PDK__MS);
    pdk__unlock(it.s);
    return ignored;
}

/* What would be in its memory. */
static void spoil(void) { memset(it.s, 0x55, sizeof *it.s); }

static bool is_spoiled(void) {
    const char *at = (const char *)it.s;
    return at[0] == 0x55 && memcmp(at, at + 1, sizeof *it.s - 1) == 0;
}

static bool let_all_end(void) {
    it.before_wake = NULL;
    g_thread_join(it.thread);
    pdk__monitor_clear(&it.s->monitor);
    spoil();
    it.was_there = it.destroyed == 0;
    return it.was_there;
}

/* false: the thread waits no more, or not yet. */
static bool wake_the_first(void) {
    pdk__lock(it.s);
    const bool waits = it.first.threads.length == 1;
    it.before_wake = waits ? let_all_end : NULL;
    pdk__wake(&it.first);
    pdk__unlock(it.s);
    return waits;
}

START_TEST(a_thread_and_its_session_may_be_gone_when_it_is_woken) {
    bool met = false;
    while (!met) {
        it.thread = g_thread_new("is gone", wait_a_moment, NULL);
        ts_sleep_ms(10);
        met = wake_the_first();
        if (!met || it.before_wake)
            g_thread_join(it.thread);
    }
    const bool untouched = is_spoiled();
    make_session();
    ck_assert_int_eq(it.wakes, 1);
    ck_assert(it.was_there);
    ck_assert_int_eq(it.destroyed, 1); /* with the wake-up's reference */
    ck_assert(untouched);
}
END_TEST

int main(void) {
    return ts_run("monitor", set_up, tear_down, a_thread_is_woken_when_the_monitor_is_free, all_of_many_are_woken,
                  a_thread_that_falls_asleep_wakes_those_that_are_due,
                  a_thread_and_its_session_may_be_gone_when_it_is_woken, NULL);
}

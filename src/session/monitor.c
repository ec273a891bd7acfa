#include "session/monitor.h"

#include "base/interrupt.h"
#include "base/thread.h"
#include "session/session.h"

#include <time.h>

/* A thread that waits. It is on the thread's stack. */
struct waiter {
    pdk_interrupt *on; /* the thread's */
    struct pdk__monitor *monitor;
    bool woken;        /* it is due, or was */
    GList link;        /* in the list that it waits on */
    GList link_in_all; /* in monitor.all */
};

void pdk__monitor_init(struct pdk__monitor *m) { pthread_mutex_init(&m->mutex, NULL); }

void pdk__monitor_clear(struct pdk__monitor *m) {
    assert(atomic_load(&m->owner) == 0 && m->due.count == 0);
    assert(g_queue_is_empty(&m->all.threads) && g_queue_is_empty(&m->all.sleepers));
    pthread_mutex_destroy(&m->mutex);
}

/* So much weight may come in ahead of a thread that waits. */
#define PASSED_MAX 64
#define TURN_NS 50000L
#define TURNS_MAX 20

void pdk__monitor_queue(struct pdk__monitor *m) {
    atomic_fetch_add(&m->queued, 1);
    pthread_mutex_lock(&m->mutex);
    atomic_fetch_sub(&m->queued, 1);
    atomic_fetch_add(&m->turns, 1);
    atomic_store(&m->passed, 0);
}

/* Not under the monitor. */
static void give_turn(struct pdk__monitor *m) {
    unsigned turns = atomic_load(&m->turns);
    for (int i = 0; i < TURNS_MAX && atomic_load(&m->queued) > 0 && atomic_load(&m->turns) == turns; i++)
        nanosleep(&(struct timespec){0, TURN_NS}, NULL);
}

void pdk__monitor_let_others(struct pdk__monitor *m) {
    pdk__cancel_off();
    pdk__monitor_leave(m);
    give_turn(m);
    pdk__monitor_enter(m);
    pdk__cancel_back();
}

void pdk__monitor_be_fair(struct pdk__monitor *m, unsigned weight) {
    if (atomic_fetch_add(&m->passed, weight) < PASSED_MAX)
        return;
    give_turn(m);
    atomic_store(&m->passed, 0);
}

/* ---- waiting, and waking */

/* A wait, for the thread that may be cancelled in it. */
struct sleep {
    pdk_session *s;
    struct pdk__waiters *waiters;
    struct waiter *waiter;
    int64_t ns;
};

static void sleep_begins(const struct sleep *sleep) {
    g_queue_push_tail_link(&sleep->waiters->threads, &sleep->waiter->link);
    g_queue_push_tail_link(&sleep->s->monitor.all.threads, &sleep->waiter->link_in_all);
    pdk__monitor_give_up(&sleep->s->monitor);
}

static void sleep_ends(const struct sleep *sleep) {
    pthread_mutex_lock(&sleep->s->monitor.mutex);
    atomic_store_explicit(&sleep->s->monitor.owner, pdk__this_thread(), memory_order_relaxed);
    g_queue_unlink(&sleep->waiters->threads, &sleep->waiter->link);
    g_queue_unlink(&sleep->s->monitor.all.threads, &sleep->waiter->link_in_all);
}

/* The thread is cancelled. It ends when this has returned. */
static void cancelled(void *user) {
    struct sleep *sleep = user;
    pdk_session *s = sleep->s;
    sleep_ends(sleep);
    pdk__leave_run_locked();
    pdk__unlock(s);
    pdk__leave_run_after();
}

static void sleep_cancellable(struct sleep *sleep) {
    pthread_cleanup_push(cancelled, sleep);
    pdk__cancel_open();
    pdk__interrupt_sleep(sleep->waiter->on, sleep->ns);
    pdk__cancel_shut();
    pthread_cleanup_pop(0);
}

bool pdk__wait(pdk_session *s, struct pdk__waiters *waiters, int64_t until) {
    pdk__assert_locked(s);
    int64_t left = until == INT64_MAX ? INT64_MAX : until - pdk__now(s);
    if (left <= 0)
        return false;
    struct waiter waiter = {.on = pdk__interrupt_to_sleep_on(), .monitor = &s->monitor};
    struct sleep sleep = {s, waiters, &waiter, left};
    waiter.link.data = waiter.link_in_all.data = &waiter;
    sleep_begins(&sleep);
    if (pdk__leave_possible())
        sleep_cancellable(&sleep);
    else
        pdk__interrupt_sleep(waiter.on, left);
    sleep_ends(&sleep);
    return true;
}

static void wake_soon(struct waiter *waiter) {
    struct pdk__due_threads *due = &waiter->monitor->due;
    if (waiter->woken)
        return;
    waiter->woken = true;
    if (due->count < PDK__WOKEN_LATER)
        due->of[due->count++] = pdk_interrupt_ref(waiter->on);
    else
        pdk__interrupt_wake(waiter->on);
}

void pdk__monitor_give_up_and_wake(struct pdk__monitor *m) {
    struct pdk__due_threads due = m->due;
    m->due.count = 0;
    pthread_mutex_unlock(&m->mutex);
    for (unsigned i = 0; i < due.count; i++) {
        pdk__interrupt_wake(due.of[i]);
        pdk_interrupt_unref(due.of[i]);
    }
}

void pdk__wake(struct pdk__waiters *waiters) {
    for (GList *link = waiters->threads.head; link; link = link->next)
        wake_soon(link->data);
    for (GList *link = waiters->sleepers.head; link; link = link->next) {
        struct pdk__sleeper *sleeper = link->data;
        sleeper->woken(sleeper);
    }
}

void pdk__sleep_on(struct pdk__waiters *waiters, struct pdk__sleeper *sleeper) {
    assert(!sleeper->link.data);
    sleeper->link.data = sleeper;
    g_queue_push_tail_link(&waiters->sleepers, &sleeper->link);
}

void pdk__sleep_off(struct pdk__waiters *waiters, struct pdk__sleeper *sleeper) {
    if (!sleeper->link.data)
        return;
    g_queue_unlink(&waiters->sleepers, &sleeper->link);
    sleeper->link.data = NULL;
}

void pdk__wake_all(pdk_session *s) {
    pdk__assert_locked(s);
    pdk__wake(&s->monitor.all);
}

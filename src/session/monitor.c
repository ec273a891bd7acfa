#include "session/monitor.h"

#include "base/interrupt.h"
#include "base/thread.h"
#include "session/session.h"

#include <time.h>

/* A thread that waits. It is on the thread's stack. */
struct waiter {
    pthread_cond_t woken;
    pdk_interrupt *interrupt; /* the thread's, on which it sleeps then; or NULL */
    GList link;               /* in the list that it waits on */
    GList link_in_all;        /* in monitor.all */
};

void pdk__monitor_init(struct pdk__monitor *m) { pthread_mutex_init(&m->mutex, NULL); }

void pdk__monitor_clear(struct pdk__monitor *m) {
    assert(atomic_load(&m->owner) == 0 && g_queue_is_empty(&m->all.threads) && g_queue_is_empty(&m->all.sleepers));
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

/* A wait, for the thread that may be cancelled in it. */
struct sleep {
    pdk_session *s;
    struct pdk__waiters *waiters;
    struct waiter *waiter;
    int64_t ns;
    bool outside; /* it has given the mutex up itself */
};

static void sleep_begins(const struct sleep *sleep) {
    g_queue_push_tail_link(&sleep->waiters->threads, &sleep->waiter->link);
    g_queue_push_tail_link(&sleep->s->monitor.all.threads, &sleep->waiter->link_in_all);
    atomic_store_explicit(&sleep->s->monitor.owner, 0, memory_order_relaxed);
}

static void sleep_ends(const struct sleep *sleep) {
    atomic_store_explicit(&sleep->s->monitor.owner, pdk__this_thread(), memory_order_relaxed);
    g_queue_unlink(&sleep->waiters->threads, &sleep->waiter->link);
    g_queue_unlink(&sleep->s->monitor.all.threads, &sleep->waiter->link_in_all);
    pthread_cond_destroy(&sleep->waiter->woken);
}

/* The thread does not have the monitor while it sleeps. */
static void sleep_now(struct sleep *sleep) {
    pthread_mutex_t *mutex = &sleep->s->monitor.mutex;
    struct waiter *waiter = sleep->waiter;
    if (waiter->interrupt) {
        sleep->outside = true;
        pthread_mutex_unlock(mutex);
        pdk__interrupt_sleep(waiter->interrupt, sleep->ns);
        pthread_mutex_lock(mutex);
        sleep->outside = false;
    } else if (sleep->ns == INT64_MAX) {
        pthread_cond_wait(&waiter->woken, mutex);
    } else {
        struct timespec at = pdk__cond_moment(sleep->ns);
        pthread_cond_timedwait(&waiter->woken, mutex, &at);
    }
}

/* The thread is cancelled. It ends when this has returned. */
static void cancelled(void *user) {
    struct sleep *sleep = user;
    pdk_session *s = sleep->s;
    if (sleep->outside)
        pthread_mutex_lock(&s->monitor.mutex);
    sleep_ends(sleep);
    pdk__leave_run_locked();
    pdk__unlock(s);
    pdk__leave_run_after();
}

static void sleep_cancellable(struct sleep *sleep) {
    pthread_cleanup_push(cancelled, sleep);
    pdk__cancel_open();
    sleep_now(sleep);
    pdk__cancel_shut();
    pthread_cleanup_pop(0);
}

bool pdk__wait(pdk_session *s, struct pdk__waiters *waiters, int64_t until) {
    pdk__assert_locked(s);
    int64_t left = until == INT64_MAX ? INT64_MAX : until - pdk__now(s);
    if (left <= 0)
        return false;
    struct waiter waiter = {.interrupt = pdk__interrupt_attached(), .link.data = &waiter, .link_in_all.data = &waiter};
    struct sleep sleep = {s, waiters, &waiter, left, false};
    pdk__cond_init(&waiter.woken);
    sleep_begins(&sleep);
    if (pdk__leave_possible())
        sleep_cancellable(&sleep);
    else
        sleep_now(&sleep);
    sleep_ends(&sleep);
    return true;
}

void pdk__wake(struct pdk__waiters *waiters) {
    for (GList *link = waiters->threads.head; link; link = link->next) {
        struct waiter *waiter = link->data;
        if (waiter->interrupt)
            pdk__interrupt_wake(waiter->interrupt);
        else
            pthread_cond_signal(&waiter->woken);
    }
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

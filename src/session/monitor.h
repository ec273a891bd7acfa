/* The monitor of a session: its one mutex, the thread that has it, and the threads that wait for a change.
 *
 *     thread ── pdk__lock ──► has the monitor ── pdk__unlock ──►
 *                                │      ▲
 *                     pdk__wait  ▼      │  pdk__wake, the moment, or the end of the session
 *                              waits, on its interrupt
 *
 * Each thread that waits has an interrupt (base/interrupt.h), in a list of the threads that wait for the same thing. An
 * event wakes the threads on its own list, and no others. The end of a session wakes all that wait in it. A call that
 * has a callback waits on the same lists, without a thread (call.h).
 *
 * A thread that is woken needs the monitor. So it is woken as soon as the monitor is free: else it would run into the
 * thread that wakes it, and sleep again. It may be gone by then, woken by something else, so its interrupt has a
 * reference until it is woken. The monitor, too, may be gone by then.
 *
 * A thread that has the monitor is not cancelled. A thread that waits is, if its call has said how to leave
 * (base/cancel.h).
 */
#ifndef PDK_SESSION_MONITOR_H
#define PDK_SESSION_MONITOR_H

#include "base/cancel.h"
#include "base/thread.h"

#include <assert.h>
#include <glib.h>
#include <paddock/interrupt.h>
#include <paddock/session.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The threads, and the calls without a thread, that wait for one thing. Zero is an empty list. */
struct pdk__waiters {
    GQueue threads, sleepers;
};

/* A sleeper waits without a thread. It is woken under the monitor, in the middle of the event that woke it, so it only
 * notes that. */
struct pdk__sleeper {
    void (*woken)(struct pdk__sleeper *sleeper);
    GList link; /* in the list that it waits on, with data while it is there */
};

/* So many threads are woken when the monitor is free. Others are woken under it: then many are woken anyway. */
#define PDK__WOKEN_LATER 8

/* The threads that are to be woken. */
struct pdk__due_threads {
    unsigned count;
    pdk_interrupt *of[PDK__WOKEN_LATER]; /* references */
};

struct pdk__monitor {
    pthread_mutex_t mutex;
    _Atomic uint64_t owner;  /* the thread that has it; 0: none */
    struct pdk__waiters all; /* every thread that waits in this session, and every call without a thread */
    struct pdk__due_threads due;
    atomic_uint queued; /* the threads that have met another one in it, and wait */
    atomic_uint turns;  /* how many of these threads have had it */
    atomic_uint passed; /* how much weight has come in ahead of them since then */
};

void pdk__monitor_init(struct pdk__monitor *m);
void pdk__monitor_clear(struct pdk__monitor *m);
/* For pdk__monitor_enter: wait for the mutex. */
void pdk__monitor_queue(struct pdk__monitor *m);
/* Leave, and enter again as soon as a thread that waits has had a turn, or 2 ms later. A thread that left and entered
 * at once would nearly always be ahead of the waiting threads, since the mutex wakes them too late. */
void pdk__monitor_let_others(struct pdk__monitor *m);
/* For pdk__monitor_give_up: threads are due. */
void pdk__monitor_give_up_and_wake(struct pdk__monitor *m);
/* Somebody waits, and this thread would come in ahead. It may, but not again and again. */
void pdk__monitor_be_fair(struct pdk__monitor *m, unsigned weight);

/* How long the thread will have it: a caller for some microseconds, a thread of the library for up to a millisecond. */
#define PDK__CALLERS_WEIGHT 1
#define PDK__LIBRARYS_WEIGHT 64

/* Does this thread have it? Another thread may write the owner meanwhile, but never this thread's number. */
static inline bool pdk__monitor_is_mine(const struct pdk__monitor *m) {
    return atomic_load_explicit(&m->owner, memory_order_relaxed) == pdk__this_thread();
}

static inline void pdk__monitor_enter_as(struct pdk__monitor *m, unsigned weight) {
    pdk__cancel_off();
    if (atomic_load_explicit(&m->queued, memory_order_relaxed) > 0)
        pdk__monitor_be_fair(m, weight);
    if (pthread_mutex_trylock(&m->mutex) != 0)
        pdk__monitor_queue(m);
    atomic_store_explicit(&m->owner, pdk__this_thread(), memory_order_relaxed);
}

static inline void pdk__monitor_enter(struct pdk__monitor *m) { pdk__monitor_enter_as(m, PDK__CALLERS_WEIGHT); }

static inline void pdk__monitor_give_up(struct pdk__monitor *m) {
    assert(pdk__monitor_is_mine(m));
    atomic_store_explicit(&m->owner, 0, memory_order_relaxed);
    if (m->due.count > 0)
        pdk__monitor_give_up_and_wake(m);
    else
        pthread_mutex_unlock(&m->mutex);
}

static inline void pdk__monitor_leave(struct pdk__monitor *m) {
    pdk__monitor_give_up(m);
    pdk__cancel_back();
}

/* Wait on a list until pdk__wake, the end of the session, or `until` (INT64_MAX: for ever). false: the moment has
 * passed. A thread may be woken without a reason, so the caller looks again. Under the monitor, which the thread gives
 * up meanwhile. A cancellation point for a call that pdk__leave_push was called for. */
bool pdk__wait(pdk_session *s, struct pdk__waiters *waiters, int64_t until);
/* The same without a thread, and until pdk__wake alone: on one list at a time. off: a sleeper that is on no list is
 * allowed. Under the monitor. */
void pdk__sleep_on(struct pdk__waiters *waiters, struct pdk__sleeper *sleeper);
void pdk__sleep_off(struct pdk__waiters *waiters, struct pdk__sleeper *sleeper);
/* Wake the waiters of a list: the threads, when the monitor is free. Under the monitor. */
void pdk__wake(struct pdk__waiters *waiters);
/* Wake all that wait in the session: it has ended. Under the monitor. */
void pdk__wake_all(pdk_session *s);

#endif

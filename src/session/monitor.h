/* The monitor of a session: its one mutex, the thread that has it, and the threads that wait for a change.
 *
 *     thread ── pdk__lock ──► has the monitor ── pdk__unlock ──►
 *                                │      ▲
 *                     pdk__wait  ▼      │  pdk__wake, the moment, or the end of the session
 *                              waits, on a condition of its own
 *
 * Each thread that waits has a condition of its own, in a list of the threads that wait for the same thing. An event
 * wakes the threads on its own list, and no others. The end of a session wakes all that wait in it.
 */
#ifndef PDK_SESSION_MONITOR_H
#define PDK_SESSION_MONITOR_H

#include "base/thread.h"

#include <assert.h>
#include <glib.h>
#include <paddock/session.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The threads that wait for one thing. Zero is an empty list. */
struct pdk__waiters {
    GQueue threads;
};

struct pdk__monitor {
    pthread_mutex_t mutex;
    _Atomic uint64_t owner;  /* the thread that has it; 0: none */
    struct pdk__waiters all; /* every thread that waits in this session */
};

void pdk__monitor_init(struct pdk__monitor *m);
void pdk__monitor_clear(struct pdk__monitor *m);

/* Does this thread have it? Another thread may write the owner meanwhile, but never this thread's number. */
static inline bool pdk__monitor_is_mine(const struct pdk__monitor *m) {
    return atomic_load_explicit(&m->owner, memory_order_relaxed) == pdk__this_thread();
}

static inline void pdk__monitor_enter(struct pdk__monitor *m) {
    pthread_mutex_lock(&m->mutex);
    atomic_store_explicit(&m->owner, pdk__this_thread(), memory_order_relaxed);
}

static inline void pdk__monitor_leave(struct pdk__monitor *m) {
    assert(pdk__monitor_is_mine(m));
    atomic_store_explicit(&m->owner, 0, memory_order_relaxed);
    pthread_mutex_unlock(&m->mutex);
}

/* Wait on a list until pdk__wake, the end of the session, or `until` (INT64_MAX: for ever). false: the moment has
 * passed. A thread may be woken without a reason, so the caller looks again. Under the monitor, which the thread gives
 * up meanwhile. */
bool pdk__wait(pdk_session *s, struct pdk__waiters *waiters, int64_t until);
/* Wake the threads on a list. Under the monitor. */
void pdk__wake(struct pdk__waiters *waiters);
/* Wake all threads that wait in the session: it has ended. Under the monitor. */
void pdk__wake_all(pdk_session *s);

#endif

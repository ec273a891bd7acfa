#include "session/monitor.h"

#include "base/thread.h"
#include "session/session.h"

/* On the stack of a thread that waits. */
struct waiter {
    pthread_cond_t woken;
    GList link;        /* in the list of what it waits for */
    GList link_in_all; /* in monitor.all */
};

void pdk__monitor_init(struct pdk__monitor *m) { pthread_mutex_init(&m->mutex, NULL); }

void pdk__monitor_clear(struct pdk__monitor *m) {
    assert(atomic_load(&m->owner) == 0 && g_queue_is_empty(&m->all.threads));
    pthread_mutex_destroy(&m->mutex);
}

/* The thread does not have the monitor while it sleeps. */
static void sleep_on(struct pdk__monitor *m, pthread_cond_t *condition, int64_t ns) {
    atomic_store_explicit(&m->owner, 0, memory_order_relaxed);
    if (ns == INT64_MAX) {
        pthread_cond_wait(condition, &m->mutex);
    } else {
        struct timespec at = pdk__cond_moment(ns);
        pthread_cond_timedwait(condition, &m->mutex, &at);
    }
    atomic_store_explicit(&m->owner, pdk__this_thread(), memory_order_relaxed);
}

bool pdk__wait(pdk_session *s, struct pdk__waiters *waiters, int64_t until) {
    pdk__assert_locked(s);
    int64_t left = until == INT64_MAX ? INT64_MAX : until - pdk__now(s);
    if (left <= 0)
        return false;
    struct waiter waiter = {.link.data = &waiter, .link_in_all.data = &waiter};
    pdk__cond_init(&waiter.woken);
    g_queue_push_tail_link(&waiters->threads, &waiter.link);
    g_queue_push_tail_link(&s->monitor.all.threads, &waiter.link_in_all);
    sleep_on(&s->monitor, &waiter.woken, left);
    g_queue_unlink(&waiters->threads, &waiter.link);
    g_queue_unlink(&s->monitor.all.threads, &waiter.link_in_all);
    pthread_cond_destroy(&waiter.woken);
    return true;
}

void pdk__wake(struct pdk__waiters *waiters) {
    for (GList *link = waiters->threads.head; link; link = link->next)
        pthread_cond_signal(&((struct waiter *)link->data)->woken);
}

void pdk__wake_all(pdk_session *s) {
    pdk__assert_locked(s);
    pdk__wake(&s->monitor.all);
}

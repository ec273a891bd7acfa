/* See ts_record.h. */
#include "ts_record.h"

#include <pthread.h>
#include <time.h>

#include "ts_clock.h"

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;

void ts_record_lock(void) { pthread_mutex_lock(&guard); }

void ts_record_unlock(void) {
    pthread_cond_broadcast(&news);
    pthread_mutex_unlock(&guard);
}

bool ts_record_reaches(const int *number, int least, int64_t timeout_ms) {
    const int64_t end = ts_now_ns() + timeout_ms * 1000000;
    bool reached;

    pthread_mutex_lock(&guard);
    while (!(reached = *number >= least) && ts_now_ns() < end) {
        struct timespec at;

        clock_gettime(CLOCK_REALTIME, &at);
        at.tv_nsec += 20000000; /* in small steps: the clock may be set */
        at.tv_sec += at.tv_nsec / 1000000000;
        at.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&news, &guard, &at);
    }
    pthread_mutex_unlock(&guard);
    return reached;
}

int64_t ts_record_number(const int64_t *number) {
    int64_t value;

    pthread_mutex_lock(&guard);
    value = *number;
    pthread_mutex_unlock(&guard);
    return value;
}

int ts_record_count(const int *number) {
    int value;

    pthread_mutex_lock(&guard);
    value = *number;
    pthread_mutex_unlock(&guard);
    return value;
}

void ts_record_keep(GPtrArray **all, void *what) {
    pthread_mutex_lock(&guard);
    if (*all == NULL) {
        *all = g_ptr_array_new();
    }
    g_ptr_array_add(*all, what);
    pthread_mutex_unlock(&guard);
}

void ts_record_each(GPtrArray *all, GFunc each) {
    if (all != NULL) {
        g_ptr_array_foreach(all, each, NULL);
    }
}

void ts_record_free_all(GPtrArray **all, GFunc each) {
    GPtrArray *taken;

    pthread_mutex_lock(&guard);
    taken = g_steal_pointer(all);
    pthread_mutex_unlock(&guard);
    ts_record_each(taken, each);
    if (taken != NULL) {
        g_ptr_array_unref(taken);
    }
}

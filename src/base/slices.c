#include "base/slices.h"

#include "base/fork.h"
#include "base/signals.h"
#include "base/thread.h"

#include <glib.h>

enum { PATIENCE_S = 5, LARGEST = 1008, STEP = 16 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned forks; /* when it was asked */
    bool works;
} probe = {.lock = PTHREAD_MUTEX_INITIALIZER, .works = true};

/* A new thread has no stock of its own, so for each size it asks the one that all threads share. A size that nobody
 * uses is cut from a new page. */
static void *take_each_size(void *unused) {
    void *taken[LARGEST / STEP];
    for (gsize i = 0; i < G_N_ELEMENTS(taken); i++)
        taken[i] = g_slice_alloc((i + 1) * STEP);
    for (gsize i = 0; i < G_N_ELEMENTS(taken); i++)
        g_slice_free1((i + 1) * STEP, taken[i]);
    pthread_mutex_lock(&probe.lock);
    probe.works = true;
    pthread_cond_signal(&probe.changed);
    pthread_mutex_unlock(&probe.lock);
    return unused;
}

/* Under the lock. */
static void slices_ask(void) {
    pthread_t thread;
    sigset_t before;
    probe.works = false;
    pdk__cond_init(&probe.changed);
    pdk__signals_block(&before);
    bool begun = pthread_create(&thread, NULL, take_each_size, NULL) == 0;
    pdk__signals_set(&before);
    if (!begun) { /* the session will say so */
        probe.works = true;
        return;
    }
    pthread_detach(thread);
    struct timespec until = pdk__cond_moment(PATIENCE_S * INT64_C(1000000000));
    while (!probe.works && pthread_cond_timedwait(&probe.changed, &probe.lock, &until) == 0)
        ;
}

bool pdk__slices_work(void) {
    pthread_mutex_lock(&probe.lock);
    if (probe.forks != pdk__forks()) {
        probe.forks = pdk__forks();
        slices_ask();
    }
    bool works = probe.works;
    pthread_mutex_unlock(&probe.lock);
    return works;
}

static void before_fork(void) { pthread_mutex_lock(&probe.lock); }
static void after_fork(void) { pthread_mutex_unlock(&probe.lock); }

/* "Internal debugging interface": it is there in every version, and does nothing where there are no slices. */
G_GNUC_BEGIN_IGNORE_DEPRECATIONS

/* Has GLib made its first slice? With it GLib learns the size of a page, from which it computes its largest slice: that
 * is absurd until then. */
static bool has_begun(void) { return g_slice_get_config(G_SLICE_CONFIG_CHUNK_SIZES) < 4096; }

/* This runs before GLib is initialized: the shared library is linked with -z initfirst (PaddockLibrary.cmake). */
__attribute__((constructor)) static void forgo_slices(void) {
    pthread_atfork(before_fork, after_fork, after_fork);
    if (!has_begun())
        g_slice_set_config(G_SLICE_CONFIG_ALWAYS_MALLOC, TRUE);
}
G_GNUC_END_IGNORE_DEPRECATIONS

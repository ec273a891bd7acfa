/* The real platform: libzookeeper, CLOCK_BOOTTIME, and the threads of a session.
 *
 *     timer       sleeps on a timerfd; rings alarms under the monitor         never blocks, never runs user code
 *     connector   resolves, opens and closes handles                         may block for seconds
 *     dispatcher  runs callbacks; absent with manual dispatch                blocks for as long as user code does
 *     (two more belong to each handle of the client library: one does its IO, one brings us its completions)
 *
 * All block the signals that come from outside (base/signals.h), but run user code with the mask of the thread that
 * opened the session. None is joined. The last thread to end frees the session, if nobody references it.
 */
#include "session/threads.h"

#include "base/signals.h"
#include "base/standard.h"
#include "base/text.h"
#include "session/close.h"
#include "session/connect.h"
#include "session/session.h"
#include "zk/resolver.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

struct threads {
    int timer;
    int running;
    bool work; /* for the connector */
    struct pdk__waiters connector;
    atomic_bool stop; /* the timer, and the dispatcher */
    sigset_t openers; /* the signal mask for user code */
};

static struct threads *threads_of(const pdk_session *s) { return s->platform_data; }

static int64_t boottime(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void set_timer(struct threads *t, int64_t at) {
    struct itimerspec spec = {.it_value = {at / 1000000000, at % 1000000000}};
    if (at <= 0)
        spec.it_value = (struct timespec){0, 1};
    timerfd_settime(t->timer, TFD_TIMER_ABSTIME, &spec, NULL);
}

/* The last act of each thread. */
static void thread_ends(pdk_session *s) {
    pdk__lock(s);
    threads_of(s)->running--;
    bool abandoned = threads_of(s)->running == 0 && atomic_load(&s->refs) == 0;
    pdk__signals_set(&threads_of(s)->openers); /* for the user's functions that the session still has to call */
    pdk__wake(&s->on_finish);
    pdk__unlock(s);
    if (abandoned)
        pdk__session_free(s);
}

static void *timer_main(void *user) {
    pdk_session *s = user;
    struct threads *t = threads_of(s);
    while (!atomic_load(&t->stop)) {
        uint64_t expirations;
        if (read(t->timer, &expirations, sizeof expirations) == (ssize_t)sizeof expirations && !atomic_load(&t->stop))
            pdk__tick(s);
    }
    thread_ends(s);
    return NULL;
}

/* With manual dispatch and nobody to dispatch. The user_free functions of callbacks are called here. */
static void drop_what_is_due(pdk_session *s) {
    sigset_t own;
    pdk__signals_block(&own);
    pdk__signals_set(&threads_of(s)->openers);
    pdk__outbox_drop(s);
    pdk__signals_set(&own);
}

static void *connector_main(void *user) {
    pdk_session *s = user;
    struct threads *t = threads_of(s);
    for (;;) {
        int64_t wait_until = 0;
        if (pdk__nobody_dispatches(s))
            drop_what_is_due(s);
        if (pdk__connector_run(s, &wait_until))
            break;
        pdk__lock(s);
        while (!t->work && pdk__wait(s, &t->connector, wait_until))
            ;
        t->work = false;
        pdk__unlock(s);
    }
    atomic_store(&t->stop, true);
    set_timer(t, 0);
    pthread_mutex_lock(&s->outbox.lock);
    pthread_cond_broadcast(&s->outbox.changed);
    pthread_mutex_unlock(&s->outbox.lock);
    thread_ends(s);
    return NULL;
}

/* May the dispatcher end when nothing is due? Not while the session has a reference, since its owner may still make
 * callbacks due. Then the close that waits for them ends the dispatcher, when it makes the outbox silent. */
static bool nobody_can_call(const pdk_session *s) {
    return atomic_load(&threads_of(s)->stop) && atomic_load(&s->refs) == 0;
}

static void *dispatcher_main(void *user) {
    pdk_session *s = user;
    struct pdk__outbox *o = &s->outbox;
    struct threads *t = threads_of(s);
    sigset_t own;
    bool more = true;
    while (more) {
        pdk__signals_set(&t->openers);
        while (pdk__outbox_run_one(s))
            ;
        if (pdk__is_forked(s))
            return NULL;
        pdk__signals_block(&own);
        pthread_mutex_lock(&o->lock);
        while (pdk__outbox_is_empty(o) && !o->silent && !nobody_can_call(s))
            pthread_cond_wait(&o->changed, &o->lock);
        more = !o->silent && !pdk__outbox_is_empty(o);
        pthread_mutex_unlock(&o->lock);
    }
    thread_ends(s);
    return NULL;
}

bool pdk__thread_begin(void *(*main)(void *user), void *user) {
    pthread_t thread;
    sigset_t before;
    pdk__signals_block(&before);
    bool begun = pthread_create(&thread, NULL, main, user) == 0;
    if (begun)
        pthread_detach(thread);
    pdk__signals_set(&before);
    return begun;
}

static bool start_thread(pdk_session *s, void *(*main)(void *)) {
    bool begun = pdk__thread_begin(main, s); /* under the monitor: it is counted before it can end */
    threads_of(s)->running += begun;
    return begun;
}

static pdk_status real_start(pdk_session *s) {
    struct threads *t = g_new0(struct threads, 1);
    s->platform_data = t;
    pdk__signals_of_thread(&t->openers);
    t->timer = pdk__above_standard(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC));
    if (t->timer < 0)
        return pdk__fail(PDK_SYSTEM, "timerfd_create: %s", g_strerror(errno));
    pdk__lock(s); /* none ends before all have begun */
    bool started = start_thread(s, connector_main);
    if (started && !(start_thread(s, timer_main) && (s->outbox.manual || start_thread(s, dispatcher_main)))) {
        started = false;
        s->finish = true; /* the connector stops the threads that run, then itself */
        s->ended = PDK_CLOSED;
    }
    pdk__unlock(s);
    return started ? PDK_OK : pdk__fail(PDK_SYSTEM, "pthread_create: no thread to be had");
}

static void real_arm(pdk_session *s, int64_t at) {
    pdk__assert_locked(s);
    set_timer(threads_of(s), at);
}

static void real_wake(pdk_session *s) {
    if (s->outbox.fd >= 0)
        eventfd_write(s->outbox.fd, 1);
}

static void real_work(pdk_session *s) {
    pdk__assert_locked(s);
    struct threads *t = threads_of(s);
    t->work = true;
    pdk__wake(&t->connector);
}

static void real_end(pdk_session *s) {
    struct threads *t = threads_of(s);
    if (!t)
        return;
    if (t->timer >= 0)
        close(t->timer);
    g_free(t);
    s->platform_data = NULL;
}

static bool real_ended(const pdk_session *s) {
    pdk__assert_locked(s);
    return !s->platform_data || threads_of(s)->running == 0;
}

/* The bytes come from the kernel, since GLib's generator gives parent and child the same numbers. So few of them come
 * in one piece. */
static void real_random(void *bytes, size_t size) {
    pdk__cancel_off(); /* also for a thread of the program, which has something half done */
    while (getrandom(bytes, size, 0) != (ssize_t)size)
        ;
    pdk__cancel_back();
}

/* 100 ms for servers and network, 40 ms for threads that run late. */
#define LATE_NS (140 * PDK__MS)

const struct pdk__platform pdk__platform_real = {
    LATE_NS,  &pdk__zk_client, pdk__resolve, boottime,   real_random, real_start,
    real_arm, real_wake,       real_work,    real_ended, real_end,    0,
};

/* The thread of all proxies: one epoll, one timer, one lock. */
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "proxy_internal.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER; /* joining and leaving, one at a time */

static struct {
    pthread_t thread;
    pthread_cond_t news;
    int epoll;
    pdk__test_source wake;
    pdk__test_source timer;
    int64_t timer_ns; /* the timer's setting, 0: not set */
    GList *proxies;
    GList *dead_conns;
    GList *dead_proxies;
    bool stop;
} loop;

void pdk__test_loop_watch(pdk__test_source *source, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = source};

    if (source->registered && source->events == events) {
        return;
    }
    epoll_ctl(loop.epoll, source->registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, source->fd, &event);
    source->registered = true;
    source->events = events;
}

void pdk__test_loop_forget(pdk__test_source *source) {
    if (source->registered) {
        epoll_ctl(loop.epoll, EPOLL_CTL_DEL, source->fd, NULL);
        source->registered = false;
    }
}

void pdk__test_loop_close(pdk__test_source *source) {
    pdk__test_loop_forget(source);
    if (source->fd >= 0) {
        close(source->fd);
        source->fd = -1;
    }
}

void pdk__test_loop_dispose(pdk__test_conn *conn) { loop.dead_conns = g_list_prepend(loop.dead_conns, conn); }

static void wake(void) {
    const uint64_t one = 1;

    if (write(loop.wake.fd, &one, sizeof one) < 0) {
        return; /* its count is full: the thread is awake */
    }
}

static void drain(int fd) {
    uint64_t count;

    if (read(fd, &count, sizeof count) < 0) {
        return; /* nothing there */
    }
}

static int64_t next_due(void) {
    int64_t soonest = INT64_MAX;

    for (GList *p = loop.proxies; p != NULL; p = p->next) {
        for (GList *c = ((pdk_test_proxy *)p->data)->conns; c != NULL; c = c->next) {
            soonest = MIN(soonest, pdk__test_conn_due(c->data));
        }
    }
    return soonest;
}

static void set_timer(void) {
    const int64_t due = next_due();
    struct itimerspec when = {0};

    if (due == INT64_MAX) {
        return; /* an old setting costs one idle round at most */
    }
    if (loop.timer_ns == due) {
        return;
    }
    loop.timer_ns = due;
    when.it_value.tv_sec = (time_t)(due / 1000000000);
    when.it_value.tv_nsec = (long)(due % 1000000000);
    if (due <= 0) {
        when.it_value.tv_nsec = 1; /* 0 would unset it */
    }
    timerfd_settime(loop.timer.fd, TFD_TIMER_ABSTIME, &when, NULL);
}

void pdk__test_loop_lock(void) { pthread_mutex_lock(&lock); }

void pdk__test_loop_unlock(void) {
    if (loop.proxies != NULL) {
        set_timer();
    }
    pthread_mutex_unlock(&lock);
}

bool pdk__test_loop_await(int64_t deadline_ns) {
    struct timespec until;
    const int64_t left = deadline_ns - pdk__test_now_ns();
    int64_t end;

    if (left <= 0) {
        return false;
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    end = (int64_t)until.tv_sec * 1000000000 + until.tv_nsec + left;
    until.tv_sec = (time_t)(end / 1000000000);
    until.tv_nsec = (long)(end % 1000000000);
    pthread_cond_timedwait(&loop.news, &lock, &until);
    return true;
}

void pdk__test_loop_announce(void) { pthread_cond_broadcast(&loop.news); }

static void run_due(void) {
    const int64_t now = pdk__test_now_ns();

    for (GList *p = loop.proxies; p != NULL; p = p->next) {
        GList *c = ((pdk_test_proxy *)p->data)->conns;

        while (c != NULL) {
            GList *following = c->next; /* running a connection may end it, never another */

            if (pdk__test_conn_due(c->data) <= now) {
                pdk__test_conn_run(c->data, now);
            }
            c = following;
        }
    }
}

static void handle(const struct epoll_event *event) {
    pdk__test_source *source = event->data.ptr;

    switch (source->kind) {
    case SOURCE_WAKE:
        drain(source->fd);
        break;
    case SOURCE_TIMER:
        drain(source->fd);
        loop.timer_ns = 0;
        break;
    case SOURCE_LISTENER:
        pdk__test_conn_accept(source->owner);
        break;
    case SOURCE_END:
        pdk__test_conn_event(source->owner, source->which, event->events);
        break;
    }
}

/* Free a proxy that the thread does not know, or does not use any more. */
static void free_proxy(void *data) {
    pdk_test_proxy *p = data;

    g_free(p->ip);
    g_free(p->address);
    g_free(p->target);
    g_free(p->rewrite_argument);
    g_array_free(p->sessions, TRUE);
    g_free(p);
}

void pdk__test_proxy_discard(pdk_test_proxy *p) {
    if (p->listener.fd >= 0) {
        close(p->listener.fd);
    }
    if (p->reservation >= 0) {
        close(p->reservation);
    }
    free_proxy(p);
}

static void free_conn(void *data) { pdk__test_conn_free(data); }

static void free_dead(void) {
    g_list_free_full(loop.dead_conns, free_conn);
    g_list_free_full(loop.dead_proxies, free_proxy);
    loop.dead_conns = NULL;
    loop.dead_proxies = NULL;
}

static void *run(void *unused) {
    struct epoll_event events[64];
    bool stop = false;

    (void)unused;
    while (!stop) {
        const int count = epoll_wait(loop.epoll, events, G_N_ELEMENTS(events), -1);

        pdk__test_loop_lock();
        for (int i = 0; i < count; i++) {
            handle(&events[i]);
        }
        run_due();
        free_dead();
        stop = loop.stop;
        pdk__test_loop_unlock();
    }
    return NULL;
}

static bool start_thread(void) {
    pthread_condattr_t attributes;
    sigset_t all, old;
    int failed;

    loop.epoll = epoll_create1(EPOLL_CLOEXEC);
    loop.wake = (pdk__test_source){.kind = SOURCE_WAKE, .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    loop.timer =
        (pdk__test_source){.kind = SOURCE_TIMER, .fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)};
    loop.stop = false;
    loop.timer_ns = 0;
    pdk__test_loop_watch(&loop.wake, EPOLLIN);
    pdk__test_loop_watch(&loop.timer, EPOLLIN);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&loop.news, &attributes);
    pthread_condattr_destroy(&attributes);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    failed = pthread_create(&loop.thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return failed == 0;
}

static void end_thread(void) {
    pthread_join(loop.thread, NULL);
    free_dead();
    pthread_cond_destroy(&loop.news);
    pdk__test_loop_close(&loop.wake);
    pdk__test_loop_close(&loop.timer);
    close(loop.epoll);
}

bool pdk__test_loop_join(pdk_test_proxy *p) {
    bool ok = true;

    pthread_mutex_lock(&start_lock);
    pdk__test_loop_lock();
    if (loop.proxies == NULL) {
        ok = start_thread();
    }
    if (ok) {
        loop.proxies = g_list_prepend(loop.proxies, p);
        pdk__test_loop_watch(&p->listener, EPOLLIN);
    }
    pdk__test_loop_unlock();
    pthread_mutex_unlock(&start_lock);
    return ok;
}

void pdk__test_loop_leave(pdk_test_proxy *p) {
    bool last;

    pthread_mutex_lock(&start_lock);
    pdk__test_loop_lock();
    p->dead = true;
    while (p->conns != NULL) {
        pdk__test_conn_reset(p->conns->data, true);
    }
    pdk__test_loop_close(&p->listener);
    close(p->reservation);
    loop.proxies = g_list_remove(loop.proxies, p);
    loop.dead_proxies = g_list_prepend(loop.dead_proxies, p);
    last = loop.proxies == NULL;
    loop.stop = last;
    wake();
    pdk__test_loop_unlock();
    if (last) {
        end_thread();
    }
    pthread_mutex_unlock(&start_lock);
}

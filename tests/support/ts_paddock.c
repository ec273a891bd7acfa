/* Sessions behind proxies, witnesses of acquisitions and losses. One mutex guards what all of them record. */
#include "ts_paddock.h"

#include <glib.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ts_clock.h"

enum { EVENTS = PDK_SESSION_CLOSED + 1 };

typedef struct {
    ts_client face;
    int count[EVENTS];
    int64_t left_ms[EVENTS];
    int64_t at_ns[EVENTS];
} client;

struct ts_answer {
    pdk_lock *lock;
    int64_t timeout_ms;
    pthread_t thread;
    bool threaded;
    pdk_claim *claim;
    int count;
    int status; /* a pdk_status */
    pdk_hold *hold;
    int64_t at_ns;
};

struct ts_lost {
    void (*act)(pdk_hold *hold, void *user);
    void *user;
    int count, running, freed;
    int freed_early;
    int reason; /* a pdk_reason */
    int64_t at_ns;
};

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static GPtrArray *clients, *locks, *answers, *losses;

static void keep(GPtrArray **all, void *what) {
    pthread_mutex_lock(&guard);
    if (*all == NULL) {
        *all = g_ptr_array_new();
    }
    g_ptr_array_add(*all, what);
    pthread_mutex_unlock(&guard);
}

/* Waits, under the guard, until *number is at least `least`. */
static bool reaches(const int *number, int least, int64_t timeout_ms) {
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

static int64_t read_guarded(const int64_t *number) {
    int64_t value;

    pthread_mutex_lock(&guard);
    value = *number;
    pthread_mutex_unlock(&guard);
    return value;
}

static int count_guarded(const int *number) {
    int value;

    pthread_mutex_lock(&guard);
    value = *number;
    pthread_mutex_unlock(&guard);
    return value;
}

int64_t ts_patience(int64_t ms) {
    const char *text = g_getenv("CK_TIMEOUT_MULTIPLIER");
    const guint64 slowness = text == NULL ? 1 : g_ascii_strtoull(text, NULL, 10);

    return ms * (int64_t)CLAMP(slowness, 1, 100);
}

const char *ts_fresh_path(void) {
    static int last;

    return g_intern_static_string(g_strdup_printf("/t/%d", ++last)); /* GLib keeps it */
}

/* ---- sessions ---- */

static void on_event(pdk_session_event event, int64_t left_ms, void *user) {
    client *c = user;

    pthread_mutex_lock(&guard);
    c->count[event]++;
    c->left_ms[event] = left_ms;
    c->at_ns[event] = ts_now_ns();
    pthread_cond_broadcast(&news);
    pthread_mutex_unlock(&guard);
}

ts_client *ts_client_open_with(const char *server, const char *chroot, const pdk_session_options *given) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    client *c = g_new0(client, 1);
    g_autofree char *hosts = NULL;
    pdk_status status;

    if (given != NULL) {
        options = *given;
    }
    options.on_event = on_event;
    options.on_event_user = c;
    c->face.proxy = ts_proxy_start(server);
    if (c->face.proxy == NULL) {
        g_free(c);
        return NULL;
    }
    hosts = g_strconcat(ts_proxy_address(c->face.proxy), chroot, NULL);
    status = pdk_session_open(hosts, &options, &c->face.session);
    keep(&clients, c);
    if (status != PDK_OK) {
        fprintf(stderr, "pdk_session_open: %s: %s\n", pdk_status_name(status), pdk_error_text());
        return NULL;
    }
    return &c->face;
}

ts_client *ts_client_open(const char *server, int session_timeout_ms) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;

    options.session_timeout_ms = session_timeout_ms;
    return ts_client_open_with(server, NULL, &options);
}

static void client_end(gpointer data, gpointer user) {
    client *c = data;

    (void)user;
    ts_proxy_disarm(c->face.proxy);
    ts_proxy_set_delay(c->face.proxy, 0, 0);
    ts_proxy_heal_discard(c->face.proxy);
    if (c->face.session != NULL) {
        pdk_session_close(c->face.session, 10000); /* CLOSED, where the test has done it */
    }
}

static void client_free(gpointer data, gpointer user) {
    client *c = data;

    (void)user;
    pdk_session_unref(c->face.session);
    ts_proxy_stop(c->face.proxy);
    g_free(c);
}

int ts_events(const ts_client *face, pdk_session_event event) {
    return count_guarded(&((const client *)face)->count[event]);
}

int64_t ts_event_left_ms(const ts_client *face, pdk_session_event event) {
    return read_guarded(&((const client *)face)->left_ms[event]);
}

int64_t ts_event_at_ns(const ts_client *face, pdk_session_event event) {
    return read_guarded(&((const client *)face)->at_ns[event]);
}

bool ts_wait_event(const ts_client *face, pdk_session_event event, int count, int64_t timeout_ms) {
    return reaches(&((const client *)face)->count[event], count, timeout_ms);
}

pdk_lock *ts_lock_with(const ts_client *face, const char *path, const pdk_lock_options *options) {
    pdk_lock *lock;

    if (pdk_lock_new(face->session, path, options, &lock) != PDK_OK) {
        fprintf(stderr, "pdk_lock_new: %s\n", pdk_error_text());
        abort();
    }
    keep(&locks, lock);
    return lock;
}

pdk_lock *ts_lock(const ts_client *face, const char *path) { return ts_lock_with(face, path, NULL); }

/* ---- acquisitions ---- */

static void on_acquired(pdk_status status, pdk_hold *hold, void *user) {
    ts_answer *a = user;

    pthread_mutex_lock(&guard);
    a->count++;
    a->status = status;
    a->hold = hold;
    a->at_ns = ts_now_ns();
    pthread_cond_broadcast(&news);
    pthread_mutex_unlock(&guard);
}

static void *acquire_main(void *user) {
    ts_answer *a = user;
    pdk_hold *hold = NULL;
    const pdk_status status = pdk_lock_acquire(a->lock, a->timeout_ms, &hold);

    on_acquired(status, hold, a);
    return NULL;
}

static ts_answer *answer_new(pdk_lock *lock, int64_t timeout_ms) {
    ts_answer *a = g_new0(ts_answer, 1);

    a->lock = lock;
    a->timeout_ms = timeout_ms;
    a->status = PDK_SYSTEM;
    keep(&answers, a);
    return a;
}

ts_answer *ts_acquire_async(pdk_lock *lock, int64_t timeout_ms) {
    ts_answer *a = answer_new(lock, timeout_ms);
    const pdk_status status = pdk_lock_acquire_async(lock, timeout_ms, on_acquired, a, &a->claim);

    if (status != PDK_OK) {
        on_acquired(status, NULL, a);
    }
    return a;
}

ts_answer *ts_acquire_thread(pdk_lock *lock, int64_t timeout_ms) {
    ts_answer *a = answer_new(lock, timeout_ms);

    if (pthread_create(&a->thread, NULL, acquire_main, a) != 0) {
        abort();
    }
    a->threaded = true;
    return a;
}

bool ts_answer_wait(ts_answer *a, int64_t timeout_ms) { return reaches(&a->count, 1, timeout_ms); }
int ts_answer_count(ts_answer *a) { return count_guarded(&a->count); }
int64_t ts_answer_at_ns(ts_answer *a) { return read_guarded(&a->at_ns); }
pdk_claim *ts_answer_claim(ts_answer *a) { return a->claim; }

pdk_status ts_answer_status(ts_answer *a) { return (pdk_status)count_guarded(&a->status); }

pdk_hold *ts_answer_hold(ts_answer *a) {
    pdk_hold *hold;

    pthread_mutex_lock(&guard);
    hold = a->hold;
    pthread_mutex_unlock(&guard);
    return hold;
}

pdk_hold *ts_answer_take(ts_answer *a) {
    pdk_hold *hold;

    pthread_mutex_lock(&guard);
    hold = g_steal_pointer(&a->hold);
    pthread_mutex_unlock(&guard);
    return hold;
}

pdk_status ts_answer_release(ts_answer *a) { return pdk_hold_release(ts_answer_take(a)); }

void ts_answer_join(ts_answer *a) {
    if (a->threaded) {
        pthread_join(a->thread, NULL);
    }
    a->threaded = false;
}

static void answer_end(gpointer data, gpointer user) {
    ts_answer *a = data;

    (void)user;
    ts_answer_join(a);
    pdk_hold_unref(ts_answer_take(a));
    pdk_claim_unref(a->claim);
}

/* ---- losses ---- */

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    ts_lost *l = user;

    pthread_mutex_lock(&guard);
    l->count++;
    l->running++;
    l->reason = reason;
    l->at_ns = ts_now_ns();
    pthread_cond_broadcast(&news);
    pthread_mutex_unlock(&guard);
    if (l->act != NULL) {
        l->act(hold, l->user);
    }
    pthread_mutex_lock(&guard);
    l->running--;
    pthread_mutex_unlock(&guard);
}

static void on_lost_free(void *user) {
    ts_lost *l = user;

    pthread_mutex_lock(&guard);
    l->freed++;
    l->freed_early = l->freed_early || l->running > 0;
    pthread_cond_broadcast(&news);
    pthread_mutex_unlock(&guard);
}

ts_lost *ts_lost_watch_with(pdk_hold *hold, void (*act)(pdk_hold *hold, void *user), void *user) {
    ts_lost *l = g_new0(ts_lost, 1);

    l->act = act;
    l->user = user;
    keep(&losses, l);
    return pdk_hold_on_lost(hold, on_lost, l, on_lost_free) == PDK_OK ? l : NULL;
}

ts_lost *ts_lost_watch(pdk_hold *hold) { return ts_lost_watch_with(hold, NULL, NULL); }

bool ts_lost_wait(ts_lost *l, int64_t timeout_ms) { return reaches(&l->count, 1, timeout_ms); }
bool ts_lost_wait_freed(ts_lost *l, int64_t timeout_ms) { return reaches(&l->freed, 1, timeout_ms); }
int ts_lost_count(ts_lost *l) { return count_guarded(&l->count); }
int ts_lost_freed(ts_lost *l) { return count_guarded(&l->freed); }
int64_t ts_lost_at_ns(ts_lost *l) { return read_guarded(&l->at_ns); }

bool ts_lost_freed_early(ts_lost *l) { return count_guarded(&l->freed_early); }
pdk_reason ts_lost_reason(ts_lost *l) { return (pdk_reason)count_guarded(&l->reason); }

/* ---- the end ---- */

static void free_all(GPtrArray **all, GFunc each) {
    GPtrArray *taken;

    pthread_mutex_lock(&guard);
    taken = g_steal_pointer(all);
    pthread_mutex_unlock(&guard);
    if (taken != NULL) {
        g_ptr_array_foreach(taken, each, NULL);
        g_ptr_array_unref(taken);
    }
}

static void lock_end(gpointer lock, gpointer user) {
    (void)user;
    pdk_lock_unref(lock);
}

static void plain_free(gpointer data, gpointer user) {
    (void)user;
    g_free(data);
}

void ts_paddock_clear(void) {
    if (clients != NULL) {
        g_ptr_array_foreach(clients, client_end, NULL);
    }
    if (answers != NULL) {
        g_ptr_array_foreach(answers, answer_end, NULL);
    }
    free_all(&locks, lock_end);
    free_all(&clients, client_free);
    free_all(&answers, plain_free);
    free_all(&losses, plain_free);
}

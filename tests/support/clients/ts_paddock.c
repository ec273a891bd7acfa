/* Sessions behind proxies, and records of losses. */
#include "ts_paddock.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>

#include "ts_clock.h"
#include "ts_record.h"

enum { EVENTS = PDK_SESSION_CLOSED + 1 };

typedef struct {
    ts_client face;
    int count[EVENTS];
    int64_t left_ms[EVENTS];
    int64_t at_ns[EVENTS];
} client;

struct ts_lost {
    void (*act)(pdk_hold *hold, void *user);
    void (*act_set)(pdk_set *set, void *user);
    void *user;
    int count, running, freed;
    int freed_early;
    int reason; /* a pdk_reason */
    int64_t at_ns;
};

static GPtrArray *clients, *kept, *losses;

typedef struct {
    void *what;
    void (*free_fn)(void *what);
} keepsake;

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

    ts_record_lock();
    c->count[event]++;
    c->left_ms[event] = left_ms;
    c->at_ns[event] = ts_now_ns();
    ts_record_unlock();
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
    ts_record_keep(&clients, c);
    if (status != PDK_OK) {
        fprintf(stderr, "pdk_session_open: %s: %s\n", pdk_status_name(status), pdk_last_error());
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
    return ts_record_count(&((const client *)face)->count[event]);
}

int64_t ts_event_left_ms(const ts_client *face, pdk_session_event event) {
    return ts_record_number(&((const client *)face)->left_ms[event]);
}

int64_t ts_event_at_ns(const ts_client *face, pdk_session_event event) {
    return ts_record_number(&((const client *)face)->at_ns[event]);
}

bool ts_wait_event(const ts_client *face, pdk_session_event event, int count, int64_t timeout_ms) {
    return ts_record_reaches(&((const client *)face)->count[event], count, timeout_ms);
}

void ts_paddock_keep(void *what, void (*free_fn)(void *what)) {
    keepsake *k = g_new(keepsake, 1);

    *k = (keepsake){what, free_fn};
    ts_record_keep(&kept, k);
}

static void unref_lock(void *lock) { pdk_lock_unref(lock); }

pdk_lock *ts_lock_with(const ts_client *face, const char *path, const pdk_lock_options *options) {
    pdk_lock *lock;

    if (pdk_lock_new(face->session, path, options, &lock) != PDK_OK) {
        fprintf(stderr, "pdk_lock_new: %s\n", pdk_last_error());
        abort();
    }
    ts_paddock_keep(lock, unref_lock);
    return lock;
}

pdk_lock *ts_lock(const ts_client *face, const char *path) { return ts_lock_with(face, path, NULL); }

pdk_lock *ts_lock_of_long_handovers(const ts_client *face, const char *path) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;

    options.max_handover_ms = 60000;
    return ts_lock_with(face, path, &options);
}

/* ---- acquisitions ---- */

static pdk_status start_lock(void *lock, int64_t timeout_ms, pdk_acquired_fn fn, void *user, pdk_claim **out) {
    return pdk_lock_acquire_async(lock, timeout_ms, fn, user, out);
}

static pdk_status block_lock(void *lock, int64_t timeout_ms, pdk_hold **out) {
    return pdk_lock_acquire(lock, timeout_ms, out);
}

ts_answer *ts_acquire_async(pdk_lock *lock, int64_t timeout_ms) {
    return ts_answer_start(start_lock, lock, timeout_ms);
}

ts_answer *ts_acquire_thread(pdk_lock *lock, int64_t timeout_ms) {
    return ts_answer_block(block_lock, lock, timeout_ms);
}

/* ---- losses ---- */

static void lost_begin(ts_lost *l, pdk_reason reason) {
    ts_record_lock();
    l->count++;
    l->running++;
    l->reason = reason;
    l->at_ns = ts_now_ns();
    ts_record_unlock();
}

static void lost_end(ts_lost *l) {
    ts_record_lock();
    l->running--;
    ts_record_unlock();
}

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    ts_lost *l = user;

    lost_begin(l, reason);
    if (l->act != NULL) {
        l->act(hold, l->user);
    }
    lost_end(l);
}

static void on_set_lost(pdk_set *set, pdk_reason reason, void *user) {
    ts_lost *l = user;

    lost_begin(l, reason);
    if (l->act_set != NULL) {
        l->act_set(set, l->user);
    }
    lost_end(l);
}

static void on_lost_free(void *user) {
    ts_lost *l = user;

    ts_record_lock();
    l->freed++;
    l->freed_early = l->freed_early || l->running > 0;
    ts_record_unlock();
}

static ts_lost *lost_new(void *user) {
    ts_lost *l = g_new0(ts_lost, 1);

    l->user = user;
    ts_record_keep(&losses, l);
    return l;
}

ts_lost *ts_lost_watch_set(pdk_set *set, void (*act)(pdk_set *set, void *user), void *user) {
    ts_lost *l = lost_new(user);

    l->act_set = act;
    return pdk_set_on_lost(set, on_set_lost, l, on_lost_free) == PDK_OK ? l : NULL;
}

ts_lost *ts_lost_watch_with(pdk_hold *hold, void (*act)(pdk_hold *hold, void *user), void *user) {
    ts_lost *l = lost_new(user);

    l->act = act;
    return pdk_hold_on_lost(hold, on_lost, l, on_lost_free) == PDK_OK ? l : NULL;
}

ts_lost *ts_lost_watch(pdk_hold *hold) { return ts_lost_watch_with(hold, NULL, NULL); }

ts_lost *ts_lost_watch_answer(ts_answer *answer) {
    pdk_set *set = ts_answer_set(answer);

    return set != NULL ? ts_lost_watch_set(set, NULL, NULL) : ts_lost_watch(ts_answer_hold(answer));
}

bool ts_lost_wait(ts_lost *l, int64_t timeout_ms) { return ts_record_reaches(&l->count, 1, timeout_ms); }
bool ts_lost_wait_freed(ts_lost *l, int64_t timeout_ms) { return ts_record_reaches(&l->freed, 1, timeout_ms); }
int ts_lost_count(ts_lost *l) { return ts_record_count(&l->count); }
int ts_lost_freed(ts_lost *l) { return ts_record_count(&l->freed); }
int64_t ts_lost_at_ns(ts_lost *l) { return ts_record_number(&l->at_ns); }

bool ts_lost_freed_early(ts_lost *l) { return ts_record_count(&l->freed_early); }
pdk_reason ts_lost_reason(ts_lost *l) { return (pdk_reason)ts_record_count(&l->reason); }

/* ---- the end ---- */

static void keepsake_end(gpointer data, gpointer user) {
    keepsake *k = data;

    (void)user;
    k->free_fn(k->what);
    g_free(k);
}

static void plain_free(gpointer data, gpointer user) {
    (void)user;
    g_free(data);
}

void ts_paddock_clear(void) {
    ts_record_each(clients, client_end);
    ts_answers_end();
    ts_record_free_all(&kept, keepsake_end);
    ts_record_free_all(&clients, client_free);
    ts_answers_free();
    ts_record_free_all(&losses, plain_free);
}

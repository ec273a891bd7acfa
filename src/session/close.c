/* A session is closed within a deadline, with a last flush, and nothing of it runs afterwards. */
#include "session/close.h"

#include "base/fork.h"
#include "base/text.h"
#include "session/blocking.h"
#include "session/call.h"
#include "session/chores.h"
#include "session/entries.h"
#include "session/lists.h"
#include "session/mirrors.h"
#include "session/path_stats.h"
#include "session/predecessors.h"
#include "session/protect.h"
#include "session/supervise.h"
#include "session/unowned.h"
#include "session/watches.h"

#include <string.h>

pdk_session *pdk__session_ref(pdk_session *s) {
    atomic_fetch_add(&s->refs, 1);
    return s;
}

pdk_session *pdk_session_ref(pdk_session *s) {
    if (!s)
        return NULL;
    atomic_fetch_add(&s->handles, 1);
    return pdk__session_ref(s);
}

void pdk__user_free(struct pdk__user_free it) {
    if (it.free)
        it.free(it.user);
}

void pdk__session_free(pdk_session *s) {
    pdk__outbox_clear(s);
    pdk__user_free(s->event_free);
    pdk__user_free(s->log_free);
    s->platform->end(s);
    if (s->listener)
        s->listener->calls->free(s->listener);
    pdk__chores_clear(s);
    pdk__predecessors_clear(s);
    pdk__unowned_clear(s);
    pdk__mirrors_free(s);
    g_sequence_free(s->alarms);
    g_hash_table_destroy(s->watches);
    g_hash_table_destroy(s->marked);
    g_hash_table_destroy(s->found);
    g_hash_table_destroy(s->searched);
    pdk__path_stats_clear(&s->stats);
    pdk__lists_free(s);
    pdk__hosts_free(s->hosts);
    pdk__names_unref(s->names);
    g_free(s->names_trouble);
    g_free(s->identity);
    pdk__credentials_free(&s->credentials);
    pdk__access_free(&s->access);
    pdk__protect_free(s);
    g_free(s->servers);
    g_free(s->trouble_text);
    pdk__monitor_clear(&s->monitor);
    g_free(s);
}

static void close_finish(pdk_session *s) {
    s->finish = true;
    s->platform->work(s);
}

static void free_now(pdk_session *s) {
    pdk__cancel_off();
    pdk__session_free(s);
    pdk__cancel_back();
}

/* Takes the monitor for the last reference, because the last thread reads the count under it. Not under the monitor. */
void pdk__session_unref(pdk_session *s) {
    int refs = atomic_load(&s->refs);
    while (refs > 1)
        if (atomic_compare_exchange_weak(&s->refs, &refs, refs - 1))
            return;
    pdk__lock(s);
    bool last = atomic_fetch_sub(&s->refs, 1) == 1;
    bool ended = s->platform->ended(s);
    if (last && !ended) { /* its threads finish it, and the last of them frees it */
        if (s->ended == PDK_OK) {
            pdk__session_end(s, PDK_CLOSED, "the session was dropped");
            pdk__chores_run(s);
        }
        close_finish(s);
    }
    pdk__unlock(s);
    if (last && ended)
        free_now(s);
}

void pdk_session_unref(pdk_session *s) {
    if (!s || s->forks != pdk__forks())
        return;
    if (atomic_fetch_sub(&s->handles, 1) == 1 && s->outbox.manual) { /* the connector drops due callbacks */
        pdk__lock(s);
        s->platform->work(s);
        pdk__unlock(s);
    }
    pdk__session_unref(s);
}

/* Wait for the work in the background, until the deadline at the latest. */
static bool await_finish(pdk_session *s, int64_t deadline) {
    pdk__lock(s);
    bool in_time = true;
    int64_t longest = pdk__now(s) + s->lease.timeout; /* by then the server has removed the nodes itself */
    while (s->entries.length > 0 && s->link != PDK__LINK_NONE && in_time)
        in_time = pdk__wait(s, &s->on_entries, MIN(deadline, longest));
    bool clean = s->entries.length == 0;
    s->flush_until = 1; /* the wait is over */
    close_finish(s);
    in_time = true;
    while (!s->finished && in_time)
        in_time = pdk__wait(s, &s->on_finish, deadline);
    pdk__unlock(s);
    return in_time && clean;
}

/* Under the monitor. */
static bool await_threads(pdk_session *s, int64_t deadline) {
    pdk__assert_locked(s);
    while (!s->platform->ended(s) && pdk__wait(s, &s->on_finish, deadline))
        ;
    return s->platform->ended(s);
}

/* Another close has begun the end, from a callback or with too little time: wait until it is over. */
static bool await_end(pdk_session *s, int64_t deadline) {
    bool silent = pdk__outbox_await_silence(s, deadline);
    pdk__lock(s);
    bool ended = await_threads(s, deadline);
    pdk__unlock(s);
    return silent && ended;
}

/* The whole end. */
static bool close_end(pdk_session *s, int64_t deadline) {
    bool finished = await_finish(s, deadline);
    bool drained = pdk__outbox_drain(s, deadline);
    if (pdk__is_forked(s))
        return false;
    pdk__outbox_silence(s);
    pdk__lock(s);
    bool ended = finished && await_threads(s, deadline);
    pdk__unlock(s);
    return finished && drained && ended;
}

/* The thread in pdk_session_close was cancelled: the rest happens in the background, as after PDK_TIMEOUT. */
static void go_on_alone(void *user) {
    pdk_session *s = user;
    pdk__lock(s);
    close_finish(s);
    pdk__unlock(s);
    pdk__outbox_silence(s);
}

/* A callback of this session would wait for itself. One of another session would make that session wait for us. */
static pdk_status close_from_callback(pdk_session *s, bool again) {
    if (again)
        return pdk__fail(PDK_CLOSED, "pdk_session_close: the session is closed already, and a callback must not wait");
    pdk__lock(s);
    close_finish(s);
    pdk__unlock(s);
    pdk__outbox_silence(s);
    return PDK_OK;
}

/* A child that was forked in a callback has returned from it. */
static pdk_status came_back(const char *call) {
    return pdk__fail(PDK_FORKED, "%s: the session belongs to the parent process; leave a callback's child by _exit",
                     call);
}

static pdk_status check_close(pdk_session *s, int64_t timeout_ms) {
    if (!s)
        return pdk__fail(PDK_INVALID, "session: NULL");
    if (s->forks != pdk__forks())
        return pdk__fail(PDK_FORKED, "pdk_session_close: the session belongs to the parent process");
    if (timeout_ms < 0 && timeout_ms != PDK_FOREVER)
        return pdk__fail(PDK_INVALID, "timeout_ms: %lld; 0 or more, or PDK_FOREVER", (long long)timeout_ms);
    return PDK_OK;
}

pdk_status pdk_session_close(pdk_session *s, int64_t timeout_ms) {
    pdk_status status = check_close(s, timeout_ms);
    if (status != PDK_OK)
        return status;
    int64_t deadline = pdk__deadline(s, timeout_ms);
    pdk__lock(s);
    bool again = s->closing;
    s->closing = true;
    if (!again)
        pdk__session_end(s, PDK_CLOSED, "the session is closed");
    pdk__chores_run_and_unlock(s);
    if (pdk__in_callback())
        return close_from_callback(s, again);
    struct pdk__leave leave = {.after = go_on_alone, .user = s};
    pdk__leave_push(&leave);
    bool over = again ? await_end(s, deadline) : close_end(s, deadline);
    pdk__leave_pop();
    if (pdk__is_forked(s))
        return came_back("pdk_session_close");
    if (over)
        return PDK_OK;
    return pdk__fail(PDK_TIMEOUT, "pdk_session_close: not done within %lld ms; the rest happens in the background",
                     (long long)timeout_ms);
}

/* ---- flush */

struct flushing {
    struct pdk__call call;
    uint64_t serial; /* of the newest entry that leaves */
};

static void flush_begin(struct pdk__call *c) {
    pdk_session *s = c->s;
    while (s->listener && !s->listener->calls->flushed(s->listener))
        pdk__monitor_let_others(&s->monitor);
    ((struct flushing *)c)->serial = s->leaving_serial;
}

static pdk_status flush_step(struct pdk__call *c) {
    const struct flushing *f = (const struct flushing *)c;
    pdk_session *s = c->s;
    pdk_status status = pdk__session_usable(s, c->name);
    if (status != PDK_OK || !pdk__entries_leaving(s, f->serial))
        return status;
    if (pdk__call_is_late(c))
        return pdk__fail(PDK_TIMEOUT, "%s: releases are unconfirmed after %lld ms; they go on", c->name,
                         (long long)c->timeout_ms);
    return pdk__call_waits(c, &s->on_entries, INT64_MAX);
}

static void flush_free(struct pdk__call *c) { g_free(c); }

static struct pdk__call *flushing_new(pdk_session *s, const char *name, int64_t timeout_ms) {
    static const struct pdk__call_kind kind = {flush_begin, flush_step, NULL, NULL, flush_free};
    struct flushing *f = g_new0(struct flushing, 1);
    f->call = pdk__call_make(&kind, s, name, timeout_ms);
    return &f->call;
}

pdk_status pdk_session_flush(pdk_session *s, int64_t timeout_ms) {
    return pdk__call_wait(flushing_new(s, "pdk_session_flush", timeout_ms));
}

pdk_status pdk_session_flush_async(pdk_session *s, int64_t timeout_ms, pdk_answered_fn fn, void *user) {
    static const char name[] = "pdk_session_flush_async";
    pdk_status status = pdk__call_check_fn(name, fn);
    if (status != PDK_OK)
        return status;
    struct pdk__call *c = flushing_new(s, name, timeout_ms);
    c->answered = fn;
    c->user = user;
    return pdk__call_start(c);
}

int pdk_session_fd(const pdk_session *s) { return s ? s->outbox.fd : -1; }

pdk_status pdk_session_dispatch(pdk_session *s, int *count) {
    if (!s)
        return pdk__fail(PDK_INVALID, "session: NULL");
    if (s->forks != pdk__forks())
        return pdk__fail(PDK_FORKED, "pdk_session_dispatch: the session belongs to the parent process");
    if (!s->outbox.manual)
        return pdk__fail(PDK_INVALID, "pdk_session_dispatch: the session has a thread of its own; open it with "
                                      "PDK_DISPATCH_MANUAL");
    if (pdk__in_callback_of(s))
        return pdk__fail(PDK_WRONG_THREAD, "pdk_session_dispatch: called from one of the callbacks it runs");
    if (pdk__outbox_is_silent(s))
        return pdk__fail(PDK_CLOSED, "pdk_session_dispatch: the session is closed");
    int n = 0;
    pdk__session_ref(s); /* a callback may drop the last one */
    while (pdk__outbox_run_one(s))
        n++;
    if (pdk__is_forked(s))
        return came_back("pdk_session_dispatch");
    pdk__session_unref(s);
    if (count)
        *count = n;
    return PDK_OK;
}

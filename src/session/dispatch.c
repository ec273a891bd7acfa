#include "session/dispatch.h"

#include "base/standard.h"
#include "base/text.h"
#include "base/thread.h"
#include "core/histogram.h"
#include "session/harmless.h"
#include "session/session.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct notice {
    void (*run)(void *user);
    void (*drop)(void *user);
    void *user;
    int64_t since; /* when it became due; 0: a line of the log, which nobody waits for */
};

static _Thread_local pdk_session *running; /* this thread is in a callback of that session */

/* A child that was forked inside a callback has left it: it may open a session of its own. */
bool pdk__in_callback(void) { return pdk__thread_does_answer() || (running && !pdk__is_forked(running)); }
bool pdk__in_callback_of(pdk_session *s) { return running == s; }

pdk_status pdk__outbox_init(pdk_session *s, const pdk_session_options *options) {
    struct pdk__outbox *o = &s->outbox;
    pthread_mutex_init(&o->lock, NULL);
    pdk__cond_init(&o->changed);
    for (int kind = 0; kind < PDK__DUE_KINDS; kind++)
        g_queue_init(&o->due[kind]);
    o->manual = options->dispatch == PDK_DISPATCH_MANUAL;
    o->on_log = options->on_log;
    o->on_log_user = options->on_log_user;
    o->log_level = options->log_level;
    o->fd = -1;
    if (o->manual && (o->fd = pdk__above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) < 0)
        return pdk__fail(PDK_SYSTEM, "eventfd: %s", g_strerror(errno));
    return PDK_OK;
}

bool pdk__nobody_dispatches(const pdk_session *s) { return s->outbox.manual && atomic_load(&s->handles) == 0; }

bool pdk__outbox_is_empty(const struct pdk__outbox *o) {
    for (int kind = 0; kind < PDK__DUE_KINDS; kind++)
        if (o->due[kind].length > 0)
            return false;
    return true;
}

/* The next one, or NULL. Under the lock. */
static struct notice *next(struct pdk__outbox *o) {
    struct notice *n = NULL;
    for (int kind = 0; kind < PDK__DUE_KINDS && !n; kind++)
        n = g_queue_pop_head(&o->due[kind]);
    return n;
}

static void drop_due(struct pdk__outbox *o) {
    pthread_mutex_lock(&o->lock);
    for (struct notice *n; (n = next(o));) {
        pthread_mutex_unlock(&o->lock);
        n->drop(n->user);
        g_free(n);
        pthread_mutex_lock(&o->lock);
    }
    pthread_mutex_unlock(&o->lock);
}

void pdk__outbox_drop(pdk_session *s) {
    pdk_session *outer = running;
    running = s; /* the user's user_free, which must not block */
    drop_due(&s->outbox);
    running = outer;
}

void pdk__outbox_clear(pdk_session *s) {
    struct pdk__outbox *o = &s->outbox;
    drop_due(o);
    if (o->fd >= 0)
        close(o->fd);
    pthread_cond_destroy(&o->changed);
    pthread_mutex_destroy(&o->lock);
}

/* It writes to a descriptor. */
static void wake(pdk_session *s) {
    pdk__cancel_off();
    s->platform->wake(s);
    pdk__cancel_back();
}

static bool push(pdk_session *s, enum pdk__due kind, struct notice notice) {
    struct pdk__outbox *o = &s->outbox;
    struct notice *n = g_new(struct notice, 1);
    *n = notice;
    n->since = kind == PDK__DUE_LINE ? 0 : pdk__now(s);
    pthread_mutex_lock(&o->lock);
    bool taken = !o->silent;
    if (taken)
        g_queue_push_tail(&o->due[kind], n);
    pthread_cond_broadcast(&o->changed);
    pthread_mutex_unlock(&o->lock);
    if (taken)
        wake(s);
    else
        g_free(n);
    if (taken && pdk__nobody_dispatches(s) && pdk__monitor_is_mine(&s->monitor)) /* not a line of the log */
        s->platform->work(s);
    return taken;
}

bool pdk__later(pdk_session *s, void (*run)(void *user), void (*drop)(void *user), void *user) {
    return push(s, PDK__DUE_CALLBACK, (struct notice){run, drop, user, 0});
}

bool pdk__later_first(pdk_session *s, void (*run)(void *user), void (*drop)(void *user), void *user) {
    return push(s, PDK__DUE_LOSS, (struct notice){run, drop, user, 0});
}

static void carry(void *user) { (void)user; }

bool pdk__later_outside(pdk_session *s, enum pdk__due kind, void (*fn)(void *user), void *user) {
    return push(s, kind, (struct notice){carry, fn, user, 0});
}

struct line_of_log {
    pdk_session *s;
    int level;
    char *text;
};

static void log_run(void *user) {
    struct line_of_log *line = user;
    const struct pdk__outbox *o = &line->s->outbox;
    o->on_log((pdk_log_level)line->level, line->text, o->on_log_user);
}

static void log_drop(void *user) {
    struct line_of_log *line = user;
    struct pdk__outbox *o = &line->s->outbox;
    pthread_mutex_lock(&o->lock);
    o->log_lines--;
    pthread_mutex_unlock(&o->lock);
    g_free(line->text);
    g_free(line);
}

static struct notice of_line(pdk_session *s, int level, char *text) {
    struct line_of_log *line = g_new(struct line_of_log, 1);
    *line = (struct line_of_log){s, level, text};
    return (struct notice){log_run, log_drop, line, 0};
}

/* Tell, before the next line, how many are missing. It is a call of its own, since a loss may come meanwhile. Under the
 * lock. */
static void tell_dropped(pdk_session *s) {
    struct pdk__outbox *o = &s->outbox;
    if (o->log_dropped == 0 || g_queue_is_empty(&o->due[PDK__DUE_LINE]))
        return;
    struct notice *n = g_new(struct notice, 1);
    *n = of_line(s, PDK_LOG_WARN, g_strdup_printf("%u lines dropped: the log callback is too slow", o->log_dropped));
    o->log_dropped = 0;
    o->log_lines++;
    g_queue_push_head(&o->due[PDK__DUE_LINE], n);
}

/* n: or NULL. Under the lock. */
static void note_delay(pdk_session *s, const struct notice *n) {
    if (n && n->since != 0)
        s->outbox.delay = MAX(s->outbox.delay, pdk__now(s) - n->since);
}

void pdk__outbox_read(pdk_session *s, pdk_stats *stats) {
    struct pdk__outbox *o = &s->outbox;
    pthread_mutex_lock(&o->lock);
    note_delay(s, g_queue_peek_head(&o->due[PDK__DUE_LOSS]));
    note_delay(s, g_queue_peek_head(&o->due[PDK__DUE_CALLBACK]));
    stats->callbacks_queued = o->due[PDK__DUE_LOSS].length + o->due[PDK__DUE_CALLBACK].length;
    stats->callback_delay_us = pdk__us(o->delay);
    stats->log_lines_dropped = o->log_dropped_ever;
    pthread_mutex_unlock(&o->lock);
}

void pdk__outbox_forget_delay(pdk_session *s) {
    pthread_mutex_lock(&s->outbox.lock);
    s->outbox.delay = 0;
    pthread_mutex_unlock(&s->outbox.lock);
}

/* Take the next callback, for this thread to run. NULL: none is due, or another thread runs one. */
static struct notice *outbox_begin(pdk_session *s) {
    struct pdk__outbox *o = &s->outbox;
    pthread_mutex_lock(&o->lock);
    tell_dropped(s);
    struct notice *n = o->busy || o->silent ? NULL : next(o);
    if (n) {
        o->busy = true;
        note_delay(s, n);
    } else if (o->fd >= 0 && !o->busy && !o->silent) {
        eventfd_t ignored;
        eventfd_read(o->fd, &ignored);
    }
    pthread_mutex_unlock(&o->lock);
    return n;
}

static void outbox_end(struct pdk__outbox *o) {
    pthread_mutex_lock(&o->lock);
    o->busy = false;
    pthread_cond_broadcast(&o->changed);
    pthread_mutex_unlock(&o->lock);
}

static bool run_one(pdk_session *s) {
    struct notice *n = outbox_begin(s);
    if (!n)
        return false;
    pdk_session *outer = running;
    running = s;
    n->run(n->user);
    if (pdk__is_forked(s)) { /* a child of fork comes back from the parent's callback */
        running = outer;
        return false;
    }
    n->drop(n->user);
    running = outer;
    g_free(n);
    outbox_end(&s->outbox);
    return true;
}

/* A callback is not cut short: the next one would never run. */
bool pdk__outbox_run_one(pdk_session *s) {
    pdk__cancel_off();
    bool ran = run_one(s);
    pdk__cancel_back();
    return ran;
}

/* A loop hears of the end by the descriptor alone. Nobody empties it any more, so a loop that looks late hears of it,
 * too. The platform's wake would not do, since nothing is due. */
static void stay_readable(const struct pdk__outbox *o) {
    if (o->fd < 0)
        return;
    pdk__cancel_off();
    eventfd_write(o->fd, 1);
    pdk__cancel_back();
}

void pdk__outbox_silence(pdk_session *s) {
    struct pdk__outbox *o = &s->outbox;
    pthread_mutex_lock(&o->lock);
    o->silent = true;
    pthread_cond_broadcast(&o->changed);
    pthread_mutex_unlock(&o->lock);
    stay_readable(o);
    drop_due(o);
}

bool pdk__outbox_is_silent(pdk_session *s) {
    pthread_mutex_lock(&s->outbox.lock);
    bool silent = s->outbox.silent;
    pthread_mutex_unlock(&s->outbox.lock);
    return silent;
}

static void cancelled(void *user) {
    struct pdk__outbox *o = user;
    pthread_mutex_unlock(&o->lock);
    pdk__leave_run_after();
}

/* Under its lock. It waits for short times only, since the session has another clock than the condition. A cancellation
 * point. */
static void wait_for_change(struct pdk__outbox *o, int64_t ns) {
    struct timespec at = pdk__cond_moment(MIN(ns, 50 * PDK__MS));
    pthread_cleanup_push(cancelled, o);
    pthread_cond_timedwait(&o->changed, &o->lock, &at);
    pthread_cleanup_pop(0);
}

bool pdk__outbox_drain(pdk_session *s, int64_t until) {
    struct pdk__outbox *o = &s->outbox;
    for (;;) { /* other threads may make callbacks due until the end */
        if (o->manual && pdk__now(s) < until && pdk__outbox_run_one(s))
            continue;
        if (pdk__is_forked(s))
            return false;
        pthread_mutex_lock(&o->lock);
        bool empty = !o->busy && pdk__outbox_is_empty(o);
        int64_t left = until - pdk__now(s);
        bool over = empty || o->silent || left <= 0;
        if (!over)
            wait_for_change(o, left);
        pthread_mutex_unlock(&o->lock);
        if (over)
            return empty;
    }
}

bool pdk__outbox_await_silence(pdk_session *s, int64_t until) {
    struct pdk__outbox *o = &s->outbox;
    int64_t left;
    bool over;
    pthread_mutex_lock(&o->lock);
    while (!(over = o->silent && !o->busy) && (left = until - pdk__now(s)) > 0)
        wait_for_change(o, left);
    pthread_mutex_unlock(&o->lock);
    return over;
}

void pdk__log_text(pdk_session *s, int level, const char *text) {
    struct pdk__outbox *o = &s->outbox;
    if (!o->on_log || level > o->log_level)
        return;
    pthread_mutex_lock(&o->lock);
    bool room = !o->silent && o->log_lines < PDK__LOG_LINES_MAX;
    o->log_lines += room;
    o->log_dropped += !room;
    o->log_dropped_ever += !room;
    pthread_mutex_unlock(&o->lock);
    if (!room)
        return;
    struct notice n = of_line(s, level, pdk__harmless(text, strlen(text)));
    if (!push(s, PDK__DUE_LINE, n))
        n.drop(n.user);
}

/* NULL: the table is full, so this one is always logged. */
static struct pdk__log_alike *alike(struct pdk__outbox *o, const char *format) {
    for (int i = 0; i < PDK__LOG_FORMATS; i++) {
        struct pdk__log_alike *a = &o->log_alike[i];
        if (!a->format)
            a->format = format;
        if (a->format == format)
            return a;
    }
    return NULL;
}

/* One more line of the format. false: it is left out. *left_out: how many were, before it. */
static bool is_logged(pdk_session *s, const char *format, unsigned *left_out) {
    struct pdk__outbox *o = &s->outbox;
    int64_t second = 1000 * PDK__MS, now = pdk__now(s);
    bool logged = true;
    pthread_mutex_lock(&o->lock);
    struct pdk__log_alike *a = alike(o, format);
    if (a) {
        int64_t leaked = (now - a->since) / second;
        a->level = leaked < a->level ? a->level - (unsigned)leaked : 0;
        a->since = a->level > 0 ? a->since + leaked * second : now;
        logged = a->level < PDK__LOG_ALIKE_MAX;
        a->level += logged;
        a->left_out += !logged;
        *left_out = a->left_out;
        if (logged)
            a->left_out = 0;
        o->log_dropped_ever += !logged;
    }
    pthread_mutex_unlock(&o->lock);
    return logged;
}

void pdk__log(pdk_session *s, int level, const char *format, ...) {
    unsigned left_out = 0;
    if (!s->outbox.on_log || level > s->outbox.log_level)
        return;
    if (level < PDK_LOG_DEBUG && !is_logged(s, format, &left_out))
        return;
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_autofree char *whole =
        left_out > 0 ? g_strdup_printf("%s (%u lines like it were left out)", text, left_out) : NULL;
    pdk__log_text(s, level, whole ? whole : text);
}

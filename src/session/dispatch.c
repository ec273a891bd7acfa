#include "session/dispatch.h"

#include "base/text.h"
#include "base/thread.h"
#include "session/session.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct notice {
    void (*run)(void *user);
    void (*drop)(void *user);
    void *user;
};

static _Thread_local pdk_session *running; /* this thread is in a callback of that session */

bool pdk__in_callback(void) { return running != NULL; }
bool pdk__in_callback_of(pdk_session *s) { return running == s; }

pdk_status pdk__outbox_init(pdk_session *s, const pdk_session_options *options) {
    struct pdk__outbox *o = &s->outbox;
    pthread_mutex_init(&o->lock, NULL);
    pdk__cond_init(&o->changed);
    g_queue_init(&o->due);
    o->manual = options->dispatch == PDK_DISPATCH_MANUAL;
    o->on_log = options->on_log;
    o->on_log_user = options->on_log_user;
    o->log_level = options->log_level;
    o->fd = -1;
    if (o->manual && (o->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0)
        return pdk__fail(PDK_SYSTEM, "eventfd: %s", g_strerror(errno));
    return PDK_OK;
}

static void drop_due(struct pdk__outbox *o) {
    pthread_mutex_lock(&o->lock);
    for (struct notice *n; (n = g_queue_pop_head(&o->due));) {
        pthread_mutex_unlock(&o->lock);
        n->drop(n->user);
        g_free(n);
        pthread_mutex_lock(&o->lock);
    }
    pthread_mutex_unlock(&o->lock);
}

void pdk__outbox_clear(pdk_session *s) {
    struct pdk__outbox *o = &s->outbox;
    drop_due(o);
    if (o->fd >= 0)
        close(o->fd);
    pthread_cond_destroy(&o->changed);
    pthread_mutex_destroy(&o->lock);
}

bool pdk__later(pdk_session *s, void (*run)(void *user), void (*drop)(void *user), void *user) {
    struct pdk__outbox *o = &s->outbox;
    struct notice *n = g_new(struct notice, 1);
    *n = (struct notice){run, drop, user};
    pthread_mutex_lock(&o->lock);
    bool taken = !o->silent;
    if (taken)
        g_queue_push_tail(&o->due, n);
    pthread_cond_broadcast(&o->changed);
    pthread_mutex_unlock(&o->lock);
    if (taken)
        s->platform->wake(s);
    else
        g_free(n);
    return taken;
}

/* Take the next callback, for this thread to run. NULL: none is due, or another thread runs one. */
static struct notice *begin(struct pdk__outbox *o) {
    pthread_mutex_lock(&o->lock);
    struct notice *n = o->busy || o->silent ? NULL : g_queue_pop_head(&o->due);
    if (n) {
        o->busy = true;
    } else if (o->fd >= 0 && !o->busy) {
        eventfd_t ignored;
        eventfd_read(o->fd, &ignored);
    }
    pthread_mutex_unlock(&o->lock);
    return n;
}

static void end(struct pdk__outbox *o) {
    pthread_mutex_lock(&o->lock);
    o->busy = false;
    pthread_cond_broadcast(&o->changed);
    pthread_mutex_unlock(&o->lock);
}

bool pdk__outbox_run_one(pdk_session *s) {
    struct notice *n = begin(&s->outbox);
    if (!n)
        return false;
    pdk_session *outer = running;
    running = s;
    n->run(n->user);
    n->drop(n->user);
    running = outer;
    g_free(n);
    end(&s->outbox);
    return true;
}

void pdk__outbox_silence(pdk_session *s) {
    struct pdk__outbox *o = &s->outbox;
    pthread_mutex_lock(&o->lock);
    o->silent = true;
    pthread_cond_broadcast(&o->changed);
    pthread_mutex_unlock(&o->lock);
    drop_due(o);
}

bool pdk__outbox_is_silent(pdk_session *s) {
    pthread_mutex_lock(&s->outbox.lock);
    bool silent = s->outbox.silent;
    pthread_mutex_unlock(&s->outbox.lock);
    return silent;
}

bool pdk__outbox_drain(pdk_session *s, int64_t until) {
    struct pdk__outbox *o = &s->outbox;
    while (o->manual && pdk__now(s) < until && pdk__outbox_run_one(s))
        ;
    pthread_mutex_lock(&o->lock);
    bool empty;
    while (!(empty = !o->busy && g_queue_is_empty(&o->due)) && !o->silent) {
        int64_t left = until - pdk__now(s);
        if (left <= 0)
            break;
        struct timespec at = pdk__cond_moment(MIN(left, 50 * PDK__MS));
        pthread_cond_timedwait(&o->changed, &o->lock, &at);
    }
    pthread_mutex_unlock(&o->lock);
    return empty;
}

struct line_of_log {
    pdk_session *s;
    int level;
    char *text;
};

static void log_run(void *user) {
    struct line_of_log *line = user;
    struct pdk__outbox *o = &line->s->outbox;
    pthread_mutex_lock(&o->lock);
    unsigned dropped = o->log_dropped;
    o->log_dropped = 0;
    pthread_mutex_unlock(&o->lock);
    if (dropped) {
        char text[64];
        g_snprintf(text, sizeof text, "%u lines dropped: the log callback is too slow", dropped);
        o->on_log(PDK_LOG_WARN, text, o->on_log_user);
    }
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

void pdk__log_text(pdk_session *s, int level, const char *text) {
    struct pdk__outbox *o = &s->outbox;
    if (!o->on_log || level > o->log_level)
        return;
    pthread_mutex_lock(&o->lock);
    bool room = !o->silent && o->log_lines < PDK__LOG_LINES_MAX;
    if (room)
        o->log_lines++;
    else
        o->log_dropped++;
    pthread_mutex_unlock(&o->lock);
    if (!room)
        return;
    struct line_of_log *line = g_new(struct line_of_log, 1);
    *line = (struct line_of_log){s, level, g_strdup(text)};
    if (!pdk__later(s, log_run, log_drop, line))
        log_drop(line);
}

void pdk__log(pdk_session *s, int level, const char *format, ...) {
    if (!s->outbox.on_log || level > s->outbox.log_level)
        return;
    va_list arguments;
    va_start(arguments, format);
    char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    pdk__log_text(s, level, text);
    g_free(text);
}

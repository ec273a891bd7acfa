/* See event_log.h. */
#include "event_log.h"

#include <string.h>

#include "ts_clock.h"

static const char *const words[] = {"?", "connected", "suspended", "restored", "expired", "reopened", "closed"};

void event_log_init(struct event_log *e) {
    *e = (struct event_log){.lock = PTHREAD_MUTEX_INITIALIZER};
    e->events = g_array_new(FALSE, FALSE, sizeof(struct event_log_entry));
    e->lines = g_ptr_array_new_with_free_func(g_free);
    e->kept = g_ptr_array_new();
}

void event_log_keep(struct event_log *e, pdk_session *s) { g_ptr_array_add(e->kept, pdk_session_ref(s)); }

void event_log_clear(struct event_log *e) {
    for (guint i = 0; i < e->kept->len; i++) {
        pdk_session *s = g_ptr_array_index(e->kept, i);
        pdk_session_close(s, 5000);
        pdk_session_unref(s);
    }
    g_ptr_array_free(e->kept, TRUE);
    g_array_free(e->events, TRUE);
    g_ptr_array_free(e->lines, TRUE);
    pthread_mutex_destroy(&e->lock);
}

void event_log_enter(struct event_log *e) {
    pthread_mutex_lock(&e->lock);
    e->overlapped = e->overlapped || e->running > 0;
    e->running++;
    e->late += e->over ? 1 : 0;
    pthread_mutex_unlock(&e->lock);
}

void event_log_leave(struct event_log *e) {
    pthread_mutex_lock(&e->lock);
    e->running--;
    pthread_mutex_unlock(&e->lock);
}

static void on_event(pdk_session_event event, int64_t time_left_ms, void *user) {
    struct event_log *e = user;
    const struct event_log_entry entry = {event, time_left_ms};
    event_log_enter(e);
    pthread_mutex_lock(&e->lock);
    g_array_append_val(e->events, entry);
    pthread_mutex_unlock(&e->lock);
    event_log_leave(e);
}

static void on_log(pdk_log_level level, const char *text, void *user) {
    struct event_log *e = user;
    event_log_enter(e);
    pthread_mutex_lock(&e->lock);
    g_ptr_array_add(e->lines, g_strdup_printf("%c %s", "?EWID"[level], text));
    pthread_mutex_unlock(&e->lock);
    event_log_leave(e);
}

void event_log_attach(struct event_log *e, pdk_session_options *options) {
    options->on_event = on_event;
    options->on_event_user = e;
    options->on_log = on_log;
    options->on_log_user = e;
    options->log_level = PDK_LOG_DEBUG;
}

int event_log_count(struct event_log *e, pdk_session_event event) {
    int count = 0;
    pthread_mutex_lock(&e->lock);
    for (guint i = 0; i < e->events->len; i++)
        count += g_array_index(e->events, struct event_log_entry, i).event == event;
    pthread_mutex_unlock(&e->lock);
    return count;
}

struct wanted {
    struct event_log *e;
    pdk_session_event event;
    int count;
    const char *text;
};

static bool event_came(void *user) {
    const struct wanted *w = user;
    return event_log_count(w->e, w->event) >= w->count;
}

bool event_log_wait(struct event_log *e, pdk_session_event event, int count, int64_t timeout_ms) {
    struct wanted wanted = {.e = e, .event = event, .count = count};
    return ts_wait_until(event_came, &wanted, timeout_ms);
}

char *event_log_history(struct event_log *e) {
    GString *history = g_string_new(NULL);
    pthread_mutex_lock(&e->lock);
    for (guint i = 0; i < e->events->len; i++)
        g_string_append_printf(history, "%s%s", i ? " " : "",
                               words[g_array_index(e->events, struct event_log_entry, i).event]);
    pthread_mutex_unlock(&e->lock);
    return g_string_free(history, FALSE);
}

int64_t event_log_time_left(struct event_log *e, pdk_session_event event) {
    int64_t left = -1;
    pthread_mutex_lock(&e->lock);
    for (guint i = 0; i < e->events->len; i++)
        if (g_array_index(e->events, struct event_log_entry, i).event == event)
            left = g_array_index(e->events, struct event_log_entry, i).time_left_ms;
    pthread_mutex_unlock(&e->lock);
    return left;
}

int event_log_lines_with(struct event_log *e, const char *text) {
    int count = 0;
    pthread_mutex_lock(&e->lock);
    for (guint i = 0; i < e->lines->len; i++)
        count += strstr(g_ptr_array_index(e->lines, i), text) != NULL;
    pthread_mutex_unlock(&e->lock);
    return count;
}

static bool line_came(void *user) {
    const struct wanted *w = user;
    return event_log_lines_with(w->e, w->text) > 0;
}

bool event_log_wait_line(struct event_log *e, const char *text, int64_t timeout_ms) {
    struct wanted wanted = {.e = e, .text = text};
    return ts_wait_until(line_came, &wanted, timeout_ms);
}

void event_log_expect_silence(struct event_log *e) {
    pthread_mutex_lock(&e->lock);
    e->over = true;
    pthread_mutex_unlock(&e->lock);
}

int event_log_late(struct event_log *e) {
    pthread_mutex_lock(&e->lock);
    int late = e->late;
    pthread_mutex_unlock(&e->lock);
    return late;
}

bool event_log_overlapped(struct event_log *e) {
    pthread_mutex_lock(&e->lock);
    bool overlapped = e->overlapped;
    pthread_mutex_unlock(&e->lock);
    return overlapped;
}

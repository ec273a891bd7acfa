/* See journal.h. */
#include "journal.h"

#include <string.h>

#include "ts_clock.h"

static const char *const words[] = {"?", "connected", "suspended", "restored", "expired", "reopened", "closed"};

void journal_init(struct journal *j) {
    *j = (struct journal){.lock = PTHREAD_MUTEX_INITIALIZER};
    j->events = g_array_new(FALSE, FALSE, sizeof(struct journal_entry));
    j->lines = g_ptr_array_new_with_free_func(g_free);
    j->kept = g_ptr_array_new();
}

void journal_keep(struct journal *j, pdk_session *s) { g_ptr_array_add(j->kept, pdk_session_ref(s)); }

void journal_clear(struct journal *j) {
    for (guint i = 0; i < j->kept->len; i++) {
        pdk_session *s = g_ptr_array_index(j->kept, i);
        pdk_session_close(s, 5000);
        pdk_session_unref(s);
    }
    g_ptr_array_free(j->kept, TRUE);
    g_array_free(j->events, TRUE);
    g_ptr_array_free(j->lines, TRUE);
    pthread_mutex_destroy(&j->lock);
}

void journal_enter(struct journal *j) {
    pthread_mutex_lock(&j->lock);
    j->overlapped = j->overlapped || j->running > 0;
    j->running++;
    j->late += j->over ? 1 : 0;
    pthread_mutex_unlock(&j->lock);
}

void journal_leave(struct journal *j) {
    pthread_mutex_lock(&j->lock);
    j->running--;
    pthread_mutex_unlock(&j->lock);
}

static void on_event(pdk_session_event event, int64_t time_left_ms, void *user) {
    struct journal *j = user;
    const struct journal_entry entry = {event, time_left_ms};
    journal_enter(j);
    pthread_mutex_lock(&j->lock);
    g_array_append_val(j->events, entry);
    pthread_mutex_unlock(&j->lock);
    journal_leave(j);
}

static void on_log(pdk_log_level level, const char *text, void *user) {
    struct journal *j = user;
    journal_enter(j);
    pthread_mutex_lock(&j->lock);
    g_ptr_array_add(j->lines, g_strdup_printf("%c %s", "?EWID"[level], text));
    pthread_mutex_unlock(&j->lock);
    journal_leave(j);
}

void journal_attach(struct journal *j, pdk_session_options *options) {
    options->on_event = on_event;
    options->on_event_user = j;
    options->on_log = on_log;
    options->on_log_user = j;
    options->log_level = PDK_LOG_DEBUG;
}

int journal_count(struct journal *j, pdk_session_event event) {
    int count = 0;
    pthread_mutex_lock(&j->lock);
    for (guint i = 0; i < j->events->len; i++)
        count += g_array_index(j->events, struct journal_entry, i).event == event;
    pthread_mutex_unlock(&j->lock);
    return count;
}

struct wanted {
    struct journal *j;
    pdk_session_event event;
    int count;
    const char *text;
};

static bool event_came(void *user) {
    const struct wanted *w = user;
    return journal_count(w->j, w->event) >= w->count;
}

bool journal_wait(struct journal *j, pdk_session_event event, int count, int64_t timeout_ms) {
    struct wanted wanted = {.j = j, .event = event, .count = count};
    return ts_wait_until(event_came, &wanted, timeout_ms);
}

char *journal_story(struct journal *j) {
    GString *story = g_string_new(NULL);
    pthread_mutex_lock(&j->lock);
    for (guint i = 0; i < j->events->len; i++)
        g_string_append_printf(story, "%s%s", i ? " " : "",
                               words[g_array_index(j->events, struct journal_entry, i).event]);
    pthread_mutex_unlock(&j->lock);
    return g_string_free(story, FALSE);
}

int64_t journal_time_left(struct journal *j, pdk_session_event event) {
    int64_t left = -1;
    pthread_mutex_lock(&j->lock);
    for (guint i = 0; i < j->events->len; i++)
        if (g_array_index(j->events, struct journal_entry, i).event == event)
            left = g_array_index(j->events, struct journal_entry, i).time_left_ms;
    pthread_mutex_unlock(&j->lock);
    return left;
}

int journal_lines_with(struct journal *j, const char *text) {
    int count = 0;
    pthread_mutex_lock(&j->lock);
    for (guint i = 0; i < j->lines->len; i++)
        count += strstr(g_ptr_array_index(j->lines, i), text) != NULL;
    pthread_mutex_unlock(&j->lock);
    return count;
}

static bool line_came(void *user) {
    const struct wanted *w = user;
    return journal_lines_with(w->j, w->text) > 0;
}

bool journal_wait_line(struct journal *j, const char *text, int64_t timeout_ms) {
    struct wanted wanted = {.j = j, .text = text};
    return ts_wait_until(line_came, &wanted, timeout_ms);
}

void journal_expect_silence(struct journal *j) {
    pthread_mutex_lock(&j->lock);
    j->over = true;
    pthread_mutex_unlock(&j->lock);
}

int journal_late(struct journal *j) {
    pthread_mutex_lock(&j->lock);
    int late = j->late;
    pthread_mutex_unlock(&j->lock);
    return late;
}

bool journal_overlapped(struct journal *j) {
    pthread_mutex_lock(&j->lock);
    bool overlapped = j->overlapped;
    pthread_mutex_unlock(&j->lock);
    return overlapped;
}

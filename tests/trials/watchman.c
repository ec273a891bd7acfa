#include "watchman.h"

#include <pthread.h>
#include <string.h>
#include <ts_clock.h>

enum { LOOK_US = 500 };

struct post {
    pdk_hold *hold;
    char *what;
    int64_t first, last, longest, looked;
};

struct watchman {
    diary *diary;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    GPtrArray *posts;
    bool stop;
    GThread *thread;
};

static void note_grant(const struct watchman *w, pdk_hold *hold, const char *what) {
    diary_note(w->diary, "granted token=%" G_GINT64_FORMAT " handover=%u%s%s", (gint64)pdk_hold_token(hold),
               (unsigned)pdk_hold_handover(hold), *what ? " " : "", what);
}

static void note_span(const struct watchman *w, const struct post *post) {
    const char *space = *post->what ? " " : "";
    diary_note(w->diary,
               "valid token=%" G_GINT64_FORMAT " handover=%u first=%" G_GINT64_FORMAT " last=%" G_GINT64_FORMAT
               " longest=%" G_GINT64_FORMAT " reason=%s%s%s",
               (gint64)pdk_hold_token(post->hold), (unsigned)pdk_hold_handover(post->hold), (gint64)post->first,
               (gint64)post->last, (gint64)post->longest, pdk_reason_name(pdk_hold_reason(post->hold)), space,
               post->what);
}

static void free_post(gpointer data) {
    struct post *post = data;
    pdk_hold_unref(post->hold);
    g_free(post->what);
    g_free(post);
}

/* False when the hold is not valid any more. */
static bool look(struct post *post) {
    int64_t before = ts_now_ns();
    if (!pdk_hold_valid(post->hold))
        return false;
    if (post->first == 0)
        post->first = before;
    else
        post->longest = MAX(post->longest, before - post->looked);
    post->looked = post->last = before;
    return true;
}

static gpointer keep_watch(gpointer data) {
    struct watchman *w = data;
    pthread_mutex_lock(&w->mutex);
    while (!w->stop || w->posts->len > 0) {
        if (w->posts->len == 0) {
            pthread_cond_wait(&w->changed, &w->mutex);
            continue;
        }
        for (guint i = w->posts->len; i-- > 0;) {
            struct post *post = g_ptr_array_index(w->posts, i);
            if (look(post))
                continue;
            note_span(w, post);
            g_ptr_array_remove_index_fast(w->posts, i);
        }
        pthread_mutex_unlock(&w->mutex);
        g_usleep(LOOK_US);
        pthread_mutex_lock(&w->mutex);
    }
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

watchman *watchman_new(diary *d) {
    watchman *w = g_new0(watchman, 1);
    w->diary = d;
    w->posts = g_ptr_array_new_with_free_func(free_post);
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->changed, NULL);
    w->thread = g_thread_new("watchman", keep_watch, w);
    return w;
}

void watchman_stop(watchman *w) {
    if (!w)
        return;
    pthread_mutex_lock(&w->mutex);
    w->stop = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->mutex);
    g_thread_join(w->thread);
    g_ptr_array_unref(w->posts);
    pthread_mutex_destroy(&w->mutex);
    pthread_cond_destroy(&w->changed);
    g_free(w);
}

void watchman_watch(watchman *w, pdk_hold *hold, const char *what) {
    note_grant(w, hold, what);
    struct post *post = g_new0(struct post, 1);
    post->hold = pdk_hold_ref(hold);
    post->what = g_strdup(what);
    look(post); /* the thread may take its time to wake */
    pthread_mutex_lock(&w->mutex);
    g_ptr_array_add(w->posts, post);
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->mutex);
}

void watchman_recast(watchman *w, pdk_hold *hold, const char *what) {
    pthread_mutex_lock(&w->mutex);
    for (guint i = 0; i < w->posts->len; i++) {
        struct post *post = g_ptr_array_index(w->posts, i);
        if (post->hold != hold)
            continue;
        note_span(w, post);
        note_grant(w, hold, what);
        g_free(post->what);
        post->what = g_strdup(what);
        post->first = post->last = post->longest = 0;
        look(post);
    }
    pthread_mutex_unlock(&w->mutex);
}

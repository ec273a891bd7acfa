#include "validity_sampler.h"

#include <pthread.h>
#include <string.h>
#include <ts_clock.h>

enum { SAMPLE_US = 500 };

struct watched {
    pdk_hold *kept;       /* a reference to the hold; or NULL, and */
    pdk_set *set;         /* one to the set, or to that which it is a part of */
    const pdk_hold *hold; /* that is looked at; NULL: the set is */
    char *what;
    int64_t first, last, longest, sampled; /* ns; sampled: the last time */
    int64_t least_ms;                      /* that remained, since it was asked */
};

struct sampler {
    event_log *log;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    GPtrArray *watched;
    bool stop;
    GThread *thread;
};

static bool is_valid(const struct watched *one) {
    return one->hold ? pdk_hold_is_valid(one->hold) : pdk_set_is_valid(one->set);
}

static int64_t remaining_ms(const struct watched *one) {
    return one->hold ? pdk_hold_remaining_ms(one->hold) : pdk_set_remaining_ms(one->set);
}

static pdk_reason reason_of(const struct watched *one) {
    return one->hold ? pdk_hold_reason(one->hold) : pdk_set_reason(one->set);
}

static void note_grant(const struct sampler *s, const pdk_hold *hold, const char *what) {
    event_log_note(s->log, "granted token=%" G_GINT64_FORMAT " handover=%u%s%s", (gint64)pdk_hold_token(hold),
                   (unsigned)pdk_hold_handover(hold), *what ? " " : "", what);
}

static void note_span(const struct sampler *s, const struct watched *one) {
    const char *space = *one->what ? " " : "";
    event_log_note(s->log,
                   "valid token=%" G_GINT64_FORMAT " handover=%u first=%" G_GINT64_FORMAT " last=%" G_GINT64_FORMAT
                   " longest=%" G_GINT64_FORMAT " reason=%s%s%s",
                   (gint64)pdk_hold_token(one->hold), (unsigned)pdk_hold_handover(one->hold), (gint64)one->first,
                   (gint64)one->last, (gint64)one->longest, pdk_reason_name(reason_of(one)), space, one->what);
}

static void free_watched(gpointer data) {
    struct watched *one = data;
    pdk_hold_unref(one->kept);
    pdk_set_unref(one->set);
    g_free(one->what);
    g_free(one);
}

/* False when the hold is not valid any more. */
static bool sample(struct watched *one) {
    int64_t before = ts_now_ns();
    if (!is_valid(one))
        return false;
    one->least_ms = MIN(one->least_ms, remaining_ms(one));
    if (one->first == 0)
        one->first = before;
    else
        one->longest = MAX(one->longest, before - one->sampled);
    one->sampled = one->last = before;
    return true;
}

static gpointer keep_sampling(gpointer data) {
    struct sampler *s = data;
    pthread_mutex_lock(&s->mutex);
    while (!s->stop || s->watched->len > 0) {
        if (s->watched->len == 0) {
            pthread_cond_wait(&s->changed, &s->mutex);
            continue;
        }
        for (guint i = s->watched->len; i-- > 0;) {
            struct watched *one = g_ptr_array_index(s->watched, i);
            if (sample(one))
                continue;
            note_span(s, one);
            g_ptr_array_remove_index_fast(s->watched, i);
        }
        pthread_mutex_unlock(&s->mutex);
        g_usleep(SAMPLE_US);
        pthread_mutex_lock(&s->mutex);
    }
    pthread_mutex_unlock(&s->mutex);
    return NULL;
}

sampler *sampler_new(event_log *log) {
    sampler *s = g_new0(sampler, 1);
    s->log = log;
    s->watched = g_ptr_array_new_with_free_func(free_watched);
    pthread_mutex_init(&s->mutex, NULL);
    pthread_cond_init(&s->changed, NULL);
    s->thread = g_thread_new("sampler", keep_sampling, s);
    return s;
}

void sampler_stop(sampler *s) {
    if (!s)
        return;
    pthread_mutex_lock(&s->mutex);
    s->stop = true;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->mutex);
    g_thread_join(s->thread);
    g_ptr_array_unref(s->watched);
    pthread_mutex_destroy(&s->mutex);
    pthread_cond_destroy(&s->changed);
    g_free(s);
}

static void watch(sampler *s, pdk_hold *kept, pdk_set *set, const pdk_hold *hold, const char *what) {
    note_grant(s, hold, what);
    struct watched *one = g_new0(struct watched, 1);
    one->kept = pdk_hold_ref(kept);
    one->set = pdk_set_ref(set);
    one->hold = hold;
    one->what = g_strdup(what);
    one->least_ms = INT64_MAX;
    sample(one); /* the thread may take its time to wake */
    pthread_mutex_lock(&s->mutex);
    g_ptr_array_add(s->watched, one);
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->mutex);
}

void sampler_add(sampler *s, pdk_hold *hold, const char *what) { watch(s, hold, NULL, hold, what); }
void sampler_add_set(sampler *s, pdk_set *set, const char *what) { watch(s, NULL, set, NULL, what); }

void sampler_add_part(sampler *s, pdk_set *set, int part, const char *what) {
    watch(s, NULL, set, pdk_set_part(set, part), what);
}

void sampler_change(sampler *s, pdk_hold *hold, const char *what) {
    pthread_mutex_lock(&s->mutex);
    for (guint i = 0; i < s->watched->len; i++) {
        struct watched *one = g_ptr_array_index(s->watched, i);
        if (one->hold != hold)
            continue;
        note_span(s, one);
        note_grant(s, hold, what);
        g_free(one->what);
        one->what = g_strdup(what);
        one->first = one->last = one->longest = 0;
        sample(one);
    }
    pthread_mutex_unlock(&s->mutex);
}

int64_t sampler_least_ms(sampler *s, const pdk_hold *hold) {
    int64_t least = -1;
    pthread_mutex_lock(&s->mutex);
    for (guint i = 0; i < s->watched->len && least < 0; i++) {
        struct watched *one = g_ptr_array_index(s->watched, i);
        if (one->hold != hold)
            continue;
        least = MIN(one->least_ms, pdk_hold_remaining_ms(hold));
        one->least_ms = INT64_MAX;
    }
    pthread_mutex_unlock(&s->mutex);
    return least;
}

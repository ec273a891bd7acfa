#include "session/live_query.h"

#include "session/chores.h"
#include "session/watches.h"

/* The pause before a question is asked again, if it was not answered while connected. */
#define ASK_AGAIN_NS (20 * PDK__MS)

void pdk__live_query_ref(struct pdk__live_query *l) {
    pdk__assert_locked(l->s);
    l->refs++;
}

void pdk__live_query_unref(struct pdk__live_query *l) {
    pdk__assert_locked(l->s);
    if (--l->refs != 0)
        return;
    g_hash_table_destroy(l->keys);
    l->calls->free(l);
}

static struct pdk__live_query *live_query_of(struct pdk__watcher *watcher) { return (struct pdk__live_query *)watcher; }

static void on_fired(struct pdk__watcher *watcher, const char *path, enum pdk__news news) {
    struct pdk__live_query *l = live_query_of(watcher);
    if (l->calls->fired) /* its key stays in l->keys: that does no harm */
        l->calls->fired(l, path, news != PDK__NEWS_CHANGED);
    pdk__live_query_look(l);
}

bool pdk__live_query_watch(struct pdk__live_query *l, const char *key) {
    pdk__assert_locked(l->s);
    if (!pdk__watches_add(l->s, key, &l->watcher))
        return false;
    g_hash_table_add(l->keys, g_strdup(key));
    return true;
}

void pdk__live_query_unset(struct pdk__live_query *l, const char *key) {
    pdk__assert_locked(l->s);
    pdk__watches_failed(l->s, key, &l->watcher);
    g_hash_table_remove(l->keys, key);
}

void pdk__live_query_unwatch(struct pdk__live_query *l, const char *key) {
    pdk__assert_locked(l->s);
    pdk__watches_remove(l->s, key, &l->watcher);
    g_hash_table_remove(l->keys, key);
}

static void watcher_ref(struct pdk__watcher *watcher) { pdk__live_query_ref(live_query_of(watcher)); }
static void watcher_unref(struct pdk__watcher *watcher) { pdk__live_query_unref(live_query_of(watcher)); }

static void live_query_on_alarm(pdk_session *s, void *user) {
    (void)s;
    pdk__live_query_look(user);
}

void pdk__live_query_init(struct pdk__live_query *l, pdk_session *s, const struct pdk__live_query_calls *calls) {
    pdk__assert_locked(s);
    *l = (struct pdk__live_query){.watcher = {on_fired, watcher_ref, watcher_unref}, .calls = calls, .s = s, .refs = 1};
    l->keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    l->alarm = (struct pdk__alarm){.ring = live_query_on_alarm, .user = l};
    l->link.data = l;
    g_queue_push_tail_link(&s->live_queries, &l->link);
}

void pdk__live_query_again(struct pdk__live_query *l) {
    pdk__assert_locked(l->s);
    l->again = true;
}

void pdk__live_query_caught_up(struct pdk__live_query *l) {
    pdk__assert_locked(l->s);
    l->again = false;
}

void pdk__live_query_look_within(struct pdk__live_query *l, int64_t ns) {
    pdk__assert_locked(l->s);
    if (!l->stopped)
        pdk__alarm_set(l->s, &l->alarm, pdk__now(l->s) + ns);
}

void pdk__live_query_look(struct pdk__live_query *l) {
    pdk__assert_locked(l->s);
    if (l->stopped || l->s->ended != PDK_OK || l->s->link != PDK__LINK_CONNECTED)
        return; /* the next connection makes it look */
    l->again = l->asking;
    if (l->asking)
        return;
    int64_t now = pdk__now(l->s);
    if (now < l->not_before) { /* its answers change as fast as it asks */
        pdk__live_query_look_within(l, l->not_before - now);
        return;
    }
    l->asking = true;
    if (!l->calls->ask(l)) {
        l->asking = false;
        pdk__live_query_look_within(l, ASK_AGAIN_NS);
    }
}

void pdk__live_query_done(struct pdk__live_query *l, bool answered) {
    pdk__assert_locked(l->s);
    bool again = l->again;
    int64_t now = pdk__now(l->s);
    l->asking = l->again = false;
    l->not_before = now + pdk__pace_next(&l->pace, &pdk__pace_steps, now);
    if (!answered)
        pdk__live_query_look_within(l, ASK_AGAIN_NS);
    else if (again)
        pdk__live_query_look(l);
    else
        pdk__live_query_look_within(l, l->s->lease.timeout); /* in case an event was lost */
}

void pdk__live_query_stop(struct pdk__live_query *l) {
    pdk__assert_locked(l->s);
    if (l->stopped)
        return;
    l->stopped = true;
    g_queue_unlink(&l->s->live_queries, &l->link);
    pdk__alarm_off(&l->alarm);
    GHashTableIter keys;
    gpointer key;
    g_hash_table_iter_init(&keys, l->keys);
    while (g_hash_table_iter_next(&keys, &key, NULL))
        pdk__watches_remove(l->s, key, &l->watcher);
    pdk__live_query_unref(l);
}

static void look_one(pdk_session *s, void *item, void *user) {
    (void)s;
    (void)user;
    pdk__live_query_look(item);
    pdk__live_query_unref(item);
}

void pdk__live_queries_look(pdk_session *s) {
    pdk__assert_locked(s);
    GPtrArray *all = g_ptr_array_sized_new(s->live_queries.length);
    for (const GList *link = s->live_queries.head; link; link = link->next) {
        pdk__live_query_ref(link->data);
        g_ptr_array_add(all, link->data);
    }
    pdk__chore_each(s, all, look_one, NULL, NULL);
}

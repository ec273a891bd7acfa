#include "session/watches.h"

#include "session/chores.h"
#include "session/mirrors.h"

#include <string.h>

struct watched {
    GPtrArray *watchers;
    uint64_t set; /* s->watches_set when its watch was answered; 0: it was not */
};

/* The news for the watchers of a key. */
struct fired {
    char *path;
    enum pdk__news news;
};

static size_t cost(const char *key) { return strlen(key) + 4; }

static void free_watched(gpointer user) {
    struct watched *watched = user;
    g_ptr_array_unref(watched->watchers);
    g_free(watched);
}

void pdk__watches_init(pdk_session *s) {
    s->watches = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_watched);
    s->watches_set = 1;
}

char *pdk__watches_children_key(const char *dir) { return g_strconcat(dir, "/", NULL); }

bool pdk__watches_add(pdk_session *s, const char *key, struct pdk__watcher *watcher) {
    pdk__assert_locked(s);
    struct watched *watched = g_hash_table_lookup(s->watches, key);
    if (!watched) {
        if (s->watched_bytes + cost(key) > PDK__WATCHED_BYTES_MAX)
            return false;
        s->watched_bytes += cost(key);
        watched = g_new0(struct watched, 1);
        watched->watchers = g_ptr_array_new();
        g_hash_table_insert(s->watches, g_strdup(key), watched);
    }
    if (!g_ptr_array_find(watched->watchers, watcher, NULL))
        g_ptr_array_add(watched->watchers, watcher);
    return true;
}

void pdk__watches_remove(pdk_session *s, const char *key, struct pdk__watcher *watcher) {
    pdk__assert_locked(s);
    struct watched *watched = g_hash_table_lookup(s->watches, key);
    if (watched)
        g_ptr_array_remove_fast(watched->watchers, watcher);
}

void pdk__watches_failed(pdk_session *s, const char *key, struct pdk__watcher *watcher) {
    pdk__assert_locked(s);
    pdk__watches_remove(s, key, watcher);
    const struct watched *watched = g_hash_table_lookup(s->watches, key);
    if (!watched || watched->watchers->len > 0)
        return;
    s->watched_bytes -= cost(key);
    g_hash_table_remove(s->watches, key);
}

static void fire_one(pdk_session *s, void *item, void *user) {
    struct pdk__watcher *watcher = item;
    const struct fired *fired = user;
    (void)s;
    watcher->fired(watcher, fired->path, fired->news);
    watcher->unref(watcher);
}

static void free_fired(void *user) {
    struct fired *fired = user;
    g_free(fired->path);
    g_free(fired);
}

static void fire(pdk_session *s, const char *key, const char *path, enum pdk__news news) {
    gpointer own_key, value;
    if (!g_hash_table_steal_extended(s->watches, key, &own_key, &value))
        return;
    s->watched_bytes -= cost(key);
    struct watched *watched = value;
    GPtrArray *list = g_ptr_array_ref(watched->watchers);
    free_watched(watched);
    for (guint i = 0; i < list->len; i++) {
        struct pdk__watcher *watcher = g_ptr_array_index(list, i);
        watcher->ref(watcher);
    }
    g_free(own_key);
    struct fired *fired = g_new(struct fired, 1);
    *fired = (struct fired){g_strdup(path), news};
    pdk__chore_each(s, list, fire_one, free_fired, fired);
}

void pdk__watches_fired(pdk_session *s, const char *path, enum pdk__zk_event event) {
    pdk__assert_locked(s);
    enum pdk__news news = event == PDK__ZK_DELETED ? PDK__NEWS_GONE : PDK__NEWS_CHANGED;
    if (event == PDK__ZK_DELETED)
        pdk__mirrors_deleted(s, path);
    if (event != PDK__ZK_CHILDREN)
        fire(s, path, path, news);
    if (event != PDK__ZK_CHANGED) {
        char *key = pdk__watches_children_key(path);
        fire(s, key, path, news);
        g_free(key);
    }
}

void pdk__watches_told_gone(pdk_session *s, const char *path) {
    pdk__assert_locked(s);
    fire(s, path, path, PDK__NEWS_GONE_TOLD);
}

void pdk__watches_answered(pdk_session *s, const char *path) {
    pdk__assert_locked(s);
    struct watched *watched = g_hash_table_lookup(s->watches, path);
    if (watched)
        watched->set = s->watches_set;
}

bool pdk__watches_stands(const pdk_session *s, const char *path) {
    pdk__assert_locked(s);
    const struct watched *watched = g_hash_table_lookup(s->watches, path);
    return watched && watched->set == s->watches_set;
}

void pdk__watches_set_anew(pdk_session *s) {
    pdk__assert_locked(s);
    s->watches_set++;
}

void pdk__watches_reset(pdk_session *s) {
    pdk__assert_locked(s);
    g_hash_table_remove_all(s->watches);
    s->watched_bytes = 0;
}

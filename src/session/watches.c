#include "session/watches.h"

#include "session/place.h"

#include <string.h>

static size_t cost(const char *path) { return strlen(path) + 4; }

static void free_places(gpointer places) { g_ptr_array_unref(places); }

void pdk__watches_init(pdk_session *s) {
    s->watches = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_places);
}

bool pdk__watches_add(pdk_session *s, const char *path, struct pdk__place *place) {
    GPtrArray *places = g_hash_table_lookup(s->watches, path);
    if (!places) {
        if (s->watched_bytes + cost(path) > PDK__WATCHED_BYTES_MAX)
            return false;
        s->watched_bytes += cost(path);
        places = g_ptr_array_new();
        g_hash_table_insert(s->watches, g_strdup(path), places);
    }
    if (!g_ptr_array_find(places, place, NULL))
        g_ptr_array_add(places, place);
    return true;
}

void pdk__watches_remove(pdk_session *s, const char *path, struct pdk__place *place) {
    GPtrArray *places = g_hash_table_lookup(s->watches, path);
    if (places)
        g_ptr_array_remove_fast(places, place);
}

void pdk__watches_failed(pdk_session *s, const char *path, struct pdk__place *place) {
    pdk__watches_remove(s, path, place);
    GPtrArray *places = g_hash_table_lookup(s->watches, path);
    if (!places || places->len > 0)
        return;
    s->watched_bytes -= cost(path);
    g_hash_table_remove(s->watches, path);
}

void pdk__watches_fired(pdk_session *s, const char *path, bool gone) {
    gpointer key, places;
    if (!g_hash_table_steal_extended(s->watches, path, &key, &places))
        return;
    s->watched_bytes -= cost(path);
    GPtrArray *list = places;
    for (guint i = 0; i < list->len; i++)
        pdk__place_ref(g_ptr_array_index(list, i));
    for (guint i = 0; i < list->len; i++) {
        struct pdk__place *place = g_ptr_array_index(list, i);
        pdk__place_watch_fired(place, path, gone);
        pdk__place_unref(place);
    }
    g_ptr_array_unref(list);
    g_free(key);
}

void pdk__watches_reset(pdk_session *s) {
    g_hash_table_remove_all(s->watches);
    s->watched_bytes = 0;
}

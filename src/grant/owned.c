#include "grant/owned.h"

#include <string.h>

/* The things of one thread on one path. It is the key of the table, and the value. */
struct owned {
    uint64_t thread;
    const char *dir;
    GQueue links;
    char own_dir[]; /* dir, where it is in the table */
};

static guint owned_hash(gconstpointer of) {
    const struct owned *o = of;
    return g_str_hash(o->dir) ^ g_int64_hash(&o->thread);
}

static gboolean owned_same(gconstpointer a, gconstpointer b) {
    const struct owned *x = a, *y = b;
    return x->thread == y->thread && g_str_equal(x->dir, y->dir);
}

static struct owned *owned_find(GHashTable *table, uint64_t thread, const char *dir) {
    const struct owned key = {.thread = thread, .dir = dir};
    return table ? g_hash_table_lookup(table, &key) : NULL;
}

void pdk__owned_put(GHashTable **table, uint64_t thread, const char *dir, GList *link) {
    struct owned *o = owned_find(*table, thread, dir);
    if (!*table)
        *table = g_hash_table_new_full(owned_hash, owned_same, g_free, NULL);
    if (!o) {
        size_t size = strlen(dir) + 1;
        o = g_malloc0(sizeof *o + size);
        o->thread = thread;
        o->dir = memcpy(o->own_dir, dir, size);
        g_hash_table_add(*table, o);
    }
    g_queue_push_tail_link(&o->links, link);
}

void pdk__owned_take(GHashTable *table, uint64_t thread, const char *dir, GList *link) {
    struct owned *o = owned_find(table, thread, dir);
    g_queue_unlink(&o->links, link);
    if (g_queue_is_empty(&o->links))
        g_hash_table_remove(table, o);
}

const GList *pdk__owned_list(GHashTable *table, uint64_t thread, const char *dir) {
    const struct owned *o = owned_find(table, thread, dir);
    return o ? o->links.head : NULL;
}

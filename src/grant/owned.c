#include "grant/owned.h"

#include "grant/registry.h"

/* What one thread holds on one path. The key of the table, and its value. */
struct owned {
    uint64_t thread;
    const char *dir;
    char *own_dir; /* dir, where it is in the table */
    GQueue holds;
};

static guint hash(gconstpointer of) {
    const struct owned *o = of;
    return g_str_hash(o->dir) ^ g_int64_hash(&o->thread);
}

static gboolean same(gconstpointer a, gconstpointer b) {
    const struct owned *x = a, *y = b;
    return x->thread == y->thread && g_str_equal(x->dir, y->dir);
}

static void owned_free(gpointer of) {
    struct owned *o = of;
    g_free(o->own_dir);
    g_free(o);
}

static struct owned *look_up(pdk_session *s, const char *dir, uint64_t thread) {
    const struct pdk__registry *r = pdk__registry_of(s);
    const struct owned key = {.thread = thread, .dir = dir};
    return r->owned ? g_hash_table_lookup(r->owned, &key) : NULL;
}

/* Where somebody waits for it. */
static const char *dir_of(const struct pdk_hold *hold) {
    return hold->queue->kind.elsewhere ? hold->grant->entries[0]->dir : hold->queue->dir;
}

void pdk__owned_add(struct pdk_hold *hold) {
    pdk__assert_locked(hold->s);
    if (!hold->thread)
        return;
    struct pdk__registry *r = pdk__registry_of(hold->s);
    struct owned *o = look_up(hold->s, dir_of(hold), hold->thread);
    if (!r->owned)
        r->owned = g_hash_table_new_full(hash, same, owned_free, NULL);
    if (!o) {
        o = g_new0(struct owned, 1);
        o->thread = hold->thread;
        o->dir = o->own_dir = g_strdup(dir_of(hold));
        g_hash_table_add(r->owned, o);
    }
    hold->own.data = hold;
    g_queue_push_tail_link(&o->holds, &hold->own);
}

void pdk__owned_remove(struct pdk_hold *hold) {
    pdk__assert_locked(hold->s);
    if (!hold->thread)
        return;
    struct owned *o = look_up(hold->s, dir_of(hold), hold->thread);
    hold->thread = 0;
    g_queue_unlink(&o->holds, &hold->own);
    if (g_queue_is_empty(&o->holds))
        g_hash_table_remove(pdk__registry_of(hold->s)->owned, o);
}

struct pdk_hold *pdk__owned_find(const struct pdk__queue *queue, uint64_t thread, bool others) {
    pdk__assert_locked(queue->s);
    const struct owned *o = look_up(queue->s, queue->dir, thread);
    struct pdk_hold *other = NULL;
    for (const GList *link = o ? o->holds.head : NULL; link; link = link->next) {
        struct pdk_hold *hold = link->data;
        if (hold->queue->main == queue->main)
            return hold;
        bool both_shared = queue->kind.shared && hold->grant->shared;
        bool blocks = hold->queue->kind.reacquire != PDK__REACQUIRE_QUEUES || hold->queue->kind.elsewhere;
        if (others && blocks && !both_shared)
            other = hold;
    }
    return other;
}

struct pdk_hold *pdk__owned_on(pdk_session *s, const char *dir, uint64_t thread) {
    pdk__assert_locked(s);
    const struct owned *o = look_up(s, dir, thread);
    for (const GList *link = o ? o->holds.head : NULL; link; link = link->next)
        if (pdk_hold_is_valid(link->data))
            return link->data;
    return NULL;
}

#include "grant/lookout.h"

#include "core/names.h"
#include "session/ops.h"
#include "session/watches.h"

#include <string.h>

struct pdk__lookout {
    struct pdk__watcher watcher;
    unsigned refs; /* the owner's, and one while the list is under way */
    pdk_session *s;
    char *key;                /* of the watch on the children */
    char *own;                /* the name of our node */
    int64_t connected_at;     /* of the connection that has the watch */
    bool met;                 /* somebody has come, or may have */
    void (*came)(void *user); /* NULL: it was called, or nobody wants to hear */
    void *user;
};

static struct pdk__lookout *lookout_of(struct pdk__watcher *watcher) { return (struct pdk__lookout *)watcher; }

static void lookout_unref(struct pdk__lookout *l) {
    if (--l->refs != 0)
        return;
    g_free(l->key);
    g_free(l->own);
    g_free(l);
}

static void watcher_ref(struct pdk__watcher *watcher) { lookout_of(watcher)->refs++; }
static void watcher_unref(struct pdk__watcher *watcher) { lookout_unref(lookout_of(watcher)); }

static void meet(struct pdk__lookout *l) {
    void (*came)(void *user) = l->came;
    l->met = true;
    l->came = NULL;
    if (came)
        came(l->user);
}

static void on_fired(struct pdk__watcher *watcher, const char *path, enum pdk__news news) {
    (void)path;
    (void)news; /* any of them: the next node looks again */
    meet(lookout_of(watcher));
}

/* A child that is no contender keeps nobody waiting. */
static bool is_alone(const struct pdk__lookout *l, const struct pdk__reply *reply) {
    struct pdk__name name;
    for (size_t i = 0; i < reply->children_count; i++)
        if (strcmp(reply->children[i], l->own) != 0 && pdk__name_parse(reply->children[i], &name))
            return false;
    return true;
}

static void lookout_on_listed(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__lookout *l = user;
    if (reply && reply->result != PDK__OK)
        pdk__watches_failed(s, l->key, &l->watcher);
    if (reply && (reply->result != PDK__OK || !is_alone(l, reply)))
        meet(l); /* without a reply the node is gone with its session */
    lookout_unref(l);
}

static bool send_list(struct pdk__lookout *l, const char *dir) {
    if (!pdk__watches_add(l->s, l->key, &l->watcher))
        return false;
    if (pdk__send(l->s, (struct pdk__request){.kind = PDK__OP_LIST, .path = dir, .watch = true}, lookout_on_listed, l))
        return true;
    pdk__watches_failed(l->s, l->key, &l->watcher);
    return false;
}

struct pdk__lookout *pdk__lookout_new(pdk_session *s, const char *dir, const char *own, void (*came)(void *user),
                                      void *user) {
    pdk__assert_locked(s);
    struct pdk__lookout *l = g_new0(struct pdk__lookout, 1);
    l->watcher = (struct pdk__watcher){on_fired, watcher_ref, watcher_unref};
    l->refs = 2;
    l->s = s;
    l->key = pdk__watches_children_key(dir);
    l->own = g_strdup(own);
    l->connected_at = s->connected_at;
    l->came = came;
    l->user = user;
    if (send_list(l, dir))
        return l;
    l->refs = 1;
    lookout_unref(l);
    return NULL;
}

bool pdk__lookout_is_clear(const struct pdk__lookout *l) {
    pdk__assert_locked(l->s);
    return !l->met && l->connected_at == l->s->connected_at;
}

void pdk__lookout_drop(struct pdk__lookout *l) {
    if (!l)
        return;
    pdk__assert_locked(l->s);
    l->came = NULL;
    pdk__watches_remove(l->s, l->key, &l->watcher);
    lookout_unref(l);
}

#include "session/unowned.h"

#include "session/ops.h"
#include "session/watches.h"

#include <string.h>

static void on_fired(struct pdk__watcher *watcher, const char *path, enum pdk__news news);
static void unowned_keep(struct pdk__watcher *watcher) { (void)watcher; } /* the session's, and lives as long */

/* Embedded first: the watcher is how an event finds its session. */
struct pdk__unowned {
    struct pdk__watcher watcher;
    pdk_session *s;
    GHashTable *paths;
};

void pdk__unowned_init(pdk_session *s) {
    struct pdk__unowned *u = g_new0(struct pdk__unowned, 1);
    u->watcher = (struct pdk__watcher){on_fired, unowned_keep, unowned_keep};
    u->s = s;
    u->paths = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    s->unowned = u;
}

void pdk__unowned_clear(pdk_session *s) {
    g_hash_table_destroy(s->unowned->paths);
    g_free(s->unowned);
}

static void on_fired(struct pdk__watcher *watcher, const char *path, enum pdk__news news) {
    struct pdk__unowned *u = (struct pdk__unowned *)watcher;
    (void)news; /* gone, or written to: then it is read again */
    pdk__assert_locked(u->s);
    g_hash_table_remove(u->paths, path);
}

static gboolean unwatch(gpointer path, gpointer value, gpointer user) {
    struct pdk__unowned *u = user;
    (void)value;
    pdk__watches_remove(u->s, path, &u->watcher);
    return TRUE;
}

void pdk__unowned_forget_all(pdk_session *s) {
    pdk__assert_locked(s);
    g_hash_table_foreach_remove(s->unowned->paths, unwatch, s->unowned);
}

/* A persistent node has owner 0. For a container a server keeps the least number there is, and ZooKeeper 3.8 answers 0.
 * A node with a time to live cannot be told from a session's. */
bool pdk__is_unowned(const struct pdk__reply *reply) {
    return reply->result == PDK__OK && (reply->owner == 0 || reply->owner == INT64_MIN);
}

bool pdk__unowned_note(pdk_session *s, const char *path) {
    pdk__assert_locked(s);
    if (g_hash_table_contains(s->unowned->paths, path))
        return true;
    if (!pdk__watches_add(s, path, &s->unowned->watcher))
        return false;
    g_hash_table_add(s->unowned->paths, g_strdup(path));
    pdk__log(
        s, PDK_LOG_WARN,
        "%s: no session owns this node: it is nobody's place in the queue, and is passed over; best move it elsewhere",
        path);
    return true;
}

bool pdk__unowned_is(const pdk_session *s, const char *dir, const char *name) {
    pdk__assert_locked(s);
    if (g_hash_table_size(s->unowned->paths) == 0)
        return false;
    char *path = g_strconcat(dir, "/", name, NULL);
    bool is = g_hash_table_contains(s->unowned->paths, path);
    g_free(path);
    return is;
}

void pdk__unowned_leave_out(const pdk_session *s, const char *dir, struct pdk__child *children, size_t count) {
    for (size_t i = 0; i < count && g_hash_table_size(s->unowned->paths) > 0; i++)
        if (children[i].name.kind != PDK__FOREIGN && pdk__unowned_is(s, dir, children[i].text))
            children[i].name.kind = PDK__FOREIGN;
}

/* ---- asking */

struct asking {
    char *path;
    pdk__unowned_fn fn;
    void *user;
};

bool pdk__unowned_may_be(const char *name) { return !pdk__name_is_unique(name); }

/* This question has set no watch. The watch of an earlier one stands, if that one found the node to be nobody's. */
static void failed(pdk_session *s, const char *path) {
    if (!g_hash_table_contains(s->unowned->paths, path))
        pdk__watches_failed(s, path, &s->unowned->watcher);
}

static void on_answer(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct asking *a = user;
    bool unowned = reply && pdk__is_unowned(reply) && pdk__unowned_note(s, a->path);
    if (reply && reply->result != PDK__OK)
        failed(s, a->path);
    else if (reply && !unowned)
        pdk__watches_remove(s, a->path, &s->unowned->watcher);
    a->fn(s, a->user, reply, unowned);
    g_free(a->path);
    g_free(a);
}

bool pdk__unowned_ask(pdk_session *s, const char *dir, const char *name, pdk__unowned_fn fn, void *user) {
    struct asking *a = g_new(struct asking, 1);
    *a = (struct asking){g_strconcat(dir, "/", name, NULL), fn, user};
    bool room = pdk__watches_add(s, a->path, &s->unowned->watcher);
    if (room && pdk__send(s, (struct pdk__request){.kind = PDK__OP_WATCH, .path = a->path}, on_answer, a))
        return true;
    if (room)
        failed(s, a->path);
    g_free(a->path);
    g_free(a);
    return false;
}

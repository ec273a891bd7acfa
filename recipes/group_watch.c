/* A group's watcher tells its readings as views, one at a time.
 *
 *     group_read.c ──publish──► ready ──where callbacks run──► the view of it, if it differs from the one before ──► fn
 *                              ▲   │
 *                              └───┘ newer records replace untold ones
 */
#include "group_watch.h"

#include "base/fork.h"
#include "base/text.h"
#include "grant/recipe.h"
#include "session/close.h"
#include "session/watches.h"

struct pdk_group_watcher {
    pdk_session *s; /* a reference */
    struct pdk__watching *watching;
};

/* ---- telling */

static void group_watch_tell(struct pdk__watching *w, GPtrArray *records, bool exact) {
    pdk_group_view *view = pdk__group_view_new(w->told, records, exact);
    if (!view)
        return;
    w->fn(view, w->user);
    pdk_group_view_unref(w->told);
    w->told = view;
}

static void message_run(void *user) {
    struct pdk__watching *w = user;
    pdk_session *s = w->query.s;
    pdk__lock(s);
    w->telling = !w->query.stopped;
    bool wanted = w->telling, exact = w->ready_exact;
    GPtrArray *records = g_steal_pointer(&w->ready);
    w->due = false;
    pdk__unlock(s);
    if (wanted)
        group_watch_tell(w, records, exact);
    else
        g_ptr_array_unref(records);
    pdk__lock(s);
    w->telling = false;
    void (*user_free)(void *) = wanted && w->query.stopped ? g_steal_pointer(&w->user_free) : NULL;
    pdk__unlock(s);
    if (user_free)
        user_free(w->user);
}

static void message_drop(void *user) {
    struct pdk__watching *w = user;
    pdk_session *s = w->query.s;
    pdk__lock(s);
    pdk__live_query_unref(&w->query);
    pdk__unlock(s);
}

void pdk__watching_publish(struct pdk__watching *w, GPtrArray *records, bool exact) {
    pdk__assert_locked(w->query.s);
    if (w->ready)
        g_ptr_array_unref(w->ready);
    w->ready = records;
    w->ready_exact = exact;
    if (w->due)
        return;
    pdk__live_query_ref(&w->query);
    w->due = pdk__later(w->query.s, message_run, message_drop, w);
    if (!w->due)
        pdk__live_query_unref(&w->query);
}

static void watching_free(struct pdk__live_query *query) {
    struct pdk__watching *w = (struct pdk__watching *)query;
    if (w->ready)
        g_ptr_array_unref(w->ready);
    pdk_group_view_unref(w->told);
    g_hash_table_destroy(w->nodes);
    g_free(w->dir);
    g_free(w->key);
    g_free(w);
}

/* ---- the calls */

static struct pdk__watching *watching_new(pdk_session *s, const char *path) {
    static const struct pdk__live_query_calls calls = {
        .ask = pdk__watching_ask, .free = watching_free, .fired = pdk__watching_fired};
    struct pdk__watching *w = g_new0(struct pdk__watching, 1);
    pdk__live_query_init(&w->query, s, &calls);
    w->dir = g_strconcat(s->hosts->chroot, path, NULL);
    w->key = pdk__watches_children_key(w->dir);
    w->nodes = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, pdk__seen_free);
    return w;
}

pdk_status pdk_group_watch(pdk_session *session, const char *path, pdk_group_fn fn, void *user,
                           void (*user_free)(void *user), pdk_group_watcher **out) {
    static const char call[] = "pdk_group_watch";
    pdk_status status = pdk__recipe_check(session, path, out, call);
    if (status != PDK_OK)
        return status;
    if (!fn)
        return pdk__fail(PDK_INVALID, "%s: fn: NULL", call);
    pdk_group_watcher *watcher = g_new(pdk_group_watcher, 1);
    pdk__lock(session);
    struct pdk__watching *w = watching_new(session, path);
    w->fn = fn;
    w->user = user;
    w->user_free = user_free;
    *watcher = (pdk_group_watcher){pdk__session_ref(session), w};
    *out = watcher;
    pdk__live_query_look(&w->query);
    pdk__unlock(session);
    return PDK_OK;
}

void pdk_group_watcher_close(pdk_group_watcher *watcher) {
    if (!watcher || watcher->s->forks != pdk__forks())
        return;
    pdk_session *s = watcher->s;
    struct pdk__watching *w = watcher->watching;
    pdk__lock(s);
    void (*user_free)(void *) = w->telling ? NULL : g_steal_pointer(&w->user_free);
    void *user = w->user;
    pdk__live_query_stop(&w->query);
    pdk__unlock(s);
    if (user_free)
        user_free(user);
    pdk__session_unref(s);
    g_free(watcher);
}

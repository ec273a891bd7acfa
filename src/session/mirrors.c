#include "session/mirrors.h"

#include "core/mirror.h"
#include "session/ops.h"
#include "session/protect.h"
#include "session/reap.h"
#include "session/watches.h"

#include <string.h>

enum {
    DIRECTORIES_MAX = 256, /* noted; their watches are of use to nobody else */
    NODES_MAX = 4096,      /* in all mirrors together: 600 kB */
    STRANGERS_MAX = 32,    /* in a directory; with more of them, no create is consecutive for long */
    ROOM_LEAST = 16,
};

struct mirror {
    struct pdk__watcher watcher; /* of the directory */
    unsigned refs;
    pdk_session *s;
    char *dir;
    struct pdk__mirror core;
    bool asked; /* the watch is under way, and has not fired */
    int64_t asked_at;
    int64_t token; /* of the directory that is watched */
    GList link;    /* in s->mirrors.used */
};

static void on_fired(struct pdk__watcher *watcher, const char *path, enum pdk__news news);

static void keep(struct pdk__watcher *watcher) { ((struct mirror *)watcher)->refs++; }

static void let_go(struct pdk__watcher *watcher) {
    struct mirror *m = (struct mirror *)watcher;
    if (--m->refs != 0)
        return;
    g_free(m->core.nodes);
    g_free(m->dir);
    g_free(m);
}

static void make_void(struct mirror *m) {
    m->asked = false;
    pdk__mirror_void(&m->core);
    m->s->mirrors.nodes -= m->core.room;
    m->core.room = 0;
    g_clear_pointer(&m->core.nodes, g_free);
}

/* Written to, deleted, or made again. */
static void on_fired(struct pdk__watcher *watcher, const char *path, enum pdk__news news) {
    (void)path;
    (void)news;
    make_void((struct mirror *)watcher);
}

static void drop(struct mirror *m) {
    make_void(m);
    g_queue_unlink(&m->s->mirrors.used, &m->link);
    g_hash_table_remove(m->s->mirrors.directories, m->dir);
    let_go(&m->watcher);
}

void pdk__mirrors_init(pdk_session *s) {
    s->mirrors.directories = g_hash_table_new(g_str_hash, g_str_equal);
    g_queue_init(&s->mirrors.used);
}

void pdk__mirrors_free(pdk_session *s) {
    while (s->mirrors.used.head)
        drop(s->mirrors.used.head->data);
    g_hash_table_destroy(s->mirrors.directories);
}

void pdk__mirrors_void(pdk_session *s) {
    pdk__assert_locked(s);
    for (const GList *link = s->mirrors.used.head; link; link = link->next) {
        struct mirror *m = link->data;
        pdk__watches_remove(s, m->dir, &m->watcher);
        make_void(m);
    }
}

static struct mirror *mirror_of(const pdk_session *s, const char *dir) {
    return g_hash_table_lookup(s->mirrors.directories, dir);
}

/* Each list of a protected directory is looked at, and a lock-delay is read from lists. */
static bool is_served(const struct pdk__entry *entry) {
    return entry->rule.blocks == pdk__blocks_always && entry->rule.tolerated == 0 && !entry->c.delays &&
           !pdk__protect_looks(entry->s);
}

/* ---- the watch on the directory */

static void note(pdk_session *s, const char *dir) {
    struct mirror *m = g_new0(struct mirror, 1);
    m->watcher = (struct pdk__watcher){on_fired, keep, let_go};
    m->refs = 1;
    m->s = s;
    m->dir = g_strdup(dir);
    m->link.data = m;
    if (s->mirrors.used.length >= DIRECTORIES_MAX) {
        struct mirror *oldest = s->mirrors.used.tail->data;
        pdk__watches_remove(s, oldest->dir, &oldest->watcher);
        drop(oldest);
    }
    g_queue_push_head_link(&s->mirrors.used, &m->link);
    g_hash_table_insert(s->mirrors.directories, m->dir, m);
}

static void on_watched(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct mirror *m = user;
    bool asked = m->asked; /* else it has fired before */
    m->asked = false;
    if (reply && asked && (reply->result != PDK__OK || reply->token != m->token))
        make_void(m);
    if (reply && asked && reply->result == PDK__OK)
        pdk__mirror_watched(&m->core);
    else if (reply && asked)
        pdk__watches_failed(s, m->dir, &m->watcher);
    if (reply && asked)
        m->token = reply->token;
    let_go(&m->watcher);
}

/* A server may keep back the event of a watch. So an old one is believed no longer. */
static bool is_old(const struct mirror *m) { return pdk__now(m->s) - m->asked_at > m->s->lease.timeout; }

static void watch(struct mirror *m) {
    pdk_session *s = m->s;
    struct pdk__request request = {.kind = PDK__OP_WATCH, .path = m->dir};
    if (s->watched_bytes >= PDK__WATCHED_BYTES_MAX / 4 || !pdk__watches_add(s, m->dir, &m->watcher)) {
        make_void(m);
        return;
    }
    keep(&m->watcher);
    m->asked_at = pdk__now(s);
    m->asked = pdk__send(s, request, on_watched, m);
    if (m->asked)
        return;
    make_void(m);
    pdk__watches_failed(s, m->dir, &m->watcher);
    let_go(&m->watcher);
}

void pdk__mirrors_begin(struct pdk__entry *entry) {
    pdk_session *s = entry->s;
    pdk__assert_locked(s);
    struct mirror *m = mirror_of(s, entry->dir);
    if (!is_served(entry) || entry->create != 0)
        return;
    if (!m) {
        note(s, entry->dir);
        return;
    }
    g_queue_unlink(&s->mirrors.used, &m->link);
    g_queue_push_head_link(&s->mirrors.used, &m->link);
    if ((!m->core.watched || is_old(m)) && !m->asked)
        watch(m);
}

/* ---- our own nodes */

static bool is_ours(const pdk_session *s, const char *name) { return pdk__name_has_uuid_prefix(name, s->uuid_prefix); }

/* Behind a stranger a list pays, since the stranger may have gone without our hearing of it. An orphan of ours is found
 * by lists. A create that has waited to be sent may go with an old watch. */
bool pdk__mirrors_expect(const struct pdk__entry *entry) {
    const pdk_session *s = entry->s;
    const struct mirror *m = mirror_of(s, entry->dir);
    const char *tail;
    return m && is_served(entry) && entry->create == 0 && !is_old(m) && pdk__reap_is_done(s, entry->dir) &&
           pdk__lease_fresh(&s->lease, pdk__now(s)) && pdk__mirror_expects(&m->core, &tail) &&
           (tail[0] == '\0' || is_ours(s, tail));
}

bool pdk__mirrors_created(struct pdk__entry *entry, const struct pdk__reply *reply, struct pdk__view *view) {
    pdk__assert_locked(entry->s);
    struct mirror *m = mirror_of(entry->s, entry->dir);
    if (!m || entry->name || reply->result != PDK__OK || !pdk__mirror_created(&m->core, reply->name))
        return false;
    pdk__mirror_view(&m->core, reply->name, view);
    return is_served(entry);
}

/* A watch on our own node stands, whoever asked for it. So its end has not come before the event that led here. */
bool pdk__mirrors_show(const struct pdk__entry *entry, struct pdk__view *view) {
    pdk_session *s = entry->s;
    pdk__assert_locked(s);
    const struct mirror *m = mirror_of(s, entry->dir);
    bool shows = m && is_served(entry) && entry->own_path && pdk__watches_stands(s, entry->own_path) &&
                 pdk__lease_fresh(&s->lease, pdk__now(s)) && pdk__mirror_view(&m->core, entry->c.own, view) &&
                 view->ahead == 0;
    s->mirrors.shown += shows;
    return shows;
}

/* ---- news */

/* Where most of the contenders are our own, long lists fit in as well. */
static bool has_few_strangers(const pdk_session *s, const struct pdk__child *children, size_t count) {
    size_t strangers = 0;
    for (size_t i = 0; i < count && strangers <= STRANGERS_MAX; i++)
        strangers += children[i].name.kind != PDK__FOREIGN && !is_ours(s, children[i].text);
    return strangers <= STRANGERS_MAX;
}

static void make_room(struct mirror *m, size_t count) {
    pdk_session *s = m->s;
    size_t room = MAX(ROOM_LEAST, 2 * count), left = NODES_MAX - s->mirrors.nodes;
    if (count < m->core.room || room - m->core.room > left)
        return;
    s->mirrors.nodes += room - m->core.room;
    m->core.nodes = g_renew(struct pdk__mirrored, m->core.nodes, room);
    m->core.room = room;
}

void pdk__mirrors_listed(pdk_session *s, const char *dir, const struct pdk__child *children, size_t count) {
    pdk__assert_locked(s);
    struct mirror *m = mirror_of(s, dir);
    if (!m || !m->core.counted)
        return;
    if (has_few_strangers(s, children, count))
        make_room(m, count);
    pdk__mirror_listed(&m->core, children, count);
}

void pdk__mirrors_deleted(pdk_session *s, const char *path) {
    pdk__assert_locked(s);
    const char *slash = strrchr(path, '/');
    if (s->mirrors.used.length == 0)
        return;
    char *dir = g_strndup(path, (gsize)(slash - path));
    struct mirror *m = mirror_of(s, dir);
    if (m)
        pdk__mirror_deleted(&m->core, slash + 1, is_ours(s, slash + 1));
    g_free(dir);
}

void pdk__mirrors_held(const struct pdk__entry *entry) {
    pdk__assert_locked(entry->s);
    struct mirror *m = mirror_of(entry->s, entry->dir);
    if (m && is_served(entry))
        pdk__mirror_held(&m->core, entry->c.own);
}

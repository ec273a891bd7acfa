/* The knowledge that a watcher of a group has of each node in its directory. */
#include "core/names.h"
#include "core/view.h"
#include "group_watch.h"
#include "session/tokens.h"

#include <string.h>

void pdk__seen_mark(struct pdk__watching *w, struct pdk__seen *seen) {
    if (seen->dirty)
        return;
    seen->dirty = true;
    g_queue_push_tail_link(&w->todo, &seen->link);
}

void pdk__seen_unmark(struct pdk__watching *w, struct pdk__seen *seen) {
    if (seen->dirty)
        g_queue_unlink(&w->todo, &seen->link);
    seen->dirty = false;
}

void pdk__seen_know(struct pdk__seen *seen, struct pdk__record *record) {
    pdk__record_unref(seen->record);
    seen->record = record;
}

void pdk__seen_free(void *of_seen) {
    struct pdk__seen *seen = of_seen;
    pdk__seen_know(seen, NULL);
    g_free(seen->node);
    g_free(seen);
}

static struct pdk__seen *seen_of(struct pdk__watching *w, const char *node) {
    struct pdk__seen *seen = g_hash_table_lookup(w->nodes, node);
    if (seen)
        return seen;
    seen = g_new0(struct pdk__seen, 1);
    seen->node = g_strdup(node);
    seen->link.data = seen;
    g_hash_table_insert(w->nodes, seen->node, seen);
    w->unread++;
    pdk__seen_mark(w, seen);
    return seen;
}

char *pdk__seen_path(const struct pdk__watching *w, const struct pdk__seen *seen) {
    return g_strconcat(w->dir, "/", seen->node, NULL);
}

static void forget_unlisted(struct pdk__watching *w) {
    GHashTableIter all;
    gpointer value;
    g_hash_table_iter_init(&all, w->nodes);
    while (g_hash_table_iter_next(&all, NULL, &value)) {
        struct pdk__seen *seen = value;
        bool listed = seen->listed;
        seen->listed = false;
        if (listed)
            continue;
        char *path = pdk__seen_path(w, seen);
        pdk__live_query_unwatch(&w->query, path);
        g_free(path);
        pdk__seen_unmark(w, seen);
        w->unread -= !seen->read;
        g_hash_table_iter_remove(&all);
    }
}

/* Is it a member's name? Names of contenders are shorter than this, so a longer one is somebody's mischief. */
static bool is_member(const char *node) {
    struct pdk__name name;
    return strlen(node) < PDK__NAME_SIZE && pdk__name_parse(node, &name) && name.kind == PDK__MEMBER;
}

void pdk__nodes_listed(struct pdk__watching *w, const char *const *children, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (is_member(children[i]))
            seen_of(w, children[i])->listed = true;
    forget_unlisted(w);
}

/* ---- answers */

static void note_read(struct pdk__watching *w, struct pdk__seen *seen) {
    w->unread -= !seen->read;
    seen->read = true;
}

/* Keep the record, if it is read again and nothing has changed. A later node of the same name has a later change. */
static void read_it(struct pdk__watching *w, struct pdk__seen *seen, const struct pdk__reply *reply) {
    pdk_member_info shown = {.token = pdk__token_of(w->query.s, reply->token),
                             .session = reply->owner,
                             .since_ms = reply->ctime_ms,
                             .changed = reply->zxid};
    const struct pdk__record *old = seen->record;
    if (old && old->shown.changed == shown.changed)
        return;
    shown.status = reply->data_size > PDK_GROUP_DATA_MAX ? PDK_LIMIT : PDK_OK;
    shown.data = reply->data;
    shown.size = shown.status == PDK_OK ? reply->data_size : 0;
    pdk__seen_know(seen, pdk__record_new(seen->node, &shown));
}

void pdk__nodes_read(struct pdk__watching *w, struct pdk__seen *seen, const struct pdk__reply *reply) {
    switch (reply->result) {
    case PDK__OK:
        note_read(w, seen);
        if (reply->owner == 0) /* no session owns it, so it is no member */
            pdk__seen_know(seen, NULL);
        else
            read_it(w, seen, reply);
        break;
    case PDK__NO_NODE: /* gone since the list */
        note_read(w, seen);
        pdk__seen_know(seen, NULL);
        w->relist = true;
        break;
    case PDK__NOT_ALLOWED:
        note_read(w, seen);
        if (!seen->record || seen->record->shown.status != PDK_NO_PERMISSION)
            pdk__seen_know(seen, pdk__record_new(seen->node, &(pdk_member_info){.status = PDK_NO_PERMISSION}));
        break;
    default:
        w->failed = true;
        pdk__seen_mark(w, seen);
        break;
    }
}

/* ---- all of them */

void pdk__nodes_read_again(struct pdk__watching *w, bool all) {
    GHashTableIter nodes;
    gpointer value;
    g_hash_table_iter_init(&nodes, w->nodes);
    while (g_hash_table_iter_next(&nodes, NULL, &value)) {
        struct pdk__seen *seen = value;
        seen->watched = seen->watched && !all;
        if (!seen->watched)
            pdk__seen_mark(w, seen);
    }
}

GPtrArray *pdk__nodes_records(const struct pdk__watching *w, bool *all_are_watched) {
    GPtrArray *records = g_ptr_array_new_with_free_func(pdk__record_unref);
    GHashTableIter nodes;
    gpointer value;
    *all_are_watched = true;
    g_hash_table_iter_init(&nodes, w->nodes);
    while (g_hash_table_iter_next(&nodes, NULL, &value)) {
        const struct pdk__seen *seen = value;
        *all_are_watched = *all_are_watched && seen->watched;
        if (seen->record)
            g_ptr_array_add(records, pdk__record_ref(seen->record));
    }
    return records;
}

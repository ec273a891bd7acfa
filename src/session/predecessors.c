#include "session/predecessors.h"

#include "session/chores.h"
#include "session/entries.h"
#include "session/ops.h"
#include "session/reap.h"
#include "session/watches.h"

#include <string.h>

/* The time between two questions of a session, whatever number of entries wait in it. */
#define SPACING_NS (200 * PDK__MS)
/* Only a server that is beyond help brings about more. */
#define GONE_MAX 10000

struct ask {
    char *path;
    struct pdk__entry *entry; /* a reference */
};

static bool is_waiting(const struct pdk__entry *entry) {
    return entry->c.phase == PDK__IN && entry->c.watched[0] != '\0' && entry->c.watching && !entry->c.leaving;
}

static void schedule(pdk_session *s) {
    const struct pdk__entry *first = g_queue_peek_head(&s->predecessors.entries);
    if (first)
        pdk__alarm_set(s, &s->predecessors.alarm, MAX(first->ask_at, s->predecessors.at + SPACING_NS));
    else
        pdk__alarm_off(&s->predecessors.alarm);
}

static void unlink_entry(struct pdk__entry *entry) {
    if (entry->asks)
        g_queue_unlink(&entry->s->predecessors.entries, &entry->ask_link);
    entry->asks = false;
}

static void queue_again(struct pdk__entry *entry) {
    pdk_session *s = entry->s;
    unlink_entry(entry);
    entry->asks = true;
    entry->ask_at = pdk__now(s) + s->lease.timeout;
    g_queue_push_tail_link(&s->predecessors.entries, &entry->ask_link);
}

void pdk__predecessors_begin(struct pdk__entry *entry) {
    pdk__assert_locked(entry->s);
    queue_again(entry);
    schedule(entry->s);
}

void pdk__predecessors_end(struct pdk__entry *entry) {
    pdk__assert_locked(entry->s);
    unlink_entry(entry);
}

/* ---- asking */

static void note_gone(pdk_session *s, const char *dir, const char *name) {
    GHashTable *names = g_hash_table_lookup(s->predecessors.gone, dir);
    if (!pdk__name_is_unique(name) || s->predecessors.gone_count >= GONE_MAX)
        return;
    if (!names) {
        names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_hash_table_insert(s->predecessors.gone, g_strdup(dir), names);
    }
    if (g_hash_table_add(names, g_strdup(name)))
        s->predecessors.gone_count++;
}

/* A node of ours that no entry has: a server has said that it is not there. Only a list shows it to the reaper. */
static bool is_orphan(const pdk_session *s, const char *path) {
    const char *name = strrchr(path, '/') + 1;
    return pdk__name_has_uuid_prefix(name, s->uuid_prefix) && !pdk__entries_find(s, name);
}

static void on_answer(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct ask *ask = user;
    if (reply && reply->result == PDK__NO_NODE) {
        pdk__log(s, PDK_LOG_DEBUG, "%s is gone, says the leader", ask->path);
        note_gone(s, ask->entry->dir, strrchr(ask->path, '/') + 1);
        pdk__watches_told_gone(s, ask->path);
    } else if (reply && is_waiting(ask->entry) &&
               (reply->result == PDK__NOT_ALLOWED || (reply->result == PDK__OK && is_orphan(s, ask->path)))) {
        pdk__reap_again(s, ask->entry->dir);
        pdk__entry_tell(ask->entry, PDK__POKE);
    }
    pdk__entry_unref(ask->entry);
    g_free(ask->path);
    g_free(ask);
}

static void send_ask(pdk_session *s, struct pdk__entry *entry) {
    struct ask *ask = g_new(struct ask, 1);
    *ask = (struct ask){g_strdup(entry->watch_path), pdk__entry_ref(entry)};
    s->predecessors.at = pdk__now(s);
    g_free(s->predecessors.path);
    s->predecessors.path = g_strdup(entry->watch_path);
    if (!pdk__send(s, (struct pdk__request){.kind = PDK__OP_BARRIER, .path = ask->path}, on_answer, ask))
        on_answer(s, ask, NULL); /* its turn comes again */
}

/* Ask for one entry. Entries behind it that wait for the same node need not ask. */
static void predecessors_on_alarm(pdk_session *s, void *user) {
    int64_t now = pdk__now(s);
    bool asked = false;
    (void)user;
    for (guint n = pdk__slice(s); n > 0; n--) {
        struct pdk__entry *first = g_queue_peek_head(&s->predecessors.entries);
        if (!first || first->ask_at > now || s->link != PDK__LINK_CONNECTED)
            break;
        if (!is_waiting(first)) {
            unlink_entry(first); /* it is about to list anyway */
            continue;
        }
        bool same = s->predecessors.path && strcmp(s->predecessors.path, first->watch_path) == 0 &&
                    now - s->predecessors.at < s->lease.timeout;
        if (asked && !same)
            break;
        queue_again(first);
        if (!same)
            send_ask(s, first);
        asked = true;
    }
    if (s->link == PDK__LINK_CONNECTED) /* otherwise the next connection makes all list and watch again */
        schedule(s);
}

/* ---- nodes that are gone */

static void forget(pdk_session *s, const char *dir, GHashTable *names) {
    s->predecessors.gone_count -= g_hash_table_size(names);
    g_hash_table_remove(s->predecessors.gone, dir);
}

void pdk__predecessors_forget_gone(pdk_session *s, const char *dir, struct pdk__child *children, size_t count) {
    pdk__assert_locked(s);
    GHashTable *names = g_hash_table_lookup(s->predecessors.gone, dir);
    if (!names)
        return;
    GPtrArray *shown = g_ptr_array_new();
    for (size_t i = 0; i < count; i++)
        if (children[i].name.kind != PDK__FOREIGN && g_hash_table_contains(names, children[i].text)) {
            children[i].name.kind = PDK__FOREIGN;
            g_ptr_array_add(shown, (gpointer)children[i].text);
        }
    forget(s, dir, names);
    for (guint i = 0; i < shown->len; i++)
        note_gone(s, dir, g_ptr_array_index(shown, i));
    g_ptr_array_unref(shown);
}

void pdk__predecessors_init(pdk_session *s) {
    g_queue_init(&s->predecessors.entries);
    s->predecessors.alarm = (struct pdk__alarm){.ring = predecessors_on_alarm};
    s->predecessors.gone = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_hash_table_destroy);
}

void pdk__predecessors_clear(pdk_session *s) {
    g_hash_table_destroy(s->predecessors.gone);
    g_free(s->predecessors.path);
}

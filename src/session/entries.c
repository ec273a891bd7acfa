#include "session/entries.h"

#include "session/chores.h"

#include <string.h>

static void tell_one(pdk_session *s, void *item, void *user) {
    struct pdk__entry *entry = item;
    (void)s;
    if (entry->queued)
        pdk__entry_tell(entry, (enum pdk__event_type)GPOINTER_TO_INT(user));
    pdk__entry_unref(entry);
}

static void tell_each(pdk_session *s, const GQueue *entries, enum pdk__event_type type) {
    GPtrArray *all = g_ptr_array_sized_new(entries->length);
    for (const GList *link = entries->head; link; link = link->next)
        g_ptr_array_add(all, pdk__entry_ref(link->data));
    pdk__chore_each(s, all, tell_one, NULL, GINT_TO_POINTER(type));
}

void pdk__entries_tell(pdk_session *s, enum pdk__event_type type) {
    pdk__assert_locked(s);
    tell_each(s, &s->entries, type);
}

void pdk__entries_tell_fresh(pdk_session *s) {
    pdk__assert_locked(s);
    tell_each(s, &s->renewing, PDK__FRESH);
}

bool pdk__entries_leaving(const pdk_session *s, uint64_t serial) {
    pdk__assert_locked(s);
    const GList *first = s->leaving.head;
    return first && ((const struct pdk__entry *)first->data)->leaving <= serial;
}

/* Found by the number in its mark, or by its name where the reaper found it, without a look at every entry. */
struct pdk__entry *pdk__entries_find(const pdk_session *s, const char *name) {
    pdk__assert_locked(s);
    if (!pdk__name_has_uuid_prefix(name, s->uuid_prefix))
        return NULL;
    uint64_t serial = g_ascii_strtoull(name + pdk__name_uuid_prefix_length(name), NULL, 16);
    struct pdk__entry *entry = g_hash_table_lookup(s->marked, &serial);
    return entry && strcmp(entry->c.own, name) == 0 ? entry : g_hash_table_lookup(s->found, name);
}

bool pdk__entries_is_leaving(const pdk_session *s, const char *dir, const char *name) {
    const struct pdk__entry *entry = pdk__entries_find(s, name);
    return entry && entry->leaving && strcmp(entry->dir, dir) == 0;
}

static bool wants_renewal(const struct pdk__entry *entry) {
    return entry->queued && entry->owner &&
           (entry->c.phase == PDK__HELD || pdk__contender_is_next(&entry->c) ||
            (entry->c.phase == PDK__IN && entry->c.listed && entry->c.ahead <= 1));
}

void pdk__entries_note(struct pdk__entry *entry) {
    pdk_session *s = entry->s;
    pdk__assert_locked(s);
    bool renews = wants_renewal(entry);
    if (renews == entry->renews)
        return;
    entry->renews = renews;
    if (renews)
        g_queue_push_tail_link(&s->renewing, &entry->renewing_link);
    else
        g_queue_unlink(&s->renewing, &entry->renewing_link);
}

void pdk__entries_note_leaving(struct pdk__entry *entry) {
    pdk_session *s = entry->s;
    pdk__assert_locked(s);
    entry->leaving = ++s->leaving_serial;
    if (entry->queued)
        g_queue_push_tail_link(&s->leaving, &entry->leaving_link);
    pdk__entries_note(entry);
}

void pdk__entries_note_removed(struct pdk__entry *entry) {
    pdk_session *s = entry->s;
    pdk__assert_locked(s);
    entry->queued = false;
    g_queue_unlink(&s->entries, &entry->link);
    if (entry->leaving)
        g_queue_unlink(&s->leaving, &entry->leaving_link);
    if (entry->serial)
        g_hash_table_remove(s->marked, &entry->serial);
    else if (entry->name)
        g_hash_table_remove(s->found, entry->name);
    pdk__entries_note(entry);
}

bool pdk__entries_active(const pdk_session *s) {
    pdk__assert_locked(s);
    return s->renewing.head != NULL || s->lease_users > 0;
}

struct pdk__entry *pdk__entries_to_renew(pdk_session *s) {
    pdk__assert_locked(s);
    GList *link = g_queue_pop_head_link(&s->renewing);
    if (!link)
        return NULL;
    g_queue_push_tail_link(&s->renewing, link);
    return link->data;
}

#include "session/entries.h"

#include <string.h>

void pdk__entries_tell(pdk_session *s, enum pdk__event_type type) {
    pdk__assert_locked(s);
    guint count = s->entries.length;
    struct pdk__entry **all = g_new(struct pdk__entry *, count + 1);
    guint n = 0;
    for (GList *link = s->entries.head; link; link = link->next)
        all[n++] = pdk__entry_ref(link->data);
    for (guint i = 0; i < n; i++) {
        if (all[i]->queued)
            pdk__entry_tell(all[i], type);
        pdk__entry_unref(all[i]);
    }
    g_free(all);
}

bool pdk__entries_leaving(const pdk_session *s, uint64_t serial) {
    pdk__assert_locked(s);
    for (const GList *link = s->entries.head; link; link = link->next) {
        const struct pdk__entry *entry = link->data;
        if (entry->leaving && entry->leaving <= serial)
            return true;
    }
    return false;
}

bool pdk__entries_is_leaving(const pdk_session *s, const char *dir, const char *name) {
    pdk__assert_locked(s);
    for (const GList *link = s->entries.head; link; link = link->next) {
        const struct pdk__entry *entry = link->data;
        if (entry->leaving && strcmp(entry->c.own, name) == 0 && strcmp(entry->dir, dir) == 0)
            return true;
    }
    return false;
}

static bool wants_renewal(const struct pdk__entry *entry) {
    return entry->owner && (entry->c.phase == PDK__HELD || pdk__contender_is_next(&entry->c) ||
                            (entry->c.phase == PDK__IN && entry->c.listed && entry->c.ahead <= 1));
}

bool pdk__entries_active(const pdk_session *s) {
    pdk__assert_locked(s);
    for (const GList *link = s->entries.head; link; link = link->next)
        if (wants_renewal(link->data))
            return true;
    return false;
}

struct pdk__entry *pdk__entries_to_renew(pdk_session *s) {
    pdk__assert_locked(s);
    for (guint i = 0; i < s->entries.length; i++) {
        GList *link = g_queue_pop_head_link(&s->entries);
        g_queue_push_tail_link(&s->entries, link);
        if (wants_renewal(link->data))
            return link->data;
    }
    return NULL;
}

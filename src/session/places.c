#include "session/places.h"

#include <inttypes.h>
#include <string.h>

/* Its first steps: the owner may have heard of it, and given it up, by the time this returns. */
static void begin(struct pdk__place *place, struct pdk__owner *owner, struct pdk__place **out) {
    place->owner = owner;
    *out = pdk__place_ref(place);
    if (place->s->link == PDK__LINK_CONNECTED)
        pdk__place_tell(place, PDK__LINK_UP);
    pdk__place_tell(place, PDK__ENTER);
}

/* NULL: one too many for the session. */
static struct pdk__place *make_marked(pdk_session *s, const char *dir, const struct pdk__place_kind *kind) {
    char mark[PDK__MARK_SIZE];
    char *uuid = g_strdup_printf("%s%012" PRIx64, s->kin, ++s->marks);
    pdk__mark_make(kind->profile, kind->label, uuid, mark);
    g_free(uuid);
    if (s->ephemeral_bytes + strlen(dir) + strlen(mark) + 16 > PDK__EPHEMERAL_BYTES_MAX)
        return NULL;
    struct pdk__place *place = pdk__place_make(s, dir, mark);
    place->serial = s->marks;
    g_hash_table_insert(s->marked, &place->serial, place);
    place->rule = kind->rule;
    place->containers = kind->profile == PDK__CURATOR;
    return place;
}

pdk_status pdk__place_new(pdk_session *s, struct pdk__owner *owner, const char *dir, const struct pdk__place_kind *kind,
                          const char *data, struct pdk__place **out) {
    struct pdk__place *place = make_marked(s, dir, kind);
    if (!place)
        return PDK_LIMIT;
    place->data = g_strdup(data ? data : s->identity);
    begin(place, owner, out);
    return PDK_OK;
}

pdk_status pdk__place_exchange(struct pdk__place *held, struct pdk__owner *owner, const struct pdk__place_kind *kind,
                               struct pdk__place **out) {
    struct pdk__place *place = make_marked(held->s, held->dir, kind);
    if (!place)
        return PDK_LIMIT;
    place->data = g_strdup(held->data);
    place->exchanged = g_strdup(held->c.own);
    place->name = g_strconcat(place->c.mark, held->c.own + strlen(held->c.mark), NULL);
    place->c.named = true;
    begin(place, owner, out);
    return PDK_OK;
}

void pdk__places_tell(pdk_session *s, enum pdk__event_type type) {
    guint count = s->places.length;
    struct pdk__place **all = g_new(struct pdk__place *, count + 1);
    guint n = 0;
    for (GList *link = s->places.head; link; link = link->next)
        all[n++] = pdk__place_ref(link->data);
    for (guint i = 0; i < n; i++) {
        if (all[i]->queued)
            pdk__place_tell(all[i], type);
        pdk__place_unref(all[i]);
    }
    g_free(all);
}

bool pdk__places_leaving(const pdk_session *s, uint64_t serial) {
    for (const GList *link = s->places.head; link; link = link->next) {
        const struct pdk__place *place = link->data;
        if (place->leaving && place->leaving <= serial)
            return true;
    }
    return false;
}

bool pdk__places_gives_up(const pdk_session *s, const char *dir, const char *name) {
    for (const GList *link = s->places.head; link; link = link->next) {
        const struct pdk__place *place = link->data;
        if (place->leaving && strcmp(place->c.own, name) == 0 && strcmp(place->dir, dir) == 0)
            return true;
    }
    return false;
}

static bool wants_renewal(const struct pdk__place *place) {
    return place->owner && (place->c.phase == PDK__HELD || pdk__contender_is_next(&place->c) ||
                            (place->c.phase == PDK__IN && place->c.listed && place->c.ahead <= 1));
}

bool pdk__places_active(const pdk_session *s) {
    for (const GList *link = s->places.head; link; link = link->next)
        if (wants_renewal(link->data))
            return true;
    return false;
}

struct pdk__place *pdk__places_to_renew(pdk_session *s) {
    for (guint i = 0; i < s->places.length; i++) {
        GList *link = g_queue_pop_head_link(&s->places);
        g_queue_push_tail_link(&s->places, link);
        if (wants_renewal(link->data))
            return link->data;
    }
    return NULL;
}

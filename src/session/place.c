#include "session/place.h"

#include "session/commands.h"
#include "session/reap.h"
#include "zk/errors.h"

#include <string.h>

/* Most holds are shorter than this; the others pay one read to hear of their node's deletion. */
#define SETTLE_NS (10 * PDK__MS)

struct pdk__place *pdk__place_ref(struct pdk__place *place) {
    place->refs++;
    return place;
}

void pdk__place_unref(struct pdk__place *place) {
    if (--place->refs != 0)
        return;
    pdk__alarm_off(&place->retry);
    pdk__alarm_off(&place->poll);
    pdk__alarm_off(&place->settle);
    g_free(place->dir);
    g_free(place->own_path);
    g_free(place->watch_path);
    g_free(place->data);
    g_free(place->name);
    g_free(place->exchanged);
    g_free(place);
}

/* A right that is kept hears of its node's deletion. */
static void watch_own_after(struct pdk__place *place, int64_t ns) {
    place->own_watched = false;
    if (place->queued && place->c.phase == PDK__HELD)
        pdk__alarm_set(place->s, &place->settle, pdk__now(place->s) + ns);
}

static void on_own_watched(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__place *place = user;
    if (reply && reply->result != PDK__OK && place->own_path)
        pdk__watches_failed(s, place->own_path, &place->watcher);
    if (reply && reply->result == PDK__NO_NODE)
        pdk__place_tell(place, PDK__NODE_LOST);
    else if (reply && reply->result != PDK__OK && reply->result != PDK__NOT_ALLOWED) /* renewals check it too */
        watch_own_after(place, pdk__lease_renewal_period(&s->lease));
    pdk__place_unref(place);
}

static void on_settle(pdk_session *s, void *user) {
    struct pdk__place *place = user;
    if (place->c.phase != PDK__HELD || place->own_watched || s->link != PDK__LINK_CONNECTED)
        return; /* without a connection: when there is one again */
    if (pdk__watches_add(s, place->own_path, &place->watcher) && pdk__send_to_own(place, PDK__OP_WATCH, on_own_watched))
        place->own_watched = true;
    else
        watch_own_after(place, pdk__lease_renewal_period(&s->lease));
}

/* The node's path is kept from here on, so that watches on it are told from those on the predecessor. */
static void note_own(struct pdk__place *place) {
    char *path = place->c.own[0] != '\0' ? pdk__child_path(place, place->c.own) : NULL;
    if (place->own_path && g_strcmp0(place->own_path, path) != 0)
        pdk__watches_remove(place->s, place->own_path, &place->watcher);
    g_free(place->own_path);
    place->own_path = path;
}

static void remove_place(struct pdk__place *place) {
    pdk_session *s = place->s;
    place->queued = false;
    g_queue_unlink(&s->places, &place->link);
    if (place->serial)
        g_hash_table_remove(s->marked, &place->serial);
    s->ephemeral_bytes -= place->bytes;
    pdk__alarm_off(&place->retry);
    pdk__alarm_off(&place->poll);
    pdk__alarm_off(&place->settle);
    if (place->own_path)
        pdk__watches_remove(s, place->own_path, &place->watcher);
    if (place->c.watched[0] != '\0') {
        char *path = pdk__child_path(place, place->c.watched);
        pdk__watches_remove(s, path, &place->watcher);
        g_free(path);
    }
    pdk__reap_done(place);
    pthread_cond_broadcast(&s->changed);
    if (s->finish)
        s->world->work(s);
}

/* What changed is told to whom it concerns. The owner may end the place from in here: it comes back here then. */
static void after(struct pdk__place *place, enum pdk__phase before) {
    pdk_session *s = place->s;
    if (place->c.phase != before && (place->c.phase == PDK__IN || place->c.phase == PDK__OUT))
        note_own(place);
    if (place->c.phase == PDK__HELD && before != PDK__HELD) {
        pdk__renew_soon(s);
        watch_own_after(place, SETTLE_NS);
    }
    if (pdk__contender_is_next(&place->c) && !pdk__lease_fresh(&s->lease, pdk__now(s)))
        pdk__renew_now(s);
    else if (place->c.phase == PDK__IN && place->c.ahead <= 1)
        pdk__renew_soon(s);
    if (place->c.phase == PDK__STUCK && before != PDK__STUCK)
        pdk__reap_stuck(place);
    if (place->c.phase == PDK__GONE && place->queued) { /* the line may need the room for the next one */
        s->ephemeral_bytes -= place->bytes;
        place->bytes = 0;
    }
    if (place->owner)
        place->owner->moved(place->owner, place);
    if (place->c.phase == PDK__GONE && place->queued) {
        remove_place(place);
        pdk__place_unref(place);
    }
}

void pdk__place_step(struct pdk__place *place, const struct pdk__event *event) {
    enum pdk__phase before = place->c.phase;
    char watched[PDK__NAME_SIZE];
    memcpy(watched, place->c.watched, sizeof watched);
    pdk__place_ref(place);
    enum pdk__command command = pdk__contender_step(&place->c, event);
    if (strcmp(watched, place->c.watched) != 0 && watched[0] != '\0') {
        char *path = pdk__child_path(place, watched);
        pdk__watches_remove(place->s, path, &place->watcher);
        g_free(path);
    }
    pdk__carry_out(place, command);
    after(place, before);
    pdk__place_unref(place);
}

/* ---- the owner's and the session's side */

void pdk__place_tell(struct pdk__place *place, enum pdk__event_type type) {
    pdk__place_step(place, &(struct pdk__event){.type = type});
    if (type == PDK__LINK_UP && !place->own_watched)
        watch_own_after(place, SETTLE_NS);
}

void pdk__place_leave(struct pdk__place *place) {
    place->owner = NULL;
    if (place->c.leaving && place->leaving)
        return;
    place->leaving = ++place->s->leaving_serial;
    pdk__place_tell(place, PDK__LEAVE);
}

void pdk__place_drop(struct pdk__place *place) {
    if (!place)
        return;
    pdk__place_leave(place);
    pdk__place_unref(place);
}

char *pdk__place_failure(const struct pdk__place *place) {
    const char *why = pdk_status_text(place->c.failure);
    if (place->c.failure == PDK_LIMIT)
        return g_strdup(place->limit ? place->limit : PDK__CHILDREN_LIMIT);
    return place->failure_code ? g_strdup_printf("%s: %s", why, pdk__zk_code_name(place->failure_code)) : g_strdup(why);
}

bool pdk__place_is_outpaced(const struct pdk__place *place) {
    return place->c.phase == PDK__IN && place->c.listed && place->outpaced;
}

static void on_fired(struct pdk__watcher *watcher, const char *path, bool gone) {
    struct pdk__place *place = (struct pdk__place *)watcher;
    if (place->own_path && strcmp(path, place->own_path) == 0) {
        place->own_watched = false;
        if (gone)
            pdk__place_tell(place, PDK__NODE_LOST);
        else
            on_settle(place->s, place); /* written to: watch on */
    } else if (place->c.watched[0] != '\0' && strcmp(strrchr(path, '/') + 1, place->c.watched) == 0) {
        pdk__place_tell(place, PDK__POKE);
    }
}

static void watcher_ref(struct pdk__watcher *watcher) { pdk__place_ref((struct pdk__place *)watcher); }
static void watcher_unref(struct pdk__watcher *watcher) { pdk__place_unref((struct pdk__place *)watcher); }

struct pdk__place *pdk__place_make(pdk_session *s, const char *dir, const char *mark) {
    struct pdk__place *place = g_new0(struct pdk__place, 1);
    place->watcher = (struct pdk__watcher){on_fired, watcher_ref, watcher_unref};
    place->refs = 1;
    place->s = s;
    pdk__commands_init(place);
    place->dir = g_strdup(dir);
    place->rule.blocks = pdk__blocks_always;
    pdk__contender_init(&place->c, mark);
    place->settle = (struct pdk__alarm){.ring = on_settle, .user = place};
    place->link.data = place;
    place->queued = true;
    place->bytes = strlen(dir) + strlen(mark) + 16;
    s->ephemeral_bytes += place->bytes;
    g_queue_push_tail_link(&s->places, &place->link);
    return place;
}

#include "session/place.h"

#include "line.h"
#include "session/ops.h"
#include "session/reap.h"
#include "session/watches.h"

#include <string.h>

/* Not sent, or refused for now: how long to wait. */
#define RETRY_NS (20 * PDK__MS)
/* Most holds are shorter than this; the others pay one read to hear of their node's deletion. */
#define SETTLE_NS (10 * PDK__MS)

static void step(struct pdk__place *place, const struct pdk__event *event);

struct pdk__place *pdk__place_ref(struct pdk__place *place) {
    place->refs++;
    return place;
}

void pdk__place_unref(struct pdk__place *place) {
    if (--place->refs != 0)
        return;
    g_free(place->dir);
    g_free(place->own_path);
    g_free(place);
}

static char *child_path(const struct pdk__place *place, const char *name) {
    return g_strconcat(place->dir, "/", name, NULL);
}

/* ---- answers */

static void on_reply(struct pdk__place *place, const struct pdk__reply *reply, enum pdk__event_type type) {
    if (reply) {
        struct pdk__event event = {.type = type, .result = reply->result, .name = reply->name, .token = reply->token};
        event.ours = reply->result == PDK__OK && reply->owner == place->s->id;
        if (reply->result == PDK__NOT_ALLOWED || reply->result == PDK__REFUSED)
            place->failure_code = reply->code;
        step(place, &event);
    }
    pdk__place_unref(place);
}

/* The first answer of two. Where the list never left, its answer is made here. */
static void on_first(struct pdk__place *place, const struct pdk__reply *reply, enum pdk__event_type type) {
    pdk__place_ref(place);
    on_reply(place, reply, type);
    if (reply && place->list_unsent) {
        place->list_unsent = false;
        step(place, &(struct pdk__event){.type = PDK__LISTED, .result = PDK__NOT_NOW});
    }
    pdk__place_unref(place);
}

static void on_created(pdk_session *s, void *user, const struct pdk__reply *reply) {
    (void)s;
    on_first(user, reply, PDK__CREATED);
}

static void on_proved(pdk_session *s, void *user, const struct pdk__reply *reply) {
    (void)s;
    on_first(user, reply, PDK__PROVED);
}

/* A parent that may not be created shows in the last answer only as one that is missing. */
static void on_made_parent(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__place *place = user;
    (void)s;
    if (reply && (reply->result == PDK__NOT_ALLOWED || reply->result == PDK__REFUSED)) {
        place->dir_refused = reply->result;
        place->failure_code = reply->code;
    }
    pdk__place_unref(place);
}

static void on_made_dir(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__place *place = user;
    struct pdk__reply refused;
    (void)s;
    if (reply && reply->result == PDK__NO_NODE && place->dir_refused != PDK__OK) {
        refused = *reply;
        refused.result = place->dir_refused;
        refused.code = place->failure_code;
        reply = &refused;
    }
    on_reply(place, reply, PDK__MADE_DIR);
}

static void on_watched(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__place *place = user;
    if (reply && reply->result != PDK__OK) {
        char *path = child_path(place, place->c.watched);
        pdk__watches_remove(s, path, place);
        g_free(path);
    }
    on_reply(place, reply, PDK__WATCHED);
}

static void on_statted(pdk_session *s, void *user, const struct pdk__reply *reply) {
    (void)s;
    on_reply(user, reply, PDK__STATTED);
}

static void on_deleted(pdk_session *s, void *user, const struct pdk__reply *reply) {
    (void)s;
    on_reply(user, reply, PDK__DELETED);
}

static void on_listed(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__place *place = user;
    struct pdk__view view;
    if (reply) {
        struct pdk__event event = {.type = PDK__LISTED, .result = reply->result, .view = &view};
        event.fresh = pdk__lease_fresh(&s->lease, pdk__now(s));
        bool known = place->c.own[0] != '\0';
        if (reply->result == PDK__OK)
            pdk__view_make(&view, reply->children, reply->children_count, place->c.mark, place->c.own, place->blocks);
        else
            place->failure_code = reply->code;
        step(place, &event);
        if (reply->result == PDK__OK && known && view.marked[0] != '\0')
            pdk__reap_stray(s, place->dir, place->c.mark, view.marked);
    }
    pdk__place_unref(place);
}

/* A right that is kept hears of its node's deletion. */
static void watch_own_later(struct pdk__place *place) {
    place->own_watched = false;
    pdk__alarm_set(place->s, &place->settle, pdk__now(place->s) + SETTLE_NS);
}

static void on_own_watched(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__place *place = user;
    (void)s;
    if (reply && reply->result == PDK__NO_NODE)
        pdk__place_tell(place, PDK__NODE_LOST);
    else if (reply && reply->result != PDK__OK)
        watch_own_later(place);
    pdk__place_unref(place);
}

/* ---- commands */

static bool send_one(struct pdk__place *place, enum pdk__op_kind kind, const char *path, pdk__done_fn done) {
    struct pdk__request request = {.kind = kind, .path = path, .container = place->containers};
    if (kind == PDK__OP_CREATE)
        request.data = place->s->identity;
    bool sent = pdk__send(place->s, request, done, place);
    if (sent)
        pdk__place_ref(place);
    return sent;
}

static bool send_create(struct pdk__place *place) {
    char *path = child_path(place, place->c.mark);
    bool sent = send_one(place, PDK__OP_CREATE, path, on_created);
    g_free(path);
    place->list_unsent = sent && !send_one(place, PDK__OP_LIST, place->dir, on_listed);
    return sent;
}

/* All levels at once: those that exist say so, and only the last answer matters. */
static bool send_mkdir(struct pdk__place *place) {
    place->dir_refused = PDK__OK;
    for (char *slash = strchr(place->dir + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        struct pdk__request request = {.kind = PDK__OP_MKDIR, .path = place->dir};
        bool sent = pdk__send(place->s, request, on_made_parent, place);
        *slash = '/';
        if (!sent)
            return false;
        pdk__place_ref(place);
    }
    return send_one(place, PDK__OP_MKDIR, place->dir, on_made_dir);
}

static bool send_list(struct pdk__place *place) {
    if (!pdk__lease_fresh(&place->s->lease, pdk__now(place->s)))
        pdk__renew_now(place->s); /* so that the list may grant */
    return send_one(place, PDK__OP_LIST, place->dir, on_listed);
}

/* The barrier checks the directory: our own node's name is what we do not know. */
static bool send_prove(struct pdk__place *place) {
    if (!send_one(place, PDK__OP_BARRIER, place->dir, on_proved))
        return false;
    place->list_unsent = !send_one(place, PDK__OP_LIST, place->dir, on_listed);
    return true;
}

static bool send_watch(struct pdk__place *place) {
    char *path = child_path(place, place->c.watched);
    bool room = pdk__watches_add(place->s, path, place);
    bool sent = room && send_one(place, PDK__OP_WATCH, path, on_watched);
    if (!room)
        place->unsent = PDK__LIMITED;
    g_free(path);
    return sent;
}

static bool send_to_own(struct pdk__place *place, enum pdk__op_kind kind, pdk__done_fn done) {
    char *path = child_path(place, place->c.own);
    bool sent = send_one(place, kind, path, done);
    g_free(path);
    return sent;
}

static bool carry_out(struct pdk__place *place, enum pdk__command command) {
    switch (command) {
    case PDK__DO_NOTHING:
        return true;
    case PDK__DO_ENTER:
        return send_create(place);
    case PDK__DO_MKDIR:
        return send_mkdir(place);
    case PDK__DO_LIST:
        return send_list(place);
    case PDK__DO_WATCH:
        return send_watch(place);
    case PDK__DO_PROVE:
        return send_prove(place);
    case PDK__DO_STAT:
        return send_to_own(place, PDK__OP_STAT, on_statted);
    case PDK__DO_DELETE:
        return send_to_own(place, PDK__OP_DELETE, on_deleted);
    case PDK__DO_PAUSE:
        return false; /* the alarm is the answer */
    }
    return true;
}

/* The answer to a command that was not sent: not executed, try again. */
static void on_retry(pdk_session *s, void *user) {
    struct pdk__place *place = user;
    static const enum pdk__event_type answers[] = {
        [PDK__DO_ENTER] = PDK__CREATED,  [PDK__DO_MKDIR] = PDK__MADE_DIR, [PDK__DO_LIST] = PDK__LISTED,
        [PDK__DO_WATCH] = PDK__WATCHED,  [PDK__DO_PROVE] = PDK__PROVED,   [PDK__DO_STAT] = PDK__STATTED,
        [PDK__DO_DELETE] = PDK__DELETED, [PDK__DO_PAUSE] = PDK__PAUSED,
    };
    (void)s;
    enum pdk__command command = place->c.doing;
    struct pdk__event event = {.type = answers[command], .result = place->unsent};
    place->unsent = PDK__NOT_NOW;
    pdk__place_ref(place);
    step(place, &event);
    if (command == PDK__DO_ENTER || command == PDK__DO_PROVE) {
        event.type = PDK__LISTED;
        step(place, &event);
    }
    pdk__place_unref(place);
}

/* ---- consequences */

static void on_settle(pdk_session *s, void *user) {
    struct pdk__place *place = user;
    if (place->c.phase != PDK__HELD || place->own_watched)
        return;
    if (s->link == PDK__LINK_CONNECTED && pdk__watches_add(s, place->own_path, place) &&
        send_to_own(place, PDK__OP_WATCH, on_own_watched))
        place->own_watched = true;
    else
        watch_own_later(place);
}

/* The node's path is kept from here on, so that watches on it are told from those on the predecessor. */
static void note_own(struct pdk__place *place) {
    char *path = place->c.own[0] != '\0' ? child_path(place, place->c.own) : NULL;
    if (place->own_path && g_strcmp0(place->own_path, path) != 0)
        pdk__watches_remove(place->s, place->own_path, place);
    g_free(place->own_path);
    place->own_path = path;
}

static void remove_place(struct pdk__place *place) {
    pdk_session *s = place->s;
    place->queued = false;
    g_queue_unlink(&s->places, &place->link);
    s->ephemeral_bytes -= place->bytes;
    pdk__alarm_off(&place->retry);
    pdk__alarm_off(&place->settle);
    if (place->own_path)
        pdk__watches_remove(s, place->own_path, place);
    if (place->c.watched[0] != '\0') {
        char *path = child_path(place, place->c.watched);
        pdk__watches_remove(s, path, place);
        g_free(path);
    }
    pdk__reap_done(place);
    pthread_cond_broadcast(&s->changed);
    if (s->finish)
        s->world->work(s);
}

/* What changed is told to whom it concerns. The line may end the place from in here: it comes back here then. */
static void after(struct pdk__place *place, enum pdk__phase before) {
    pdk_session *s = place->s;
    if (place->c.phase != before && (place->c.phase == PDK__IN || place->c.phase == PDK__OUT))
        note_own(place);
    if (place->c.phase == PDK__HELD && before != PDK__HELD) {
        pdk__renew_soon(s);
        watch_own_later(place);
    }
    if (pdk__contender_is_next(&place->c) && !pdk__lease_fresh(&s->lease, pdk__now(s)))
        pdk__renew_now(s);
    else if (place->c.phase == PDK__IN && place->c.ahead <= 1)
        pdk__renew_soon(s);
    if (place->c.phase == PDK__STUCK && before != PDK__STUCK)
        pdk__reap_stuck(place);
    if (place->line)
        pdk__line_moved(place->line, place);
    if (place->c.phase == PDK__GONE && place->queued) {
        remove_place(place);
        pdk__place_unref(place);
    }
}

static void step(struct pdk__place *place, const struct pdk__event *event) {
    enum pdk__phase before = place->c.phase;
    char watched[PDK__NAME_SIZE];
    memcpy(watched, place->c.watched, sizeof watched);
    pdk__place_ref(place);
    enum pdk__command command = pdk__contender_step(&place->c, event);
    if (strcmp(watched, place->c.watched) != 0 && watched[0] != '\0') {
        char *path = child_path(place, watched);
        pdk__watches_remove(place->s, path, place);
        g_free(path);
    }
    if (!carry_out(place, command))
        pdk__alarm_set(place->s, &place->retry, pdk__now(place->s) + RETRY_NS);
    after(place, before);
    pdk__place_unref(place);
}

/* ---- the line's and the session's side */

void pdk__place_tell(struct pdk__place *place, enum pdk__event_type type) {
    step(place, &(struct pdk__event){.type = type});
}

void pdk__place_leave(struct pdk__place *place) {
    place->line = NULL;
    if (place->c.leaving && place->leaving)
        return;
    place->leaving = ++place->s->leaving_serial;
    pdk__place_tell(place, PDK__LEAVE);
}

void pdk__place_watch_fired(struct pdk__place *place, const char *path, bool gone) {
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

struct pdk__place *pdk__place_make(pdk_session *s, const char *dir, const char *mark) {
    struct pdk__place *place = g_new0(struct pdk__place, 1);
    place->refs = 1;
    place->s = s;
    place->unsent = PDK__NOT_NOW;
    place->dir = g_strdup(dir);
    place->blocks = pdk__blocks_always;
    pdk__contender_init(&place->c, mark);
    place->retry = (struct pdk__alarm){.ring = on_retry, .user = place};
    place->settle = (struct pdk__alarm){.ring = on_settle, .user = place};
    place->link.data = place;
    place->queued = true;
    place->bytes = strlen(dir) + strlen(mark) + 16;
    s->ephemeral_bytes += place->bytes;
    g_queue_push_tail_link(&s->places, &place->link);
    return place;
}

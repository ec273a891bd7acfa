/* The commands of a contender, carried out, and the answers, brought to it. */
#include "session/commands.h"

#include "session/ops.h"
#include "session/places.h"
#include "session/reap.h"

#include <string.h>

/* Not sent, or refused for now: how long to wait. */
#define RETRY_NS (20 * PDK__MS)
/* How often the line is listed behind a node that may not be read, at the least. */
#define POLL_NS_MAX (1000 * PDK__MS)

char *pdk__child_path(const struct pdk__place *place, const char *name) {
    return g_strconcat(place->dir, "/", name, NULL);
}

/* ---- answers */

static void on_reply(struct pdk__place *place, const struct pdk__reply *reply, enum pdk__event_type type) {
    if (reply) {
        struct pdk__event event = {.type = type, .result = reply->result, .name = reply->name, .token = reply->token};
        event.ours = reply->result == PDK__OK && reply->owner == place->s->id;
        if (reply->result == PDK__NOT_ALLOWED || reply->result == PDK__REFUSED)
            place->failure_code = reply->code;
        pdk__place_step(place, &event);
    }
    pdk__place_unref(place);
}

/* The first answer of two. Where the list never left, its answer is made here. */
static void on_first(struct pdk__place *place, const struct pdk__reply *reply, enum pdk__event_type type) {
    pdk__place_ref(place);
    on_reply(place, reply, type);
    if (reply && place->list_unsent) {
        place->list_unsent = false;
        pdk__place_step(place, &(struct pdk__event){.type = PDK__LISTED, .result = PDK__NOT_NOW});
    }
    pdk__place_unref(place);
}

static bool send_one(struct pdk__place *place, enum pdk__op_kind kind, const char *path, pdk__done_fn done) {
    struct pdk__request request = {.kind = kind, .path = path, .container = place->containers};
    if (kind == PDK__OP_CREATE) {
        request.data = place->data;
        request.named = place->name != NULL;
    }
    bool sent = pdk__send(place->s, request, done, place);
    if (sent)
        pdk__place_ref(place);
    return sent;
}

static void poll_after(struct pdk__place *place, int64_t ns) {
    if (place->queued)
        pdk__alarm_set(place->s, &place->poll, pdk__now(place->s) + ns);
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

/* A node that may not be read cannot be watched: an exists watch could be set, but a server may keep its event from us for
 * the same reason. It keeps that of a watch set before as well, so whoever waits asks now and then. */
static void on_watched(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__place *place = user;
    struct pdk__reply polled;
    if (reply && reply->result != PDK__OK)
        pdk__watches_failed(s, place->watch_path, &place->watcher);
    place->unwatched = reply && reply->result == PDK__NOT_ALLOWED;
    if (place->unwatched) {
        polled = *reply;
        polled.result = PDK__OK;
        reply = &polled;
        poll_after(place, MIN(pdk__lease_renewal_period(&s->lease), POLL_NS_MAX));
    } else {
        poll_after(place, s->lease.timeout);
    }
    on_reply(place, reply, PDK__WATCHED);
}

static bool is_waiting(const struct pdk__place *place) {
    return place->c.phase == PDK__IN && place->c.watched[0] != '\0' && !place->c.leaving;
}

static void on_asked(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__place *place = user;
    bool there = reply && reply->result != PDK__NO_NODE && reply->result != PDK__NOT_ALLOWED;
    if (there && is_waiting(place))
        poll_after(place, s->lease.timeout);
    else if (reply && is_waiting(place))
        pdk__place_tell(place, PDK__POKE);
    pdk__place_unref(place);
}

static void on_poll(pdk_session *s, void *user) {
    struct pdk__place *place = user;
    (void)s;
    if (!is_waiting(place) || !place->c.watching)
        return; /* it is about to list anyway */
    if (place->unwatched)
        pdk__place_tell(place, PDK__POKE);
    else if (!send_one(place, PDK__OP_STAT, place->watch_path, on_asked))
        poll_after(place, place->s->lease.timeout);
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
        if (reply->result == PDK__OK) {
            struct pdk__viewer viewer = {place->c.mark, place->c.own, place->exchanged ? place->exchanged : "",
                                         place->rule};
            pdk__view_make(&view, reply->children, reply->children_count, &viewer);
            /* With some to spare, the nearest one's going may change nothing: who has no room does not wait for it. */
            place->outpaced = view.blocker[0] != '\0' &&
                              (place->rule.spare > 0 || !pdk__places_gives_up(s, place->dir, view.blocker));
        } else {
            place->failure_code = reply->code;
        }
        event.hurry = place->outpaced && place->owner && place->owner->in_hurry(place->owner);
        pdk__place_step(place, &event);
        if (reply->result == PDK__OK)
            pdk__reap_strays(s, place->dir, place->c.own, reply->children, reply->children_count);
    }
    pdk__place_unref(place);
}

/* ---- commands */

static bool send_create(struct pdk__place *place) {
    char *path = pdk__child_path(place, place->name ? place->name : place->c.mark);
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
    g_free(place->watch_path);
    place->watch_path = pdk__child_path(place, place->c.watched);
    bool room = pdk__watches_add(place->s, place->watch_path, &place->watcher);
    bool sent = room && send_one(place, PDK__OP_WATCH, place->watch_path, on_watched);
    if (!room) {
        place->unsent = PDK__LIMITED;
        place->limit = PDK__WATCHES_LIMIT;
    } else if (!sent) {
        pdk__watches_failed(place->s, place->watch_path, &place->watcher);
    }
    return sent;
}

bool pdk__send_to_own(struct pdk__place *place, enum pdk__op_kind kind, pdk__done_fn done) {
    char *path = pdk__child_path(place, place->c.own);
    bool sent = send_one(place, kind, path, done);
    g_free(path);
    return sent;
}

static bool send_command(struct pdk__place *place, enum pdk__command command) {
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
        return pdk__send_to_own(place, PDK__OP_STAT, on_statted);
    case PDK__DO_DELETE:
        return pdk__send_to_own(place, PDK__OP_DELETE, on_deleted);
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
    pdk__place_step(place, &event);
    if (command == PDK__DO_ENTER || command == PDK__DO_PROVE) {
        event.type = PDK__LISTED;
        pdk__place_step(place, &event);
    }
    pdk__place_unref(place);
}

void pdk__carry_out(struct pdk__place *place, enum pdk__command command) {
    if (!send_command(place, command))
        pdk__alarm_set(place->s, &place->retry, pdk__now(place->s) + RETRY_NS);
}

void pdk__commands_init(struct pdk__place *place) {
    place->unsent = PDK__NOT_NOW;
    place->retry = (struct pdk__alarm){.ring = on_retry, .user = place};
    place->poll = (struct pdk__alarm){.ring = on_poll, .user = place};
}

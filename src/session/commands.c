/* Carries out the commands of a contender, and brings it the answers. */
#include "session/commands.h"

#include "session/entries.h"
#include "session/lists.h"
#include "session/mirrors.h"
#include "session/ops.h"
#include "session/predecessors.h"
#include "session/protect.h"
#include "session/reap.h"
#include "session/renew.h"
#include "session/tokens.h"
#include "session/unowned.h"
#include "session/watches.h"

#include <string.h>

/* The pause after a request that was not sent. */
#define RETRY_NS (20 * PDK__MS)
/* The longest time between two lists of the queue, behind a node that may not be read. */
#define POLL_NS_MAX (1000 * PDK__MS)

char *pdk__child_path(const struct pdk__entry *entry, const char *name) {
    return g_strconcat(entry->dir, "/", name, NULL);
}

/* ---- answers */

static void on_reply(struct pdk__entry *entry, const struct pdk__reply *reply, enum pdk__event_type type) {
    if (reply) {
        struct pdk__event event = {.type = type, .result = reply->result, .name = reply->name};
        event.token = pdk__token_of(entry->s, reply->token);
        event.least_token = entry->s->token_least;
        event.ours = reply->result == PDK__OK && reply->owner == entry->s->id;
        event.guarded = entry->own_armed; /* that answer came first */
        event.unowned =
            type == PDK__WATCHED && pdk__is_unowned(reply) && pdk__unowned_note(entry->s, entry->watch_path);
        if (reply->result == PDK__NOT_ALLOWED || reply->result == PDK__REFUSED)
            entry->failure_code = reply->code;
        pdk__entry_step(entry, &event);
    }
    pdk__entry_unref(entry);
}

static bool send_one(struct pdk__entry *entry, enum pdk__op_kind kind, const char *path, pdk__done_fn done) {
    struct pdk__request request = {.kind = kind, .path = path, .container = entry->containers};
    pdk__entry_ref(entry);
    bool sent = pdk__send(entry->s, request, done, entry);
    if (!sent)
        pdk__entry_unref(entry);
    return sent;
}

/* The create of an entry that leaves meanwhile is not sent. */
static bool is_wanted(void *user) { return !((const struct pdk__entry *)user)->c.leaving; }

/* An entry of a kind that nobody blocks needs no list to be admitted: the answer to its create says that its node is
 * there. But a create that is repeated may leave an older node beside the new one, which only a list shows. And only a
 * list shows in which directory the node stands. */
static bool needs_no_list(const struct pdk__entry *entry) {
    return entry->rule.blocks == pdk__blocks_never && entry->create == 0 && !pdk__protect_looks(entry->s);
}

/* Ask for the first list of a command. Ahead of it goes the question for the directory's access control list, unless
 * that is known. */
static void want_first_list(struct pdk__entry *entry) {
    entry->list_unsent = false;
    if (pdk__protect_looks(entry->s))
        pdk__protect_look_ahead(entry->s, entry->dir);
    pdk__lists_want(entry, false);
}

/* The list goes out behind the create. */
static void on_create_sent(pdk_session *s, void *user) {
    struct pdk__entry *entry = user;
    entry->without_list = needs_no_list(entry);
    if (entry->create != 0) /* it is repeated */
        pdk__reap_again(s, entry->dir);
    entry->mirrored = !entry->without_list && pdk__mirrors_expect(entry);
    entry->create = s->requests;
    entry->list_unsent = false;
    if (!entry->without_list && !entry->mirrored)
        want_first_list(entry);
}

static void on_sync_sent(pdk_session *s, void *user) {
    (void)s;
    want_first_list(user);
}

static void poll_after(struct pdk__entry *entry, int64_t ns) {
    if (entry->queued)
        pdk__alarm_set(entry->s, &entry->poll, pdk__now(entry->s) + ns);
}

/* Make the answer of the list that was not needed: it shows our own node. UNKNOWN: the create was not answered well. */
static void answer_alone(struct pdk__entry *entry, enum pdk__result created) {
    const char *own = entry->c.own;
    struct pdk__child child;
    struct pdk__reply shown = {.result = created == PDK__OK ? PDK__OK : PDK__UNKNOWN, .children_count = 1};
    pdk__children_parse(&child, &own, 1);
    entry->without_list = entry->list_unsent = false;
    pdk__entry_listed(entry, &shown, &child);
}

/* The first request was not sent, so the list behind it was not either: its answer is made here. */
static void answer_list(struct pdk__entry *entry) {
    if (!entry->list_unsent)
        return;
    entry->list_unsent = false;
    pdk__entry_step(entry, &(struct pdk__event){.type = PDK__LISTED, .result = PDK__NOT_NOW});
}

static void on_synced(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__entry *entry = user;
    (void)s;
    entry->synced = reply && reply->result == PDK__OK;
    if (reply)
        answer_list(entry);
    pdk__entry_unref(entry);
}

/* A try is not refused for a node that may be gone, and a lease that is not fresh needs a barrier ahead of the list. */
static bool is_decided(const struct pdk__entry *entry, const struct pdk__view *view, bool fresh) {
    if (view->blocker[0] == '\0')
        return fresh;
    return !entry->owner || !entry->owner->never_waits(entry->owner);
}

/* The create has gone without a list. The mirror stands for that list, or it is sent behind the answer. view: NULL, or
 * the mirror's. UNKNOWN: the create was not answered well. */
static void answer_mirrored(struct pdk__entry *entry, enum pdk__result created, const struct pdk__view *view) {
    pdk_session *s = entry->s;
    bool fresh = pdk__lease_fresh(&s->lease, pdk__now(s));
    struct pdk__event event = {.type = PDK__LISTED, .result = created, .view = view, .fresh = fresh};
    entry->mirrored = false;
    if (created == PDK__OK && (!view || !is_decided(entry, view, fresh))) {
        pdk__lists_want(entry, true);
        return;
    }
    s->mirrors.enqueued += created == PDK__OK;
    if (created == PDK__OK)
        entry->blocked = view->blocker[0] != '\0' && !pdk__entries_is_leaving(s, entry->dir, view->blocker);
    else if (created != PDK__NO_NODE)
        event.result = PDK__UNKNOWN;
    entry->ahead_gone = false;
    pdk__entry_step(entry, &event);
}

static void on_created(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__entry *entry = pdk__entry_ref(user);
    struct pdk__view view;
    bool shown = reply && pdk__mirrors_created(entry, reply, &view);
    if (reply && reply->result == PDK__NO_NODE) /* nothing was made, and the directory has a pace of its own */
        pdk__pace_give_back(&entry->creates);
    if (reply && reply->result == PDK__UNKNOWN)
        pdk__reap_again(s, entry->dir);
    on_reply(entry, reply, PDK__CREATED);
    if (reply && entry->without_list)
        answer_alone(entry, reply->result);
    else if (reply && entry->mirrored)
        answer_mirrored(entry, reply->result, shown ? &view : NULL);
    else if (reply)
        answer_list(entry);
    pdk__entry_unref(entry);
}

/* Remember that a parent may not be created. The last answer says only that a parent is missing. */
static void on_made_parent(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__entry *entry = user;
    (void)s;
    if (reply && (reply->result == PDK__NOT_ALLOWED || reply->result == PDK__REFUSED)) {
        entry->dir_refused = reply->result;
        entry->failure_code = reply->code;
    }
    pdk__entry_unref(entry);
}

/* A chroot that nobody has made before is mistyped, as a rule: then others look elsewhere. */
static void on_made_chroot(pdk_session *s, void *user, const struct pdk__reply *reply) {
    bool made = reply && reply->result == PDK__OK;
    if (made)
        pdk__log(s, PDK_LOG_WARN,
                 "the chroot %s was missing, and is made now: locks below it exclude only those who "
                 "name the same one",
                 s->hosts->chroot);
    on_made_parent(s, user, reply);
}

static void on_made_dir(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__entry *entry = user;
    struct pdk__reply refused;
    (void)s;
    if (reply && reply->result == PDK__NO_NODE && entry->dir_refused != PDK__OK) {
        refused = *reply;
        refused.result = entry->dir_refused;
        refused.code = entry->failure_code;
        reply = &refused;
    }
    on_reply(entry, reply, PDK__MADE_DIR);
}

/* The entry lists from time to time, since a node that may not be read cannot be watched. An exists watch could be set,
 * but the server may keep its event from us for the same reason, and it keeps the event of a watch that was set
 * before. */
static void on_watched(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__entry *entry = user;
    struct pdk__reply polled;
    if (reply && reply->result != PDK__OK)
        pdk__watches_failed(s, entry->watch_path, &entry->watcher);
    else if (reply)
        pdk__watches_answered(s, entry->watch_path);
    entry->unwatched = reply && reply->result == PDK__NOT_ALLOWED;
    if (entry->unwatched) {
        polled = *reply;
        polled.result = PDK__OK;
        polled.owner = -1; /* its owner was not told */
        reply = &polled;
        poll_after(entry, MIN(pdk__lease_renewal_period(&s->lease), POLL_NS_MAX));
    } else if (entry->queued) {
        pdk__predecessors_begin(entry);
    }
    on_reply(entry, reply, PDK__WATCHED);
}

static bool is_waiting(const struct pdk__entry *entry) {
    return entry->c.phase == PDK__IN && entry->c.watched[0] != '\0' && !entry->c.leaving;
}

static void on_poll(pdk_session *s, void *user) {
    struct pdk__entry *entry = user;
    (void)s;
    if (is_waiting(entry) && entry->c.watching && entry->unwatched)
        pdk__entry_tell(entry, PDK__POKE); /* else it is about to list anyway */
}

static void on_statted(pdk_session *s, void *user, const struct pdk__reply *reply) {
    bool missing = reply && reply->result == PDK__NO_NODE;
    if (missing)
        pdk__reap_again(s, ((struct pdk__entry *)user)->dir);
    on_reply(user, reply, PDK__STATTED);
}

/* The delete is over when the pledge is gone as well: both are deleted again until then. */
static void on_deleted(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__entry *entry = user;
    struct pdk__reply unknown;
    if (reply && reply->result == PDK__NO_NODE) /* it may stand all the same, and then no entry has it */
        pdk__reap_again(s, entry->dir);
    if (reply && reply->result == PDK__OK && entry->own_path)
        pdk__mirrors_deleted(s, entry->own_path);
    if (reply && entry->pledge_stays) {
        unknown = *reply;
        unknown.result = PDK__UNKNOWN;
        reply = &unknown;
    }
    on_reply(entry, reply, PDK__DELETED);
}

static void make_view(struct pdk__view *view, const struct pdk__entry *entry, const struct pdk__reply *reply,
                      const struct pdk__child *children) {
    struct pdk__viewer viewer = {entry->c.mark, entry->c.own, entry->exchanged ? entry->exchanged : "", entry->rule};
    if (entry->c.doing == PDK__DO_LOOK)
        pdk__view_from_behind(view, children, reply->children_count, entry->c.mark, entry->rule);
    else
        pdk__view_of(view, children, reply->children_count, &viewer);
}

static enum pdk__company company_of(const struct pdk__view *view) {
    if (view->mixed)
        return PDK__COMPANY_MIXED;
    return view->doubtful ? PDK__COMPANY_UNKNOWN : PDK__COMPANY_NONE;
}

/* true: the entry lists again, behind the directory's access control list, and hears of that list alone. A server whose
 * two answers never agree would make it list for ever, so it pauses first then. */
static bool looks_at_access(struct pdk__entry *entry, const struct pdk__reply *reply, struct pdk__event *event) {
    pdk_session *s = entry->s;
    bool in = entry->c.phase == PDK__IN, looks = entry->c.doing == PDK__DO_LOOK;
    if (reply->result != PDK__OK || entry->c.leaving || !(in || looks) || !pdk__protect_looks(s))
        return false;
    switch (pdk__protect_judge(s, entry->dir, reply->token, reply->acl_version, in ? entry->own_path : NULL)) {
    case PDK__PROTECTION_ASKED:
        if (pdk__pace_next(&entry->steps, &pdk__pace_steps, pdk__now(s)) == 0) {
            pdk__lists_want(entry, false);
            return true;
        }
        event->result = PDK__NOT_NOW;
        break;
    case PDK__PROTECTION_UNKNOWN:
        event->result = PDK__NOT_NOW;
        break;
    case PDK__UNPROTECTED:
        event->unprotected = true;
        break;
    case PDK__PROTECTED:
        break;
    }
    return false;
}

/* ---- a look that found somebody, whose name may be a path that was chosen */

struct doubt {
    struct pdk__entry *entry; /* a reference */
    struct pdk__view view;
};

static void on_doubt(pdk_session *s, void *user, const struct pdk__reply *reply, bool unowned) {
    struct doubt *d = user;
    struct pdk__entry *entry = d->entry;
    bool stands = reply && (reply->result == PDK__OK || reply->result == PDK__NOT_ALLOWED) && !unowned;
    struct pdk__event event = {
        .type = PDK__LISTED, .result = PDK__OK, .view = &d->view, .fresh = pdk__lease_fresh(&s->lease, pdk__now(s))};
    if (reply && !stands) /* look again */
        event.result = reply->result == PDK__UNKNOWN ? PDK__UNKNOWN : PDK__NOT_NOW;
    event.never_waits = entry->owner && entry->owner->never_waits(entry->owner); /* it is blocked, as before */
    if (reply)
        pdk__entry_step(entry, &event);
    pdk__entry_unref(entry);
    g_free(d);
}

/* true: the answer of the look is on its way. */
static bool doubts(struct pdk__entry *entry, const struct pdk__event *event) {
    if (entry->c.doing != PDK__DO_LOOK || event->result != PDK__OK || event->unprotected || !event->never_waits ||
        !pdk__unowned_may_be(event->view->blocker))
        return false;
    struct doubt *d = g_new(struct doubt, 1);
    *d = (struct doubt){pdk__entry_ref(entry), *event->view};
    if (pdk__unowned_ask(entry->s, entry->dir, d->view.blocker, on_doubt, d))
        return true;
    pdk__entry_unref(entry);
    g_free(d);
    return false;
}

void pdk__entry_listed(struct pdk__entry *entry, const struct pdk__reply *reply, const struct pdk__child *children) {
    pdk_session *s = entry->s;
    struct pdk__view view;
    struct pdk__event event = {.type = PDK__LISTED, .result = reply->result, .view = &view};
    if (looks_at_access(entry, reply, &event))
        return;
    event.fresh = pdk__lease_fresh(&s->lease, pdk__now(s));
    if (entry->c.doing == PDK__DO_PROVE) /* answers come in order: the barrier's has come by now, if it has one */
        pdk__entry_step(entry, &(struct pdk__event){.type = PDK__PROVED,
                                                    .result = s->proven > entry->create ? PDK__OK : PDK__UNKNOWN});
    if (entry->c.doing == PDK__DO_LOOK && reply->result == PDK__OK && !entry->synced)
        event.result = PDK__NOT_NOW; /* it may show nodes that are gone */
    if (reply->result == PDK__OK) {
        make_view(&view, entry, reply, children);
        if (view.listed)
            entry->company = company_of(&view);
        /* A blocker of ours that is being deleted does not count, unless the rule spares some contenders: then its
         * going may change nothing. */
        entry->blocked = view.blocker[0] != '\0' &&
                         (entry->rule.tolerated > 0 || !pdk__entries_is_leaving(s, entry->dir, view.blocker));
    } else {
        entry->failure_code = reply->code;
    }
    entry->ahead_gone = false;
    if (reply->result == PDK__OK && entry->owner && entry->owner->listed)
        entry->owner->listed(entry->owner, children, reply->children_count);
    event.never_waits = entry->blocked && entry->owner && entry->owner->never_waits(entry->owner);
    if (!doubts(entry, &event))
        pdk__entry_step(entry, &event);
}

/* ---- commands */

static bool send_create(struct pdk__entry *entry) {
    static const struct pdk__turn turn = {is_wanted, on_create_sent};
    char *path = pdk__child_path(entry, entry->name ? entry->name : entry->c.mark);
    struct pdk__request request = {.kind = PDK__OP_CREATE,
                                   .path = path,
                                   .data = entry->data,
                                   .data_size = entry->data_size,
                                   .named = entry->name != NULL};
    pdk__mirrors_begin(entry);
    entry->list_unsent = true;
    entry->outdated = false;
    pdk__entry_ref(entry);
    bool sent = pdk__send_in_turn(entry->s, request, &turn, on_created, entry);
    g_free(path);
    if (sent)
        return true;
    entry->list_unsent = false; /* pdk__carry_out answers both */
    pdk__entry_unref(entry);
    return false;
}

/* Create all levels at once. A level that exists is no error, and only the last answer matters. Each level is a
 * container, which goes after the last one below it. If one goes just now, the last answer is NO_NODE, and all are made
 * again. */
static bool send_mkdir(struct pdk__entry *entry) {
    size_t chroot = strlen(entry->s->hosts->chroot);
    entry->dir_refused = PDK__OK;
    for (char *slash = strchr(entry->dir + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        struct pdk__request request = {.kind = PDK__OP_MKDIR, .path = entry->dir, .container = entry->containers};
        bool is_chroot = (size_t)(slash - entry->dir) == chroot;
        bool sent = pdk__send(entry->s, request, is_chroot ? on_made_chroot : on_made_parent, entry);
        *slash = '/';
        if (!sent)
            return false;
        pdk__entry_ref(entry);
    }
    return send_one(entry, PDK__OP_MKDIR, entry->dir, on_made_dir);
}

static bool send_list(struct pdk__entry *entry) {
    pdk__lists_want(entry, true);
    return true;
}

/* One barrier that was handed over after the lost creates, on this connection, serves all their entries. */
static bool send_prove(struct pdk__entry *entry) {
    if (!pdk__renew_prove(entry->s, entry->create))
        return false;
    pdk__lists_want(entry, false);
    return true;
}

/* The list has to show a moment after the sync, so it is sent later, alone or with the lists of others. */
static bool send_look(struct pdk__entry *entry) {
    static const struct pdk__turn turn = {is_wanted, on_sync_sent};
    entry->synced = false;
    entry->list_unsent = true;
    pdk__entry_ref(entry);
    if (pdk__send_in_turn(entry->s, (struct pdk__request){.kind = PDK__OP_SYNC, .path = entry->dir}, &turn, on_synced,
                          entry))
        return true;
    entry->list_unsent = false; /* pdk__carry_out answers */
    pdk__entry_unref(entry);
    return false;
}

/* Our own node goes first, so that both watches stand when the predecessor's is answered. Such watches take an eighth of
 * the room, and leave the rest for predecessors. */
static bool send_watch(struct pdk__entry *entry) {
    if (entry->c.sole && !entry->own_armed && entry->s->watched_bytes < PDK__WATCHED_BYTES_MAX / 8)
        pdk__entry_watch_own(entry);
    g_free(entry->watch_path);
    entry->watch_path = pdk__child_path(entry, entry->c.watched);
    bool room = pdk__watches_add(entry->s, entry->watch_path, &entry->watcher);
    bool sent = room && send_one(entry, PDK__OP_WATCH, entry->watch_path, on_watched);
    if (!room) {
        entry->unsent = PDK__LIMITED;
        entry->limit = PDK__WATCHES_LIMIT;
    } else if (!sent) {
        pdk__watches_failed(entry->s, entry->watch_path, &entry->watcher);
    }
    return sent;
}

bool pdk__send_to_own(struct pdk__entry *entry, enum pdk__op_kind kind, pdk__done_fn done) {
    pdk__assert_locked(entry->s);
    char *path = pdk__child_path(entry, entry->c.own);
    bool sent = send_one(entry, kind, path, done);
    g_free(path);
    return sent;
}

static void on_pledge_deleted(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__entry *entry = user;
    (void)s;
    /* The next contender takes a pledge that stays for a broken one, and is late. */
    entry->pledge_stays = reply && (reply->result == PDK__UNKNOWN || reply->result == PDK__NOT_NOW);
    pdk__entry_unref(entry);
}

/* The pledge goes first, so that a list that shows our node no more shows no pledge either. */
static bool send_delete(struct pdk__entry *entry) {
    entry->pledge_stays = false;
    if (entry->pledge && !send_one(entry, PDK__OP_DELETE, entry->pledge, on_pledge_deleted))
        return false;
    return pdk__send_to_own(entry, PDK__OP_DELETE, on_deleted);
}

static bool send_command(struct pdk__entry *entry, enum pdk__command command) {
    switch (command) {
    case PDK__DO_NOTHING:
        return true;
    case PDK__DO_ENTER:
        return send_create(entry);
    case PDK__DO_MKDIR:
        return send_mkdir(entry);
    case PDK__DO_LIST:
        return send_list(entry);
    case PDK__DO_WATCH:
        return send_watch(entry);
    case PDK__DO_PROVE:
        return send_prove(entry);
    case PDK__DO_STAT:
        return pdk__send_to_own(entry, PDK__OP_STAT, on_statted);
    case PDK__DO_DELETE:
        return send_delete(entry);
    case PDK__DO_LOOK:
        return send_look(entry);
    case PDK__DO_PAUSE:
        return false; /* the alarm is the answer */
    }
    return true;
}

/* Answer a command that was not sent: it was not executed, so it may be tried again. */
static void on_retry(pdk_session *s, void *user) {
    struct pdk__entry *entry = user;
    static const enum pdk__event_type answers[] = {
        [PDK__DO_ENTER] = PDK__CREATED,  [PDK__DO_MKDIR] = PDK__MADE_DIR, [PDK__DO_LIST] = PDK__LISTED,
        [PDK__DO_WATCH] = PDK__WATCHED,  [PDK__DO_PROVE] = PDK__PROVED,   [PDK__DO_STAT] = PDK__STATTED,
        [PDK__DO_DELETE] = PDK__DELETED, [PDK__DO_PAUSE] = PDK__PAUSED,   [PDK__DO_LOOK] = PDK__LISTED,
    };
    enum pdk__command command = entry->c.doing;
    bool wanted = !(entry->c.leaving && entry->c.phase == PDK__OUT); /* else it would only be undone */
    bool paced = entry->paced && wanted;
    entry->paced = false;
    if (paced && s->link == PDK__LINK_CONNECTED && send_command(entry, command))
        return;
    struct pdk__event event = {.type = answers[command], .result = entry->unsent};
    entry->unsent = PDK__NOT_NOW;
    entry->waits_to_send = command != PDK__DO_PAUSE;
    pdk__entry_ref(entry);
    pdk__entry_step(entry, &event);
    if (command == PDK__DO_ENTER || command == PDK__DO_PROVE) {
        event.type = PDK__LISTED;
        pdk__entry_step(entry, &event);
    }
    entry->waits_to_send = false;
    pdk__entry_unref(entry);
}

/* A pace bounds commands that a server's answers repeat: the creation of a node that no list ever shows, or of a
 * directory that comes and goes. A delete has a pace of its own, and never waits for earlier steps, since a node that
 * goes late is in the way of others. */
static struct pdk__pace *pace_of(struct pdk__entry *entry, enum pdk__command command,
                                 const struct pdk__pace_kind **kind) {
    switch (command) {
    case PDK__DO_PAUSE:
        *kind = &pdk__pace_pauses;
        return &entry->pauses;
    case PDK__DO_ENTER:
        *kind = &pdk__pace_repeats;
        return &entry->creates;
    case PDK__DO_MKDIR:
        *kind = &pdk__pace_rounds;
        return &entry->mkdirs;
    case PDK__DO_DELETE:
        *kind = &pdk__pace_steps;
        return &entry->deletes;
    default:
        *kind = &pdk__pace_steps;
        return &entry->steps;
    }
}

void pdk__carry_out(struct pdk__entry *entry, enum pdk__command command) {
    pdk__assert_locked(entry->s);
    const struct pdk__pace_kind *kind;
    struct pdk__pace *pace = pace_of(entry, command, &kind), before = *pace;
    int64_t now = pdk__now(entry->s), pause = 0;
    if (command == PDK__DO_NOTHING)
        return;
    if (command != PDK__DO_PAUSE || !entry->waits_to_send)
        pause = pdk__pace_next(pace, kind, now);
    entry->paced = pause > 0 && command != PDK__DO_PAUSE;
    if (pause == 0 && send_command(entry, command))
        return;
    if (pause == 0) { /* we could not send it, so no server makes us repeat it */
        *pace = before;
        pause = RETRY_NS;
    }
    pdk__alarm_set(entry->s, &entry->retry, now + pause);
}

void pdk__commands_hurry(struct pdk__entry *entry) {
    pdk__assert_locked(entry->s);
    if (entry->retry.position && (entry->paced || entry->c.doing == PDK__DO_PAUSE))
        pdk__alarm_set(entry->s, &entry->retry, pdk__now(entry->s));
}

void pdk__commands_init(struct pdk__entry *entry) {
    entry->unsent = PDK__NOT_NOW;
    entry->retry = (struct pdk__alarm){.ring = on_retry, .user = entry};
    entry->poll = (struct pdk__alarm){.ring = on_poll, .user = entry};
}

#include "session/entry.h"

#include "core/contender.h"
#include "session/commands.h"
#include "session/entries.h"
#include "session/mirrors.h"
#include "session/predecessors.h"
#include "session/protect.h"
#include "session/reap.h"
#include "session/renew.h"
#include "session/tokens.h"
#include "session/watches.h"
#include "zk/errors.h"
#include "zk/request.h"

#include <inttypes.h>
#include <string.h>

/* Most holds are shorter than this. A longer one pays one read to hear of its node's deletion. */
#define SETTLE_NS (10 * PDK__MS)

struct pdk__entry *pdk__entry_ref(struct pdk__entry *entry) {
    pdk__assert_locked(entry->s);
    entry->refs++;
    return entry;
}

void pdk__entry_unref(struct pdk__entry *entry) {
    pdk__assert_locked(entry->s);
    if (--entry->refs != 0)
        return;
    pdk__alarm_off(&entry->retry);
    pdk__alarm_off(&entry->poll);
    pdk__alarm_off(&entry->settle);
    g_free(entry->dir);
    g_free(entry->own_path);
    g_free(entry->watch_path);
    g_free(entry->data);
    g_free(entry->name);
    g_free(entry->exchanged);
    g_free(entry->pledge);
    g_free(entry);
}

/* Watch the node of a held entry, if it is still held then. */
static void watch_own_after(struct pdk__entry *entry, int64_t ns) {
    entry->own_watched = entry->own_armed = false;
    if (entry->queued && entry->c.phase == PDK__HELD)
        pdk__alarm_set(entry->s, &entry->settle, pdk__now(entry->s) + ns);
}

/* Show the node to its owner. A node that nobody has written to has nothing that its next owner would want to know. */
static void show_own(struct pdk__entry *entry, const struct pdk__reply *reply) {
    entry->unread = !entry->owner->read && reply->version > 0;
    if (entry->owner->read)
        entry->owner->read(entry->owner, entry, reply);
}

static void on_own_watched(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__entry *entry = user;
    entry->own_armed = entry->own_watched && reply && reply->result == PDK__OK;
    if (entry->own_armed)
        pdk__watches_answered(s, entry->own_path);
    if (reply && reply->result != PDK__OK && entry->own_path)
        pdk__watches_failed(s, entry->own_path, &entry->watcher);
    if (reply && reply->result == PDK__NO_NODE) {
        pdk__reap_again(s, entry->dir);
        pdk__entry_tell(entry, PDK__NODE_LOST);
    }
    if (reply && reply->result != PDK__OK && reply->result != PDK__NO_NODE &&
        reply->result != PDK__NOT_ALLOWED) /* renewals check it too */
        watch_own_after(entry, pdk__lease_renewal_period(&s->lease));
    else if (reply && reply->result == PDK__OK && entry->c.phase == PDK__HELD)
        show_own(entry, reply);
    pdk__entry_unref(entry);
}

void pdk__entry_watch_own(struct pdk__entry *entry) {
    pdk__assert_locked(entry->s);
    entry->own_armed = false;
    entry->own_watched = pdk__watches_add(entry->s, entry->own_path, &entry->watcher) &&
                         pdk__send_to_own(entry, PDK__OP_WATCH, on_own_watched);
}

static void on_settle(pdk_session *s, void *user) {
    struct pdk__entry *entry = user;
    if (entry->c.phase != PDK__HELD || entry->own_watched || s->link != PDK__LINK_CONNECTED)
        return; /* without a connection: the next LINK_UP sets the alarm */
    pdk__entry_watch_own(entry);
    if (!entry->own_watched)
        watch_own_after(entry, pdk__lease_renewal_period(&s->lease));
}

/* Keep the path of our node from here on. It tells watches on our node from watches on the predecessor. */
static void note_own(struct pdk__entry *entry) {
    if (entry->own_path && strcmp(strrchr(entry->own_path, '/') + 1, entry->c.own) == 0)
        return;
    char *path = entry->c.own[0] != '\0' ? pdk__child_path(entry, entry->c.own) : NULL;
    if (entry->own_path) {
        pdk__watches_remove(entry->s, entry->own_path, &entry->watcher);
        entry->own_watched = entry->own_armed = false;
    }
    g_free(entry->own_path);
    entry->own_path = path;
}

static void remove_entry(struct pdk__entry *entry) {
    pdk_session *s = entry->s;
    pdk__entries_note_removed(entry);
    pdk__predecessors_end(entry);
    pdk__alarm_off(&entry->retry);
    pdk__alarm_off(&entry->poll);
    pdk__alarm_off(&entry->settle);
    if (entry->own_path)
        pdk__watches_remove(s, entry->own_path, &entry->watcher);
    if (entry->c.watched[0] != '\0') {
        char *path = pdk__child_path(entry, entry->c.watched);
        pdk__watches_remove(s, path, &entry->watcher);
        g_free(path);
    }
    pdk__reap_done(entry);
    pdk__wake(&s->on_entries);
    if (s->finish)
        s->platform->work(s);
}

/* Tell the lease, the reaper and the owner about a step. The owner may give the entry up from `moved`. This function
 * then runs again, inside itself. */
static void after(struct pdk__entry *entry, enum pdk__phase before) {
    pdk_session *s = entry->s;
    pdk__entries_note(entry);
    if (entry->c.phase != before && (entry->c.phase == PDK__IN || entry->c.phase == PDK__OUT))
        note_own(entry);
    if (entry->c.phase == PDK__HELD && before != PDK__HELD) {
        pdk__mirrors_held(entry);
        pdk__renew_soon(s);
        watch_own_after(entry, SETTLE_NS);
    }
    if (pdk__contender_is_next(&entry->c) && !pdk__lease_fresh(&s->lease, pdk__now(s)))
        pdk__renew_now(s);
    else if (entry->c.phase == PDK__IN && entry->c.ahead <= 1)
        pdk__renew_soon(s);
    if (entry->c.phase == PDK__STUCK && before != PDK__STUCK)
        pdk__reap_stuck(entry);
    if (entry->c.phase == PDK__GONE && entry->queued) { /* the queue may need the room for its next entry */
        s->ephemeral_bytes -= entry->bytes;
        entry->bytes = 0;
    }
    if (entry->owner)
        entry->owner->moved(entry->owner, entry);
    if (entry->c.phase == PDK__GONE && entry->queued) {
        remove_entry(entry);
        if (entry->on_gone)
            entry->on_gone(entry->on_gone_user);
        pdk__entry_unref(entry);
    }
}

/* The invariants of an entry, while no function of it runs. */
static void assert_in_step(const struct pdk__entry *entry) {
    const struct pdk__contender *c = &entry->c;
    assert(entry->queued == (c->phase != PDK__GONE));
    assert(c->phase != PDK__HELD || (entry->own_path && entry->owner));
    assert(entry->owner || c->leaving || c->phase == PDK__GONE);
    assert(!entry->own_watched || entry->own_path);
}

static void log_step(const struct pdk__entry *entry, enum pdk__phase before, const struct pdk__event *event) {
    const struct pdk__contender *c = &entry->c;
    if (c->phase != before)
        pdk__log(entry->s, PDK_LOG_DEBUG, "%s/%s: %s, after %s: %s", entry->dir, c->own[0] != '\0' ? c->own : c->mark,
                 pdk__phase_name(before), pdk__event_name(event->type), pdk__phase_name(c->phase));
}

/* Where the mirror stands for the list that is due, the contender hears of that at once. */
static enum pdk__command step(struct pdk__entry *entry, const struct pdk__event *event) {
    enum pdk__command command = pdk__contender_step(&entry->c, event);
    struct pdk__view view;
    if (command != PDK__DO_LIST || !pdk__mirrors_show(entry, &view))
        return command;
    entry->blocked = entry->ahead_gone = false;
    return pdk__contender_step(&entry->c, &(struct pdk__event){.type = PDK__LISTED, .view = &view, .fresh = true});
}

void pdk__entry_step(struct pdk__entry *entry, const struct pdk__event *event) {
    pdk__assert_locked(entry->s);
    enum pdk__phase before = entry->c.phase;
    char watched[PDK__NAME_SIZE];
    memcpy(watched, entry->c.watched, sizeof watched);
    pdk__entry_ref(entry);
    enum pdk__command command = step(entry, event);
    if (strcmp(watched, entry->c.watched) != 0 && watched[0] != '\0') {
        char *path = pdk__child_path(entry, watched);
        pdk__watches_remove(entry->s, path, &entry->watcher);
        g_free(path);
    }
    log_step(entry, before, event);
    pdk__carry_out(entry, command);
    after(entry, before);
    assert_in_step(entry);
    pdk__entry_unref(entry);
}

/* ---- for the owner and the session */

/* An entry that takes its pledge along has not ended when its node is gone: the answers to its deletes tell of both. */
void pdk__entry_tell(struct pdk__entry *entry, enum pdk__event_type type) {
    if (type == PDK__NODE_LOST && entry->c.leaving && entry->pledge)
        return;
    pdk__entry_step(entry, &(struct pdk__event){.type = type});
    if (type == PDK__LINK_UP && !entry->own_watched)
        watch_own_after(entry, SETTLE_NS);
}

void pdk__entry_give(struct pdk__entry *entry, struct pdk__entry_owner *owner) {
    pdk__assert_locked(entry->s);
    entry->owner = owner;
    if (entry->unread)
        watch_own_after(entry, SETTLE_NS); /* the watch reads it again */
}

void pdk__entry_leave(struct pdk__entry *entry) {
    pdk__assert_locked(entry->s);
    entry->owner = NULL;
    if (entry->c.leaving && entry->leaving)
        return;
    pdk__entries_note_leaving(entry);
    pdk__commands_hurry(entry);
    pdk__entry_tell(entry, PDK__LEAVE);
}

void pdk__entry_drop(struct pdk__entry *entry) {
    if (!entry)
        return;
    pdk__entry_leave(entry);
    pdk__entry_unref(entry);
}

void pdk__entry_break_pledge(struct pdk__entry *entry) {
    pdk__assert_locked(entry->s);
    g_clear_pointer(&entry->pledge, g_free);
}

char *pdk__entry_failure(const struct pdk__entry *entry) {
    pdk__assert_locked(entry->s);
    const char *why = pdk_status_text(entry->c.failure);
    if (entry->c.failure == PDK_LIMIT)
        return g_strdup(entry->limit ? entry->limit : PDK__CHILDREN_LIMIT);
    if (entry->c.failure == PDK_UNPROTECTED)
        return pdk__protect_words(entry->s, entry->dir);
    if (entry->c.failure == PDK_MISMATCH)
        return g_strdup(PDK__DELAY_MISMATCH);
    if (entry->c.failure == PDK_REWOUND)
        return pdk__tokens_rewound(entry->s, entry->c.token);
    return entry->failure_code ? g_strdup_printf("%s: %s", why, pdk__zk_code_name(entry->failure_code)) : g_strdup(why);
}

bool pdk__entry_is_blocked(const struct pdk__entry *entry) {
    pdk__assert_locked(entry->s);
    return entry->c.phase == PDK__IN && entry->c.listed && entry->blocked;
}

void pdk__entry_unguard(struct pdk__entry *entry) {
    pdk__assert_locked(entry->s);
    entry->own_armed = false;
    if (entry->c.phase == PDK__IN)
        pdk__entry_tell(entry, PDK__UNGUARDED);
}

static void own_fired(struct pdk__entry *entry, enum pdk__news news) {
    entry->own_watched = entry->own_armed = false;
    if (news != PDK__NEWS_CHANGED)
        pdk__entry_tell(entry, PDK__NODE_LOST);
    else if (entry->c.phase == PDK__IN)
        pdk__entry_unguard(entry);
    else
        on_settle(entry->s, entry); /* its data was written: watch it again */
}

/* Where the node ahead is of this session too, its holder hears first that it is lost. */
static void tell_holder_ahead(pdk_session *s, const char *path) {
    struct pdk__entry *ahead = pdk__entries_find(s, strrchr(path, '/') + 1);
    if (ahead && ahead->c.phase == PDK__HELD && strcmp(ahead->own_path, path) == 0)
        pdk__entry_tell(ahead, PDK__NODE_LOST);
}

static void on_fired(struct pdk__watcher *watcher, const char *path, enum pdk__news news) {
    struct pdk__entry *entry = (struct pdk__entry *)watcher;
    pdk_session *s = entry->s;
    if (entry->own_path && strcmp(path, entry->own_path) == 0) {
        own_fired(entry, news);
    } else if (entry->c.watched[0] != '\0' && strcmp(strrchr(path, '/') + 1, entry->c.watched) == 0) {
        /* The list of a protected directory is looked at with each list, so there only a list grants. */
        bool proof = news == PDK__NEWS_GONE && !pdk__protect_looks(s);
        entry->ahead_gone = news != PDK__NEWS_CHANGED;
        if (entry->ahead_gone)
            tell_holder_ahead(s, path);
        pdk__entry_step(
            entry,
            &(struct pdk__event){.type = PDK__POKE, .gone = proof, .fresh = pdk__lease_fresh(&s->lease, pdk__now(s))});
    }
}

static void watcher_ref(struct pdk__watcher *watcher) { pdk__entry_ref((struct pdk__entry *)watcher); }
static void watcher_unref(struct pdk__watcher *watcher) { pdk__entry_unref((struct pdk__entry *)watcher); }

struct pdk__entry *pdk__entry_make(pdk_session *s, const char *dir, const char *mark) {
    pdk__assert_locked(s);
    struct pdk__entry *entry = g_new0(struct pdk__entry, 1);
    entry->watcher = (struct pdk__watcher){on_fired, watcher_ref, watcher_unref};
    entry->refs = 1;
    entry->s = s;
    pdk__commands_init(entry);
    entry->dir = g_strdup(dir);
    entry->rule.blocks = pdk__blocks_always;
    pdk__contender_init(&entry->c, mark);
    entry->settle = (struct pdk__alarm){.ring = on_settle, .user = entry};
    entry->link.data = entry->renewing_link.data = entry->leaving_link.data = entry->ask_link.data = entry;
    entry->queued = true;
    entry->bytes = strlen(dir) + strlen(mark) + 16;
    s->ephemeral_bytes += entry->bytes;
    g_queue_push_tail_link(&s->entries, &entry->link);
    return entry;
}

/* ---- new entries */

/* Take the first steps. The owner may hear of the entry, and give it up, before this returns. */
static void entry_begin(struct pdk__entry *entry, struct pdk__entry_owner *owner, struct pdk__entry **out) {
    entry->owner = owner;
    *out = pdk__entry_ref(entry);
    if (entry->s->link == PDK__LINK_CONNECTED)
        pdk__entry_tell(entry, PDK__LINK_UP);
    pdk__entry_tell(entry, PDK__ENTER);
}

/* NULL: the session has too many nodes. */
static struct pdk__entry *make_marked(pdk_session *s, const char *dir, const struct pdk__entry_kind *kind) {
    char mark[PDK__MARK_SIZE];
    char uuid[sizeof s->uuid_prefix + 16];
    g_snprintf(uuid, sizeof uuid, "%s%012" PRIx64, s->uuid_prefix, ++s->marks);
    pdk__mark_make(kind->profile, kind->label, uuid, mark);
    if (s->ephemeral_bytes + strlen(dir) + strlen(mark) + 16 > PDK__EPHEMERAL_BYTES_MAX)
        return NULL;
    struct pdk__entry *entry = pdk__entry_make(s, dir, mark);
    entry->serial = s->marks;
    g_hash_table_insert(s->marked, &entry->serial, entry);
    entry->rule = kind->rule;
    entry->containers = kind->profile == PDK__CURATOR;
    entry->c.delays = kind->delays;
    return entry;
}

void pdk__entry_set_data(struct pdk__entry *entry, struct pdk__node_data data) {
    pdk__assert_locked(entry->s);
    const struct pdk__request node = {.data = data.bytes ? data.bytes : entry->s->identity, .data_size = data.size};
    g_free(entry->data);
    entry->data = pdk__request_data(&node);
    entry->data_size = data.size;
    entry->outdated = true; /* until it is sent */
}

pdk_status pdk__entry_new(pdk_session *s, struct pdk__entry_owner *owner, const char *dir,
                          const struct pdk__entry_kind *kind, struct pdk__node_data data, struct pdk__entry **out) {
    pdk__assert_locked(s);
    struct pdk__entry *entry = make_marked(s, dir, kind);
    if (!entry)
        return PDK_LIMIT;
    pdk__entry_set_data(entry, data);
    entry->c.looks_first = owner->looks && owner->never_waits(owner);
    entry_begin(entry, owner, out);
    return PDK_OK;
}

pdk_status pdk__entry_exchange(struct pdk__entry *held, struct pdk__entry_owner *owner,
                               const struct pdk__entry_kind *kind, struct pdk__entry **out) {
    pdk__assert_locked(held->s);
    struct pdk__entry *entry = make_marked(held->s, held->dir, kind);
    if (!entry)
        return PDK_LIMIT;
    entry->data = g_strdup(held->data);
    entry->exchanged = g_strdup(held->c.own);
    entry->name = g_strconcat(entry->c.mark, held->c.own + strlen(held->c.mark), NULL);
    entry->c.named = true;
    entry_begin(entry, owner, out);
    return PDK_OK;
}

/* A group's watcher reads the members until nothing has changed meanwhile, and tells them as a view.
 *
 *     ask ──► list, with a watch ──► read new and changed ones, with a watch each ──► none fired since: an exact view
 *      ▲            ▲                      │ ▲ a member's watch fired: read it again
 *      │            └── the list's fired ──┘ └──────
 *      └── a watch fired, connected again, or a poll (live_query.h)
 *
 * A server sends the event of a watch before any answer that shows a later state. So if no watch has fired by the last
 * answer, all that was read stood together when the server made that answer. Members that change faster than they can
 * be read are told all the same, from time to time, as a view that is not exact.
 *
 * A new ZooKeeper session may come to a server that is behind the views that were told. So a quorum barrier goes ahead
 * of its first list, and no later read is older than they are.
 */
#include "core/view.h"
#include "group_watch.h"
#include "session/protect.h"
#include "session/watches.h"

#include <assert.h>
#include <string.h>

/* A directory that cannot be watched is looked for so often. */
#define UNWATCHED_NS (1000 * PDK__MS)
/* A list of a large directory is work for the server, so in a storm of arrivals one list serves many. */
#define LIST_SPACING_NS (20 * PDK__MS)
/* While members change faster than they can be read, a view comes so often. */
#define STORM_NS (500 * PDK__MS)
/* The most reads that are under way at once. */
enum { READS_MAX = 64 };

struct reading {
    struct pdk__watching *w;
    struct pdk__seen *seen; /* it stays while a question is under way */
};

static bool group_read_send(struct pdk__watching *w, struct pdk__request request, pdk__done_fn done, void *user) {
    if (!pdk__send(w->query.s, request, done, user))
        return false;
    pdk__live_query_ref(&w->query);
    w->in_flight++;
    return true;
}

/* Make a view, if there is nothing left to read; or if the storm has lasted, and every member was read once. */
static void group_read_settle(struct pdk__watching *w) {
    bool quiet = w->in_flight == 0 && !w->relist, all_are_watched;
    assert(w->in_flight > 0 || w->todo.length == 0); /* reads are sent before */
    int64_t now = pdk__now(w->query.s);
    if (quiet)
        pdk__live_query_caught_up(&w->query);
    else if (w->unread > 0 || now - w->restless < STORM_NS)
        return;
    w->restless = quiet ? 0 : now;
    GPtrArray *records = pdk__nodes_records(w, &all_are_watched);
    pdk__watching_publish(w, records, quiet && all_are_watched && (w->list_watched || w->unlisted));
}

static void pump(struct pdk__watching *w);

/* An answer has come, and was looked at. The last one ends the question. */
static void group_read_answered(struct pdk__watching *w) {
    w->in_flight--;
    if (!w->query.stopped)
        pump(w);
    if (w->in_flight == 0) {
        if (!w->failed && !w->refused && !w->query.stopped)
            group_read_settle(w);
        pdk__live_query_done(&w->query, !w->failed);
        if (!w->failed && (w->unlisted || w->refused || !w->list_watched))
            pdk__live_query_look_within(&w->query, MIN(w->query.s->lease.timeout, UNWATCHED_NS));
    }
    pdk__live_query_unref(&w->query);
}

static void group_read_on_read(pdk_session *s, void *user, const struct pdk__reply *reply) {
    static const struct pdk__reply none = {.result = PDK__UNKNOWN};
    struct reading *reading = user;
    struct pdk__watching *w = reading->w;
    struct pdk__seen *seen = reading->seen;
    (void)s;
    if (!reply)
        reply = &none;
    if (reply->result != PDK__OK && seen->watched) {
        char *path = pdk__seen_path(w, seen);
        pdk__live_query_unset(&w->query, path);
        g_free(path);
        seen->watched = false;
    }
    if (!w->query.stopped)
        pdk__nodes_read(w, seen, reply);
    g_free(reading);
    group_read_answered(w);
}

static bool read_one(struct pdk__watching *w, struct pdk__seen *seen) {
    char *path = pdk__seen_path(w, seen);
    struct reading *reading = g_new(struct reading, 1);
    *reading = (struct reading){w, seen};
    seen->watched = pdk__live_query_watch(&w->query, path);
    bool sent =
        group_read_send(w, (struct pdk__request){.kind = seen->watched ? PDK__OP_WATCH : PDK__OP_GET, .path = path},
                        group_read_on_read, reading);
    if (!sent) {
        pdk__live_query_unset(&w->query, path);
        seen->watched = false;
        g_free(reading);
    }
    g_free(path);
    return sent;
}

/* Send the reads that are wanted, a few at a time. */
static void pump(struct pdk__watching *w) {
    if (w->listing)
        return;
    while (!w->failed && w->in_flight < READS_MAX && w->todo.length > 0) {
        struct pdk__seen *seen = w->todo.head->data;
        w->failed = !read_one(w, seen);
        if (!w->failed)
            pdk__seen_unmark(w, seen);
    }
    if (w->in_flight > 0 && !w->failed)
        group_read_settle(w);
}

static void group_read_on_listed(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__watching *w = user;
    enum pdk__result result = pdk__protect_listed(s, w->dir, reply, &w->warned);
    w->listing = false;
    if (result != PDK__OK) {
        pdk__live_query_unset(&w->query, w->key);
        w->list_watched = false;
    }
    w->unlisted = result == PDK__NO_NODE;
    bool was_refused = w->refused;
    w->refused = result == PDK__NOT_ALLOWED || (result == PDK__OK && reply->children_count > PDK__CHILDREN_MAX);
    if (result != PDK__OK && result != PDK__NO_NODE && result != PDK__NOT_ALLOWED)
        w->failed = w->relist = true; /* it does not say who is there */
    if (w->refused && !was_refused)
        pdk__log(s, PDK_LOG_WARN, "%s: the group may not be listed, or is too large", w->dir);
    if (!w->refused && !w->query.stopped && !w->failed)
        pdk__nodes_listed(w, result == PDK__OK ? reply->children : NULL, result == PDK__OK ? reply->children_count : 0);
    group_read_answered(w);
}

static void group_read_on_barrier(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__watching *w = user;
    (void)s;
    enum pdk__result result = reply ? reply->result : PDK__UNKNOWN;
    w->proven = result == PDK__OK || result == PDK__NO_NODE || result == PDK__NOT_ALLOWED;
    if (!w->proven)
        w->failed = w->relist = true;
    group_read_answered(w);
}

static bool list(struct pdk__watching *w) {
    w->relist = false;
    w->listed_at = pdk__now(w->query.s);
    w->list_watched = pdk__live_query_watch(&w->query, w->key);
    struct pdk__request request = {
        .kind = PDK__OP_LIST, .path = w->dir, .watch = w->list_watched, .stat = pdk__protect_looks(w->query.s)};
    bool sent = group_read_send(w, request, group_read_on_listed, w);
    if (!sent) {
        pdk__live_query_unset(&w->query, w->key);
        w->relist = true;
    }
    w->listing = sent;
    return sent;
}

static bool prove_and_list(struct pdk__watching *w) {
    int64_t now = pdk__now(w->query.s);
    if (w->listed_at != 0 && now - w->listed_at < LIST_SPACING_NS)
        return false;
    if (!w->proven &&
        !group_read_send(w, (struct pdk__request){.kind = PDK__OP_BARRIER, .path = w->dir}, group_read_on_barrier, w))
        return false;
    if (list(w))
        return true;
    w->failed = true;
    return w->in_flight > 0;
}

bool pdk__watching_ask(struct pdk__live_query *query) {
    struct pdk__watching *w = (struct pdk__watching *)query;
    pdk_session *s = query->s;
    int64_t now = pdk__now(s);
    bool handle_is_new = w->generation != s->generation;
    bool polls = !w->relist && w->todo.length == 0; /* or has connected again */
    w->failed = false;
    w->proven = w->proven && !handle_is_new;
    w->generation = s->generation;
    w->relist = w->relist || handle_is_new || polls;
    if (handle_is_new || polls)
        pdk__nodes_read_again(w, handle_is_new); /* a new handle has no watches */
    if (!w->restless)
        w->restless = now;
    if (w->relist || now - w->listed_at >= s->lease.timeout)
        return prove_and_list(w);
    pump(w);
    return w->in_flight > 0;
}

void pdk__watching_fired(struct pdk__live_query *query, const char *path, bool gone) {
    struct pdk__watching *w = (struct pdk__watching *)query;
    struct pdk__seen *seen = strcmp(path, w->dir) == 0 ? NULL : g_hash_table_lookup(w->nodes, strrchr(path, '/') + 1);
    if (!w->restless)
        w->restless = pdk__now(query->s);
    if (!seen || gone)
        w->relist = true;
    if (!seen)
        return;
    seen->watched = false;
    pdk__seen_mark(w, seen);
    if (gone)
        pdk__seen_know(seen, NULL);
}

/* Observers hear of each leader, and are no candidates themselves.
 *
 *     LIST ──somebody is first──► read it, leaving a watch ──► told, when it is another one than before
 *       ▲      │ nobody: list again, leaving a watch on the children
 *       └──────┴── a watch fired, connected again, or a poll (live_query.h)
 *
 * All observers of an election watch its leader's node. So a change of the leader wakes every one of them, as each has
 * asked for.
 */
#include "election_observer.h"

#include "base/fork.h"
#include "base/text.h"
#include "core/names.h"
#include "core/published.h"
#include "election.h"
#include "grant/contenders.h"
#include "session/blocking.h"
#include "session/close.h"
#include "session/live_query.h"
#include "session/ops.h"
#include "session/protect.h"
#include "session/tokens.h"
#include "session/unowned.h"
#include "session/watches.h"

#include <string.h>

/* A directory that does not exist cannot be watched, nor can a node that may not be read. So they are polled: once per
 * session timeout, or this often if that is sooner. */
#define UNWATCHED_NS (1000 * PDK__MS)

/* The live query of an observer. It lives until no answer and no callback of it is due any more. Under the monitor. */
struct observation {
    struct pdk__live_query query;
    char *dir;
    enum pdk__kind kind;
    pdk_leader_fn fn;
    pdk_leader_data_fn data_fn; /* in place of fn: hears of the data too; or NULL */
    void *user;
    void (*user_free)(void *user);
    char *first;    /* path of the node that is read */
    char *identity; /* as told last; NULL: nobody */
    GBytes *data;   /* as told last, for data_fn; NULL: none */
    int64_t token;
    bool told, telling;   /* at least once; the callback runs */
    bool listing_watched; /* the list under way leaves a watch */
    bool reading_watched; /* and so does the reading */
    bool warned;          /* the log says that strangers may forge the node */
    bool polling;         /* nothing is watched: only the alarm makes it look */
};

struct pdk_observer {
    pdk_session *s; /* a reference */
    struct observation *observation;
};

struct message {
    struct observation *observation;
    char *identity;
    int64_t token;
    pdk_contenders *leader; /* for data_fn; or NULL */
};

/* ---- telling */

static void call(const struct observation *observation, const struct message *m) {
    if (observation->data_fn)
        observation->data_fn(m->leader, observation->user);
    else
        observation->fn(m->identity, m->token, observation->user);
}

static void message_run(void *user) {
    const struct message *m = user;
    struct observation *observation = m->observation;
    pdk_session *s = observation->query.s;
    pdk__lock(s);
    bool wanted = !observation->query.stopped;
    observation->telling = wanted;
    pdk__unlock(s);
    if (!wanted)
        return;
    call(observation, m);
    pdk__lock(s);
    observation->telling = false;
    void (*user_free)(void *) = observation->query.stopped ? g_steal_pointer(&observation->user_free) : NULL;
    pdk__unlock(s);
    if (user_free)
        user_free(observation->user);
}

static void message_free(struct message *m) {
    pdk_contenders_free(m->leader);
    g_free(m->identity);
    g_free(m);
}

static void message_drop(void *user) {
    struct message *m = user;
    pdk_session *s = m->observation->query.s;
    pdk__lock(s);
    pdk__live_query_unref(&m->observation->query);
    pdk__unlock(s);
    message_free(m);
}

static bool same_data(GBytes *one, GBytes *other) { return one && other ? g_bytes_equal(one, other) : one == other; }

/* Takes data and leader over, which are for data_fn. */
static void observation_tell(struct observation *observation, const char *identity, int64_t token, GBytes *data,
                             pdk_contenders *leader) {
    struct message *m = g_new(struct message, 1);
    *m = (struct message){observation, g_strdup(identity), token, leader};
    bool same = observation->told && token == observation->token && g_strcmp0(identity, observation->identity) == 0 &&
                same_data(data, observation->data);
    observation->told = true;
    observation->token = token;
    g_free(observation->identity);
    observation->identity = g_strdup(identity);
    g_bytes_unref(observation->data);
    observation->data = data;
    pdk__live_query_ref(&observation->query);
    if (!same && pdk__later(observation->query.s, message_run, message_drop, m))
        return;
    pdk__live_query_unref(&observation->query);
    message_free(m);
}

static void tell_nobody(struct observation *observation) {
    observation_tell(observation, NULL, 0, NULL, observation->data_fn ? pdk__contenders_none() : NULL);
}

static const char *name_of_first(const struct observation *observation) { return strrchr(observation->first, '/') + 1; }

/* Another candidate leads, but its node may not be read. */
static void tell_hidden(struct observation *observation) {
    const char *name = name_of_first(observation);
    observation_tell(observation, "", 0, NULL, observation->data_fn ? pdk__contenders_hidden(name) : NULL);
}

static void tell_leader(struct observation *observation, const struct pdk__reply *reply) {
    pdk_session *s = observation->query.s;
    struct pdk__published p;
    pdk__published_read(reply->data, reply->data_size, &p);
    char *identity = g_strndup(p.identity, MIN(p.identity_size, PDK__IDENTITY_MAX));
    bool wants = observation->data_fn;
    pdk_contenders *leader =
        wants ? pdk__contenders_one(s, name_of_first(observation), reply->data, reply->data_size, reply) : NULL;
    observation_tell(observation, identity, pdk__token_of(s, reply->token),
                     wants && p.data ? g_bytes_new(p.data, p.data_size) : NULL, leader);
    g_free(identity);
}

/* ---- looking */

static bool list(struct observation *observation, bool watch);

static bool observation_send(struct observation *observation, struct pdk__request request, pdk__done_fn done) {
    if (!pdk__send(observation->query.s, request, done, observation))
        return false;
    pdk__live_query_ref(&observation->query);
    return true;
}

/* Look again before long, since nothing is watched. */
static void look_later(struct observation *observation) {
    observation->polling = true;
    pdk__live_query_look_within(&observation->query, MIN(observation->query.s->lease.timeout, UNWATCHED_NS));
}

static void observation_on_read(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct observation *observation = user;
    (void)s;
    enum pdk__result result = reply ? reply->result : PDK__UNKNOWN;
    if (result != PDK__OK)
        pdk__live_query_unset(&observation->query, observation->first);
    if (observation->query.stopped) {
        pdk__live_query_unref(&observation->query);
        return;
    }
    bool nobody = result == PDK__OK && observation->reading_watched && pdk__is_unowned(reply) &&
                  pdk__unowned_note(s, observation->first);
    if (result == PDK__OK && !nobody)
        tell_leader(observation, reply);
    else if (result == PDK__NOT_ALLOWED)
        tell_hidden(observation);
    if (result == PDK__NO_NODE || nobody) /* gone by now, or no candidate: list again */
        pdk__live_query_again(&observation->query);
    pdk__live_query_done(&observation->query, result != PDK__UNKNOWN && result != PDK__NOT_NOW);
    if (result == PDK__NOT_ALLOWED || !observation->reading_watched)
        look_later(observation);
    pdk__live_query_unref(&observation->query);
}

/* The first node in the queue, or NULL. */
static const char *first_of(const struct observation *observation, const struct pdk__reply *reply) {
    const char *first = NULL;
    int32_t sequence = 0;
    for (size_t i = 0; i < reply->children_count; i++) {
        struct pdk__name name;
        if (!pdk__name_parse(reply->children[i], &name) || !pdk__kind_same_queue(name.kind, observation->kind) ||
            pdk__unowned_is(observation->query.s, observation->dir, reply->children[i]))
            continue;
        int32_t order = first ? pdk__sequence_compare(name.sequence, sequence) : -1;
        if (order < 0 || (order == 0 && strcmp(reply->children[i], first) < 0)) {
            first = reply->children[i];
            sequence = name.sequence;
        }
    }
    return first;
}

static bool read_first(struct observation *observation, const char *name) {
    char *path = g_strconcat(observation->dir, "/", name, NULL);
    if (observation->first && strcmp(observation->first, path) != 0)
        pdk__live_query_unwatch(&observation->query, observation->first);
    g_free(observation->first);
    observation->first = path;
    observation->reading_watched =
        pdk__live_query_watch(&observation->query, path); /* else the session has too many watches */
    enum pdk__op_kind kind = observation->reading_watched ? PDK__OP_WATCH : PDK__OP_GET;
    return observation_send(observation, (struct pdk__request){.kind = kind, .path = path}, observation_on_read);
}

static bool watch_children(struct observation *observation, bool watch) {
    char *key = pdk__watches_children_key(observation->dir);
    bool room = watch && pdk__live_query_watch(&observation->query, key);
    if (!watch)
        pdk__live_query_unset(&observation->query, key);
    g_free(key);
    return room;
}

static void found_nobody(struct observation *observation) {
    bool watched = observation->listing_watched, room = watched || watch_children(observation, true);
    if (!watched && room && list(observation, true)) /* with a watch: somebody may have come by now */
        return;
    if (watched || !room)
        tell_nobody(observation);
    pdk__live_query_done(&observation->query, watched || !room);
    if (!room)
        look_later(observation);
}

static void found_nothing(struct observation *observation) {
    tell_nobody(observation);
    pdk__live_query_done(&observation->query, true);
    look_later(observation);
}

static void observation_on_listed(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct observation *observation = user;
    enum pdk__result result = pdk__protect_listed(s, observation->dir, reply, &observation->warned);
    const char *first = result == PDK__OK ? first_of(observation, reply) : NULL;
    if (result != PDK__OK && observation->listing_watched)
        watch_children(observation, false);
    if (observation->query.stopped)
        pdk__live_query_done(&observation->query, true);
    else if (first && !read_first(observation, first))
        pdk__live_query_done(&observation->query, false);
    else if (result == PDK__OK && !first)
        found_nobody(observation);
    else if (result == PDK__NO_NODE)
        found_nothing(observation);
    else if (!first)
        pdk__live_query_done(&observation->query, result == PDK__NOT_ALLOWED);
    pdk__live_query_unref(&observation->query);
}

static bool list(struct observation *observation, bool watch) {
    observation->listing_watched = watch;
    return observation_send(observation,
                            (struct pdk__request){.kind = PDK__OP_LIST,
                                                  .path = observation->dir,
                                                  .watch = watch,
                                                  .stat = pdk__protect_looks(observation->query.s)},
                            observation_on_listed);
}

static bool observation_ask(struct pdk__live_query *query) {
    struct observation *observation = (struct observation *)query;
    observation->polling = false;
    return list(observation, false);
}

/* It has no watch any more: pdk__live_query_stop has removed them. */
static void observation_free(struct pdk__live_query *query) {
    struct observation *observation = (struct observation *)query;
    g_free(observation->dir);
    g_free(observation->first);
    g_free(observation->identity);
    g_bytes_unref(observation->data);
    g_free(observation);
}

static const struct pdk__live_query_calls calls = {.ask = observation_ask, .free = observation_free};

void pdk__observers_elected(const struct pdk__queue *queue) {
    pdk__assert_locked(queue->s);
    for (GList *link = queue->s->live_queries.head, *next; link; link = next) {
        struct pdk__live_query *query = link->data;
        next = link->next; /* looking ends no live query */
        const struct observation *observation = query->calls == &calls ? (struct observation *)query : NULL;
        if (observation && observation->polling && strcmp(observation->dir, queue->dir) == 0)
            pdk__live_query_look(query);
    }
}

/* ---- the calls */

pdk_observer *pdk__observer_begin(pdk_election *election, pdk_leader_fn fn, pdk_leader_data_fn data_fn, void *user,
                                  void (*user_free)(void *user)) {
    pdk__assert_locked(election->queue->s);
    pdk_session *s = election->queue->s;
    struct observation *observation = g_new0(struct observation, 1);
    pdk__live_query_init(&observation->query, s, &calls);
    observation->dir = g_strdup(election->queue->dir);
    observation->kind = election->kind;
    observation->fn = fn;
    observation->data_fn = data_fn;
    observation->user = user;
    observation->user_free = user_free;
    pdk_observer *observer = g_new(pdk_observer, 1);
    *observer = (pdk_observer){pdk__session_ref(s), observation};
    pdk__live_query_look(&observation->query);
    return observer;
}

static pdk_status observe(pdk_election *election, const char *name, pdk_leader_fn fn, pdk_leader_data_fn data_fn,
                          void *user, void (*user_free)(void *user), pdk_observer **out) {
    bool has_fn = fn || data_fn;
    if (!election || !has_fn || !out)
        return pdk__fail(PDK_INVALID, "%s: %s: NULL", name, !election ? "election" : !has_fn ? "fn" : "out");
    pdk_session *s = election->queue->s;
    pdk_status status = pdk__check_call(s, name, 0);
    if (status != PDK_OK)
        return status;
    pdk__lock(s);
    status = pdk__session_usable(s, name);
    if (status == PDK_OK)
        *out = pdk__observer_begin(election, fn, data_fn, user, user_free);
    pdk__unlock(s);
    return status;
}

pdk_status pdk_election_observe(pdk_election *election, pdk_leader_fn fn, void *user, void (*user_free)(void *user),
                                pdk_observer **out) {
    return observe(election, "pdk_election_observe", fn, NULL, user, user_free, out);
}

pdk_status pdk_election_observe_data(pdk_election *election, pdk_leader_data_fn fn, void *user,
                                     void (*user_free)(void *user), pdk_observer **out) {
    return observe(election, "pdk_election_observe_data", NULL, fn, user, user_free, out);
}

void pdk_observer_close(pdk_observer *observer) {
    if (!observer || observer->s->forks != pdk__forks())
        return;
    pdk_session *s = observer->s;
    struct observation *observation = observer->observation;
    pdk__lock(s);
    void (*user_free)(void *) = observation->telling ? NULL : g_steal_pointer(&observation->user_free);
    void *user = observation->user;
    pdk__live_query_stop(&observation->query);
    pdk__unlock(s);
    if (user_free)
        user_free(user);
    pdk__session_unref(s);
    g_free(observer);
}

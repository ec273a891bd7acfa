/* Who leads, told to those who only want to know.
 *
 *     LIST ──somebody is first──► read it, leaving a watch ──► told, when it is another one than before
 *       ▲      │ nobody: list again, leaving a watch on the children
 *       └──────┴── a watch fired, connected again, or a poll (lookout.h)
 *
 * All observers of an election watch its leader: that many hear of a change, because that many asked to.
 */
#include "core/names.h"
#include "election.h"
#include "fork.h"
#include "session/lookout.h"
#include "session/ops.h"
#include "text.h"

#include <string.h>

/* A directory that does not exist cannot be watched, nor a node that may not be read, so they are looked for; once per session
 * timeout, or this often. */
#define UNWATCHED_NS (1000 * PDK__MS)

/* Lives until no answer and no callback of it is due any more. Under the monitor. */
struct seer {
    struct pdk__lookout lookout;
    char *dir;
    enum pdk__kind kind;
    pdk_leader_fn fn;
    void *user;
    void (*user_free)(void *user);
    char *first;    /* path of the node that is read */
    char *identity; /* as told last; NULL: nobody */
    int64_t token;
    bool told, telling;   /* at least once; the callback runs */
    bool listing_watched; /* the list under way leaves a watch */
    bool reading_watched; /* and so does the reading */
};

struct pdk_observer {
    pdk_session *s; /* a reference */
    struct seer *seer;
};

struct message {
    struct seer *seer;
    char *identity;
    int64_t token;
};

/* ---- telling */

static void message_run(void *user) {
    const struct message *m = user;
    struct seer *seer = m->seer;
    pdk_session *s = seer->lookout.s;
    pdk__lock(s);
    bool wanted = !seer->lookout.stopped;
    seer->telling = wanted;
    pdk__unlock(s);
    if (!wanted)
        return;
    seer->fn(m->identity, m->token, seer->user);
    pdk__lock(s);
    seer->telling = false;
    void (*user_free)(void *) = seer->lookout.stopped ? g_steal_pointer(&seer->user_free) : NULL;
    pdk__unlock(s);
    if (user_free)
        user_free(seer->user);
}

static void message_drop(void *user) {
    struct message *m = user;
    pdk_session *s = m->seer->lookout.s;
    pdk__lock(s);
    pdk__lookout_unref(&m->seer->lookout);
    pdk__unlock(s);
    g_free(m->identity);
    g_free(m);
}

static void tell(struct seer *seer, const char *identity, int64_t token) {
    if (seer->told && token == seer->token && g_strcmp0(identity, seer->identity) == 0)
        return;
    seer->told = true;
    seer->token = token;
    g_free(seer->identity);
    seer->identity = g_strdup(identity);
    struct message *m = g_new(struct message, 1);
    *m = (struct message){seer, g_strdup(identity), token};
    pdk__lookout_ref(&seer->lookout);
    if (pdk__later(seer->lookout.s, message_run, message_drop, m))
        return;
    pdk__lookout_unref(&seer->lookout);
    g_free(m->identity);
    g_free(m);
}

/* ---- looking */

static bool list(struct seer *seer, bool watch);

static bool send(struct seer *seer, struct pdk__request request, pdk__done_fn done) {
    if (!pdk__send(seer->lookout.s, request, done, seer))
        return false;
    pdk__lookout_ref(&seer->lookout);
    return true;
}

/* Nothing is watched: look again before long. */
static void look_later(struct seer *seer) {
    pdk__lookout_look_within(&seer->lookout, MIN(seer->lookout.s->lease.timeout, UNWATCHED_NS));
}

static void on_read(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct seer *seer = user;
    (void)s;
    enum pdk__result result = reply ? reply->result : PDK__UNKNOWN;
    if (result != PDK__OK && seer->first)
        pdk__lookout_unset(&seer->lookout, seer->first);
    if (seer->lookout.stopped) {
        pdk__lookout_unref(&seer->lookout);
        return;
    }
    if (result == PDK__OK) {
        char *identity = g_strndup(reply->data ? reply->data : "", MIN(reply->data_size, PDK__IDENTITY_MAX));
        tell(seer, identity, reply->token);
        g_free(identity);
    } else if (result == PDK__NOT_ALLOWED) {
        tell(seer, "", 0); /* somebody leads, and it is not who did before */
    }
    if (result == PDK__NO_NODE) /* gone by now: who is first then? */
        pdk__lookout_again(&seer->lookout);
    pdk__lookout_done(&seer->lookout, result != PDK__UNKNOWN && result != PDK__NOT_NOW);
    if (result == PDK__NOT_ALLOWED || !seer->reading_watched)
        look_later(seer);
    pdk__lookout_unref(&seer->lookout);
}

/* The node of the first in line, or NULL. */
static const char *first_of(const struct seer *seer, const struct pdk__reply *reply) {
    const char *first = NULL;
    int32_t sequence = 0;
    for (size_t i = 0; i < reply->children_count; i++) {
        struct pdk__name name;
        if (!pdk__name_parse(reply->children[i], &name) || !pdk__kind_same_line(name.kind, seer->kind))
            continue;
        int32_t order = first ? pdk__sequence_compare(name.sequence, sequence) : -1;
        if (order < 0 || (order == 0 && strcmp(reply->children[i], first) < 0)) {
            first = reply->children[i];
            sequence = name.sequence;
        }
    }
    return first;
}

static bool read_first(struct seer *seer, const char *name) {
    char *path = g_strconcat(seer->dir, "/", name, NULL);
    if (seer->first && strcmp(seer->first, path) != 0)
        pdk__lookout_unwatch(&seer->lookout, seer->first);
    g_free(seer->first);
    seer->first = path;
    seer->reading_watched = pdk__lookout_watch(&seer->lookout, path); /* else the session has too many watches */
    enum pdk__op_kind kind = seer->reading_watched ? PDK__OP_WATCH : PDK__OP_GET;
    return send(seer, (struct pdk__request){.kind = kind, .path = path}, on_read);
}

static bool watch_children(struct seer *seer, bool watch) {
    char *key = pdk__watches_children_key(seer->dir);
    bool room = watch && pdk__lookout_watch(&seer->lookout, key);
    if (!watch)
        pdk__lookout_unset(&seer->lookout, key);
    g_free(key);
    return room;
}

static void found_nobody(struct seer *seer) {
    bool watched = seer->listing_watched, room = watched || watch_children(seer, true);
    if (!watched && room && list(seer, true)) /* somebody may have come since the list, and now this one tells */
        return;
    if (watched || !room)
        tell(seer, NULL, 0);
    pdk__lookout_done(&seer->lookout, watched || !room);
    if (!room)
        look_later(seer);
}

static void found_nothing(struct seer *seer) {
    tell(seer, NULL, 0);
    pdk__lookout_done(&seer->lookout, true);
    look_later(seer);
}

static void on_listed(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct seer *seer = user;
    (void)s;
    enum pdk__result result = reply ? reply->result : PDK__UNKNOWN;
    const char *first = result == PDK__OK ? first_of(seer, reply) : NULL;
    if (result != PDK__OK && seer->listing_watched)
        watch_children(seer, false);
    if (seer->lookout.stopped)
        pdk__lookout_done(&seer->lookout, true);
    else if (first && !read_first(seer, first))
        pdk__lookout_done(&seer->lookout, false);
    else if (result == PDK__OK && !first)
        found_nobody(seer);
    else if (result == PDK__NO_NODE)
        found_nothing(seer);
    else if (!first)
        pdk__lookout_done(&seer->lookout, result == PDK__NOT_ALLOWED);
    pdk__lookout_unref(&seer->lookout);
}

static bool list(struct seer *seer, bool watch) {
    seer->listing_watched = watch;
    return send(seer, (struct pdk__request){.kind = PDK__OP_LIST, .path = seer->dir, .watch = watch}, on_listed);
}

static bool ask(struct pdk__lookout *lookout) { return list((struct seer *)lookout, false); }

/* Nothing is watched for it any more: stop has seen to that. */
static void seer_free(struct pdk__lookout *lookout) {
    struct seer *seer = (struct seer *)lookout;
    g_free(seer->dir);
    g_free(seer->first);
    g_free(seer->identity);
    g_free(seer);
}

/* ---- the calls */

pdk_observer *pdk__observer_begin(pdk_election *election, pdk_leader_fn fn, void *user, void (*user_free)(void *user)) {
    static const struct pdk__lookout_calls calls = {ask, seer_free};
    pdk_session *s = election->line->s;
    struct seer *seer = g_new0(struct seer, 1);
    pdk__lookout_init(&seer->lookout, s, &calls);
    seer->dir = g_strdup(election->line->dir);
    seer->kind = election->kind;
    seer->fn = fn;
    seer->user = user;
    seer->user_free = user_free;
    pdk_observer *observer = g_new(pdk_observer, 1);
    *observer = (pdk_observer){pdk_session_ref(s), seer};
    pdk__lookout_look(&seer->lookout);
    return observer;
}

pdk_status pdk_election_observe(pdk_election *election, pdk_leader_fn fn, void *user, void (*user_free)(void *user),
                                pdk_observer **out) {
    static const char call[] = "pdk_election_observe";
    if (!election || !fn || !out)
        return pdk__fail(PDK_INVALID, "%s: %s: NULL", call, !election ? "election" : !fn ? "fn" : "out");
    pdk_session *s = election->line->s;
    pdk_status status = pdk__check_call(s, call, 0);
    if (status != PDK_OK)
        return status;
    pdk__lock(s);
    status = pdk__session_usable(s, call);
    if (status == PDK_OK)
        *out = pdk__observer_begin(election, fn, user, user_free);
    pdk__unlock(s);
    return status;
}

void pdk_observer_stop(pdk_observer *observer) {
    if (!observer || observer->s->forks != pdk__forks())
        return;
    pdk_session *s = observer->s;
    struct seer *seer = observer->seer;
    pdk__lock(s);
    void (*user_free)(void *) = seer->telling ? NULL : g_steal_pointer(&seer->user_free);
    void *user = seer->user;
    pdk__lookout_stop(&seer->lookout);
    pdk__unlock(s);
    if (user_free)
        user_free(user);
    pdk_session_unref(s);
    g_free(observer);
}

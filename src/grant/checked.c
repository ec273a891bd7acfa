#include "grant/checked.h"

#include "session/ops.h"
#include "session/renew.h"
#include "session/tokens.h"

guint pdk__checked_hash(gconstpointer key) {
    const struct pdk__checked_key *k = key;
    return g_str_hash(k->node) ^ g_int64_hash(&k->token);
}

gboolean pdk__checked_equal(gconstpointer a, gconstpointer b) {
    const struct pdk__checked_key *x = a, *y = b;
    return x->token == y->token && g_str_equal(x->node, y->node);
}

static struct pdk__checked *checked_of(struct pdk__live_query *query) { return (struct pdk__checked *)query; }

bool pdk__checked_stands(const struct pdk__checked *c) {
    return atomic_load(&c->state) == PDK__STANDS && atomic_load(&c->generation) == atomic_load(&c->query.s->generation);
}

/* The lease is read before the generation, since a new session has no lease until its generation is told. */
pdk_status pdk__checked_answer(const struct pdk__checked *c) {
    const pdk_session *s = c->query.s;
    if (atomic_load(&c->state) == PDK__NODE_IS_LOST)
        return PDK_LOST;
    int64_t end = atomic_load(&s->lease_end);
    bool stands = pdk__checked_stands(c);
    return stands && pdk__now(s) < end ? PDK_OK : PDK_UNAVAILABLE;
}

void pdk__checked_stop(struct pdk__checked *c) {
    pdk_session *s = c->query.s;
    pdk__assert_locked(s);
    s->lease_users -= c->uses_lease;
    c->uses_lease = false;
    pdk__live_query_stop(&c->query);
}

static void checked_settle(struct pdk__checked *c, enum pdk__checked_state state) {
    pdk_session *s = c->query.s;
    atomic_store(&c->state, state);
    pdk__wake(&c->waiters);
    if (state == PDK__NODE_IS_LOST) {
        pdk__wake(&s->on_link); /* threads that wait for the lease */
        pdk__checked_stop(c);
    } else if (state == PDK__STANDS && !c->uses_lease) {
        c->uses_lease = true;
        s->lease_users++;
        pdk__renew_soon(s);
    }
}

/* No server will tell. The threads that wait hear so, and the next call that asks begins from the start. */
static void checked_refuse(struct pdk__checked *c, pdk_status status) {
    c->refused = status;
    checked_settle(c, PDK__ASKING);
    pdk__checked_stop(c);
}

static void checked_on_barrier(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__checked *c = user;
    (void)s;
    c->proven = reply && (reply->result == PDK__OK || reply->result == PDK__NO_NODE);
    pdk__live_query_unref(&c->query);
}

/* A reading without an answer says nothing about the watch of an earlier one. That has not fired, so it is still
 * set. */
static bool keeps_watch(const struct pdk__checked *c, enum pdk__result result) {
    return (result == PDK__UNKNOWN || result == PDK__NOT_NOW) && atomic_load(&c->state) == PDK__STANDS;
}

/* Without a watch nobody hears of a change, so the reading before does not count any more. */
static void on_unread(struct pdk__checked *c, enum pdk__result result) {
    if (keeps_watch(c, result))
        return;
    pdk__live_query_unset(&c->query, c->node);
    if (c->query.stopped)
        return;
    if (result == PDK__NO_NODE && c->proven)
        checked_settle(c, PDK__NODE_IS_LOST);
    else if (result == PDK__NOT_ALLOWED)
        checked_refuse(c, PDK_NO_PERMISSION);
    else
        checked_settle(c, PDK__ASKING);
}

static void checked_on_read(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct pdk__checked *c = user;
    enum pdk__result result = reply ? reply->result : PDK__UNKNOWN;
    bool there = result == PDK__OK && c->proven;
    if (result != PDK__OK) {
        on_unread(c, result);
    } else if (there && !c->query.stopped) {
        bool same = pdk__token_of(s, reply->token) == c->key.token;
        atomic_store(&c->generation, atomic_load(&s->generation));
        checked_settle(c, same ? PDK__STANDS : PDK__NODE_IS_LOST);
    }
    if (!c->query.stopped)
        pdk__live_query_done(&c->query, there);
    pdk__live_query_unref(&c->query);
}

static bool send_one(struct pdk__checked *c, enum pdk__op_kind kind, pdk__done_fn done) {
    bool sent = pdk__send(c->query.s, (struct pdk__request){.kind = kind, .path = c->node}, done, c);
    if (sent)
        pdk__live_query_ref(&c->query);
    return sent;
}

static bool checked_ask(struct pdk__live_query *query) {
    struct pdk__checked *c = checked_of(query);
    if (!pdk__live_query_watch(query, c->node)) {
        checked_refuse(c, PDK_LIMIT);
        return true; /* it is stopped */
    }
    c->proven = false;
    if (send_one(c, PDK__OP_BARRIER, checked_on_barrier) && send_one(c, PDK__OP_WATCH, checked_on_read))
        return true;
    on_unread(c, PDK__NOT_NOW);
    return false;
}

/* A node that was written has no watch until it is read again, so it does not count until then. */
static void fired(struct pdk__live_query *query, const char *path, bool gone) {
    (void)path;
    checked_settle(checked_of(query), gone ? PDK__NODE_IS_LOST : PDK__ASKING);
}

static void checked_free(struct pdk__live_query *query) {
    struct pdk__checked *c = checked_of(query);
    g_free(c->node);
    g_free(c);
}

struct pdk__checked *pdk__checked_new(pdk_session *s, const struct pdk__checked_key *key) {
    static const struct pdk__live_query_calls calls = {.ask = checked_ask, .free = checked_free, .fired = fired};
    pdk__assert_locked(s);
    struct pdk__checked *c = g_new0(struct pdk__checked, 1);
    c->node = g_strdup(key->node);
    c->key = (struct pdk__checked_key){c->node, key->token};
    c->link.data = c;
    pdk__live_query_init(&c->query, s, &calls);
    pdk__live_query_ref(&c->query);
    pdk__live_query_look(&c->query);
    return c;
}

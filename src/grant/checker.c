/* A checker: sequencers that are checked often. Nodes are added and forgotten under the monitor and the checker's
 * mutex, and looked up under either. The order in which they were asked about is under the mutex alone. The monitor
 * comes first. */
#include "base/text.h"
#include "grant/checked.h"
#include "session/blocking.h"
#include "session/close.h"
#include "session/options.h"
#include "session/renew.h"

#include <paddock/checker.h>

enum { CAPACITY_MAX = 100000 };

/* The size of the first version of the struct. Never changes. */
#define OPTIONS_FIRST_SIZE (offsetof(pdk_checker_options, capacity) + sizeof(int32_t))

struct pdk_checker {
    atomic_uint refs;
    pdk_session *s; /* a reference */
    guint capacity;
    pthread_mutex_t mutex;
    GHashTable *nodes; /* by key; a reference to each */
    GQueue used;       /* the one asked about last comes first */
};

pdk_status pdk_checker_options_init(pdk_checker_options *options, size_t size) {
    static const pdk_checker_options defaults = PDK_CHECKER_OPTIONS_INIT;
    return pdk__options_init("pdk_checker_options_init", options, size, &defaults, sizeof defaults, OPTIONS_FIRST_SIZE);
}

static pdk_status checker_read_options(const pdk_checker_options *given, pdk_checker_options *o) {
    pdk_status status = pdk__options_read("options", given, o, sizeof *o, OPTIONS_FIRST_SIZE);
    if (status != PDK_OK)
        return status;
    if (o->capacity < 1 || o->capacity > CAPACITY_MAX)
        return pdk__fail(PDK_INVALID, "options: capacity is %d; from 1 to %d", o->capacity, CAPACITY_MAX);
    return PDK_OK;
}

pdk_status pdk_checker_new(pdk_session *session, const pdk_checker_options *options, pdk_checker **out) {
    static const char maker[] = "pdk_checker_new";
    pdk_checker_options o = PDK_CHECKER_OPTIONS_INIT;
    if (!out)
        return pdk__fail(PDK_INVALID, "%s: out: NULL", maker);
    pdk_status status = pdk__check_call(session, maker, 0);
    if (status != PDK_OK)
        return status;
    status = checker_read_options(options, &o);
    if (status != PDK_OK)
        return status;
    pdk__lock(session);
    status = pdk__session_usable(session, maker);
    pdk__unlock(session);
    if (status != PDK_OK)
        return status;
    pdk_checker *checker = g_new0(pdk_checker, 1);
    atomic_init(&checker->refs, 1);
    checker->s = pdk__session_ref(session);
    checker->capacity = (guint)o.capacity;
    pthread_mutex_init(&checker->mutex, NULL);
    checker->nodes = g_hash_table_new(pdk__checked_hash, pdk__checked_equal);
    *out = checker;
    return PDK_OK;
}

pdk_checker *pdk_checker_ref(pdk_checker *checker) {
    if (checker && !pdk__is_forked(checker->s))
        atomic_fetch_add(&checker->refs, 1);
    return checker;
}

/* Under the monitor. */
static void checker_forget(pdk_checker *checker, struct pdk__checked *c) {
    if (!c->listed)
        return;
    c->listed = false;
    pthread_mutex_lock(&checker->mutex);
    g_hash_table_remove(checker->nodes, &c->key);
    g_queue_unlink(&checker->used, &c->link);
    pthread_mutex_unlock(&checker->mutex);
    pdk__checked_stop(c);
    pdk__live_query_unref(&c->query);
}

void pdk_checker_unref(pdk_checker *checker) {
    if (!checker || pdk__is_forked(checker->s) || atomic_fetch_sub(&checker->refs, 1) != 1)
        return;
    pdk__lock(checker->s);
    for (GList *link; (link = checker->used.head);)
        checker_forget(checker, link->data);
    pdk__unlock(checker->s);
    g_hash_table_unref(checker->nodes);
    pthread_mutex_destroy(&checker->mutex);
    pdk__session_unref(checker->s);
    g_free(checker);
}

/* ---- from memory */

/* UNAVAILABLE: not known. */
static pdk_status checker_recall(pdk_checker *checker, const struct pdk__checked_key *key) {
    pthread_mutex_lock(&checker->mutex);
    struct pdk__checked *c = g_hash_table_lookup(checker->nodes, key);
    pdk_status status = c ? pdk__checked_answer(c) : PDK_UNAVAILABLE;
    if (c && checker->used.head != &c->link) {
        g_queue_unlink(&checker->used, &c->link);
        g_queue_push_head_link(&checker->used, &c->link);
    }
    pthread_mutex_unlock(&checker->mutex);
    return status;
}

/* ---- from ZooKeeper, under the monitor */

/* Make room for one more. false: threads wait for every node that it remembers. */
static bool checker_make_room(pdk_checker *checker) {
    pthread_mutex_lock(&checker->mutex);
    bool has_room = checker->used.length < checker->capacity;
    GList *link = has_room ? NULL : checker->used.tail;
    while (link && ((struct pdk__checked *)link->data)->waiting > 0)
        link = link->prev;
    pthread_mutex_unlock(&checker->mutex);
    if (link)
        checker_forget(checker, link->data);
    return has_room || link != NULL;
}

/* NULL: there is no room. */
static struct pdk__checked *checker_remember(pdk_checker *checker, const struct pdk__checked_key *key) {
    struct pdk__checked *c = g_hash_table_lookup(checker->nodes, key);
    if (c)
        return c;
    if (!checker_make_room(checker))
        return NULL;
    c = pdk__checked_new(checker->s, key);
    c->listed = true;
    pthread_mutex_lock(&checker->mutex);
    g_hash_table_insert(checker->nodes, &c->key, c);
    g_queue_push_head_link(&checker->used, &c->link);
    pthread_mutex_unlock(&checker->mutex);
    return c;
}

static void wait_no_more(void *user) {
    struct pdk__checked *c = user;
    c->waiting--;
    pdk__live_query_unref(&c->query);
}

static pdk_status checker_answer(const struct pdk__checked *c) {
    return c->refused != PDK_OK ? c->refused : pdk__checked_answer(c);
}

/* Wait until the answer is known, or the moment has come. For a node that stands, only the lease is waited for. */
static pdk_status checker_await(pdk_session *s, struct pdk__checked *c, const char *call, int64_t deadline) {
    for (;;) {
        pdk_status status = pdk__session_usable(s, call);
        if (status == PDK_OK)
            status = checker_answer(c);
        if (status != PDK_UNAVAILABLE || pdk__now(s) >= deadline)
            return status;
        bool stands = pdk__checked_stands(c);
        if (stands)
            pdk__renew_now(s);
        pdk__wait(s, stands ? &s->on_link : &c->waiters, deadline);
    }
}

static const char call[] = "pdk_checker_check";

static pdk_status checker_refuse(pdk_status status, const char *node) {
    return pdk__fail(status, "%s: %s: %s", call, node, pdk_status_text(status));
}

static pdk_status checker_ask(pdk_checker *checker, const struct pdk__checked_key *key, int64_t timeout_ms) {
    pdk_session *s = checker->s;
    int64_t deadline = pdk__deadline(s, timeout_ms);
    struct pdk__leave leave = {.locked = wait_no_more};
    pdk__lock(s);
    pdk_status status = pdk__session_usable(s, call);
    struct pdk__checked *c = status == PDK_OK ? checker_remember(checker, key) : NULL;
    if (c) {
        leave.user = c;
        c->waiting++;
        pdk__live_query_ref(&c->query);
        pdk__leave_push(&leave);
        status = checker_await(s, c, call, deadline);
        pdk__leave_pop();
        if (c->refused != PDK_OK)
            checker_forget(checker, c); /* the next call asks again */
        wait_no_more(c);
    } else if (status == PDK_OK) {
        status = PDK_LIMIT;
    }
    if (status != PDK_OK && s->ended == PDK_OK)
        checker_refuse(status, key->node);
    pdk__unlock(s);
    return status;
}

pdk_status pdk_checker_check(pdk_checker *checker, const char *text, int64_t timeout_ms) {
    struct pdk__sequencer sequencer;
    if (!checker)
        return pdk__fail(PDK_INVALID, "%s: checker: NULL", call);
    pdk_status status =
        timeout_ms == 0 ? pdk__check_call(checker->s, call, timeout_ms) : pdk__may_block(checker->s, call, timeout_ms);
    if (status != PDK_OK)
        return status;
    if (!pdk__sequencer_parse(text, &sequencer))
        return pdk__fail(PDK_INVALID, "%s: text: not a sequencer; pass what pdk_hold_sequencer returned", call);
    const struct pdk__checked_key key = {sequencer.node, sequencer.czxid};
    status = checker_recall(checker, &key);
    if (status == PDK_UNAVAILABLE)
        return checker_ask(checker, &key, timeout_ms);
    return status == PDK_OK ? PDK_OK : checker_refuse(status, sequencer.node);
}

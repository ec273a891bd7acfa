/* The acquisition of a set: the names of the rights, and the one order in which they are taken, one after the other.
 *
 *     named:   /prices (read)    /orders (write)    /slots (2 permits)
 *     taken:   /orders   ──────► /prices   ───────► /slots            the set, whose parts are as they were named
 *
 * The order is by path, and then by the servers. Two programs may write the servers of one ensemble differently. Then
 * they still agree about the paths of one ensemble, and can differ only about one path in two ensembles.
 *
 * With `need` a majority of the rights suffices. Each is a lock then, in an ensemble of its own: only then do two
 * majorities meet in a lock that only one of them can hold.
 *
 * set_claim.h takes the rights, and set.h is the set that is held then.
 */
#include "base/text.h"
#include "grant/hold.h"
#include "grant/recipe.h"
#include "queues.h"
#include "session/blocking.h"
#include "session/options.h"
#include "set_claim.h"

#include <string.h>

/* The size of the first version of the struct. Never changes. */
#define OPTIONS_FIRST_SIZE sizeof(size_t)

int32_t pdk_set_rights_max(void) { return PDK_SET_RIGHTS_MAX; }
int32_t pdk_set_patience_max_ms(void) { return PDK_SET_PATIENCE_MAX_MS; }

pdk_status pdk_set_options_init(pdk_set_options *options, size_t size) {
    static const pdk_set_options defaults = PDK_SET_OPTIONS_INIT;
    return pdk__options_init("pdk_set_options_init", options, size, &defaults, sizeof defaults, OPTIONS_FIRST_SIZE);
}

pdk_right pdk_right_lock(pdk_lock *lock) { return (pdk_right){PDK_RIGHT_LOCK, 1, lock}; }
pdk_right pdk_right_read(pdk_rwlock *lock) { return (pdk_right){PDK_RIGHT_READ, 1, lock}; }
pdk_right pdk_right_write(pdk_rwlock *lock) { return (pdk_right){PDK_RIGHT_WRITE, 1, lock}; }
pdk_right pdk_right_permits(pdk_semaphore *semaphore, int32_t count) {
    return (pdk_right){PDK_RIGHT_PERMITS, count, semaphore};
}

/* ---- the rights of one call */

/* A right that was looked at. The queue is the object's. */
struct named {
    const pdk_right *right;
    guint place;
    struct pdk__queue *queue;
    char *servers; /* sorted: the name of the ensemble */
};

/* A call, as its error texts have it. */
struct call {
    const char *name;
    bool blocks;        /* it blocks the thread that makes it */
    const size_t *keys; /* of each right, the place of the first key that wants it; NULL: the caller named the rights */
};

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static char *servers_of(const pdk_session *s) {
    const struct pdk__hosts *hosts = s->hosts;
    char **servers = g_new0(char *, hosts->count + 1);
    for (unsigned i = 0; i < hosts->count; i++)
        servers[i] = g_strdup_printf("%s:%u", hosts->names[i], hosts->ports[i]);
    qsort(servers, hosts->count, sizeof servers[0], by_text);
    char *text = g_strjoinv(",", servers);
    g_strfreev(servers);
    return text;
}

static int in_order(const void *a, const void *b) {
    const struct named *x = a, *y = b;
    int paths = strcmp(x->queue->dir, y->queue->dir);
    return paths ? paths : strcmp(x->servers, y->servers);
}

static struct pdk__queue *queue_of(const pdk_right *right) {
    switch (right->kind) {
    case PDK_RIGHT_LOCK:
        return pdk__lock_queue(right->of);
    case PDK_RIGHT_PERMITS:
        return pdk__semaphore_queue(right->of);
    default:
        return pdk__rwlock_queue(right->of);
    }
}

static pdk_status right_check_count(const pdk_right *right, size_t place, const char *call) {
    if (right->kind == PDK_RIGHT_PERMITS) {
        g_autofree char *where = g_strdup_printf("%s: rights[%zu]", call, place);
        return pdk__semaphore_check_count(right->of, right->count, where);
    }
    if (right->count != 1)
        return pdk__fail(PDK_INVALID, "%s: rights[%zu]: count is %d; 1, but for permits", call, place, right->count);
    return PDK_OK;
}

/* INVALID, and FORKED. */
static pdk_status right_look_at(const pdk_right *right, size_t place, int64_t timeout_ms, const char *call,
                                struct named *named) {
    if (right->kind < PDK_RIGHT_LOCK || right->kind > PDK_RIGHT_PERMITS)
        return pdk__fail(PDK_INVALID, "%s: rights[%zu]: kind is %d; a pdk_right_kind", call, place, right->kind);
    if (!right->of)
        return pdk__fail(PDK_INVALID, "%s: rights[%zu]: the object is NULL", call, place);
    struct pdk__queue *queue = queue_of(right);
    pdk_status status = pdk__check_call(queue->s, call, timeout_ms);
    if (status != PDK_OK)
        return status;
    status = right_check_count(right, place, call);
    if (status != PDK_OK)
        return status;
    *named = (struct named){right, (guint)place, queue, servers_of(queue->s)};
    return PDK_OK;
}

/* A server that both name; NULL: there is none. g_free. */
static char *common_server(const char *a, const char *b) {
    g_auto(GStrv) of_a = g_strsplit(a, ",", -1), of_b = g_strsplit(b, ",", -1);
    for (char **server = of_a; *server; server++)
        if (g_strv_contains((const char *const *)of_b, *server))
            return g_strdup(*server);
    return NULL;
}

/* May so few of them suffice? */
static pdk_status set_check_majority(const struct named *all, size_t count, const pdk_set_options *o,
                                     const char *call) {
    if (o->need < 0 || (size_t)o->need > count || (o->need > 0 && (size_t)o->need <= count / 2))
        return pdk__fail(
            PDK_INVALID,
            "%s: options: need is %d of %zu rights; from %zu to %zu, or 0 for all: two sets of fewer could "
            "be held together",
            call, o->need, count, count / 2 + 1, count);
    if (o->patience_ms < 0 || o->patience_ms > PDK_SET_PATIENCE_MAX_MS)
        return pdk__fail(PDK_INVALID, "%s: options: patience_ms is %d; from 0 to %d", call, o->patience_ms,
                         PDK_SET_PATIENCE_MAX_MS);
    if (o->need == 0 || (size_t)o->need == count)
        return PDK_OK;
    for (size_t i = 0; i < count; i++) {
        if (all[i].right->kind != PDK_RIGHT_LOCK)
            return pdk__fail(PDK_INVALID, "%s: rights[%zu]: where %d of %zu rights suffice, each is a lock", call, i,
                             o->need, count);
        for (size_t k = 0; k < i; k++) {
            g_autofree char *server = common_server(all[i].servers, all[k].servers);
            if (server)
                return pdk__fail(PDK_INVALID,
                                 "%s: rights[%zu] and rights[%zu] are both on %s: where %d of %zu rights suffice, "
                                 "each is on a session to an ensemble of its own",
                                 call, k, i, server, o->need, count);
        }
    }
    return PDK_OK;
}

/* Sorted. INVALID: a path is there twice. */
static pdk_status set_sort(struct named *all, size_t count, const char *call) {
    qsort(all, count, sizeof all[0], in_order);
    for (size_t i = 1; i < count; i++)
        if (in_order(&all[i - 1], &all[i]) == 0)
            return pdk__fail(PDK_INVALID, "%s: rights[%u] and rights[%u] are both on %s: name each path once", call,
                             MIN(all[i - 1].place, all[i].place), MAX(all[i - 1].place, all[i].place),
                             all[i].queue->dir);
    return PDK_OK;
}

/* The status of a session that has ended: the session of the first right in the order, or the one with which too few
 * rights are left. The rights of other ended sessions are left out. */
static pdk_status set_check_sessions(const struct named *all, size_t count, size_t need, const char *call) {
    size_t ended = 0;
    for (size_t i = 0; i < count; i++) {
        pdk_session *s = all[i].queue->s;
        pdk__lock(s);
        ended += s->ended != PDK_OK;
        bool refused = s->ended != PDK_OK && (i == 0 || count - ended < need);
        pdk_status status =
            refused ? pdk__fail(s->ended, "%s: %s: %s", call, all[i].queue->dir, s->trouble_text) : PDK_OK;
        pdk__unlock(s);
        if (status != PDK_OK)
            return status;
    }
    return PDK_OK;
}

/* Does this thread hold anything on that path? */
static bool holds(pdk_session *s, const char *dir) {
    bool found = false;
    pdk__lock(s);
    for (const GList *link = pdk__holds_of(s, pdk__this_thread(), dir); link && !found; link = link->next)
        found = pdk_hold_is_valid(link->data);
    pdk__unlock(s);
    return found;
}

/* DEADLOCK: this thread has one of the paths, in a session of the set to that ensemble. */
static pdk_status set_refuse_own(const struct named *all, size_t count, const struct call *call) {
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++) {
            if (strcmp(all[i].servers, all[k].servers) != 0)
                continue;
            if (holds(all[k].queue->s, all[i].queue->dir))
                return pdk__fail(PDK_DEADLOCK,
                                 "%s: %s[%zu]: %s: this thread holds it; release it first, or "
                                 "pdk_hold_detach_thread",
                                 call->name, call->keys ? "keys" : "rights",
                                 call->keys ? call->keys[all[i].place] : all[i].place, all[i].queue->dir);
        }
    return PDK_OK;
}

static struct pdk_set_claim *claim_of(const struct named *all, size_t count, const struct pdk__set_terms *terms) {
    struct pdk__right rights[PDK_SET_RIGHTS_MAX];
    for (size_t i = 0; i < count; i++) {
        const pdk_right *right = all[i].right;
        rights[i] = (struct pdk__right){
            .queue = right->kind == PDK_RIGHT_READ ? pdk__rwlock_reader(right->of) : pdk__queue_ref(all[i].queue),
            .count = right->count,
            .path = right->kind == PDK_RIGHT_PERMITS ? pdk__semaphore_path(right->of) : g_strdup(all[i].queue->dir),
            .place = all[i].place,
        };
    }
    return pdk__set_claim_new(rights, (guint)count, terms);
}

/* May this call take them together? Sorts them. */
static pdk_status set_check_together(struct named *all, size_t count, const pdk_set_options *o,
                                     const struct pdk__set_terms *terms, const struct call *call) {
    pdk_status status = call->blocks ? pdk__may_block(all[0].queue->s, call->name, terms->timeout_ms) : PDK_OK;
    if (status != PDK_OK)
        return status;
    status = set_check_majority(all, count, o, call->name);
    if (status != PDK_OK)
        return status;
    status = set_sort(all, count, call->name);
    if (status != PDK_OK)
        return status;
    status = set_check_sessions(all, count, terms->need, call->name);
    if (status != PDK_OK)
        return status;
    return call->blocks ? set_refuse_own(all, count, call) : PDK_OK;
}

/* The claim of a call, or why there is none. */
static pdk_status set_prepare(const pdk_right *rights, size_t count, int64_t timeout_ms, const pdk_set_options *options,
                              const struct call *call, struct pdk_set_claim **out) {
    pdk_set_options o = PDK_SET_OPTIONS_INIT;
    struct named all[PDK_SET_RIGHTS_MAX] = {0};
    size_t looked = 0;
    if (!rights)
        return pdk__fail(PDK_INVALID, "%s: rights: NULL", call->name);
    if (count < 1 || count > PDK_SET_RIGHTS_MAX)
        return pdk__fail(PDK_INVALID, "%s: count is %zu; from 1 to %d", call->name, count, PDK_SET_RIGHTS_MAX);
    pdk_status status = pdk__options_read("options", options, &o, sizeof o, OPTIONS_FIRST_SIZE);
    while (status == PDK_OK && looked < count) {
        status = right_look_at(&rights[looked], looked, timeout_ms, call->name, &all[looked]);
        looked += status == PDK_OK;
    }
    const struct pdk__set_terms terms = {timeout_ms, o.need > 0 ? (guint)o.need : (guint)count, o.patience_ms};
    if (status == PDK_OK)
        status = set_check_together(all, count, &o, &terms, call);
    if (status == PDK_OK)
        *out = claim_of(all, count, &terms);
    for (size_t i = 0; i < looked; i++)
        g_free(all[i].servers);
    return status;
}

/* ---- the calls */

static pdk_status set_acquire(const pdk_right *rights, size_t count, int64_t timeout_ms, const pdk_set_options *options,
                              const struct call *call, pdk_set **out) {
    struct pdk_set_claim *claim = NULL;
    if (!out)
        return pdk__fail(PDK_INVALID, "%s: out: NULL", call->name);
    pdk_status status = set_prepare(rights, count, timeout_ms, options, call, &claim);
    return status == PDK_OK ? pdk__set_claim_wait(claim, call->name, out) : status;
}

pdk_status pdk_set_acquire(const pdk_right *rights, size_t count, int64_t timeout_ms, const pdk_set_options *options,
                           pdk_set **out) {
    static const struct call call = {.name = "pdk_set_acquire", .blocks = true};
    return set_acquire(rights, count, timeout_ms, options, &call, out);
}

pdk_status pdk__set_acquire_for_keys(const pdk_right *rights, const size_t *keys, size_t count, int64_t timeout_ms,
                                     const char *name, pdk_set **out) {
    return set_acquire(rights, count, timeout_ms, NULL, &(struct call){name, true, keys}, out);
}

pdk_status pdk_set_acquire_async(const pdk_right *rights, size_t count, int64_t timeout_ms,
                                 const pdk_set_options *options, pdk_set_acquired_fn fn, void *user,
                                 pdk_set_claim **out) {
    static const struct call call = {.name = "pdk_set_acquire_async"};
    struct pdk_set_claim *claim = NULL;
    if (!fn)
        return pdk__fail(PDK_INVALID, "%s: fn: NULL", call.name);
    pdk_status status = set_prepare(rights, count, timeout_ms, options, &call, &claim);
    if (status == PDK_OK)
        pdk__set_claim_start(claim, fn, user, out);
    return status;
}

/* The read/write lock.
 *
 *     /locks/table                          a queue of nodes, the lowest sequence first
 *        ├─ _c_…-__READ__0000000007   holds    ┐ together
 *        ├─ _c_…-__READ__0000000008   holds    ┘
 *        ├─ _c_…-__WRIT__0000000009   waits    watches …8, the node right ahead
 *        └─ _c_…-__READ__0000000010   waits    watches …9, the nearest writer
 *
 * Rule: two readers do not block each other. Any other two do. The writers of this object share one queue and its
 * znode, as the threads of a lock do. Each reader has a side queue, with a znode of its own: if it shared a node that
 * queues already, it would be ahead of writers that came before it. A downgraded writer stands on a reader's node,
 * which has the sequence number of the writer's node (grant.c).
 */
#include "base/fork.h"
#include "base/text.h"
#include "grant/claim.h"
#include "grant/contenders.h"
#include "grant/hold.h"
#include "grant/recipe.h"
#include "queues.h"
#include "session/blocking.h"
#include "session/options.h"

#include <paddock/rwlock.h>

/* The size of the first version of the struct. Never changes. */
#define OPTIONS_FIRST_SIZE (offsetof(pdk_rwlock_options, identity) + sizeof(const char *))

struct pdk_rwlock {
    atomic_uint refs;
    struct pdk__queue *writers;
    struct pdk__queue_kind reader;
};

pdk_status pdk_rwlock_options_init(pdk_rwlock_options *options, size_t size) {
    static const pdk_rwlock_options defaults = PDK_RWLOCK_OPTIONS_INIT;
    return pdk__options_init("pdk_rwlock_options_init", options, size, &defaults, sizeof defaults, OPTIONS_FIRST_SIZE);
}

static struct pdk__queue_kind kind_of(int32_t naming, bool shared) {
    return (struct pdk__queue_kind){
        .entry = {.profile = pdk__recipe_profile(naming),
                  .label = shared ? PDK__LABEL_READ : PDK__LABEL_WRITE,
                  .rule = {pdk__blocks_unless_shared, 0}},
        .recipe = shared ? "rwlock_read" : "rwlock_write",
        .mode = shared ? "shared" : "exclusive",
        .shared = shared,
    };
}

static pdk_status rwlock_read_options(const pdk_rwlock_options *given, pdk_rwlock_options *o,
                                      struct pdk__handovers *handovers) {
    pdk_status status = pdk__options_read("options", given, o, sizeof *o, OPTIONS_FIRST_SIZE);
    if (status != PDK_OK)
        return status;
    status = pdk__recipe_check_naming(o->naming);
    if (status != PDK_OK)
        return status;
    status = pdk__recipe_handovers(o->max_handovers, o->max_handover_ms, handovers);
    return status == PDK_OK ? pdk__recipe_check_identity(o->identity) : status;
}

pdk_status pdk_rwlock_new(pdk_session *session, const char *path, const pdk_rwlock_options *options, pdk_rwlock **out) {
    pdk_rwlock_options o = PDK_RWLOCK_OPTIONS_INIT;
    struct pdk__handovers handovers;
    pdk_status status = pdk__recipe_check(session, path, out, "pdk_rwlock_new");
    if (status != PDK_OK)
        return status;
    status = rwlock_read_options(options, &o, &handovers);
    if (status != PDK_OK)
        return status;
    pdk_rwlock *lock = g_new0(pdk_rwlock, 1);
    struct pdk__queue_kind writer = kind_of(o.naming, false);
    atomic_init(&lock->refs, 1);
    lock->reader = kind_of(o.naming, true);
    lock->writers = pdk__queue_new(session, path, &writer, handovers);
    lock->writers->data = g_strdup(o.identity);
    *out = lock;
    return PDK_OK;
}

struct pdk__queue *pdk__rwlock_queue(const pdk_rwlock *lock) { return lock->writers; }

struct pdk__queue *pdk__rwlock_reader(pdk_rwlock *lock) { return pdk__queue_side(lock->writers, &lock->reader); }

pdk_rwlock *pdk_rwlock_ref(pdk_rwlock *lock) {
    if (lock)
        atomic_fetch_add(&lock->refs, 1);
    return lock;
}

void pdk_rwlock_unref(pdk_rwlock *lock) {
    if (!lock || lock->writers->s->forks != pdk__forks() || atomic_fetch_sub(&lock->refs, 1) != 1)
        return;
    pdk__queue_close(lock->writers, "the read/write lock was dropped");
    g_free(lock);
}

static void give_back(void *queue) { pdk__queue_unref(queue); }

static pdk_status rwlock_acquire(pdk_rwlock *lock, bool shared, int64_t timeout_ms, const char *call, pdk_hold **out) {
    if (!lock || !out)
        return pdk__fail(PDK_INVALID, "%s: %s: NULL", call, lock ? "out" : "lock");
    if (!shared)
        return pdk__claim_wait(lock->writers, 1, timeout_ms, call, out);
    pdk_status status = pdk__check_call(lock->writers->s, call, timeout_ms);
    if (status != PDK_OK)
        return status;
    struct pdk__queue *queue = pdk__rwlock_reader(lock);
    struct pdk__leave leave = {.after = give_back, .user = queue};
    pdk__leave_push(&leave);
    status = pdk__claim_wait(queue, 1, timeout_ms, call, out);
    pdk__leave_pop();
    pdk__queue_unref(queue);
    return status;
}

static pdk_status rwlock_acquire_async(pdk_rwlock *lock, bool shared, int64_t timeout_ms, const char *call,
                                       pdk_acquired_fn fn, void *user, pdk_claim **out) {
    if (!lock || !fn)
        return pdk__fail(PDK_INVALID, "%s: %s: NULL", call, lock ? "fn" : "lock");
    if (!shared)
        return pdk__claim_start(lock->writers, 1, timeout_ms, call, fn, user, out);
    pdk_status status = pdk__check_call(lock->writers->s, call, timeout_ms);
    if (status != PDK_OK)
        return status;
    struct pdk__queue *queue = pdk__rwlock_reader(lock);
    status = pdk__claim_start(queue, 1, timeout_ms, call, fn, user, out);
    pdk__queue_unref(queue);
    return status;
}

pdk_status pdk_rwlock_acquire_read(pdk_rwlock *lock, int64_t timeout_ms, pdk_hold **out) {
    return rwlock_acquire(lock, true, timeout_ms, "pdk_rwlock_acquire_read", out);
}

pdk_status pdk_rwlock_acquire_write(pdk_rwlock *lock, int64_t timeout_ms, pdk_hold **out) {
    return rwlock_acquire(lock, false, timeout_ms, "pdk_rwlock_acquire_write", out);
}

pdk_status pdk_rwlock_acquire_read_async(pdk_rwlock *lock, int64_t timeout_ms, pdk_acquired_fn fn, void *user,
                                         pdk_claim **out) {
    return rwlock_acquire_async(lock, true, timeout_ms, "pdk_rwlock_acquire_read_async", fn, user, out);
}

pdk_status pdk_rwlock_acquire_write_async(pdk_rwlock *lock, int64_t timeout_ms, pdk_acquired_fn fn, void *user,
                                          pdk_claim **out) {
    return rwlock_acquire_async(lock, false, timeout_ms, "pdk_rwlock_acquire_write_async", fn, user, out);
}

/* Under the monitor. */
static pdk_status rwlock_downgrade(pdk_hold *hold) {
    pdk__assert_locked(hold->s);
    static const char call[] = "pdk_hold_downgrade";
    enum pdk__label label = hold->queue->kind.entry.label;
    if (label != PDK__LABEL_READ && label != PDK__LABEL_WRITE)
        return pdk__fail(PDK_INVALID, "%s: hold: it is not one of a read/write lock", call);
    if (hold->loss.released)
        return pdk__fail(PDK_NOT_HELD, "%s: %s: released", call, hold->node);
    if (!pdk_hold_is_valid(hold))
        return pdk__fail(PDK_LOST, "%s: %s: lost", call, hold->node);
    if (hold->grant->shared)
        return pdk__fail(PDK_INVALID, "%s: %s: it is shared already", call, hold->node);
    struct pdk__entry_kind reader = hold->queue->kind.entry;
    reader.label = PDK__LABEL_READ;
    if (pdk__grant_downgrade(hold->grant, &reader) != PDK_OK)
        return pdk__fail(PDK_LIMIT, "%s: %s: this session has too many nodes; it stays exclusive", call, hold->node);
    return PDK_OK;
}

pdk_status pdk_hold_downgrade(pdk_hold *hold) {
    if (!hold)
        return pdk__fail(PDK_INVALID, "pdk_hold_downgrade: hold: NULL");
    if (hold->s->forks != pdk__forks())
        return pdk__fail(PDK_FORKED, "pdk_hold_downgrade: the hold belongs to the parent process");
    pdk__lock(hold->s);
    pdk_status status = rwlock_downgrade(hold);
    pdk__unlock(hold->s);
    return status;
}

static struct pdk__listing rwlock_listing(const pdk_rwlock *lock, const char *call, int64_t timeout_ms) {
    const struct pdk__queue *queue = lock->writers;
    return (struct pdk__listing){queue->s, call, queue->dir, PDK__WRITER, false, timeout_ms};
}

pdk_status pdk_rwlock_list(pdk_rwlock *lock, int64_t timeout_ms, pdk_contenders **out) {
    static const char call[] = "pdk_rwlock_list";
    if (!lock)
        return pdk__fail(PDK_INVALID, "%s: lock: NULL", call);
    struct pdk__listing of = rwlock_listing(lock, call, timeout_ms);
    return pdk__contenders_list(&of, out);
}

pdk_status pdk_rwlock_list_async(pdk_rwlock *lock, int64_t timeout_ms, pdk_contenders_fn fn, void *user) {
    static const char call[] = "pdk_rwlock_list_async";
    if (!lock)
        return pdk__fail(PDK_INVALID, "%s: lock: NULL", call);
    struct pdk__listing of = rwlock_listing(lock, call, timeout_ms);
    return pdk__contenders_list_async(&of, fn, user);
}

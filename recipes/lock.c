/* The lock.
 *
 *     /locks/orders                         a queue of nodes, the lowest sequence first
 *        ├─ _c_…-lock-0000000007   held     admitted: nobody ahead
 *        ├─ _c_…-lock-0000000008   waits    watches …7
 *        └─ _c_…-lock-0000000009   waits    watches …8
 *
 * Rule: everybody ahead blocks. The contender (core/contender.h), the queue and the hold do the rest.
 */
#include "base/fork.h"
#include "base/text.h"
#include "grant/claim.h"
#include "grant/contenders.h"
#include "grant/recipe.h"
#include "lock_delay.h"
#include "queues.h"
#include "session/options.h"

#include <paddock/lock.h>

/* The size of the first version of the struct. Never changes. */
#define OPTIONS_FIRST_SIZE (offsetof(pdk_lock_options, reentrant) + sizeof(int32_t))

struct pdk_lock {
    atomic_uint refs;
    struct pdk__queue *queue;
};

pdk_status pdk_lock_options_init(pdk_lock_options *options, size_t size) {
    static const pdk_lock_options defaults = PDK_LOCK_OPTIONS_INIT;
    return pdk__options_init("pdk_lock_options_init", options, size, &defaults, sizeof defaults, OPTIONS_FIRST_SIZE);
}

/* A node that lingers with a pledge would cost others the delay, if its process died, though nobody held it. */
static pdk_status lock_read_linger(const pdk_lock_options *o, struct pdk__handovers *handovers) {
    if (o->linger_ms < 0)
        return pdk__fail(PDK_INVALID, "options: linger_ms is %d; 0 or more", o->linger_ms);
    if (o->linger_ms > 0 && o->lock_delay_ms > 0)
        return pdk__fail(PDK_INVALID, "options: linger_ms is %d, and lock_delay_ms %d; one of them has to be 0",
                         o->linger_ms, o->lock_delay_ms);
    handovers->max_linger = o->linger_ms * PDK__MS;
    return PDK_OK;
}

static pdk_status lock_read_options(const pdk_lock_options *given, pdk_lock_options *o, struct pdk__queue_kind *kind,
                                    struct pdk__handovers *handovers) {
    pdk_status status = pdk__options_read("options", given, o, sizeof *o, OPTIONS_FIRST_SIZE);
    if (status != PDK_OK)
        return status;
    status = pdk__recipe_check_naming(o->naming);
    if (status != PDK_OK)
        return status;
    status = pdk__recipe_handovers(o->max_handovers, o->max_handover_ms, handovers);
    if (status != PDK_OK)
        return status;
    status = pdk__recipe_check_reentrant(o->reentrant);
    if (status != PDK_OK)
        return status;
    status = pdk__recipe_check_identity(o->identity);
    if (status != PDK_OK)
        return status;
    status = pdk__lock_delay_check(o->lock_delay_ms);
    if (status != PDK_OK)
        return status;
    status = lock_read_linger(o, handovers);
    if (status != PDK_OK)
        return status;
    *kind = (struct pdk__queue_kind){
        .entry = {pdk__recipe_profile(o->naming), PDK__LABEL_LOCK, {pdk__blocks_always, 0}, false},
        .recipe = "lock",
        .mode = "exclusive",
        .reacquire = o->reentrant ? PDK__REACQUIRE_NESTS : PDK__REACQUIRE_DEADLOCKS,
    };
    return PDK_OK;
}

pdk_status pdk_lock_new(pdk_session *session, const char *path, const pdk_lock_options *options, pdk_lock **out) {
    pdk_lock_options o = PDK_LOCK_OPTIONS_INIT;
    struct pdk__queue_kind kind;
    struct pdk__handovers handovers;
    pdk_status status = pdk__recipe_check(session, path, out, "pdk_lock_new");
    if (status != PDK_OK)
        return status;
    status = lock_read_options(options, &o, &kind, &handovers);
    if (status != PDK_OK)
        return status;
    pdk_lock *lock = g_new0(pdk_lock, 1);
    atomic_init(&lock->refs, 1);
    lock->queue = pdk__queue_new(session, path, &kind, handovers);
    lock->queue->data = g_strdup(o.identity);
    pdk__lock_delay_keep(lock->queue, o.lock_delay_ms);
    *out = lock;
    return PDK_OK;
}

struct pdk__queue *pdk__lock_queue(const pdk_lock *lock) { return lock->queue; }

pdk_lock *pdk_lock_ref(pdk_lock *lock) {
    if (lock)
        atomic_fetch_add(&lock->refs, 1);
    return lock;
}

void pdk_lock_unref(pdk_lock *lock) {
    if (!lock || lock->queue->s->forks != pdk__forks() || atomic_fetch_sub(&lock->refs, 1) != 1)
        return;
    pdk__queue_close(lock->queue, "the lock was dropped");
    g_free(lock);
}

pdk_status pdk_lock_acquire(pdk_lock *lock, int64_t timeout_ms, pdk_hold **out) {
    if (!lock || !out)
        return pdk__fail(PDK_INVALID, "pdk_lock_acquire: %s: NULL", lock ? "out" : "lock");
    return pdk__claim_wait(lock->queue, 1, timeout_ms, "pdk_lock_acquire", out);
}

pdk_status pdk_lock_acquire_async(pdk_lock *lock, int64_t timeout_ms, pdk_acquired_fn fn, void *user, pdk_claim **out) {
    if (!lock || !fn)
        return pdk__fail(PDK_INVALID, "pdk_lock_acquire_async: %s: NULL", lock ? "fn" : "lock");
    return pdk__claim_start(lock->queue, 1, timeout_ms, "pdk_lock_acquire_async", fn, user, out);
}

/* ---- the holder, and the waiters */

static struct pdk__listing lock_listing(const pdk_lock *lock, const char *call, bool holder_only, int64_t timeout_ms) {
    const struct pdk__queue *queue = lock->queue;
    return (struct pdk__listing){queue->s, call, queue->dir, PDK__WRITER, holder_only, timeout_ms};
}

static pdk_status lock_refuse_null(const char *call) { return pdk__fail(PDK_INVALID, "%s: lock: NULL", call); }

pdk_status pdk_lock_list(pdk_lock *lock, int64_t timeout_ms, pdk_contenders **out) {
    static const char call[] = "pdk_lock_list";
    if (!lock)
        return lock_refuse_null(call);
    struct pdk__listing of = lock_listing(lock, call, false, timeout_ms);
    return pdk__contenders_list(&of, out);
}

pdk_status pdk_lock_holder(pdk_lock *lock, int64_t timeout_ms, pdk_contenders **out) {
    static const char call[] = "pdk_lock_holder";
    if (!lock)
        return lock_refuse_null(call);
    struct pdk__listing of = lock_listing(lock, call, true, timeout_ms);
    return pdk__contenders_list(&of, out);
}

pdk_status pdk_lock_list_async(pdk_lock *lock, int64_t timeout_ms, pdk_contenders_fn fn, void *user) {
    static const char call[] = "pdk_lock_list_async";
    if (!lock)
        return lock_refuse_null(call);
    struct pdk__listing of = lock_listing(lock, call, false, timeout_ms);
    return pdk__contenders_list_async(&of, fn, user);
}

pdk_status pdk_lock_holder_async(pdk_lock *lock, int64_t timeout_ms, pdk_contenders_fn fn, void *user) {
    static const char call[] = "pdk_lock_holder_async";
    if (!lock)
        return lock_refuse_null(call);
    struct pdk__listing of = lock_listing(lock, call, true, timeout_ms);
    return pdk__contenders_list_async(&of, fn, user);
}

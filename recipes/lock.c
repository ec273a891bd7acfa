/* The lock.
 *
 *     /locks/orders                         a line of nodes, the lowest sequence first
 *        ├─ _c_…-lock-0000000007   held     admitted: nobody ahead
 *        ├─ _c_…-lock-0000000008   waits    watches …7
 *        └─ _c_…-lock-0000000009   waits    watches …8
 *
 * Rule: everybody ahead blocks. The rest is the contender's (core/contender.h), the line's and the hold's.
 */
#include "claim.h"
#include "contenders.h"
#include "core/paths.h"
#include "fork.h"
#include "hold.h"
#include "session/options.h"
#include "text.h"

#include <paddock/lock.h>
#include <string.h>

/* The size of the first version of the struct. Never changes. */
#define OPTIONS_FIRST_SIZE (offsetof(pdk_lock_options, reserved) + sizeof(int32_t))

struct pdk_lock {
    atomic_uint refs;
    struct pdk__line *line;
};

static pdk_status check_options(const pdk_lock_options *o) {
    if (o->naming != PDK_NAMING_CURATOR && o->naming != PDK_NAMING_KAZOO)
        return pdk__fail(PDK_INVALID, "options: naming is %d; PDK_NAMING_CURATOR or PDK_NAMING_KAZOO", o->naming);
    if (o->max_handovers < 0 || o->max_handover_ms < 0)
        return pdk__fail(PDK_INVALID, "options: max_handovers or max_handover_ms is negative; 0 or more");
    if (o->reserved != 0)
        return pdk__fail(PDK_INVALID, "options: reserved is not 0");
    return PDK_OK;
}

pdk_status pdk_lock_new(pdk_session *session, const char *path, const pdk_lock_options *given, pdk_lock **out) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    if (!session || !path || !out)
        return pdk__fail(PDK_INVALID, "pdk_lock_new: %s: NULL", !session ? "session" : !path ? "path" : "out");
    if (session->forks != pdk__forks())
        return pdk__fail(PDK_FORKED,
                         "pdk_lock_new: the session belongs to the parent process; open one after the fork");
    const char *wrong = pdk__path_error(path, strlen(session->hosts->chroot));
    if (wrong)
        return pdk__fail(PDK_INVALID, "path: %s", wrong);
    pdk_status status = pdk__options_read("options", given, &options, sizeof options, OPTIONS_FIRST_SIZE);
    if (status == PDK_OK)
        status = check_options(&options);
    if (status != PDK_OK)
        return status;
    pdk__lock(session);
    status = pdk__session_usable(session, "pdk_lock_new");
    pdk__unlock(session);
    if (status != PDK_OK)
        return status;

    struct pdk__turns turns;
    pdk__turns_init(&turns, (uint32_t)options.max_handovers, options.max_handover_ms * PDK__MS);
    pdk_lock *lock = g_new0(pdk_lock, 1);
    atomic_init(&lock->refs, 1);
    lock->line = pdk__line_new(session, path, options.naming == PDK_NAMING_KAZOO ? PDK__KAZOO : PDK__CURATOR,
                               pdk__blocks_always, "exclusive", turns);
    *out = lock;
    return PDK_OK;
}

pdk_lock *pdk_lock_ref(pdk_lock *lock) {
    if (lock)
        atomic_fetch_add(&lock->refs, 1);
    return lock;
}

void pdk_lock_unref(pdk_lock *lock) {
    if (!lock || lock->line->s->forks != pdk__forks() || atomic_fetch_sub(&lock->refs, 1) != 1)
        return;
    struct pdk__line *line = lock->line;
    pdk__lock(line->s);
    pdk__line_fail(line, PDK_CANCELED, "the lock was dropped");
    pdk__line_advance(line);
    pdk__unlock(line->s);
    pdk__line_unref(line);
    g_free(lock);
}

pdk_status pdk_lock_acquire(pdk_lock *lock, int64_t timeout_ms, pdk_hold **out) {
    if (!lock || !out)
        return pdk__fail(PDK_INVALID, "pdk_lock_acquire: %s: NULL", lock ? "out" : "lock");
    return pdk__claim_wait(lock->line, timeout_ms, "pdk_lock_acquire", out);
}

pdk_status pdk_lock_acquire_async(pdk_lock *lock, int64_t timeout_ms, pdk_acquired_fn fn, void *user, pdk_claim **out) {
    if (!lock || !fn)
        return pdk__fail(PDK_INVALID, "pdk_lock_acquire_async: %s: NULL", lock ? "fn" : "lock");
    return pdk__claim_start(lock->line, timeout_ms, "pdk_lock_acquire_async", fn, user, out);
}

pdk_status pdk_lock_contenders(pdk_lock *lock, int64_t timeout_ms, pdk_contenders **out) {
    if (!lock || !out)
        return pdk__fail(PDK_INVALID, "pdk_lock_contenders: %s: NULL", lock ? "out" : "lock");
    return pdk__contenders_query(lock->line, timeout_ms, "pdk_lock_contenders", false, out);
}

pdk_status pdk_lock_holder(pdk_lock *lock, int64_t timeout_ms, pdk_contenders **out) {
    if (!lock || !out)
        return pdk__fail(PDK_INVALID, "pdk_lock_holder: %s: NULL", lock ? "out" : "lock");
    return pdk__contenders_query(lock->line, timeout_ms, "pdk_lock_holder", true, out);
}

/* The semaphore, a composition: a queue, and the leases that are counted.
 *
 *     <path>/locks                                <path>/leases                 (data: the number of permits, here 2)
 *        ├─ _c_…-lock-0000000041  admitted: ───────► watches the children (semaphore_admission.c)
 *        ├─ _c_…-lock-0000000042  watches …41        ├─ _c_…-lease-0000000107   held
 *        └─ _c_…-lock-0000000043  watches …42        └─ _c_…-lease-0000000108   held
 *
 * There are two rules. In the queue, everybody ahead blocks: this makes the semaphore fair, and only one contender
 * waits for the leases. A lease is admitted with fewer than `permits` ahead of it: this bounds the number of holders on
 * its own, whatever happens to the queue.
 */
#include "base/fork.h"
#include "base/text.h"
#include "core/paths.h"
#include "grant/claim.h"
#include "grant/contenders.h"
#include "grant/recipe.h"
#include "queues.h"
#include "semaphore_admission.h"
#include "session/options.h"

#include <paddock/semaphore.h>
#include <string.h>

/* The size of the first version of the struct. Never changes. */
#define OPTIONS_FIRST_SIZE (offsetof(pdk_semaphore_options, max_handover_ms) + sizeof(int32_t))

#define LOCKS "/" PDK__LOCKS
#define LEASES "/" PDK__LEASES

struct pdk_semaphore {
    atomic_uint refs;
    struct pdk__queue *queue;
};

pdk_status pdk_semaphore_options_init(pdk_semaphore_options *options, size_t size) {
    static const pdk_semaphore_options defaults = PDK_SEMAPHORE_OPTIONS_INIT;
    return pdk__options_init("pdk_semaphore_options_init", options, size, &defaults, sizeof defaults,
                             OPTIONS_FIRST_SIZE);
}

int32_t pdk_semaphore_permits_max(void) { return PDK_SEMAPHORE_PERMITS_MAX; }
int32_t pdk_semaphore_count_max(void) { return PDK_SEMAPHORE_COUNT_MAX; }

static struct pdk__permits *permits_of(const pdk_semaphore *semaphore) { return semaphore->queue->user; }

static void permits_free(void *user) {
    struct pdk__permits *permits = user;
    g_free(permits->leases);
    g_free(permits);
}

static struct pdk__queue *semaphore_make_queue(pdk_session *session, const char *path, int32_t count,
                                               struct pdk__handovers handovers) {
    static const struct pdk__queue_kind kind = {
        .entry = {PDK__CURATOR, PDK__LABEL_LOCK, {pdk__blocks_always, 0}, false},
        .recipe = "semaphore",
        .mode = "permit",
        .shared = true,
        .reacquire = PDK__REACQUIRE_QUEUES,
    };
    char *locks = g_strconcat(path, LOCKS, NULL);
    struct pdk__queue *queue = pdk__queue_new(session, locks, &kind, handovers);
    struct pdk__permits *permits = g_new0(struct pdk__permits, 1);
    permits->permits = count;
    permits->leases = g_strconcat(session->hosts->chroot, path, LEASES, NULL);
    queue->gate = &pdk__permits_gate;
    queue->user = permits;
    queue->user_free = permits_free;
    g_free(locks);
    return queue;
}

/* Is there room in a path for its directories? */
static pdk_status semaphore_check_room(const pdk_session *session, const char *path) {
    size_t room = PDK__PATH_MAX - strlen(LEASES);
    if (strlen(session->hosts->chroot) + strlen(path) <= room)
        return PDK_OK;
    return pdk__fail(PDK_INVALID, "path: is longer than %zu bytes, chroot included: the leases stand below it", room);
}

static pdk_status semaphore_read_options(const pdk_semaphore_options *given, pdk_semaphore_options *o,
                                         struct pdk__handovers *handovers) {
    pdk_status status = pdk__options_read("options", given, o, sizeof *o, OPTIONS_FIRST_SIZE);
    if (status != PDK_OK)
        return status;
    status = pdk__recipe_handovers(o->max_handovers, o->max_handover_ms, handovers);
    return status == PDK_OK ? pdk__recipe_check_identity(o->identity) : status;
}

pdk_status pdk_semaphore_new(pdk_session *session, const char *path, int32_t permits,
                             const pdk_semaphore_options *options, pdk_semaphore **out) {
    pdk_semaphore_options o = PDK_SEMAPHORE_OPTIONS_INIT;
    struct pdk__handovers handovers;
    pdk_status status = pdk__recipe_check(session, path, out, "pdk_semaphore_new");
    if (status != PDK_OK)
        return status;
    status = semaphore_check_room(session, path);
    if (status != PDK_OK)
        return status;
    if (permits < 1 || permits > PDK_SEMAPHORE_PERMITS_MAX)
        return pdk__fail(PDK_INVALID, "pdk_semaphore_new: permits is %d; from 1 to %d", permits,
                         PDK_SEMAPHORE_PERMITS_MAX);
    status = semaphore_read_options(options, &o, &handovers);
    if (status != PDK_OK)
        return status;
    pdk_semaphore *semaphore = g_new0(pdk_semaphore, 1);
    atomic_init(&semaphore->refs, 1);
    semaphore->queue = semaphore_make_queue(session, path, permits, handovers);
    semaphore->queue->data = g_strdup(o.identity);
    *out = semaphore;
    return PDK_OK;
}

struct pdk__queue *pdk__semaphore_queue(const pdk_semaphore *semaphore) { return semaphore->queue; }

char *pdk__semaphore_path(const pdk_semaphore *semaphore) {
    return g_strndup(semaphore->queue->dir, strlen(semaphore->queue->dir) - strlen(LOCKS));
}

pdk_semaphore *pdk_semaphore_ref(pdk_semaphore *semaphore) {
    if (semaphore)
        atomic_fetch_add(&semaphore->refs, 1);
    return semaphore;
}

void pdk_semaphore_unref(pdk_semaphore *semaphore) {
    if (!semaphore || semaphore->queue->s->forks != pdk__forks() || atomic_fetch_sub(&semaphore->refs, 1) != 1)
        return;
    pdk__queue_close(semaphore->queue, "the semaphore was dropped");
    g_free(semaphore);
}

pdk_status pdk__semaphore_check_count(const pdk_semaphore *semaphore, int32_t count, const char *call) {
    int32_t permits = permits_of(semaphore)->permits;
    if (count >= 1 && count <= permits && count <= PDK_SEMAPHORE_COUNT_MAX)
        return PDK_OK;
    char *path = pdk__semaphore_path(semaphore);
    pdk_status status = pdk__fail(PDK_INVALID, "%s: %s: count is %d; from 1 to %d", call, path, count,
                                  MIN(permits, PDK_SEMAPHORE_COUNT_MAX));
    g_free(path);
    return status;
}

pdk_status pdk_semaphore_acquire(pdk_semaphore *semaphore, int32_t count, int64_t timeout_ms, pdk_hold **out) {
    static const char call[] = "pdk_semaphore_acquire";
    if (!semaphore || !out)
        return pdk__fail(PDK_INVALID, "%s: %s: NULL", call, semaphore ? "out" : "semaphore");
    pdk_status status = pdk__semaphore_check_count(semaphore, count, call);
    return status == PDK_OK ? pdk__claim_wait(semaphore->queue, count, timeout_ms, call, out) : status;
}

pdk_status pdk_semaphore_acquire_async(pdk_semaphore *semaphore, int32_t count, int64_t timeout_ms, pdk_acquired_fn fn,
                                       void *user, pdk_claim **out) {
    static const char call[] = "pdk_semaphore_acquire_async";
    if (!semaphore || !fn)
        return pdk__fail(PDK_INVALID, "%s: %s: NULL", call, semaphore ? "fn" : "semaphore");
    pdk_status status = pdk__semaphore_check_count(semaphore, count, call);
    return status == PDK_OK ? pdk__claim_start(semaphore->queue, count, timeout_ms, call, fn, user, out) : status;
}

static struct pdk__listing semaphore_listing(const pdk_semaphore *semaphore, const char *call, int64_t timeout_ms) {
    return (struct pdk__listing){semaphore->queue->s, call,  permits_of(semaphore)->leases,
                                 PDK__LEASE,          false, timeout_ms};
}

pdk_status pdk_semaphore_holders(pdk_semaphore *semaphore, int64_t timeout_ms, pdk_contenders **out) {
    static const char call[] = "pdk_semaphore_holders";
    if (!semaphore)
        return pdk__fail(PDK_INVALID, "%s: semaphore: NULL", call);
    struct pdk__listing of = semaphore_listing(semaphore, call, timeout_ms);
    return pdk__contenders_list(&of, out);
}

pdk_status pdk_semaphore_holders_async(pdk_semaphore *semaphore, int64_t timeout_ms, pdk_contenders_fn fn, void *user) {
    static const char call[] = "pdk_semaphore_holders_async";
    if (!semaphore)
        return pdk__fail(PDK_INVALID, "%s: semaphore: NULL", call);
    struct pdk__listing of = semaphore_listing(semaphore, call, timeout_ms);
    return pdk__contenders_list_async(&of, fn, user);
}

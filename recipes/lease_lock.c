/* The lease lock. core/lease_lock.h has the record and the rule, record.h the order of the requests.
 *
 *     /locks/vm-7
 *        ├─ lock                                    a lock: who holds, and who waits while a holder lives
 *        │    └─ _c_…-lock-0000000007
 *        └─ record                                  "paddock-lease 1\nH 4294967301 60000 9f86d0… planner-1\n"
 *
 * Rule: who has the lock takes the record if it is nobody's, if it has ended by the servers' clock, or if it has the secret. Otherwise
 * it lets the lock go again, so that who has the secret can come, and reads the record until it changes or ends.
 * The lock keeps two holds apart; the record keeps others out while there is no hold.
 */
#include "lease_lock.h"

#include "base/fork.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "core/paths.h"
#include "grant/claim.h"
#include "grant/recipe.h"
#include "session/blocking.h"
#include "session/options.h"
#include "session/query.h"

#include <string.h>

/* The size of the first version of the struct. Never changes. */
#define OPTIONS_FIRST_SIZE (offsetof(pdk_lease_lock_options, identity) + sizeof(const char *))
/* Who waits for the end of a record looks at it so often. */
#define LOOK_NS (1000 * PDK__MS)

enum { ROOM = PDK__PATH_MAX - 12, SECRET_LEAST = 16, SECRET_MOST = 1024, DURATION_LEAST = 1000 };

struct pdk_lease_lock {
    atomic_uint refs;              /* the caller's */
    atomic_uint uses;              /* one for all of those, and one for each call that acquires */
    struct pdk__queue *queue;      /* of the lock; a reference */
    char *record;                  /* its path, chroot included */
    struct pdk__lease_record mine; /* but for the token */
};

static const char dropped[] = "the lease lock was dropped";
static const char acquire_name[] = "pdk_lease_lock_acquire", release_name[] = "pdk_lease_lock_release";

/* ---- the object */

pdk_status pdk_lease_lock_options_init(pdk_lease_lock_options *options, size_t size) {
    static const pdk_lease_lock_options defaults = PDK_LEASE_LOCK_OPTIONS_INIT;
    return pdk__options_init("pdk_lease_lock_options_init", options, size, &defaults, sizeof defaults,
                             OPTIONS_FIRST_SIZE);
}

static pdk_status read_options(const pdk_lease_lock_options *given, pdk_lease_lock_options *o) {
    pdk_status status = pdk__options_read("options", given, o, sizeof *o, OPTIONS_FIRST_SIZE);
    size_t length = o->secret ? strnlen(o->secret, SECRET_MOST + 1) : 0;
    if (status == PDK_OK && (o->duration_ms < DURATION_LEAST || o->duration_ms > PDK__JOB_LONGEST))
        status = pdk__fail(PDK_INVALID, "options: duration_ms is %lld; from %d to %lld", (long long)o->duration_ms,
                           DURATION_LEAST, (long long)PDK__JOB_LONGEST);
    if (status == PDK_OK && (length < SECRET_LEAST || length > SECRET_MOST))
        status =
            pdk__fail(PDK_INVALID, "options: secret has %zu bytes; from %d to %d", length, SECRET_LEAST, SECRET_MOST);
    return status == PDK_OK ? pdk__recipe_check_identity(o->identity) : status;
}

/* The same secret at two paths has two digests. */
static void digest_of(const char *path, const char *secret, char digest[PDK__LEASE_LOCK_DIGEST]) {
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(sum, (const guchar *)path, (gssize)strlen(path) + 1);
    g_checksum_update(sum, (const guchar *)secret, (gssize)strlen(secret));
    g_strlcpy(digest, g_checksum_get_string(sum), PDK__LEASE_LOCK_DIGEST);
    g_checksum_free(sum);
}

static pdk_lease_lock *lease_lock_new(pdk_session *session, const char *path, const pdk_lease_lock_options *o) {
    static const struct pdk__queue_kind kind = {
        .entry = {PDK__CURATOR, PDK__LABEL_LOCK, {pdk__blocks_always, 0}, false},
        .mode = "exclusive",
        .recipe = "lease_lock",
        .reacquire = PDK__REACQUIRE_DEADLOCKS,
    };
    struct pdk__handovers none; /* each hold has a token of its own */
    pdk__handovers_init(&none, 0, 0);
    pdk_lease_lock *lock = g_new0(pdk_lease_lock, 1);
    char *below = g_strconcat(path, "/lock", NULL);
    atomic_init(&lock->refs, 1);
    atomic_init(&lock->uses, 1);
    lock->queue = pdk__queue_new(session, below, &kind, none);
    lock->queue->data = g_strdup(o->identity);
    lock->record = g_strconcat(session->hosts->chroot, path, "/record", NULL);
    lock->mine.state = 'H';
    lock->mine.duration = o->duration_ms;
    digest_of(lock->record, o->secret, lock->mine.digest);
    pdk__job_name(o->identity ? o->identity : session->identity, lock->mine.who);
    g_free(below);
    return lock;
}

pdk_status pdk_lease_lock_new(pdk_session *session, const char *path, const pdk_lease_lock_options *options,
                              pdk_lease_lock **out) {
    pdk_lease_lock_options o = PDK_LEASE_LOCK_OPTIONS_INIT;
    pdk_status status = pdk__recipe_check(session, path, out, "pdk_lease_lock_new");
    if (status == PDK_OK && strlen(session->hosts->chroot) + strlen(path) > ROOM)
        status =
            pdk__fail(PDK_INVALID, "path: is longer than %d bytes, chroot included: the record stands below it", ROOM);
    if (status == PDK_OK)
        status = read_options(options, &o);
    if (status == PDK_OK)
        *out = lease_lock_new(session, path, &o);
    return status;
}

static void end_use(void *user) {
    pdk_lease_lock *lock = user;
    if (atomic_fetch_sub(&lock->uses, 1) != 1)
        return;
    pdk__queue_unref(lock->queue);
    g_free(lock->record);
    g_free(lock);
}

pdk_lease_lock *pdk_lease_lock_ref(pdk_lease_lock *lock) {
    if (lock)
        atomic_fetch_add(&lock->refs, 1);
    return lock;
}

void pdk_lease_lock_unref(pdk_lease_lock *lock) {
    if (!lock || lock->queue->s->forks != pdk__forks() || atomic_fetch_sub(&lock->refs, 1) != 1)
        return;
    pdk_session *s = lock->queue->s;
    pdk__queue_close(pdk__queue_ref(lock->queue), dropped);
    pdk__lock(s);
    pdk__wake(&s->on_link); /* who waits for the end of the record */
    pdk__unlock(s);
    end_use(lock);
}

/* ---- the record */

static pdk_status read_record(const char *name, const char *path, const char *data, size_t size,
                              struct pdk__lease_record *record) {
    enum pdk__record_kind kind = pdk__lease_record_parse(data, size, record);
    if (kind == PDK__RECORD_NEWER)
        return pdk__fail(PDK_UNSUPPORTED, "%s: %s: the record is of a later version of Paddock; use that one here, too",
                         name, path);
    if (kind == PDK__RECORD_FOREIGN)
        return pdk__fail(
            PDK_DAMAGED,
            "%s: %s: this is no record of a lease lock, or was damaged: look at its data. Deleting it forgets "
            "for whom the lock stands: somebody else may take it; do it while nobody holds",
            name, path);
    return PDK_OK;
}

static GBytes *text_of(const struct pdk__lease_record *record) {
    char text[PDK__LEASE_LOCK_SIZE];
    return g_bytes_new(text, pdk__lease_record_write(record, text));
}

/* ---- acquiring */

/* A call, on its thread's stack. */
struct taking {
    pdk_lease_lock *lock;
    pdk_hold *hold;
    int64_t deadline;
    bool is_try;
    struct pdk__lease_record mine;
    /* Where it stands: */
    int64_t written; /* the moment of its last write */
    int64_t ends;    /* when it ends at the latest, by our clock */
};

static pdk_status take(void *user, const struct pdk__record_seen *seen, GBytes **next) {
    struct taking *t = user;
    struct pdk__lease_record found;
    pdk_status status = read_record(acquire_name, t->lock->record, seen->data, seen->size, &found);
    if (status != PDK_OK)
        return status;
    switch (pdk__lease_judge(&found, seen->mtime_ms, seen->now_ms, &t->mine)) {
    case PDK__LEASE_TAKE:
        *next = text_of(&t->mine);
        return PDK_OK;
    case PDK__LEASE_STANDS: /* no longer than its duration from now on: it was written before it was read */
        t->written = seen->mtime_ms;
        t->ends = pdk__now(t->hold->s) + MIN(seen->mtime_ms + found.duration - seen->now_ms, found.duration) * PDK__MS;
        return pdk__fail(PDK_BUSY, "%s: %s: it stands for %s until %lld", acquire_name, t->lock->record, found.who,
                         (long long)seen->mtime_ms + found.duration);
    case PDK__LEASE_OVERTAKEN:
        return pdk__fail(PDK_LOST, "%s: %s: another one came after this hold", acquire_name, t->lock->record);
    case PDK__LEASE_OURS:
        break;
    }
    return PDK_OK; /* the answer was lost */
}

static void drop_hold(void *hold) { pdk_hold_unref(hold); }

static pdk_status begin_tenure(struct taking *t, int64_t handed) {
    pdk_session *s = t->hold->s;
    pdk__lock(s);
    bool lives = pdk_hold_is_valid(t->hold) && !t->hold->ended;
    if (lives)
        pdk__tenure_begin(t->hold, t->lock->record, &t->mine, handed);
    pdk__unlock(s);
    if (lives && pdk_hold_is_valid(t->hold))
        return PDK_OK;
    return pdk__fail(PDK_LOST, "%s: %s: the hold is lost", acquire_name, t->lock->record);
}

/* It has the lock. BUSY: the record stands. */
static pdk_status take_record(struct taking *t) {
    struct pdk__record_call call = {.name = acquire_name,
                                    .path = t->lock->record,
                                    .hold = t->hold,
                                    .deadline = t->deadline,
                                    .edit = take,
                                    .user = t};
    struct pdk__leave leave = {.after = drop_hold, .user = t->hold};
    t->mine.token = t->hold->token;
    pdk__leave_push(&leave);
    pdk_status status = pdk__record_change(&call);
    pdk__leave_pop();
    if (status == PDK_OK)
        status = begin_tenure(t, call.handed);
    if (status != PDK_OK)
        pdk_hold_unref(g_steal_pointer(&t->hold));
    return status;
}

/* Has the record that stands been written since? Under the monitor. */
static bool has_changed(const struct taking *t) {
    pdk_session *s = t->lock->queue->s;
    struct pdk__record_node node = {0};
    pdk_status status = pdk__record_get(s, t->lock->record, MIN(t->deadline, pdk__now(s) + LOOK_NS), &node);
    bool changed = status == PDK_OK && (!node.exists || node.mtime_ms != t->written);
    g_bytes_unref(node.data);
    return changed || status == PDK_NO_PERMISSION; /* the next call says so */
}

/* OK: it is worth another claim. */
static pdk_status await_end(struct taking *t) {
    const struct pdk__queue *queue = t->lock->queue;
    pdk_session *s = queue->s;
    pdk_status status = PDK_OK;
    struct pdk__leave leave = {0};
    pdk__leave_push(&leave);
    pdk__lock(s);
    while (status == PDK_OK && pdk__now(s) < t->ends && !has_changed(t)) {
        int64_t next = MIN(pdk__now(s) + LOOK_NS, MIN(t->ends, t->deadline));
        while (s->ended == PDK_OK && !queue->shut && !pdk__interrupted() && pdk__wait(s, &s->on_link, next))
            ;
        status = pdk__session_usable(s, acquire_name);
        if (status == PDK_OK && pdk__interrupted())
            status = pdk__fail(PDK_CANCELED, "%s: %s: " PDK__INTERRUPTED, acquire_name, t->lock->record);
        if (status == PDK_OK && queue->shut)
            status = pdk__fail(PDK_CANCELED, "%s: %s: %s", acquire_name, t->lock->record, dropped);
        if (status == PDK_OK && pdk__now(s) >= t->deadline)
            status = pdk__fail(PDK_TIMEOUT, "%s: %s: it stands for another", acquire_name, t->lock->record);
    }
    pdk__unlock(s);
    pdk__leave_pop();
    return status;
}

static int64_t left_ms(const struct taking *t) {
    if (t->is_try || t->deadline == INT64_MAX)
        return t->is_try ? 0 : PDK_FOREVER;
    return MAX((t->deadline - pdk__now(t->lock->queue->s) + PDK__MS - 1) / PDK__MS, 1);
}

/* Who has waited in line knows a moment that is long over, and would wait too long. Its next claim has a new lock node. */
static pdk_status acquire(struct taking *t) {
    pdk_session *s = t->lock->queue->s;
    for (;;) {
        int64_t began = pdk__now(s);
        pdk_status status = pdk__claim_wait(t->lock->queue, 1, left_ms(t), acquire_name, &t->hold);
        if (status != PDK_OK)
            return status;
        bool in_line = pdk__now(s) - began >= LOOK_NS;
        status = take_record(t);
        if (status != PDK_BUSY || t->is_try)
            return status;
        status = in_line ? PDK_OK : await_end(t);
        if (status != PDK_OK)
            return status;
    }
}

pdk_status pdk_lease_lock_acquire(pdk_lease_lock *lock, int64_t timeout_ms, pdk_hold **out) {
    if (!lock || !out)
        return pdk__fail(PDK_INVALID, "%s: %s: NULL", acquire_name, lock ? "out" : "lock");
    pdk_session *s = lock->queue->s;
    pdk_status status = pdk__may_block(s, acquire_name, timeout_ms);
    if (status != PDK_OK)
        return status;
    struct taking t = {.lock = lock, .is_try = timeout_ms == 0, .mine = lock->mine};
    t.deadline = pdk__deadline(s, t.is_try ? 2 * (int64_t)s->request_timeout_ms : timeout_ms);
    struct pdk__leave leave = {.after = end_use, .user = lock};
    atomic_fetch_add(&lock->uses, 1);
    pdk__leave_push(&leave);
    status = acquire(&t);
    pdk__leave_pop();
    end_use(lock);
    if (status == PDK_OK)
        *out = t.hold;
    return status;
}

/* ---- giving it up */

static pdk_status give_up(void *user, const struct pdk__record_seen *seen, GBytes **next) {
    const struct taking *t = user;
    struct pdk__lease_record found, free = {.state = 'N', .token = t->mine.token};
    pdk_status status = read_record(release_name, t->lock->record, seen->data, seen->size, &found);
    if (status != PDK_OK)
        return status;
    if (found.token != t->mine.token)
        return pdk__fail(PDK_REPLACED, "%s: %s: it is not this hold's any more", release_name, t->lock->record);
    if (found.state == 'H')
        *next = text_of(&free);
    return PDK_OK;
}

pdk_status pdk_lease_lock_release(pdk_lease_lock *lock, pdk_hold *hold, int64_t timeout_ms) {
    if (!lock || !hold)
        return pdk__fail(PDK_INVALID, "%s: %s: NULL", release_name, lock ? "hold" : "lock");
    pdk_session *s = lock->queue->s;
    pdk_status status = pdk__may_block(s, release_name, timeout_ms);
    if (status == PDK_OK && hold->queue != lock->queue)
        status = pdk__fail(PDK_INVALID, "%s: hold: it is not of this lock", release_name);
    if (status != PDK_OK)
        return status;
    struct taking t = {.lock = lock, .hold = hold, .mine = lock->mine};
    t.mine.token = hold->token;
    struct pdk__record_call call = {.name = release_name,
                                    .path = lock->record,
                                    .hold = hold,
                                    .deadline = pdk__deadline(s, timeout_ms),
                                    .edit = give_up,
                                    .user = &t,
                                    .ends = true};
    status = pdk__record_change(&call);
    if (status == PDK_OK)
        pdk_hold_release(hold);
    return status;
}

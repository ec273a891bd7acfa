/* The lease lock. core/lease_lock.h has the record and the rule, record.h the order of the requests.
 *
 *     /locks/vm-7
 *        ├─ lock                                    a lock: the holder, and waiters while the holder lives
 *        │    └─ _c_…-lock-0000000007
 *        └─ record                                  "paddock-lease 1\nH 4294967301 60000 9f86d0… planner-1\n"
 *
 * Rule: the holder of the lock takes the record if that is nobody's, if it has ended by the servers' clock, or if the
 * holder has its secret. Otherwise it lets the lock go again, so that the owner of the secret can come, and reads the
 * record until it changes or ends. The lock keeps two holds apart; the record keeps others out while there is no hold.
 */
#include "lease_lock.h"

#include "base/fork.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "core/paths.h"
#include "grant/claim.h"
#include "grant/recipe.h"
#include "session/blocking.h"
#include "session/node_query.h"
#include "session/options.h"

#include <string.h>

/* The size of the first version of the struct. Never changes. */
#define OPTIONS_FIRST_SIZE (offsetof(pdk_lease_lock_options, identity) + sizeof(const char *))
/* A call that waits for the end of a record looks at it so often. */
#define LOOK_NS (1000 * PDK__MS)

enum { ROOM = PDK__PATH_MAX - 12, SECRET_LEAST = 16, SECRET_MOST = 1024, DURATION_LEAST = 1000 };

struct pdk_lease_lock {
    atomic_uint refs;              /* the caller's */
    atomic_uint uses;              /* one for all of these references, and one for each call under way */
    struct pdk__queue *queue;      /* of the lock; a reference */
    char *record;                  /* its path, chroot included */
    struct pdk__lease_record mine; /* all but the token */
};

static const char dropped[] = "the lease lock was dropped";

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

static pdk_lease_lock *begin_use(pdk_lease_lock *lock) {
    atomic_fetch_add(&lock->uses, 1);
    return lock;
}

static void end_use(pdk_lease_lock *lock) {
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
    pdk__wake(&s->on_link); /* calls that wait for the end of the record */
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

/* An acquisition.
 *
 *     CLAIMS ──has the lock──► RECORDS ──► TAKEN
 *        ▲                        └──the record stands for another──► LOOKS, RESTS: until it has changed, or its end
 *        └────────────────────────────────────────────────────────────┘
 */
struct taking {
    struct pdk__call call;
    pdk_lease_lock *lock; /* a use */
    enum { CLAIMS, RECORDS, LOOKS, RESTS, TAKEN } at;
    bool is_try;
    struct pdk__claiming claiming;
    int64_t began; /* the claim under way, or the last one */
    bool in_line;  /* it was granted after a wait */
    struct pdk__record_change change;
    pdk_hold *hold; /* a reference */
    struct pdk__lease_record mine;
    /* Where the record stands for another: */
    int64_t written;          /* the moment of its last write */
    int64_t ends;             /* when it ends at the latest, by our clock */
    int64_t next;             /* a look is waited for, or a rest lasts, until then */
    struct pdk__query *query; /* a look */
    pdk_acquired_fn fn;
};

static pdk_status lease_lock_take(void *user, const struct pdk__record_seen *seen, GBytes **next) {
    struct taking *t = user;
    const char *name = t->call.name, *record = t->lock->record;
    struct pdk__lease_record found;
    pdk_status status = read_record(name, record, seen->data, seen->size, &found);
    if (status != PDK_OK)
        return status;
    switch (pdk__lease_judge(&found, seen->mtime_ms, seen->now_ms, &t->mine)) {
    case PDK__LEASE_TAKE:
        *next = text_of(&t->mine);
        return PDK_OK;
    case PDK__LEASE_STANDS: /* from now on for its duration at most: it was written before it was read */
        t->written = seen->mtime_ms;
        t->ends = pdk__now(t->hold->s) + MIN(seen->mtime_ms + found.duration - seen->now_ms, found.duration) * PDK__MS;
        return pdk__fail(PDK_BUSY, "%s: %s: it stands for %s until %lld", name, record, found.who,
                         (long long)seen->mtime_ms + found.duration);
    case PDK__LEASE_OVERTAKEN:
        return pdk__fail(PDK_LOST, "%s: %s: another one came after this hold", name, record);
    case PDK__LEASE_OURS:
        break;
    }
    return PDK_OK; /* the answer was lost */
}

static pdk_status lost(const struct taking *t) {
    return pdk__fail(PDK_LOST, "%s: %s: the hold is lost", t->call.name, t->lock->record);
}

static pdk_status begin_tenure(struct taking *t) {
    bool lives = pdk_hold_is_valid(t->hold) && !t->hold->ended;
    if (lives)
        pdk__tenure_begin(t->hold, t->lock->record, &t->mine, t->change.handed);
    return lives && pdk_hold_is_valid(t->hold) ? PDK_OK : lost(t);
}

/* Each of these answers OK to go on with the next one. */

/* A call that has waited in line knows a moment that is long over, and would wait too long. So it claims again, with a
 * new lock node. */
static pdk_status record_stands(struct taking *t, pdk_status busy) {
    if (t->is_try)
        return busy;
    t->at = t->in_line ? CLAIMS : LOOKS;
    return PDK_OK;
}

/* It has the lock: take the record. */
static pdk_status take_record(struct taking *t) {
    pdk_status status = pdk__record_step(&t->change);
    if (status == PDK__WAITS)
        return status;
    if (status == PDK_OK)
        status = begin_tenure(t);
    t->at = TAKEN;
    if (status != PDK_OK)
        pdk__hold_drop(g_steal_pointer(&t->hold));
    return status == PDK_BUSY ? record_stands(t, status) : status;
}

static int64_t left_ms(const struct taking *t) {
    if (t->is_try || t->call.deadline == INT64_MAX)
        return t->is_try ? 0 : PDK_FOREVER;
    return MAX((t->call.deadline - pdk__now(t->call.s) + PDK__MS - 1) / PDK__MS, 1);
}

static pdk_status take_claim(struct taking *t) {
    int64_t now = pdk__now(t->call.s);
    if (!t->claiming.claim)
        t->began = now;
    pdk_status status = pdk__claiming_step(&t->claiming, left_ms(t), &t->hold);
    if (status != PDK_OK)
        return status;
    t->at = RECORDS;
    t->in_line = now - t->began >= LOOK_NS;
    t->mine.token = t->hold->token;
    t->change = (struct pdk__record_change){
        .call = &t->call, .path = t->lock->record, .hold = t->hold, .edit = lease_lock_take, .user = t};
    return PDK_OK;
}

/* OK: the call waits on. */
static pdk_status check_wait(const struct taking *t) {
    const char *name = t->call.name, *record = t->lock->record;
    pdk_status status = pdk__session_usable(t->call.s, name);
    if (status == PDK_OK && pdk__call_has_thread(&t->call) && pdk__interrupted())
        status = pdk__fail(PDK_CANCELED, "%s: %s: " PDK__INTERRUPTED, name, record);
    if (status == PDK_OK && t->lock->queue->shut)
        status = pdk__fail(PDK_CANCELED, "%s: %s: %s", name, record, dropped);
    if (status == PDK_OK && pdk__call_is_late(&t->call))
        status = pdk__fail(PDK_TIMEOUT, "%s: %s: it stands for another", name, record);
    return status;
}

static void drop_look(struct taking *t) {
    if (t->query)
        pdk__query_unref(g_steal_pointer(&t->query));
}

/* Has the record that stands been written since, as the answered look shows? */
static bool has_changed(const struct taking *t) {
    const struct pdk__node_query *q = (const struct pdk__node_query *)t->query;
    if (q->base.in_flight > 0 || pdk__node_answered(t->query) != PDK_OK)
        return false;
    return q->result != PDK__OK ||
           q->stat.mtime_ms != t->written; /* also when it is gone, or may not be read: the next claim says so */
}

/* Take a look that was answered. OK: it is worth another claim, or a rest. */
static pdk_status take_look(struct taking *t) {
    pdk_session *s = t->call.s;
    int64_t now = pdk__now(s);
    pdk_status status = check_wait(t);
    if (status != PDK_OK)
        return status;
    if (!t->query && now < t->ends) {
        t->query =
            pdk__node_ask(s, (struct pdk__request){.kind = PDK__OP_GET, .path = t->lock->record}, PDK__BEHIND_NOTHING);
        t->next = now + LOOK_NS;
    }
    if (t->query && t->query->in_flight > 0 && now < t->next)
        return pdk__call_waits(&t->call, &t->query->waiters, t->next);
    t->at = !t->query || has_changed(t) ? CLAIMS : RESTS;
    t->next = MIN(now + LOOK_NS, t->ends);
    drop_look(t);
    return PDK_OK;
}

static pdk_status take_rest(struct taking *t) {
    pdk_session *s = t->call.s;
    pdk_status status = check_wait(t);
    if (status == PDK_OK && pdk__now(s) < t->next)
        return pdk__call_waits(&t->call, &s->on_link, t->next);
    t->at = LOOKS;
    return status;
}

static pdk_status take_step(struct pdk__call *call) {
    static pdk_status (*const steps[])(struct taking *t) = {
        [CLAIMS] = take_claim, [RECORDS] = take_record, [LOOKS] = take_look, [RESTS] = take_rest};
    struct taking *t = (struct taking *)call;
    pdk_status status = PDK_OK;
    while (status == PDK_OK && t->at != TAKEN)
        status = steps[t->at](t);
    return status;
}

static void take_leave(struct pdk__call *call) {
    struct taking *t = (struct taking *)call;
    pdk__claiming_leave(&t->claiming);
    pdk__record_leave(&t->change);
    drop_look(t);
}

/* A hold may be lost before its callback runs. Then the answer is LOST. */
static void take_tell(struct pdk__call *call, pdk_status status) {
    struct taking *t = (struct taking *)call;
    if (status == PDK_OK && !pdk__call_has_thread(call) && !pdk_hold_is_valid(t->hold))
        status = lost(t);
    t->fn(status, status == PDK_OK ? g_steal_pointer(&t->hold) : NULL, call->user);
}

/* Release a hold that nobody was given. */
static void take_free(struct pdk__call *call) {
    struct taking *t = (struct taking *)call;
    pdk_hold_unref(t->hold);
    end_use(t->lock);
    g_free(t);
}

static struct pdk__call *taking_new(pdk_lease_lock *lock, const char *name, int64_t timeout_ms, pdk_acquired_fn fn,
                                    void *user) {
    static const struct pdk__call_kind kind = {NULL, take_step, take_leave, take_tell, take_free};
    pdk_session *s = lock->queue->s;
    struct taking *t = g_new0(struct taking, 1);
    t->is_try = timeout_ms == 0;
    t->call = pdk__call_make(&kind, s, name, t->is_try ? 2 * (int64_t)s->request_timeout_ms : timeout_ms);
    t->call.user = user;
    t->lock = begin_use(lock);
    t->claiming = (struct pdk__claiming){.call = &t->call, .queue = lock->queue};
    t->mine = lock->mine;
    t->fn = fn;
    return &t->call;
}

static void lease_lock_keep(pdk_status status, pdk_hold *hold, void *out) {
    if (status == PDK_OK)
        *(pdk_hold **)out = hold;
}

pdk_status pdk_lease_lock_acquire(pdk_lease_lock *lock, int64_t timeout_ms, pdk_hold **out) {
    static const char name[] = "pdk_lease_lock_acquire";
    if (!lock || !out)
        return pdk__fail(PDK_INVALID, "%s: %s: NULL", name, lock ? "out" : "lock");
    return pdk__call_wait(taking_new(lock, name, timeout_ms, lease_lock_keep, out));
}

pdk_status pdk_lease_lock_acquire_async(pdk_lease_lock *lock, int64_t timeout_ms, pdk_acquired_fn fn, void *user) {
    static const char name[] = "pdk_lease_lock_acquire_async";
    if (!lock)
        return pdk__fail(PDK_INVALID, "%s: lock: NULL", name);
    pdk_status status = pdk__call_check_fn(name, fn);
    return status == PDK_OK ? pdk__call_start(taking_new(lock, name, timeout_ms, fn, user)) : status;
}

/* ---- giving it up */

struct giving_up {
    struct pdk__call call;
    pdk_lease_lock *lock; /* a use */
    pdk_hold *hold;       /* a reference */
    struct pdk__record_change change;
};

static pdk_status give_up(void *user, const struct pdk__record_seen *seen, GBytes **next) {
    const struct giving_up *g = user;
    const char *name = g->call.name, *record = g->lock->record;
    struct pdk__lease_record found, free = {.state = 'N', .token = g->hold->token};
    pdk_status status = read_record(name, record, seen->data, seen->size, &found);
    if (status != PDK_OK)
        return status;
    if (found.token != g->hold->token)
        return pdk__fail(PDK_REPLACED, "%s: %s: it is not this hold's any more", name, record);
    if (found.state == 'H')
        *next = text_of(&free);
    return PDK_OK;
}

static pdk_status give_up_step(struct pdk__call *call) { return pdk__record_step(&((struct giving_up *)call)->change); }

static void give_up_leave(struct pdk__call *call) { pdk__record_leave(&((struct giving_up *)call)->change); }

static void give_up_tell(struct pdk__call *call, pdk_status status) {
    if (status == PDK_OK)
        pdk__hold_give_back(((struct giving_up *)call)->hold);
    if (call->answered)
        call->answered(status, call->user);
}

static void give_up_free(struct pdk__call *call) {
    struct giving_up *g = (struct giving_up *)call;
    pdk_hold_unref(g->hold);
    end_use(g->lock);
    g_free(g);
}

static pdk_status check_release(const pdk_lease_lock *lock, const pdk_hold *hold, int64_t timeout_ms,
                                const char *name) {
    if (!lock || !hold)
        return pdk__fail(PDK_INVALID, "%s: %s: NULL", name, lock ? "hold" : "lock");
    pdk_status status = pdk__check_call(lock->queue->s, name, timeout_ms);
    if (status == PDK_OK && hold->queue != lock->queue)
        status = pdk__fail(PDK_INVALID, "%s: hold: it is not of this lock", name);
    return status;
}

static struct pdk__call *giving_up_new(pdk_lease_lock *lock, pdk_hold *hold, const char *name, int64_t timeout_ms) {
    static const struct pdk__call_kind kind = {NULL, give_up_step, give_up_leave, give_up_tell, give_up_free};
    struct giving_up *g = g_new0(struct giving_up, 1);
    g->call = pdk__call_make(&kind, lock->queue->s, name, timeout_ms);
    g->lock = begin_use(lock);
    g->hold = pdk_hold_ref(hold);
    g->change = (struct pdk__record_change){
        .call = &g->call, .path = lock->record, .hold = hold, .edit = give_up, .user = g, .ends = true};
    return &g->call;
}

pdk_status pdk_lease_lock_release(pdk_lease_lock *lock, pdk_hold *hold, int64_t timeout_ms) {
    static const char name[] = "pdk_lease_lock_release";
    pdk_status status = check_release(lock, hold, timeout_ms, name);
    return status == PDK_OK ? pdk__call_wait(giving_up_new(lock, hold, name, timeout_ms)) : status;
}

pdk_status pdk_lease_lock_release_async(pdk_lease_lock *lock, pdk_hold *hold, int64_t timeout_ms, pdk_answered_fn fn,
                                        void *user) {
    static const char name[] = "pdk_lease_lock_release_async";
    pdk_status status = check_release(lock, hold, timeout_ms, name);
    if (status == PDK_OK)
        status = pdk__call_check_fn(name, fn);
    if (status != PDK_OK)
        return status;
    struct pdk__call *c = giving_up_new(lock, hold, name, timeout_ms);
    c->answered = fn;
    c->user = user;
    return pdk__call_start(c);
}

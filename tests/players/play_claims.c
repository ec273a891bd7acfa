/* The recipes with a queue of claims: lock, rwlock, semaphore; and delay, a lock with a lock-delay. */
#include "plays.h"

#include <string.h>

enum { TRY_PERCENT = 5, SHORT_PERCENT = 20, SHORT_MS = 300 };
enum { MORE_PERMITS = 2, MISASK_MS = 1000, MISASK_PAUSE_US = 400000 };

/* The claim of one turn. */
typedef struct request {
    pending its;
    enum { LOCK, READ, WRITE, PERMIT } kind;
    int count; /* of permits */
} request;

static const char *const kind_names[] = {"lock", "read", "write", "permit"};

void claims_open(actor *c) {
    const char *recipe = c->options.recipe, *path = c->player.path;
    pdk_session *session = c->player.session;
    pdk_lock_options lock = PDK_LOCK_OPTIONS_INIT, delayed = PDK_LOCK_OPTIONS_INIT;
    pdk_rwlock_options rwlock = PDK_RWLOCK_OPTIONS_INIT;
    pdk_semaphore_options semaphore = PDK_SEMAPHORE_OPTIONS_INIT;
    delayed.lock_delay_ms = DELAY_MS;
    lock.naming = rwlock.naming = c->naming;
    lock.linger_ms = c->options.linger_ms;
    if (c->options.handovers >= 0)
        lock.max_handovers = rwlock.max_handovers = semaphore.max_handovers = c->options.handovers;
    int permits = c->options.permits + (c->misasks ? MORE_PERMITS : 0);
    pdk_status status = PDK_OK;
    if (strcmp(recipe, "lock") == 0)
        status = pdk_lock_new(session, path, &lock, &c->lock);
    else if (strcmp(recipe, "delay") == 0)
        status = pdk_lock_new(session, path, &delayed, &c->lock);
    else if (strcmp(recipe, "rwlock") == 0)
        status = pdk_rwlock_new(session, path, &rwlock, &c->rwlock);
    else
        status = pdk_semaphore_new(session, path, permits, &semaphore, &c->semaphore);
    actor_expect(c, recipe, status, PDK_OK);
}

void claims_close(actor *c) {
    pdk_lock_unref(c->lock);
    pdk_rwlock_unref(c->rwlock);
    pdk_semaphore_unref(c->semaphore);
}

static request make_request(actor *c) {
    request r = {.its = {.c = c, .timeout_ms = PDK_FOREVER}, .kind = LOCK};
    if (c->rwlock)
        r.kind = player_chance(c->options.write) ? WRITE : READ;
    if (c->semaphore) {
        r.kind = PERMIT;
        r.count = g_random_int_range(1, c->options.most + 1);
    }
    if (c->misasks)
        r.its.timeout_ms = MISASK_MS;
    else if (!c->keeps)
        r.its.timeout_ms = player_patience(TRY_PERCENT, SHORT_PERCENT, SHORT_MS);
    return r;
}

static pdk_status block(request *r) {
    actor *c = r->its.c;
    int64_t ms = r->its.timeout_ms;
    switch (r->kind) {
    case LOCK:
        return pdk_lock_acquire(c->lock, ms, &r->its.hold);
    case READ:
        return pdk_rwlock_acquire_read(c->rwlock, ms, &r->its.hold);
    case WRITE:
        return pdk_rwlock_acquire_write(c->rwlock, ms, &r->its.hold);
    case PERMIT:
        return pdk_semaphore_acquire(c->semaphore, r->count, ms, &r->its.hold);
    }
    return PDK_INVALID;
}

static pdk_status start(request *r, pdk_claim **claim) {
    actor *c = r->its.c;
    int64_t ms = r->its.timeout_ms;
    switch (r->kind) {
    case LOCK:
        return pdk_lock_acquire_async(c->lock, ms, pending_answer, &r->its, claim);
    case READ:
        return pdk_rwlock_acquire_read_async(c->rwlock, ms, pending_answer, &r->its, claim);
    case WRITE:
        return pdk_rwlock_acquire_write_async(c->rwlock, ms, pending_answer, &r->its, claim);
    case PERMIT:
        return pdk_semaphore_acquire_async(c->semaphore, r->count, ms, pending_answer, &r->its, claim);
    }
    return PDK_INVALID;
}

static void acquire(request *r) {
    pdk_claim *claim;
    if (r->its.timeout_ms > 0 && player_chance(50)) {
        r->its.status = block(r);
        return;
    }
    pdk_status started = start(r, &claim); /* the answer may be there by now */
    if (started == PDK_OK)
        pending_await(&r->its, claim);
    else
        r->its.status = started;
}

static void visit(actor *c, claim_record *record, const request *r) {
    int number = record_number(record);
    if (r->kind == PERMIT)
        player_pause(c->options.hold_us);
    else if (r->kind == READ)
        actor_look(c, number, r->its.hold);
    else
        actor_use(c, number, r->its.hold);
    if (r->kind != WRITE || !player_chance(c->options.downgrade))
        return;
    record_weakens(record, r->its.hold);
    actor_expect(c, "downgrade", pdk_hold_downgrade(r->its.hold), PDK_LOST);
    actor_look(c, number, r->its.hold);
}

bool claims_turn(player *p, int thread, void *user) {
    actor *c = user;
    request r = make_request(c);
    (void)p;
    if (c->options.peek && thread == 0) {
        actor_peek(c);
        return true;
    }
    gint64 session = pdk_session_id(c->player.session);
    pthread_mutex_lock(&c->mutex);
    claim_record *record =
        record_new_with(c, kind_names[r.kind], r.count, r.its.timeout_ms, c->misasks ? "of=another-number" : "");
    pthread_mutex_unlock(&c->mutex);
    r.its.record = record;
    acquire(&r);
    if (c->misasks)
        player_pause(MISASK_PAUSE_US);
    if (r.its.status != PDK_OK) {
        record_failed(record, r.its.status);
        if (!pending_may_fail(&r.its) && !(c->misasks && r.its.status == PDK_MISMATCH))
            actor_expect(c, kind_names[r.kind], r.its.status, PDK_OK);
        return true;
    }
    if (session == pdk_session_id(c->player.session)) {
        g_autofree char *of_session = g_strdup_printf("session=%" G_GINT64_FORMAT, session);
        record_add(record, of_session); /* an entry of this session, then */
    }
    record_granted(record, r.its.hold);
    if (c->keeps)
        actor_keep(c, record_number(record), r.its.hold, r.kind == LOCK || r.kind == WRITE);
    else
        visit(c, record, &r);
    record_give_back(record, r.its.hold);
    return true;
}

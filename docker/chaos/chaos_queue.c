/* The recipes with a queue of claims: lock, rwlock, semaphore. */
#include "chaos_player.h"

#include <string.h>

enum { TRY_PERCENT = 5, SHORT_PERCENT = 20, SHORT_MS = 300, WRITE_PERCENT = 40, DOWNGRADE_PERCENT = 30 };

/* The claim of one turn, and its answer. */
typedef struct request {
    chaos_player *c;
    enum { LOCK, READ, WRITE, PERMIT } kind;
    int count; /* of permits */
    int64_t timeout_ms;
    bool withdrawn;
    bool answered; /* with the two below */
    pdk_status status;
    pdk_hold *hold;
} request;

static const char *const kind_names[] = {"lock", "read", "write", "permit"};

void claims_open(chaos_player *c) {
    const char *recipe = c->options.recipe, *path = c->player.path;
    pdk_session *session = c->player.session;
    pdk_status status = PDK_OK;
    if (strcmp(recipe, "lock") == 0)
        status = pdk_lock_new(session, path, NULL, &c->lock);
    else if (strcmp(recipe, "rwlock") == 0)
        status = pdk_rwlock_new(session, path, NULL, &c->rwlock);
    else if (strcmp(recipe, "semaphore") == 0)
        status = pdk_semaphore_new(session, path, PERMITS, NULL, &c->semaphore);
    else
        chaos_fail(c, "no such recipe", recipe);
    chaos_expect(c, recipe, status, PDK_OK);
}

void claims_close(chaos_player *c) {
    pdk_lock_unref(c->lock);
    pdk_rwlock_unref(c->rwlock);
    pdk_semaphore_unref(c->semaphore);
}

static request make_request(chaos_player *c) {
    request r = {.c = c, .kind = LOCK, .timeout_ms = PDK_FOREVER};
    if (c->rwlock)
        r.kind = player_chance(WRITE_PERCENT) ? WRITE : READ;
    if (c->semaphore) {
        r.kind = PERMIT;
        r.count = g_random_int_range(1, PERMITS);
    }
    if (!c->keeps)
        r.timeout_ms = player_patience(TRY_PERCENT, SHORT_PERCENT, SHORT_MS);
    return r;
}

static pdk_status block(request *r) {
    chaos_player *c = r->c;
    switch (r->kind) {
    case LOCK:
        return pdk_lock_acquire(c->lock, r->timeout_ms, &r->hold);
    case READ:
        return pdk_rwlock_read(c->rwlock, r->timeout_ms, &r->hold);
    case WRITE:
        return pdk_rwlock_write(c->rwlock, r->timeout_ms, &r->hold);
    case PERMIT:
        return pdk_semaphore_acquire(c->semaphore, r->count, r->timeout_ms, &r->hold);
    }
    return PDK_INVALID;
}

static void answer(pdk_status status, pdk_hold *hold, void *user) {
    request *r = user;
    chaos_player *c = r->c;
    pthread_mutex_lock(&c->mutex);
    r->status = status;
    r->hold = hold;
    r->answered = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->mutex);
}

static pdk_status start(request *r, pdk_claim **claim) {
    chaos_player *c = r->c;
    switch (r->kind) {
    case LOCK:
        return pdk_lock_acquire_async(c->lock, r->timeout_ms, answer, r, claim);
    case READ:
        return pdk_rwlock_read_async(c->rwlock, r->timeout_ms, answer, r, claim);
    case WRITE:
        return pdk_rwlock_write_async(c->rwlock, r->timeout_ms, answer, r, claim);
    case PERMIT:
        return pdk_semaphore_acquire_async(c->semaphore, r->count, r->timeout_ms, answer, r, claim);
    }
    return PDK_INVALID;
}

/* False: the order to rest came first. */
static bool await_answer(request *r, bool or_rest) {
    chaos_player *c = r->c;
    pthread_mutex_lock(&c->mutex);
    while (!r->answered && !(or_rest && c->resting))
        chaos_wait(c, PDK_FOREVER);
    bool answered = r->answered;
    pthread_mutex_unlock(&c->mutex);
    return answered;
}

/* Withdraws the claim at the order to rest. The answer comes all the same. */
static pdk_status follow(request *r) {
    pdk_claim *claim;
    pdk_status status = start(r, &claim);
    if (status != PDK_OK)
        return status;
    r->withdrawn = !await_answer(r, true);
    if (r->withdrawn) {
        chaos_expect(r->c, "cancel", pdk_claim_cancel(claim), PDK_NOT_HELD);
        await_answer(r, false);
    }
    pdk_claim_unref(claim);
    return r->status;
}

static bool may_fail(const request *r) {
    if (r->status == PDK_CANCELED)
        return r->withdrawn;
    return player_may_give_up(r->timeout_ms, r->status);
}

static void visit(chaos_player *c, claim_record *record, const request *r) {
    if (r->kind == LOCK || r->kind == WRITE)
        chaos_use(c, record_number(record), r->hold);
    else
        player_pause(c->options.hold_us);
    if (r->kind != WRITE || !player_chance(DOWNGRADE_PERCENT))
        return;
    record_weakens(record, r->hold);
    chaos_expect(c, "downgrade", pdk_rwlock_downgrade(c->rwlock, r->hold), PDK_LOST);
    player_pause(c->options.hold_us);
}

static void give_back(chaos_player *c, claim_record *record, pdk_hold *hold) {
    if (!pdk_hold_valid(hold))
        record_await_told(record);
    pdk_status status = pdk_hold_release(hold);
    chaos_expect(c, "release", status, PDK_LOST);
    record_over(record, status == PDK_LOST);
}

bool claims_turn(player *p, int thread, void *user) {
    chaos_player *c = user;
    request r = make_request(c);
    (void)p;
    (void)thread;
    pthread_mutex_lock(&c->mutex);
    claim_record *record = record_new(c, kind_names[r.kind], r.count, r.timeout_ms);
    pthread_mutex_unlock(&c->mutex);
    r.status = r.timeout_ms > 0 && player_chance(50) ? block(&r) : follow(&r);
    if (r.status != PDK_OK) {
        record_failed(record, r.status);
        if (!may_fail(&r))
            chaos_expect(c, kind_names[r.kind], r.status, PDK_OK);
        return true;
    }
    record_granted(record, r.hold);
    if (c->keeps)
        chaos_keep(c, record_number(record), r.hold, r.kind == LOCK || r.kind == WRITE);
    else
        visit(c, record, &r);
    give_back(c, record, r.hold);
    return true;
}

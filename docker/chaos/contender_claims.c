/* The recipes whose claims wait in line: lock, rwlock, semaphore. */
#include "contender.h"

#include <string.h>

enum { SHORT_MS = 300, WRITE_PERCENT = 40, DOWNGRADE_PERCENT = 30 };

/* What a turn asks for. */
typedef struct wish {
    contender *c;
    enum { LOCK, READ, WRITE, PERMIT } kind;
    int count; /* of permits */
    int64_t timeout_ms;
    bool withdrawn;
    bool answered; /* with these */
    pdk_status status;
    pdk_hold *hold;
} wish;

static const char *const kind_names[] = {"lock", "read", "write", "permit"};

void claims_open(contender *c) {
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
        contender_fail(c, "no such recipe", recipe);
    contender_expect(c, recipe, status, PDK_OK);
}

void claims_close(contender *c) {
    pdk_lock_unref(c->lock);
    pdk_rwlock_unref(c->rwlock);
    pdk_semaphore_unref(c->semaphore);
}

static wish make_wish(contender *c) {
    wish w = {.c = c, .kind = LOCK, .timeout_ms = PDK_FOREVER};
    if (c->rwlock)
        w.kind = crew_chance(WRITE_PERCENT) ? WRITE : READ;
    if (c->semaphore) {
        w.kind = PERMIT;
        w.count = g_random_int_range(1, PERMITS);
    }
    /* Most wait as long as it takes; some try, some run out of patience and must leave nothing. */
    if (!c->keeps && crew_chance(5))
        w.timeout_ms = 0;
    else if (!c->keeps && crew_chance(20))
        w.timeout_ms = g_random_int_range(1, SHORT_MS);
    return w;
}

static pdk_status block(wish *w) {
    contender *c = w->c;
    switch (w->kind) {
    case LOCK:
        return pdk_lock_acquire(c->lock, w->timeout_ms, &w->hold);
    case READ:
        return pdk_rwlock_read(c->rwlock, w->timeout_ms, &w->hold);
    case WRITE:
        return pdk_rwlock_write(c->rwlock, w->timeout_ms, &w->hold);
    case PERMIT:
        return pdk_semaphore_acquire(c->semaphore, w->count, w->timeout_ms, &w->hold);
    }
    return PDK_INVALID;
}

static void answer(pdk_status status, pdk_hold *hold, void *user) {
    wish *w = user;
    contender *c = w->c;
    pthread_mutex_lock(&c->mutex);
    w->status = status;
    w->hold = hold;
    w->answered = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->mutex);
}

static pdk_status start(wish *w, pdk_claim **claim) {
    contender *c = w->c;
    switch (w->kind) {
    case LOCK:
        return pdk_lock_acquire_async(c->lock, w->timeout_ms, answer, w, claim);
    case READ:
        return pdk_rwlock_read_async(c->rwlock, w->timeout_ms, answer, w, claim);
    case WRITE:
        return pdk_rwlock_write_async(c->rwlock, w->timeout_ms, answer, w, claim);
    case PERMIT:
        return pdk_semaphore_acquire_async(c->semaphore, w->count, w->timeout_ms, answer, w, claim);
    }
    return PDK_INVALID;
}

/* False: it is time to rest. */
static bool await_answer(wish *w, bool or_rest) {
    contender *c = w->c;
    pthread_mutex_lock(&c->mutex);
    while (!w->answered && !(or_rest && c->resting))
        contender_wait(c, PDK_FOREVER);
    bool answered = w->answered;
    pthread_mutex_unlock(&c->mutex);
    return answered;
}

/* Withdraws the claim when it is time to rest; the answer comes all the same. */
static pdk_status follow(wish *w) {
    pdk_claim *claim;
    pdk_status status = start(w, &claim);
    if (status != PDK_OK)
        return status;
    w->withdrawn = !await_answer(w, true);
    if (w->withdrawn) {
        contender_expect(w->c, "cancel", pdk_claim_cancel(claim), PDK_NOT_HELD);
        await_answer(w, false);
    }
    pdk_claim_unref(claim);
    return w->status;
}

/* As it asked for, or was told. A try may run out of time as well: it is bounded by the session's request timeout. */
static bool may_fail(const wish *w) {
    if (w->status == PDK_CANCELED)
        return w->withdrawn;
    if (w->status == PDK_BUSY)
        return w->timeout_ms == 0;
    return w->timeout_ms != PDK_FOREVER && (w->status == PDK_TIMEOUT || w->status == PDK_UNAVAILABLE);
}

static void visit(contender *c, bid *b, const wish *w) {
    if (w->kind == LOCK || w->kind == WRITE)
        contender_use(c, bid_number(b), w->hold);
    else
        crew_pause(c->options.hold_us);
    if (w->kind != WRITE || !crew_chance(DOWNGRADE_PERCENT))
        return;
    bid_weakens(b, w->hold);
    contender_expect(c, "downgrade", pdk_rwlock_downgrade(c->rwlock, w->hold), PDK_LOST);
    crew_pause(c->options.hold_us);
}

static void give_back(contender *c, bid *b, pdk_hold *hold) {
    if (!pdk_hold_valid(hold))
        bid_await_told(b);
    pdk_status status = pdk_hold_release(hold);
    contender_expect(c, "release", status, PDK_LOST);
    bid_over(b, status == PDK_LOST);
}

bool claims_turn(player *p, int thread, void *user) {
    contender *c = user;
    wish w = make_wish(c);
    (void)p;
    (void)thread;
    pthread_mutex_lock(&c->mutex);
    bid *b = bid_new(c, kind_names[w.kind], w.count, w.timeout_ms);
    pthread_mutex_unlock(&c->mutex);
    w.status = w.timeout_ms > 0 && crew_chance(50) ? block(&w) : follow(&w);
    if (w.status != PDK_OK) {
        bid_failed(b, w.status);
        if (!may_fail(&w))
            contender_expect(c, kind_names[w.kind], w.status, PDK_OK);
        return true;
    }
    bid_granted(b, w.hold);
    if (c->keeps)
        contender_keep(c, bid_number(b), w.hold, w.kind == LOCK || w.kind == WRITE);
    else
        visit(c, b, &w);
    give_back(c, b, w.hold);
    return true;
}

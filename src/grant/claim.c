#include "grant/claim.h"

#include "base/fork.h"
#include "base/interrupt.h"
#include "base/probe.h"
#include "base/text.h"
#include "base/thread.h"
#include "grant/hold.h"
#include "session/blocking.h"
#include "session/supervise.h"

static void claim_on_deadline(pdk_session *s, void *user) {
    struct pdk_claim *claim = user;
    struct pdk__queue *queue = claim->queue;
    bool in_queue = !claim->is_try && pdk__queue_is_confirmed(queue);
    const char *trouble = pdk__session_why_away(s);
    char *why = in_queue ? g_strdup("the deadline passed while in line")
                         : g_strconcat("no server confirmed a place in line, and the lease, in time",
                                       trouble ? "; " : NULL, trouble, NULL);
    pdk__claim_decide(claim, in_queue ? PDK_TIMEOUT : PDK_UNAVAILABLE, why, NULL);
    g_free(why);
    pdk__queue_advance(queue);
}

/* It has one reference for the queue, or for the callback that follows, and one for the caller. */
static struct pdk_claim *claim_until(struct pdk__queue *queue, int32_t count, int64_t now, int64_t deadline,
                                     bool is_try) {
    struct pdk_claim *claim = g_new0(struct pdk_claim, 1);
    atomic_init(&claim->refs, 2);
    claim->queue = pdk__queue_ref(queue);
    claim->is_try = is_try;
    claim->count = count;
    claim->since = now;
    claim->deadline = deadline;
    claim->alarm = (struct pdk__alarm){.ring = claim_on_deadline, .user = claim};
    claim->link.data = claim;
    claim->thread = pdk__this_thread();
    return claim;
}

static struct pdk_claim *claim_new(struct pdk__queue *queue, int32_t count, int64_t timeout_ms) {
    int64_t now = pdk__now(queue->s);
    return claim_until(queue, count, now, pdk__claim_deadline(queue->s, now, timeout_ms), timeout_ms == 0);
}

int64_t pdk__claim_deadline(const pdk_session *s, int64_t now, int64_t timeout_ms) {
    return pdk__deadline_after(now, timeout_ms == 0 ? s->request_timeout_ms : timeout_ms);
}

pdk_claim *pdk_claim_ref(pdk_claim *claim) {
    if (claim)
        atomic_fetch_add(&claim->refs, 1);
    return claim;
}

void pdk_claim_unref(pdk_claim *claim) {
    if (!claim || claim->queue->s->forks != pdk__forks() || atomic_fetch_sub(&claim->refs, 1) != 1)
        return;
    if (claim->hold)
        pdk_hold_unref(claim->hold); /* nobody received it */
    pdk__queue_unref(claim->queue);
    g_free(claim->why);
    g_free(claim);
}

static void claim_queue_up(struct pdk_claim *claim) {
    claim->state = PDK__CLAIM_QUEUED;
    pdk__alarm_set(claim->queue->s, &claim->alarm, claim->deadline);
    pdk__queue_push(claim->queue, claim);
}

/* Receive a claim that is DECIDED. false: it is QUEUED again. The caller unrefs *lapsed outside of the monitor. */
static bool claim_receive(struct pdk_claim *claim, pdk_status *status, struct pdk_hold **hold,
                          struct pdk_hold **lapsed) {
    pdk_session *s = claim->queue->s;
    pdk__assert_locked(s);
    assert(claim->state == PDK__CLAIM_DECIDED);
    bool in_time = pdk__now(s) < claim->deadline;
    *status = claim->status;
    *hold = g_steal_pointer(&claim->hold);
    if (claim->status == PDK_OK && !(in_time && pdk_hold_is_valid(*hold))) {
        pdk__hold_discard(*hold);
        pdk__stats_lapsed(s, claim->queue->figures);
        *lapsed = g_steal_pointer(hold);
        if (in_time && s->ended == PDK_OK) {
            claim_queue_up(claim);
            return false;
        }
        *status = s->ended != PDK_OK ? s->ended : PDK_TIMEOUT;
        g_free(claim->why);
        claim->why = g_strdup(pdk_status_text(*status));
    }
    claim->state = PDK__CLAIM_ENDED;
    return true;
}

/* ---- the callback */

static void claim_deliver(void *user) {
    struct pdk_claim *claim = user;
    pdk_session *s = claim->queue->s;
    pdk_status status;
    struct pdk_hold *hold = NULL, *lapsed = NULL;
    pdk__lock(s);
    bool received = claim_receive(claim, &status, &hold, &lapsed);
    if (!received)
        pdk_claim_ref(claim); /* for the queue; the reference of this delivery is dropped */
    pdk__unlock(s);
    pdk_hold_unref(lapsed);
    if (!received)
        return;
    if (status != PDK_OK)
        pdk__fail(status, "%s: %s", claim->queue->dir, claim->why);
    claim->fn(status, hold, claim->user);
}

static void claim_drop(void *claim) { pdk_claim_unref(claim); }

/* ---- the callback about its position */

void pdk__claim_await_position(struct pdk_claim *claim) {
    claim->unplaced.data = claim;
    g_queue_push_tail_link(&claim->queue->unplaced, &claim->unplaced);
}

/* It runs before the callback of the result, if at all, since a claim that is decided is not QUEUED. */
static void claim_deliver_queued(void *user) {
    struct pdk_claim *claim = user;
    pdk_session *s = claim->queue->s;
    pdk__lock(s);
    bool queued = claim->state == PDK__CLAIM_QUEUED;
    int32_t ahead = queued ? pdk__queue_ahead(claim->queue, claim) : -1;
    if (queued && ahead < 0)
        pdk__claim_await_position(claim); /* the session has expired since */
    pdk__unlock(s);
    if (ahead >= 0)
        claim->on_queued(claim, ahead, claim->queued_user);
}

void pdk__claim_tell_queued(struct pdk_claim *claim) {
    pdk__assert_locked(claim->queue->s);
    pdk_claim_ref(claim);
    if (!pdk__later(claim->queue->s, claim_deliver_queued, claim_drop, claim))
        atomic_fetch_sub(&claim->refs, 1); /* not the last: the queue has one */
}

/* ---- under the monitor */

void pdk__claim_decide(struct pdk_claim *claim, pdk_status status, const char *why, struct pdk_hold *hold) {
    pdk_session *s = claim->queue->s;
    pdk__assert_locked(s);
    assert(claim->state == PDK__CLAIM_QUEUED && (status == PDK_OK) == (hold != NULL));
    pdk__queue_remove(claim->queue, claim);
    pdk__alarm_off(&claim->alarm);
    pdk__stats_claim_decided(s, claim->queue->figures, status);
    if (hold) {
        pdk__stats_waited(s, claim->queue->figures, hold->since - claim->since);
        pdk__probe_grant(claim->queue->dir, hold->token, hold->handover, hold->since - claim->since);
    } else {
        pdk__probe_refuse(claim->queue->dir, claim->number, (int32_t)status);
    }
    pdk__log(s, PDK_LOG_DEBUG, "%s: claim %" G_GUINT64_FORMAT " is decided: %s", claim->queue->dir, claim->number,
             pdk_status_name(status));
    claim->status = status;
    g_free(claim->why);
    claim->why = g_strdup(why);
    if (claim->decided) {
        claim->state = PDK__CLAIM_ENDED;
        claim->decided(claim->user, status, hold);
        return;
    }
    claim->state = PDK__CLAIM_DECIDED;
    claim->hold = hold;
    if (claim->fn)
        pdk__later(s, claim_deliver, claim_drop, claim); /* taken: a session decides all claims before it goes silent */
    else
        pdk__wake(&claim->waiters);
}

static void claim_give_up(struct pdk_claim *claim, const char *why) {
    pdk__claim_decide(claim, PDK_CANCELED, why, NULL);
    pdk__queue_advance(claim->queue);
}

bool pdk__claim_cancel(struct pdk_claim *claim) {
    pdk__assert_locked(claim->queue->s);
    if (claim->state != PDK__CLAIM_QUEUED)
        return false;
    claim_give_up(claim, "cancelled");
    return true;
}

/* ---- whole acquisitions */

/* UPGRADE or DEADLOCK: the thread would wait for itself. */
static pdk_status claim_refuse_own(const struct pdk__queue *queue, const struct pdk_hold *own, const char *call) {
    bool same_rule = own->queue->kind.entry.rule.blocks == queue->kind.entry.rule.blocks;
    if (own->grant->shared && !queue->kind.shared && same_rule)
        return pdk__fail(PDK_UPGRADE, "%s: %s: this thread holds it shared; release that first, and look again", call,
                         queue->dir);
    return pdk__fail(PDK_DEADLOCK, "%s: %s: this thread holds it%s; %s it first, or pdk_hold_detach_thread", call,
                     queue->dir, own->queue->main == queue->main ? "" : " by another object",
                     queue->kind.shared && !own->grant->shared ? "downgrade or release" : "release");
}

/* A hold of the thread on the queue's path, or NULL. A hold of the queue's own object comes first. With `others`, a
 * hold of another object on that path is next, unless both are readers, which do not wait for each other. */
static struct pdk_hold *claim_find_own(const struct pdk__queue *queue, uint64_t thread, bool others) {
    struct pdk_hold *other = NULL;
    for (const GList *link = pdk__holds_of(queue->s, thread, queue->dir); link; link = link->next) {
        struct pdk_hold *hold = link->data;
        if (hold->queue->main == queue->main)
            return hold;
        bool both_shared = queue->kind.shared && hold->grant->shared;
        bool blocks = hold->queue->kind.reacquire != PDK__REACQUIRE_QUEUES || hold->queue->kind.grants_elsewhere;
        if (others && blocks && !both_shared)
            other = hold;
    }
    return other;
}

/* Look for a hold that this thread has: on the same object; or, if it would wait, on any object on the same path.
 * *nested: one more hold of the same grant, if the queue allows it. DEADLOCK, UPGRADE. */
static pdk_status claim_meet_own(struct pdk_claim *claim, const char *call, struct pdk_hold **nested) {
    struct pdk__queue *queue = claim->queue;
    struct pdk_hold *own;
    if (queue->kind.reacquire == PDK__REACQUIRE_QUEUES)
        return PDK_OK;
    while ((own = claim_find_own(queue, claim->thread, !claim->is_try)) && !pdk_hold_is_valid(own))
        pdk__hold_lose(own, PDK_REASON_LEASE); /* the timer has not rung for it yet */
    if (!own)
        return PDK_OK;
    if (queue->kind.reacquire != PDK__REACQUIRE_NESTS || own->queue->main != queue->main)
        return claim_refuse_own(queue, own, call);
    *nested = pdk__hold_new(own->grant, claim, pdk__now(queue->s));
    return PDK_OK;
}

/* Wait until the claim ends. Under the monitor, which the thread gives up meanwhile. */
static pdk_status claim_await(struct pdk_claim *claim, struct pdk_hold **hold) {
    pdk_session *s = claim->queue->s;
    pdk_status status;
    struct pdk_hold *lapsed = NULL;
    bool received;
    do {
        while (claim->state == PDK__CLAIM_QUEUED) {
            if (pdk__interrupted())
                claim_give_up(claim, PDK__INTERRUPTED);
            else
                pdk__wait(s, &claim->waiters, INT64_MAX);
        }
        received = claim_receive(claim, &status, hold, &lapsed);
        if (lapsed)
            pdk__hold_drop(g_steal_pointer(&lapsed));
    } while (!received);
    return status;
}

/* The thread that waits was cancelled: nobody receives the claim. */
static void claim_abandon(void *user) {
    struct pdk_claim *claim = user;
    if (claim->state == PDK__CLAIM_QUEUED)
        claim_give_up(claim, "its thread was cancelled");
}

static void claim_abandoned(void *claim) {
    pdk_claim_unref(claim); /* with a hold that nobody received */
    pdk_claim_unref(claim);
}

static pdk_status claim_await_or_leave(struct pdk_claim *claim, struct pdk_hold **hold) {
    struct pdk__leave leave = {.locked = claim_abandon, .after = claim_abandoned, .user = claim};
    pdk__leave_push(&leave);
    pdk_status status = claim_await(claim, hold);
    pdk__leave_pop();
    return status;
}

/* Under the monitor, which a thread that waits gives up meanwhile. *hold is NULL before. */
static pdk_status claim_take(struct pdk_claim *claim, const char *call, struct pdk_hold **hold) {
    const struct pdk__queue *queue = claim->queue;
    pdk__assert_locked(queue->s);
    pdk_status status = pdk__session_usable(queue->s, call);
    if (status != PDK_OK)
        return status;
    if (pdk__interrupted())
        return pdk__fail(PDK_CANCELED, "%s: %s: " PDK__INTERRUPTED, call, queue->dir);
    status = claim_meet_own(claim, call, hold);
    if (status != PDK_OK || *hold)
        return status;
    claim_queue_up(claim);
    status = claim_await_or_leave(claim, hold);
    if (status != PDK_OK)
        pdk__fail(status, "%s: %s: %s", call, queue->dir, claim->why);
    return status;
}

pdk_status pdk__claim_wait(struct pdk__queue *queue, int32_t count, int64_t timeout_ms, const char *call,
                           struct pdk_hold **out) {
    pdk_session *s = queue->s;
    pdk_status status = pdk__may_block(s, call, timeout_ms);
    if (status != PDK_OK)
        return status;
    struct pdk_claim *claim = claim_new(queue, count, timeout_ms);
    struct pdk_hold *hold = NULL;
    pdk__lock(s);
    status = claim_take(claim, call, &hold);
    pdk__unlock(s);
    pdk_claim_unref(claim);
    pdk_claim_unref(claim); /* the queue's: it is done with the claim, or never got it */
    if (status == PDK_OK)
        *out = hold;
    return status;
}

void pdk__claim_begin_until(struct pdk__queue *queue, int32_t count, int64_t deadline, bool is_try,
                            pdk__decided_fn decided, void *user, struct pdk_claim **out) {
    pdk__assert_locked(queue->s);
    struct pdk_claim *claim = claim_until(queue, count, pdk__now(queue->s), deadline, is_try);
    atomic_init(&claim->refs, 1); /* the caller's: nothing follows the decision */
    claim->decided = decided;
    claim->user = user;
    *out = claim;
    claim_queue_up(claim);
}

void pdk__claim_begin(struct pdk__queue *queue, int64_t timeout_ms, pdk__decided_fn decided, void *user,
                      struct pdk_claim **out) {
    int64_t deadline = pdk__claim_deadline(queue->s, pdk__now(queue->s), timeout_ms);
    pdk__claim_begin_until(queue, 1, deadline, timeout_ms == 0, decided, user, out);
}

pdk_status pdk__claim_start(struct pdk__queue *queue, int32_t count, int64_t timeout_ms, const char *call,
                            pdk_acquired_fn fn, void *user, struct pdk_claim **out) {
    pdk_session *s = queue->s;
    pdk_status status = pdk__check_call(s, call, timeout_ms);
    if (status != PDK_OK)
        return status;
    pdk__lock(s);
    status = pdk__session_usable(s, call);
    struct pdk_claim *claim = NULL;
    if (status == PDK_OK) {
        claim = claim_new(queue, count, timeout_ms);
        claim->fn = fn;
        claim->user = user;
        claim_queue_up(claim);
        if (out)
            *out = pdk_claim_ref(claim);
    }
    pdk__unlock(s);
    pdk_claim_unref(claim);
    return status;
}

/* ---- a part of a call */

/* A claim that nobody waits for. The queue's reference, and the caller's. */
static void claim_let_go(struct pdk_claim *claim) {
    pdk_claim_unref(claim);
    pdk_claim_unref(claim);
}

/* A call without a thread cannot wait for itself, as no claim with a callback can. */
static pdk_status claiming_begin(struct pdk__claiming *c, int64_t timeout_ms) {
    struct pdk__call *call = c->call;
    pdk_status status = pdk__session_usable(call->s, call->name);
    if (status != PDK_OK)
        return status;
    struct pdk_claim *claim = claim_new(c->queue, 1, timeout_ms);
    claim->deadline = MIN(claim->deadline, call->deadline);
    struct pdk_hold *nested = NULL;
    if (!pdk__call_has_thread(call))
        claim->thread = 0;
    else if (pdk__interrupted())
        status = pdk__fail(PDK_CANCELED, "%s: %s: " PDK__INTERRUPTED, call->name, c->queue->dir);
    else
        status = claim_meet_own(claim, call->name, &nested);
    assert(!nested); /* recipes that claim in a call do not nest */
    if (status != PDK_OK) {
        claim_let_go(claim);
        return status;
    }
    c->claim = claim;
    claim_queue_up(claim);
    return PDK_OK;
}

pdk_status pdk__claiming_step(struct pdk__claiming *c, int64_t timeout_ms, struct pdk_hold **out) {
    pdk_status status = c->claim ? PDK_OK : claiming_begin(c, timeout_ms);
    if (status != PDK_OK)
        return status;
    struct pdk_claim *claim = c->claim;
    bool received = false;
    while (!received) {
        if (claim->state == PDK__CLAIM_QUEUED && pdk__call_has_thread(c->call) && pdk__interrupted())
            claim_give_up(claim, PDK__INTERRUPTED);
        if (claim->state == PDK__CLAIM_QUEUED && c->call->s->ended != PDK_OK)
            break; /* its queue has not come round to it yet */
        if (claim->state == PDK__CLAIM_QUEUED)
            return pdk__call_waits_for(c->call, &claim->waiters);
        struct pdk_hold *lapsed = NULL;
        received = claim_receive(claim, &status, out, &lapsed);
        if (lapsed)
            pdk__hold_drop(lapsed);
    }
    if (!received)
        status = pdk__session_usable(c->call->s, c->call->name);
    else if (status != PDK_OK)
        pdk__fail(status, "%s: %s: %s", c->call->name, c->queue->dir, claim->why);
    pdk__claiming_leave(c);
    return status;
}

void pdk__claiming_leave(struct pdk__claiming *c) {
    struct pdk_claim *claim = g_steal_pointer(&c->claim);
    if (!claim)
        return;
    if (claim->state == PDK__CLAIM_QUEUED)
        claim_give_up(claim, "its call is over");
    if (claim->hold)
        pdk__hold_drop(g_steal_pointer(&claim->hold));
    claim_let_go(claim);
}

/* ---- the public calls about a claim that is pending */

static pdk_status claim_check(pdk_claim *claim, const char *call) {
    if (!claim)
        return pdk__fail(PDK_INVALID, "%s: claim: NULL", call);
    if (claim->queue->s->forks != pdk__forks())
        return pdk__fail(PDK_FORKED, "%s: the claim belongs to the parent process", call);
    return PDK_OK;
}

pdk_status pdk_claim_cancel(pdk_claim *claim) {
    pdk_status status = claim_check(claim, "pdk_claim_cancel");
    if (status != PDK_OK)
        return status;
    pdk__lock(claim->queue->s);
    bool cancelled = pdk__claim_cancel(claim);
    pdk__unlock(claim->queue->s);
    return cancelled
               ? PDK_OK
               : pdk__fail(PDK_NOT_HELD, "pdk_claim_cancel: too late, the claim was decided; its callback has, or "
                                         "gets, the result");
}

pdk_status pdk_claim_on_queued(pdk_claim *claim, pdk_queued_fn fn, void *user) {
    static const char call[] = "pdk_claim_on_queued";
    pdk_status status = claim_check(claim, call);
    if (status != PDK_OK)
        return status;
    if (!fn)
        return pdk__fail(PDK_INVALID, "%s: fn: NULL", call);
    pdk__lock(claim->queue->s);
    if (claim->state != PDK__CLAIM_QUEUED) {
        status = pdk__fail(PDK_NOT_HELD, "%s: the claim has been decided", call);
    } else if (claim->on_queued) {
        status = pdk__fail(PDK_INVALID, "%s: a callback is set already; one per claim", call);
    } else {
        claim->on_queued = fn;
        claim->queued_user = user;
        if (pdk__queue_ahead(claim->queue, claim) >= 0)
            pdk__claim_tell_queued(claim);
        else
            pdk__claim_await_position(claim);
    }
    pdk__unlock(claim->queue->s);
    return status;
}

pdk_status pdk_claim_position(pdk_claim *claim, int32_t *ahead) {
    pdk_status status = claim_check(claim, "pdk_claim_position");
    if (status != PDK_OK)
        return status;
    if (!ahead)
        return pdk__fail(PDK_INVALID, "pdk_claim_position: ahead: NULL");
    pdk__lock(claim->queue->s);
    bool queued = claim->state == PDK__CLAIM_QUEUED;
    int32_t found = queued ? pdk__queue_ahead(claim->queue, claim) : -1;
    pdk__unlock(claim->queue->s);
    if (!queued)
        return pdk__fail(PDK_NOT_HELD, "pdk_claim_position: the claim has been decided");
    if (found < 0)
        return pdk__fail(PDK_UNAVAILABLE, "pdk_claim_position: no server has confirmed a place in line yet");
    *ahead = found;
    return PDK_OK;
}

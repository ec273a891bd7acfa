/* The claim has no deadline, and is delivered inside, under the monitor. So a term begins with the grant, and a wait
 * does not depend on callbacks. The callbacks follow as notices. A notice first checks whether its news is still true.
 * A leave ends the candidacy under the monitor.
 */
#include "candidacy.h"

#include "base/interrupt.h"
#include "base/text.h"
#include "grant/hold.h"
#include "session/blocking.h"

struct pdk__candidacy *pdk__candidacy_ref(struct pdk__candidacy *c) {
    if (c)
        atomic_fetch_add(&c->refs, 1);
    return c;
}

void pdk__candidacy_unref(void *candidacy) {
    struct pdk__candidacy *c = candidacy;
    if (!c || atomic_fetch_sub(&c->refs, 1) != 1)
        return;
    pdk_hold_unref(c->hold);
    pdk_claim_unref(c->claim);
    pdk__queue_unref(c->queue);
    if (c->calls.user_free)
        c->calls.user_free(c->calls.user);
    g_free(c);
}

/* The references to give back outside of the monitor. */
struct leftovers {
    pdk_claim *claim;
    pdk_hold *hold;
    void (*user_free)(void *user); /* of the hold's callback */
};

/* Under the monitor. */
static pdk_status candidacy_release(struct leftovers *leftovers, const struct pdk__candidacy *c) {
    pdk__assert_locked(c->queue->s);
    leftovers->hold = pdk_hold_ref(c->hold);
    return pdk__hold_release(c->hold, &leftovers->user_free);
}

/* Not under the monitor. */
static void leftovers_drop(struct leftovers *leftovers) {
    if (leftovers->user_free)
        leftovers->user_free(leftovers->hold->loss.user);
    pdk_hold_unref(leftovers->hold);
    pdk_claim_unref(leftovers->claim);
}

/* Does it hold? A term that has lapsed, and that the timer has not rung for yet, is lost first. Under the monitor. */
static bool candidacy_holds(const struct pdk__candidacy *c) {
    pdk__assert_locked(c->queue->s);
    if (c->holding && !pdk_hold_is_valid(c->hold))
        pdk__hold_lose(c->hold, PDK_REASON_LEASE); /* its listener ends the term */
    return c->holding;
}

/* Leave, for good. false: it has left before. Under the monitor. */
static bool candidacy_step_down(struct pdk__candidacy *c, struct leftovers *leftovers) {
    pdk__assert_locked(c->queue->s);
    if (!c->place)
        return false;
    bool holding = candidacy_holds(c);
    *c->place = NULL;
    c->place = NULL;
    *leftovers = (struct leftovers){0};
    if (holding)
        candidacy_release(leftovers, c);
    else if (c->claim)
        pdk__claim_cancel(c->claim);
    leftovers->claim = g_steal_pointer(&c->claim);
    pdk__wake(&c->waiters);
    return true;
}

/* Not under the monitor, after candidacy_step_down. */
static void candidacy_clean_up(struct pdk__candidacy *c, struct leftovers *leftovers) {
    leftovers_drop(leftovers);
    if (c->kind->left)
        c->kind->left(c);
    pdk__candidacy_unref(c); /* the place's */
}

/* ---- notices: the callbacks that follow */

struct notice {
    struct pdk__candidacy *c;
    pdk_hold *hold;    /* granted: a reference */
    pdk_reason reason; /* lost */
};

static void notice_free(void *user) {
    struct notice *notice = user;
    pdk_hold_unref(notice->hold);
    pdk__candidacy_unref(notice->c);
    g_free(notice);
}

/* Under the monitor. Never refused: a session ends all terms before it goes silent. */
static void candidacy_notify(struct pdk__candidacy *c, void (*run)(void *user), pdk_hold *hold, pdk_reason reason) {
    pdk__assert_locked(c->queue->s);
    struct notice *notice = g_new(struct notice, 1);
    *notice = (struct notice){pdk__candidacy_ref(c), pdk_hold_ref(hold), reason};
    pdk__later_first(c->queue->s, run, notice_free, notice); /* all in the order of losses */
}

/* It cannot be granted: leave, and tell the user. Not under the monitor. */
static void candidacy_fail(struct pdk__candidacy *c, pdk_status status) {
    struct leftovers leftovers;
    pdk__lock(c->queue->s);
    bool ours = candidacy_step_down(c, &leftovers);
    pdk__unlock(c->queue->s);
    if (!ours)
        return;
    if (leftovers.claim) /* it was refused, which has words */
        pdk__fail(status, "%s: %s", c->queue->dir, leftovers.claim->why);
    if (c->calls.failed)
        c->calls.failed(status, c->calls.user);
    candidacy_clean_up(c, &leftovers);
}

static void failed_run(void *user) {
    const struct notice *notice = user;
    candidacy_fail(notice->c, notice->c->refused);
}

static void candidacy_decided(void *user, pdk_status status, pdk_hold *hold);

/* Queue. Under the monitor. */
static void candidacy_stand(struct pdk__candidacy *c) {
    pdk__claim_begin(c->queue, PDK_FOREVER, candidacy_decided, c, &c->claim);
}

/* Queue again, unless it has left. All under one lock, so that a call that leaves finds the new claim. */
static pdk_status candidacy_stand_again(struct pdk__candidacy *c) {
    pdk_session *s = c->queue->s;
    struct leftovers old = {0}; /* of the last term */
    pdk__lock(s);
    pdk_status status = c->place ? pdk__session_usable(s, c->kind->call) : PDK_OK;
    if (c->place) {
        old = (struct leftovers){.claim = g_steal_pointer(&c->claim), .hold = g_steal_pointer(&c->hold)};
        if (status == PDK_OK)
            candidacy_stand(c);
    }
    pdk__unlock(s);
    leftovers_drop(&old);
    return status;
}

static void granted_run(void *user) {
    const struct notice *notice = user;
    struct pdk__candidacy *c = notice->c;
    pdk__lock(c->queue->s);
    bool granted = c->place && (candidacy_holds(c) || c->received); /* or a wait told it, even of a term that is over */
    c->received |= granted;
    pdk__unlock(c->queue->s);
    c->told = granted;
    if (granted && c->calls.granted)
        c->calls.granted(notice->hold, c->calls.user);
}

static void lost_run(void *user) {
    const struct notice *notice = user;
    struct pdk__candidacy *c = notice->c;
    if (c->calls.lost && c->told)
        c->calls.lost(notice->reason, c->calls.user);
    c->told = false;
    pdk_status status = candidacy_stand_again(c);
    if (status != PDK_OK)
        candidacy_fail(c, status);
}

/* ---- under the monitor */

/* The term is over. */
static void candidacy_on_ended(struct pdk__grant_listener *l, pdk_reason reason) {
    struct pdk__candidacy *c = (struct pdk__candidacy *)l;
    c->holding = false;
    candidacy_notify(c, lost_run, NULL, reason);
}

/* A new term, or none. */
static void candidacy_decided(void *user, pdk_status status, pdk_hold *hold) {
    struct pdk__candidacy *c = user;
    if (status == PDK_OK) {
        assert(!c->holding && !c->hold);
        c->hold = hold;
        c->holding = true;
        c->received = false;
        pdk__grant_listen(hold->grant, &c->listener);
        candidacy_notify(c, granted_run, hold, PDK_REASON_NONE);
        c->kind->begun(c, hold);
    } else if (c->place) { /* else it has left, and cancelled the claim */
        c->refused = status;
        candidacy_notify(c, failed_run, NULL, PDK_REASON_NONE);
    }
    pdk__wake(&c->waiters);
}

/* ---- the calls */

void pdk__candidacy_init(struct pdk__candidacy *c, const struct pdk__candidacy_kind *kind, struct pdk__queue *queue,
                         const struct pdk__candidacy_calls *calls) {
    atomic_init(&c->refs, 1);
    c->listener.ended = candidacy_on_ended;
    c->kind = kind;
    c->calls = *calls;
    c->queue = pdk__queue_ref(queue);
}

void pdk__candidacy_begin(struct pdk__candidacy *c, struct pdk__candidacy **place) {
    pdk__assert_locked(c->queue->s);
    c->place = place;
    *place = c;
    candidacy_stand(c);
}

pdk_status pdk__candidacy_leave(pdk_session *s, struct pdk__candidacy *const *place) {
    struct leftovers leftovers;
    pdk__lock(s);
    struct pdk__candidacy *c = *place;
    bool left = c && candidacy_step_down(c, &leftovers);
    pdk__unlock(s);
    if (!left)
        return PDK_NOT_HELD;
    candidacy_clean_up(c, &leftovers);
    return PDK_OK;
}

pdk_status pdk__candidacy_resign(pdk_session *s, struct pdk__candidacy *const *place) {
    struct leftovers leftovers = {0};
    pdk__lock(s);
    const struct pdk__candidacy *c = *place;
    pdk_status status = c && candidacy_holds(c) && c->received ? candidacy_release(&leftovers, c) : PDK_NOT_HELD;
    pdk__unlock(s);
    leftovers_drop(&leftovers);
    return status == PDK_OK ? PDK_OK : PDK_NOT_HELD;
}

pdk_status pdk__candidacy_look(struct pdk__candidacy *c, pdk_hold **hold, struct pdk__waiters **waiters) {
    pdk__assert_locked(c->queue->s);
    *waiters = &c->waiters;
    if (c->queue->s->ended != PDK_OK)
        return c->queue->s->ended;
    if (!c->place || c->refused != PDK_OK)
        return PDK_NOT_HELD;
    if (candidacy_holds(c)) {
        *hold = pdk_hold_ref(c->hold);
        c->received = true;
        return PDK_OK;
    }
    return pdk__interrupted() ? PDK_CANCELED : PDK_TIMEOUT;
}

/* Wait until it holds. Under the monitor, which the thread gives up meanwhile. */
static pdk_status candidacy_wait(struct pdk__candidacy *c, int64_t deadline, pdk_hold **hold) {
    struct pdk__waiters *waiters;
    pdk_status status;
    do
        status = pdk__candidacy_look(c, hold, &waiters);
    while (status == PDK_TIMEOUT && pdk__wait(c->queue->s, waiters, deadline));
    return status;
}

/* The reference is given back when the thread is cancelled in there. */
static pdk_status candidacy_wait_or_end(struct pdk__candidacy *c, int64_t deadline, pdk_hold **hold) {
    struct pdk__leave leave = {.after = pdk__candidacy_unref, .user = c};
    pdk__leave_push(&leave);
    pdk_status status = candidacy_wait(c, deadline, hold);
    pdk__leave_pop();
    return status;
}

pdk_status pdk__candidacy_wait(pdk_session *s, struct pdk__candidacy *const *place, int64_t timeout_ms,
                               pdk_hold **out) {
    int64_t deadline = pdk__deadline(s, timeout_ms);
    pdk_hold *hold = NULL;
    pdk__lock(s);
    pdk_status status = s->ended != PDK_OK ? s->ended : PDK_NOT_HELD;
    struct pdk__candidacy *c = pdk__candidacy_ref(*place);
    if (c)
        status = pdk__interrupted() ? PDK_CANCELED : candidacy_wait_or_end(c, deadline, &hold);
    pdk__unlock(s);
    pdk__candidacy_unref(c);
    if (status == PDK_OK)
        *out = hold;
    return status;
}

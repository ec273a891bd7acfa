/* A candidate with callbacks, from join to leave.
 *
 *     join ─► claim ──granted──► leads ──the grant ended──► deposed ─► claim …
 *               └─ left, or it cannot be granted ──► gone ◄─ left ─┘
 *
 * The candidate's claim has no deadline, and is delivered inside, under the monitor. So a candidate leads from the
 * moment of the grant, and pdk_election_wait does not depend on callbacks. The callbacks follow as notices. A notice
 * first checks whether its news still holds. Leaving ends the candidacy under the monitor.
 */
#include "election_candidate.h"

#include "base/interrupt.h"
#include "base/text.h"
#include "election_observer.h"
#include "grant/claim.h"
#include "grant/hold.h"
#include "session/blocking.h"

struct pdk__candidacy {
    struct pdk__grant_listener listener; /* of the present term */
    atomic_uint refs;                    /* the election's, the observer's, and one for each notice that is due */
    struct pdk__queue *queue;            /* a reference */
    pdk_election_callbacks calls;
    pdk_observer *observer;
    bool told; /* elected was called, and deposed not since; for callbacks alone */
    /* under the monitor */
    pdk_election *election; /* NULL: left */
    pdk_claim *claim;       /* a reference; waits, or was decided */
    pdk_hold *hold;         /* a reference; of the present term, or the last */
    pdk_status refused;     /* why it cannot be a candidate; the notice of it follows */
    bool leading;
    bool received;               /* the user knows that it leads: by the callback, or by pdk_election_wait */
    struct pdk__waiters waiters; /* in pdk_election_wait */
};

static void unref(void *user) {
    struct pdk__candidacy *c = user;
    if (atomic_fetch_sub(&c->refs, 1) != 1)
        return;
    pdk_hold_unref(c->hold);
    pdk_claim_unref(c->claim);
    pdk__queue_unref(c->queue);
    if (c->calls.user_free)
        c->calls.user_free(c->calls.user);
    g_free(c);
}

static struct pdk__candidacy *ref(struct pdk__candidacy *c) {
    atomic_fetch_add(&c->refs, 1);
    return c;
}

/* The references to give back outside of the monitor. */
struct leftovers {
    pdk_claim *claim;
    pdk_hold *hold;
    void (*user_free)(void *user); /* of the hold's callback */
};

/* Under the monitor. */
static pdk_status release(struct leftovers *leftovers, const struct pdk__candidacy *c) {
    pdk__assert_locked(c->queue->s);
    leftovers->hold = pdk_hold_ref(c->hold);
    return pdk__hold_release(c->hold, &leftovers->user_free);
}

/* Not under the monitor. */
static void drop(struct leftovers *leftovers) {
    if (leftovers->user_free)
        leftovers->user_free(leftovers->hold->loss.user);
    pdk_hold_unref(leftovers->hold);
    pdk_claim_unref(leftovers->claim);
}

/* Do we lead? A term that has lapsed, and that the timer has not rung for yet, is lost first. Under the monitor. */
static bool leads(const struct pdk__candidacy *c) {
    pdk__assert_locked(c->queue->s);
    if (c->leading && !pdk_hold_is_valid(c->hold))
        pdk__hold_lose(c->hold, PDK_REASON_LEASE); /* its listener deposes the candidate */
    return c->leading;
}

/* Leave the election, for good. false: it has left before. Under the monitor. */
static bool step_down(struct pdk__candidacy *c, struct leftovers *leftovers) {
    pdk__assert_locked(c->queue->s);
    if (!c->election)
        return false;
    bool leading = leads(c);
    c->election->candidacy = NULL;
    c->election = NULL;
    *leftovers = (struct leftovers){0};
    if (leading)
        release(leftovers, c);
    else if (c->claim)
        pdk__claim_cancel(c->claim);
    leftovers->claim = g_steal_pointer(&c->claim);
    pdk__wake(&c->waiters);
    return true;
}

/* Not under the monitor, after step_down. */
static void clean_up(struct pdk__candidacy *c, struct leftovers *leftovers) {
    drop(leftovers);
    pdk_observer_close(g_steal_pointer(&c->observer));
    unref(c); /* the election's */
}

/* ---- notices: the callbacks that follow */

struct notice {
    struct pdk__candidacy *c;
    pdk_hold *hold;    /* elected: a reference */
    pdk_reason reason; /* deposed */
};

static void notice_free(void *user) {
    struct notice *notice = user;
    pdk_hold_unref(notice->hold);
    unref(notice->c);
    g_free(notice);
}

/* Under the monitor. Never refused: a session ends all terms before it goes silent. */
static void notify(struct pdk__candidacy *c, void (*run)(void *user), pdk_hold *hold, pdk_reason reason) {
    pdk__assert_locked(c->queue->s);
    struct notice *notice = g_new(struct notice, 1);
    *notice = (struct notice){ref(c), pdk_hold_ref(hold), reason};
    pdk__later_first(c->queue->s, run, notice_free, notice); /* also what comes before and after a deposition */
}

/* It cannot be a candidate: leave, and tell the user. Not under the monitor. */
static void fail(struct pdk__candidacy *c, pdk_status status) {
    struct leftovers leftovers;
    pdk__lock(c->queue->s);
    bool ours = step_down(c, &leftovers);
    pdk__unlock(c->queue->s);
    if (!ours)
        return;
    if (leftovers.claim) /* it was refused, which has words */
        pdk__fail(status, "%s: %s", c->queue->dir, leftovers.claim->why);
    if (c->calls.failed)
        c->calls.failed(status, c->calls.user);
    clean_up(c, &leftovers);
}

static void failed_run(void *user) {
    const struct notice *notice = user;
    fail(notice->c, notice->c->refused);
}

static void decided(void *user, pdk_status status, pdk_hold *hold);

/* Queue. Under the monitor. */
static void stand(struct pdk__candidacy *c) { pdk__claim_begin(c->queue, PDK_FOREVER, decided, c, &c->claim); }

/* Queue again, unless it has left. Under one lock, so a call that leaves finds the new claim. */
static pdk_status stand_again(struct pdk__candidacy *c) {
    pdk_session *s = c->queue->s;
    struct leftovers old = {0}; /* of the last term */
    pdk__lock(s);
    pdk_status status = c->election ? pdk__session_usable(s, c->election->call) : PDK_OK;
    if (c->election) {
        old = (struct leftovers){.claim = g_steal_pointer(&c->claim), .hold = g_steal_pointer(&c->hold)};
        if (status == PDK_OK)
            stand(c);
    }
    pdk__unlock(s);
    drop(&old);
    return status;
}

static void elected_run(void *user) {
    const struct notice *notice = user;
    struct pdk__candidacy *c = notice->c;
    pdk__lock(c->queue->s);
    bool elected = c->election && (leads(c) || c->received); /* after pdk_election_wait, even of a term that is over */
    c->received |= elected;
    pdk__unlock(c->queue->s);
    c->told = elected;
    if (elected && c->calls.elected)
        c->calls.elected(notice->hold, c->calls.user);
}

static void deposed_run(void *user) {
    const struct notice *notice = user;
    struct pdk__candidacy *c = notice->c;
    if (c->calls.deposed && c->told)
        c->calls.deposed(notice->reason, c->calls.user);
    c->told = false;
    pdk_status status = stand_again(c);
    if (status != PDK_OK)
        fail(c, status);
}

/* ---- under the monitor */

static struct pdk__candidacy *of(struct pdk__grant_listener *l) { return (struct pdk__candidacy *)l; }

/* The term is over. */
static void on_ended(struct pdk__grant_listener *l, pdk_reason reason) {
    struct pdk__candidacy *c = of(l);
    c->leading = false;
    notify(c, deposed_run, NULL, reason);
}

/* A new term, or none. */
static void decided(void *user, pdk_status status, pdk_hold *hold) {
    struct pdk__candidacy *c = user;
    if (status == PDK_OK) {
        assert(!c->leading && !c->hold);
        c->hold = hold;
        c->leading = true;
        c->received = false;
        pdk__grant_listen(hold->grant, &c->listener);
        notify(c, elected_run, hold, PDK_REASON_NONE);
        pdk__observers_elected(c->queue);
        if (hold->grant->entries[0]->outdated)
            c->election->amend(c->election, hold);
    } else if (c->election) { /* else it has left, and cancelled the claim */
        c->refused = status;
        notify(c, failed_run, NULL, PDK_REASON_NONE);
    }
    pdk__wake(&c->waiters);
}

/* ---- the calls */

static void tell_leader(const char *identity, int64_t token, void *user) {
    const struct pdk__candidacy *c = user;
    c->calls.leader(identity, token, c->calls.user);
}

/* Its observer begins when it becomes a candidate. So the first callback may leave already. The observer may outlive
 * the candidate while it tells a leader. Under the monitor. */
static void enrol(struct pdk__candidacy *c, pdk_election *election) {
    pdk__assert_locked(election->queue->s);
    election->candidacy = ref(c);
    c->election = election;
    if (c->calls.leader)
        c->observer = pdk__observer_begin(election, tell_leader, NULL, ref(c), unref);
    stand(c);
}

pdk_status pdk__candidacy_begin(pdk_election *election, const pdk_election_callbacks *calls) {
    pdk_session *s = election->queue->s;
    struct pdk__candidacy *c = g_new0(struct pdk__candidacy, 1);
    atomic_init(&c->refs, 1);
    c->listener.ended = on_ended;
    c->queue = pdk__queue_ref(election->queue);
    c->calls = *calls;
    pdk__lock(s);
    pdk_status status = pdk__election_may_join(election, election->call);
    if (status == PDK_OK)
        enrol(c, election);
    else
        c->calls.user_free = NULL;
    pdk__unlock(s);
    unref(c);
    return status;
}

pdk_status pdk__candidacy_leave(pdk_election *election) {
    pdk_session *s = election->queue->s;
    struct leftovers leftovers;
    pdk__lock(s);
    struct pdk__candidacy *c = election->candidacy;
    bool left = c && step_down(c, &leftovers);
    pdk__unlock(s);
    if (!left)
        return PDK_NOT_HELD;
    clean_up(c, &leftovers);
    return PDK_OK;
}

pdk_status pdk__candidacy_resign(pdk_election *election) {
    pdk_session *s = election->queue->s;
    struct leftovers leftovers = {0};
    pdk__lock(s);
    const struct pdk__candidacy *c = election->candidacy;
    pdk_status status = c && leads(c) && c->received ? release(&leftovers, c) : PDK_NOT_HELD;
    pdk__unlock(s);
    drop(&leftovers);
    return status == PDK_OK ? PDK_OK : PDK_NOT_HELD;
}

struct pdk__candidacy *pdk__candidacy_of(const pdk_election *election) {
    pdk__assert_locked(election->queue->s);
    return election->candidacy ? ref(election->candidacy) : NULL;
}

void pdk__candidacy_unref(struct pdk__candidacy *c) {
    if (c)
        unref(c);
}

pdk_status pdk__candidacy_look(struct pdk__candidacy *c, pdk_hold **hold, struct pdk__waiters **waiters) {
    pdk__assert_locked(c->queue->s);
    *waiters = &c->waiters;
    if (c->queue->s->ended != PDK_OK)
        return c->queue->s->ended;
    if (!c->election || c->refused != PDK_OK)
        return PDK_NOT_HELD;
    if (leads(c)) {
        *hold = pdk_hold_ref(c->hold);
        c->received = true;
        return PDK_OK;
    }
    return pdk__interrupted() ? PDK_CANCELED : PDK_TIMEOUT;
}

/* Wait until it leads. Under the monitor, which the thread gives up meanwhile. */
static pdk_status await(struct pdk__candidacy *c, int64_t deadline, pdk_hold **hold) {
    struct pdk__waiters *waiters;
    pdk_status status;
    do
        status = pdk__candidacy_look(c, hold, &waiters);
    while (status == PDK_TIMEOUT && pdk__wait(c->queue->s, waiters, deadline));
    return status;
}

static void give_back(void *c) { unref(c); }

static pdk_status await_or_leave(struct pdk__candidacy *c, int64_t deadline, pdk_hold **hold) {
    struct pdk__leave leave = {.after = give_back, .user = c};
    pdk__leave_push(&leave);
    pdk_status status = await(c, deadline, hold);
    pdk__leave_pop();
    return status;
}

pdk_status pdk__candidacy_await(pdk_election *election, int64_t timeout_ms, pdk_hold **out) {
    pdk_session *s = election->queue->s;
    int64_t deadline = pdk__deadline(s, timeout_ms);
    pdk_hold *hold = NULL;
    pdk__lock(s);
    pdk_status status = s->ended != PDK_OK ? s->ended : PDK_NOT_HELD;
    struct pdk__candidacy *c = election->candidacy ? ref(election->candidacy) : NULL;
    if (c)
        status = pdk__interrupted() ? PDK_CANCELED : await_or_leave(c, deadline, &hold);
    pdk__unlock(s);
    if (c)
        unref(c);
    if (status == PDK_OK)
        *out = hold;
    return status;
}

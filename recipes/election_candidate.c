/* A candidate with callbacks, from join to leave.
 *
 *     join ─► claim ──granted──► elected ──the right ended──► deposed ─► claim …
 *               └─ left, or it cannot be granted ──► gone ◄─ left ─┘
 *
 * A claim is queued without end. Its callback brings the hold; whoever awaits it accepts it before that, so as not to depend on
 * callbacks. Leaving ends it under the monitor; what is still due finds it left.
 */
#include "base/text.h"
#include "election.h"
#include "grant/claim.h"
#include "grant/hold.h"

struct pdk__candidacy {
    atomic_uint refs;         /* the election's, and one for each callback that is due */
    struct pdk__queue *queue; /* a reference */
    pdk_election_callbacks calls;
    pdk_observer *observer;
    bool told; /* elected, and not deposed since; on the thread of callbacks */
    /* under the monitor */
    pdk_election *election; /* NULL: left */
    pdk_claim *claim;       /* a reference; that waits, or is about to be delivered */
    pdk_hold *hold;         /* a reference; of the present term, or the last */
    bool leading;
};

static void unref(void *user) {
    struct pdk__candidacy *c = user;
    if (atomic_fetch_sub(&c->refs, 1) != 1)
        return;
    pdk_hold_unref(c->hold);
    pdk__queue_unref(c->queue);
    g_free(c);
}

static struct pdk__candidacy *ref(struct pdk__candidacy *c) {
    atomic_fetch_add(&c->refs, 1);
    return c;
}

/* What is to be given back outside of the monitor. */
struct remains {
    pdk_claim *claim;
    pdk_hold *hold;                /* released */
    void (*user_free)(void *user); /* of its callback */
};

static void depose(struct pdk__candidacy *c, pdk_reason reason);

/* Under the monitor. */
static pdk_status release(struct remains *remains, pdk_hold *hold) {
    remains->hold = pdk_hold_ref(hold);
    return pdk__hold_release(hold, &remains->user_free);
}

/* Not under the monitor. */
static void drop(struct remains *remains) {
    if (remains->user_free)
        remains->user_free(remains->hold->user);
    pdk_hold_unref(remains->hold);
    pdk_claim_unref(remains->claim);
}

/* Under the monitor: nobody wants what the claim gets, or has got and its callback has yet to bring. */
static void abandon(struct remains *remains, pdk_claim *claim) {
    pdk_hold *hold = pdk__claim_cancel(claim) ? NULL : pdk__claim_accept(claim);
    claim->deadline = 0; /* a grant that has lapsed is not queued for again */
    remains->claim = claim;
    if (hold)
        release(remains, hold);
}

/* Under the monitor: do we lead? A term that has lapsed, before the timer came round to it, is lost first. */
static bool leads(const struct pdk__candidacy *c) {
    if (c->leading && !pdk_hold_valid(c->hold))
        pdk__hold_lose(c->hold, PDK_REASON_LEASE); /* and deposed, by way of the line */
    return c->leading;
}

/* Under the monitor: out of it, for good. false: it was already. */
static bool step_down(struct pdk__candidacy *c, struct remains *remains) {
    if (!c->election)
        return false;
    bool leading = leads(c);
    c->election->candidacy = NULL;
    c->election = NULL;
    *remains = (struct remains){.claim = g_steal_pointer(&c->claim)};
    if (leading) {
        depose(c, PDK_REASON_NONE);
        release(remains, c->hold);
    } else if (remains->claim) {
        abandon(remains, remains->claim);
    }
    pthread_cond_broadcast(&c->queue->s->changed);
    return true;
}

/* Not under the monitor, after step_down. */
static void clean_up(struct pdk__candidacy *c, struct remains *remains) {
    drop(remains);
    pdk_observer_stop(g_steal_pointer(&c->observer));
    unref(c); /* the election's */
}

/* It cannot be a candidate. */
static void fail(struct pdk__candidacy *c, pdk_status status) {
    struct remains remains;
    pdk__lock(c->queue->s);
    bool told = step_down(c, &remains);
    pdk__unlock(c->queue->s);
    if (!told)
        return;
    if (c->calls.failed)
        c->calls.failed(status, c->calls.user);
    clean_up(c, &remains);
}

static void on_acquired(pdk_status status, pdk_hold *hold, void *user);

/* Stand in line, again, unless it has left. Under one lock: whoever leaves finds the claim that stands. */
static pdk_status stand(struct pdk__candidacy *c) {
    pdk_session *s = c->queue->s;
    pdk__lock(s);
    pdk_status status = c->election ? pdk__session_usable(s, "pdk_election_join") : PDK_OK;
    if (c->election && status == PDK_OK) {
        c->claim = pdk__claim_begin(c->queue, 1, PDK_FOREVER, on_acquired, ref(c));
        c->claim->user_free = unref;
        pthread_cond_broadcast(&s->changed);
    }
    pdk__unlock(s);
    return status;
}

/* ---- deposed */

struct news {
    struct pdk__candidacy *c;
    pdk_reason reason;
};

static void news_free(void *user) {
    struct news *news = user;
    unref(news->c);
    g_free(news);
}

static void deposed_run(void *user) {
    const struct news *news = user;
    struct pdk__candidacy *c = news->c;
    if (c->calls.deposed && c->told)
        c->calls.deposed(news->reason, c->calls.user);
    c->told = false;
    pdk_status status = stand(c);
    if (status != PDK_OK)
        fail(c, status);
}

/* Under the monitor: the term is over; the callback follows. */
static void depose(struct pdk__candidacy *c, pdk_reason reason) {
    struct news *news = g_new(struct news, 1);
    *news = (struct news){ref(c), reason};
    c->leading = false;
    if (!pdk__later(c->queue->s, deposed_run, news_free, news)) {
        atomic_fetch_sub(&c->refs, 1); /* not the last: who brings the news has one */
        g_free(news);
    }
}

void pdk__candidacy_ended(struct pdk__candidacy *c, pdk_reason reason) {
    if (c->leading) /* else it was never received */
        depose(c, reason);
}

/* ---- elected */

/* Under the monitor: a new term. What it returns is to be dropped outside. */
static pdk_hold *lead(struct pdk__candidacy *c, pdk_hold *hold) {
    pdk_hold *old = c->hold;
    c->hold = hold;
    c->leading = true;
    if (hold->ended) /* between its delivery and now */
        depose(c, hold->reason);
    pthread_cond_broadcast(&c->queue->s->changed);
    return old;
}

static void on_acquired(pdk_status status, pdk_hold *hold, void *user) {
    struct pdk__candidacy *c = user;
    pdk_session *s = c->queue->s;
    pdk_hold *old = hold; /* one that was accepted already, or that nobody wants */
    pdk__lock(s);
    bool left = !c->election, elected = status == PDK_OK && !left;
    if (elected && hold != c->hold)
        old = lead(c, hold);
    pdk_claim *claim = g_steal_pointer(&c->claim);
    pdk__unlock(s);
    pdk_claim_unref(claim);
    c->told = elected;
    if (elected && c->calls.elected)
        c->calls.elected(hold, c->calls.user);
    if (status == PDK_OK && left)
        pdk_hold_release(hold);
    else
        pdk_hold_unref(old);
    if (status != PDK_OK && !left)
        fail(c, status);
}

/* ---- the calls */

/* Not under the monitor. */
static void give_up(struct pdk__candidacy *c) {
    struct remains remains;
    pdk__lock(c->queue->s);
    bool mine = step_down(c, &remains);
    pdk__unlock(c->queue->s);
    if (mine)
        clean_up(c, &remains);
}

/* Under the monitor: its observer begins as it becomes a candidate, so that whoever leaves in the first callback can. */
static void enrol(struct pdk__candidacy *c, pdk_election *election) {
    election->candidacy = ref(c);
    c->election = election;
    if (c->calls.leader)
        c->observer = pdk__observer_begin(election, c->calls.leader, c->calls.user, NULL);
}

pdk_status pdk__candidacy_begin(pdk_election *election, const pdk_election_callbacks *calls) {
    pdk_session *s = election->queue->s;
    struct pdk__candidacy *c = g_new0(struct pdk__candidacy, 1);
    atomic_init(&c->refs, 1);
    c->queue = pdk__queue_ref(election->queue);
    c->calls = *calls;
    pdk__lock(s);
    pdk_status status = pdk__election_may_join(election, "pdk_election_join");
    if (status == PDK_OK)
        enrol(c, election);
    pdk__unlock(s);
    if (status == PDK_OK && (status = stand(c)) != PDK_OK)
        give_up(c);
    unref(c);
    return status;
}

pdk_status pdk__candidacy_leave(pdk_election *election) {
    pdk_session *s = election->queue->s;
    struct remains remains;
    pdk__lock(s);
    struct pdk__candidacy *c = election->candidacy;
    bool left = c && step_down(c, &remains);
    pdk__unlock(s);
    if (!left)
        return PDK_NOT_HELD;
    clean_up(c, &remains);
    return PDK_OK;
}

pdk_status pdk__candidacy_resign(pdk_election *election) {
    pdk_session *s = election->queue->s;
    struct remains remains = {0};
    pdk__lock(s);
    const struct pdk__candidacy *c = election->candidacy;
    pdk_status status = c && leads(c) ? release(&remains, c->hold) : PDK_NOT_HELD;
    pdk__unlock(s);
    drop(&remains);
    return status == PDK_OK ? PDK_OK : PDK_NOT_HELD;
}

/* Under the monitor: the hold, if we lead; *old is to be dropped outside. */
static pdk_hold *present_hold(struct pdk__candidacy *c, pdk_hold **old) {
    pdk_hold *hold = c->leading || !c->claim ? NULL : pdk__claim_accept(c->claim);
    if (hold)
        *old = lead(c, pdk_hold_ref(hold));
    return c->leading ? pdk_hold_ref(c->hold) : NULL;
}

/* Under the monitor: it cannot be a candidate, and the callback that says so has not run yet. */
static bool is_refused(const struct pdk__candidacy *c) {
    return c->claim && c->claim->state == PDK__CLAIM_DECIDED && c->claim->status != PDK_OK;
}

/* Under the monitor, which is given up meanwhile. */
static pdk_status await(struct pdk__candidacy *c, int64_t deadline, pdk_hold **hold, pdk_hold **old) {
    pdk_session *s = c->queue->s;
    pdk_status status = PDK_TIMEOUT;
    do {
        if (s->ended != PDK_OK)
            status = s->ended;
        else if (!c->election || is_refused(c))
            status = PDK_NOT_HELD;
        else if ((*hold = present_hold(c, old)))
            status = PDK_OK;
    } while (status == PDK_TIMEOUT && pdk__wait(s, &s->changed, deadline));
    return status;
}

pdk_status pdk__candidacy_await(pdk_election *election, int64_t timeout_ms, pdk_hold **out) {
    pdk_session *s = election->queue->s;
    int64_t deadline = pdk__deadline(s, timeout_ms);
    pdk_hold *hold = NULL, *old = NULL;
    pdk__lock(s);
    pdk_status status = s->ended != PDK_OK ? s->ended : PDK_NOT_HELD;
    struct pdk__candidacy *c = election->candidacy ? ref(election->candidacy) : NULL;
    if (c)
        status = await(c, deadline, &hold, &old);
    pdk__unlock(s);
    pdk_hold_unref(old);
    if (c)
        unref(c);
    if (status == PDK_OK)
        *out = hold;
    return status;
}

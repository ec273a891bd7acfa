#include "set_claim.h"

#include "base/cancel.h"
#include "base/fork.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "grant/claim.h"
#include "session/blocking.h"

enum phase { TAKING, DECIDED, ENDED };

struct pdk_set_claim {
    atomic_uint refs;
    struct pdk__taking taking;
    struct pdk__follower end; /* of its session */
    atomic_bool home_ended;
    /* A step at a time; it comes before every monitor. All below is under it, or is the blocked thread's. */
    pthread_mutex_t steps;
    enum phase phase;
    const char *given_up; /* why, or NULL */
    pdk_status status;    /* once DECIDED */
    char *why;
    struct pdk_set *set;    /* a reference, until it is received */
    pdk_set_acquired_fn fn; /* NULL: a thread is blocked */
    void *user;
};

static pdk_session *set_claim_session_of(const struct pdk__taken_right *right) { return right->right.queue->s; }
static struct pdk__taken_right *present(struct pdk_set_claim *claim) { return pdk__taking_current(&claim->taking); }
/* The home is the session of the first right. It tells of the result, and of the loss, so the claim ends with it. */
static pdk_session *home(const struct pdk_set_claim *claim) { return set_claim_session_of(&claim->taking.rights[0]); }

static void happened(struct pdk__taken_right *r);
static void home_ended(struct pdk__follower *follower);

struct pdk_set_claim *pdk__set_claim_new(const struct pdk__right *rights, guint count,
                                         const struct pdk__set_terms *terms) {
    struct pdk_set_claim *claim = g_new0(struct pdk_set_claim, 1);
    atomic_init(&claim->refs, 1);
    pthread_mutex_init(&claim->steps, NULL);
    claim->taking.happened = happened;
    claim->end.ended = home_ended;
    pdk__taking_init(&claim->taking, rights, count, terms);
    return claim;
}

static bool is_ours(const struct pdk_set_claim *claim) { return home(claim)->forks == pdk__forks(); }

static struct pdk_set_claim *claim_ref(struct pdk_set_claim *claim) {
    atomic_fetch_add(&claim->refs, 1);
    return claim;
}

void pdk_set_claim_unref(pdk_set_claim *claim) {
    if (!claim || !is_ours(claim) || atomic_fetch_sub(&claim->refs, 1) != 1)
        return;
    pdk__taking_clear(&claim->taking);
    pthread_mutex_destroy(&claim->steps);
    g_free(claim->why);
    g_free(claim);
}

/* ---- events, under the monitor of a session */

static void arrive(void *user);

static struct pdk_set_claim *claim_of(const struct pdk__taken_right *r) {
    return (struct pdk_set_claim *)((char *)r->taking - G_STRUCT_OFFSET(struct pdk_set_claim, taking));
}

static void happened(struct pdk__taken_right *r) {
    struct pdk_set_claim *claim = claim_of(r);
    pdk_session *s = set_claim_session_of(r);
    struct pdk__taken_right *now = present(claim);
    if (!claim->fn && set_claim_session_of(now) == s) {
        pdk__wake(&now->waiters);
        return;
    }
    if (atomic_exchange(&r->due, true))
        return; /* the step that is due sees this, too */
    /* Claims that wait for a majority take steps all the time. So steps take their turn among the answers: ahead of
     * them, those of many claims would keep an answer back for as long as the claims wait. */
    enum pdk__due kind = claim->fn ? PDK__DUE_CALLBACK : PDK__DUE_LOSS;
    claim_ref(claim);
    if (!pdk__later_outside(s, kind, arrive, r)) /* a session answers its claims before it goes silent */
        atomic_fetch_sub(&claim->refs, 1);
}

static void home_ended(struct pdk__follower *follower) {
    struct pdk_set_claim *claim =
        (struct pdk_set_claim *)((char *)follower - G_STRUCT_OFFSET(struct pdk_set_claim, end));
    atomic_store(&claim->home_ended, true);
    happened(&claim->taking.rights[0]);
}

static void follow(struct pdk_set_claim *claim) {
    pdk_session *s = home(claim);
    pdk__lock(s);
    if (s->ended == PDK_OK)
        pdk__follow_end(s, &claim->end);
    else
        atomic_store(&claim->home_ended, true);
    pdk__unlock(s);
}

/* ---- steps */

/* A notice in the outbox of the home. When a notice was too late, the next one may be there before the first is
 * dropped. */
struct delivery {
    struct pdk_set_claim *claim; /* the claim's own reference */
    bool ran;
};

static void deliver(void *delivery);
static void drop(void *delivery);

/* Decide the claim, and deliver it in the same section of the home's monitor in which it stops to follow the home's
 * end: a close that comes earlier finds a step in the outbox, and waits for it, and a close that comes later finds the
 * delivery. */
static void decide(struct pdk_set_claim *claim, pdk_status status, char *why) {
    pdk_session *s = home(claim);
    struct delivery *d = NULL;
    claim->phase = DECIDED;
    claim->status = status;
    claim->why = why;
    pdk__taking_give_back(&claim->taking);
    if (claim->fn) {
        d = g_new0(struct delivery, 1);
        d->claim = claim;
    }
    pdk__lock(s);
    pdk__unfollow_end(s, &claim->end);
    bool taken = !d || pdk__later(s, deliver, drop, d);
    pdk__unlock(s);
    if (!taken) { /* nobody receives it */
        g_clear_pointer(&claim->set, pdk_set_unref);
        atomic_fetch_sub(&claim->refs, 1); /* not the last: the thread in this step has another one */
        g_free(d);
    }
}

static void decide_as_home_ended(struct pdk_set_claim *claim) {
    pdk_session *s = home(claim);
    pdk__lock(s);
    pdk_status status = s->ended;
    char *why = g_strdup_printf("%s: %s", claim->taking.rights[0].right.path, s->trouble_text);
    pdk__unlock(s);
    decide(claim, status, why);
}

/* Take steps until it waits for something, or is DECIDED. */
static void take_steps(struct pdk_set_claim *claim) {
    while (claim->phase == TAKING) {
        if (claim->given_up) {
            decide(claim, PDK_CANCELED, g_strdup(claim->given_up));
            return;
        }
        if (atomic_load(&claim->home_ended)) {
            decide_as_home_ended(claim);
            return;
        }
        enum pdk__majority_step step = pdk__taking_go_on(&claim->taking);
        if (step == PDK__MAJORITY_WAIT)
            return;
        if (step == PDK__MAJORITY_FAIL)
            decide(claim, claim->taking.status, g_steal_pointer(&claim->taking.why));
        else if ((claim->set = pdk__taking_complete(&claim->taking)))
            decide(claim, PDK_OK, NULL);
    }
}

/* Receive the set, some time after the decision. false: it was lost meanwhile, and the claim is TAKING again. */
static bool receive(struct pdk_set_claim *claim) {
    if (claim->status == PDK_OK && !(pdk__taking_in_time(&claim->taking) && pdk_set_is_valid(claim->set))) {
        pdk_set_unref(g_steal_pointer(&claim->set));
        claim->phase = TAKING;
        follow(claim);
        pdk__taking_begin_anew(&claim->taking);
        return false;
    }
    claim->phase = ENDED;
    return true;
}

/* ---- the blocked thread */

static void await(struct pdk_set_claim *claim) {
    struct pdk__taken_right *now = present(claim);
    pdk_session *s = set_claim_session_of(now);
    pdk__lock(s);
    while (!pdk__taking_has_news(&claim->taking) && !atomic_load(&claim->home_ended) && !claim->given_up) {
        if (pdk__interrupted())
            claim->given_up = PDK__INTERRUPTED;
        else
            pdk__wait(s, &now->waiters, pdk__taking_sure_until(&claim->taking));
    }
    pdk__unlock(s);
}

/* The thread was cancelled, outside of all monitors by now. */
static void abandon(void *user) {
    struct pdk_set_claim *claim = user;
    decide(claim, PDK_CANCELED, NULL);
    pdk_set_claim_unref(claim);
}

static void carry_out(struct pdk_set_claim *claim) {
    struct pdk__leave leave = {.after = abandon, .user = claim};
    pdk__leave_push(&leave);
    follow(claim);
    do {
        take_steps(claim);
        while (claim->phase == TAKING) {
            await(claim);
            take_steps(claim);
        }
    } while (!receive(claim));
    pdk__leave_pop();
}

pdk_status pdk__set_claim_wait(struct pdk_set_claim *claim, const char *call, struct pdk_set **out) {
    pdk__cancel_off();
    if (pdk__interrupted())
        claim->given_up = PDK__INTERRUPTED;
    carry_out(claim);
    pdk_status status = claim->status;
    if (status == PDK_OK) {
        pdk__set_own(claim->set, pdk__this_thread());
        *out = g_steal_pointer(&claim->set);
    } else {
        pdk__fail(status, "%s: %s", call, claim->why);
    }
    pdk_set_claim_unref(claim);
    pdk__cancel_back();
    return status;
}

/* ---- the callback */

static void drop(void *user) {
    struct delivery *d = user;
    struct pdk_set_claim *claim = d->claim;
    if (!d->ran) { /* nobody received it */
        pthread_mutex_lock(&claim->steps);
        g_clear_pointer(&claim->set, pdk_set_unref);
        pthread_mutex_unlock(&claim->steps);
    }
    pdk_set_claim_unref(claim);
    g_free(d);
}

/* The caller has a reference. */
static void set_claim_go_on(struct pdk_set_claim *claim, struct pdk_set_claim **out) {
    pthread_mutex_lock(&claim->steps);
    if (out)
        *out = claim_ref(claim);
    take_steps(claim);
    pthread_mutex_unlock(&claim->steps);
}

static void deliver(void *user) {
    struct delivery *d = user;
    struct pdk_set_claim *claim = d->claim;
    d->ran = true;
    pthread_mutex_lock(&claim->steps);
    bool received = receive(claim);
    pdk_status status = claim->status;
    struct pdk_set *set = g_steal_pointer(&claim->set);
    if (!received) {
        claim_ref(claim); /* the claim's own, again: the reference of this delivery is dropped */
        take_steps(claim);
    }
    pthread_mutex_unlock(&claim->steps);
    if (!received)
        return;
    if (status != PDK_OK)
        pdk__fail(status, "pdk_set_acquire_async: %s", claim->why);
    claim->fn(status, set, claim->user);
}

/* A step that an event has queued, or the word to the blocked thread. */
static void arrive(void *user) {
    struct pdk__taken_right *right = user;
    struct pdk_set_claim *claim = claim_of(right);
    atomic_store(&right->due, false);
    if (claim->fn) {
        set_claim_go_on(claim, NULL);
    } else {
        struct pdk__taken_right *now = present(claim);
        pdk__lock(set_claim_session_of(now));
        pdk__wake(&now->waiters);
        pdk__unlock(set_claim_session_of(now));
    }
    pdk_set_claim_unref(claim);
}

void pdk__set_claim_start(struct pdk_set_claim *claim, pdk_set_acquired_fn fn, void *user, struct pdk_set_claim **out) {
    claim->fn = fn;
    claim->user = user;
    pdk__cancel_off();
    follow(claim);
    set_claim_go_on(claim_ref(claim), out);
    pdk_set_claim_unref(claim);
    pdk__cancel_back();
}

/* ---- the public calls about a claim that is pending */

static pdk_status set_claim_check(const pdk_set_claim *claim, const char *call) {
    if (!claim)
        return pdk__fail(PDK_INVALID, "%s: claim: NULL", call);
    if (!is_ours(claim))
        return pdk__fail(PDK_FORKED, "%s: the claim belongs to the parent process", call);
    return PDK_OK;
}

pdk_status pdk_set_claim_cancel(pdk_set_claim *claim) {
    static const char call[] = "pdk_set_claim_cancel";
    pdk_status status = set_claim_check(claim, call);
    if (status != PDK_OK)
        return status;
    pdk__cancel_off();
    pthread_mutex_lock(&claim->steps);
    bool taking = claim->phase == TAKING;
    if (taking)
        claim->given_up = "cancelled";
    pthread_mutex_unlock(&claim->steps);
    set_claim_go_on(claim, NULL);
    pdk__cancel_back();
    if (taking)
        return PDK_OK;
    return pdk__fail(PDK_NOT_HELD, "%s: too late, the claim was decided; its callback has, or gets, the result", call);
}

pdk_status pdk_set_claim_position(pdk_set_claim *claim, int32_t *ahead) {
    static const char call[] = "pdk_set_claim_position";
    pdk_status status = set_claim_check(claim, call);
    if (status != PDK_OK)
        return status;
    if (!ahead)
        return pdk__fail(PDK_INVALID, "%s: ahead: NULL", call);
    pthread_mutex_lock(&claim->steps);
    const struct pdk__taken_right *right = present(claim);
    bool taking = claim->phase == TAKING;
    int32_t found = -1;
    if (taking) {
        pdk__lock(set_claim_session_of(right));
        if (right->claim && !atomic_load(&right->answered))
            found = pdk__queue_ahead(right->right.queue, right->claim);
        pdk__unlock(set_claim_session_of(right));
    }
    pthread_mutex_unlock(&claim->steps);
    if (!taking)
        return pdk__fail(PDK_NOT_HELD, "%s: the claim has been decided", call);
    if (found < 0)
        return pdk__fail(PDK_UNAVAILABLE, "%s: no server has confirmed a place in line yet", call);
    *ahead = found;
    return PDK_OK;
}

pdk_set_claim *pdk_set_claim_ref(pdk_set_claim *claim) { return claim ? claim_ref(claim) : NULL; }

#include "claim.h"

#include "fork.h"
#include "hold.h"
#include "text.h"

uint64_t pdk__this_thread(void) {
    static _Atomic uint64_t threads;
    static _Thread_local uint64_t number;
    if (number == 0)
        number = atomic_fetch_add(&threads, 1) + 1;
    return number;
}

static void on_deadline(pdk_session *s, void *user) {
    struct pdk_claim *claim = user;
    struct pdk__line *line = claim->line;
    (void)s;
    bool in_line = !claim->is_try && pdk__line_ahead(line, claim) >= 0;
    pdk__claim_decide(claim, in_line ? PDK_TIMEOUT : PDK_UNAVAILABLE,
                      in_line ? "the deadline passed while in line"
                              : "no server confirmed a place in line, and the lease, in time",
                      NULL);
    pdk__line_advance(line);
}

struct pdk_claim *pdk__claim_new(struct pdk__line *line, int32_t count, int64_t timeout_ms, pdk_acquired_fn fn,
                                 void *user) {
    struct pdk_claim *claim = g_new0(struct pdk_claim, 1);
    atomic_init(&claim->refs, 2);
    claim->line = pdk__line_ref(line);
    claim->is_try = timeout_ms == 0;
    claim->count = count;
    claim->deadline = pdk__deadline(line->s, claim->is_try ? line->s->request_timeout_ms : timeout_ms);
    claim->alarm = (struct pdk__alarm){.ring = on_deadline, .user = claim};
    claim->link.data = claim;
    claim->fn = fn;
    claim->user = user;
    claim->thread = pdk__this_thread();
    pdk__cond_init(&claim->woken);
    return claim;
}

pdk_claim *pdk_claim_ref(pdk_claim *claim) {
    if (claim)
        atomic_fetch_add(&claim->refs, 1);
    return claim;
}

void pdk_claim_unref(pdk_claim *claim) {
    if (!claim || claim->line->s->forks != pdk__forks() || atomic_fetch_sub(&claim->refs, 1) != 1)
        return;
    pthread_cond_destroy(&claim->woken);
    if (claim->hold)
        pdk_hold_unref(claim->hold); /* nobody came for it */
    if (claim->user_free)
        claim->user_free(claim->user);
    pdk__line_unref(claim->line);
    g_free(claim->why);
    g_free(claim);
}

static void queue_up(struct pdk_claim *claim) {
    claim->state = PDK__CLAIM_QUEUED;
    pdk__alarm_set(claim->line->s, &claim->alarm, claim->deadline);
    pdk__line_push(claim->line, claim);
}

/* ---- the callback */

static void deliver(void *user) {
    struct pdk_claim *claim = user;
    pdk_session *s = claim->line->s;
    pdk_status status;
    struct pdk_hold *hold = NULL, *lapsed = NULL;
    pdk__lock(s);
    bool received = pdk__claim_receive(claim, &status, &hold, &lapsed);
    if (!received)
        pdk_claim_ref(claim); /* the line's again; this delivery's is dropped */
    pdk__unlock(s);
    pdk_hold_unref(lapsed);
    if (!received)
        return;
    if (status != PDK_OK)
        pdk__fail(status, "%s: %s", claim->line->dir, claim->why);
    claim->fn(status, hold, claim->user);
}

static void drop(void *claim) { pdk_claim_unref(claim); }

/* ---- under the monitor */

void pdk__claim_decide(struct pdk_claim *claim, pdk_status status, const char *why, struct pdk_hold *hold) {
    pdk__line_forget(claim->line, claim);
    g_queue_unlink(&claim->line->claims, &claim->link);
    pdk__alarm_off(&claim->alarm);
    claim->state = PDK__CLAIM_DECIDED;
    claim->status = status;
    claim->hold = hold;
    g_free(claim->why);
    claim->why = g_strdup(why);
    if (!claim->fn) {
        pthread_cond_signal(&claim->woken);
        return;
    }
    /* Always taken: a session ends, and decides all claims, before it goes silent. */
    pdk__later(claim->line->s, deliver, drop, claim);
    pthread_cond_broadcast(&claim->line->s->changed); /* who may accept it ahead of the callback */
}

bool pdk__claim_receive(struct pdk_claim *claim, pdk_status *status, struct pdk_hold **hold, struct pdk_hold **lapsed) {
    pdk_session *s = claim->line->s;
    bool in_time = pdk__now(s) < claim->deadline;
    *status = claim->status;
    *hold = g_steal_pointer(&claim->hold);
    if (claim->status == PDK_OK && !claim->accepted && !(in_time && pdk_hold_valid(*hold))) {
        pdk__hold_discard(*hold);
        *lapsed = g_steal_pointer(hold);
        if (in_time && s->ended == PDK_OK) {
            queue_up(claim);
            return false;
        }
        *status = s->ended != PDK_OK ? s->ended : PDK_TIMEOUT;
        g_free(claim->why);
        claim->why = g_strdup(pdk_status_text(*status));
    }
    claim->state = PDK__CLAIM_ENDED;
    return true;
}

bool pdk__claim_cancel(struct pdk_claim *claim) {
    if (claim->state != PDK__CLAIM_QUEUED)
        return false;
    pdk__claim_decide(claim, PDK_CANCELED, "cancelled", NULL);
    pdk__line_advance(claim->line);
    return true;
}

struct pdk_hold *pdk__claim_accept(struct pdk_claim *claim) {
    if (claim->state != PDK__CLAIM_DECIDED || !claim->hold || !pdk_hold_valid(claim->hold))
        return NULL;
    claim->accepted = true;
    return claim->hold;
}

/* ---- whole acquisitions */

/* A hold of this thread on the same recipe object, or NULL. */
static struct pdk_hold *mine(const struct pdk__line *line, uint64_t thread) {
    for (const GList *link = line->main->rights.head; link; link = link->next)
        for (const GList *in = ((const struct pdk__right *)link->data)->holds.head; in; in = in->next)
            if (((struct pdk_hold *)in->data)->thread == thread)
                return in->data;
    return NULL;
}

/* What this thread holds already: *nested is one more hold of the same right, where the line allows it. */
static pdk_status meet_own(struct pdk_claim *claim, const char *call, struct pdk_hold **nested) {
    struct pdk__line *line = claim->line;
    struct pdk_hold *own;
    if (line->kind.again == PDK__AGAIN_QUEUES)
        return PDK_OK;
    while ((own = mine(line, claim->thread)) && !pdk_hold_valid(own))
        pdk__hold_lose(own, PDK_REASON_LEASE); /* before the timer came round to it */
    if (!own)
        return PDK_OK;
    if (line->kind.again == PDK__AGAIN_NESTS)
        *nested = pdk__hold_new(own->right, claim);
    else if (own->right->shared && !line->kind.shared)
        return pdk__fail(PDK_UPGRADE, "%s: %s: this thread holds it shared; release that first, and look again", call,
                         line->dir);
    else
        return pdk__fail(PDK_DEADLOCK, "%s: %s: this thread holds it; %s it first, or pdk_hold_detach_thread", call,
                         line->dir, line->kind.shared && !own->right->shared ? "downgrade or release" : "release");
    return PDK_OK;
}

/* Under the monitor, which is given up meanwhile. */
static pdk_status await(struct pdk_claim *claim, struct pdk_hold **hold) {
    pdk_session *s = claim->line->s;
    pdk_status status;
    struct pdk_hold *lapsed = NULL;
    bool received;
    do {
        while (claim->state == PDK__CLAIM_QUEUED)
            pthread_cond_wait(&claim->woken, &s->monitor);
        received = pdk__claim_receive(claim, &status, hold, &lapsed);
        pdk__unlock(s);
        pdk_hold_unref(g_steal_pointer(&lapsed));
        pdk__lock(s);
    } while (!received);
    return status;
}

pdk_status pdk__claim_wait(struct pdk__line *line, int32_t count, int64_t timeout_ms, const char *call,
                           struct pdk_hold **out) {
    pdk_session *s = line->s;
    pdk_status status = pdk__may_block(s, call, timeout_ms);
    if (status != PDK_OK)
        return status;
    struct pdk_claim *claim = pdk__claim_new(line, count, timeout_ms, NULL, NULL);
    struct pdk_hold *hold = NULL;
    pdk__lock(s);
    status = pdk__session_usable(s, call);
    if (status == PDK_OK)
        status = meet_own(claim, call, &hold);
    if (status == PDK_OK && !hold) {
        queue_up(claim);
        status = await(claim, &hold);
        if (status != PDK_OK)
            pdk__fail(status, "%s: %s: %s", call, line->dir, claim->why);
    }
    pdk__unlock(s);
    pdk_claim_unref(claim);
    pdk_claim_unref(claim); /* the line's: it is through with it, or never took it */
    if (status == PDK_OK)
        *out = hold;
    return status;
}

struct pdk_claim *pdk__claim_begin(struct pdk__line *line, int32_t count, int64_t timeout_ms, pdk_acquired_fn fn,
                                   void *user) {
    struct pdk_claim *claim = pdk__claim_new(line, count, timeout_ms, fn, user);
    queue_up(claim);
    return claim;
}

pdk_status pdk__claim_start(struct pdk__line *line, int32_t count, int64_t timeout_ms, const char *call,
                            pdk_acquired_fn fn, void *user, struct pdk_claim **out) {
    pdk_session *s = line->s;
    pdk_status status = pdk__check_call(s, call, timeout_ms);
    if (status != PDK_OK)
        return status;
    pdk__lock(s);
    status = pdk__session_usable(s, call);
    struct pdk_claim *claim = status == PDK_OK ? pdk__claim_begin(line, count, timeout_ms, fn, user) : NULL;
    if (claim && out)
        *out = pdk_claim_ref(claim);
    pdk__unlock(s);
    pdk_claim_unref(claim);
    return status;
}

static pdk_status check_claim(pdk_claim *claim, const char *call) {
    if (!claim)
        return pdk__fail(PDK_INVALID, "%s: claim: NULL", call);
    if (claim->line->s->forks != pdk__forks())
        return pdk__fail(PDK_FORKED, "%s: the claim belongs to the parent process", call);
    return PDK_OK;
}

pdk_status pdk_claim_cancel(pdk_claim *claim) {
    pdk_status status = check_claim(claim, "pdk_claim_cancel");
    if (status != PDK_OK)
        return status;
    pdk__lock(claim->line->s);
    bool cancelled = pdk__claim_cancel(claim);
    pdk__unlock(claim->line->s);
    return cancelled
               ? PDK_OK
               : pdk__fail(PDK_NOT_HELD, "pdk_claim_cancel: too late, the claim was decided; its callback has, or "
                                         "gets, the result");
}

pdk_status pdk_claim_position(pdk_claim *claim, int32_t *ahead) {
    pdk_status status = check_claim(claim, "pdk_claim_position");
    if (status != PDK_OK)
        return status;
    if (!ahead)
        return pdk__fail(PDK_INVALID, "pdk_claim_position: ahead: NULL");
    struct pdk__line *line = claim->line;
    pdk__lock(line->s);
    if (claim->state != PDK__CLAIM_QUEUED)
        status = pdk__fail(PDK_NOT_HELD, "pdk_claim_position: the claim has been decided");
    else if (pdk__line_ahead(line, claim) < 0)
        status = pdk__fail(PDK_UNAVAILABLE, "pdk_claim_position: no server has confirmed a place in line yet");
    else
        *ahead = pdk__line_ahead(line, claim);
    pdk__unlock(line->s);
    return status;
}

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
    bool in_line = !claim->is_try && (line->hold || (line->place && line->place->c.listed));
    pdk__claim_decide(claim, in_line ? PDK_TIMEOUT : PDK_UNAVAILABLE,
                      in_line ? "the deadline passed while in line"
                              : "no server confirmed a place in line, and the lease, in time",
                      NULL);
    pdk__line_advance(line);
}

struct pdk_claim *pdk__claim_new(struct pdk__line *line, int64_t timeout_ms, pdk_acquired_fn fn, void *user) {
    struct pdk_claim *claim = g_new0(struct pdk_claim, 1);
    atomic_init(&claim->refs, 2);
    claim->line = pdk__line_ref(line);
    claim->is_try = timeout_ms == 0;
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
    g_queue_unlink(&claim->line->claims, &claim->link);
    pdk__alarm_off(&claim->alarm);
    claim->state = PDK__CLAIM_DECIDED;
    claim->status = status;
    claim->hold = hold;
    g_free(claim->why);
    claim->why = g_strdup(why);
    if (claim->fn) /* always taken: a session ends, and decides all claims, before it goes silent */
        pdk__later(claim->line->s, deliver, drop, claim);
    else
        pthread_cond_signal(&claim->woken);
}

bool pdk__claim_receive(struct pdk_claim *claim, pdk_status *status, struct pdk_hold **hold, struct pdk_hold **lapsed) {
    pdk_session *s = claim->line->s;
    bool in_time = pdk__now(s) < claim->deadline;
    *status = claim->status;
    *hold = g_steal_pointer(&claim->hold);
    if (claim->status == PDK_OK && !(in_time && pdk_hold_valid(*hold))) {
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

/* ---- whole acquisitions */

pdk_status pdk__claim_wait(struct pdk__line *line, int64_t timeout_ms, const char *call, struct pdk_hold **out) {
    pdk_session *s = line->s;
    pdk_status status = pdk__may_block(s, call, timeout_ms);
    if (status != PDK_OK)
        return status;
    struct pdk_claim *claim = pdk__claim_new(line, timeout_ms, NULL, NULL);
    struct pdk_hold *hold = NULL, *lapsed = NULL;
    pdk__lock(s);
    status = pdk__session_usable(s, call);
    pdk__line_check(line);
    if (status == PDK_OK && line->hold && line->hold->thread == claim->thread)
        status = pdk__fail(PDK_DEADLOCK, "%s: %s: this thread holds it; release it first, or pdk_hold_detach_thread",
                           call, line->dir);
    bool queued = status == PDK_OK;
    if (queued)
        queue_up(claim);
    while (queued) {
        while (claim->state == PDK__CLAIM_QUEUED)
            pthread_cond_wait(&claim->woken, &s->monitor);
        if (pdk__claim_receive(claim, &status, &hold, &lapsed))
            break;
        pdk__unlock(s);
        pdk_hold_unref(g_steal_pointer(&lapsed));
        pdk__lock(s);
    }
    pdk__unlock(s);
    pdk_hold_unref(lapsed);
    if (queued && status != PDK_OK)
        pdk__fail(status, "%s: %s: %s", call, line->dir, claim->why);
    pdk_claim_unref(claim);
    pdk_claim_unref(claim);
    if (status == PDK_OK)
        *out = hold;
    return status;
}

pdk_status pdk__claim_start(struct pdk__line *line, int64_t timeout_ms, const char *call, pdk_acquired_fn fn,
                            void *user, struct pdk_claim **out) {
    pdk_session *s = line->s;
    pdk_status status = pdk__check_call(s, call, timeout_ms);
    if (status != PDK_OK)
        return status;
    struct pdk_claim *claim = pdk__claim_new(line, timeout_ms, fn, user);
    pdk__lock(s);
    status = pdk__session_usable(s, call);
    if (status == PDK_OK) {
        if (out)
            *out = pdk_claim_ref(claim);
        queue_up(claim);
    }
    pdk__unlock(s);
    if (status != PDK_OK)
        pdk_claim_unref(claim); /* the line never took it */
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
    else if (!line->hold && !(line->place && line->place->c.listed))
        status = pdk__fail(PDK_UNAVAILABLE, "pdk_claim_position: no server has confirmed a place in line yet");
    else
        *ahead = g_queue_link_index(&line->claims, &claim->link) + (line->hold ? 1 : line->place->c.ahead);
    pdk__unlock(line->s);
    return status;
}

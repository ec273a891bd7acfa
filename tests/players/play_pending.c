#include "plays.h"

static void answer(pending *p, pdk_status status, pdk_hold *hold, pdk_set *set) {
    actor *c = p->c;
    pthread_mutex_lock(&c->mutex);
    p->status = status;
    p->hold = hold;
    p->set = set;
    p->answered = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->mutex);
}

void pending_answer(pdk_status status, pdk_hold *hold, void *user) { answer(user, status, hold, NULL); }
void pending_set_answer(pdk_status status, pdk_set *set, void *user) { answer(user, status, NULL, set); }

/* False: the order to rest came first. */
static bool wait_for_it(pending *p, bool or_rest) {
    actor *c = p->c;
    pthread_mutex_lock(&c->mutex);
    while (!p->answered && !(or_rest && c->resting))
        actor_wait(c, PDK_FOREVER);
    bool answered = p->answered;
    pthread_mutex_unlock(&c->mutex);
    return answered;
}

static void on_queued(pdk_claim *claim, int32_t ahead, void *user) {
    const pending *p = user;
    (void)claim;
    (void)ahead;
    record_queued(p->record);
}

/* The answer comes all the same when the claim is withdrawn. */
void pending_await(pending *p, pdk_claim *claim) {
    if (p->record)
        actor_expect(p->c, "on_queued", pdk_claim_on_queued(claim, on_queued, p), PDK_NOT_HELD);
    p->withdrawn = !wait_for_it(p, true);
    if (p->withdrawn) {
        actor_expect(p->c, "cancel", pdk_claim_cancel(claim), PDK_NOT_HELD);
        wait_for_it(p, false);
    }
    pdk_claim_unref(claim);
}

void pending_set_await(pending *p, pdk_set_claim *claim) {
    p->withdrawn = !wait_for_it(p, true);
    if (p->withdrawn) {
        actor_expect(p->c, "cancel", pdk_set_claim_cancel(claim), PDK_NOT_HELD);
        wait_for_it(p, false);
    }
    pdk_set_claim_unref(claim);
}

bool pending_may_fail(const pending *p) {
    if (p->status == PDK_CANCELED)
        return p->withdrawn;
    return player_may_give_up(p->timeout_ms, p->status);
}

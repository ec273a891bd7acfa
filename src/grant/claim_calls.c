/* The calls about a claim that is pending: of one right, or the handle to a claim of several. */
#include "base/fork.h"
#include "base/text.h"
#include "grant/all.h"
#include "grant/claim.h"

static pdk_status check_claim(pdk_claim *claim, const char *call) {
    if (!claim)
        return pdk__fail(PDK_INVALID, "%s: claim: NULL", call);
    if (claim->queue->s->forks != pdk__forks())
        return pdk__fail(PDK_FORKED, "%s: the claim belongs to the parent process", call);
    return PDK_OK;
}

pdk_status pdk_claim_cancel(pdk_claim *claim) {
    pdk_status status = check_claim(claim, "pdk_claim_cancel");
    if (status != PDK_OK)
        return status;
    bool cancelled;
    if (claim->all) {
        cancelled = pdk__all_cancel(claim->all);
    } else {
        pdk__lock(claim->queue->s);
        cancelled = pdk__claim_cancel(claim);
        pdk__unlock(claim->queue->s);
    }
    return cancelled
               ? PDK_OK
               : pdk__fail(PDK_NOT_HELD, "pdk_claim_cancel: too late, the claim was decided; its callback has, or "
                                         "gets, the result");
}

pdk_status pdk_claim_on_queued(pdk_claim *claim, pdk_queued_fn fn, void *user) {
    static const char call[] = "pdk_claim_on_queued";
    pdk_status status = check_claim(claim, call);
    if (status != PDK_OK)
        return status;
    if (!fn)
        return pdk__fail(PDK_INVALID, "%s: fn: NULL", call);
    if (claim->all)
        return pdk__fail(PDK_UNSUPPORTED,
                         "%s: a claim of several rights has one position after the other; "
                         "pdk_claim_position tells the present one",
                         call);
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

static int32_t position(struct pdk_claim *claim) {
    pdk_session *s = claim->queue->s;
    pdk__lock(s);
    int32_t found = claim->state == PDK__CLAIM_QUEUED ? pdk__queue_ahead(claim->queue, claim) : PDK__DECIDED;
    pdk__unlock(s);
    return found;
}

pdk_status pdk_claim_position(pdk_claim *claim, int32_t *ahead) {
    pdk_status status = check_claim(claim, "pdk_claim_position");
    if (status != PDK_OK)
        return status;
    if (!ahead)
        return pdk__fail(PDK_INVALID, "pdk_claim_position: ahead: NULL");
    int32_t found = claim->all ? pdk__all_position(claim->all) : position(claim);
    if (found == PDK__DECIDED)
        return pdk__fail(PDK_NOT_HELD, "pdk_claim_position: the claim has been decided");
    if (found < 0)
        return pdk__fail(PDK_UNAVAILABLE, "pdk_claim_position: no server has confirmed a place in line yet");
    *ahead = found;
    return PDK_OK;
}

#include "grant/ensure.h"

#include "base/text.h"
#include "session/blocking.h"
#include "session/call.h"
#include "session/renew.h"

static const char ensure_name[] = "pdk_hold_ensure", ensure_async_name[] = "pdk_hold_ensure_async";

/* OK: it is valid for that long. TIMEOUT: not yet. Otherwise NOT_HELD or LOST. Under the monitor. */
static pdk_status ensuring_hold_has(pdk_hold *hold, int64_t ms) {
    pdk__assert_locked(hold->s);
    if (hold->loss.released)
        return PDK_NOT_HELD;
    if (!pdk_hold_is_valid(hold))
        return PDK_LOST;
    return pdk_hold_remaining_ms(hold) >= ms ? PDK_OK : PDK_TIMEOUT;
}

static pdk_status ensuring_fail(pdk_status status, const pdk_hold *hold, const char *name) {
    return pdk__fail(status, "%s: %s: %s", name, hold->node, pdk_status_text(status));
}

pdk_status pdk__ensuring_how_it_ended(pdk_hold *hold, const char *name) {
    pdk__lock(hold->s);
    pdk_status status = ensuring_fail(ensuring_hold_has(hold, 0), hold, name);
    pdk__unlock(hold->s);
    return status;
}

pdk_status pdk__ensuring_check(pdk_hold *hold, int64_t ms, const char *name) {
    pdk__lock(hold->s);
    const struct pdk__lease *lease = &hold->s->lease;
    int64_t longest = (pdk__lease_longest(lease) - 2 * pdk__lease_urgent_period(lease)) / PDK__MS;
    int64_t most = MIN(longest, pdk__hold_most_ms(hold));
    bool possible = ms >= 0 && (ms <= most || ensuring_hold_has(hold, ms) != PDK_TIMEOUT);
    pdk__unlock(hold->s);
    if (possible)
        return PDK_OK;
    return pdk__fail(PDK_INVALID, "%s: ms is %lld; from 0 to %lld%s", name, (long long)ms, (long long)most,
                     most < longest ? ", since this hold ends by itself" : " with this session timeout");
}

pdk_status pdk__ensuring_step(struct pdk__call *c) {
    struct pdk__ensuring *e = (struct pdk__ensuring *)c;
    pdk_status status = ensuring_hold_has(e->hold, e->ms);
    if (status == PDK_OK)
        return status;
    if (status != PDK_TIMEOUT)
        return ensuring_fail(status, e->hold, c->name);
    if (!e->urgent) {
        e->urgent = true;
        c->s->urgent++;
        pdk__renew_now(c->s);
        pdk__renew_soon(c->s);
    }
    if (pdk__call_is_late(c))
        return pdk__fail(PDK_UNAVAILABLE, "%s: %s: no renewal within request_timeout_ms", c->name, e->hold->node);
    return pdk__call_waits(c, pdk__hold_await(e->hold), INT64_MAX);
}

void pdk__ensuring_leave(struct pdk__call *c) {
    struct pdk__ensuring *e = (struct pdk__ensuring *)c;
    if (e->urgent)
        c->s->urgent--;
    e->urgent = false;
}

void pdk__ensuring_free(struct pdk__call *c) {
    struct pdk__ensuring *e = (struct pdk__ensuring *)c;
    pdk_hold_unref(e->hold);
    g_free(e);
}

struct pdk__ensuring *pdk__ensuring_new(pdk_hold *hold, int64_t ms, const char *name, int64_t until) {
    static const struct pdk__call_kind kind = {NULL, pdk__ensuring_step, pdk__ensuring_leave, NULL, pdk__ensuring_free};
    struct pdk__ensuring *e = g_new0(struct pdk__ensuring, 1);
    int64_t left_ms = MAX((until - pdk__now(hold->s) + PDK__MS - 1) / PDK__MS, 0);
    e->call = pdk__call_make(&kind, hold->s, name, left_ms);
    e->hold = pdk_hold_ref(hold);
    e->ms = ms;
    return e;
}

/* ---- the public functions */

static pdk_status ensure_check_hold(const pdk_hold *hold, const char *name) {
    if (!hold)
        return pdk__fail(PDK_INVALID, "%s: hold: NULL", name);
    if (!pdk__hold_is_ours(hold))
        return pdk__fail(PDK_FORKED, "%s: the hold belongs to the parent process", name);
    return PDK_OK;
}

pdk_status pdk_hold_ensure(pdk_hold *hold, int64_t ms) {
    pdk_status status = ensure_check_hold(hold, ensure_name);
    if (status != PDK_OK)
        return status;
    status = pdk__may_block(hold->s, ensure_name, 0);
    if (status != PDK_OK)
        return status;
    status = pdk__ensuring_check(hold, ms, ensure_name);
    if (status != PDK_OK)
        return status;
    int64_t until = pdk__deadline(hold->s, hold->s->request_timeout_ms);
    return pdk__call_wait(&pdk__ensuring_new(hold, ms, ensure_name, until)->call);
}

pdk_status pdk_hold_ensure_async(pdk_hold *hold, int64_t ms, pdk_answered_fn fn, void *user) {
    pdk_status status = ensure_check_hold(hold, ensure_async_name);
    if (status != PDK_OK)
        return status;
    status = pdk__call_check_fn(ensure_async_name, fn);
    if (status != PDK_OK)
        return status;
    status = pdk__ensuring_check(hold, ms, ensure_async_name);
    if (status != PDK_OK)
        return status;
    int64_t until = pdk__deadline(hold->s, hold->s->request_timeout_ms);
    struct pdk__ensuring *e = pdk__ensuring_new(hold, ms, ensure_async_name, until);
    e->call.answered = fn;
    e->call.user = user;
    return pdk__call_start(&e->call);
}

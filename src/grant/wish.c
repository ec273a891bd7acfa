/* The wish that a holder lets go, and how the holder hears of it. Nothing is forced.
 *
 *     node written ──watch──► entry reads it anyway, to watch it again ──► grant's wish ──► on_asked of each hold
 *
 * No request is added: a held entry that settles reads its node, and again after each write to it. Under the monitor.
 */

#include "base/fork.h"
#include "base/text.h"
#include "grant/hold.h"

#include <paddock/revoke.h>

/* The callback of a hold. */
struct asked {
    struct pdk__wish_listener base;
    pdk_request_fn fn;
    void *user;
    void (*user_free)(void *user);
    unsigned told; /* the number of the newest wish that it was told of, or is about to be */
};

/* A call of it that is due. */
struct call {
    pdk_hold *hold; /* a reference */
    char *who;
    int64_t until_ms;
};

static void call_run(void *user) {
    struct call *call = user;
    pdk_hold *hold = call->hold;
    pdk__lock(hold->s);
    bool wanted = !hold->ended;
    pdk__unlock(hold->s);
    const struct asked *asked = (struct asked *)hold->wishes;
    if (wanted)
        asked->fn(hold, call->who, call->until_ms, asked->user);
}

static void call_drop(void *user) {
    struct call *call = user;
    pdk_hold_unref(call->hold);
    g_free(call->who);
    g_free(call);
}

/* Have on_asked called once for the newest wish, as soon as both are there. */
static void asked_tell(struct pdk_hold *hold) {
    const struct pdk__grant *grant = hold->grant;
    struct asked *asked = (struct asked *)hold->wishes;
    if (!grant || asked->told == grant->wish.number)
        return;
    asked->told = grant->wish.number;
    struct call *call = g_new(struct call, 1);
    *call = (struct call){pdk_hold_ref(hold), g_strdup(grant->wish.who), grant->wish.until_ms};
    if (!pdk__later(hold->s, call_run, call_drop, call))
        call_drop(call); /* not the last reference: the hold has not been released */
}

static void asked_free(struct pdk__wish_listener *asker) {
    struct asked *asked = (struct asked *)asker;
    if (asked->user_free)
        asked->user_free(asked->user);
    g_free(asked);
}

pdk_status pdk_hold_on_request(pdk_hold *hold, pdk_request_fn fn, void *user, void (*user_free)(void *user)) {
    pdk_status status = PDK_OK;
    if (!hold || !fn)
        return pdk__fail(PDK_INVALID, "pdk_hold_on_request: %s: NULL", !hold ? "hold" : "fn");
    if (hold->s->forks != pdk__forks())
        return pdk__fail(PDK_FORKED, "pdk_hold_on_request: the hold belongs to the parent process");
    pdk__lock(hold->s);
    if (hold->loss.released) {
        status = pdk__fail(PDK_NOT_HELD, "pdk_hold_on_request: %s: released", hold->node);
    } else if (hold->wishes) {
        status = pdk__fail(PDK_INVALID, "pdk_hold_on_request: %s: a callback is set already; one per hold", hold->node);
    } else {
        struct asked *asked = g_new(struct asked, 1);
        *asked = (struct asked){{asked_tell, asked_free}, fn, user, user_free, 0};
        hold->wishes = &asked->base;
        asked_tell(hold);
    }
    pdk__unlock(hold->s);
    return status;
}

#include "grant/asked.h"

#include "base/fork.h"
#include "base/text.h"
#include "core/revocation.h"
#include "grant/hold.h"
#include "session/harmless.h"

/* A call of on_asked that is due. */
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
    if (wanted)
        hold->asked->fn(hold, call->who, call->until_ms, hold->asked->user);
}

static void call_drop(void *user) {
    struct call *call = user;
    pdk_hold_unref(call->hold);
    g_free(call->who);
    g_free(call);
}

/* Have on_asked called once for the newest wish, as soon as both are there. */
static void tell(struct pdk_hold *hold) {
    const struct pdk__grant *grant = hold->grant;
    if (!hold->asked || !grant || hold->asked->told == grant->wish.number)
        return;
    hold->asked->told = grant->wish.number;
    struct call *call = g_new(struct call, 1);
    *call = (struct call){pdk_hold_ref(hold), g_strdup(grant->wish.who), grant->wish.until_ms};
    if (!pdk__later(hold->s, call_run, call_drop, call))
        call_drop(call); /* not the last reference: the hold has not been released */
}

void pdk__asked_read(struct pdk__grant *grant, struct pdk__entry *entry, const struct pdk__reply *reply) {
    struct pdk__revocation r;
    pdk_session *s = grant->queue->s;
    pdk__assert_locked(s);
    if (!pdk__revocation_read(reply->data, reply->data_size, &r) ||
        (entry->asked && entry->asked_version == reply->version))
        return;
    entry->asked = true;
    entry->asked_version = reply->version;
    g_free(grant->wish.who);
    grant->wish.who = pdk__harmless(r.who, r.who_size);
    grant->wish.until_ms = pdk__revocation_until(&r, reply->mtime_ms);
    grant->wish.number++;
    pdk__log(s, PDK_LOG_INFO, "%s: asked to let go, by %s", entry->own_path,
             r.who_size > 0 ? grant->wish.who : "one who gives no name");
    for (GList *link = grant->holds.head; link; link = link->next)
        tell(link->data);
}

void pdk__asked_free(struct pdk__asked *asked) {
    if (!asked)
        return;
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
    if (hold->parts)
        return pdk__fail(PDK_INVALID,
                         "pdk_hold_on_request: hold: it is of several rights, which are not asked together");
    pdk__lock(hold->s);
    if (hold->released) {
        status = pdk__fail(PDK_NOT_HELD, "pdk_hold_on_request: %s: released", hold->node);
    } else if (hold->asked) {
        status = pdk__fail(PDK_INVALID, "pdk_hold_on_request: %s: a callback is set already; one per hold", hold->node);
    } else {
        hold->asked = g_new(struct pdk__asked, 1);
        *hold->asked = (struct pdk__asked){fn, user, user_free, 0};
        tell(hold);
    }
    pdk__unlock(hold->s);
    return status;
}

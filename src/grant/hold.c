#include "grant/hold.h"

#include "grant/claim.h"

#include <sys/eventfd.h>

struct pdk_hold *pdk__hold_new(struct pdk__grant *grant, const struct pdk_claim *claim) {
    struct pdk__queue *queue = grant->queue;
    pdk_session *s = queue->s;
    struct pdk_hold *hold = g_new0(struct pdk_hold, 1);
    atomic_init(&hold->refs, 1);
    atomic_init(&hold->until, s->lease.end);
    hold->s = s;
    hold->queue = pdk__queue_ref(queue);
    hold->token = grant->token;
    hold->handover = grant->handover;
    g_snprintf(hold->token_text, sizeof hold->token_text, "%020" G_GINT64_FORMAT, hold->token);
    hold->node = g_strdup(grant->entries[0]->own_path);
    hold->proof = g_strdup_printf("%s %s", hold->node, queue->kind.mode);
    hold->grant = grant;
    hold->in_grant.data = hold;
    g_queue_push_tail_link(&grant->holds, &hold->in_grant);
    hold->thread = claim->fn ? 0 : claim->thread;
    hold->fd = -1;
    hold->link.data = hold;
    g_queue_push_tail_link(&s->holds, &hold->link);
    return hold;
}

/* The token stays; the node it was the czxid of does not, so the proof names that of the new one as well. */
void pdk__hold_stands_on(struct pdk_hold *hold, const struct pdk__entry *entry, const char *mode) {
    g_free(hold->proof);
    hold->proof = g_strdup_printf("%s %s/%" G_GINT64_FORMAT, entry->own_path, mode, entry->c.token);
    hold->old_sequencer = g_steal_pointer(&hold->sequencer);
}

static void tell_run(void *user) {
    struct pdk_hold *hold = user;
    pdk_session *s = hold->s;
    pdk__lock(s);
    bool wanted = !hold->released;
    hold->telling = wanted;
    pdk__unlock(s);
    if (!wanted)
        return; /* and its user was freed by the release */
    hold->on_lost(hold, hold->reason, hold->user);
    pdk__lock(s);
    hold->telling = false;
    void (*user_free)(void *) = g_steal_pointer(&hold->user_free);
    pdk__unlock(s);
    if (user_free)
        user_free(hold->user);
}

static void tell_drop(void *hold) { pdk_hold_unref(hold); }

/* Once per hold: when it is lost and there is somebody to be told. */
void pdk__hold_tell(struct pdk_hold *hold) {
    if (!hold->on_lost || hold->told || hold->released || hold->reason == PDK_REASON_NONE)
        return;
    hold->told = true;
    pdk_hold_ref(hold);
    if (!pdk__later(hold->s, tell_run, tell_drop, hold))
        atomic_fetch_sub(&hold->refs, 1); /* not the last: who lost it, or asks, has one */
}

static void end(struct pdk_hold *hold, bool kept) {
    hold->ended = true;
    g_queue_unlink(&hold->s->holds, &hold->link);
    pthread_cond_broadcast(&hold->s->changed);
    pdk__grant_hold_ended(g_steal_pointer(&hold->grant), hold, kept);
}

void pdk__hold_lose(struct pdk_hold *hold, pdk_reason reason) {
    if (hold->ended)
        return;
    hold->reason = pdk_hold_valid(hold) ? reason : PDK_REASON_LEASE; /* what comes first counts: it may have slept */
    atomic_store(&hold->until, PDK__LAPSED);
    if (hold->fd >= 0)
        eventfd_write(hold->fd, 1);
    pdk__log(hold->s, PDK_LOG_WARN, "%s lost: %s", hold->node, pdk_reason_name(hold->reason));
    pdk__hold_tell(hold);
    end(hold, false);
}

void pdk__hold_discard(struct pdk_hold *hold) {
    hold->released = true;
    if (hold->ended)
        return;
    bool kept = pdk_hold_valid(hold);
    atomic_store(&hold->until, PDK__RELEASED);
    end(hold, kept);
}

void pdk__holds_extend(pdk_session *s, int64_t end_ns) {
    int64_t now = pdk__now(s);
    for (GList *link = s->holds.head; link; link = link->next) {
        struct pdk_hold *hold = link->data;
        int64_t until = atomic_load(&hold->until);
        while (until > now && until < end_ns && !atomic_compare_exchange_weak(&hold->until, &until, end_ns))
            ;
    }
}

void pdk__holds_shorten(pdk_session *s, int64_t end_ns) {
    for (GList *link = s->holds.head; link; link = link->next) {
        struct pdk_hold *hold = link->data;
        int64_t until = atomic_load(&hold->until);
        while (until > end_ns && !atomic_compare_exchange_weak(&hold->until, &until, end_ns))
            ;
    }
    pdk__holds_check(s);
}

void pdk__holds_check(pdk_session *s) {
    for (GList *link = s->holds.head, *next; link; link = next) {
        next = link->next;
        if (pdk_hold_valid(link->data))
            continue;
        pdk__hold_lose(link->data, PDK_REASON_LEASE);
        if (next && ((const struct pdk_hold *)next->data)->ended) /* it shared the right, and was lost with it */
            next = s->holds.head;
    }
}

void pdk__holds_lose(pdk_session *s, pdk_reason reason) {
    pdk__holds_check(s); /* what had lapsed before was lost for that reason */
    while (s->holds.head)
        pdk__hold_lose(s->holds.head->data, reason);
}

#include "grant/grant.h"

#include "core/revocation.h"
#include "grant/hold.h"
#include "session/harmless.h"

static struct pdk__grant *grant_of(struct pdk__entry_owner *owner) { return (struct pdk__grant *)owner; }

/* The invariants of a grant, from its first hold to its end. */
static void assert_stands(const struct pdk__grant *grant) {
    pdk__assert_locked(grant->queue->s);
    assert(grant->count > 0 && !g_queue_is_empty((GQueue *)&grant->holds));
    for (guint i = 0; i < grant->count; i++)
        assert(grant->entries[i]->owner == &grant->owner);
    assert(!grant->exchange || grant->count == 1);
}

/* The loss of the first hold is the loss of all, and the end of the grant. */
static void lose(struct pdk__grant *grant, pdk_reason reason) {
    pdk__hold_lose(((GList *)grant->holds.head)->data, reason);
}

/* The reader's node has the writer's position in the queue, so the grant stands on it, and the writer's node goes. */
static void take_over(struct pdk__grant *grant) {
    struct pdk__queue *queue = grant->queue;
    struct pdk__entry *old = grant->entries[0];
    grant->entries[0] = g_steal_pointer(&grant->exchange);
    for (GList *link = grant->holds.head; link; link = link->next)
        pdk__hold_stands_on(link->data, grant->entries[0], "shared");
    pdk__entry_drop(old);
    pdk__queue_detach(queue, grant);
}

static void exchange_moved(struct pdk__grant *grant) {
    struct pdk__entry *entry = grant->exchange;
    if (entry->c.phase == PDK__HELD) {
        take_over(grant);
    } else if (entry->c.leaving) {
        bool exchanged_gone = entry->c.failure == PDK_OK;
        if (!exchanged_gone)
            pdk__log(grant->queue->s, PDK_LOG_WARN,
                     "%s: a reader's node is refused (%s): others wait until the release", grant->queue->dir,
                     pdk_status_text(entry->c.failure));
        pdk__entry_drop(g_steal_pointer(&grant->exchange));
        if (exchanged_gone)
            lose(grant, PDK_REASON_NODE_GONE); /* the writer's node does not exist any more */
    }
}

static void grant_moved(struct pdk__entry_owner *owner, struct pdk__entry *entry) {
    struct pdk__grant *grant = grant_of(owner);
    assert_stands(grant);
    if (entry == grant->exchange)
        exchange_moved(grant);
    else if (entry->c.phase == PDK__GONE)
        lose(grant, PDK_REASON_NODE_GONE);
}

static void tell_wish(struct pdk_hold *hold) {
    if (hold->wishes)
        hold->wishes->wished(hold);
}

void pdk__grant_read(struct pdk__grant *grant, struct pdk__entry *entry, const struct pdk__reply *reply) {
    struct pdk__revocation r;
    pdk_session *s = grant->queue->s;
    pdk__assert_locked(s);
    if (!pdk__revocation_read(reply->data, reply->data_size, &r) ||
        (entry->wished && entry->wished_version == reply->version))
        return;
    entry->wished = true;
    entry->wished_version = reply->version;
    g_free(grant->wish.who);
    grant->wish.who = pdk__harmless(r.who, r.who_size);
    grant->wish.until_ms = pdk__revocation_until(&r, reply->mtime_ms);
    grant->wish.number++;
    pdk__log(s, PDK_LOG_INFO, "%s: asked to let go, by %s", entry->own_path,
             r.who_size > 0 ? grant->wish.who : "one who gives no name");
    for (GList *link = grant->holds.head; link; link = link->next)
        tell_wish(link->data);
}

static void read_own(struct pdk__entry_owner *owner, struct pdk__entry *entry, const struct pdk__reply *reply) {
    pdk__grant_read(grant_of(owner), entry, reply);
}

static bool grant_never_waits(const struct pdk__entry_owner *owner) {
    (void)owner;
    return false;
}

/* The oldest entry comes first: its token is the grant's. */
static void take_entries(struct pdk__grant *grant, struct pdk__entry *const *entries, guint count) {
    grant->only = entries[0];
    grant->entries = count == 1 ? &grant->only : g_memdup2(entries, count * sizeof(struct pdk__entry *));
    grant->count = count;
    for (guint i = 0; i < count; i++) {
        struct pdk__entry *entry = grant->entries[i];
        assert(entry->c.phase == PDK__HELD);
        pdk__entry_give(entry, &grant->owner);
        if (entry->c.token < grant->entries[0]->c.token) {
            grant->entries[i] = grant->entries[0];
            grant->entries[0] = entry;
        }
    }
}

struct pdk__grant *pdk__grant_new(struct pdk__queue *queue, struct pdk__entry *const *entries, guint count,
                                  uint32_t handover) {
    pdk__assert_locked(queue->s);
    struct pdk__grant *grant = g_new0(struct pdk__grant, 1);
    grant->owner = (struct pdk__entry_owner){grant_moved, grant_never_waits, false, read_own, NULL};
    grant->queue = queue;
    take_entries(grant, entries, count);
    grant->handover = handover;
    grant->shared = queue->kind.shared;
    grant->token = grant->entries[0]->c.token;
    grant->link.data = grant;
    g_queue_push_tail_link(&queue->main->grants, &grant->link);
    pdk__log(queue->s, PDK_LOG_DEBUG, "%s: granted, token %" G_GINT64_FORMAT ", hand-over %u", queue->dir, grant->token,
             handover);
    return grant;
}

void pdk__grant_listen(struct pdk__grant *grant, struct pdk__grant_listener *l) {
    pdk__assert_locked(grant->queue->s);
    l->link = (GList){.data = l};
    g_queue_push_tail_link(&grant->listeners, &l->link);
}

void pdk__grant_unlisten(struct pdk__grant *grant, struct pdk__grant_listener *l) {
    pdk__assert_locked(grant->queue->s);
    g_queue_unlink(&grant->listeners, &l->link);
}

static void tell_listeners(GQueue *listeners, pdk_reason reason) {
    for (GList *link; (link = g_queue_pop_head_link(listeners));) {
        struct pdk__grant_listener *l = link->data;
        l->ended(l, reason);
    }
}

static void grant_end(struct pdk__grant *grant, bool kept, pdk_reason reason) {
    struct pdk__queue *queue = grant->queue;
    GQueue listeners = grant->listeners;
    pdk__log(queue->s, PDK_LOG_DEBUG, "%s: the grant with token %" G_GINT64_FORMAT ", hand-over %u, has ended: %s",
             queue->dir, grant->token, grant->handover, reason ? "lost" : "released");
    g_queue_unlink(&queue->main->grants, &grant->link);
    pdk__entry_drop(grant->exchange);
    for (guint i = 0; i < grant->count && !kept; i++)
        pdk__entry_break_pledge(grant->entries[i]);
    if (queue->grant == grant) {
        queue->grant = NULL;
        /* After a downgrade the next contender behind the node follows, not the next writer of this queue. */
        pdk__queue_grant_ended(queue, grant->entries[0], kept && grant->shared == queue->kind.shared);
    } else {
        for (guint i = 0; i < grant->count; i++)
            pdk__entry_drop(grant->entries[i]);
    }
    if (grant->entries != &grant->only)
        g_free(grant->entries);
    g_free(grant->wish.who);
    g_free(grant);
    tell_listeners(&listeners, reason);
}

void pdk__grant_hold_ended(struct pdk__grant *grant, struct pdk_hold *hold, bool kept) {
    assert_stands(grant);
    g_queue_unlink(&grant->holds, &hold->in_grant);
    if (grant->losing)
        return; /* the loop below goes on with the next */
    grant->losing = !kept;
    while (grant->losing && !g_queue_is_empty(&grant->holds))
        lose(grant, hold->loss.reason);
    if (g_queue_is_empty(&grant->holds))
        grant_end(grant, kept, hold->loss.reason);
}

pdk_status pdk__grant_downgrade(struct pdk__grant *grant, const struct pdk__entry_kind *kind) {
    assert_stands(grant);
    pdk_status status = pdk__entry_exchange(grant->entries[0], &grant->owner, kind, &grant->exchange);
    grant->shared = status == PDK_OK;
    return status;
}

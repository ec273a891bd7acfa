#include "grant/grant.h"

#include "grant/hold.h"

static struct pdk__grant *of(struct pdk__entry_owner *owner) { return (struct pdk__grant *)owner; }

/* The first hold's end is the end of all of them, and of the right. */
static void lose(struct pdk__grant *grant, pdk_reason reason) {
    pdk__hold_lose(((GList *)grant->holds.head)->data, reason);
}

/* The reader's node is in line, in the writer's place: stand on it, and let the writer's go. */
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
            lose(grant, PDK_REASON_NODE_GONE); /* the writer's node was not there any more */
    }
}

static void moved(struct pdk__entry_owner *owner, struct pdk__entry *entry) {
    struct pdk__grant *grant = of(owner);
    if (entry == grant->exchange)
        exchange_moved(grant);
    else if (entry->c.phase == PDK__GONE)
        lose(grant, PDK_REASON_NODE_GONE);
}

static bool never_waits(const struct pdk__entry_owner *owner) {
    (void)owner;
    return false;
}

struct pdk__grant *pdk__grant_new(struct pdk__queue *queue, struct pdk__entry *const *entries, guint count,
                                  uint32_t handover) {
    struct pdk__grant *grant = g_new0(struct pdk__grant, 1);
    grant->owner = (struct pdk__entry_owner){moved, never_waits};
    grant->queue = queue;
    grant->entries = g_memdup2(entries, count * sizeof(struct pdk__entry *));
    grant->count = count;
    grant->handover = handover;
    grant->shared = queue->kind.shared;
    for (guint i = 0; i < count; i++) {
        struct pdk__entry *entry = grant->entries[i];
        entry->owner = &grant->owner;
        if (entry->c.token < grant->entries[0]->c.token) { /* the oldest is the one whose token it is */
            grant->entries[i] = grant->entries[0];
            grant->entries[0] = entry;
        }
    }
    grant->token = grant->entries[0]->c.token;
    grant->link.data = grant;
    g_queue_push_tail_link(&queue->main->grants, &grant->link);
    return grant;
}

static void end(struct pdk__grant *grant, bool kept, pdk_reason reason) {
    struct pdk__queue *queue = grant->queue;
    g_queue_unlink(&queue->main->grants, &grant->link);
    pdk__entry_drop(grant->exchange);
    if (queue->grant == grant) {
        queue->grant = NULL;
        /* What was downgraded goes to whoever is behind, not to the next writer here. */
        pdk__queue_ended(queue, grant->entries[0], kept && grant->shared == queue->kind.shared);
    } else {
        for (guint i = 0; i < grant->count; i++)
            pdk__entry_drop(grant->entries[i]);
    }
    g_free(grant->entries);
    g_free(grant);
    if (queue->ended)
        queue->ended(queue, reason);
}

void pdk__grant_hold_ended(struct pdk__grant *grant, struct pdk_hold *hold, bool kept) {
    g_queue_unlink(&grant->holds, &hold->in_grant);
    if (grant->losing)
        return; /* whoever loses them all goes on with the next */
    grant->losing = !kept;
    while (grant->losing && !g_queue_is_empty(&grant->holds))
        lose(grant, hold->reason);
    if (g_queue_is_empty(&grant->holds))
        end(grant, kept, hold->reason);
}

pdk_status pdk__grant_downgrade(struct pdk__grant *grant, const struct pdk__entry_kind *kind) {
    pdk_status status = pdk__entry_exchange(grant->entries[0], &grant->owner, kind, &grant->exchange);
    grant->shared = status == PDK_OK;
    return status;
}

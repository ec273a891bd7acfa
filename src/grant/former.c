#include "grant/former.h"

void pdk__former_forget(struct pdk__queue *queue) {
    struct pdk__entry *former = g_steal_pointer(&queue->former);
    if (former) {
        former->on_gone = NULL;
        pdk__entry_unref(former);
    }
}

static void on_gone(void *user) {
    struct pdk__queue *queue = user;
    pdk__former_forget(queue);
    pdk__queue_advance(queue);
}

void pdk__former_let_go(struct pdk__queue *queue, struct pdk__entry *entry) {
    if (!entry || !queue->kind.alone) {
        pdk__entry_drop(entry);
        return;
    }
    assert(!queue->former && entry->queued);
    queue->former = entry;
    entry->on_gone = on_gone; /* at once where there is no node */
    entry->on_gone_user = queue;
    pdk__entry_leave(entry);
}

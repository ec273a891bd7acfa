/* A grant: the entries it stands on, the holds that share it, and the listeners that hear of its end.
 *
 *     entries: one; several permits of a semaphore have one each    holds: one; a reentrant lock's thread may have more
 *
 *     granted ──last hold released──► back to the queue, which may hand its entry on
 *        │  └──an entry or the lease lost──► all its holds are lost, once each
 *        └──downgraded: a reader's node takes over from the writer's (exchange), and the queue is free for the next
 *
 * All of it under the monitor.
 */
#ifndef PDK_GRANT_GRANT_H
#define PDK_GRANT_GRANT_H

#include "session/entry.h"

#include <paddock/hold.h>

struct pdk__queue;
struct pdk__grant_listener;

/* A wish that the holder let go (wish.c). */
struct pdk__wish {
    unsigned number; /* 0: there was none */
    char *who;
    int64_t until_ms;
};

struct pdk__grant {
    struct pdk__entry_owner owner; /* of its entries */
    struct pdk__queue *queue;      /* the one that granted it; its holds have references */
    struct pdk__entry **entries;   /* `count` references */
    struct pdk__entry *only;       /* where entries points to, if it is one */
    guint count;
    GQueue holds;
    GQueue listeners;
    struct pdk__entry *exchange; /* a reference; on its way to take over from entries[0] */
    GList link;                  /* in queue->main->grants */
    int64_t token;
    uint32_t handover;
    struct pdk__wish wish; /* the newest */
    bool shared;
    bool losing; /* it loses its holds, one after the other */
};

/* Embedded in the listener's own struct. */
struct pdk__grant_listener {
    /* Called once. reason: NONE when it was released. The grant is gone by then. */
    void (*ended)(struct pdk__grant_listener *l, pdk_reason reason);
    GList link;
};

/* A grant takes over the entries, all of them admitted, and the caller's references. It has no hold yet. */
struct pdk__grant *pdk__grant_new(struct pdk__queue *queue, struct pdk__entry *const *entries, guint count,
                                  uint32_t handover);
/* Hear of its end. The listener must live until then. */
void pdk__grant_listen(struct pdk__grant *grant, struct pdk__grant_listener *l);
/* Hear of it no more. It has not ended. */
void pdk__grant_unlisten(struct pdk__grant *grant, struct pdk__grant_listener *l);
/* One of its holds has ended. kept: it was released while valid. The grant ends with its last hold, and is freed. */
void pdk__grant_hold_ended(struct pdk__grant *grant, struct pdk_hold *hold, bool kept);
/* The node of one of its entries was read: is there a wish in it? */
void pdk__grant_read(struct pdk__grant *grant, struct pdk__entry *entry, const struct pdk__reply *reply);
/* Begin to stand on a shared node instead. LIMIT: the session has too many nodes. */
pdk_status pdk__grant_downgrade(struct pdk__grant *grant, const struct pdk__entry_kind *kind);

#endif

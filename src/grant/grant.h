/* A right: what was granted. The znodes it stands on, and the holds that share it.
 *
 *     places: one; several permits of a semaphore have one each        holds: one; a reentrant lock's thread may have more
 *
 *     granted ──last hold released──► back to the line, which may hand its place on
 *        │  └──any node or the lease lost──► all its holds are lost, once each
 *        └──downgraded: a reader's node takes over from the writer's (exchange), and the line is free for the next
 *
 * All of it under the monitor.
 */
#ifndef PDK_GRANT_H
#define PDK_GRANT_H

#include "session/entry.h"

struct pdk__queue;
struct pdk_hold;

struct pdk__grant {
    struct pdk__entry_owner owner; /* of its places */
    struct pdk__queue *queue;      /* that granted it; its holds have references */
    struct pdk__entry **entries;   /* `count` references */
    guint count;
    GQueue holds;
    struct pdk__entry *exchange; /* a reference; on its way to take over from places[0] */
    GList link;                  /* in line->main->rights */
    int64_t token;
    uint32_t handover;
    bool shared;
    bool losing; /* its holds, one after the other */
};

/* The places, admitted all of them, become the right's, with the caller's references. */
struct pdk__grant *pdk__grant_new(struct pdk__queue *queue, struct pdk__entry *const *entries, guint count,
                                  uint32_t handover);
/* One of its holds ended. kept: it was released while valid. With the last hold the right ends and is freed. */
void pdk__grant_hold_ended(struct pdk__grant *grant, struct pdk_hold *hold, bool kept);
/* Begin to stand on a shared node instead. LIMIT. */
pdk_status pdk__grant_downgrade(struct pdk__grant *grant, const struct pdk__entry_kind *kind);

#endif

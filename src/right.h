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
#ifndef PDK_RIGHT_H
#define PDK_RIGHT_H

#include "session/place.h"

struct pdk__line;
struct pdk_hold;

struct pdk__right {
    struct pdk__owner owner;    /* of its places */
    struct pdk__line *line;     /* that granted it; its holds have references */
    struct pdk__place **places; /* `count` references */
    guint count;
    GQueue holds;
    struct pdk__place *exchange; /* a reference; on its way to take over from places[0] */
    GList link;                  /* in line->main->rights */
    int64_t token;
    uint32_t handover;
    bool shared;
    bool losing; /* its holds, one after the other */
};

/* The places, admitted all of them, become the right's, with the caller's references. */
struct pdk__right *pdk__right_new(struct pdk__line *line, struct pdk__place *const *places, guint count,
                                  uint32_t handover);
/* One of its holds ended. kept: it was released while valid. With the last hold the right ends and is freed. */
void pdk__right_hold_ended(struct pdk__right *right, struct pdk_hold *hold, bool kept);
/* Begin to stand on a shared node instead. LIMIT. */
pdk_status pdk__right_downgrade(struct pdk__right *right, const struct pdk__place_kind *kind);

#endif

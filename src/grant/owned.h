/* The holds of each thread, by the path that they are on: where they queued, or where they stand if that is elsewhere.
 * A thread that is about to wait looks here whether it would wait for itself. Under the monitor. */
#ifndef PDK_GRANT_OWNED_H
#define PDK_GRANT_OWNED_H

#include "grant/hold.h"

/* The hold belongs to hold->thread from now on, unless that is 0. */
void pdk__owned_add(struct pdk_hold *hold);
/* It belongs to no thread any more: it has ended, or was given away. */
void pdk__owned_remove(struct pdk_hold *hold);
/* A hold of the thread on the queue's path, or NULL: one of the queue's own object first. `others`: otherwise one of
 * another object on that path, unless both are readers: nobody waits then. */
struct pdk_hold *pdk__owned_find(const struct pdk__queue *queue, uint64_t thread, bool others);
/* Whatever the thread holds on that path: a valid hold, or NULL. */
struct pdk_hold *pdk__owned_on(pdk_session *s, const char *dir, uint64_t thread);

#endif

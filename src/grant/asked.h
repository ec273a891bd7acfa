/* Holders that are asked to let go: what they hear. Nothing is forced.
 *
 *     node written ──watch──► entry reads it anyway, to watch it again ──► grant's wish ──► on_asked of each hold, once a wish
 *
 * No request is added: a held entry that settles reads its node, and again after each write to it. Under the monitor.
 */
#ifndef PDK_GRANT_ASKED_H
#define PDK_GRANT_ASKED_H

#include "grant/grant.h"

#include <paddock/revoke.h>

/* The callback of a hold. */
struct pdk__asked {
    pdk_request_fn fn;
    void *user;
    void (*user_free)(void *user);
    unsigned told; /* the number of the newest wish that it was told of, or is about to be */
};

/* The node of one of the grant's entries was read. */
void pdk__asked_read(struct pdk__grant *grant, struct pdk__entry *entry, const struct pdk__reply *reply);
/* With the last reference to its hold. NULL is allowed. Not under the monitor. */
void pdk__asked_free(struct pdk__asked *asked);

#endif

/* A call makes sure that a hold stays valid for so long: it asks for a renewal, and waits for it.
 *
 *     renew ──the lease is longer, or the hold has ended──► answered
 */
#ifndef PDK_GRANT_ENSURE_H
#define PDK_GRANT_ENSURE_H

#include "grant/hold.h"
#include "session/call.h"

/* The call about one hold. Code above that ensures several holds embeds it first in a struct of its own. */
struct pdk__ensuring {
    struct pdk__call call;
    pdk_hold *hold; /* a reference */
    int64_t ms;
    bool urgent; /* it counts in s->urgent */
    void *of;    /* for code above */
};

/* A call of that name, until that moment. The kind's functions follow. */
struct pdk__ensuring *pdk__ensuring_new(pdk_hold *hold, int64_t ms, const char *name, int64_t until);
pdk_status pdk__ensuring_step(struct pdk__call *c);
void pdk__ensuring_leave(struct pdk__call *c);
void pdk__ensuring_free(struct pdk__call *c);
/* INVALID: no renewal can ever give the hold as much. Not under the monitor. */
pdk_status pdk__ensuring_check(pdk_hold *hold, int64_t ms, const char *name);
/* The end of a hold that is not valid any more: NOT_HELD or LOST. Not under the monitor. */
pdk_status pdk__ensuring_how_it_ended(pdk_hold *hold, const char *name);

#endif

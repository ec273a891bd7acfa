/* The lock-delay: after an unclean end of a holder, nobody is granted for a while.
 *
 *     /locks/orders
 *        ├─ delay                               persistent; data: the delay in ms, on which all clients agree
 *        ├─ _c_…-lock-0000000007                holds
 *        ├─ pledge-_c_…-0000000007              persistent: the pledge of …7, made before it was granted
 *        └─ _c_…-lock-0000000009                waits
 *
 * A holder that releases deletes its pledge, and then its node. So a list with a pledge whose node is gone tells of an
 * end without a release: that pledge is broken. The first in the queue waits the whole delay from the moment when it
 * has seen that, by its own clock. The holder had ended before that moment, so the wait is never shorter than the
 * delay. It is longer when the waiting contender dies: the next one waits the whole delay again.
 *
 *     first ──a broken pledge──► WAIT ──the time is over──► PLEDGE ──a quorum has it──► GRANT
 *       └────────────────none────────────────────────────────►│
 */
#ifndef PDK_CORE_DELAY_H
#define PDK_CORE_DELAY_H

#include "core/names.h"

/* The child that tells everybody of the delay. */
#define PDK__DELAY_RECORD "delay"

/* The next step of the first in the queue. */
enum pdk__delay_step { PDK__DELAY_WAIT, PDK__DELAY_PLEDGE, PDK__DELAY_GRANT };

struct pdk__delay {
    int64_t ns;
    int64_t until; /* nobody is granted before; 0: at once */
};

/* 0 as long as no broken pledge was seen. */
void pdk__delay_init(struct pdk__delay *d, int64_t ns);
/* A list was read. broken: it shows a broken pledge. unknown: no list before has shown that one. now: after the
 * answer. */
void pdk__delay_listed(struct pdk__delay *d, bool broken, bool unknown, int64_t now);
/* pledged: a quorum has the pledge of the node that is first. */
enum pdk__delay_step pdk__delay_next(const struct pdk__delay *d, bool pledged, int64_t now);

/* The name of the pledge of a contender's node. false: it can have none, for want of a UUID. */
bool pdk__pledge_name(const char *node, char pledge[PDK__NAME_SIZE]);
/* Is that child a pledge of somebody's? */
bool pdk__is_pledge(const char *child);

#endif

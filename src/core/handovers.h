/* A hold is released: is the next thread of this process granted, or do the other processes come first?
 *
 * A hand-over costs no round trip, but it makes other processes wait. So hand-overs are bounded in count and in time.
 * Where nobody waits, the node may linger for a claim that comes soon, which gets it by a hand-over, too (ADR 46).
 */
#ifndef PDK_CORE_HANDOVERS_H
#define PDK_CORE_HANDOVERS_H

#include <stdbool.h>
#include <stdint.h>

enum pdk__handover {
    PDK__HANDOVER_HERE,   /* the next local waiter gets the same node */
    PDK__HANDOVER_REJOIN, /* queue a new node for the local waiters, then let this one go */
    PDK__HANDOVER_LEAVE,  /* nobody waits here */
};

struct pdk__handovers {
    uint32_t max_handovers;
    int64_t max_time;   /* ns */
    int64_t max_linger; /* ns: how long a node may wait for the next claim; 0: not at all */
    uint32_t handovers; /* in a row, on this node */
    int64_t since;      /* when this node was granted */
};

/* Nothing lingers, unless max_linger is set after that. */
void pdk__handovers_init(struct pdk__handovers *h, uint32_t max_handovers, int64_t max_time);
void pdk__handovers_granted(struct pdk__handovers *h, int64_t now);
/* The hold ends. valid: it was still ours, and the lease is fresh enough to grant it again. Counts a hand-over. */
enum pdk__handover pdk__handovers_next(struct pdk__handovers *h, int64_t now, bool waiting, bool valid);
/* Nobody waits here. Until when may the node linger? No later than a claim could be granted by a hand-over. 0: it goes
 * now. valid: as above. */
int64_t pdk__handovers_linger(const struct pdk__handovers *h, int64_t now, bool valid);

#endif

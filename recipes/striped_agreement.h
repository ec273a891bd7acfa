/* The number of stripes: the data of a node that stays. The queues of a striped lock begin only once it agrees
 * (grant/number.h).
 *
 *                    ┌── not there: made, with our number; empty: a child is made, then it is written ┐
 *                    ▼                                                                               │
 *     a claim ──► ASKED: read, with a watch ─────────────────────────────────────────────────────────┘
 *                    │      ├── the same ──► AGREED: the queues that wait for it begin
 *                    │      └── another one, or refused ──► their claims are answered; the next claim asks again
 *                    └◄── another connection, or the node changed
 *
 * All clients that make the node at once read it again after that, so they agree about the first. The node is
 * persistent: were it removed while nobody holds, every acquisition would have to read it. A node that is there, and
 * empty, may be a container, which servers remove when it has no child: so it gets a child that stays, <path>/number.
 * Under the monitor, but for new.
 */
#ifndef PDK_RECIPE_STRIPED_AGREEMENT_H
#define PDK_RECIPE_STRIPED_AGREEMENT_H

#include "grant/number.h"
#include "grant/queue.h"
#include "session/live_query.h"

struct pdk__agreement {
    struct pdk__live_query query;
    unsigned users; /* the striped lock, and each of its queues */
    char *path;     /* of the node, absolute, chroot included */
    struct pdk__number number;
    bool agreed;
    uint64_t generation;      /* of the handle that has read it */
    int32_t version;          /* the node's that is written over */
    int64_t suspended_at;     /* when the connection was last lost, as of the reading: none was lost since */
    GQueue waiting;           /* the consents of the queues that wait */
    enum pdk__result refused; /* the refusal to make a parent of the node; OK: none */
};

/* With one user. Asks nothing yet. Not under the monitor. */
struct pdk__agreement *pdk__agreement_new(pdk_session *s, const char *path, int32_t stripes);
/* The queue begins only once all clients agree, and is a user until it goes. Before its first claim. */
void pdk__agreement_bind(struct pdk__agreement *agreement, struct pdk__queue *queue);
/* The striped lock goes. The last user ends it. */
void pdk__agreement_leave(struct pdk__agreement *agreement);

#endif

/* Waiting entries ask after their predecessors, in case the event of a watch is lost, or a server shows a node that is
 * gone. The leader answers, by way of a barrier that checks the predecessor's node: no follower's word is taken.
 *
 *     watched ──► s->predecessors, in turn ──► barrier: check(predecessor), once per T, at most five a second
 *                       ▲                        │ │
 *                       └── it is there: later ──┘ └─ NO_NODE: all that wait for it list again, and no list has it
 *
 * A node that is gone never comes back, since names are unique. So a server that goes on showing the node is not
 * believed (ADR 5). Under the monitor.
 */
#ifndef PDK_SESSION_PREDECESSORS_H
#define PDK_SESSION_PREDECESSORS_H

#include "session/entry.h"

void pdk__predecessors_init(pdk_session *s);
void pdk__predecessors_clear(pdk_session *s);
/* It waits for entry->watch_path, from now on. */
void pdk__predecessors_begin(struct pdk__entry *entry);
void pdk__predecessors_end(struct pdk__entry *entry);
/* Mark the nodes of this list that are gone as no contender's. A node that a list does not show is forgotten, since the
 * server has seen its end. */
void pdk__predecessors_forget_gone(pdk_session *s, const char *dir, struct pdk__child *children, size_t count);

#endif

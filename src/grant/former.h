/* A queue that has one node at a time (pdk__queue_kind.alone): the next one is made when the one before is gone.
 *
 *     entry ──let go──► former ──its deletion is confirmed, or its session has ended──► none: the next entry may begin
 *
 * A delete can be lost while the create behind it is not, since the two are repeated apart. So the order in which they are sent does
 * not do. Under the monitor.
 */
#ifndef PDK_GRANT_FORMER_H
#define PDK_GRANT_FORMER_H

#include "grant/queue.h"

/* An entry that the queue has had leaves. It is waited for where the queue is alone. NULL is allowed. */
void pdk__former_let_go(struct pdk__queue *queue, struct pdk__entry *entry);
/* Nobody waits for it any more. */
void pdk__former_forget(struct pdk__queue *queue);

#endif

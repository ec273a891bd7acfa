/* The claim of a set: one right after the other, in an order that all callers have in common (set_taking.h).
 *
 *     TAKING ──all of them, or as many as are needed, are held: the set ───► DECIDED, OK
 *        │ ▲                                                                      │
 *        │ └── the set was lost before   it was received: all is taken again ─────┘
 *        └──refused, late, cancelled, or its session has ended: all is given back──► DECIDED, not OK
 *
 *     DECIDED ── received by the blocked thread, or by the callback ──► ENDED
 *
 * A right is claimed, and waited for, only when the rights before it in the order are held, or passed over. So of any
 * callers that wait for each other, the one that waits for the last right in the order waits for a caller that waits
 * for none of the others: nobody waits in a circle. For the same reason a lost right is not taken again alone: the
 * rights behind it in the order go first.
 *
 * Each step takes monitors of several sessions, one at a time, so none is taken under a monitor. But the events come
 * under a monitor: the answer of a claim, the end of a grant, an alarm. They write down the news, and
 *     blocking     wake the thread, which waits in the session of the present right, and takes the steps itself;
 *     callback     queue a step in the outbox of their session, where it runs without a monitor, even if the session is
 *                  closed before its turn comes.
 * A thread that waits in one session hears of an event in another by that session's outbox, and at the latest when the
 * lease that it knew of is over: nobody may dispatch there.
 */
#ifndef PDK_RECIPE_SET_CLAIM_H
#define PDK_RECIPE_SET_CLAIM_H

#include "set_taking.h"

/* None of these under a monitor. */

/* A claim of `count` rights, in the common order, whose references and paths it takes over. With one reference. */
struct pdk_set_claim *pdk__set_claim_new(const struct pdk__right *rights, guint count,
                                         const struct pdk__set_terms *terms);
/* Carry it out. Takes over the reference. Blocks, in a call that may. */
pdk_status pdk__set_claim_wait(struct pdk_set_claim *claim, const char *call, struct pdk_set **out);
/* Carry it out, and have fn called. Takes over the reference. */
void pdk__set_claim_start(struct pdk_set_claim *claim, pdk_set_acquired_fn fn, void *user, struct pdk_set_claim **out);

#endif

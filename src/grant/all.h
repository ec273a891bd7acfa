/* The claim of several rights: one after the other, in an order that all callers have in common (taking.h).
 *
 *     TAKING ──all of them, or as many as are needed, are held: their whole──► DECIDED, OK
 *        │ ▲                                                                      │
 *        │ └── the whole was lost before it was received: all is taken anew ──────┘
 *        └──refused, late, cancelled, or its session has ended: all is given back──► DECIDED, not OK
 *
 *     DECIDED ── received by the blocked thread, or by the callback ──► ENDED
 *
 * A right that is waited for is claimed only when the rights before it in the order are held, or passed over. So of any callers
 * that wait for each other, the one that waits for the last right in the order has somebody before it who waits for none of the
 * others: nobody waits in a circle. For the same reason a right that was lost is not taken alone again: those behind it in the
 * order go first.
 *
 * Who takes the steps: each takes monitors of several sessions, one at a time, so none is taken under a monitor. The events come
 * under a monitor: the answer of a claim, the end of a grant, an alarm. They write down what happened, and
 *     blocking     wake the thread, which waits in the session of the present right, and takes the steps itself;
 *     callback     queue a step in the outbox of their session, where it runs without a monitor, and is run also where the
 *                  session is closed before it comes round to it.
 * A thread that waits in one session hears of an event in another by that session's outbox, and at the latest when the lease
 * that it knew of is over: nobody may dispatch there.
 */
#ifndef PDK_GRANT_ALL_H
#define PDK_GRANT_ALL_H

#include "grant/queue.h"

#include <paddock/claim.h>

/* One right, of whichever recipe. */
struct pdk__right {
    struct pdk__queue *queue; /* a reference */
    int32_t count;            /* of permits; 1 elsewhere */
    char *path;               /* of the recipe, absolute, chroot included */
    guint place;              /* the place at which the caller named it */
};

/* What pdk__all_position answers for a claim that is decided. */
#define PDK__DECIDED (-2)

struct pdk__all;

/* On which terms. */
struct pdk__all_terms {
    int64_t timeout_ms;
    guint need;          /* how many of them suffice */
    int64_t patience_ms; /* how long an ensemble may be silent, where not all are needed; 0: as each session has it */
};

/* None of these under a monitor. */

/* A claim of `count` rights, in the common order, whose references and paths it takes over. With one reference. */
struct pdk__all *pdk__all_new(const struct pdk__right *rights, guint count, const struct pdk__all_terms *terms);
/* NULL is allowed. */
void pdk__all_unref(struct pdk__all *all);
/* Carry it out. Takes over the reference. Blocks, in a call that may. */
pdk_status pdk__all_wait(struct pdk__all *all, const char *call, struct pdk_hold **out);
/* Carry it out, and have fn called. Takes over the reference. */
void pdk__all_start(struct pdk__all *all, pdk_acquired_fn fn, void *user, struct pdk_claim **out);
/* Give it up. false: it was decided before. */
bool pdk__all_cancel(struct pdk__all *all);
/* How many are ahead in the queue of the present right; -1: not confirmed; PDK__DECIDED. */
int32_t pdk__all_position(struct pdk__all *all);

#endif

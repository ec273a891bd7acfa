/* The rights of a claim of several, and the taken ones among them. core/majority.h decides the next step; this carries
 * it out.
 *
 *     ASK       a claim with delivery inside, in the queue of that right
 *     WAIT      for its answer; a part that is held may be lost meanwhile. An alarm looks whether it waits for itself.
 *               Where not all are needed, it looks whether anybody confirms the place in the queue, and the session: a
 *               right whose ensemble is silent is passed over
 *     TRY       a claim that waits for nobody, beside the awaited one, whose place in the queue stays
 *     BACK      rights that were got that way are given back
 *     ANEW      all is given back, and after a pause taken again
 *     COMPLETE  the set of the held rights (set.h)
 *
 * The thread that takes the steps has no monitor, and is alone: it has the mutex of the claim, or is the claim's own.
 * The events come under the monitor of a session: an answer, a loss, an alarm. They are written down, and `happened` is
 * told.
 */
#ifndef PDK_RECIPE_SET_TAKING_H
#define PDK_RECIPE_SET_TAKING_H

#include "core/majority.h"
#include "set.h"

struct pdk__taking;

/* The terms of the claim. */
struct pdk__set_terms {
    int64_t timeout_ms;
    guint need;          /* how many of them suffice */
    int64_t patience_ms; /* how long an ensemble may be silent, where not all are needed; 0: as each session has it */
};

/* One right. Under the monitor of its session; once an answer is there, its results need no monitor. */
struct pdk__taken_right {
    struct pdk__grant_listener listener; /* of the grant that it was given */
    struct pdk__taking *taking;
    struct pdk__right right;
    atomic_bool answered;
    atomic_bool due; /* `happened` has queued what sees to it, which has not begun yet; its own */
    pdk_status status;
    char *why;
    struct pdk_claim *claim;     /* a reference */
    struct pdk_hold *hold;       /* a reference */
    struct pdk__grant *grant;    /* NULL once it has ended */
    struct pdk__waiters waiters; /* the blocked thread, while this is asked for, or the first during a pause */
    struct pdk__alarm alarm;     /* looks whether its ensemble answers; the first right's also ends a pause */
    int64_t asked_at, limit;     /* it is not waited for any longer, where not all are needed; INT64_MAX: for ever */
    int64_t glance;              /* then it is time to look around; INT64_MAX: never, or that is being done */
    int64_t silent_since;        /* its session has no lease since then; 0: it has one */
};

struct pdk__taking {
    void (*happened)(struct pdk__taken_right *r); /* under the monitor of its session */
    struct pdk__majority m;
    int64_t deadline;
    int64_t patience;    /* ns; 0: as long as each session has it */
    pdk_status status;   /* of the newest right that was not granted, except rights that were left out; OK: none, */
    char *why;           /* and why */
    atomic_uint current; /* the right that is asked for; during a pause the first */
    atomic_bool rung;    /* an alarm has rung since the last step */
    struct pdk__taken_right *rights;
};

/* None of these calls under a monitor, but the last three. */

/* Takes over the references and paths of the rights. */
void pdk__taking_init(struct pdk__taking *t, const struct pdk__right *rights, guint count,
                      const struct pdk__set_terms *terms);
void pdk__taking_clear(struct pdk__taking *t);
/* Take steps until it must WAIT, or is COMPLETE, or must FAIL for t->status. */
enum pdk__majority_step pdk__taking_go_on(struct pdk__taking *t);
/* The set, in the session of the first right. NULL: something was lost meanwhile, and the taking begins again. */
struct pdk_set *pdk__taking_complete(struct pdk__taking *t);
/* Give all back, and begin again if there is time. */
void pdk__taking_begin_anew(struct pdk__taking *t);
void pdk__taking_give_back(struct pdk__taking *t);
/* The right that is asked for. */
struct pdk__taken_right *pdk__taking_current(struct pdk__taking *t);
/* Is there a step to take? Under the monitor of its session. */
bool pdk__taking_has_news(const struct pdk__taking *t);
/* The soonest moment at which the lease of a right that it has is over, as far as it is known. */
int64_t pdk__taking_sure_until(const struct pdk__taking *t);
bool pdk__taking_in_time(const struct pdk__taking *t);

#endif

/* A call that takes time: one body for a thread that waits, and for a callback.
 *
 *              pdk__call_wait: the caller's thread steps, and sleeps in between
 *     call ──┤                                                                  ├──► told, once ──► freed
 *              pdk__call_start: the caller's thread steps once, and the timer's then; told by a callback of the user
 *
 *     step ──PDK__WAITS──► the list that it waits on is woken, or the moment has come ──► step
 *       └──a status──► over
 *
 * A call may be woken without a reason, so a step looks at everything again. The timer's thread steps when an alarm
 * rings, never in the middle of the event that has woken the call.
 */
#ifndef PDK_SESSION_CALL_H
#define PDK_SESSION_CALL_H

#include "session/session.h"

#include <paddock/answer.h>

/* No status: the call is not over. */
#define PDK__WAITS ((pdk_status) - 1)

struct pdk__call;

struct pdk__call_kind {
    /* It begins. Under the monitor. May be NULL. */
    void (*begin)(struct pdk__call *c);
    /* Go on. A status other than OK comes with words (pdk__fail). Under the monitor. */
    pdk_status (*step)(struct pdk__call *c);
    /* It is over, or its thread was cancelled: give back the things that the monitor guards. Under the monitor. May be
     * NULL. */
    void (*leave)(struct pdk__call *c);
    /* Give the result to the caller. Not under the monitor. NULL: the status is all, and `answered` gets it. */
    void (*tell)(struct pdk__call *c, pdk_status status);
    /* Free it, and a result that nobody was given. If it was over, status and text are still there. Not under the
     * monitor. */
    void (*free)(struct pdk__call *c);
};

/* Embedded first in a struct of the kind's own, zero but for what pdk__call_make sets. */
struct pdk__call {
    const struct pdk__call_kind *kind;
    pdk_session *s;   /* not a reference, until it is started */
    const char *name; /* of the public call */
    int64_t timeout_ms;
    pdk_answered_fn answered; /* or NULL */
    void *user;
    int64_t deadline;
    struct pdk__waiters *on; /* the list that it waits on */
    int64_t until;
    /* with a callback */
    struct pdk__sleeper sleeper;
    struct pdk__alarm alarm;
    GList link; /* in monitor.all */
    pdk_status status;
    char *text; /* of a failure */
};

struct pdk__call pdk__call_make(const struct pdk__call_kind *kind, pdk_session *s, const char *name,
                                int64_t timeout_ms);
/* INVALID: fn is NULL. */
pdk_status pdk__call_check_fn(const char *name, bool has_fn);
/* Both take the call over. wait: OK, or the status of its step; WRONG_THREAD in a callback. start: OK, and the caller
 * will be told; on an error it is not. Both: INVALID, FORKED; CLOSED and the like. Not under the monitor. */
pdk_status pdk__call_wait(struct pdk__call *c);
pdk_status pdk__call_start(struct pdk__call *c);
/* A call of the library's own: nobody is told its result, and nothing refuses it. Under the monitor, before the session
 * ends. */
void pdk__call_go(struct pdk__call *c);
/* At the end of a step: wait on that list, until that moment or its deadline. */
pdk_status pdk__call_waits(struct pdk__call *c, struct pdk__waiters *on, int64_t until);
/* The same until it is woken, whatever its deadline, since the event that it waits for is sure to come. */
pdk_status pdk__call_waits_for(struct pdk__call *c, struct pdk__waiters *on);
/* In a step. */
bool pdk__call_is_late(const struct pdk__call *c);
/* Does the caller's thread take the steps? Only that one can be interrupted, and can have holds. */
bool pdk__call_has_thread(const struct pdk__call *c);

/* The session has ended: a slice of the calls with a callback is told so. true: it was the last. Under the monitor. */
bool pdk__calls_end(pdk_session *s);

#endif

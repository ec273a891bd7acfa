/* A claim: one pending acquisition.
 *
 *     QUEUED ──decide──► DECIDED ──receive──► ENDED
 *        ▲                  │
 *        └── the grant had lapsed by the time it was received, and there is time left
 *
 * decide happens under the monitor, on whichever thread brings the news; receive on the thread that gets the right, which
 * may have slept in between: it checks the lease again.
 */
#ifndef PDK_CLAIM_H
#define PDK_CLAIM_H

#include "grant/queue.h"

#include <paddock/claim.h>

enum pdk__claim_state { PDK__CLAIM_QUEUED, PDK__CLAIM_DECIDED, PDK__CLAIM_ENDED };

struct pdk_claim {
    atomic_uint refs;
    struct pdk__queue *queue; /* a reference */
    enum pdk__claim_state state;
    uint64_t number; /* its turn in the line, for good */
    bool is_try;
    bool accepted; /* somebody has taken the grant ahead of the callback, which gets it whatever becomes of it */
    int32_t count; /* of permits; 1 elsewhere */
    int64_t deadline;
    struct pdk__alarm alarm;
    GList link;         /* in line->claims while QUEUED */
    pdk_acquired_fn fn; /* NULL: a caller waits on `woken` */
    void *user;
    void (*user_free)(void *user); /* or NULL; not under the monitor */
    pthread_cond_t woken;
    uint64_t thread; /* see pdk__this_thread */
    pdk_status status;
    char *why;
    struct pdk_hold *hold;
};

/* This thread, by a number that no other thread of the process ever has; pthread_t is handed out again. */
uint64_t pdk__this_thread(void);

/* One reference for the line, one for the caller. */
struct pdk_claim *pdk__claim_new(struct pdk__queue *queue, int32_t count, int64_t timeout_ms, pdk_acquired_fn fn,
                                 void *user);
/* Under the monitor. hold is granted with PDK_OK. */
void pdk__claim_decide(struct pdk_claim *claim, pdk_status status, const char *why, struct pdk_hold *hold);
/* Under the monitor, once DECIDED: take the result. false: it is QUEUED again. *lapsed is a hold to be dropped outside. */
bool pdk__claim_receive(struct pdk_claim *claim, pdk_status *status, struct pdk_hold **hold, struct pdk_hold **lapsed);
/* Under the monitor. */
bool pdk__claim_cancel(struct pdk_claim *claim);
/* Under the monitor: take the grant now, where there is a valid one, although the callback that brings it has not run yet.
 * The hold, or NULL; the callback's reference is no concern of it. */
struct pdk_hold *pdk__claim_accept(struct pdk_claim *claim);

/* Under the monitor, in a session that is usable: a claim whose callback brings the result. The caller's reference. */
struct pdk_claim *pdk__claim_begin(struct pdk__queue *queue, int32_t count, int64_t timeout_ms, pdk_acquired_fn fn,
                                   void *user);

/* The whole blocking acquisition, and the whole asynchronous one. Not under the monitor. */
pdk_status pdk__claim_wait(struct pdk__queue *queue, int32_t count, int64_t timeout_ms, const char *call,
                           struct pdk_hold **out);
pdk_status pdk__claim_start(struct pdk__queue *queue, int32_t count, int64_t timeout_ms, const char *call,
                            pdk_acquired_fn fn, void *user, struct pdk_claim **out);

#endif

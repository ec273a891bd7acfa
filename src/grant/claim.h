/* A claim: one pending acquisition.
 *
 *     QUEUED ──decide──► DECIDED ──receive──► ENDED
 *        ▲                  │
 *        └── the grant had lapsed when it was received, and there is time left
 *
 * A claim delivers its result in one of three ways:
 *     waiting     a thread blocks in pdk__claim_wait, and receives the result itself. Or the claim is a part of a call
 *                 (pdk__claiming_step), with a thread or without, and the call receives the result;
 *     callback    fn runs as a callback of the user, which receives the result;
 *     inside      decided runs at once, under the monitor: for code of the library. The claim is ENDED then.
 * In the first two ways, time passes between the decision and the receipt. So the receiver checks the lease again.
 */
#ifndef PDK_GRANT_CLAIM_H
#define PDK_GRANT_CLAIM_H

#include "grant/queue.h"
#include "session/call.h"

#include <paddock/claim.h>

enum pdk__claim_state { PDK__CLAIM_QUEUED, PDK__CLAIM_DECIDED, PDK__CLAIM_ENDED };

/* hold: NULL unless status is PDK_OK; the receiver's reference. The function must not give the claim's last reference
 * back. Under the monitor. */
typedef void (*pdk__decided_fn)(void *user, pdk_status status, struct pdk_hold *hold);

struct pdk_claim {
    atomic_uint refs;
    struct pdk__queue *queue; /* a reference */
    enum pdk__claim_state state;
    uint64_t number; /* its position among the claims of the queue, for good */
    bool is_try;
    int32_t count; /* of permits; 1 elsewhere */
    int64_t since; /* when it was made */
    int64_t deadline;
    struct pdk__alarm alarm;
    GList link;                  /* in queue->claims while QUEUED */
    struct pdk__waiters waiters; /* the thread that waits for the decision */
    pdk_acquired_fn fn;          /* the callback, or NULL */
    pdk__decided_fn decided;     /* delivery inside, or NULL */
    void *user;                  /* of fn or decided */
    uint64_t thread;             /* the one that claimed: see pdk__this_thread */
    pdk_status status;
    char *why;
    struct pdk_hold *hold;
    pdk_queued_fn on_queued; /* the callback that hears of a position, or NULL */
    void *queued_user;
    GList unplaced; /* in queue->unplaced until it hears, with data while it is there */
};

/* Decide it. hold: NULL unless status is PDK_OK. Under the monitor. */
void pdk__claim_decide(struct pdk_claim *claim, pdk_status status, const char *why, struct pdk_hold *hold);
/* Its queue has a position that a server has confirmed: have on_queued called. Under the monitor. */
void pdk__claim_tell_queued(struct pdk_claim *claim);
/* Have on_queued called as soon as its queue has a position. Under the monitor. */
void pdk__claim_await_position(struct pdk_claim *claim);
/* Give it up. false: it was decided before. Under the monitor. */
bool pdk__claim_cancel(struct pdk_claim *claim);

/* Begin a claim with delivery inside. *out is the caller's reference, and is set before the decision, which may come
 * before this returns. Under the monitor. */
void pdk__claim_begin(struct pdk__queue *queue, int64_t timeout_ms, pdk__decided_fn decided, void *user,
                      struct pdk_claim **out);
/* The same for an owner that has counted and timed itself: so many permits, until that moment, as a try or not. */
void pdk__claim_begin_until(struct pdk__queue *queue, int32_t count, int64_t deadline, bool is_try,
                            pdk__decided_fn decided, void *user, struct pdk_claim **out);
/* The deadline of a claim that begins at `now`. */
int64_t pdk__claim_deadline(const pdk_session *s, int64_t now, int64_t timeout_ms);

/* A whole acquisition, blocking or with a callback. Not under the monitor. */
pdk_status pdk__claim_wait(struct pdk__queue *queue, int32_t count, int64_t timeout_ms, const char *call,
                           struct pdk_hold **out);
pdk_status pdk__claim_start(struct pdk__queue *queue, int32_t count, int64_t timeout_ms, const char *call,
                            pdk_acquired_fn fn, void *user, struct pdk_claim **out);

/* An acquisition that is a part of a call, which has a reference to the queue until it is freed. All under the
 * monitor. */
struct pdk__claiming {
    struct pdk__call *call;
    struct pdk__queue *queue;
    struct pdk_claim *claim; /* under way; or NULL */
};
/* In a step of the call. Unless a claim is under way, one begins: with a timeout of its own, which the call's deadline
 * ends. OK: *out is the hold. Another status comes with words. PDK__WAITS: the claim is not decided yet. */
pdk_status pdk__claiming_step(struct pdk__claiming *c, int64_t timeout_ms, struct pdk_hold **out);
/* The call is over, or its thread was cancelled. */
void pdk__claiming_leave(struct pdk__claiming *c);

#endif

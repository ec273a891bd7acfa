/* SPDX-License-Identifier: Apache-2.0 */
/* A claim: one pending acquisition of a lock or another right, without a thread that waits. (A set
 * has claims of its own: set.h.) The calls `pdk_…_acquire…_async` make claims, except for a job and
 * for a lease lock, whose calls are answers (answer.h).
 *
 *     pending ──granted, refused, timed out, cancelled, session ended──► fn is called, once
 *
 * Ownership: a claim is reference counted. The library keeps a reference of its own until the claim
 * is decided and fn has run. A reference keeps the memory only: giving it back cancels nothing. A
 * claim has a reference to its session. Any thread may make every call below, also in a callback.
 */
#ifndef PADDOCK_CLAIM_H
#define PADDOCK_CLAIM_H

#include <paddock/hold.h>
#include <paddock/status.h>
#include <stdint.h>

PDK_BEGIN_DECLS

typedef struct pdk_claim pdk_claim;

/* The result of a claim.
 *
 *   status  PDK_OK             granted
 *           PDK_BUSY           a try (timeout 0): somebody is ahead, or too few permits are free
 *           PDK_TIMEOUT        the deadline passed while the claim stood in the queue; or the claim
 *                              was granted in time, a try as well, and the callback ran too late
 *           PDK_UNAVAILABLE    no server confirmed a position in the queue by the deadline; a try:
 *                              no answer came within the session's request_timeout_ms
 *           PDK_CANCELED       pdk_claim_cancel, or the last unref of the recipe object
 *           PDK_NO_PERMISSION  an access control list forbids to create or list the directory, or
 *                              to create a node in it
 *           PDK_UNPROTECTED    strangers may change the directory: access.h, "Existing nodes"
 *           PDK_UNSUPPORTED    the server refuses the node: for example, the parent is ephemeral,
 *                              or a quota is used up
 *           PDK_LIMIT          one of these limits is crossed: 1000 KiB of node paths or 900 kB of
 *                              watched paths in the session; 100,000 children in the directory;
 *                              127 bytes in the name of a contender
 *           PDK_EXHAUSTED      the directory's sequence numbers are used up
 *           PDK_REWOUND        the servers were wiped or restored: see pdk_session_token_seen
 *           PDK_MISMATCH       a semaphore: the path is used with another number of permits; a
 *                              lock: with another lock_delay_ms
 *           PDK_DAMAGED        the znode that should have such a number has something else in it
 *           PDK_CLOSED         the session was closed
 *           PDK_AUTH           the session ended, since the server refused the credentials
 *   hold    not NULL exactly when status is PDK_OK. The callback owns one reference to it and gives
 *           it back with pdk_hold_release.
 *   user    as it was given. The library never frees it.
 *
 * Thread: the session's own thread; with manual dispatch, the thread in pdk_session_dispatch or
 * pdk_session_close. Never under a lock, and never from inside the call that made the claim. The
 * session's own thread may run it before that call has returned; the claim is in *out by then.
 * Inside: every call that does not block is allowed. A call that blocks answers PDK_WRONG_THREAD.
 * pdk_last_error says in words why the claim was not granted.
 *
 * Last call: fn is called exactly once, also when the session expires, is given up, loses its
 * credentials or is closed. There are two exceptions, and the library then releases the hold, if
 * there is one. pdk_session_close drops a callback that is due when it is called from a callback,
 * or when its time runs out. With manual dispatch, a callback that is due is dropped after the last
 * pdk_session_unref: nobody can dispatch it. So user can be freed when fn has returned, or when
 * pdk_session_close has returned PDK_OK outside of any callback. */
typedef void (*pdk_acquired_fn)(pdk_status status, pdk_hold *hold, void *user);

/* Give up a claim. Does not wait.
 *   PDK_OK        fn will be called with PDK_CANCELED
 *   PDK_NOT_HELD  too late: the claim was decided already. fn has got its result, or will get it.
 *                 If that is a hold, the callback releases it.
 *   Common        PDK_INVALID, FORKED */
PDK_API pdk_status pdk_claim_cancel(pdk_claim *claim);

/* The number of claims ahead, of other processes and of threads of this process. It dates from the
 * last listing that this claim had reason to make. Does not wait, and asks no server. A semaphore
 * counts claims and not permits: with 0 ahead a claim may still wait for permits.
 *   PDK_OK           *ahead is the number, 0 or more
 *   PDK_UNAVAILABLE  no server has confirmed a position in the queue yet
 *   PDK_NOT_HELD     the claim was decided already
 *   Common           PDK_INVALID, FORKED */
PDK_API pdk_status pdk_claim_position(pdk_claim *claim, int32_t *ahead);

/* Tells that a server has confirmed a position in the queue, with that many claims ahead (see
 * pdk_claim_position). Once for each claim, and never for one that is decided before: a claim that
 * is granted at once gets its pdk_acquired_fn alone. The claim is valid memory during the call. For
 * the thread, and for the calls that are allowed inside, see pdk_acquired_fn.
 *
 * Last call: it returns before the pdk_acquired_fn of the claim is called, and none follows. */
typedef void (*pdk_queued_fn)(pdk_claim *claim, int32_t ahead, void *user);

/* Set the callback of a claim; one per claim. When the claim stands in the queue already, fn is
 * called soon, still as a callback. Does not wait.
 *   user  given to fn. The library never frees it. It is needed as long as the user of the
 *         pdk_acquired_fn.
 *
 *   PDK_OK        fn is set
 *   PDK_NOT_HELD  the claim was decided already
 *   PDK_INVALID   a callback is set already
 *   Common        PDK_INVALID, FORKED
 * On an error fn is never called. */
PDK_API pdk_status pdk_claim_on_queued(pdk_claim *claim, pdk_queued_fn fn, void *user);

/* One more reference. Returns claim; NULL is allowed. */
PDK_API pdk_claim *pdk_claim_ref(pdk_claim *claim);
/* Gives a reference back and does nothing else: a pending claim goes on without it. NULL is
 * allowed. Does nothing in the child of a fork. */
PDK_API void pdk_claim_unref(pdk_claim *claim);

PDK_END_DECLS

#endif

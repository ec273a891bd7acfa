/* SPDX-License-Identifier: Apache-2.0 */
/* A hold: a lock or another right that was granted, with its fencing token, validity and loss.
 *
 *     valid ──release──► released
 *       └──expired, lease over, node gone, session closed──► lost ──release──► released
 *
 * A hold is possession and not a thread id. A program can pass it to another thread, and nobody can
 * release a hold that they do not have.
 *
 * While pdk_hold_is_valid answers true, no conflicting hold is valid anywhere (the assumptions:
 * docs/promises.md). Between that answer and the effect of a write only the token protects. Give
 * the token to the resource. The resource refuses any token smaller than the largest one it has
 * seen.
 *
 * Rights that are held together are a set (set.h), whose parts are holds.
 *
 * Ownership: a hold is reference counted. The call or callback that brings a hold gives one
 * reference, and pdk_hold_release takes it back. A leader's hold belongs to the election or to the
 * service: take a reference of your own to keep it, and do not release it, which would resign. A
 * hold outlives the last unref of its recipe object, and has a reference to the session. Any thread
 * may make every call below. A callback may make all but the one that blocks, pdk_hold_ensure.
 */
#ifndef PADDOCK_HOLD_H
#define PADDOCK_HOLD_H

#include <paddock/answer.h>
#include <paddock/status.h>
#include <stdint.h>

PDK_BEGIN_DECLS

typedef struct pdk_hold pdk_hold;

/* The reasons for the loss of a hold. */
typedef enum pdk_reason {
    PDK_REASON_NONE = 0,    /* it was not lost */
    PDK_REASON_EXPIRED = 1, /* the server ended the session, or the session was given up */
    PDK_REASON_LEASE = 2, /* no quorum confirmed the session in time: cut off, paused, overloaded */
    PDK_REASON_NODE_GONE = 3, /* somebody deleted the znode */
    PDK_REASON_CLOSED = 4,    /* the session was closed, or ended as PDK_AUTH */
    /* The run of a job stood for as long as it may (job.h), or the record of a lease lock was not
     * renewed in time (lease_lock.h). */
    PDK_REASON_OVERDUE = 5,
} pdk_reason;

/* The name of a reason, such as "EXPIRED". The string is static. A value that does not exist has
 * the name "UNKNOWN". */
PDK_API const char *pdk_reason_name(pdk_reason reason);

/* The fencing token: the czxid of the znode with which the hold was granted. It is positive, and it
 * increases over the whole ensemble. It stays readable as long as the hold is referenced, also
 * after the loss. 0 for NULL.
 *
 * Holds that were handed over inside one process share the token. They differ in the hand-over
 * number, which counts up from 0. So compare (token, handover). */
PDK_API int64_t pdk_hold_token(const pdk_hold *hold);
PDK_API uint32_t pdk_hold_handover(const pdk_hold *hold);
/* The token padded to 20 decimal digits, so that the order of the texts is the order of the tokens.
 * The string lives as long as the hold. "" for NULL. */
PDK_API const char *pdk_hold_token_text(const pdk_hold *hold);

/* Is the hold still ours, now? The call is local and lock-free, and takes tens of nanoseconds. It
 * is never optimistic: after the first false the answer stays false. false for NULL, for a hold
 * that was released, and in the child of a fork. */
PDK_API bool pdk_hold_is_valid(const pdk_hold *hold);
/* For how many milliseconds the hold stays valid, even without a connection. 0 when it is not
 * valid, for NULL, and in the child of a fork. Local, as pdk_hold_is_valid. */
PDK_API int64_t pdk_hold_remaining_ms(const pdk_hold *hold);

/* Make sure that at least ms remain. Waits for a renewal if it must. Blocks, at most the session's
 * request_timeout_ms.
 *   ms  0 or more. The most is the lease that a renewal gives with this session timeout; with a
 *       lease lock, at most its duration as well, and with a job's run the rest of the run. The
 *       error text of PDK_INVALID names it.
 *
 *   PDK_OK           at least ms remain
 *   PDK_LOST         the hold is lost, also when the session was closed meanwhile
 *   PDK_NOT_HELD     the hold was released, before or meanwhile
 *   PDK_UNAVAILABLE  no renewal came in time; the hold may still be valid
 *   PDK_INVALID      ms is more than can ever be left
 *   Common           PDK_INVALID, FORKED, WRONG_THREAD */
PDK_API pdk_status pdk_hold_ensure(pdk_hold *hold, int64_t ms);

/* The same, without waiting: the answer goes to fn, once, as a callback (answer.h), at most the
 * session's request_timeout_ms later. When the callback runs, some of the time has passed. Any
 * thread may call it, also in a callback.
 *
 *   PDK_OK       fn will be called, with PDK_OK, LOST, NOT_HELD or UNAVAILABLE: for the reasons
 *                above
 *   PDK_CLOSED   the session that tells is closed, and the hold lost
 *   PDK_INVALID  ms is more than a session timeout can ever give
 *   Common       PDK_INVALID, AUTH, FORKED
 * On an error fn is never called. */
PDK_API pdk_status pdk_hold_ensure_async(pdk_hold *hold, int64_t ms, pdk_answered_fn fn,
                                         void *user);

/* Tells that the hold is lost: once for each hold that is lost before it is released.
 *
 * Thread: the session's own thread; with manual dispatch, the thread in pdk_session_dispatch or
 * pdk_session_close. Never under a lock. Inside: every call that does not block is allowed,
 * pdk_hold_release of this hold included. A call that blocks answers PDK_WRONG_THREAD. hold is
 * valid memory during the call; take a reference to keep it longer.
 *
 * Last call: no call starts after pdk_hold_release has returned. A call that started before that on
 * another thread may still run. user_free tells when no call can come any more: free there the
 * memory that the callback uses. */
typedef void (*pdk_lost_fn)(pdk_hold *hold, pdk_reason reason, void *user);

/* Set the callback of a hold; one per hold. Does not wait. When the hold is lost already, fn is
 * called soon, still as a callback. When the session is closed already, fn is never called.
 *   user_free  NULL, or called once with user when fn can run no more. It runs after fn on the
 *              thread of fn. Otherwise it runs in the call that releases the hold or gives back its
 *              last reference. For a leader's hold that may be a call about the election, or a
 *              thread of the library. When a close of the session drops the callback, it may run
 *              there. Never under a lock. It may make the same calls as fn.
 *
 *   PDK_OK        fn is set; user must stay valid until user_free
 *   PDK_NOT_HELD  the hold was released
 *   PDK_INVALID   a callback is set already
 *   Common        PDK_INVALID, FORKED
 * On an error user_free is not called. */
PDK_API pdk_status pdk_hold_on_lost(pdk_hold *hold, pdk_lost_fn fn, void *user,
                                    void (*user_free)(void *user));

/* A descriptor that turns readable when the hold is lost, and stays so. A release does not make it
 * readable. Poll it; never read or close it. The hold owns it until the last unref. -1 on an error;
 * pdk_last_error says which one: hold is NULL, the hold belongs to the parent process, or the
 * system has no descriptor left. */
PDK_API int pdk_hold_fd(pdk_hold *hold);
/* The reason for the loss of the hold. PDK_REASON_NONE when it was not lost, for NULL, and in the
 * child of a fork. Local; does not wait. */
PDK_API pdk_reason pdk_hold_reason(const pdk_hold *hold);

/* Proof of the hold as text, for pdk_session_check_sequencer: "pdk1 <znode> <mode> <token>
 * <handover>". The znode's path begins with the session's chroot. The string lives as long as the
 * hold. "" for NULL, and in the child of a fork.
 *
 * The mode is "exclusive", "shared", "leader" or "permit". With several permits the text names the
 * oldest of their znodes. After a downgrade the mode is "shared/<czxid>" once the writer's node was
 * exchanged: the hold stands on another node then, with this czxid. A text from before that does
 * not check any more, but its memory stays valid. */
PDK_API const char *pdk_hold_sequencer(const pdk_hold *hold);

/* The full path of the znode that the grant stands on, the session's chroot included. Local; does
 * not wait. With several permits it is the oldest of their znodes. After a downgrade it is the
 * reader's znode, once that has taken over. The string lives as long as the hold, also after a
 * release, a loss or a downgrade; it does not say that the znode exists. Others may read the znode
 * and watch it: do not write or delete it. "" for NULL, and in the child of a fork. */
PDK_API const char *pdk_hold_node(const pdk_hold *hold);

/* May another recipe work at the path of the hold? A lock or read/write lock, a semaphore and an
 * election at one path do not exclude each other. A list that the grant takes anyway tells of the
 * others. false: no other one had a node there when ours was made, so whoever came later could see
 * ours. true: one may have had; look (pdk_lock_holder, pdk_semaphore_holders, pdk_election_leader).
 * true also where no list has told: always for permits, for a striped lock, where the path has a
 * child `locks` or `leases`, and now and then for a session that takes a lock again and again.
 * false for NULL, and in the child of a fork. Local; does not wait. */
PDK_API bool pdk_hold_is_mixed(const pdk_hold *hold);

/* Let another thread use the hold as its own. The acquiring thread may then block on the same lock
 * again. NULL is allowed. */
PDK_API void pdk_hold_detach_thread(pdk_hold *hold);

/* Of a writer of a read/write lock: from now on it only reads. Readers behind it are let in, and no
 * writer comes in between. Does not wait for the network: the session exchanges the writer's znode
 * for a reader's with the same sequence number. The others go on waiting until a server has
 * confirmed the exchange. Where the exchange is refused, they wait until the release.
 *
 * The hold stays the same object, with its token, its callbacks and its validity. It cannot become
 * exclusive again. It is lost (PDK_REASON_NODE_GONE) if the writer's znode was deleted before the
 * exchange.
 *
 *   PDK_OK        the hold is shared, and the exchange goes on by itself
 *   PDK_NOT_HELD  the hold was released
 *   PDK_LOST      the hold is lost
 *   PDK_LIMIT     this session has 1000 KiB of node paths already; the hold stays exclusive
 *   PDK_INVALID   hold is not one of a read/write lock, or is shared already
 *   Common        PDK_INVALID, FORKED */
PDK_API pdk_status pdk_hold_downgrade(pdk_hold *hold);

/* End the grant, and give back the caller's reference. Never waits for the network: the session
 * deletes the znode, across reconnects, until the server has confirmed it.
 *   PDK_OK        the hold was valid until now
 *   PDK_LOST      it was lost before; the reference is given back all the same
 *   PDK_NOT_HELD  it was released before through another reference; this reference is given back.
 *                 Without a reference of its own a second release is a use after free.
 *   PDK_FORKED    the hold belongs to the parent process; nothing is given back
 *   Common        PDK_INVALID */
PDK_API pdk_status pdk_hold_release(pdk_hold *hold);

/* One more reference. Returns hold; NULL is allowed. */
PDK_API pdk_hold *pdk_hold_ref(pdk_hold *hold);
/* Gives a reference back. The last unref of a hold that was not released releases it. NULL is
 * allowed. Does nothing in the child of a fork. */
PDK_API void pdk_hold_unref(pdk_hold *hold);

PDK_END_DECLS

#endif

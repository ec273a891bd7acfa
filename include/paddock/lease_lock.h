/* SPDX-License-Identifier: Apache-2.0 */
/* The lease lock: a lock that outlives its holder's session. It is kept across a crash or restart
 * of its holder, until its own end.
 *
 *     acquire ──► held, and renewed ──release──► nobody's
 *        ▲              │ the holder dies, is cut off, or releases the hold alone
 *        │              ▼
 *        └─secret── it stands until its end, for the secret's owner alone ──end──► anybody's
 *
 * It is for work that goes on while its controller restarts: a machine that was started, a
 * migration that runs elsewhere, a device that was configured. A restarted holder has the same
 * secret, and takes the lock back without anybody having held it in between. Everybody else waits
 * until the end that the record promises, however long the session has been gone.
 *
 * The hold is as of a lock, with its token and its loss. It is valid as long as its session's
 * lease, and as long as its record has not ended. The record stands in a persistent znode,
 * <path>/record, beside the lock, <path>/lock. The session renews it by itself, by compare-and-set,
 * whenever a third of duration_ms has passed. Where it cannot be renewed in time the hold is lost
 * as PDK_REASON_OVERDUE, before the record ends. So two valid holds never overlap, of whichever
 * secrets, and no hold of another secret is granted before the record ends. The node of a holder
 * that is stopped or cut off stands until its session ends. So it keeps the others out for
 * duration_ms and the session timeout, at the longest.
 *
 * Assumptions, beyond those of every hold: nobody else writes to the record or deletes it; and the
 * servers' clocks agree, since a new leader whose clock is ahead lets the record end as much
 * earlier. Both matter only while no hold is valid. A stranger who may write there can break the
 * lock: use access control lists.
 *
 * Ownership: a lease lock is reference counted, and has a reference to its session. Any thread may
 * make every call. The calls that block answer PDK_WRONG_THREAD in a callback. */
#ifndef PADDOCK_LEASE_LOCK_H
#define PADDOCK_LEASE_LOCK_H

#include <paddock/answer.h>
#include <paddock/claim.h>
#include <paddock/hold.h>
#include <paddock/session.h>
#include <stddef.h>

PDK_BEGIN_DECLS

typedef struct pdk_lease_lock pdk_lease_lock;

/* The options of a lease lock. Fill with PDK_LEASE_LOCK_OPTIONS_INIT, then set the secret, and
 * change the options that you need. A struct of an older, smaller size is accepted. A newer, larger
 * one is accepted when everything unknown to this library is zero. */
typedef struct pdk_lease_lock_options {
    /* sizeof(pdk_lease_lock_options), in bytes. */
    size_t size;
    /* For how long the lock stands after each renewal, in ms: 1000 to 315,576,000,000 (ten years).
     * Default 60000. */
    int64_t duration_ms;
    /* The secret takes the lock back: text of 16 to 1024 bytes that nobody can guess, the same
     * after a restart and different for each holder. The record has its SHA-256 alone. Required;
     * default NULL. Copied. */
    const char *secret;
    /* The identity that others see of the holder: UTF-8, 1 to 1024 bytes, of which the record has
     * up to 128. Copied. Default NULL: the session's identity. */
    const char *identity;
} pdk_lease_lock_options;

#define PDK_LEASE_LOCK_OPTIONS_INIT {sizeof(pdk_lease_lock_options), 60000, NULL, NULL}

/* The same by a function, for languages that cannot use the macro. Does not wait.
 *   size  the sizeof of the caller
 *
 *   PDK_OK       options has the defaults
 *   PDK_INVALID  options is NULL, or no version has that size */
PDK_API pdk_status pdk_lease_lock_options_init(pdk_lease_lock_options *options, size_t size);

/* Make a lease lock. Does not wait.
 *   path     absolute, printable UTF-8, at most 500 bytes with the chroot. No empty, "." or ".."
 *            segment, and not "/". Without a chroot, not /zookeeper or below it. Its lock and its
 *            record stand below it.
 *   options  with a secret. Copied.
 *
 *   PDK_OK  *out is the lease lock, with one reference that pdk_lease_lock_unref gives back
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED */
PDK_API PDK_MUST_USE pdk_status pdk_lease_lock_new(pdk_session *session, const char *path,
                                                   const pdk_lease_lock_options *options,
                                                   pdk_lease_lock **out);
/* One more reference. Returns lock; NULL is allowed. Does not wait. */
PDK_API pdk_lease_lock *pdk_lease_lock_ref(pdk_lease_lock *lock);
/* Gives a reference back. The last unref ends the calls that wait for the lock (PDK_CANCELED). A
 * hold goes on, and is renewed. NULL is allowed. Does nothing in the child of a fork. Does not
 * wait. */
PDK_API void pdk_lease_lock_unref(pdk_lease_lock *lock);

/* Acquire the lock, or take it back. Blocks, at most timeout_ms; a try at most twice the session's
 * request_timeout_ms. While the lock stands for a holder that is gone, the call looks once a
 * second.
 *   timeout_ms  how long to wait, or PDK_FOREVER. 0 is a try
 *   out         set on PDK_OK: the hold, to be released with pdk_lease_lock_release, or with
 *               pdk_hold_release to leave it standing until its end
 *
 *   PDK_OK             *out is the hold
 *   PDK_BUSY           a try: somebody has its lock, or asks for it; or it stands. Where it stands
 *                      the error text says for which holder, and until when
 *   PDK_TIMEOUT        the deadline passed meanwhile
 *   PDK_LOST           the hold was lost before the record was written for certain. It may stand
 *                      for this secret
 *   PDK_UNAVAILABLE    no server confirmed it in time. It may stand for this secret
 *   PDK_DEADLOCK       this thread holds it
 *   PDK_DAMAGED        the znode of the record has something else
 *   PDK_UNSUPPORTED    the record is of a later version of the library; or the server refuses a
 *                      node
 *   PDK_NO_PERMISSION  an access control list forbids it
 *   PDK_UNPROTECTED    strangers may change the lock's directory, the record or its parent:
 *                      access.h, "Existing nodes"
 *   PDK_LIMIT          a limit of the session is reached, as for a lock; or the versions of the
 *                      record are used up
 *   PDK_MISMATCH       <path>/lock has a lock-delay, by a node "delay" below it
 *   PDK_EXHAUSTED      the sequence numbers of the lock are used up
 *   PDK_REWOUND        the servers were wiped or restored: see pdk_session_token_seen
 *   PDK_CANCELED       this thread was interrupted (interrupt.h), or the last reference was given
 *                      back
 *   Common             PDK_INVALID, CLOSED, AUTH, FORKED, WRONG_THREAD */
PDK_API PDK_MUST_USE pdk_status pdk_lease_lock_acquire(pdk_lease_lock *lock, int64_t timeout_ms,
                                                       pdk_hold **out);
/* Acquire the lock, or take it back, without waiting, as pdk_lease_lock_acquire does: the answer
 * goes to fn, once, as a callback (answer.h, which also says when it comes). Any thread may call
 * it, also in a callback. There is no claim: the last pdk_lease_lock_unref calls it off
 * (PDK_CANCELED). No thread has the hold, so PDK_DEADLOCK is no answer. A hold that was lost before
 * fn runs is PDK_LOST, and one that no callback gets is released.
 *   fn  its hold is not NULL exactly when status is PDK_OK. The callback owns it, as the caller of
 *       pdk_lease_lock_acquire does
 *
 *   PDK_OK       fn will be called. It gets the hold, or a status of pdk_lease_lock_acquire
 *   Common       PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error fn is never called. */
PDK_API PDK_MUST_USE pdk_status pdk_lease_lock_acquire_async(pdk_lease_lock *lock,
                                                             int64_t timeout_ms, pdk_acquired_fn fn,
                                                             void *user);

/* Give the lock up, so that the next one need not wait for its end, and release the hold. Blocks,
 * at most timeout_ms.
 *   hold  of pdk_lease_lock_acquire of this lock
 *
 *   PDK_OK  it is nobody's, and the hold is released with its reference
 * After any other answer the hold is still the caller's to release, and the lock may stand:
 *   PDK_LOST         the hold is lost, before it was confirmed that the lock is nobody's
 *   PDK_NOT_HELD     the hold was released
 *   PDK_REPLACED     somebody without the lock has written or deleted the record
 *   PDK_UNAVAILABLE  no server confirmed it in time. Calling again is safe
 *   PDK_LIMIT        the versions of the record are used up
 *   PDK_DAMAGED, PDK_UNSUPPORTED, PDK_NO_PERMISSION, PDK_UNPROTECTED  as for pdk_lease_lock_acquire
 *   Common           PDK_INVALID, CLOSED, AUTH, FORKED, WRONG_THREAD */
PDK_API pdk_status pdk_lease_lock_release(pdk_lease_lock *lock, pdk_hold *hold, int64_t timeout_ms);
/* Give the lock up without waiting, as pdk_lease_lock_release does: the answer goes to fn, once, as
 * a callback (answer.h). Any thread may call it, also in a callback. The hold is released just
 * before fn gets PDK_OK, with its reference, unless you have released it meanwhile. If fn is never
 * called, it is still yours.
 *
 *   PDK_OK       fn will be called. It gets a status of pdk_lease_lock_release
 *   Common       PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error fn is never called. */
PDK_API pdk_status pdk_lease_lock_release_async(pdk_lease_lock *lock, pdk_hold *hold,
                                                int64_t timeout_ms, pdk_answered_fn fn, void *user);

PDK_END_DECLS

#endif

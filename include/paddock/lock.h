/* SPDX-License-Identifier: Apache-2.0 */
/* The lock: a distributed lock for one holder at a time, fair between processes, shared by the
 * threads of this one.
 *
 * ZooKeeper's sequence numbers are the order between processes. Threads that share one pdk_lock
 * queue in front of one znode. A release hands the lock over to the next of them and does not touch
 * ZooKeeper. It does so at most max_handovers times, or for max_handover_ms, in a row. Then this
 * process queues again behind the others, so that other processes are served.
 *
 * A lock that is taken again and again can let its znode linger after a release, for linger_ms. The
 * next acquisition of this pdk_lock takes it, also without touching ZooKeeper, within the same
 * bounds. Somebody else who comes makes it go at once. Until then others see a holder.
 *
 * Reentrant: each acquisition by the thread that holds the lock gives a hold of its own. All of
 * them have the same token and hand-over number, since they share one grant. The grant ends with
 * the last of them, and is lost for all of them together. Only blocking acquisitions know their
 * thread. After pdk_hold_detach_thread a hold belongs to no thread: call it for a hold that goes to
 * another thread.
 *
 * Ownership: a lock is reference counted. It has a reference to its session, and so have its claims
 * and holds. Any thread may make every call below. A callback may make every call that does not
 * block.
 */
#ifndef PADDOCK_LOCK_H
#define PADDOCK_LOCK_H

#include <paddock/claim.h>
#include <paddock/contenders.h>
#include <paddock/hold.h>
#include <paddock/naming.h>
#include <paddock/session.h>

PDK_BEGIN_DECLS

typedef struct pdk_lock pdk_lock;

/* The options of a lock. Fill with PDK_LOCK_OPTIONS_INIT, then change the options that you need. A
 * struct of an older, smaller size is accepted. A newer, larger one is accepted when everything
 * unknown to this library is zero. */
typedef struct pdk_lock_options {
    /* sizeof(pdk_lock_options), in bytes. */
    size_t size;
    /* A pdk_naming: which other clients can contend on the path. Default PDK_NAMING_CURATOR. */
    int32_t naming;
    /* How many hand-overs between threads may follow each other. Default 256, 0 or more. 0: every
     * acquisition queues again. */
    int32_t max_handovers;
    /* For how long hand-overs may follow each other, in ms. Default 100, 0 or more. 0: every
     * acquisition queues again. */
    int32_t max_handover_ms;
    /* 1: a thread that holds the lock may acquire it again. 0: that is PDK_DEADLOCK. Default 0; 0
     * or 1. */
    int32_t reentrant;
    /* The identity that others see of the contenders of this lock: UTF-8, 1 to 1024 bytes. Copied.
     * Default NULL: the session's identity. */
    const char *identity;
    /* For so long nobody is granted after a holder ended without a release, in ms. After a release
     * the next one is granted at once. All programs on the path say the same. Default 0: there is
     * no such delay, and no cost. 0 or more. See docs/recipes/lock-delay.md. */
    int32_t lock_delay_ms;
    /* For so long the znode of a hold that was released may wait for the next acquisition, in ms;
     * no longer than max_handovers and max_handover_ms allow a hand-over. Default 0: a release
     * deletes it. 0 or more; 0 with a lock_delay_ms. See docs/recipes/lock.md. */
    int32_t linger_ms;
} pdk_lock_options;

#define PDK_LOCK_OPTIONS_INIT                                                                      \
    {sizeof(pdk_lock_options), PDK_NAMING_CURATOR, 256, 100, 0, NULL, 0, 0}

/* The same by a function, for languages that cannot use the macro. Does not wait.
 *   size  the sizeof of the caller
 *
 *   PDK_OK       options has the defaults
 *   PDK_INVALID  options is NULL, or no version has that size */
PDK_API pdk_status pdk_lock_options_init(pdk_lock_options *options, size_t size);

/* The lock at path, below the session's chroot. Does not wait, and touches no server.
 *   path     absolute, printable UTF-8, at most 512 bytes with the chroot. No empty, "." or ".."
 *            segment, and not "/". Without a chroot, not /zookeeper or below it. Copied.
 *   options  or NULL for the defaults. Copied.
 *
 *   PDK_OK  *out is the lock, with one reference that pdk_lock_unref gives back
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED */
PDK_API PDK_MUST_USE pdk_status pdk_lock_new(pdk_session *session, const char *path,
                                             const pdk_lock_options *options, pdk_lock **out);
/* One more reference. Returns lock; NULL is allowed. */
PDK_API pdk_lock *pdk_lock_ref(pdk_lock *lock);
/* Gives a reference back. The last unref cancels the claims of the lock (PDK_CANCELED), and leaves
 * its holds as they are. NULL is allowed. Does nothing in the child of a fork. */
PDK_API void pdk_lock_unref(pdk_lock *lock);

/* Acquire the lock. Blocks, at most timeout_ms; a try blocks at most request_timeout_ms.
 *   timeout_ms  how long to stay in the queue, or PDK_FOREVER. 0 is a try: it does not stay in the
 *               queue, and the session's request_timeout_ms bounds it.
 *
 *   PDK_OK             *out is the hold, with one reference that pdk_hold_release gives back
 *   PDK_BUSY           a try: another client or another thread of this process is ahead, or a hold
 *                      by another object on this path; or a lock-delay runs
 *   PDK_TIMEOUT        the deadline passed in the queue; or the lock was granted in time, to a try
 *                      as well, and this thread ran too late to take it
 *   PDK_UNAVAILABLE    no server confirmed a position in the queue by the deadline; a try: no
 *                      answer came within request_timeout_ms
 *   PDK_DEADLOCK       this thread holds this lock object, and reentrant is 0; or, not for a try,
 *                      it holds by another object of the session on this path
 *   PDK_CANCELED       the last reference to the lock was given back meanwhile; or this thread was
 *                      interrupted (interrupt.h)
 *   PDK_NO_PERMISSION  an access control list forbids to create or list the directory, or to create
 *                      a node in it
 *   PDK_UNPROTECTED    strangers may change the directory: access.h, "Existing nodes"
 *   PDK_UNSUPPORTED    the server refuses the node: for example, the parent is ephemeral, or a
 *                      quota is used up
 *   PDK_LIMIT          one of these limits is crossed: 1000 KiB of node paths or 900 kB of watched
 *                      paths in the session; 100,000 children in the directory; 127 bytes in the
 *                      name of a contender
 *   PDK_EXHAUSTED      the directory's sequence numbers are used up
 *   PDK_REWOUND        the servers were wiped or restored: see pdk_session_token_seen
 *   PDK_MISMATCH       the others on the path have another lock_delay_ms
 *   PDK_DAMAGED        with a lock_delay_ms: <path>/delay has something else than a number in it
 *   Common             PDK_INVALID, CLOSED, AUTH, FORKED, WRONG_THREAD */
PDK_API PDK_MUST_USE pdk_status pdk_lock_acquire(pdk_lock *lock, int64_t timeout_ms,
                                                 pdk_hold **out);

/* The same acquisition without waiting: fn gets the result. The claim belongs to no thread. Its
 * hold never causes PDK_DEADLOCK, and no reentrant acquisition shares it.
 *   timeout_ms  as in pdk_lock_acquire above
 *   fn          called once with the result: on the session's own thread, or with manual dispatch
 *               on the dispatching thread. Never under a lock, and maybe before this call returns.
 *               It must make no call that blocks. A hold that it gets is its own: pdk_hold_release
 *               gives it back.
 *   user        given to fn. The library never frees it. It is needed until fn has returned, or
 *               until pdk_session_close has returned PDK_OK outside of any callback.
 *   out         NULL, or gets a reference to the claim, to be given back with pdk_claim_unref
 *
 *   PDK_OK  fn will be called with PDK_OK, BUSY, TIMEOUT, UNAVAILABLE, CANCELED, NO_PERMISSION,
 *           UNPROTECTED, UNSUPPORTED, LIMIT, EXHAUSTED, MISMATCH, DAMAGED, CLOSED or AUTH: for the
 *           reasons listed above
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error fn is never called. */
PDK_API PDK_MUST_USE pdk_status pdk_lock_acquire_async(pdk_lock *lock, int64_t timeout_ms,
                                                       pdk_acquired_fn fn, void *user,
                                                       pdk_claim **out);

/* List the queue, or the holder. pdk_lock_list lists the queue, the holder first. pdk_lock_holder
 * lists the holder alone: a list of one, or of none when the lock is free. Both block, at most
 * timeout_ms. With 0 there is no time for an answer.
 *
 *   PDK_OK             *out is the list; pdk_contenders_free frees it
 *   PDK_UNAVAILABLE    no server answered within timeout_ms
 *   PDK_NO_PERMISSION  an access control list forbids to list the directory or to read a node
 *   PDK_LIMIT          pdk_lock_list only: there are more than 5000 contenders
 *   Common             PDK_INVALID, CLOSED, AUTH, FORKED, WRONG_THREAD */
PDK_API pdk_status pdk_lock_list(pdk_lock *lock, int64_t timeout_ms, pdk_contenders **out);
PDK_API pdk_status pdk_lock_holder(pdk_lock *lock, int64_t timeout_ms, pdk_contenders **out);

/* The same, without waiting: the answer goes to fn, once, as a callback (answer.h). Any thread may
 * call them, also in a callback.
 *   timeout_ms  0 or more, or PDK_FOREVER
 *
 *   PDK_OK  fn will be called. It gets a list, or a status above
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error fn is never called. */
PDK_API pdk_status pdk_lock_list_async(pdk_lock *lock, int64_t timeout_ms, pdk_contenders_fn fn,
                                       void *user);
PDK_API pdk_status pdk_lock_holder_async(pdk_lock *lock, int64_t timeout_ms, pdk_contenders_fn fn,
                                         void *user);

PDK_END_DECLS

#endif

/* The lock: exclusive, fair between processes, shared by the threads of this one.
 *
 * Between processes the order is that of ZooKeeper's sequence numbers. Threads that share one pdk_lock queue in front of
 * one znode; a release hands over to the next of them without touching ZooKeeper, at most max_handovers times or for
 * max_handover_ms, after which the lock goes to the end of the line so that other processes are served.
 *
 * Reentrant: each acquisition by the thread that holds the lock yields a hold of its own, with the same token and hand-over
 * number, since it is the same right; the right ends with the last of them, and is lost for all of them together. Only
 * blocking acquisitions know their thread. A hold that is given to another thread is no longer the acquiring thread's:
 * pdk_hold_detach_thread says so.
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

typedef struct pdk_lock_options {
    size_t size;
    int32_t naming;          /* a pdk_naming */
    int32_t max_handovers;   /* hand-overs between threads in a row; 0: every acquisition queues anew */
    int32_t max_handover_ms; /* and for how long in a row */
    int32_t reentrant;       /* 1: a thread that holds it may acquire it again; 0: that is DEADLOCK */
} pdk_lock_options;

#define PDK_LOCK_OPTIONS_INIT                                                                                          \
    { sizeof(pdk_lock_options), PDK_NAMING_CURATOR, 256, 100, 0 }

/* The lock at path, below the session's chroot. Touches no server.
 *   path  absolute, printable UTF-8, no empty, "." or ".." segment, not /zookeeper, at most 512 bytes with the chroot.
 * INVALID, CLOSED, AUTH, FORKED. */
PDK_API pdk_status pdk_lock_new(pdk_session *session, const char *path, const pdk_lock_options *options,
                                pdk_lock **out);
PDK_API pdk_lock *pdk_lock_ref(pdk_lock *lock);
/* The last unref cancels the claims of the lock (CANCELED) and leaves its holds. */
PDK_API void pdk_lock_unref(pdk_lock *lock);

/* Acquire; blocks.
 *   timeout_ms  PDK_FOREVER; or how long to stay in line; or 0: a try, which does not queue and is bounded by the
 *               session's request_timeout_ms.
 *   out         on PDK_OK the hold, with one reference that pdk_hold_release gives back.
 * BUSY (try: somebody is ahead), TIMEOUT (in line when the deadline passed; or granted in time, a try as well, and this
 * thread or its callback ran only later), UNAVAILABLE (no server confirmed a place in line by then), DEADLOCK (this thread
 * holds this lock object), WRONG_THREAD, NO_PERMISSION, UNSUPPORTED (the parent is ephemeral, or a quota is used up),
 * EXHAUSTED, LIMIT, CANCELED (the last unref elsewhere), CLOSED, AUTH, FORKED, INVALID. */
PDK_API pdk_status pdk_lock_acquire(pdk_lock *lock, int64_t timeout_ms, pdk_hold **out);

/* The same without waiting: an error return means that fn is never called. It belongs to no thread: a hold got this way
 * is never DEADLOCK, nor acquired again by reentrance.
 *   out  a reference to the claim, to be given back with pdk_claim_unref; or NULL. */
PDK_API pdk_status pdk_lock_acquire_async(pdk_lock *lock, int64_t timeout_ms, pdk_acquired_fn fn, void *user,
                                          pdk_claim **out);

/* Who is in line, the holder first; blocks, at most timeout_ms. UNAVAILABLE when that passes. The holder alone: a list of
 * one, or of none when the lock is free. NO_PERMISSION, LIMIT (more than 5000), WRONG_THREAD, CLOSED, AUTH, FORKED,
 * INVALID. */
PDK_API pdk_status pdk_lock_contenders(pdk_lock *lock, int64_t timeout_ms, pdk_contenders **out);
PDK_API pdk_status pdk_lock_holder(pdk_lock *lock, int64_t timeout_ms, pdk_contenders **out);

PDK_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The read/write lock: a distributed lock for any number of readers or one writer, in the order in
 * which they came.
 *
 * A reader waits for the nearest writer ahead of it. A writer waits for the contender right ahead
 * of it. So no reader overtakes a writer that came before it, and a writer never waits for readers
 * that came later. Each reader has a znode of its own. The threads that write through one
 * pdk_rwlock share one znode, as the threads of one pdk_lock do.
 *
 * Tokens: a writer has a larger token than every writer, and every reader, that held before it.
 * Readers that hold together have different tokens in no particular order. A resource admits a
 * reader whose token is not smaller than the largest token of a WRITER that it has seen. It does
 * not remember the token of a reader. A hold that was downgraded keeps its token, the one it wrote
 * with.
 *
 * Ownership: a read/write lock is reference counted. It has a reference to its session, and so have
 * its claims and holds. Any thread may make every call below. A callback may make every call that
 * does not block.
 */
#ifndef PADDOCK_RWLOCK_H
#define PADDOCK_RWLOCK_H

#include <paddock/claim.h>
#include <paddock/contenders.h>
#include <paddock/naming.h>
#include <paddock/session.h>

PDK_BEGIN_DECLS

typedef struct pdk_rwlock pdk_rwlock;

/* The options of a read/write lock. Fill with PDK_RWLOCK_OPTIONS_INIT, then change the options that
 * you need. A struct of an older, smaller size is accepted. A newer, larger one is accepted when
 * everything unknown to this library is zero. */
typedef struct pdk_rwlock_options {
    /* sizeof(pdk_rwlock_options), in bytes. */
    size_t size;
    /* A pdk_naming: which other clients can contend on the path. Default PDK_NAMING_CURATOR. */
    int32_t naming;
    /* How many hand-overs between writing threads may follow each other. Default 256, 0 or more. 0:
     * every acquisition queues again. */
    int32_t max_handovers;
    /* For how long such hand-overs may follow each other, in ms. Default 100, 0 or more. 0: every
     * acquisition queues again. */
    int32_t max_handover_ms;
    /* The identity that others see of the contenders of this lock: UTF-8, 1 to 1024 bytes. Copied.
     * Default NULL: the session's identity. */
    const char *identity;
} pdk_rwlock_options;

#define PDK_RWLOCK_OPTIONS_INIT {sizeof(pdk_rwlock_options), PDK_NAMING_CURATOR, 256, 100, NULL}

/* The same by a function, for languages that cannot use the macro. Does not wait.
 *   size  the sizeof of the caller
 *
 *   PDK_OK       options has the defaults
 *   PDK_INVALID  options is NULL, or no version has that size */
PDK_API pdk_status pdk_rwlock_options_init(pdk_rwlock_options *options, size_t size);

/* The read/write lock at path, below the session's chroot. Does not wait, and touches no server.
 *   path     absolute, printable UTF-8, at most 512 bytes with the chroot. No empty, "." or ".."
 *            segment, and not "/". Without a chroot, not /zookeeper or below it. Copied.
 *   options  or NULL for the defaults. Copied.
 *
 *   PDK_OK  *out is the lock, with one reference that pdk_rwlock_unref gives back
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED */
PDK_API PDK_MUST_USE pdk_status pdk_rwlock_new(pdk_session *session, const char *path,
                                               const pdk_rwlock_options *options, pdk_rwlock **out);
/* One more reference. Returns lock; NULL is allowed. */
PDK_API pdk_rwlock *pdk_rwlock_ref(pdk_rwlock *lock);
/* Gives a reference back. The last unref cancels the claims of the lock (PDK_CANCELED), and leaves
 * its holds as they are. NULL is allowed. Does nothing in the child of a fork. */
PDK_API void pdk_rwlock_unref(pdk_rwlock *lock);

/* Acquire the lock, shared (read) or exclusive (write). Both block, at most timeout_ms; a try
 * blocks at most request_timeout_ms.
 *   timeout_ms  how long to stay in the queue, or PDK_FOREVER. 0 is a try: it does not stay in the
 *               queue, and the session's request_timeout_ms bounds it.
 *
 *   PDK_OK             *out is the hold, with one reference that pdk_hold_release gives back
 *   PDK_BUSY           a try: somebody that it would have to wait for is ahead. To read, that is a
 *                      writer. To write, it is any client, or a writing thread of this process.
 *   PDK_TIMEOUT        the deadline passed in the queue; or the lock was granted in time, to a try
 *                      as well, and this thread ran too late to take it
 *   PDK_UNAVAILABLE    no server confirmed a position in the queue by the deadline; a try: no
 *                      answer came within request_timeout_ms
 *   PDK_DEADLOCK       this thread holds this lock object already. It would wait for itself as soon
 *                      as a writer came in between. Or, not for a try, it holds by another object
 *                      of the session on this path, unless both are readers.
 *   PDK_UPGRADE        write only: this thread holds this lock object shared, or, not for a try,
 *                      another object of the session on this path. Two threads that waited so would
 *                      wait for each other for ever. Release first, and read again.
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
 *   Common             PDK_INVALID, CLOSED, AUTH, FORKED, WRONG_THREAD
 *
 * Only blocking acquisitions know their thread, until pdk_hold_detach_thread. */
PDK_API PDK_MUST_USE pdk_status pdk_rwlock_acquire_read(pdk_rwlock *lock, int64_t timeout_ms,
                                                        pdk_hold **out);
PDK_API PDK_MUST_USE pdk_status pdk_rwlock_acquire_write(pdk_rwlock *lock, int64_t timeout_ms,
                                                         pdk_hold **out);

/* The same acquisitions without waiting: fn gets the result. The claim belongs to no thread, so its
 * hold never causes PDK_DEADLOCK or PDK_UPGRADE.
 *   timeout_ms  as in pdk_rwlock_acquire_read above
 *   fn          called once with the result: on the session's own thread, or with manual dispatch
 *               on the dispatching thread. Never under a lock, and maybe before this call returns.
 *               It must make no call that blocks. A hold that it gets is its own: pdk_hold_release
 *               gives it back.
 *   user        given to fn. The library never frees it. It is needed until fn has returned, or
 *               until pdk_session_close has returned PDK_OK outside of any callback.
 *   out         NULL, or gets a reference to the claim, to be given back with pdk_claim_unref
 *
 *   PDK_OK  fn will be called with PDK_OK, BUSY, TIMEOUT, UNAVAILABLE, CANCELED, NO_PERMISSION,
 *           UNPROTECTED, UNSUPPORTED, LIMIT, EXHAUSTED, CLOSED or AUTH: for the reasons listed
 *           above
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error fn is never called. */
PDK_API PDK_MUST_USE pdk_status pdk_rwlock_acquire_read_async(pdk_rwlock *lock, int64_t timeout_ms,
                                                              pdk_acquired_fn fn, void *user,
                                                              pdk_claim **out);
PDK_API PDK_MUST_USE pdk_status pdk_rwlock_acquire_write_async(pdk_rwlock *lock, int64_t timeout_ms,
                                                               pdk_acquired_fn fn, void *user,
                                                               pdk_claim **out);

/* List the queue, readers and writers, oldest first. pdk_contenders_is_shared tells them apart.
 * Blocks, at most timeout_ms. With 0 there is no time for an answer.
 *
 *   PDK_OK             *out is the list; pdk_contenders_free frees it
 *   PDK_UNAVAILABLE    no server answered within timeout_ms
 *   PDK_NO_PERMISSION  an access control list forbids to list the directory or to read a node
 *   PDK_LIMIT          there are more than 5000 contenders
 *   Common             PDK_INVALID, CLOSED, AUTH, FORKED, WRONG_THREAD */
PDK_API pdk_status pdk_rwlock_list(pdk_rwlock *lock, int64_t timeout_ms, pdk_contenders **out);

/* The same, without waiting: the answer goes to fn, once, as a callback (answer.h). Any thread may
 * call it, also in a callback.
 *   timeout_ms  0 or more, or PDK_FOREVER
 *
 *   PDK_OK  fn will be called. It gets a list, or a status above
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error fn is never called. */
PDK_API pdk_status pdk_rwlock_list_async(pdk_rwlock *lock, int64_t timeout_ms, pdk_contenders_fn fn,
                                         void *user);

PDK_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The semaphore: a distributed counting semaphore, whose permits are granted in the order in which
 * they were asked for.
 *
 *     <path>/locks    the queue. Only its first contender looks at the leases; each of the others
 *                     watches the one ahead of it.
 *     <path>/leases   one znode for each permit that is taken. The data of the directory is the
 *                     number of permits.
 *
 * This is the layout of Apache Curator's InterProcessSemaphoreV2, which can share the path. Threads
 * that share one pdk_semaphore queue in front of one znode in the queue. Every permit has a znode
 * of its own.
 *
 * Admission: the first claim in the queue is admitted. It takes its leases, or waits until enough
 * are free. Then the next claim is admitted.
 *
 * Tokens: holders of permits do not exclude each other. So their tokens are in no order that a
 * resource could check. A token tells permits apart, and pdk_session_check_sequencer tells whether
 * one is still held.
 *
 * Ownership: a semaphore is reference counted. It has a reference to its session, and so have its
 * claims and holds. Any thread may make every call below. A callback may make every call that does
 * not block.
 */
#ifndef PADDOCK_SEMAPHORE_H
#define PADDOCK_SEMAPHORE_H

#include <paddock/claim.h>
#include <paddock/contenders.h>
#include <paddock/session.h>

PDK_BEGIN_DECLS

typedef struct pdk_semaphore pdk_semaphore;

/* The most permits that a semaphore can have: the first contender in the queue lists them all. */
#define PDK_SEMAPHORE_PERMITS_MAX 10000
/* The most permits that one claim can take: each is a znode. */
#define PDK_SEMAPHORE_COUNT_MAX 100
/* The two, as the library that is loaded has them. */
PDK_API int32_t pdk_semaphore_permits_max(void);
PDK_API int32_t pdk_semaphore_count_max(void);

/* The options of a semaphore. Fill with PDK_SEMAPHORE_OPTIONS_INIT, then change the options that
 * you need. A struct of an older, smaller size is accepted. A newer, larger one is accepted when
 * everything unknown to this library is zero. */
typedef struct pdk_semaphore_options {
    /* sizeof(pdk_semaphore_options), in bytes. */
    size_t size;
    /* How many times in a row an admission may be handed over to the next thread of this process.
     * Default 256, 0 or more. 0: every acquisition queues again. */
    int32_t max_handovers;
    /* For how long such hand-overs may follow each other, in ms. Default 100, 0 or more. 0: every
     * acquisition queues again. */
    int32_t max_handover_ms;
    /* The identity that others see of the contenders of this semaphore: UTF-8, 1 to 1024 bytes.
     * Copied. Default NULL: the session's identity. */
    const char *identity;
} pdk_semaphore_options;

#define PDK_SEMAPHORE_OPTIONS_INIT {sizeof(pdk_semaphore_options), 256, 100, NULL}

/* The same by a function, for languages that cannot use the macro. Does not wait.
 *   size  the sizeof of the caller
 *
 *   PDK_OK       options has the defaults
 *   PDK_INVALID  options is NULL, or no version has that size */
PDK_API pdk_status pdk_semaphore_options_init(pdk_semaphore_options *options, size_t size);

/* The semaphore at path, below the session's chroot. Does not wait, and touches no server.
 *   path     absolute, printable UTF-8, at most 505 bytes with the chroot, since "/leases" follows.
 *            No empty, "." or ".." segment, and not "/". Without a chroot, not /zookeeper or below
 *            it. Copied.
 *   permits  how many permits there are, 1 to PDK_SEMAPHORE_PERMITS_MAX. It must be the same for
 *            every client of the path.
 *   options  or NULL for the defaults. Copied.
 *
 *   PDK_OK  *out is the semaphore, with one reference that pdk_semaphore_unref gives back
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED */
PDK_API PDK_MUST_USE pdk_status pdk_semaphore_new(pdk_session *session, const char *path,
                                                  int32_t permits,
                                                  const pdk_semaphore_options *options,
                                                  pdk_semaphore **out);
/* One more reference. Returns semaphore; NULL is allowed. */
PDK_API pdk_semaphore *pdk_semaphore_ref(pdk_semaphore *semaphore);
/* Gives a reference back. The last unref cancels the claims of the semaphore (PDK_CANCELED), and
 * leaves its holds as they are. NULL is allowed. Does nothing in the child of a fork. */
PDK_API void pdk_semaphore_unref(pdk_semaphore *semaphore);

/* Take `count` permits at once, or none. They are one hold: released together, lost together.
 * Blocks, at most timeout_ms; a try blocks at most request_timeout_ms. A thread may hold permits
 * already.
 *   count       1 to permits, and at most PDK_SEMAPHORE_COUNT_MAX. A claim for many permits is not
 *               overtaken by a later claim for few.
 *   timeout_ms  how long to stay in the queue, or PDK_FOREVER. 0 is a try: it does not stay in the
 *               queue, and the session's request_timeout_ms bounds it.
 *
 *   PDK_OK             *out is the hold, with one reference that pdk_hold_release gives back
 *   PDK_BUSY           a try: somebody is ahead in the queue, or too few permits are free
 *   PDK_TIMEOUT        the deadline passed in the queue; or the permits were granted in time, to a
 *                      try as well, and this thread ran too late to take them
 *   PDK_UNAVAILABLE    no server confirmed a position in the queue by the deadline; a try: no
 *                      answer came within request_timeout_ms
 *   PDK_MISMATCH       the path is used with another number of permits. Only clients of this
 *                      library record their number. It is forgotten when the directory is removed.
 *   PDK_DAMAGED        <path>/leases has something else than a number in it
 *   PDK_CANCELED       the last reference to the semaphore was given back meanwhile; or this thread
 *                      was interrupted (interrupt.h)
 *   PDK_NO_PERMISSION  an access control list forbids to create or list one of the directories, to
 *                      create a node in it, or to read the number of permits
 *   PDK_UNPROTECTED    strangers may change one of them: access.h, "Existing nodes"
 *   PDK_UNSUPPORTED    the server refuses a node: for example, the parent is ephemeral, or a quota
 *                      is used up
 *   PDK_LIMIT          one of these limits is crossed: 1000 KiB of node paths or 900 kB of watched
 *                      paths in the session; 100,000 children in a directory; 127 bytes in the name
 *                      of a contender
 *   PDK_EXHAUSTED      the sequence numbers of one of the directories are used up
 *   PDK_REWOUND        the servers were wiped or restored: see pdk_session_token_seen
 *   Common             PDK_INVALID, CLOSED, AUTH, FORKED, WRONG_THREAD */
PDK_API PDK_MUST_USE pdk_status pdk_semaphore_acquire(pdk_semaphore *semaphore, int32_t count,
                                                      int64_t timeout_ms, pdk_hold **out);

/* The same acquisition without waiting: fn gets the result.
 *   count       as in pdk_semaphore_acquire above
 *   timeout_ms  as in pdk_semaphore_acquire above
 *   fn          called once with the result: on the session's own thread, or with manual dispatch
 *               on the dispatching thread. Never under a lock, and maybe before this call returns.
 *               It must make no call that blocks. A hold that it gets is its own: pdk_hold_release
 *               gives it back.
 *   user        given to fn. The library never frees it. It is needed until fn has returned, or
 *               until pdk_session_close has returned PDK_OK outside of any callback.
 *   out         NULL, or gets a reference to the claim, to be given back with pdk_claim_unref
 *
 *   PDK_OK  fn will be called with PDK_OK, BUSY, TIMEOUT, UNAVAILABLE, MISMATCH, DAMAGED, CANCELED,
 *           NO_PERMISSION, UNPROTECTED, UNSUPPORTED, LIMIT, EXHAUSTED, CLOSED or AUTH: for the
 *           reasons above
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error fn is never called. */
PDK_API PDK_MUST_USE pdk_status pdk_semaphore_acquire_async(pdk_semaphore *semaphore, int32_t count,
                                                            int64_t timeout_ms, pdk_acquired_fn fn,
                                                            void *user, pdk_claim **out);

/* List the holders of permits: one contender for each permit, oldest first. Blocks, at most
 * timeout_ms. With 0 there is no time for an answer.
 *
 *   PDK_OK             *out is the list; pdk_contenders_free frees it
 *   PDK_UNAVAILABLE    no server answered within timeout_ms
 *   PDK_NO_PERMISSION  an access control list forbids to list the leases or to read one
 *   PDK_LIMIT          more than 5000 permits are taken
 *   Common             PDK_INVALID, CLOSED, AUTH, FORKED, WRONG_THREAD */
PDK_API pdk_status pdk_semaphore_holders(pdk_semaphore *semaphore, int64_t timeout_ms,
                                         pdk_contenders **out);

/* The same, without waiting: the answer goes to fn, once, as a callback (answer.h). Any thread may
 * call it, also in a callback.
 *   timeout_ms  0 or more, or PDK_FOREVER
 *
 *   PDK_OK  fn will be called. It gets a list, or a status above
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error fn is never called. */
PDK_API pdk_status pdk_semaphore_holders_async(pdk_semaphore *semaphore, int64_t timeout_ms,
                                               pdk_contenders_fn fn, void *user);

PDK_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The striped lock: n distributed locks under one path, for more keys than there are locks.
 *
 *     <path>          the data of the node is the number of stripes
 *     <path>/0007     stripe 7, a lock as in lock.h. pdk_striped_stripe_of tells a key's stripe.
 *     <path>/any      the queue of claims for any stripe
 *
 * By key: two keys exclude each other when they have the same stripe. With n stripes that is so for
 * one pair of keys in n. More stripes cost nothing until they are used.
 *
 * Any: for a resource that is split in n buckets. pdk_striped_acquire_any takes the stripe that is
 * granted first. Its callers queue in <path>/any. Only the first of them stands in the stripes: in
 * one that is drawn, and in twice as many each time that all of them are taken. When the call
 * returns, it has left all stripes but the one that it was granted.
 *
 * The number of stripes is recorded in the data of <path> by the first client that acquires, and
 * compared by every object once in each connection, and whenever the node changes. The node is
 * persistent: it stays when nobody uses it. Where somebody has made it before, without data, it
 * gets a child <path>/number as well: it may be a container, which servers remove when it is empty.
 * To change the number, stop all clients, delete the path, and start them with the new number.
 *
 * A hold is a hold of the stripe's lock, with its token. Threads that share one pdk_striped hand a
 * stripe to each other as threads that share one pdk_lock do.
 *
 * Ownership: a striped lock is reference counted. It has a reference to its session, and so have
 * its claims and holds. Any thread may make every call below. A callback may make every call that
 * does not block.
 */
#ifndef PADDOCK_STRIPED_H
#define PADDOCK_STRIPED_H

#include <paddock/claim.h>
#include <paddock/lock.h>
#include <paddock/session.h>
#include <paddock/set.h>

PDK_BEGIN_DECLS

typedef struct pdk_striped pdk_striped;

/* The most stripes that a striped lock can have. */
#define PDK_STRIPED_STRIPES_MAX 10000
/* The same, as the library that is loaded has it. */
PDK_API int32_t pdk_striped_stripes_max(void);

/* The stripe of a key: FNV-1a with 64 bits over the bytes, then the finalizer of MurmurHash3, then
 * modulo the number of stripes. It is the same in every version and on every machine, and easy to
 * write in any language: docs/recipes/striped.md has it in Python, with test vectors. Local; does
 * not wait. -1 when key is NULL and size is not 0, or stripes is not 1 to PDK_STRIPED_STRIPES_MAX.
 *   key      any bytes
 *   size     their number. The calls below take a key as a string, without the zero at its end.
 *   stripes  the number of stripes */
PDK_API int32_t pdk_striped_stripe_of(const void *key, size_t size, int32_t stripes);

/* The options of a striped lock. Fill with PDK_STRIPED_OPTIONS_INIT, then change the options that
 * you need. A struct of an older, smaller size is accepted. A newer, larger one is accepted when
 * everything unknown to this library is zero. */
typedef struct pdk_striped_options {
    /* sizeof(pdk_striped_options), in bytes. */
    size_t size;
    /* How many times in a row a stripe may be handed over to the next thread of this process.
     * Default 256, 0 or more. 0: every acquisition queues again. */
    int32_t max_handovers;
    /* For how long such hand-overs may follow each other, in ms. Default 100, 0 or more. 0: every
     * acquisition queues again. */
    int32_t max_handover_ms;
    /* 1: the thread that holds a stripe by a key may acquire it again by a key, and gets one more
     * hold at once. Default 0: it is answered PDK_DEADLOCK, also for another key of that stripe. */
    int32_t reentrant;
    /* The identity that others see of the contenders: UTF-8, 1 to 1024 bytes. Copied. Default NULL:
     * the session's identity. */
    const char *identity;
} pdk_striped_options;

#define PDK_STRIPED_OPTIONS_INIT {sizeof(pdk_striped_options), 256, 100, 0, NULL}

/* The same by a function, for languages that cannot use the macro. Does not wait.
 *   size  the sizeof of the caller
 *
 *   PDK_OK       options has the defaults
 *   PDK_INVALID  options is NULL, or no version has that size */
PDK_API pdk_status pdk_striped_options_init(pdk_striped_options *options, size_t size);

/* The striped lock at path, below the session's chroot. Does not wait, and touches no server.
 *   path     absolute, printable UTF-8, at most 507 bytes with the chroot, since "/0000" follows.
 *            No empty, "." or ".." segment, and not "/". Without a chroot, not /zookeeper or below
 *            it. Copied.
 *   stripes  how many stripes there are, 1 to PDK_STRIPED_STRIPES_MAX. It must be the same for
 *            every client of the path.
 *   options  or NULL for the defaults. Copied.
 *
 *   PDK_OK  *out is the striped lock, with one reference that pdk_striped_unref gives back
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED */
PDK_API PDK_MUST_USE pdk_status pdk_striped_new(pdk_session *session, const char *path,
                                                int32_t stripes, const pdk_striped_options *options,
                                                pdk_striped **out);
/* One more reference. Returns striped; NULL is allowed. */
PDK_API pdk_striped *pdk_striped_ref(pdk_striped *striped);
/* Gives a reference back. The last unref cancels the claims of the striped lock (PDK_CANCELED),
 * except on a pdk_lock to which somebody has a reference, and leaves its holds as they are. NULL is
 * allowed. Does nothing in the child of a fork. */
PDK_API void pdk_striped_unref(pdk_striped *striped);

/* The lock of one stripe: for pdk_lock_acquire_async, for pdk_lock_list, and as a right in a set of
 * pdk_set_acquire, among others. Its acquisitions may also end with PDK_MISMATCH, as below. Does
 * not wait, and touches no server.
 *   stripe  0 to the number of stripes - 1: a key has pdk_striped_stripe_of(key, size, stripes)
 *
 *   PDK_OK  *out is the lock, with one reference that pdk_lock_unref gives back
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED */
PDK_API PDK_MUST_USE pdk_status pdk_striped_lock(pdk_striped *striped, int32_t stripe,
                                                 pdk_lock **out);

/* The stripe that a hold has: of any call below, or a part of one. -1 when it is no hold of a
 * stripe of this striped lock, for NULL, and in the child of a fork. Local; does not wait. */
PDK_API int32_t pdk_striped_stripe(const pdk_striped *striped, const pdk_hold *hold);

/* Acquire the stripe of a key. Blocks, at most timeout_ms; a try blocks at most request_timeout_ms.
 *   key         a string. Any bytes but zero; "" is a key, too.
 *   timeout_ms  as in pdk_lock_acquire
 *
 *   PDK_OK             *out is the hold, with one reference that pdk_hold_release gives back
 *   PDK_BUSY           a try: another client or another thread of this process is ahead in that
 *                      stripe, or a hold by another object on its path
 *   PDK_TIMEOUT        the deadline passed in the queue; or the stripe was granted in time, to a
 *                      try as well, and this thread ran too late to take it
 *   PDK_UNAVAILABLE    no server confirmed the number of stripes, and a position in the queue, by
 *                      the deadline; a try: no answer came within request_timeout_ms
 *   PDK_MISMATCH       the path is used with another number of stripes
 *   PDK_DAMAGED        its node has something else than a number in it
 *   PDK_DEADLOCK       this thread holds that stripe by this or another key, and reentrant is 0;
 *                      or, not for a try, it holds it by pdk_striped_acquire_any, or by another
 *                      object of the session on the stripe's path
 *   PDK_CANCELED       the last reference to the striped lock was given back meanwhile; or this
 *                      thread was interrupted (interrupt.h)
 *   PDK_NO_PERMISSION  an access control list forbids to read, make or write the node of the
 *                      number, or to create or list a node below it
 *   PDK_UNPROTECTED    strangers may change the stripe: access.h, "Existing nodes"
 *   PDK_UNSUPPORTED    the server refuses a node: for example, the parent is ephemeral, or a quota
 *                      is used up
 *   PDK_LIMIT          one of these limits is crossed: 1000 KiB of node paths or 900 kB of watched
 *                      paths in the session; 100,000 children in a directory; 127 bytes in the name
 *                      of a contender
 *   PDK_EXHAUSTED      the sequence numbers of the stripe's directory are used up
 *   PDK_REWOUND        the servers were wiped or restored: see pdk_session_token_seen
 *   Common             PDK_INVALID, CLOSED, AUTH, FORKED, WRONG_THREAD */
PDK_API PDK_MUST_USE pdk_status pdk_striped_acquire(pdk_striped *striped, const char *key,
                                                    int64_t timeout_ms, pdk_hold **out);

/* Acquire the stripes of several keys: all of them, or none, by pdk_set_acquire. Callers that name
 * the same keys in any order never deadlock. Keys of one stripe share it. Blocks, at most
 * timeout_ms.
 *   keys        `count` strings
 *   count       1 to PDK_SET_RIGHTS_MAX
 *   timeout_ms  one deadline for all of them, as in pdk_set_acquire
 *   parts       NULL, or room for `count` numbers: which part of the set (pdk_set_part) each key
 *               has. Set when the call answers PDK_OK.
 *
 *   PDK_OK        *out is the set, with one reference that pdk_set_release gives back
 *   PDK_BUSY, PDK_TIMEOUT, PDK_UNAVAILABLE, PDK_MISMATCH, PDK_DAMAGED  as for pdk_striped_acquire,
 *                                                                      of one of the stripes
 *   PDK_CANCELED, PDK_NO_PERMISSION, PDK_UNPROTECTED, PDK_UNSUPPORTED  as for pdk_striped_acquire
 *   PDK_LIMIT, PDK_EXHAUSTED, PDK_REWOUND  as for pdk_striped_acquire
 *   PDK_DEADLOCK  as for pdk_striped_acquire; also where reentrant is 1
 *   Common        PDK_INVALID, CLOSED, AUTH, FORKED, WRONG_THREAD */
PDK_API PDK_MUST_USE pdk_status pdk_striped_acquire_keys(pdk_striped *striped,
                                                         const char *const *keys, size_t count,
                                                         int64_t timeout_ms, int32_t *parts,
                                                         pdk_set **out);

/* Acquire any stripe: the first that is granted. First come, first served among the callers that
 * want any. Blocks, at most timeout_ms; a try blocks at most request_timeout_ms. A thread may hold
 * stripes already, and gets another one. A thread that holds all of them waits for itself, until
 * timeout_ms.
 *   timeout_ms  how long to stay in the queue, or PDK_FOREVER. 0 is a try: it waits neither in the
 *               queue nor in a stripe, and looks at all of them.
 *
 *   PDK_OK           *out is the hold, with one reference that pdk_hold_release gives back;
 *                    pdk_striped_stripe tells which stripe it has
 *   PDK_BUSY         a try: somebody is ahead in every stripe, or somebody else wants any stripe at
 *                    this moment
 *   PDK_TIMEOUT      the deadline passed in the queue, or in the stripes; or one was granted in
 *                    time, to a try as well, and this thread ran too late to take it
 *   PDK_UNAVAILABLE  no server confirmed the number of stripes, and a position in the queue, by the
 *                    deadline; a try: no answer came within request_timeout_ms
 *   PDK_MISMATCH, PDK_DAMAGED, PDK_CANCELED, PDK_NO_PERMISSION  as for pdk_striped_acquire
 *   PDK_UNPROTECTED, PDK_UNSUPPORTED, PDK_EXHAUSTED, PDK_REWOUND  as for pdk_striped_acquire
 *   PDK_LIMIT        as there. A claim that finds all taken has a node in each stripe.
 *   Common           PDK_INVALID, CLOSED, AUTH, FORKED, WRONG_THREAD */
PDK_API PDK_MUST_USE pdk_status pdk_striped_acquire_any(pdk_striped *striped, int64_t timeout_ms,
                                                        pdk_hold **out);

/* The same acquisition without waiting: fn gets the result.
 *   timeout_ms  as in pdk_striped_acquire_any above
 *   fn          called once with the result: on the session's own thread, or with manual dispatch
 *               on the dispatching thread. Never under a lock, and maybe before this call returns.
 *               It must make no call that blocks. A hold that it gets is its own: pdk_hold_release
 *               gives it back.
 *   user        given to fn. The library never frees it. It is needed until fn has returned, or
 *               until pdk_session_close has returned PDK_OK outside of any callback.
 *   out         NULL, or gets a reference to the claim, to be given back with pdk_claim_unref
 *
 *   PDK_OK  fn will be called with PDK_OK, BUSY, TIMEOUT, UNAVAILABLE, MISMATCH, DAMAGED, CANCELED,
 *           NO_PERMISSION, UNPROTECTED, UNSUPPORTED, LIMIT, EXHAUSTED, REWOUND, CLOSED or AUTH: for
 *           the reasons above
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error fn is never called. */
PDK_API PDK_MUST_USE pdk_status pdk_striped_acquire_any_async(pdk_striped *striped,
                                                              int64_t timeout_ms,
                                                              pdk_acquired_fn fn, void *user,
                                                              pdk_claim **out);

PDK_END_DECLS

#endif

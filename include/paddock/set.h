/* SPDX-License-Identifier: Apache-2.0 */
/* A set: several locks or other rights that are held together, all of them or none.
 *
 *     pdk_right rights[] = {pdk_right_lock(orders), pdk_right_read(prices),
 *                           pdk_right_permits(slots, 2)};
 *     pdk_set_acquire(rights, 3, 5000, NULL, &set);
 *
 *     valid ──release──► released
 *       └──a part is lost, the session of the set ended──► lost ──release──► released
 *
 * A right is a lock, the reader's or the writer's side of a read/write lock, or permits of a
 * semaphore. The rights may be on one session or on several, of one ensemble or of several.
 *
 * The order: the rights are taken one after the other, by the full path, and then by the list of
 * servers. So callers of pdk_set_acquire that name the same rights in any order never deadlock. But
 * a thread that holds something already, and waits for a set, may wait in a circle with another
 * one: name all that you need in one set. Where a set has the same path in two ensembles, name each
 * of these by the same servers in every program.
 *
 * The set: it is valid while each part is. The time that remains is the smallest of the parts. It
 * is lost, and told so once, when one part is lost. Then the other parts stay held, so that nobody
 * comes in where the owner may still be at work, until the set is released. A release ends all of
 * them. The session of the right that is first in the order is the session of the set: callbacks
 * about the set, and the callback of pdk_set_acquire_async, run there. When it ends, the set ends.
 *
 * A majority: with the option `need`, fewer than all of the rights suffice, where each is a lock in
 * an ensemble of its own. Any two majorities of the same locks meet in one that only one of them
 * can hold. One ensemble of servers is a majority already, and the better one: one queue, one
 * lease, one token. Take several ensembles where they exist, and none of them may be a single point
 * of failure.
 *
 *     pdk_set_options options = PDK_SET_OPTIONS_INIT;
 *     options.need = 3;
 *     pdk_set_acquire(five_locks, 5, 5000, &options, &set);
 *
 * The set is granted as soon as `need` parts are held, and valid while as many are. The time that
 * remains is the need-th largest of the parts. While the set is valid, the library takes the other
 * parts in the background, and takes a lost part again, if its object still has a reference and its
 * session is open. The set is lost, and told so once, when fewer than `need` parts are held. It
 * never becomes valid again. Its other parts are released at once, which they are not in a set that
 * needs all of them: others may have a majority by then, and would wait for these parts in vain.
 *
 * An ensemble that does not answer is passed over: when it has confirmed no place in its queue for
 * patience_ms, or when the session has had no lease for as long. So an ensemble that is down costs
 * patience_ms once in a call, and nothing where it has been down for longer. An ensemble that falls
 * silent while the call waits in its queue costs up to a session timeout and patience_ms. For a
 * place that was confirmed the call waits until the deadline, as long as it holds nothing else, and
 * otherwise for half a second to a second. Then, or when too few ensembles answer, it gives all
 * back, and begins again after 10 to 20 ms, until the deadline. Both times are random, and double
 * with each round, up to 64 seconds and 2 seconds.
 *
 * The token of a part is a token of that lock: it grows in that ensemble. There is no order across
 * ensembles, and two owners may have but one part in common. So one token alone tells a resource
 * nothing. docs/recipes/majority.md shows how a resource can use all of them.
 *
 * Tokens: each part is a hold, with the token that its right gives alone. A resource is told the
 * token of the part that guards it. There is no token of the set.
 *
 * Ownership: a set is reference counted. The call or callback that brings one gives one reference,
 * and pdk_set_release takes it back. It outlives the last unref of the objects that it is made of,
 * and has a reference to their sessions. Any thread may make every call below. A callback may make
 * every call that does not block.
 */
#ifndef PADDOCK_SET_H
#define PADDOCK_SET_H

#include <paddock/hold.h>
#include <paddock/lock.h>
#include <paddock/rwlock.h>
#include <paddock/semaphore.h>

PDK_BEGIN_DECLS

typedef struct pdk_set pdk_set;
typedef struct pdk_set_claim pdk_set_claim;

/* The kinds of rights. A value never changes. */
typedef enum pdk_right_kind {
    PDK_RIGHT_LOCK = 1,    /* of: a pdk_lock */
    PDK_RIGHT_READ = 2,    /* of: a pdk_rwlock */
    PDK_RIGHT_WRITE = 3,   /* of: a pdk_rwlock */
    PDK_RIGHT_PERMITS = 4, /* of: a pdk_semaphore */
} pdk_right_kind;

/* One right of a set. The struct never changes. Make one with a function below: they know the type
 * of the object. */
typedef struct pdk_right {
    int32_t kind;  /* a pdk_right_kind */
    int32_t count; /* of permits; 1 for the others */
    /* The recipe object. It is needed until the call has returned; afterwards the library has
     * references of its own. */
    void *of;
} pdk_right;

/* The right of an object. None of these calls waits or fails: pdk_set_acquire refuses NULL, and a
 * count that the semaphore does not have. They take no reference.
 *   count  1 to the number of permits, and at most PDK_SEMAPHORE_COUNT_MAX */
PDK_API pdk_right pdk_right_lock(pdk_lock *lock);
PDK_API pdk_right pdk_right_read(pdk_rwlock *lock);
PDK_API pdk_right pdk_right_write(pdk_rwlock *lock);
PDK_API pdk_right pdk_right_permits(pdk_semaphore *semaphore, int32_t count);

/* The most rights in one set. */
#define PDK_SET_RIGHTS_MAX 100
/* The same, as the library that is loaded has it. */
PDK_API int32_t pdk_set_rights_max(void);

/* The longest patience_ms of a set. */
#define PDK_SET_PATIENCE_MAX_MS 3600000
/* The same, as the library that is loaded has it. */
PDK_API int32_t pdk_set_patience_max_ms(void);

/* The options of a set. Fill with PDK_SET_OPTIONS_INIT. NULL says the same as the defaults. A
 * struct of an older, smaller size is accepted. A newer, larger one is accepted when everything
 * unknown to this library is zero. */
typedef struct pdk_set_options {
    /* sizeof(pdk_set_options), in bytes. */
    size_t size;
    /* How many of the rights suffice. 0, the default, and the number of the rights: all of them.
     * Fewer: a majority, as above. More than half of the rights; each is a lock, on a session to
     * servers that no other session of the set names. */
    int32_t need;
    /* Where fewer suffice: how long an ensemble may be silent, in ms, before its right is passed
     * over. 0, the default: an eighth of the session_timeout_ms of its session, and at least 100.
     * At most PDK_SET_PATIENCE_MAX_MS. Without effect where all are needed. */
    int32_t patience_ms;
} pdk_set_options;

#define PDK_SET_OPTIONS_INIT {sizeof(pdk_set_options), 0, 0}

/* The same by a function, for languages that cannot use the macro. Does not wait.
 *   size  the sizeof of the caller
 *
 *   PDK_OK       options has the defaults
 *   PDK_INVALID  options is NULL, or no version has that size */
PDK_API pdk_status pdk_set_options_init(pdk_set_options *options, size_t size);

/* ---- acquiring one */

/* Acquire a set of rights: all of them, or none. Blocks, at most timeout_ms; a try blocks at most
 * the request_timeout_ms of the session of the right that is first in the order. A call that does
 * not answer PDK_OK leaves nothing behind: it releases the rights that it had taken.
 *   rights      `count` of them, in any order. Copied. No path twice in one ensemble: neither two
 *               sides of a read/write lock, nor a semaphore twice. The path of a semaphore is here
 *               the path of its queue: "/s/locks" for a semaphore at "/s".
 *   count       1 to PDK_SET_RIGHTS_MAX
 *   timeout_ms  one deadline for all of them, or PDK_FOREVER. 0 is a try: it waits in no queue.
 *   options     or NULL for the defaults
 *
 *   PDK_OK             *out is the set, with one reference that pdk_set_release gives back
 *   PDK_BUSY           a try: somebody is ahead of one of them, or too few permits are free; of a
 *                      majority: somebody is ahead of so many that too few are left
 *   PDK_TIMEOUT        the deadline passed in the queue of one of them; or all were granted in
 *                      time, to a try as well, and this thread ran too late to take them; or one
 *                      was lost before the last was granted, and the deadline passed meanwhile
 *   PDK_UNAVAILABLE    no server confirmed a position in the queue of one of them by the deadline;
 *                      a try: no answer came within request_timeout_ms; of a majority: fewer than
 *                      `need` ensembles answered
 *   PDK_DEADLOCK       this thread holds one of the paths: by any object of a session of the set, a
 *                      reentrant lock, a reader's side or permits included; or two rights are one
 *                      lock, since their sessions reach the same servers by different names
 *   PDK_CANCELED       the last reference to an object whose right was not granted yet was given
 *                      back meanwhile; or this thread was interrupted (interrupt.h)
 *   PDK_MISMATCH       a semaphore: the path is used with another number of permits; a lock: with
 *                      another lock_delay_ms
 *   PDK_DAMAGED        the znode that should have such a number has something else in it; the error
 *                      text says where
 *   PDK_NO_PERMISSION  an access control list forbids a step that one of the rights needs
 *   PDK_UNPROTECTED    strangers may change one of the directories: access.h, "Existing nodes"
 *   PDK_UNSUPPORTED    the server refuses a node: for example, the parent is ephemeral, or a quota
 *                      is used up
 *   PDK_LIMIT          one of these limits is crossed: 1000 KiB of node paths or 900 kB of watched
 *                      paths in a session; 100,000 children in a directory; 127 bytes in the name
 *                      of a contender
 *   PDK_EXHAUSTED      the sequence numbers of one of the directories are used up
 *   PDK_REWOUND        the servers were wiped or restored: see pdk_session_token_seen
 *   PDK_CLOSED         one of the sessions is closed, or was closed meanwhile
 *   PDK_AUTH           one of the sessions has ended, since the server refused the credentials
 *   PDK_INVALID        a path is there twice; where fewer than all are needed: a right is no lock,
 *                      or two sessions name the same server
 *   Common             PDK_INVALID, FORKED, WRONG_THREAD
 * Where fewer than all are needed, a reason from PDK_CANCELED on, but for an interrupt, is about
 * one right, and the call leaves that right out. It answers with the reason when too few rights are
 * left, or when the reason is about the session of the right that is first in the order.
 * pdk_last_error names the right, by its path or by its index in rights. */
PDK_API PDK_MUST_USE pdk_status pdk_set_acquire(const pdk_right *rights, size_t count,
                                                int64_t timeout_ms, const pdk_set_options *options,
                                                pdk_set **out);

/* The result of a claim of a set.
 *
 *   status  PDK_OK, BUSY, TIMEOUT, UNAVAILABLE, MISMATCH, DAMAGED, CANCELED, NO_PERMISSION,
 *           UNPROTECTED, UNSUPPORTED, LIMIT, EXHAUSTED, REWOUND, CLOSED or AUTH: for the reasons
 *           above. PDK_CANCELED also for pdk_set_claim_cancel
 *   set     not NULL exactly when status is PDK_OK. The callback owns one reference to it and gives
 *           it back with pdk_set_release.
 *   user    as it was given. The library never frees it.
 *
 * For the thread, for what is allowed inside and for the last call see pdk_acquired_fn (claim.h):
 * they run on the session of the set. A set on several sessions goes on where their callbacks run:
 * with manual dispatch, dispatch each. */
typedef void (*pdk_set_acquired_fn)(pdk_status status, pdk_set *set, void *user);

/* The same acquisition without waiting: fn gets the result. The claim belongs to no thread: its set
 * never causes PDK_DEADLOCK.
 *   rights, count, timeout_ms, options  as in pdk_set_acquire above
 *   fn          called once with the result, maybe before this call returns
 *   user        given to fn. It is needed until fn has returned, or until pdk_session_close of the
 *               session of the set has returned PDK_OK outside of any callback.
 *   out         NULL, or gets a reference to the claim, to be given back with pdk_set_claim_unref
 *
 *   PDK_OK       fn will be called
 *   PDK_CLOSED   one of the sessions is closed; where fewer than all are needed: as above
 *   PDK_AUTH     one of the sessions has ended, since the server refused the credentials; likewise
 *   PDK_INVALID  as above
 *   Common       PDK_INVALID, FORKED
 * On an error fn is never called. */
PDK_API PDK_MUST_USE pdk_status pdk_set_acquire_async(const pdk_right *rights, size_t count,
                                                      int64_t timeout_ms,
                                                      const pdk_set_options *options,
                                                      pdk_set_acquired_fn fn, void *user,
                                                      pdk_set_claim **out);

/* Give up a claim. Does not wait.
 *   PDK_OK        fn will be called with PDK_CANCELED
 *   PDK_NOT_HELD  too late: the claim was decided already. fn has got its result, or will get it.
 *                 If that is a set, the callback releases it.
 *   Common        PDK_INVALID, FORKED */
PDK_API pdk_status pdk_set_claim_cancel(pdk_set_claim *claim);
/* The number of claims ahead in the queue of the right that it waits for: one at a time. Otherwise
 * as pdk_claim_position. Does not wait for a server; it may wait for a step of another thread.
 *   PDK_OK           *ahead is the number, 0 or more
 *   PDK_UNAVAILABLE  no server has confirmed a position in that queue yet
 *   PDK_NOT_HELD     the claim was decided already
 *   Common           PDK_INVALID, FORKED */
PDK_API pdk_status pdk_set_claim_position(pdk_set_claim *claim, int32_t *ahead);
/* One more reference. Returns claim; NULL is allowed. */
PDK_API pdk_set_claim *pdk_set_claim_ref(pdk_set_claim *claim);
/* Gives a reference back and does nothing else: a pending claim goes on without it. NULL is
 * allowed. Does nothing in the child of a fork. */
PDK_API void pdk_set_claim_unref(pdk_set_claim *claim);

/* ---- a set that is held. hold.h says more about calls that a hold has as well. */

/* Are all rights of the set, or as many as are needed, still ours, now? Local and lock-free, as
 * pdk_hold_is_valid: after the first false the answer stays false. false for NULL, for a set that
 * was released, and in the child of a fork. */
PDK_API bool pdk_set_is_valid(const pdk_set *set);
/* For how many milliseconds the set stays valid, even without a connection: the smallest of its
 * parts, or the need-th largest. 0 when it is not valid, for NULL, and in the child of a fork.
 * Local. */
PDK_API int64_t pdk_set_remaining_ms(const pdk_set *set);

/* Make sure that at least ms remain. Waits for renewals if it must. Blocks, at most the
 * request_timeout_ms of the session of the set.
 *   ms  0 or more. The most is the least that any part can give; of a majority, as many parts as
 *       are needed have to give it. The error text of PDK_INVALID names it.
 *
 *   PDK_OK           at least ms remain
 *   PDK_LOST         the set is lost, also when a session was closed meanwhile
 *   PDK_NOT_HELD     the set was released, before or meanwhile
 *   PDK_UNAVAILABLE  no renewal came in time; the set may still be valid
 *   PDK_INVALID      ms is more than can ever be left
 *   Common           PDK_INVALID, FORKED, WRONG_THREAD */
PDK_API pdk_status pdk_set_ensure(pdk_set *set, int64_t ms);
/* The same, without waiting: the answer goes to fn, once, as a callback (answer.h) of the session
 * of the set, at most its request_timeout_ms later. With several sessions it goes on where their
 * callbacks run: with manual dispatch, dispatch each.
 *
 *   PDK_OK       fn will be called, with PDK_OK, LOST, NOT_HELD or UNAVAILABLE: for the reasons
 *                above
 *   PDK_CLOSED   the session of the set is closed, and the set lost
 *   PDK_AUTH     that session has ended, since the server refused the credentials
 *   PDK_INVALID  ms is more than can ever be left
 *   Common       PDK_INVALID, FORKED
 * On an error fn is never called. */
PDK_API pdk_status pdk_set_ensure_async(pdk_set *set, int64_t ms, pdk_answered_fn fn, void *user);

/* Tells that the set is lost: once for each set that is lost before it is released. As pdk_lost_fn
 * of a hold, on the session of the set. */
typedef void (*pdk_set_lost_fn)(pdk_set *set, pdk_reason reason, void *user);
/* Set the callback of a set; one per set. As pdk_hold_on_lost.
 *   PDK_OK        fn is set; user must stay valid until user_free
 *   PDK_NOT_HELD  the set was released
 *   PDK_INVALID   a callback is set already
 *   Common        PDK_INVALID, FORKED
 * On an error user_free is not called. */
PDK_API pdk_status pdk_set_on_lost(pdk_set *set, pdk_set_lost_fn fn, void *user,
                                   void (*user_free)(void *user));
/* A descriptor that turns readable when the set is lost, and stays so. As pdk_hold_fd. -1 on an
 * error; pdk_last_error says which one: set is NULL, the set belongs to the parent process, or the
 * system has no descriptor left. */
PDK_API int pdk_set_fd(pdk_set *set);
/* The reason for the loss: why the first part was lost, as far as that is known. PDK_REASON_NONE
 * when it was not lost, for NULL, and in the child of a fork. Local; does not wait. */
PDK_API pdk_reason pdk_set_reason(const pdk_set *set);
/* Let another thread use the set as its own: as pdk_hold_detach_thread for each part. NULL is
 * allowed. */
PDK_API void pdk_set_detach_thread(pdk_set *set);

/* How many rights it has: 1 or more. 0 for NULL, and in the child of a fork. Local; does not
 * wait. */
PDK_API int32_t pdk_set_count(const pdk_set *set);
/* One part of a set: a hold of rights[index] alone, for its token, its sequencer, its node, its
 * validity and its reason. It belongs to the set, and lives as long as the set. It must not be
 * released or given back, and it is const for that reason. NULL when there is no such part, for
 * NULL, and in the child of a fork. Local; does not wait. Of a majority: the newest hold of that
 * right. It is not valid when it was lost, until the right is taken again; then another call
 * answers the new one. NULL while the right was not held yet. */
PDK_API const pdk_hold *pdk_set_part(const pdk_set *set, int32_t index);
/* The path of one part: of rights[index], the chroot of its session included. The string lives as
 * long as the set. "" when there is no such part, for NULL, and in the child of a fork. Local; does
 * not wait. */
PDK_API const char *pdk_set_part_path(const pdk_set *set, int32_t index);

/* End all of its rights, and give back the caller's reference. Never waits for the network.
 *   PDK_OK        the set was valid until now
 *   PDK_LOST      it was lost before; the reference is given back all the same
 *   PDK_NOT_HELD  it was released before through another reference; this reference is given back
 *   PDK_FORKED    the set belongs to the parent process; nothing is given back
 *   Common        PDK_INVALID */
PDK_API pdk_status pdk_set_release(pdk_set *set);
/* One more reference. Returns set; NULL is allowed. */
PDK_API pdk_set *pdk_set_ref(pdk_set *set);
/* Gives a reference back. The last unref of a set that was not released releases it. NULL is
 * allowed. Does nothing in the child of a fork. */
PDK_API void pdk_set_unref(pdk_set *set);

PDK_END_DECLS

#endif

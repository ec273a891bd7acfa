/* SPDX-License-Identifier: Apache-2.0 */
/* The election: leader election among the candidates on a path, of which the oldest leads.
 *
 *              join                     elected(hold)
 *     outside ──────► candidate ───────────────────────────► leader
 *        ▲               ▲   deposed(reason)                    │
 *        │               └───── lost, or resigned: queues again ┘
 *        └────── leave, from any state; failed(status) when it cannot be a candidate
 *
 * The leader has a pdk_hold, with token, validity and loss as any other hold. It does a leader's
 * work only while pdk_hold_is_valid. Where the effect of its work is checked, it gives the token.
 *
 * One pdk_election has at most one candidate at a time: by pdk_election_join, or by
 * pdk_service_start. Two candidates in one program need two objects. Candidates of other programs
 * may be Apache Curator's LeaderLatch, or kazoo's Election in that naming.
 *
 * Ownership: an election is reference counted. It has a reference to its session. A service has a
 * reference to its election; an observer has one to the session only. Any thread may make every
 * call below, except where its comment says otherwise. A callback may make every call that does not
 * block.
 *
 * Callbacks: elected, deposed, leader and failed of a candidate, and the function of an observer.
 *   Thread  the session's own thread; with manual dispatch, the thread in pdk_session_dispatch or
 *           pdk_session_close. One at a time, in the order in which things happened. A callback
 *           that is due is dropped by a pdk_session_close from a callback, and by one that answers
 *           PDK_TIMEOUT.
 *   Locks   none of the library's is held.
 *   Inside  every call that does not block is allowed: leave, resign and unref among them. A call
 *           that blocks answers PDK_WRONG_THREAD.
 * The function and the callbacks of a service run on other threads: see pdk_service_start.
 */
#ifndef PADDOCK_ELECTION_H
#define PADDOCK_ELECTION_H

#include <paddock/contenders.h>
#include <paddock/hold.h>
#include <paddock/naming.h>
#include <paddock/session.h>

PDK_BEGIN_DECLS

typedef struct pdk_election pdk_election;

/* The options of an election. Fill with PDK_ELECTION_OPTIONS_INIT, then change the options that you
 * need. For every struct of this header that has a size: one of an older, smaller size is accepted.
 * A newer, larger one is accepted when everything unknown to this library is zero. */
typedef struct pdk_election_options {
    /* sizeof(pdk_election_options), in bytes. */
    size_t size;
    /* A pdk_naming: which other clients can be candidates on the path. Default
     * PDK_NAMING_CURATOR. */
    int32_t naming;
    /* For so long nobody is elected after a leader ended without a release, in ms. After a release
     * the next one is elected at once. All programs on the path say the same. Default 0: there is
     * no such delay, and no cost. 0 or more. See docs/recipes/lock-delay.md. */
    int32_t lock_delay_ms;
    /* The identity that others see of this candidate: UTF-8, 1 to 1024 bytes. Copied. Default NULL:
     * the session's identity. */
    const char *identity;
} pdk_election_options;

#define PDK_ELECTION_OPTIONS_INIT {sizeof(pdk_election_options), PDK_NAMING_CURATOR, 0, NULL}

/* The same by a function, for languages that cannot use the macro. Does not wait.
 *   size  the sizeof of the caller
 *
 *   PDK_OK       options has the defaults
 *   PDK_INVALID  options is NULL, or no version has that size */
PDK_API pdk_status pdk_election_options_init(pdk_election_options *options, size_t size);

/* The callbacks of a candidate. Fill with PDK_ELECTION_CALLBACKS_INIT, then set the ones that you
 * need. Any of them may be NULL, which is the default. For the thread, and for the calls that are
 * allowed inside, see "Callbacks" above.
 *
 * Last call: user_free tells when no callback of a candidate can come any more. Without it, none
 * can
 *   - when `failed` has returned;
 *   - when pdk_election_leave was called where callbacks run, and `deposed` has returned if one was
 *     due. One is due when `elected` was called without a `deposed` after it. Where callbacks run
 *     means: in a callback of the session, or on the only thread that dispatches;
 *   - when pdk_session_close has returned PDK_OK outside of any callback.
 * After a leave from another thread, a callback that started before may still run. After the last
 * unref the same holds as after a leave. */
typedef struct pdk_election_callbacks {
    /* sizeof(pdk_election_callbacks), in bytes. */
    size_t size;
    /* We lead. The hold is the election's and is valid memory during the call. Take a reference to
     * keep it, and give that back with pdk_hold_unref. To lead no more, call pdk_election_resign;
     * do not release the hold. */
    void (*elected)(pdk_hold *hold, void *user);
    /* We do not lead any more; once for each `elected`. The reason is PDK_REASON_NONE when we
     * resigned or left. The candidate queues again, behind all others, when this callback has
     * returned and not before. */
    void (*deposed)(pdk_reason reason, void *user);
    /* The leader has changed, as far as this process knows. It never misses the newest leader. It
     * leaves out a leader whose time ended before this process heard of it.
     *   identity  of the leader, valid during the call. Another program wrote it: escape it before
     *             it reaches a terminal. NULL: nobody leads. "" with token 0: somebody leads, but
     *             the node may not be read.
     *   token     of the leader; 0 when nobody leads */
    void (*leader)(const char *identity, int64_t token, void *user);
    /* It cannot be a candidate any more: it has left. pdk_last_error says why. The program removes
     * the cause and joins again.
     *   PDK_NO_PERMISSION  an access control list forbids to create or list the directory, or to
     *                      create a node in it
     *   PDK_UNPROTECTED    strangers may change the directory: access.h, "Existing nodes"
     *   PDK_UNSUPPORTED    the server refuses the node: for example, the parent is ephemeral, or a
     *                      quota is used up
     *   PDK_LIMIT          one of these limits is crossed: 1000 KiB of node paths or 900 kB of
     *                      watched paths in the session; 100,000 children in the directory;
     *                      127 bytes in the name of a contender
     *   PDK_EXHAUSTED      the directory's sequence numbers are used up
     *   PDK_REWOUND        the servers were wiped or restored: see pdk_session_token_seen
     *   PDK_MISMATCH       the others on the path have another lock_delay_ms
     *   PDK_DAMAGED        <path>/delay has something else than a number in it
     *   PDK_CLOSED         the session was closed
     *   PDK_AUTH           the session ended, since the server refused the credentials */
    void (*failed)(pdk_status status, void *user);
    /* Given to each callback. */
    void *user;
    /* Called once with user when no callback can come any more. Default NULL: nothing is called. It
     * runs after the last callback on its thread. Otherwise it runs in the call that leaves, or
     * that gives back the last reference to the election; or, when a close of the session drops
     * callbacks, there. Never under a lock. It may make the same calls as a callback. On an error
     * of pdk_election_join it is not called. */
    void (*user_free)(void *user);
} pdk_election_callbacks;

#define PDK_ELECTION_CALLBACKS_INIT                                                                \
    {sizeof(pdk_election_callbacks), NULL, NULL, NULL, NULL, NULL, NULL}

/* The same by a function, for languages that cannot use the macro. Does not wait.
 *   size  the sizeof of the caller
 *
 *   PDK_OK       callbacks has the defaults
 *   PDK_INVALID  callbacks is NULL, or no version has that size */
PDK_API pdk_status pdk_election_callbacks_init(pdk_election_callbacks *callbacks, size_t size);

/* The election at path, below the session's chroot. Does not wait, and touches no server.
 *   path     absolute, printable UTF-8, at most 512 bytes with the chroot. No empty, "." or ".."
 *            segment, and not "/". Without a chroot, not /zookeeper or below it. Copied.
 *   options  or NULL for the defaults. Copied.
 *
 *   PDK_OK  *out is the election, with one reference that pdk_election_unref gives back
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED */
PDK_API PDK_MUST_USE pdk_status pdk_election_new(pdk_session *session, const char *path,
                                                 const pdk_election_options *options,
                                                 pdk_election **out);
/* One more reference. Returns election; NULL is allowed. */
PDK_API pdk_election *pdk_election_ref(pdk_election *election);
/* Gives a reference back. The last unref leaves, as pdk_election_leave does. It stops no observer.
 * NULL is allowed. Does nothing in the child of a fork. */
PDK_API void pdk_election_unref(pdk_election *election);

/* Be a candidate from now on, across lost sessions, until leave. Does not wait.
 *   callbacks  or NULL for none. The struct is copied. A callback may run before the call returns.
 *
 *   PDK_OK       it is a candidate
 *   PDK_INVALID  it has a candidate already
 *   Common       PDK_INVALID, CLOSED, AUTH, FORKED */
PDK_API PDK_MUST_USE pdk_status pdk_election_join(pdk_election *election,
                                                  const pdk_election_callbacks *callbacks);
/* Be a candidate no more. A leader is deposed (PDK_REASON_NONE). Never waits for the network, nor
 * for a callback. After PDK_OK no `elected`, `leader` or `failed` starts. `deposed` still comes
 * where it is due.
 *
 *   PDK_OK        it has left
 *   PDK_NOT_HELD  it is no candidate by pdk_election_join. A service leaves with pdk_service_close.
 *   Common        PDK_INVALID, FORKED */
PDK_API pdk_status pdk_election_leave(pdk_election *election);
/* Give the leadership to the next candidate, and queue again behind all others. Never waits for the
 * network.
 *
 *   PDK_OK        we do not lead any more, and `deposed` (PDK_REASON_NONE) follows
 *   PDK_NOT_HELD  it does not lead, or has lost the leadership. A service uses pdk_service_resign.
 *   Common        PDK_INVALID, FORKED */
PDK_API pdk_status pdk_election_resign(pdk_election *election);

/* Wait until we lead. Blocks, at most timeout_ms; 0 only looks. It does not depend on callbacks
 * being run. Queueing again after a loss does: with manual dispatch go on dispatching.
 *
 *   PDK_OK        we lead. *out is the hold, with a reference to be given back with pdk_hold_unref:
 *                 pdk_hold_release would resign. The hold may be lost at any moment, as always.
 *   PDK_TIMEOUT   we did not lead within timeout_ms
 *   PDK_NOT_HELD  it is no candidate by pdk_election_join, it left meanwhile, or `failed` is due
 *   PDK_CANCELED  this thread was interrupted (interrupt.h); it is a candidate still
 *   Common        PDK_INVALID, CLOSED, AUTH, FORKED, WRONG_THREAD */
PDK_API PDK_MUST_USE pdk_status pdk_election_wait(pdk_election *election, int64_t timeout_ms,
                                                  pdk_hold **out);

/* List the leader, or all candidates. pdk_election_leader lists the leader alone: a list of one, or
 * of none. pdk_election_list lists all candidates, the leader first. Joining is not needed. Both
 * block, at most timeout_ms. With 0 there is no time for an answer.
 *
 *   PDK_OK             *out is the list; pdk_contenders_free frees it
 *   PDK_UNAVAILABLE    no server answered within timeout_ms
 *   PDK_NO_PERMISSION  an access control list forbids to list the directory or to read a node
 *   PDK_LIMIT          pdk_election_list only: there are more than 5000 candidates
 *   Common             PDK_INVALID, CLOSED, AUTH, FORKED, WRONG_THREAD */
PDK_API pdk_status pdk_election_leader(pdk_election *election, int64_t timeout_ms,
                                       pdk_contenders **out);
PDK_API pdk_status pdk_election_list(pdk_election *election, int64_t timeout_ms,
                                     pdk_contenders **out);

/* The same, without waiting: the answer goes to fn, once, as a callback (answer.h). Any thread may
 * call them, also in a callback.
 *   timeout_ms  0 or more, or PDK_FOREVER
 *
 *   PDK_OK  fn will be called, with a list or with a status above
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error fn is never called. */
PDK_API pdk_status pdk_election_leader_async(pdk_election *election, int64_t timeout_ms,
                                             pdk_contenders_fn fn, void *user);
PDK_API pdk_status pdk_election_list_async(pdk_election *election, int64_t timeout_ms,
                                           pdk_contenders_fn fn, void *user);

/* ---- observers */

/* An observer: it hears of every new leader, and is no candidate. pdk_election_observe makes it,
 * pdk_observer_close ends and frees it. It has a reference to its session. */
typedef struct pdk_observer pdk_observer;

/* Tells the new leader, as the callback `leader` of pdk_election_callbacks. For the thread, and for
 * the calls that are allowed inside, see "Callbacks" above; pdk_observer_close is allowed, too.
 *
 * Last call: no call starts after pdk_observer_close has returned. One that started before on
 * another thread may still run. user_free tells when no call can come any more: free user there. */
typedef void (*pdk_leader_fn)(const char *identity, int64_t token, void *user);

/* Hear of every new leader without being a candidate. The present leader comes first: at once, or
 * within a second where the directory does not exist yet; at once, too, when a candidate of this
 * session is its first leader. An observer that may not list the directory tells nothing. Does not
 * wait. fn may be called before the call returns; the observer is in *out by then. The observer
 * goes on after the last unref of the election.
 *   user_free  NULL, or called once with user after pdk_observer_close, when fn can run no more. It
 *              runs in pdk_observer_close; or, if fn runs then, after fn on its thread. Never under
 *              a lock. It may make the same calls as fn. An observer that is never stopped never
 *              calls it: closing the session does not stop an observer.
 *
 *   PDK_OK  *out is the observer, to be ended with pdk_observer_close
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error user_free is not called. */
PDK_API pdk_status pdk_election_observe(pdk_election *election, pdk_leader_fn fn, void *user,
                                        void (*user_free)(void *user), pdk_observer **out);
/* End an observer, and free it. fn does not start after this has returned. Does not wait. Call it
 * once. NULL is allowed. Does nothing in the child of a fork. */
PDK_API void pdk_observer_close(pdk_observer *observer);

/* ---- a service that runs only while we lead */

/* One term: the time from one grant of the leadership to its end. The library owns it, until the
 * pdk_service_fn that got it has returned. */
typedef struct pdk_term pdk_term;
/* The leader's work. It returns soon once pdk_term_is_ending. A function that returns earlier
 * resigns.
 *
 * Thread: one of the library's, a new one for each term, with the signal mask of the thread that
 * called pdk_service_start. Not under a lock. Inside: every call is allowed, also one that blocks,
 * except pdk_service_close of this service (PDK_WRONG_THREAD). For user and the last call see
 * pdk_service_start. */
typedef void (*pdk_service_fn)(pdk_term *term, void *user);

/* The term's hold, and its end. The three calls are allowed only until the pdk_service_fn that got
 * the term returns, on any thread. They do not wait. */

/* The hold of the term. It lives as long as the term; take a reference to keep it. Do not release
 * it. NULL for NULL. */
PDK_API pdk_hold *pdk_term_hold(const pdk_term *term);
/* Is the term lost, resigned or stopped? Then the function has to return. Local; it takes a few
 * nanoseconds more than pdk_hold_is_valid, and never tells later than that does. true for NULL. */
PDK_API bool pdk_term_is_ending(const pdk_term *term);
/* A descriptor that turns readable when the term is ending. Poll it; never read or close it. -1 on
 * an error; pdk_last_error says which one: term is NULL, or the system has no descriptor left. */
PDK_API int pdk_term_fd(const pdk_term *term);

/* The treatment of a function that has not returned drain_ms after it was signalled to. */
typedef enum pdk_drain {
    /* Log an error and wait on. Where the leadership is still ours, keep it: nobody else may begin
     * while the function runs. */
    PDK_DRAIN_KEEP = 0,
    /* abort() the process, so that nothing of the function runs on. */
    PDK_DRAIN_ABORT = 1,
} pdk_drain;

/* How pdk_service_start runs the function. Fill with PDK_SERVICE_OPTIONS_INIT, then change the
 * options that you need. About size: see pdk_election_options. */
typedef struct pdk_service_options {
    /* sizeof(pdk_service_options), in bytes. */
    size_t size;
    /* How long the function may take to return once its term is ending, in ms. Default 10000, 1 or
     * more. */
    int32_t drain_ms;
    /* A pdk_drain. Default PDK_DRAIN_KEEP. */
    int32_t drain;
    /* Called before and after each run of the function, on the thread of the function. `stopped`
     * follows `started` exactly once. The reason is PDK_REASON_NONE when the term ended without a
     * loss: resigned, stopped, or returned early. Default NULL: none. */
    void (*started)(int64_t token, void *user);
    void (*stopped)(int64_t token, pdk_reason reason, void *user);
    /* It cannot be a candidate any more, for one of the statuses of pdk_election_callbacks.failed
     * above. It is the last call of the service but user_free, on another thread of the library's.
     * Default NULL: none. */
    void (*failed)(pdk_status status, void *user);
    /* Called once with user, when neither the function nor a callback can come any more: on the
     * thread of failed, and before pdk_service_close answers PDK_OK. Default NULL: nothing is
     * called. On an error of pdk_service_start it is not called. */
    void (*user_free)(void *user);
} pdk_service_options;

#define PDK_SERVICE_OPTIONS_INIT                                                                   \
    {sizeof(pdk_service_options), 10000, PDK_DRAIN_KEEP, NULL, NULL, NULL, NULL}

/* The same by a function, for languages that cannot use the macro. Does not wait.
 *   size  the sizeof of the caller
 *
 *   PDK_OK       options has the defaults
 *   PDK_INVALID  options is NULL, or no version has that size */
PDK_API pdk_status pdk_service_options_init(pdk_service_options *options, size_t size);

/* A service: a candidate whose function runs on a thread of its own while it leads.
 * pdk_service_start makes it, pdk_service_close ends it, pdk_service_unref gives it back. It has a
 * reference to its election. */
typedef struct pdk_service pdk_service;

/* Be a candidate, and run fn on a thread of its own while we lead. After a loss the candidate
 * queues again when fn has returned, and not before. Does not wait. fn may start before the call
 * returns; the service is in *out by then. When the system has no thread for fn, the service gives
 * the leadership away and tries again after 100 ms.
 *
 * fn, started, stopped and failed run on threads of the service, never two at a time and never
 * under a lock. Every call is allowed in them, also one that blocks, except pdk_service_close of
 * this service (PDK_WRONG_THREAD).
 *
 *   user     goes to fn and to the callbacks; user_free of the options tells when none of them can
 *            come any more. None can when pdk_service_close has returned PDK_OK. pdk_session_close
 *            tells fn to end, but does not wait for it or for a callback.
 *   options  or NULL for the defaults. Copied.
 *
 *   PDK_OK       *out is the service, to be given back with pdk_service_unref
 *   PDK_SYSTEM   the system has no thread left
 *   PDK_INVALID  the election has a candidate already
 *   Common       PDK_INVALID, CLOSED, AUTH, FORKED */
PDK_API PDK_MUST_USE pdk_status pdk_service_start(pdk_election *election, pdk_service_fn fn,
                                                  void *user, const pdk_service_options *options,
                                                  pdk_service **out);
/* Signal the function to return. When it has returned, the service gives the leadership to the next
 * candidate and queues again behind all others. Does not wait.
 *
 *   PDK_OK        the function is signalled
 *   PDK_NOT_HELD  the function does not run
 *   Common        PDK_INVALID, FORKED */
PDK_API pdk_status pdk_service_resign(pdk_service *service);
/* Signal the function, wait for its return, and leave. Blocks, at most timeout_ms. The leadership
 * is never given away under a running function.
 *
 *   PDK_OK            the service has left; nothing of it runs or comes any more
 *   PDK_TIMEOUT       the service has not left yet: its function or a callback of it still runs. It
 *                     leaves when that returns. Stop again to wait for it.
 *   PDK_WRONG_THREAD  called from a callback of a session, or from the function or a callback of
 *                     this service. The function simply returns instead.
 *   Common            PDK_INVALID, FORKED */
PDK_API pdk_status pdk_service_close(pdk_service *service, int64_t timeout_ms);
/* Gives the service back; call it once. A service that was not stopped is stopped in the
 * background; user_free of its options tells when its last callback has returned. NULL is allowed.
 * Does nothing in the child of a fork. */
PDK_API void pdk_service_unref(pdk_service *service);

PDK_END_DECLS

#endif

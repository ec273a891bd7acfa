/* The election: of all candidates on a path one is the leader, the oldest.
 *
 *              join                     elected(hold)
 *     outside ──────► candidate ───────────────────────────► leader
 *        ▲               ▲   deposed(reason)                    │
 *        │               └───── lost, or resigned: queues anew ─┘
 *        └────── leave, from any state; failed(status) when it cannot be a candidate
 *
 * The leader has a pdk_hold, with token, validity and loss as any other. What it does in its office it does while
 * pdk_hold_valid, and with the token where the effect is checked. On one path a program has one candidate for each
 * pdk_election; candidates elsewhere may be Apache Curator's LeaderLatch, or kazoo's Election in that naming.
 */
#ifndef PADDOCK_ELECTION_H
#define PADDOCK_ELECTION_H

#include <paddock/contenders.h>
#include <paddock/hold.h>
#include <paddock/naming.h>
#include <paddock/session.h>

PDK_BEGIN_DECLS

typedef struct pdk_election pdk_election;

typedef struct pdk_election_options {
    size_t size;
    int32_t naming;   /* a pdk_naming */
    int32_t reserved; /* 0 */
    /* What others see of this candidate, at most 1024 bytes of UTF-8; NULL: the session's identity. Copied. */
    const char *identity;
} pdk_election_options;

#define PDK_ELECTION_OPTIONS_INIT                                                                  \
    { sizeof(pdk_election_options), PDK_NAMING_CURATOR, 0, NULL }

/* All of them run where callbacks run, one at a time, in the order in which things happened. Any may be NULL. */
typedef struct pdk_election_callbacks {
    size_t size;
    /* We lead. The hold is the election's: take a reference to keep it, and resign rather than release it. */
    void (*elected)(pdk_hold *hold, void *user);
    /* We do not lead any more; once for each `elected`. NONE: we resigned, or left. The candidate queues again, behind all
     * others, when this has returned and not before. */
    void (*deposed)(pdk_reason reason, void *user);
    /* The leader, as far as this process knows, is now that one; NULL and 0: nobody. Never misses the newest; one whose time
     * was over before it was heard of is left out. identity lives during the call and was written by somebody else; "" and 0:
     * somebody whose node may not be read. */
    void (*leader)(const char *identity, int64_t token, void *user);
    /* It cannot be a candidate (NO_PERMISSION, UNSUPPORTED, LIMIT, EXHAUSTED, AUTH, CLOSED): it has left. */
    void (*failed)(pdk_status status, void *user);
    void *user;
} pdk_election_callbacks;

#define PDK_ELECTION_CALLBACKS_INIT                                                                \
    { sizeof(pdk_election_callbacks), NULL, NULL, NULL, NULL, NULL }

/* The election at path. Touches no server. INVALID, CLOSED, AUTH, FORKED. */
PDK_API pdk_status pdk_election_new(pdk_session *session, const char *path,
                                    const pdk_election_options *options, pdk_election **out);
PDK_API pdk_election *pdk_election_ref(pdk_election *election);
/* The last unref leaves. */
PDK_API void pdk_election_unref(pdk_election *election);

/* Be a candidate from now on, across lost sessions, until leave. callbacks, copied, may be NULL. Does not wait.
 * INVALID: it is one already. CLOSED, AUTH, FORKED. */
PDK_API pdk_status pdk_election_join(pdk_election *election,
                                     const pdk_election_callbacks *callbacks);
/* Not any more. A leader is deposed (NONE). Never waits for the network. No `elected` or `leader` is taken up after this has
 * returned; `deposed` still comes where it is due. NOT_HELD: it is no candidate. */
PDK_API pdk_status pdk_election_leave(pdk_election *election);
/* Give the office to the next candidate, and queue again behind all others. Never waits for the network. NOT_HELD: it does not
 * lead. */
PDK_API pdk_status pdk_election_resign(pdk_election *election);

/* Wait until we lead; blocks, and does not depend on callbacks being run. On PDK_OK the hold, with a reference to be given back
 * with pdk_hold_unref; it may be lost at any moment, as always. TIMEOUT, NOT_HELD (it is no candidate, or left meanwhile, or what `failed` told), WRONG_THREAD,
 * CLOSED, AUTH, FORKED, INVALID. */
PDK_API pdk_status pdk_election_await(pdk_election *election, int64_t timeout_ms, pdk_hold **out);

/* The leader, a list of one, or of none; all candidates, the leader first. Joining is not needed; block, at most timeout_ms.
 * Errors as pdk_lock_contenders. */
PDK_API pdk_status pdk_election_leader(pdk_election *election, int64_t timeout_ms,
                                       pdk_contenders **out);
PDK_API pdk_status pdk_election_candidates(pdk_election *election, int64_t timeout_ms,
                                           pdk_contenders **out);

typedef struct pdk_observer pdk_observer;
/* As pdk_election_callbacks.leader. */
typedef void (*pdk_leader_fn)(const char *identity, int64_t token, void *user);

/* Hear of every new leader without being a candidate, the present one first; at once, but where the directory does not exist
 * yet within a second. Of a directory that may not be listed nothing is told. user_free, if not NULL, is called once with user
 * when fn can no longer run. INVALID, CLOSED, AUTH, FORKED; on an error user_free is not called. */
PDK_API pdk_status pdk_election_observe(pdk_election *election, pdk_leader_fn fn, void *user,
                                        void (*user_free)(void *user), pdk_observer **out);
/* No more of it: fn is not taken up after this has returned. Gives the reference back; NULL does nothing. */
PDK_API void pdk_observer_stop(pdk_observer *observer);

/* ---- a service that runs only while we lead */

/* One term of office. */
typedef struct pdk_term pdk_term;
/* Do the leader's work, and return soon once pdk_term_is_ending. To return earlier is to resign. */
typedef void (*pdk_service_fn)(pdk_term *term, void *user);

/* Only within the pdk_service_fn that got it, on any thread. The hold lives as long; take a reference to keep it. */
PDK_API pdk_hold *pdk_term_hold(const pdk_term *term);
/* Lost, resigned or stopped: return. Local, a few nanoseconds more than pdk_hold_valid, and never later than it. */
PDK_API bool pdk_term_is_ending(const pdk_term *term);
/* Turns readable then; poll it, never read or close it. -1 when the system has none left. */
PDK_API int pdk_term_fd(const pdk_term *term);

/* What happens to a function that does not return within drain_ms after the end of its term was signalled. */
typedef enum pdk_drain {
    PDK_DRAIN_KEEP =
        0, /* wait on, and keep the office where it is still ours: nobody else may begin while it runs */
    PDK_DRAIN_ABORT = 1, /* abort() the process, so that nothing of it runs on */
} pdk_drain;

typedef struct pdk_service_options {
    size_t size;
    int32_t drain_ms; /* 1 or more */
    int32_t drain;    /* a pdk_drain */
    /* Around each run of the function, on its thread; "stopped" follows "started" exactly once. NONE: it resigned or was
     * stopped. */
    void (*started)(int64_t token, void *user);
    void (*stopped)(int64_t token, pdk_reason reason, void *user);
    /* It cannot be a candidate any more, as pdk_election_callbacks.failed; on a thread of the library's. */
    void (*failed)(pdk_status status, void *user);
} pdk_service_options;

#define PDK_SERVICE_OPTIONS_INIT                                                                   \
    { sizeof(pdk_service_options), 10000, PDK_DRAIN_KEEP, NULL, NULL, NULL }

typedef struct pdk_service pdk_service;

/* Be a candidate, and run fn on a thread of its own while we lead; user goes to fn and to the callbacks, which run on threads of
 * the service: closing the session does not wait for them, pdk_service_stop does. After a loss the
 * candidate queues again when fn has returned, not before. Does not wait. INVALID: it is a candidate already.
 * CLOSED, AUTH, FORKED, SYSTEM (no thread). */
PDK_API pdk_status pdk_election_run(pdk_election *election, pdk_service_fn fn, void *user,
                                    const pdk_service_options *options, pdk_service **out);
/* Signal the function, wait for its return, hand over, and queue behind all others. Does not wait. NOT_HELD: it does not run. */
PDK_API pdk_status pdk_service_resign(pdk_service *service);
/* Signal the function, wait for its return, leave; blocks, at most timeout_ms. The office is never given away under a running
 * function: TIMEOUT says that it still runs, and the leaving happens when it returns; stop again to wait for that.
 * WRONG_THREAD: from a callback, or from the function itself, which simply returns. FORKED. */
PDK_API pdk_status pdk_service_stop(pdk_service *service, int64_t timeout_ms);
/* Without a stop before, the service is stopped in the background. */
PDK_API void pdk_service_unref(pdk_service *service);

PDK_END_DECLS

#endif

/* A hold: the right that was granted, whatever recipe granted it.
 *
 *     valid ──release──► released
 *       └──expired, lease over, node gone, session closed──► lost ──release──► released
 *
 * A hold is possession, not a thread id: it can be passed on, and nobody can release what they do not have.
 * While pdk_hold_valid answers true no conflicting hold is valid anywhere (the assumptions: README). Between that answer
 * and the effect of a write only the token protects: give it to the resource, which refuses any token smaller than the
 * largest it has seen.
 */
#ifndef PADDOCK_HOLD_H
#define PADDOCK_HOLD_H

#include <paddock/status.h>
#include <stdint.h>

PDK_BEGIN_DECLS

typedef struct pdk_hold pdk_hold;

/* Why a hold was lost. */
typedef enum pdk_reason {
    PDK_REASON_NONE = 0,      /* it was not */
    PDK_REASON_EXPIRED = 1,   /* the server ended the session */
    PDK_REASON_LEASE = 2,     /* no quorum confirmed the session in time: cut off, paused, or overloaded */
    PDK_REASON_NODE_GONE = 3, /* somebody deleted the znode */
    PDK_REASON_CLOSED = 4,    /* the session was closed */
} pdk_reason;

PDK_API const char *pdk_reason_name(pdk_reason reason); /* "EXPIRED"; static */

/* The fencing token: the czxid of the znode with which the right was granted, positive, ensemble-wide increasing.
 * Readable as long as the hold is referenced, also after the loss. Holds handed over inside one process share it and
 * differ in the hand-over number, which counts up from 0: compare (token, handover). */
PDK_API int64_t pdk_hold_token(const pdk_hold *hold);
PDK_API uint32_t pdk_hold_handover(const pdk_hold *hold);
/* The token padded to 20 decimal digits, so that text order is token order; lives as long as the hold. */
PDK_API const char *pdk_hold_token_text(const pdk_hold *hold);

/* Is it still ours, now? Local, lock-free, tens of nanoseconds, never optimistic; what was once false stays false. */
PDK_API bool pdk_hold_valid(const pdk_hold *hold);
/* Milliseconds for which it stays valid whatever happens; 0 when it is not. */
PDK_API int64_t pdk_hold_remaining_ms(const pdk_hold *hold);
/* Make sure that at least ms remain, waiting for a renewal if need be; blocks, at most the session's request_timeout_ms.
 * LOST, NOT_HELD, WRONG_THREAD, FORKED, UNAVAILABLE (could not be renewed in time; may still be valid), INVALID (ms negative,
 * or more than the session timeout can ever give). */
PDK_API pdk_status pdk_hold_ensure(pdk_hold *hold, int64_t ms);

/* Runs where callbacks run, exactly once per hold that is lost before it is released. None is taken up after
 * pdk_hold_release has returned; one that was taken up before, on another thread, may still run: user_free tells when it
 * cannot any more, so free what it uses there. */
typedef void (*pdk_lost_fn)(pdk_hold *hold, pdk_reason reason, void *user);
/* Set the callback; one per hold, fires at once (still as a callback) when the hold is already lost. user_free, if not
 * NULL, is called once with user when the callback can no longer run, never under a lock. INVALID when one is set;
 * NOT_HELD after release. On an error user_free is not called. */
PDK_API pdk_status pdk_hold_on_lost(pdk_hold *hold, pdk_lost_fn fn, void *user, void (*user_free)(void *user));
/* A descriptor that turns readable when the hold is lost and stays so; poll it, never read or close it: it is the
 * hold's until the last unref. -1 when the system has none left (see pdk_error_text). */
PDK_API int pdk_hold_fd(pdk_hold *hold);
PDK_API pdk_reason pdk_hold_reason(const pdk_hold *hold);

/* "pdk1 <znode> <mode> <token> <handover>": proof to be checked by pdk_sequencer_check; lives as long as the hold. The mode is
 * "exclusive", "shared", "leader" or "permit" (the first of several); "shared/<czxid>" once a writer was downgraded: its node
 * is another one then, with this czxid, and the text before that does not stand any more. */
PDK_API const char *pdk_hold_sequencer(const pdk_hold *hold);

/* Let another thread use the hold as its own: the acquiring thread may block on the same lock again. */
PDK_API void pdk_hold_detach_thread(pdk_hold *hold);

/* End the right and give back the caller's reference. Never waits for the network: the session deletes the znode, across
 * reconnects, until the server has confirmed it. PDK_OK; LOST: it was lost before, the reference is given back all the
 * same; NOT_HELD: it was already released through another reference, the reference is given back; FORKED. NULL: INVALID. */
PDK_API pdk_status pdk_hold_release(pdk_hold *hold);

PDK_API pdk_hold *pdk_hold_ref(pdk_hold *hold);
/* The last unref of a hold that was not released releases it. */
PDK_API void pdk_hold_unref(pdk_hold *hold);

PDK_END_DECLS

#endif

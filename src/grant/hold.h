/* A hold, from inside. Its validity is two atomic words. The one of the lease is the registry's, for all holds: a renewal
 * writes one word, however many holds there are. The other is the hold's own: the moment until which it is valid at the
 * most, or LAPSED, or RELEASED. The smaller one counts.
 *
 *     the lease   moment ──► later moment      once it has passed, every hold is LAPSED before the word moves
 *     the hold    moment ──a reader finds it, or the lease, passed; or it is lost──► LAPSED
 *                    └──released──► RELEASED
 *
 * So a hold that was once reported invalid never becomes valid again (ADR 48).
 */
#ifndef PDK_GRANT_HOLD_H
#define PDK_GRANT_HOLD_H

#include "base/fork.h"
#include "grant/grant.h"
#include "grant/loss.h"
#include "grant/queue.h"

#include <paddock/hold.h>

#define PDK__LAPSED INT64_C(0)
#define PDK__RELEASED INT64_C(-1)

/* Code above that hears of a wish that the holder let go (wish.c). Embedded first in its own struct. */
struct pdk__wish_listener {
    void (*wished)(struct pdk_hold *hold);
    void (*free)(struct pdk__wish_listener *asker); /* with the last reference to the hold. Not under the monitor */
};

struct pdk_hold {
    atomic_uint refs;
    _Atomic int64_t until;            /* its own word; INT64_MAX: as long as the lease */
    const _Atomic int64_t *lease_end; /* the registry's */
    pdk_session *s;                   /* the queue's */
    struct pdk__queue *queue;         /* a reference */
    atomic_bool shown;                /* a part of a set, whose owner has a pointer to it */
    bool mixed;                       /* another recipe may work at its path; never changes */
    int64_t token;
    uint32_t handover;
    char token_text[21];
    char *node;      /* path of the znode that the grant began with */
    char *next_node; /* under the monitor: path of the znode that took over; or NULL */
    /* under the monitor */
    struct pdk__grant *grant; /* NULL once ended */
    GList in_grant;           /* in grant->holds */
    /* For a sequencer: the znode that took over, and the mode. NULL: it is the first one, in the queue's mode. */
    char *proof;
    /* Why it is not valid any more, before its loss is told; NONE: it is valid, or the lease is over. */
    pdk_reason voided;
    int64_t latest; /* it is valid no longer than until then, whatever the lease; INT64_MAX: as long as the lease */
    /* The most time that this or a later limit leaves, ns; 0: this is the last limit, which leaves the time until
     * then. */
    int64_t leaves;
    struct pdk__alarm limit;     /* rings at `latest` */
    bool ended;                  /* lost or released: no longer in the registry */
    int64_t since;               /* when it began */
    GList link;                  /* in the registry's holds */
    uint64_t thread;             /* the thread that acquired it, blocking; 0: none, or detached, or ended */
    GList own;                   /* in the list of the thread's holds on that path */
    struct pdk__waiters waiters; /* for a longer lease, or its end */
    GList awaited;               /* in the registry's list, with data while somebody may wait for a longer lease */
    struct pdk__loss loss;
    char *sequencer, *old_sequencer;   /* the old one, from before a downgrade, stays readable */
    struct pdk__wish_listener *wishes; /* hears of wishes; NULL: none is set yet */
};

/* Not NULL, and of this process. */
static inline bool pdk__hold_is_ours(const struct pdk_hold *hold) { return hold && hold->s->forks == pdk__forks(); }

/* The moment until which it is valid, LAPSED or RELEASED. */
int64_t pdk__hold_until(const struct pdk_hold *hold);

/* All under the monitor. */
struct pdk_hold *pdk__hold_new(struct pdk__grant *grant, const struct pdk_claim *claim, int64_t now);
/* It belongs to the thread from now on; 0: to none. Until now it belonged to none. */
void pdk__hold_own(struct pdk_hold *hold, uint64_t thread);
/* It belongs to no thread any more: it has ended, or was given away. */
void pdk__hold_disown(struct pdk_hold *hold);
/* The thread's holds on that path: the first link of the list, or NULL. */
const GList *pdk__holds_of(pdk_session *s, uint64_t thread, const char *dir);
/* Its grant stands on another node from now on. */
void pdk__hold_stands_on(struct pdk_hold *hold, const struct pdk__entry *entry, const char *mode);
/* The list to wait on for a longer lease, or the end of the hold. A thread that is woken asks for it again. */
struct pdk__waiters *pdk__hold_await(struct pdk_hold *hold);
/* The hold is valid no longer than until `latest`, whatever the lease, and lost then as OVERDUE. A later call may name
 * an earlier or a later moment. leaves: the most time that any such limit leaves when it is set; 0: no other limit
 * follows. */
void pdk__hold_limit(struct pdk_hold *hold, int64_t latest, int64_t leaves);
/* The most ms that its limit can leave. INT64_MAX: it has no limit. */
int64_t pdk__hold_most_ms(const struct pdk_hold *hold);
/* It is not valid from now on. Its loss is told by pdk__hold_lose. */
void pdk__hold_void(struct pdk_hold *hold, pdk_reason reason);
/* Lose it, and have on_lost called. A hold that has ended stays as it is. */
void pdk__hold_lose(struct pdk_hold *hold, pdk_reason reason);
/* End it for its owner, as pdk_hold_release does, but for the reference. Where *user_free is set, the caller calls it
 * outside of the monitor with the hold's user data: the callback cannot run any more. OK, LOST, NOT_HELD. */
pdk_status pdk__hold_release(struct pdk_hold *hold, void (**user_free)(void *user));
/* It was granted and never received: end it without telling anybody. */
void pdk__hold_discard(struct pdk_hold *hold);
/* The same, and its only reference is given back. The caller has one to its queue. */
void pdk__hold_drop(struct pdk_hold *hold);

/* A call has given up its right: release it for its owner, unless they have done so meanwhile. Not under the
 * monitor. */
void pdk__hold_give_back(struct pdk_hold *hold);
#endif

/* A candidacy: a claim on a queue that is made again after each loss, until the candidate leaves.
 *
 *     begin ─► claim ──granted──► a term ──its grant ended──► lost ─► claim …
 *               └─ left, or it cannot be granted ──► gone ◄─ left ─┘
 *
 * A candidate of an election has one, and so has a member of a group, whose terms are its registrations. The owner
 * embeds it first in a struct of its own, one for each candidacy, and has a place for a pointer to it. The place is
 * NULL while there is none.
 */
#ifndef PDK_CANDIDACY_H
#define PDK_CANDIDACY_H

#include "grant/claim.h"
#include "grant/grant.h"

struct pdk__candidacy;

/* The callbacks of the user. Any of them may be NULL. Never under the monitor. */
struct pdk__candidacy_calls {
    void (*granted)(pdk_hold *hold, void *user);
    /* Once for each `granted`. The candidacy queues again when this has returned, and not before. */
    void (*lost)(pdk_reason reason, void *user);
    /* It cannot be granted: it has left. */
    void (*failed)(pdk_status status, void *user);
    void *user;
    /* With the last reference. */
    void (*user_free)(void *user);
};

/* The owner's part. */
struct pdk__candidacy_kind {
    const char *call; /* the one that begins it, for words */
    /* A term begins; its callback follows. Under the monitor. */
    void (*begun)(struct pdk__candidacy *c, pdk_hold *hold);
    /* It has left; after `failed`, too. Or NULL. Not under the monitor. */
    void (*left)(struct pdk__candidacy *c);
};

struct pdk__candidacy {
    struct pdk__grant_listener listener; /* of the present term */
    atomic_uint refs; /* the place's, its owner's, one for each wait, and one for each notice that is due */
    const struct pdk__candidacy_kind *kind;
    struct pdk__candidacy_calls calls;
    struct pdk__queue *queue; /* a reference */
    bool told;                /* granted was called, and lost not since; for callbacks alone */
    /* under the monitor */
    struct pdk__candidacy **place; /* NULL: left */
    pdk_claim *claim;              /* a reference; waits, or was decided */
    pdk_hold *hold;                /* a reference; of the present term, or the last */
    pdk_status refused;            /* why it cannot be granted; the notice of it follows */
    bool holding;
    bool received;               /* the user knows that it holds: by the callback, or by a wait */
    struct pdk__waiters waiters; /* in pdk__candidacy_wait */
};

/* c: zeros, from g_new0, at the head of the owner's struct, which the last reference frees with g_free. It begins with
 * one. */
void pdk__candidacy_init(struct pdk__candidacy *c, const struct pdk__candidacy_kind *kind, struct pdk__queue *queue,
                         const struct pdk__candidacy_calls *calls);
/* It queues from now on. The place takes that reference over, and its owner leaves before the place goes. Under the
 * monitor. */
void pdk__candidacy_begin(struct pdk__candidacy *c, struct pdk__candidacy **place);
/* NULL is allowed. */
struct pdk__candidacy *pdk__candidacy_ref(struct pdk__candidacy *c);
/* NULL is allowed. The type suits a user_free. Not under the monitor. */
void pdk__candidacy_unref(void *candidacy);

/* `s` is the queue's session. Not under the monitor. */

/* Give up its claim or its term, for good. NOT_HELD: there is none. */
pdk_status pdk__candidacy_leave(pdk_session *s, struct pdk__candidacy *const *place);
/* Give up its term, which is lost with no reason. NOT_HELD: it holds nothing that the user knows of. */
pdk_status pdk__candidacy_resign(pdk_session *s, struct pdk__candidacy *const *place);
/* Wait for a term. OK: *out is a reference to its hold. TIMEOUT, and as pdk__candidacy_look. */
pdk_status pdk__candidacy_wait(pdk_session *s, struct pdk__candidacy *const *place, int64_t timeout_ms, pdk_hold **out);

/* For a call that waits in steps. OK: it holds, and *hold is a reference. TIMEOUT: not yet; wait on *waiters. NOT_HELD:
 * it has left, or cannot be granted. CANCELED, the session's end. Under the monitor. */
pdk_status pdk__candidacy_look(struct pdk__candidacy *c, pdk_hold **hold, struct pdk__waiters **waiters);

#endif

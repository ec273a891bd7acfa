/* The line: where the claims of one recipe object queue, FIFO, in front of one place.
 *
 *     claims:  c1 c2 c3 …        place: one znode, or none        right: what was granted to c0, or nobody has it
 *
 * A line without a right and with claims has a place; one with neither has none. The readers of a read/write lock do not
 * stand behind each other: each is a side line of its own, of the writers' line. Under the monitor, but for ref and unref.
 */
#ifndef PDK_QUEUE_H
#define PDK_QUEUE_H

#include "core/handovers.h"
#include "session/entry.h"

#include <paddock/hold.h>

struct pdk_claim;
struct pdk__queue;
struct pdk__grant;

/* What happens when the thread that holds blocks for it again. */
enum pdk__reacquire { PDK__REACQUIRE_DEADLOCKS, PDK__REACQUIRE_NESTS, PDK__REACQUIRE_QUEUES };

/* What a recipe says of its lines. */
struct pdk__queue_kind {
    struct pdk__entry_kind entry;
    const char *mode; /* for sequencers */
    bool shared;
    enum pdk__reacquire again;
};

/* A recipe for which being first is a turn, and not yet the right: the turn's place stays the line's meanwhile. */
struct pdk__gate {
    /* It is this claim's turn: get it what it wants, then pdk__queue_admit or pdk__queue_refuse. */
    void (*enter)(struct pdk__queue *queue, struct pdk_claim *claim);
    /* The turn is over: passed, refused, or lost, or the claim was decided otherwise. */
    void (*leave)(struct pdk__queue *queue);
};

struct pdk__queue {
    struct pdk__entry_owner owner; /* of its place */
    atomic_uint refs;              /* of the recipe object, of claims, holds and side lines */
    pdk_session *s;                /* a reference */
    char *dir;                     /* absolute, chroot included */
    char *data;                    /* of its nodes; NULL: the session's identity */
    struct pdk__queue_kind kind;
    struct pdk__handovers handovers;
    struct pdk__queue *main;  /* itself, or the line whose side line it is: a reference */
    GQueue sides;             /* its side lines */
    GList side;               /* in main->sides */
    GQueue grants;            /* all that stand, those of side lines included */
    GQueue claims;            /* in the order of their numbers */
    uint64_t claims_taken;    /* the newest number */
    struct pdk__entry *entry; /* a reference, or NULL */
    struct pdk__grant *grant; /* that has the line's place; it tells when it ends */
    GList link;               /* in s->lines */
    /* set by the recipe before the first claim */
    const struct pdk__gate *gate;
    void (*ended)(struct pdk__queue *queue, pdk_reason reason); /* a right of the line ended; NONE: released */
    void *user;
    void (*user_free)(void *user);
    struct pdk_claim *admitting; /* whose turn it is at the gate */
    bool shut;                   /* nobody may queue any more */
};

struct pdk__queue *pdk__queue_new(pdk_session *s, const char *path, const struct pdk__queue_kind *kind,
                                  struct pdk__handovers handovers);
struct pdk__queue *pdk__queue_side(struct pdk__queue *main, const struct pdk__queue_kind *kind);
struct pdk__queue *pdk__queue_ref(struct pdk__queue *queue);
/* Not under the monitor. */
void pdk__queue_unref(struct pdk__queue *queue);

/* At the end of the line; a claim that was granted and could not take it comes back to the turn it had. */
void pdk__queue_push(struct pdk__queue *queue, struct pdk_claim *claim);
/* A hold that has lapsed, before the timer came round to it, is lost now. */
void pdk__queue_check(struct pdk__queue *queue);
/* Bring place and claims in step. */
void pdk__queue_advance(struct pdk__queue *queue);
/* The right that had the place ended, and gives it back. kept: it was released while valid, so that the next claim may have it. */
void pdk__queue_ended(struct pdk__queue *queue, struct pdk__entry *entry, bool kept);
/* A right goes on without the line. */
void pdk__queue_detach(struct pdk__queue *queue, struct pdk__grant *grant);
/* The turn of a gate came to its end: the claim is granted the right, or refused. */
void pdk__queue_admit(struct pdk__queue *queue, struct pdk__grant *grant);
void pdk__queue_refuse(struct pdk__queue *queue, pdk_status status, const char *why);
/* A claim is about to leave the line. */
void pdk__queue_forget(struct pdk__queue *queue, const struct pdk_claim *claim);
/* Answer every claim. */
void pdk__queue_fail(struct pdk__queue *queue, pdk_status status, const char *why);
/* Cancel its claims, those of side lines too, and whoever comes later: the recipe object is gone. */
void pdk__queue_cancel(struct pdk__queue *queue, const char *why);
/* Is the claim's way through the line confirmed by a server, and how many are ahead of it; negative: not yet. */
int32_t pdk__queue_ahead(const struct pdk__queue *queue, const struct pdk_claim *claim);

void pdk__queues_end(pdk_session *s, pdk_status status, const char *why);

#endif

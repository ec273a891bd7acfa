/* The queue: the claims of one recipe object, first come first served, in front of one entry.
 *
 *     claims:  c1 c2 c3 …        entry: one znode, or none        grant: the one that has the queue's entry, or none
 *
 * A queue that has claims and no grant has an entry, or waits until the one before is gone. A queue that has neither
 * has no entry, but for one that lingers (ADR 46): it was granted, and the next claim may have it at once. Readers of a read/write lock do not wait behind each other: each reader has a side queue of its own,
 * which belongs to the writers' queue. Under the monitor, but for new, ref and unref.
 */
#ifndef PDK_GRANT_QUEUE_H
#define PDK_GRANT_QUEUE_H

#include "core/handovers.h"
#include "session/entry.h"

#include <paddock/hold.h>
#include <paddock/stats.h>

struct pdk_claim;
struct pdk__grant;
struct pdk__lookout;
struct pdk__queue;

/* The answer to a thread that holds, and blocks for the same thing again. */
enum pdk__reacquire { PDK__REACQUIRE_DEADLOCKS, PDK__REACQUIRE_NESTS, PDK__REACQUIRE_QUEUES };

/* A recipe's description of its queues. */
struct pdk__queue_kind {
    struct pdk__entry_kind entry;
    const char *recipe; /* for figures by path: a word */
    const char *mode;   /* for sequencers */
    bool shared;
    enum pdk__reacquire reacquire;
    bool one_node; /* it has one node at a time: the next one is made when the one before is gone */
    /* Its grants stand in the directories of other queues, where their holders would wait for themselves. */
    bool grants_elsewhere;
};

/* For a recipe in which the first in the queue is admitted, and gets the grant later. The queue keeps its entry
 * meanwhile. */
struct pdk__gate {
    /* The claim is admitted: take what it claims, then call pdk__queue_admit or pdk__queue_refuse. */
    void (*enter)(struct pdk__queue *queue, struct pdk_claim *claim);
    /* The admission is over: granted, refused or lost, or the claim was decided otherwise. */
    void (*leave)(struct pdk__queue *queue);
    /* This one and the next two may be NULL. A list came, of which the queue's entry is told next. */
    void (*listed)(struct pdk__queue *queue, const struct pdk__child *children, size_t count);
    /* The last one ahead of its entry is gone: it is first, unless the list that was sent just now says otherwise. */
    void (*next)(struct pdk__queue *queue);
    /* Its entry is given up. */
    void (*dropped)(struct pdk__queue *queue);
};

/* For a recipe whose queues may have to wait before they make a node. Embedded in a struct of the recipe's. */
struct pdk__consent {
    /* May the queue begin? If not, it is advanced, or fails (pdk__queue_fail), once that is known. */
    bool (*may_begin)(struct pdk__consent *consent);
    /* The queue goes. */
    void (*free)(struct pdk__consent *consent);
};

/* A gate may refuse a claim at once. Then the place is handed on, on the same stack. After so many times the next claim
 * queues again instead. */
enum { PDK__ENTERING_MOST = 16 };

struct pdk__queue {
    struct pdk__entry_owner owner; /* of its entry */
    atomic_uint refs;              /* of the recipe object, of claims, holds and side queues */
    pdk_session *s;                /* a reference */
    char *dir;                     /* absolute, chroot included */
    char *data;                    /* the data of its nodes; NULL: the session's identity */
    size_t data_size;              /* the size of data that is not text; 0: it is text */
    struct pdk__queue_kind kind;
    struct pdk__handovers handovers;
    struct pdk__queue *main;   /* itself; for a side queue, the queue that it belongs to: a reference */
    GQueue sides;              /* its side queues */
    GList side;                /* in main->sides */
    GQueue grants;             /* all that have not ended, those of side queues included */
    GQueue claims;             /* in the order of their numbers */
    GQueue unplaced;           /* the claims that wait to hear that they have a position */
    uint64_t claims_taken;     /* the newest number */
    guint tries;               /* how many of the claims are tries */
    struct pdk__entry *entry;  /* a reference, or NULL */
    struct pdk__entry *former; /* a reference, or NULL: where one_node is set, the entry before, which has yet to go */
    struct pdk__grant *grant;  /* the one that has the queue's entry; it tells when it ends */
    GList link;                /* in the registry's queues */
    /* set by the recipe before the first claim */
    const struct pdk__gate *gate;
    void *user;
    void (*user_free)(void *user);
    struct pdk__consent *consent; /* the queue's; NULL: it begins at once */
    struct pdk_claim *admitting;  /* the claim that is admitted at the gate */
    bool undecided;               /* it has claims, and no consent yet */
    unsigned entering;            /* how many calls of the gate's enter are under way, one within the other */
    bool shut;                    /* no claim may come any more */
    bool ended;                   /* the session has ended, and every claim is answered */
    bool told_mixed;              /* the log tells of another recipe in its directory: once. The main queue's */
    /* of a node that lingers, or may */
    int64_t lingers_until;        /* its entry lingers until then; 0: it does not */
    struct pdk__alarm linger;     /* rings then, or sooner, also if the entry does not linger any more */
    struct pdk__lookout *lookout; /* for others who come, since the node lingered first; or NULL */
    GList lingering;              /* in the registry's list of them, while it lingers */
    pdk_stats *figures;           /* the session's for its path, where they were asked for. Otherwise NULL */
};

struct pdk__queue *pdk__queue_new(pdk_session *s, const char *path, const struct pdk__queue_kind *kind,
                                  struct pdk__handovers handovers);
struct pdk__queue *pdk__queue_side(struct pdk__queue *main, const struct pdk__queue_kind *kind);
struct pdk__queue *pdk__queue_ref(struct pdk__queue *queue);
/* Not under the monitor. */
void pdk__queue_unref(struct pdk__queue *queue);

/* Put a claim at the end. A claim whose grant was not received comes back to the position that it had. */
void pdk__queue_push(struct pdk__queue *queue, struct pdk_claim *claim);
/* Take a claim out: it is decided. */
void pdk__queue_remove(struct pdk__queue *queue, struct pdk_claim *claim);
/* Lose the grant's hold if it has lapsed, and the timer has not rung for it yet. */
void pdk__queue_check(struct pdk__queue *queue);
/* Begin or drop the entry, as the claims need it. */
void pdk__queue_advance(struct pdk__queue *queue);
/* Its node goes now, if it lingers. */
void pdk__queue_stop_lingering(struct pdk__queue *queue);
/* The grant that had the entry has ended, and gives it back. kept: it was released while valid, so that the next claim
 * may have the entry. */
void pdk__queue_grant_ended(struct pdk__queue *queue, struct pdk__entry *entry, bool kept);
/* The grant stands on without the queue's entry: the queue is free for its next claim. */
void pdk__queue_detach(struct pdk__queue *queue, struct pdk__grant *grant);
/* The admission comes to its end: the claim gets the grant, or is refused. grant: NULL for one that stands on the
 * queue's entry. */
void pdk__queue_admit(struct pdk__queue *queue, struct pdk__grant *grant);
void pdk__queue_refuse(struct pdk__queue *queue, pdk_status status, const char *why);
/* Its node goes, and its claims queue again behind all others, with another one. */
void pdk__queue_rejoin(struct pdk__queue *queue);
/* All its claims fail: it may not begin. */
void pdk__queue_fail(struct pdk__queue *queue, pdk_status status, const char *why);
/* Cancel its claims, and all that come later. For a queue of few claims. */
void pdk__queue_cancel(struct pdk__queue *queue, const char *why);
/* The recipe object is gone: cancel its claims, those of side queues too, and give its reference back. Not under the
 * monitor. */
void pdk__queue_close(struct pdk__queue *queue, const char *why);
/* The session has ended: answer the claims, a slice at a time. True: all are answered. */
bool pdk__queue_end(struct pdk__queue *queue, pdk_status status, const char *why);
/* Has a server confirmed the position of its claims? */
bool pdk__queue_is_confirmed(const struct pdk__queue *queue);
/* How many are ahead of the claim; negative until a server has confirmed its position. */
int32_t pdk__queue_ahead(const struct pdk__queue *queue, const struct pdk_claim *claim);

#endif

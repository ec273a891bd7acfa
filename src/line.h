/* The line: where the claims of one recipe object queue, FIFO, in front of one place.
 *
 *     claims:  c1 c2 c3 …        place: one znode, or none        right: what was granted to c0, or nobody has it
 *
 * A line without a right and with claims has a place; one with neither has none. The readers of a read/write lock do not
 * stand behind each other: each is a side line of its own, of the writers' line. Under the monitor, but for ref and unref.
 */
#ifndef PDK_LINE_H
#define PDK_LINE_H

#include "core/turns.h"
#include "session/place.h"

#include <paddock/hold.h>

struct pdk_claim;
struct pdk__line;
struct pdk__right;

/* What happens when the thread that holds blocks for it again. */
enum pdk__again { PDK__AGAIN_DEADLOCKS, PDK__AGAIN_NESTS, PDK__AGAIN_QUEUES };

/* What a recipe says of its lines. */
struct pdk__line_kind {
    struct pdk__place_kind place;
    const char *mode; /* for sequencers */
    bool shared;
    enum pdk__again again;
};

/* A recipe for which being first is a turn, and not yet the right: the turn's place stays the line's meanwhile. */
struct pdk__gate {
    /* It is this claim's turn: get it what it wants, then pdk__line_pass or pdk__line_refuse. */
    void (*enter)(struct pdk__line *line, struct pdk_claim *claim);
    /* The turn is over: passed, refused, or lost, or the claim was decided otherwise. */
    void (*leave)(struct pdk__line *line);
};

struct pdk__line {
    struct pdk__owner owner; /* of its place */
    atomic_uint refs;        /* of the recipe object, of claims, holds and side lines */
    pdk_session *s;          /* a reference */
    char *dir;               /* absolute, chroot included */
    char *data;              /* of its nodes; NULL: the session's identity */
    struct pdk__line_kind kind;
    struct pdk__turns turns;
    struct pdk__line *main;   /* itself, or the line whose side line it is: a reference */
    GQueue sides;             /* its side lines */
    GList side;               /* in main->sides */
    GQueue rights;            /* all that stand, those of side lines included */
    GQueue claims;            /* in the order of their numbers */
    uint64_t claims_taken;    /* the newest number */
    struct pdk__place *place; /* a reference, or NULL */
    struct pdk__right *right; /* that has the line's place; it tells when it ends */
    GList link;               /* in s->lines */
    /* set by the recipe before the first claim */
    const struct pdk__gate *gate;
    void (*ended)(struct pdk__line *line, pdk_reason reason); /* a right of the line ended; NONE: released */
    void *user;
    void (*user_free)(void *user);
    struct pdk_claim *passing; /* whose turn it is at the gate */
    bool shut;                 /* nobody may queue any more */
};

struct pdk__line *pdk__line_new(pdk_session *s, const char *path, const struct pdk__line_kind *kind,
                                struct pdk__turns turns);
struct pdk__line *pdk__line_side(struct pdk__line *main, const struct pdk__line_kind *kind);
struct pdk__line *pdk__line_ref(struct pdk__line *line);
/* Not under the monitor. */
void pdk__line_unref(struct pdk__line *line);

/* At the end of the line; a claim that was granted and could not take it comes back to the turn it had. */
void pdk__line_push(struct pdk__line *line, struct pdk_claim *claim);
/* A hold that has lapsed, before the timer came round to it, is lost now. */
void pdk__line_check(struct pdk__line *line);
/* Bring place and claims in step. */
void pdk__line_advance(struct pdk__line *line);
/* The right that had the place ended, and gives it back. kept: it was released while valid, so that the next claim may have it. */
void pdk__line_ended(struct pdk__line *line, struct pdk__place *place, bool kept);
/* A right goes on without the line. */
void pdk__line_detach(struct pdk__line *line, struct pdk__right *right);
/* The turn of a gate came to its end: the claim is granted the right, or refused. */
void pdk__line_pass(struct pdk__line *line, struct pdk__right *right);
void pdk__line_refuse(struct pdk__line *line, pdk_status status, const char *why);
/* A claim is about to leave the line. */
void pdk__line_forget(struct pdk__line *line, const struct pdk_claim *claim);
/* Answer every claim. */
void pdk__line_fail(struct pdk__line *line, pdk_status status, const char *why);
/* Cancel its claims, those of side lines too, and whoever comes later: the recipe object is gone. */
void pdk__line_cancel(struct pdk__line *line, const char *why);
/* Is the claim's way through the line confirmed by a server, and how many are ahead of it; negative: not yet. */
int32_t pdk__line_ahead(const struct pdk__line *line, const struct pdk_claim *claim);

void pdk__lines_end(pdk_session *s, pdk_status status, const char *why);

#endif

/* The model of majorities: every order of events, for two or three callers and three ensembles of which two suffice.
 *
 *     majority_world.c   the callers: core/majority carried out as recipes/set_taking and recipes/set do, and what must hold
 *     majority_queues.c  the ensembles: each has a queue, and a link to each caller that may be cut
 *
 * Somebody who is no caller may have a lock alone, for ever. Then, too, everybody must be able to be granted, from every state on: a
 * fixed way that is fair to all must lead to it. A pause and a look around are random, so some caller comes upon such a way.
 *
 * Behind a cut nothing arrives: no node is made or deleted, and no grant is heard of. There a lease runs out, at any time. The
 * ensemble ends the session only after that, at any time: this is what the model of the lease proves. A caller hears of a grant, and
 * of a lease that is over, at any time later.
 */
#ifndef MAJORITY_MODEL_H
#define MAJORITY_MODEL_H

#include "core/majority.h"
#include "search.h"

enum { MAJORITY_CALLERS = 3, MAJORITY_ENSEMBLES = 3, MAJORITY_NEED = 2, MAJORITY_NODES = 8 };

/* What happened, in the order of the counts. */
enum {
    MAJORITY_TOOK,    /* a whole was granted */
    MAJORITY_WENT_ON, /* a part was lost, and enough were left */
    MAJORITY_AGAIN,   /* a part was taken again */
    MAJORITY_LOSSES,  /* of wholes */
    MAJORITY_PASSED,  /* a right was passed over */
    MAJORITY_TIRED,   /* of waiting with something in its hands */
    MAJORITY_LOOKED,  /* around, while waiting */
    MAJORITY_SHORT,   /* a round fell short */
    MAJORITY_REFUSED, /* a try was busy, or a deadline passed */
    MAJORITY_COUNTS
};

struct majority_config {
    int8_t callers;
    int8_t cuts, heals; /* how many, at any time */
    int8_t rounds;      /* after so many that fell short a caller is not followed any further */
    int8_t tries;       /* the callers are tries */
    int8_t deadlines;   /* how many deadlines pass */
    int8_t turned; /* each caller has another order: it begins with another ensemble, or goes round the other way */
    int8_t looks;  /* who waits may look around */
    uint8_t never_free;   /* a bit for each ensemble: a stranger has its lock */
    uint8_t cut_at_first; /* a bit for each ensemble: the first caller is cut off from it from the beginning */
    uint64_t counts[MAJORITY_COUNTS]; /* filled by the search */
};

enum majority_phase { MAJORITY_OUT, MAJORITY_TAKING, MAJORITY_HOLDS, MAJORITY_LOST, MAJORITY_OVER };
enum majority_claim { MAJORITY_NONE, MAJORITY_ASKED, MAJORITY_GRANTED, MAJORITY_BUSY };

struct majority_caller {
    uint8_t phase;
    uint8_t rights[MAJORITY_ENSEMBLES]; /* as in struct pdk__majority */
    uint8_t late, pauses, tired, round;
    uint8_t looks_around, waits_for;
    uint8_t claims[MAJORITY_ENSEMBLES];
    uint8_t lapsed[MAJORITY_ENSEMBLES]; /* of what was GRANTED: the lease is over */
    uint8_t invalid;                    /* somebody has looked, and found too few */
    uint8_t gap;                        /* too few were held at a moment when another one was valid */
    uint8_t cut_off;                    /* a bit for each ensemble from which it was cut off in this round */
};

/* The nodes of each queue: who made it, and whether that one has left it behind. */
struct majority_world {
    struct majority_caller callers[MAJORITY_CALLERS];
    uint8_t nodes[MAJORITY_ENSEMBLES][MAJORITY_NODES];
    uint8_t count[MAJORITY_ENSEMBLES];
    uint8_t cut[MAJORITY_CALLERS][MAJORITY_ENSEMBLES];
    int8_t cuts, heals, deadlines; /* left */
};

struct search_model majority_model(struct majority_config *config);

/* ---- the queues */

/* A stranger's node, which stays. */
void majority_block(struct majority_world *w, int ensemble);

/* It makes its node, at the end, if it is connected. */
void majority_enqueue(struct majority_world *w, int caller, int ensemble);
/* Its node is deleted, or left behind if it is cut off. */
void majority_leave(struct majority_world *w, int caller, int ensemble);
bool majority_has_node(const struct majority_world *w, int caller, int ensemble);
bool majority_is_first(const struct majority_world *w, int caller, int ensemble);
/* The session is ended by the ensemble: all its nodes are gone. false: it had none. */
bool majority_expire(struct majority_world *w, int caller, int ensemble);
/* The link works again: what was left behind is deleted. */
void majority_heal(struct majority_world *w, int caller, int ensemble);

#endif

/* The line: where the claims of one recipe object queue, FIFO, in front of one place.
 *
 *     claims:  c1 c2 c3 …          place: one znode, or none            hold: who has the right here, or nobody
 *
 * A line without a holder and with claims has a place; one with neither has none. Under the monitor, but for ref and unref.
 */
#ifndef PDK_LINE_H
#define PDK_LINE_H

#include "core/turns.h"
#include "session/place.h"

struct pdk_claim;
struct pdk_hold;

struct pdk__line {
    atomic_uint refs; /* of the recipe object, of claims and of holds */
    pdk_session *s;   /* a reference */
    char *dir;        /* absolute, chroot included */
    enum pdk__profile profile;
    pdk__blocks_fn blocks;
    const char *mode; /* for sequencers */
    struct pdk__turns turns;
    GQueue claims;            /* in the order of their numbers */
    uint64_t claims_taken;    /* the newest number */
    struct pdk__place *place; /* a reference, or NULL */
    struct pdk_hold *hold;    /* not a reference: it tells when it ends */
    GList link;               /* in s->lines */
};

struct pdk__line *pdk__line_new(pdk_session *s, const char *path, enum pdk__profile profile, pdk__blocks_fn blocks,
                                const char *mode, struct pdk__turns turns);
struct pdk__line *pdk__line_ref(struct pdk__line *line);
/* Not under the monitor. */
void pdk__line_unref(struct pdk__line *line);

/* At the end of the line; a claim that was granted and could not take it comes back to the turn it had. */
void pdk__line_push(struct pdk__line *line, struct pdk_claim *claim);
/* A hold that has lapsed, before the timer came round to it, is lost now. */
void pdk__line_check(struct pdk__line *line);
/* Bring place and claims in step. */
void pdk__line_advance(struct pdk__line *line);
/* The place took a step. */
void pdk__line_moved(struct pdk__line *line, struct pdk__place *place);
/* All its claims are tries. */
bool pdk__line_in_hurry(const struct pdk__line *line);
/* The hold ended. kept: it was released while valid, so that the next claim may have it. */
void pdk__line_ended(struct pdk__line *line, struct pdk_hold *hold, bool kept);
/* Answer every claim. */
void pdk__line_fail(struct pdk__line *line, pdk_status status, const char *why);

void pdk__lines_end(pdk_session *s, pdk_status status, const char *why);

#endif

/* A set of rights of which `need` suffice is taken, one right after the other; and the lease of the taken ones.
 *
 *     OPEN ──ask──► ASKED ──granted──► HELD ──lost──► LOST                    (for this round)
 *      │ ▲            ├──nobody there, or a try that is busy──► PASSED        (likewise)
 *      │ │            └──refused──► REFUSED                                   (for this call)
 *      │ ├── a round that falls short: all is given back, a pause, and the next round: with all but the REFUSED
 *      │ └── a look around that falls short: what it brought is given back
 *      └──try──► TRIED ──granted──► FOUND                                     (for this look around)
 *                   └──busy──► BUSY                                           (likewise)
 *
 * One right at a time is ASKED: the first in the order that is OPEN. None behind it was asked for in this round. So a
 * caller that waits for a right holds only earlier ones. Of the callers that wait for each other, the one that waits
 * for the last right waits for a caller that waits for none: there is no circle.
 *
 * Somebody may have the right that is ASKED for ever. So a caller that waits for it *looks around* now and then: it
 * keeps its place in that queue, and tries all rights that it does not have, one after the other. If it has `need`
 * rights then, it is complete. Otherwise it gives the new ones back, and waits on as before. A try waits for nobody, so
 * a look around ends by itself, and brings nobody into a circle. It is over, too, as soon as the awaited right has an
 * answer.
 *
 * Callers that do not agree about the order may still be in a circle. So a caller that holds something waits for no
 * longer than a limit, which is random and doubles with each round. Then it is tired: it gives all back, and begins
 * again.
 *
 * A right whose place in the queue was confirmed is waited for. It is passed over only when nobody confirms that place,
 * or the session, for as long as the caller is patient. So contention alone never makes a round fall short. A round
 * falls short when too few ensembles answer, or when something that was held is lost. A try that falls short comes to
 * nothing, unless it has only lost something.
 *
 * Two sets are never complete together: each has more than half of the rights, so they meet in one.
 */
#ifndef PDK_CORE_MAJORITY_H
#define PDK_CORE_MAJORITY_H

#include <stdbool.h>
#include <stdint.h>

/* The most rights in one set. */
#define PDK__MAJORITY_MOST 100

enum pdk__right_state {
    PDK__RIGHT_OPEN,
    PDK__RIGHT_ASKED,
    PDK__RIGHT_HELD,
    PDK__RIGHT_LOST,
    PDK__RIGHT_PASSED,
    PDK__RIGHT_REFUSED,
    PDK__RIGHT_TRIED, /* while another one is ASKED */
    PDK__RIGHT_BUSY,
    PDK__RIGHT_FOUND, /* it is held, as a HELD one is */
};

/* The outcome of a right that was ASKED, or TRIED. */
enum pdk__taken {
    PDK__TAKEN_GRANTED,
    PDK__TAKEN_BUSY,    /* a try: somebody is ahead */
    PDK__TAKEN_LATE,    /* the deadline has passed */
    PDK__TAKEN_REFUSED, /* it is not to be had in this call */
};

/* The caller's next step. */
enum pdk__majority_step {
    PDK__MAJORITY_ASK,      /* for the right that *which names; it is ASKED now */
    PDK__MAJORITY_TRY,      /* the right that *which names, waiting for nobody; it is TRIED now */
    PDK__MAJORITY_WAIT,     /* for the rights that are ASKED or TRIED, or for the end of the pause */
    PDK__MAJORITY_BACK,     /* give back the FOUND and TRIED rights; then pdk__majority_looked */
    PDK__MAJORITY_COMPLETE, /* `need` are held; give up rights that are ASKED or TRIED beside them */
    PDK__MAJORITY_ANEW,     /* give all back; then pdk__majority_anew */
    PDK__MAJORITY_FAIL,     /* give all back: this call gets nothing */
};

struct pdk__majority {
    uint32_t count, need;
    bool is_try;
    bool late;   /* the deadline has passed */
    bool pauses; /* between two rounds */
    bool tired;  /* it has waited for too long with something in its hands */
    bool looks_around;
    uint32_t waits_for; /* while it looks around: the right that was ASKED when it began */
    uint32_t round;
    uint32_t looks;                     /* around, so far */
    uint8_t rights[PDK__MAJORITY_MOST]; /* of each, in the order, an enum pdk__right_state */
};

/* Is it a majority? Any two of them meet. */
bool pdk__majority_meets(uint32_t count, uint32_t need);
void pdk__majority_init(struct pdk__majority *m, uint32_t count, uint32_t need, bool is_try);
enum pdk__majority_step pdk__majority_next(struct pdk__majority *m, uint32_t *which);
/* Are so many REFUSED that too few are left? Then no further round has another end. */
bool pdk__majority_is_hopeless(const struct pdk__majority *m);
/* A right that is ASKED or TRIED has this outcome. */
void pdk__majority_answered(struct pdk__majority *m, uint32_t which, enum pdk__taken taken);
/* A right that is ASKED or TRIED is passed over. */
void pdk__majority_pass(struct pdk__majority *m, uint32_t which);
/* Is it HELD or FOUND? */
bool pdk__majority_holds(const struct pdk__majority *m, uint32_t which);
/* Is it ASKED or TRIED? */
bool pdk__majority_claims(const struct pdk__majority *m, uint32_t which);
/* A right that was HELD or FOUND is not any more. */
void pdk__majority_lost(struct pdk__majority *m, uint32_t which);
/* It has waited for long enough for the right that is ASKED to look around. Where it does so already, or nothing is
 * ASKED, this changes nothing. */
void pdk__majority_look_around(struct pdk__majority *m);
/* The rights that it had got by looking around were given back. */
void pdk__majority_looked(struct pdk__majority *m);
/* It has waited up to its limit: the round is over. */
void pdk__majority_tire(struct pdk__majority *m);
/* All was given back: the next round begins, after a pause where fewer than all are needed. */
void pdk__majority_anew(struct pdk__majority *m);
/* The pause is over, in time or not. */
void pdk__majority_resume(struct pdk__majority *m, bool in_time);
/* How long the pause before this round is, in ns: 10 to 20 ms at first, doubled in each round, at most 1 to 2 s.
 * `random`: any bits. */
int64_t pdk__majority_pause(const struct pdk__majority *m, uint64_t random);
/* How long it waits for a right from now on, in ns. If it holds something: half a second to a second at first, doubled
 * in each round, at most 32 to 64 s. If it holds nothing: for ever (INT64_MAX). */
int64_t pdk__majority_limit(const struct pdk__majority *m, uint64_t random);
/* How long it waits from now on before it looks around, in ns: at first 250 to 500 ms, then 500 ms to 1 s. */
int64_t pdk__majority_glance(const struct pdk__majority *m, uint64_t random);

/* May it be passed over by now? since: the last moment when all was well with it. */
static inline bool pdk__majority_impatient(int64_t since, int64_t patience, int64_t now) {
    return now - since >= patience;
}

/* The moment until which `need` of the rights are held: the need-th largest of these. */
int64_t pdk__majority_until(const int64_t *moments, uint32_t count, uint32_t need);

#endif

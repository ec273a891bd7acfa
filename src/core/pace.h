/* The pace of things that a server can make us repeat: requests that lead nowhere, events that fire as soon as they are
 * waited for.
 *
 *     a few at once ──► each next one later: 20 ms, then twice as much each time, up to a bound
 *       ▲                         │
 *       └──── a while of rest ────┘
 *
 * Each one fills a vessel that leaks, and waits while the vessel is above its mark. So a thing that comes to rest never
 * waits, and a thing that does not is slowed down to the rate of the leak. Pure.
 */
#ifndef PDK_CORE_PACE_H
#define PDK_CORE_PACE_H

#include "core/lease.h"

/* The rates there are. */
struct pdk__pace_kind {
    uint32_t free; /* so many at once */
    int64_t leak;  /* one less after each such time */
    int64_t most;  /* the longest pause */
};

/* Steps of one protocol: 20 a second. */
extern const struct pdk__pace_kind pdk__pace_steps;
/* Things that are done once, or again when the world has changed: three, and then one each second. */
extern const struct pdk__pace_kind pdk__pace_repeats;
/* Rounds of a few requests, where another client may undo each one for a while: sixteen, and then ten a second. */
extern const struct pdk__pace_kind pdk__pace_rounds;
/* Pauses that were asked for, or are needed: one each second. */
extern const struct pdk__pace_kind pdk__pace_pauses;

/* All zero at the start. */
struct pdk__pace {
    int64_t since; /* leaks until then are counted */
    uint32_t level;
};

/* How long the next one has to wait. It is counted. 0: not at all. */
int64_t pdk__pace_next(struct pdk__pace *pace, const struct pdk__pace_kind *kind, int64_t now);
/* The last one came to nothing, and another pace bounds how often it is tried: it does not count. */
void pdk__pace_give_back(struct pdk__pace *pace);

#endif

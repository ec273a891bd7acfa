/* What a session counts, and how it is read. The counting is done where things happen; this is the room for the figures.
 *
 *     under the monitor:   claims, grants, holds (src/grant) ─┐
 *                          renewals (ops), moves (silence) ───┼──► counts ──copy──► pdk_session_stats ──► text (stats_text.c)
 *                          connections (supervise) ───────────┘                           ▲
 *     under the outbox's:  callbacks, lines of the log (dispatch.c) ──────────────────────┘
 *
 * They are plain numbers: whoever counts has the lock anyway. Gauges that the session knows anyway are read, not kept.
 */
#ifndef PDK_SESSION_STATS_H
#define PDK_SESSION_STATS_H

#include <paddock/hold.h>
#include <paddock/stats.h>

struct pdk__stats {
    pdk_stats counts; /* without what a reading fills in */
    int64_t least;    /* what was left of the lease while something was held, in ns; INT64_MAX: nothing was */
};

/* Under the monitor, all of these. */
void pdk__stats_init(struct pdk__stats *stats);
/* A claim waits; or is decided with that status. */
void pdk__stats_claim_queued(pdk_session *s);
void pdk__stats_claim_decided(pdk_session *s, pdk_status status);
/* A hold begins at `now`, of a claim that was made at `since`. */
void pdk__stats_waited(pdk_session *s, int64_t since, int64_t now);
/* It is lost, and then it ends at `now`. */
void pdk__stats_lost(pdk_session *s, pdk_reason reason);
void pdk__stats_hold_ended(pdk_session *s, int64_t since, int64_t now);
/* So much is left of the lease: called before it becomes more. */
void pdk__stats_lease(pdk_session *s, int64_t now);
/* A barrier that was handed over then was committed. */
void pdk__stats_renewed(pdk_session *s, int64_t sent, int64_t now);

/* The figures as text, as snprintf writes them: its whole length. */
size_t pdk__stats_text(const pdk_stats *stats, char *buffer, size_t size);

#endif

/* The figures of a session, and how they are read. Things are counted where they happen; this is the room for the
 * figures.
 *
 *     under the monitor:        claims, grants, holds (grant) ──┐
 *                               renewals (ops), moves (silence) ┼──► counts ──copy──► pdk_session_stats ──► text
 *                               connections (supervise) ────────┘                           ▲
 *     under the outbox's lock:  callbacks, lines of the log (dispatch.c) ───────────────────┘
 *
 * They are plain numbers, since the code that counts has the lock anyway. Gauges that the session knows anyway are
 * read, not kept.
 */
#ifndef PDK_SESSION_STATS_H
#define PDK_SESSION_STATS_H

#include <glib.h>
#include <paddock/hold.h>
#include <paddock/stats.h>

struct pdk__stats {
    pdk_stats counts;    /* without the figures that a reading fills in */
    int64_t least;       /* the least rest of the lease while something was held, in ns; INT64_MAX: nothing was */
    guint paths_max;     /* 0: nobody asked for figures by path */
    GPtrArray *paths;    /* the rows, where somebody has: path_stats.h */
    GHashTable *by_path; /* the same */
};

/* Under the monitor, all of these. path: the figures of the path, which count the same; or NULL. */
void pdk__stats_init(struct pdk__stats *stats);
/* A claim waits; or is decided with that status. */
void pdk__stats_claim_queued(pdk_session *s, pdk_stats *path);
void pdk__stats_claim_decided(pdk_session *s, pdk_stats *path, pdk_status status);
/* The claim was granted, and has waited so long, in ns; but nobody received the grant in time. */
void pdk__stats_waited(pdk_session *s, pdk_stats *path, int64_t ns);
void pdk__stats_lapsed(pdk_session *s, pdk_stats *path);
/* A grant goes to the next thread. */
void pdk__stats_handed_over(pdk_session *s, pdk_stats *path);
/* A hold begins; is lost; and then, or without that, ends at `now`. */
void pdk__stats_hold_began(pdk_session *s, pdk_stats *path);
void pdk__stats_lost(pdk_session *s, pdk_stats *path, pdk_reason reason);
void pdk__stats_hold_ended(pdk_session *s, pdk_stats *path, int64_t since, int64_t now);
/* Note the rest of the lease: called before the lease becomes longer. */
void pdk__stats_lease(pdk_session *s, int64_t now);
/* A barrier that was handed over then was committed. */
void pdk__stats_renewed(pdk_session *s, int64_t sent, int64_t now);

/* Give the figures to a caller, whose struct may be of another version. Not under the monitor. */
pdk_status pdk__stats_give(const char *call, pdk_stats *stats, const pdk_stats *all);

/* Rows of figures by path. */
struct pdk__path_rows {
    size_t count;
    void (*read)(void *user, size_t index, pdk_stats *stats, const char **recipe, const char **path);
    void *user;
};

/* The figures as text, as snprintf writes them: its whole length. */
size_t pdk__stats_text(const pdk_stats *stats, const struct pdk__path_rows *rows, char *buffer, size_t size);

#endif

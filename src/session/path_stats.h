/* Figures by path, for a session that asks for them (stats_paths): a row for each recipe on each path.
 *
 *     queue ──figures──► row: recipe, path, and a pdk_stats of which claims and holds are counted
 *
 * A row is made with the first queue of its path, and lives as long as the session, so a queue has a plain pointer to
 * it. Beyond the number that was asked for, all paths of a recipe share a row whose path is "".
 */
#ifndef PDK_SESSION_PATH_STATS_H
#define PDK_SESSION_PATH_STATS_H

#include "session/stats.h"

struct pdk__path_stats {
    pdk_stats counts;
    const char *recipe; /* a constant */
    char *path;
};

void pdk__path_stats_init(struct pdk__stats *stats, int32_t most);
void pdk__path_stats_clear(struct pdk__stats *stats);
/* The figures of that path; NULL: nobody asked for any. recipe: a constant. Under the monitor. */
pdk_stats *pdk__path_stats_of(pdk_session *s, const char *recipe, const char *path);
/* The rows, for the text. Not under the monitor: it is taken for each row. */
struct pdk__path_rows pdk__path_stats_rows(pdk_session *s);

#endif

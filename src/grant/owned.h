/* The things of each thread, by the path where others would wait for them: a table of lists, which knows nothing of
 * their members. */
#ifndef PDK_GRANT_OWNED_H
#define PDK_GRANT_OWNED_H

#include <glib.h>
#include <stdint.h>

/* Make *table on the first call, and put the link into the list of that thread and path. */
void pdk__owned_put(GHashTable **table, uint64_t thread, const char *dir, GList *link);
/* Take out one that was put there. */
void pdk__owned_take(GHashTable *table, uint64_t thread, const char *dir, GList *link);
/* The first of them; NULL: there is none. The table may be NULL. */
const GList *pdk__owned_list(GHashTable *table, uint64_t thread, const char *dir);

#endif

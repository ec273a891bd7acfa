/* A lookout tells whether anybody comes to the directory of a node that we hold (ADR 46).
 *
 *     new ──► a list, which leaves a watch ──nobody else──► clear ──the watch fires──► not clear: `came`, once
 *                └── another contender, or no good answer ───────────────────────────┘
 *
 * Until the list is answered it is clear: nobody is known to be there. A watch is set for one connection, so a lookout
 * that has outlived its connection is not clear, and says so when it is asked. Under the monitor.
 */
#ifndef PDK_GRANT_LOOKOUT_H
#define PDK_GRANT_LOOKOUT_H

#include "session/session.h"

struct pdk__lookout;

/* With a connection. own: the name of our node. came may drop the lookout. NULL: it cannot be sent, or there is no room for its watch. */
struct pdk__lookout *pdk__lookout_new(pdk_session *s, const char *dir, const char *own, void (*came)(void *user),
                                      void *user);
/* With a connection. */
bool pdk__lookout_is_clear(const struct pdk__lookout *lookout);
/* `came` is not called any more. NULL is allowed. */
void pdk__lookout_drop(struct pdk__lookout *lookout);

#endif

/* All places of a session together. Under the monitor. */
#ifndef PDK_SESSION_PLACES_H
#define PDK_SESSION_PLACES_H

#include "session/place.h"

/* Tell every place of the session. */
void pdk__places_tell(pdk_session *s, enum pdk__event_type type);
/* Does any place that began to leave no later than `serial` still exist? */
bool pdk__places_leaving(const pdk_session *s, uint64_t serial);
/* Is it a node of ours that nobody wants any more? */
bool pdk__places_gives_up(const pdk_session *s, const char *dir, const char *name);
/* Is any right held, or any place next in line? */
bool pdk__places_active(const pdk_session *s);
/* A place whose right is held, or that is next in line; NULL when there is none. Rotates. */
struct pdk__place *pdk__places_to_renew(pdk_session *s);

#endif

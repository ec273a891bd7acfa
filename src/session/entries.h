/* All places of a session together. Under the monitor. */
#ifndef PDK_SESSION_ENTRIES_H
#define PDK_SESSION_ENTRIES_H

#include "session/entry.h"

/* Tell every place of the session. */
void pdk__entries_tell(pdk_session *s, enum pdk__event_type type);
/* Does any place that began to leave no later than `serial` still exist? */
bool pdk__entries_leaving(const pdk_session *s, uint64_t serial);
/* Is it a node of ours that nobody wants any more? */
bool pdk__entries_is_leaving(const pdk_session *s, const char *dir, const char *name);
/* Is any right held, or any place next in line? */
bool pdk__entries_active(const pdk_session *s);
/* A place whose right is held, or that is next in line; NULL when there is none. Rotates. */
struct pdk__entry *pdk__entries_to_renew(pdk_session *s);

#endif

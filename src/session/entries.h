/* All entries of a session together. Under the monitor. */
#ifndef PDK_SESSION_ENTRIES_H
#define PDK_SESSION_ENTRIES_H

#include "session/entry.h"

/* Bring an event to every entry of the session. */
void pdk__entries_tell(pdk_session *s, enum pdk__event_type type);
/* Does any entry still exist that began to leave no later than `serial`? */
bool pdk__entries_leaving(const pdk_session *s, uint64_t serial);
/* Is it the node of an entry that leaves? */
bool pdk__entries_is_leaving(const pdk_session *s, const char *dir, const char *name);
/* Does any entry need the lease: held, or next in its queue, or right behind that? */
bool pdk__entries_active(const pdk_session *s);
/* An entry that needs the lease, another one with each call. NULL: there is none. */
struct pdk__entry *pdk__entries_to_renew(pdk_session *s);

#endif

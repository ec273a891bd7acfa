/* All entries of a session together. Under the monitor. */
#ifndef PDK_SESSION_ENTRIES_H
#define PDK_SESSION_ENTRIES_H

#include "session/entry.h"

/* Bring an event to every entry of the session: a chore. */
void pdk__entries_tell(pdk_session *s, enum pdk__event_type type);
/* Bring FRESH to the entries that need the lease. */
void pdk__entries_tell_fresh(pdk_session *s);
/* Does any entry still exist that began to leave no later than `serial`? */
bool pdk__entries_leaving(const pdk_session *s, uint64_t serial);
/* Put it among the entries that need the lease, or take it out. After each of its steps. */
void pdk__entries_note(struct pdk__entry *entry);
/* It leaves; it is removed. */
void pdk__entries_note_leaving(struct pdk__entry *entry);
void pdk__entries_note_removed(struct pdk__entry *entry);
/* The entry whose node has that name, or NULL. */
struct pdk__entry *pdk__entries_find(const pdk_session *s, const char *name);
/* Is it the node of an entry that leaves? */
bool pdk__entries_is_leaving(const pdk_session *s, const char *dir, const char *name);
/* Does any entry need the lease: held, or next in its queue, or right behind that? */
bool pdk__entries_active(const pdk_session *s);
/* An entry that needs the lease, another one with each call. NULL: there is none. */
struct pdk__entry *pdk__entries_to_renew(pdk_session *s);

#endif

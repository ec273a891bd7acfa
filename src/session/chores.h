/* A chore reaches all entries, watchers or holds of a session, a slice at a time. Between two slices the monitor is
 * free, so that no caller waits for all of them.
 *
 *     event ──► monitor: pdk__chore_add ──► first slice ──► … ──► the same thread, on its way out: pdk__chores_run
 *
 * Chores are done one after the other, in the order in which they came. A thread of the library, or one that closes the
 * session, finishes all of them before it leaves: so the client library brings no event in between. Callers and the
 * timer may come in between, so a slice looks at each thing again.
 */
#ifndef PDK_SESSION_CHORES_H
#define PDK_SESSION_CHORES_H

#include "session/session.h"

/* A slice of the work. True: it was the last. Under the monitor, which it keeps. */
typedef bool (*pdk__chore_fn)(pdk_session *s, void *user);

/* The most that one slice may do: entries told, holds lost, claims answered. */
guint pdk__slice(const pdk_session *s);

/* Begin a chore. When this returns the chore is done, or its rest waits: then later chores wait behind it. free: NULL
 * is allowed. */
void pdk__chore_add(pdk_session *s, pdk__chore_fn slice, void (*free)(void *user), void *user);
/* The same, for one call per item, which must give the item back. Takes over the array. */
void pdk__chore_each(pdk_session *s, GPtrArray *items, void (*each)(pdk_session *s, void *item, void *user),
                     void (*free)(void *user), void *user);
/* Finish all chores. Under the monitor, which the thread gives up in between. */
void pdk__chores_run(pdk_session *s);
/* A thread of the library ends its work with this. */
void pdk__chores_run_and_unlock(pdk_session *s);

void pdk__chores_init(pdk_session *s);
void pdk__chores_clear(pdk_session *s);

#endif

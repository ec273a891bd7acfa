/* The reaper: nodes that are ours and nobody's any more. Its set is the places without a line; the contender's own rules
 * delete them. What is left is what no rule of a single contender covers. Under the monitor. */
#ifndef PDK_SESSION_REAP_H
#define PDK_SESSION_REAP_H

#include "session/entry.h"

/* A new ZooKeeper session begins: how its nodes will be named. */
void pdk__uuid_prefix_make(pdk_session *s);
/* A list of dir shows nodes that bear this session's names, and that none of its places has: a second one of a create that
 * was repeated, or one that the servers have brought back (ADR 12). What is ours of them is deleted. own: the node of
 * whoever asked, or "". */
void pdk__reap_orphans(pdk_session *s, const char *dir, const char *own, const char *const *names, size_t count);
/* The server refuses to delete the node for good. It would block the path until the session ends: end the session. */
void pdk__reap_stuck(struct pdk__entry *entry);
/* Our node is gone. Near the end of the directory's sequence numbers, remove the directory if it is empty: its successor
 * counts from zero. */
void pdk__reap_done(const struct pdk__entry *entry);

#endif

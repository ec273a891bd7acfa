/* The reaper deletes the nodes of ours that nobody needs any more. Its set is the entries without an owner. The
 * contender's own rules delete their nodes. This file adds the cases that no rule of a single contender covers. Under
 * the monitor. */
#ifndef PDK_SESSION_REAP_H
#define PDK_SESSION_REAP_H

#include "session/entry.h"

/* A new ZooKeeper session begins: choose how the UUIDs in its nodes' names begin. */
void pdk__uuid_prefix_make(pdk_session *s);
/* Delete the orphans in a list of dir: nodes of ours, with a name of this session, that no entry has. An orphan is the
 * second node of a create that was repeated, or a node that the servers have brought back (ADR 12). Neither comes
 * without a lost answer, an answer that a node of ours is not there, or another connection. So one list of each directory is searched, until there may be orphans
 * again. own: the node of the entry that listed, or "". */
void pdk__reap_orphans(pdk_session *s, const char *dir, const char *own, const char *const *names, size_t count);
/* There may be orphans again: in this directory; or in any, since another server may remember other nodes. */
void pdk__reap_again(pdk_session *s, const char *dir);
/* false: a list of the directory is due, in case there is an orphan. */
bool pdk__reap_is_done(const pdk_session *s, const char *dir);
void pdk__reap_everywhere(pdk_session *s);
/* The server will never delete the node. It would block the path until the ZooKeeper session ends, so give the session
 * up. */
void pdk__reap_stuck(struct pdk__entry *entry);
/* Our node is gone. Near the end of the directory's sequence numbers, remove the directory if it is empty. Its
 * successor counts from zero. */
void pdk__reap_done(const struct pdk__entry *entry);

#endif

/* Lists of directories for the entries of a session. One list serves every entry of its directory that wanted it before
 * it was sent.
 *
 *     entry ── wants ──► its directory's waiting entries ──► a list, with all of them ── the answer ──► each of them
 *
 * ZooKeeper answers the requests of a session in order. So a list that is sent after a create shows its node, and an
 * entry wants its list when its create has been sent. While lists of a directory are in flight, another one is sent at
 * once only if they are short. A single claim so has one round trip, and thousands have few lists. Under the
 * monitor. */
#ifndef PDK_SESSION_LISTS_H
#define PDK_SESSION_LISTS_H

#include "session/entry.h"

void pdk__lists_init(pdk_session *s);
void pdk__lists_free(pdk_session *s);
/* Ask for a list that is sent from now on. pdk__entry_listed brings it. renew: it may grant, so the lease has to be
 * fresh. */
void pdk__lists_want(struct pdk__entry *entry, bool renew);
/* Send the lists that may be sent by now. */
void pdk__lists_move(pdk_session *s);
/* The handle is gone. */
void pdk__lists_reset(pdk_session *s);

#endif

/* The names of a session's servers, and the addresses that are known for each:
 *
 *     look_up ── a look-up begins of each name that has none under way
 *     found   ── one has ended: its addresses, or why there are none
 *     list    ── the addresses known now. A name whose look-up fails, or does not end, keeps its last ones
 *
 * A look-up may take minutes, and cannot be interrupted. So it has a reference of its own, and ends alone when nobody
 * waits for it any more. A name that hangs holds up no other, and has one look-up at a time. Any thread may call all of
 * this.
 */
#ifndef PDK_ZK_NAMES_H
#define PDK_ZK_NAMES_H

#include "zk/hosts.h"

#include <stdbool.h>

struct pdk__names;

/* Nothing is known yet. The hosts are copied. */
struct pdk__names *pdk__names_new(const struct pdk__hosts *hosts);
void pdk__names_unref(struct pdk__names *names);

/* Begin the look-up of one name, which ends with pdk__names_found: at once, or later on another thread. false: it
 * cannot begin, for want of a thread. */
typedef bool (*pdk__look_up)(struct pdk__names *names, unsigned index, const char *name);
void pdk__names_look_up(struct pdk__names *names, pdk__look_up begin);
/* addresses are numeric and without a port, ended by NULL, and copied. None, or NULL: `why` has the reason. Each
 * look-up that has begun has a reference, which this gives back. */
void pdk__names_found(struct pdk__names *names, unsigned index, const char *const *addresses, const char *why);

/* How many look-ups are under way. */
unsigned pdk__names_awaited(struct pdk__names *names);
/* An IPv4 or IPv6 address, also with a scope. */
bool pdk__name_is_number(const char *text);
/* Are all of them numbers? Then nothing is to be looked up again. */
bool pdk__names_are_numbers(const struct pdk__names *names);

/* The numeric list "address:port,…" of the known addresses; *servers and *why are the caller's to g_free, and NULL
 * unless set. The same addresses make the same text, in any order of finding. It has an odd number of entries: the
 * client library skips every second one of an even list when it reconnects.
 *   OK           why tells of a name whose last look-up failed, or is NULL
 *   RESOLVE      no name has an address
 *   UNAVAILABLE  none has one yet */
pdk_status pdk__names_list(struct pdk__names *names, char **servers, char **why);

#endif

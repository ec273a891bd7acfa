/* Another list of servers for a handle that lives.
 *
 * zoo_set_servers keeps session and watches. But it acts on the thread of its caller, and the client library's own
 * thread knows nothing of that. Read in the source of 3.8.0:
 *
 *  - when the address that is dialled, or connected, is not in the list, it closes the descriptor under that thread,
 *    and no loss of the connection is told;
 *  - when the list is longer than the last one, it throws dice whether to do so all the same, to balance the load;
 *  - it frees the addresses that a thread which has just lost a connection reads;
 *  - it compares addresses without their ports, and takes a list of the same length for the same when the old addresses
 *    are all in it.
 *
 * So a list is given only in the pause between two rounds: the library has tried each server of its list, and sleeps
 * for T/60 without a descriptor. It has no state of its own for that. Between two attempts the state is 0 as well:
 * while the next server is chosen, and while socket() and connect() run. That takes microseconds, unless the thread is
 * held up. Where connect() fails at once, as without a route, it lasts for the whole pass. So it is looked at twice,
 * some time apart, and the process must not have begun to dial a server of the old list in between. These cases remain:
 *
 *  - the pause ends between the second look and zoo_set_servers;
 *  - the library's thread is held up between two attempts, or right behind a connect(), for longer than the looks are
 *    apart;
 *  - attempts that fail at once are under way at both looks.
 *
 * Then the descriptor of a dial that has just begun may be closed under the library's thread, or an address be freed
 * that it reads. A list that the library would take for the same goes by way of a longer one.
 */
#ifndef PDK_ZK_SERVERS_H
#define PDK_ZK_SERVERS_H

#include <glib.h>
#include <stdbool.h>
#include <zookeeper/zookeeper.h>

/* Both are numeric lists, and `old` is what the handle has. dials: sockets.h. false: the handle is in no pause. Blocks
 * for 2 ms, and for two looks at the kernel's table of sockets. */
bool pdk__servers_give(zhandle_t *handle, GHashTable *dials, const char *old, const char *new);
/* Would the client library take the new list for the old one? */
bool pdk__servers_seem_same(const char *old, const char *new);

#endif

/* The sockets of the client library, which it does not show us. We find them among the descriptors of the process:
 *
 *     a handle is connected ──► the sockets that are new, and connected to its server, are claimed for it
 *     it must leave         ──► its claimed socket is shut down: for the client library the server has hung up
 *     a handshake is silent ──► a socket to a server that was sent something and has never answered is shut down
 *     nobody accepts        ──► a socket that has waited for so long for a server to accept it is shut down
 *
 * A claim goes by the inode, which tells a socket from a later one with the same number. Two handles that are connected
 * to one server in the same moment cannot be told apart. Their sockets are then claimed for both: the handle that
 * leaves takes the other along, which costs that one a reconnect. A socket that waits to be accepted cannot be told
 * from another handle's either. It is left alone until it has waited as long as a handle is patient: then another
 * handle loses only a try that has come to nothing so far.
 */
#ifndef PDK_ZK_SOCKETS_H
#define PDK_ZK_SOCKETS_H

#include "zk/calls.h"

#include <glib.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <zookeeper/zookeeper.h>

enum { PDK__SOCKETS_NAME = INET6_ADDRSTRLEN + IF_NAMESIZE + 8 };

/* The other end of the handle's connection, "address:port"; "" without one. */
void pdk__sockets_peer(zhandle_t *handle, char name[PDK__SOCKETS_NAME]);

/* servers is the numeric list that the handle was given, for all of these. */

/* The handle is connected. Sockets to the servers are marked close-on-exec. */
void pdk__sockets_connected(zhandle_t *handle, const char *servers);
/* Shut down the handle's connection. STAYS: none was found, or there is no other server. HAS_LEFT: the process has no
 * other connection to any of the servers. */
enum pdk__zk_parting pdk__sockets_leave(zhandle_t *handle, const char *servers);
/* Shut down the connections to the servers that were sent something so long ago, and never answered a byte. The rest as
 * above. */
enum pdk__zk_parting pdk__sockets_hurry(const char *servers, int64_t patience_ms);

/* The sockets that the looks of one handle have found waiting to be accepted by its servers. One thread at a time uses
 * it. The next three calls fill it, and g_hash_table_destroy frees it. */
GHashTable *pdk__sockets_dials_new(void);
/* Shut down the waiting sockets to the servers that a look has found so long ago, and every look since. STAYS: there is
 * none. LEAVES: otherwise. */
enum pdk__zk_parting pdk__sockets_skip(GHashTable *dials, const char *servers, int64_t patience_ms);
/* Shut down the waiting sockets to servers of the old list that are not in the new one, if a look has found them 100 ms
 * ago. */
void pdk__sockets_abandon(GHashTable *dials, const char *old, const char *new);
/* Does a socket of the process wait for one of the servers that the last look has not found? */
bool pdk__sockets_dial_anew(GHashTable *dials, const char *servers);

/* The handle is about to be closed. */
void pdk__sockets_forget(const zhandle_t *handle);

/* Around a fork: no other thread is within one of these then. */
void pdk__sockets_fork(bool begins);

#endif

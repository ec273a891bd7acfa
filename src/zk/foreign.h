/* Servers that speak ZooKeeper's protocol and are none, as ClickHouse Keeper. Such a server may hang up on a request that it
 * does not know: then the client library connects again, asks again, and is hung up on again, for ever. So it is known
 * by its handshake, and asked once, before there is a session, for the one request that nothing can do without.
 */
#ifndef PDK_ZK_FOREIGN_H
#define PDK_ZK_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>
#include <zookeeper/zookeeper.h>

/* Is it a session that no ZooKeeper gives? password: of 16 bytes. */
bool pdk__foreign_is(int64_t session, const char *password);

/* Ask for a create2 that changes nothing. fn is called with its code and `context`, unless the handle is closed before.
 * false: it cannot be asked. */
bool pdk__foreign_ask(zhandle_t *handle, const struct ACL_vector *acl, string_stat_completion_t fn,
                      const void *context);

/* Does that code say that the server has create2? A lost connection says nothing, and counts as no. */
bool pdk__foreign_can(int code);

#endif

/* Ends a session on the server, deterministically, while its client is alive. */
#ifndef TS_EXPIRE_H
#define TS_EXPIRE_H

#include "ts_proxy.h"

/*
 * Expires the session that last shook hands through `proxy`, whose server is reached directly at `server` ("ip:port"):
 * the victim's link is blackholed, the session closed through another connection, the reply awaited (its ephemeral nodes
 * are gone then), the link healed. The client learns EXPIRED when it reconnects, a few ms later. The proxy ends up in
 * the mode it was in. Returns 0, or ZooKeeper's code.
 */
int ts_expire(ts_proxy *proxy, const char *server);

/* Closes the given session at `server`, without blocking its client. The client may reconnect and interfere, so cut it
 * first. */
int ts_expire_session(const char *server, const ts_session_key *key);

#endif

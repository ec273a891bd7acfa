/* Ends a session on the servers while its client is alive. */
#ifndef TESTING_EXPIRE_H
#define TESTING_EXPIRE_H

#include "proxy.h"

/* Ends the session that most recently shook hands through `proxy`, which is silent meanwhile, so that the client cannot
 * interfere. `server` is the direct address of a server. 0, or an error of wire.h; PDK__TEST_EXPIRED when there is no
 * such session. */
int pdk__test_expire(pdk_test_proxy *proxy, const char *server);
/* The same for a known session, with any link between its client and the servers. */
int pdk__test_expire_session(const char *server, const pdk__test_session_key *key);

#endif

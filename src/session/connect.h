/* The connector: the work that may block for seconds. */
#ifndef PDK_SESSION_CONNECT_H
#define PDK_SESSION_CONNECT_H

#include "session/session.h"

/* Do the work that is due. *wait_until: call again by then, even without a new call of platform->work. True once the
 * session is finished. Not under the monitor. */
bool pdk__connector_run(pdk_session *s, int64_t *wait_until);

/* The handle has no connection from now on: the names are followed closely. Under the monitor. */
void pdk__connector_follow(pdk_session *s);

#endif

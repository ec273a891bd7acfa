/* The opening of a session. */
#ifndef PDK_SESSION_OPEN_H
#define PDK_SESSION_OPEN_H

#include "session/session.h"

/* Begin a session on a platform, without waiting for its first lease. The errors are as for pdk_session_open. Not under
 * the monitor. */
pdk_status pdk__session_begin(const char *hosts, const pdk_session_options *options,
                              const struct pdk__platform *platform, pdk_session **out);

#endif

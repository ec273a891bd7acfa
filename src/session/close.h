/* The end of a session. */
#ifndef PDK_SESSION_CLOSE_H
#define PDK_SESSION_CLOSE_H

#include "session/session.h"

/* Free a session that has no reference and no thread left. Not under the monitor. */
void pdk__session_free(pdk_session *s);

#endif

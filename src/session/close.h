/* The end of a session. */
#ifndef PDK_SESSION_CLOSE_H
#define PDK_SESSION_CLOSE_H

#include "session/session.h"

/* After the last reference and the last thread. Not under the monitor. */
void pdk__session_free(pdk_session *s);

#endif

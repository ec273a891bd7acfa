/* The life of the connection. Under the monitor. */
#ifndef PDK_SESSION_SUPERVISE_H
#define PDK_SESSION_SUPERVISE_H

#include "session/session.h"

/* The sink for a handle's replies, watches, states and log. It takes the monitor itself. */
extern const struct pdk__zk_sink pdk__session_sink;

/* Give up the current handle and begin again: every hold is lost, every claim queues again. */
void pdk__session_reopen(pdk_session *s, const char *why);
/* The end, as CLOSED or AUTH: claims are answered, holds are lost, and the reaper gets the nodes. */
void pdk__session_end(pdk_session *s, pdk_status status, const char *why);
/* Log the event, and tell it to the user. */
void pdk__session_tell(pdk_session *s, pdk_session_event event);
/* Note that there is no connection, and why. It is tried again before long. */
void pdk__session_trouble(pdk_session *s, pdk_status status, const char *why);
/* The reason why there is no handle, if it is known; else NULL. Valid until the monitor is left. */
const char *pdk__session_why_away(const pdk_session *s);

#endif

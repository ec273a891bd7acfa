/* Renews the lease. Under the monitor. */
#ifndef PDK_SESSION_RENEW_H
#define PDK_SESSION_RENEW_H

#include "session/session.h"

void pdk__renew_init(pdk_session *s);
/* A new handle is being opened. */
void pdk__renew_begin(pdk_session *s);
/* Connected: prove the session at once. */
void pdk__renew_connected(pdk_session *s);
/* An entry is held, or close to the head of its queue: renew within T/10, or sooner. */
void pdk__renew_soon(pdk_session *s);
/* Send a barrier now. */
void pdk__renew_now(pdk_session *s);
/* A request that was sent at `sent` is answered. committed: the answer proves that a quorum committed it. */
void pdk__renew_answered(pdk_session *s, int64_t sent, bool committed);

#endif

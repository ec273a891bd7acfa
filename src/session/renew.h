/* Renews the lease. Under the monitor. */
#ifndef PDK_SESSION_RENEW_H
#define PDK_SESSION_RENEW_H

#include "session/session.h"

void pdk__renew_init(pdk_session *s);
/* The lease has changed, or the session has ended: tell the threads that do not have the monitor. */
void pdk__renew_share(pdk_session *s);
/* A new handle is being opened. */
void pdk__renew_begin(pdk_session *s);
/* Connected: prove the session at once. */
void pdk__renew_connected(pdk_session *s);
/* An entry is held, or close to the head of its queue: renew within T/10, or sooner. */
void pdk__renew_soon(pdk_session *s);
/* A caller needs a longer lease: send a barrier now, or as soon as one proves more than the last. All that ask share
 * it. */
void pdk__renew_now(pdk_session *s);
/* Have a barrier ahead of the requests that follow. One that was handed over lately on this connection will do. */
void pdk__renew_ahead(pdk_session *s);
/* The same, but the barrier has to be handed over after the request of that number. false: it cannot be sent. */
bool pdk__renew_prove(pdk_session *s, uint64_t since);
/* A request that was sent at `sent` is answered. committed: the answer proves that a quorum committed it. */
void pdk__renew_answered(pdk_session *s, int64_t sent, bool committed);

#endif

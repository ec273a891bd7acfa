/* Requests on their way: sent under the monitor, answered under it. */
#ifndef PDK_SESSION_OPS_H
#define PDK_SESSION_OPS_H

#include "session/session.h"

/* Under the monitor. reply is NULL when the handle it was sent on is gone: only free what is the request's. */
typedef void (*pdk__done_fn)(pdk_session *s, void *user, const struct pdk__reply *reply);

/* request->tag is set here. false: not sent, and done is never called. Under the monitor. */
bool pdk__send(pdk_session *s, struct pdk__request request, pdk__done_fn done, void *user);

/* The table's reply entry, not under the monitor. */
void pdk__answered(void *driver, pdk__zk *zk, const struct pdk__reply *reply);

#endif

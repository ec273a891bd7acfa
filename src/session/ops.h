/* Requests in flight. They are sent under the monitor, and their answers come under it. */
#ifndef PDK_SESSION_OPS_H
#define PDK_SESSION_OPS_H

#include "session/session.h"

/* Under the monitor. reply is NULL if the request's handle is gone: then only free the request's memory. */
typedef void (*pdk__done_fn)(pdk_session *s, void *user, const struct pdk__reply *reply);

/* request->tag is set here. false: not sent, and done is never called. Under the monitor. */
bool pdk__send(pdk_session *s, struct pdk__request request, pdk__done_fn done, void *user);

/* The reply function of the sink. Not under the monitor. */
void pdk__answered(void *driver, pdk__zk *zk, const struct pdk__reply *reply);

#endif

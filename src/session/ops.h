/* Requests in flight, and requests that wait for their turn (window.h). They are sent under the monitor, and their
 * answers come under it. */
#ifndef PDK_SESSION_OPS_H
#define PDK_SESSION_OPS_H

#include "session/session.h"

/* Under the monitor. reply is NULL if the request's handle is gone: then only free the request's memory. A request that
 * could not be sent when its turn came is answered NOT_NOW. */
typedef void (*pdk__done_fn)(pdk_session *s, void *user, const struct pdk__reply *reply);

/* The calls to a request's owner when its turn comes: maybe at once. */
struct pdk__turn {
    bool (*is_wanted)(void *user); /* false: it is not sent */
    void (*sent)(pdk_session *s, void *user);
};

/* Send when its turn comes. request->tag is set here. false: not sent, and done is never called. Under the monitor. */
bool pdk__send(pdk_session *s, struct pdk__request request, pdk__done_fn done, void *user);
bool pdk__send_in_turn(pdk_session *s, struct pdk__request request, const struct pdk__turn *turn, pdk__done_fn done,
                       void *user);
/* Send ahead of all that wait. With a connection. lane: the one in which it counts. */
bool pdk__send_now(pdk_session *s, enum pdk__lane lane, struct pdk__request request, pdk__done_fn done, void *user);
/* Send the next few waiting requests. */
void pdk__ops_move(pdk_session *s);
/* The handle is gone, and its generation over, and with it the waiting requests. */
void pdk__ops_reset(pdk_session *s);

/* The reply function of the sink. Not under the monitor. */
void pdk__answered(void *driver, pdk__zk *zk, const struct pdk__reply *reply);

#endif

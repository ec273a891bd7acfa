/* SPDX-License-Identifier: Apache-2.0 */
/* A session on a libevent loop: its callbacks run on the thread in event_base_dispatch.
 *
 *     session ──pdk_session_fd──► event ──► event_base ──► pdk_session_dispatch
 *
 * The program compiles and links libevent, 2.0 or later (libevent_core is enough). The library does
 * not know of this header.
 */
#ifndef PADDOCK_ADAPTERS_LIBEVENT_H
#define PADDOCK_ADAPTERS_LIBEVENT_H

#include <event2/event.h>
#include <paddock/session.h>
#include <stdlib.h>

PDK_BEGIN_DECLS

/* A session on a loop. */
typedef struct pdk_libevent pdk_libevent;

struct pdk_libevent {
    /* Nothing of it is for the program. */
    struct event *event;
    pdk_session *session;
    bool dispatching, detached;
};

static inline void pdk__libevent_free(pdk_libevent *libevent) {
    event_free(libevent->event);
    pdk_session_unref(libevent->session);
    free(libevent);
}

static inline void pdk__libevent_ready(evutil_socket_t fd, short events, void *user) {
    pdk_libevent *libevent = (pdk_libevent *)user;
    pdk_status status;
    (void)fd;
    (void)events;
    libevent->dispatching = true; /* a callback may detach it */
    status = pdk_session_dispatch(libevent->session, NULL);
    libevent->dispatching = false;
    if (libevent->detached)
        pdk__libevent_free(libevent);
    else if (status != PDK_OK && status != PDK_WRONG_THREAD)
        event_del(libevent->event);
}

/* Run the callbacks of a session with PDK_DISPATCH_MANUAL on the loop. Call it on the loop's
 * thread. The attachment has a reference to the session. As any event it keeps event_base_dispatch
 * from returning, until pdk_libevent_detach, or until the session is closed: then it stops by
 * itself. Does not wait.
 *
 * Returns the attachment, which pdk_libevent_detach takes. NULL when session is NULL, has a thread
 * of its own, or libevent cannot take it. */
static inline pdk_libevent *pdk_libevent_attach(struct event_base *base, pdk_session *session) {
    pdk_libevent *libevent;
    if (pdk_session_fd(session) < 0)
        return NULL;
    libevent = (pdk_libevent *)calloc(1, sizeof *libevent);
    if (!libevent)
        return NULL;
    libevent->event = event_new(base, (evutil_socket_t)pdk_session_fd(session),
                                EV_READ | EV_PERSIST, pdk__libevent_ready, libevent);
    if (!libevent->event || event_add(libevent->event, NULL) != 0) {
        if (libevent->event)
            event_free(libevent->event);
        free(libevent);
        return NULL;
    }
    libevent->session = pdk_session_ref(session);
    return libevent;
}

/* Take the session away from its loop, on the loop's thread: also in a callback of the session.
 * NULL is allowed. */
static inline void pdk_libevent_detach(pdk_libevent *libevent) {
    if (!libevent)
        return;
    event_del(libevent->event);
    libevent->detached = true;
    if (!libevent->dispatching)
        pdk__libevent_free(libevent);
}

PDK_END_DECLS

#endif

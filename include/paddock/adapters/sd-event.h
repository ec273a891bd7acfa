/* SPDX-License-Identifier: Apache-2.0 */
/* A session on a loop of sd-event: its callbacks run on the thread in sd_event_loop.
 *
 *     session ──pdk_session_fd──► sd_event_source ──► sd_event ──► pdk_session_dispatch
 *
 * The program compiles and links libsystemd, 243 or later. The library does not know of this
 * header.
 */
#ifndef PADDOCK_ADAPTERS_SD_EVENT_H
#define PADDOCK_ADAPTERS_SD_EVENT_H

#include <errno.h>
#include <paddock/session.h>
#include <sys/epoll.h>
#include <systemd/sd-event.h>

PDK_BEGIN_DECLS

static inline int pdk__sd_event_ready(sd_event_source *source, int fd, uint32_t events,
                                      void *user) {
    pdk_status status = pdk_session_dispatch((pdk_session *)user, NULL);
    (void)fd;
    (void)events;
    if (status != PDK_OK && status != PDK_WRONG_THREAD)
        sd_event_source_set_enabled(source, SD_EVENT_OFF);
    return 0;
}

static inline void pdk__sd_event_destroyed(void *user) { pdk_session_unref((pdk_session *)user); }

/* Run the callbacks of a session with PDK_DISPATCH_MANUAL on the loop. Call it on the loop's
 * thread. The source has a reference to the session. It is switched off by itself once the session
 * is closed. Does not wait.
 *   out  gets the source, with one reference: sd_event_source_disable_unref takes the session away
 *        from the loop, also in a callback of the session. NULL: the loop keeps the source.
 *
 * Returns 0 or more, or a negative error as sd_event_add_io does: -EINVAL when session is NULL, or
 * has a thread of its own. */
static inline int pdk_sd_event_add(sd_event *event, pdk_session *session, sd_event_source **out) {
    sd_event_source *source = NULL;
    int error;
    if (pdk_session_fd(session) < 0)
        return -EINVAL;
    error = sd_event_add_io(event, &source, pdk_session_fd(session), EPOLLIN, pdk__sd_event_ready,
                            session);
    if (error < 0)
        return error;
    pdk_session_ref(session);
    sd_event_source_set_destroy_callback(source, pdk__sd_event_destroyed);
    if (out) {
        *out = source;
        return 0;
    }
    error = sd_event_source_set_floating(source, 1);
    sd_event_source_unref(source);
    return error;
}

PDK_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A session on GLib's main loop: its callbacks run on the thread that iterates the GMainContext.
 *
 *     session ──pdk_session_fd──► GSource ──attach──► GMainContext ──► pdk_session_dispatch
 *
 * The program compiles and links GLib, 2.36 or later. The library does not know of this header.
 */
#ifndef PADDOCK_ADAPTERS_GLIB_H
#define PADDOCK_ADAPTERS_GLIB_H

#include <glib.h>
#include <paddock/session.h>

PDK_BEGIN_DECLS

/* The source. Nothing of it is for the program. */
struct pdk__glib_source {
    GSource source;
    pdk_session *session;
};

static inline gboolean pdk__glib_dispatch(GSource *source, GSourceFunc unused,
                                          gpointer unused_too) {
    pdk_status status = pdk_session_dispatch(((struct pdk__glib_source *)source)->session, NULL);
    (void)unused;
    (void)unused_too;
    return status == PDK_OK || status == PDK_WRONG_THREAD ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

static inline void pdk__glib_finalize(GSource *source) {
    pdk_session_unref(((struct pdk__glib_source *)source)->session);
}

/* A source that runs the callbacks of a session with PDK_DISPATCH_MANUAL. Attach it to one context,
 * by g_source_attach. It goes by itself once the session is closed. g_source_destroy takes it away
 * before, also in a callback of the session.
 *
 * Returns the source, with one reference that g_source_unref gives back. It has a reference to the
 * session as long as it lives. NULL when session is NULL, or has a thread of its own. Does not
 * wait. */
static inline GSource *pdk_glib_source_new(pdk_session *session) {
    static GSourceFuncs functions = {NULL, NULL, pdk__glib_dispatch, pdk__glib_finalize,
                                     NULL, NULL};
    GSource *source;
    if (pdk_session_fd(session) < 0)
        return NULL;
    source = g_source_new(&functions, sizeof(struct pdk__glib_source));
    ((struct pdk__glib_source *)source)->session = pdk_session_ref(session);
    g_source_set_name(source, "paddock");
    g_source_add_unix_fd(source, pdk_session_fd(session), G_IO_IN);
    return source;
}

PDK_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A session on a libuv loop: its callbacks run on the thread in uv_run.
 *
 *     session ──pdk_session_fd──► uv_poll_t ──► uv_loop_t ──► pdk_session_dispatch
 *
 * The program compiles and links libuv, 1.0 or later. The library does not know of this header.
 */
#ifndef PADDOCK_ADAPTERS_LIBUV_H
#define PADDOCK_ADAPTERS_LIBUV_H

#include <paddock/session.h>
#include <stdlib.h>
#include <uv.h>

PDK_BEGIN_DECLS

/* A session on a loop. */
typedef struct pdk_uv pdk_uv;

struct pdk_uv {
    /* Nothing of it is for the program. */
    uv_poll_t poll;
    pdk_session *session;
};

static inline void pdk__uv_ready(uv_poll_t *poll, int error, int events) {
    pdk_status status = pdk_session_dispatch(((pdk_uv *)poll->data)->session, NULL);
    (void)error;
    (void)events;
    if (status != PDK_OK && status != PDK_WRONG_THREAD && !uv_is_closing((uv_handle_t *)poll))
        uv_poll_stop(poll);
}

static inline void pdk__uv_closed(uv_handle_t *poll) { free(poll->data); }

/* Run the callbacks of a session with PDK_DISPATCH_MANUAL on the loop. Call it on the loop's
 * thread. The attachment has a reference to the session. As any handle of libuv it keeps uv_run
 * from returning, until pdk_uv_detach, or until the session is closed: then it stops by itself.
 * Does not wait.
 *   out  gets the attachment, which pdk_uv_detach takes
 *
 * Returns 0, or an error of libuv: UV_EINVAL when session is NULL, or has a thread of its own. */
static inline int pdk_uv_attach(uv_loop_t *loop, pdk_session *session, pdk_uv **out) {
    pdk_uv *uv;
    int error;
    if (pdk_session_fd(session) < 0)
        return UV_EINVAL;
    uv = (pdk_uv *)calloc(1, sizeof *uv);
    if (!uv)
        return UV_ENOMEM;
    error = uv_poll_init(loop, &uv->poll, pdk_session_fd(session));
    if (error) {
        free(uv);
        return error;
    }
    uv->poll.data = uv;
    uv->session = pdk_session_ref(session);
    uv_poll_start(&uv->poll, UV_READABLE, pdk__uv_ready);
    *out = uv;
    return 0;
}

/* Take the session away from its loop, on the loop's thread: also in a callback of the session. The
 * memory goes when the loop turns once more, as libuv closes its handles. NULL is allowed. */
static inline void pdk_uv_detach(pdk_uv *uv) {
    if (!uv)
        return;
    uv_close((uv_handle_t *)&uv->poll, pdk__uv_closed);
    pdk_session_unref(uv->session);
}

PDK_END_DECLS

#endif

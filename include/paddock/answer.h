/* SPDX-License-Identifier: Apache-2.0 */
/* Answers: asynchronous calls, which never wait, for programs that live on an event loop.
 *
 * A call that blocks asks the servers, or waits for something. Its form with `_async` does the same
 * without a thread that waits, and gives the answer to a callback. (The acquisitions, also with
 * `_async`, are claims: claim.h. But a job and a lease lock do more than acquire, so their
 * acquisitions are answers.)
 *
 *   Arguments  as the blocking form has them; then the callback, and user for it. The call copies
 *              all that it needs, so no argument needs to live on.
 *   Return     PDK_OK: the callback will be called, once. Anything else: it never will be.
 *   Answer     a status that the blocking form answers, for the same reasons, within the same time;
 *              and the result that the blocking form puts into *out. pdk_last_error says in words
 *              why it is no PDK_OK.
 *   Time       timeout_ms counts from the call. Without an answer by then the answer is
 *              PDK_UNAVAILABLE, or the status that the blocking form has for it. There is no other
 *              way to call it off.
 *   Thread     the session's own thread; with manual dispatch, the thread in pdk_session_dispatch
 *              or pdk_session_close. Never under a lock, and never from inside the call that asked.
 *              The session's own thread may run it before that call has returned.
 *   Inside     every call that does not block is allowed, also another one of this kind. A call
 *              that blocks answers PDK_WRONG_THREAD.
 *   Session    it goes on through lost connections and sessions. When the session is closed, the
 *              answer is PDK_CLOSED; when it ends for its credentials, PDK_AUTH. It has a reference
 *              to its session.
 *   Last call  exactly one, with two exceptions, in which the library frees the result.
 *              pdk_session_close drops a callback that is due when it is called from a callback, or
 *              when its time runs out. With manual dispatch, a callback that is due is dropped
 *              after the last pdk_session_unref. So user can be freed when the callback has
 *              returned, or when pdk_session_close has returned PDK_OK outside of any callback.
 *
 * Any thread may make such a call, also in a callback.
 */
#ifndef PADDOCK_ANSWER_H
#define PADDOCK_ANSWER_H

#include <paddock/status.h>

PDK_BEGIN_DECLS

/* The answer of a call that has no result but its status. For the status, the thread, the calls
 * that are allowed inside and the last call see above.
 *   user  as it was given. The library never frees it. */
typedef void (*pdk_answered_fn)(pdk_status status, void *user);

PDK_END_DECLS

#endif

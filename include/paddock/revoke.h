/* SPDX-License-Identifier: Apache-2.0 */
/* Revocation: the holder of a lock is asked to let go, or its znode is deleted.
 *
 *     asker     ── pdk_session_request_release ──► the holder's znode ──► pdk_hold_on_request
 *     operator  ── pdk_session_break ──► the znode is deleted ──► LOST: PDK_REASON_NODE_GONE
 *
 * An ask is a wish. Nothing is forced: the hold stays valid until its owner releases it. Every
 * client that may write to the znode may ask. Curator's Revoker asks holders of Paddock, and
 * pdk_session_request_release asks Curator's revocable locks. Those locks hear neither the asker's
 * name nor the time.
 *
 * A znode that was asked is not handed over to the next thread of the process: at the release the
 * process queues again behind the others.
 *
 * The wish stands in the data of the znode, in front of the identity. Paddock's lists of contenders
 * show the identity alone. Other clients show all of it. An ask by Curator, and any ask of a znode
 * that Paddock did not make, replaces the identity.
 *
 * pdk_session_break is for operators who know that the holder does not work any more: a holder that
 * is cut off goes on working until its lease is over, while the next one is granted already. Only
 * the token protects then.
 */
#ifndef PADDOCK_REVOKE_H
#define PADDOCK_REVOKE_H

#include <paddock/contenders.h>
#include <paddock/hold.h>
#include <paddock/session.h>

PDK_BEGIN_DECLS

/* Ask to let go. The holders at path are the writer, or the leader, or all readers before the first
 * writer. Blocks, at most timeout_ms; three round trips for one holder, two for a named node.
 *   path        of a lock, a read/write lock or an election, as for pdk_lock_new; for a permit of a
 *               semaphore its path and "/leases", and a node
 *   node        NULL for the holders; or one contender, as pdk_contenders_node names it
 *   who         the name of the asker: UTF-8, 1 to 1024 bytes, no control characters. NULL for the
 *               session's identity.
 *   within_ms   the time that the holder has, as a wish, from when the servers take it; at most
 *               999,999,999,999,999. 0 names no time.
 *   timeout_ms  0 or more, or PDK_FOREVER. With 0 there is no time for an answer.
 *
 *   PDK_OK             it stands in at least one holder's znode. Whether anybody listens is not
 *                      known
 *   PDK_GONE           nobody holds it, or there is no such node
 *   PDK_UNAVAILABLE    not confirmed in time. It may have been asked
 *   PDK_NO_PERMISSION  an access control list forbids to list the directory, or to read or write
 *                      the znode
 *   PDK_UNSUPPORTED    the server refuses it; the error text has its code
 *   Common             PDK_INVALID, CLOSED, AUTH, FORKED, WRONG_THREAD */
PDK_API pdk_status pdk_session_request_release(pdk_session *session, const char *path,
                                               const char *node, const char *who, int64_t within_ms,
                                               int64_t timeout_ms);

/* The same, without waiting: the answer goes to fn, once, as a callback (answer.h). Any thread may
 * call it, also in a callback.
 *
 *   PDK_OK  fn will be called, with a status above
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error fn is never called. */
PDK_API pdk_status pdk_session_request_release_async(pdk_session *session, const char *path,
                                                     const char *node, const char *who,
                                                     int64_t within_ms, int64_t timeout_ms,
                                                     pdk_answered_fn fn, void *user);

/* Tells that the holder is asked to let go: once for each ask. Of asks that come faster than the
 * znode is read, only the last one is told. An ask whose answer was lost may be told twice.
 *   hold      the hold whose znode was asked. Valid memory during the call; take a reference to
 *             keep it longer.
 *   who       the name of the asker. Valid during the call. "" when no name was given, as by
 *             Curator. Others wrote it. It is UTF-8 without control and format characters: they are
 *             written \u{HHHH}, and bytes that are no UTF-8 are written \xHH.
 *   until_ms  until when, in ms since 1970 by the server's clock; 0 when no time was named
 *   user      as given to pdk_hold_on_request
 *
 * Thread: the session's own thread; with manual dispatch, the thread in pdk_session_dispatch or
 * pdk_session_close. Never under a lock. Inside: every call that does not block is allowed,
 * pdk_hold_release of this hold included. A call that blocks answers PDK_WRONG_THREAD.
 *
 * Last call: no call starts after pdk_hold_release has returned, or after the loss was told. A call
 * that started before that on another thread may still run. */
typedef void (*pdk_request_fn)(pdk_hold *hold, const char *who, int64_t until_ms, void *user);

/* Set the callback of a hold for asks; one per hold. Does not wait. When the hold was asked
 * already, fn is called soon with the newest ask, still as a callback. A grant that is shorter than
 * 10 ms does not read its znode, and is not told. Several holds on one grant are each told. Any
 * thread may call it, also in a callback.
 *   user_free  NULL, or called once with user when fn can run no more: with the last reference to
 *              the hold, on the thread that gives it back. Never under a lock. It may make the same
 *              calls as fn.
 *
 *   PDK_OK        fn is set; user must stay valid until user_free
 *   PDK_NOT_HELD  the hold was released
 *   PDK_INVALID   a callback is set already
 *   Common        PDK_INVALID, FORKED
 * On an error user_free is not called. */
PDK_API pdk_status pdk_hold_on_request(pdk_hold *hold, pdk_request_fn fn, void *user,
                                       void (*user_free)(void *user));

/* Delete the znode of a contender, if it is still the one with that token. The hold is lost
 * (PDK_REASON_NODE_GONE): at once where the holder has a connection, else when its lease is over.
 * The next one in the queue may be granted before that. A successor is never deleted: names with a
 * UUID do not come back. Blocks, at most timeout_ms; two round trips.
 *   node        path of the znode below the session's chroot: the path of the recipe, a slash, and
 *               the name as pdk_contenders_node gives it, which has a UUID
 *   token       of the contender, as pdk_contenders_token gives it: 1 or more
 *   timeout_ms  0 or more, or PDK_FOREVER. With 0 there is no time for an answer.
 *   out         NULL, or set to the contender that it was: a list of one, to be freed with
 *               pdk_contenders_free
 *
 *   PDK_OK             it stood there, and is gone. If the answer to the delete was lost, its owner
 *                      may have been faster
 *   PDK_GONE           there is no such znode, or its token is another one. Nothing was deleted
 *   PDK_UNAVAILABLE    not confirmed in time. It may have been deleted
 *   PDK_NO_PERMISSION  an access control list forbids to read it, or to delete it
 *   PDK_UNSUPPORTED    the server refuses it; the error text has its code
 *   Common             PDK_INVALID, CLOSED, AUTH, FORKED, WRONG_THREAD */
PDK_API pdk_status pdk_session_break(pdk_session *session, const char *node, int64_t token,
                                     int64_t timeout_ms, pdk_contenders **out);

/* The same, without waiting: the answer goes to fn, once, as a callback (answer.h). Any thread may
 * call it, also in a callback.
 *
 *   PDK_OK  fn will be called, with a status above; with PDK_OK it gets the contender that it was,
 *           a list of one
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error fn is never called. */
PDK_API pdk_status pdk_session_break_async(pdk_session *session, const char *node, int64_t token,
                                           int64_t timeout_ms, pdk_contenders_fn fn, void *user);

PDK_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Other requests on the same ZooKeeper session: a program borrows the handle of the client library,
 * for nodes of its own, and gives it back.
 *
 *     pdk_session_borrow ──► pdk_borrow_handle: zoo_acreate, zoo_awget … ──► pdk_borrow_release
 *                              │ session expires
 *                              └─► pdk_borrow_is_current is false: return it, borrow the next
 *
 * The session closes no handle that somebody has borrowed. When the ZooKeeper session expires
 * meanwhile, it opens the next one all the same; the old handle answers every request with an
 * error, and stays valid memory until it is returned. Any number of threads may borrow the same
 * handle.
 *
 * Rules, for all that is done on the handle:
 *   Calls    the asynchronous ones, zoo_a…, with a time limit of the program's own. A synchronous
 *            one can hang for ever when the session expires, and so can the wait for a completion:
 *            the client library loses some.
 *   Never    zookeeper_close, zoo_add_auth, zoo_set_watcher, zoo_set_context, zoo_set_servers,
 *            zoo_set_servers_resolution_delay, zoo_set_log_callback, zookeeper_interest,
 *            zookeeper_process. Nor may the program change nodes that Paddock makes, or watches on
 *            them.
 *   Thread   completions and watches run on a thread of the client library, which brings the
 *            answers that renew the lease: they must not wait. A call of Paddock that blocks
 *            answers PDK_WRONG_THREAD there.
 *   Paths    as the servers have them: the chroot of the session is not put before them.
 *   Watches  by zoo_aw…, with a function of the program's own. One context for all. They end with
 *            the handle, and are set again on the next.
 *   Size     1000 requests under way at most, and 900 kB of data and path in each. More than 1 MiB
 *            makes the server cut the connection, and holds are in danger. The limits of a session
 *            (session.h) count Paddock's own nodes and watches alone: leave room for yours.
 *   Multis   with two or more operations can end the process when the handle is over (a defect of
 *            the client library). Ask zoo_state right before; where that is not enough, send each
 *            operation alone.
 *
 * Ownership: a borrow has a reference to its session. Any thread may make every call below, also a
 * callback and a completion.
 */
#ifndef PADDOCK_BORROW_H
#define PADDOCK_BORROW_H

#include <paddock/session.h>
#include <stdbool.h>

PDK_BEGIN_DECLS

/* A handle that is borrowed: see above. pdk_session_borrow makes it, pdk_borrow_release ends it. */
typedef struct pdk_borrow pdk_borrow;

/* Borrow the handle of the present ZooKeeper session. Does not wait.
 *   closed  NULL, or called once with user when every borrow of the handle has ended and the handle
 *           is closed: none of its completions and watches can come any more, so their memory can
 *           be freed. It runs on a thread of the session, not under a lock, and must make no call
 *           of Paddock. One borrow of a handle with it is enough; each is kept until then.
 *   user    given to closed
 *
 *   PDK_OK           *out is the borrow, to be ended with pdk_borrow_release
 *   PDK_UNAVAILABLE  there is no ZooKeeper session now: before the first connection, and between an
 *                    expiry and PDK_SESSION_REOPENED
 *   Common           PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error closed is never called. */
PDK_API PDK_MUST_USE pdk_status pdk_session_borrow(pdk_session *session, void (*closed)(void *user),
                                                   void *user, pdk_borrow **out);

/* The handle: a zhandle_t * of <zookeeper/zookeeper.h>, valid until the borrow is returned. Does
 * not wait. NULL for NULL, and in the child of a fork. */
PDK_API void *pdk_borrow_handle(const pdk_borrow *borrow);

/* Is it still the handle of the session? Not when the ZooKeeper session has expired, was given up
 * or was closed: then return it soon. Does not wait. false for NULL, and in the child of a fork. */
PDK_API bool pdk_borrow_is_current(const pdk_borrow *borrow);

/* End a borrow; call it once. Does not wait. Completions of requests that are under way may come
 * later, and are lost when the handle is closed: `closed` of pdk_session_borrow tells when.
 *
 * pdk_session_close waits for every borrow to be returned, and answers PDK_TIMEOUT when that takes
 * too long. The ZooKeeper session ends with the last one. One that was given up goes on meanwhile,
 * if its servers come back: its nodes stay in their queues until the return. NULL is allowed. Does
 * nothing in the child of a fork. */
PDK_API void pdk_borrow_release(pdk_borrow *borrow);

PDK_END_DECLS

#endif

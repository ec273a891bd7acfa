/* SPDX-License-Identifier: Apache-2.0 */
/* The group: group membership and service discovery. Programs join it with data of their own, and
 * programs watch it.
 *
 *              join                     joined(hold)
 *     outside ──────► on its way ─────────────────────────► member
 *        ▲               ▲   lost(reason)                     │
 *        │               └───── lost: registers again ────────┘
 *        └────── leave, from any state; failed(status) when it cannot be a member
 *
 * A member has one znode, whatever requests and answers are lost. When its session ends, the
 * servers delete the znode, and the member registers again. There are two limits. A leader that is
 * deposed, and does not know it yet, may say that a session has ended, while the other servers keep
 * that session until its timeout. And a session that is given up, since no server takes it back or
 * since it may not delete its znode, ends when the servers hear of it, or at its timeout. For so
 * long the old znode stands beside the new one; the hold of the old one is lost by then. Membership
 * is a pdk_hold: a member that is cut off knows that its hold is not valid before others may see it
 * gone.
 *
 * A watcher is told the members as a view that never changes: all of them with their data, and the
 * differences from the view before. Views have numbers. An older state is never told after a newer
 * one.
 *
 * Ownership: members and views are reference counted. A member and a watcher have a reference to
 * their session. Any thread may make every call below. A callback may make every call that does not
 * block.
 *
 * Callbacks: joined, lost and failed of a member, and the function of a watcher.
 *   Thread  the session's own thread; with manual dispatch, the thread in pdk_session_dispatch or
 *           pdk_session_close. One at a time. A callback that is due is dropped by a
 *           pdk_session_close from a callback, and by one that answers PDK_TIMEOUT.
 *   Locks   none of the library's is held.
 *   Inside  every call that does not block is allowed: leave, stop and unref among them. A call
 *           that blocks answers PDK_WRONG_THREAD.
 */
#ifndef PADDOCK_GROUP_H
#define PADDOCK_GROUP_H

#include <paddock/answer.h>
#include <paddock/hold.h>
#include <paddock/session.h>

PDK_BEGIN_DECLS

/* The most data of a member, in bytes. */
#define PDK_GROUP_DATA_MAX 65536
/* The value of PDK_GROUP_DATA_MAX, for languages that cannot use the macro. Does not wait. */
PDK_API size_t pdk_group_data_max(void);

/* ---- members */

/* Our membership of a group: pdk_group_join makes it, pdk_member_unref gives it back. A program may
 * have several, of one group too. */
typedef struct pdk_member pdk_member;

/* The callbacks of a member. Fill with PDK_MEMBER_CALLBACKS_INIT, then set the ones that you need.
 * Any of them may be NULL, which is the default. For the thread, and for the calls that are allowed
 * inside, see "Callbacks" above.
 *
 * Last call: user_free tells when no callback of a member can come any more. */
typedef struct pdk_member_callbacks {
    /* sizeof(pdk_member_callbacks), in bytes. One of an older, smaller size is accepted. A newer,
     * larger one is accepted when everything unknown to this library is zero. */
    size_t size;
    /* We are a member: others see us, with our data. The hold is the member's, a new one each time,
     * and is valid memory during the call. Take a reference to keep it, and give that back with
     * pdk_hold_unref. Do not release the hold: pdk_member_leave ends a membership. */
    void (*joined)(pdk_hold *hold, void *user);
    /* We are no member any more; once for each `joined`. The reason is PDK_REASON_NONE when we
     * left. Otherwise it registers again, when this callback has returned and not before. */
    void (*lost)(pdk_reason reason, void *user);
    /* It cannot be a member any more: it has left. The program removes the cause and joins again.
     *   PDK_NO_PERMISSION  an access control list forbids to create the directory, to create a node
     *                      in it, or to list it where that is needed: after an answer was lost
     *   PDK_UNPROTECTED    strangers may change the directory: access.h, "Existing nodes"
     *   PDK_UNSUPPORTED    the server refuses the node: for example, the parent is ephemeral, or a
     *                      quota is used up
     *   PDK_LIMIT          one of these limits is crossed: 1000 KiB of node paths in the session;
     *                      100,000 children in the directory, where it has to be listed: after an
     *                      answer was lost
     *   PDK_EXHAUSTED      the directory's sequence numbers are used up
     *   PDK_REWOUND        the servers were wiped or restored: see pdk_session_token_seen
     *   PDK_CLOSED         the session was closed
     *   PDK_AUTH           the session ended, since the server refused the credentials */
    void (*failed)(pdk_status status, void *user);
    /* Given to each callback. */
    void *user;
    /* Called once with user when no callback can come any more. Default NULL: nothing is called. It
     * runs after the last callback on its thread. Otherwise it runs in the call that leaves, or
     * that gives back the last reference to the member; or, when a close of the session drops
     * callbacks, there. Never under a lock. It may make the same calls as a callback. On an error
     * of pdk_group_join it is not called. */
    void (*user_free)(void *user);
} pdk_member_callbacks;

#define PDK_MEMBER_CALLBACKS_INIT {sizeof(pdk_member_callbacks), NULL, NULL, NULL, NULL, NULL}

/* The same by a function, for languages that cannot use the macro. Does not wait.
 *   size  the sizeof of the caller
 *
 *   PDK_OK       callbacks has the defaults
 *   PDK_INVALID  callbacks is NULL, or no version has that size */
PDK_API pdk_status pdk_member_callbacks_init(pdk_member_callbacks *callbacks, size_t size);

/* Be a member of the group at path from now on, across lost sessions, until leave. Does not wait. A
 * callback may run before the call returns; the member is in *out by then.
 *   path       absolute, printable UTF-8, at most 512 bytes with the chroot. No empty, "." or ".."
 *              segment, and not "/". Without a chroot, not /zookeeper or below it. The directory is
 *              made if it is missing.
 *   data       the data that others see of the member: any bytes. NULL with a size of 0 is no data.
 *              Copied.
 *   size       of data, in bytes; at most PDK_GROUP_DATA_MAX
 *   callbacks  or NULL for none. The struct is copied.
 *
 *   PDK_OK     *out is the member, with one reference that pdk_member_unref gives back
 *   PDK_LIMIT  size is more than PDK_GROUP_DATA_MAX
 *   Common     PDK_INVALID, CLOSED, AUTH, FORKED */
PDK_API PDK_MUST_USE pdk_status pdk_group_join(pdk_session *session, const char *path,
                                               const void *data, size_t size,
                                               const pdk_member_callbacks *callbacks,
                                               pdk_member **out);
/* One more reference. Returns member; NULL is allowed. Does not wait. */
PDK_API pdk_member *pdk_member_ref(pdk_member *member);
/* Gives a reference back. The last unref leaves, as pdk_member_leave does. Does not wait. NULL is
 * allowed. Does nothing in the child of a fork. */
PDK_API void pdk_member_unref(pdk_member *member);

/* Wait until we are a member. Blocks, at most timeout_ms; 0 only looks. It does not depend on
 * callbacks being run. To register again after a loss it does: with manual dispatch go on
 * dispatching.
 *
 *   PDK_OK        we are a member. *out is the hold, with a reference to be given back with
 *                 pdk_hold_unref. It may be lost at any moment, as always.
 *   PDK_TIMEOUT   we were no member within timeout_ms
 *   PDK_NOT_HELD  it has left, or `failed` is due
 *   PDK_CANCELED  this thread was interrupted (interrupt.h); it goes on registering
 *   Common        PDK_INVALID, CLOSED, AUTH, FORKED, WRONG_THREAD */
PDK_API PDK_MUST_USE pdk_status pdk_member_wait(pdk_member *member, int64_t timeout_ms,
                                                pdk_hold **out);

/* Change the data of the member. Blocks, at most timeout_ms, also until it is registered. The write
 * is a compare-and-set on the last write of this member. Calls of several threads take turns. From
 * its turn on, every new registration has the new data, also when the call answers a failure; a
 * registration that is under way by then gets them as soon as its znode is there. A call that got
 * no turn changes nothing: it answers PDK_INVALID, PDK_LIMIT, PDK_WRONG_THREAD or PDK_FORKED; or
 * PDK_UNAVAILABLE, since another call was under way all the time, which pdk_last_error says then.
 *   data, size  as in pdk_group_join
 *
 *   PDK_OK             a quorum has written it
 *   PDK_REPLACED       somebody else has written the znode since. Their data stands, until the next
 *                      call or the next registration writes over it
 *   PDK_UNAVAILABLE    no server confirmed it within timeout_ms. It may be there, or come with the
 *                      next registration. Or another call was under way for timeout_ms: then this
 *                      one had no turn. Calling again is safe
 *   PDK_NO_PERMISSION  an access control list forbids to write the znode
 *   PDK_UNSUPPORTED    the server refuses the write: for example, a quota is used up
 *   PDK_LIMIT          size is more than PDK_GROUP_DATA_MAX
 *   PDK_NOT_HELD       it has left, or `failed` is due
 *   PDK_CANCELED       this thread was interrupted (interrupt.h) while it waited to be registered
 *   Common             PDK_INVALID, CLOSED, AUTH, FORKED, WRONG_THREAD */
PDK_API pdk_status pdk_member_set_data(pdk_member *member, const void *data, size_t size,
                                       int64_t timeout_ms);

/* The same, without waiting: the answer goes to fn, once, as a callback (answer.h). Any thread may
 * call it, also in a callback. Calls take turns in the order in which they are made, and new
 * registrations have the data from the turn on, as above. The call has a reference to the member
 * until its answer: so the last unref leaves after it.
 *
 *   PDK_OK     fn will be called, with PDK_OK, REPLACED, UNAVAILABLE, NO_PERMISSION, UNSUPPORTED,
 *              NOT_HELD, CLOSED or AUTH: for the reasons above
 *   PDK_LIMIT  size is more than PDK_GROUP_DATA_MAX
 *   Common     PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error fn is never called. */
PDK_API pdk_status pdk_member_set_data_async(pdk_member *member, const void *data, size_t size,
                                             int64_t timeout_ms, pdk_answered_fn fn, void *user);

/* Be a member no more. Never waits for the network, nor for a callback. After PDK_OK no `joined` or
 * `failed` starts. `lost` (PDK_REASON_NONE) still comes where it is due.
 *
 *   PDK_OK        it has left; the session deletes the znode
 *   PDK_NOT_HELD  it has left before
 *   Common        PDK_INVALID, FORKED */
PDK_API pdk_status pdk_member_leave(pdk_member *member);

/* ---- watchers */

/* One member, as a view shows it. Valid as long as the view. The library makes it; it may get more
 * fields at its end. */
typedef struct pdk_member_info {
    /* The name of the znode, without its directory. Another program may have made it: escape it
     * before it reaches a terminal. */
    const char *node;
    /* The czxid of the znode: the token of the member's hold. A member that has registered again
     * has another one. */
    int64_t token;
    /* The ZooKeeper session id of the member. */
    int64_t session;
    /* When the znode was created, in ms since 1970 by the server's clock. */
    int64_t since_ms;
    /* The zxid of the newest change of the znode: larger for newer data. */
    int64_t changed;
    /* The data, any bytes; not NULL, also with a size of 0. Another program wrote it. */
    const void *data;
    /* Of data, in bytes. */
    size_t size;
    /* PDK_OK; PDK_NO_PERMISSION: it may not be read, and only node is known; PDK_LIMIT: it has more
     * data than PDK_GROUP_DATA_MAX, and none of it is shown. */
    pdk_status status;
} pdk_member_info;

/* The members at one moment, oldest first. It never changes, and needs no session any more. */
typedef struct pdk_group_view pdk_group_view;

/* A view: the members of a group at one moment, its number, and the differences from the view
 * before. */

/* One more reference. Returns view; NULL is allowed. Any thread may call it; it does not wait. */
PDK_API pdk_group_view *pdk_group_view_ref(pdk_group_view *view);
/* Gives a reference back. The last one frees the view and all in it. NULL is allowed. Does not
 * wait. */
PDK_API void pdk_group_view_unref(pdk_group_view *view);
/* The number of the view: 1 for the first that a watcher tells, and one more for each that follows.
 * 0 for NULL. */
PDK_API uint64_t pdk_group_view_number(const pdk_group_view *view);
/* true: all of it stood at one moment. false: members change faster than they can be read, or the
 * session's 900 kB of watched paths do not suffice for all; each member is as it was at some moment
 * after the view before. false for NULL. */
PDK_API bool pdk_group_view_is_exact(const pdk_group_view *view);
/* The number of members. 0 for NULL. */
PDK_API size_t pdk_group_view_count(const pdk_group_view *view);
/* One member. index is from 0 to count - 1, oldest first. NULL for a larger index, or without a
 * view. */
PDK_API const pdk_member_info *pdk_group_view_member(const pdk_group_view *view, size_t index);
/* The number of differences from the view that was told before. In the first view each member is
 * one. 0 for NULL. */
PDK_API size_t pdk_group_view_changes(const pdk_group_view *view);
/* One difference. index is from 0 to changes - 1. Joined: *before is NULL. Left: *after is NULL.
 * Otherwise its data has changed. false, and nothing is written, for a larger index or a NULL. */
PDK_API bool pdk_group_view_change(const pdk_group_view *view, size_t index,
                                   const pdk_member_info **before, const pdk_member_info **after);

/* A watcher: pdk_group_watch makes it, pdk_group_watcher_close ends and frees it. */
typedef struct pdk_group_watcher pdk_group_watcher;

/* Tells a new view. It is valid memory during the call. Take a reference to keep it. For the
 * thread, and for the calls that are allowed inside, see "Callbacks" above; pdk_group_watcher_close
 * is allowed, too. */
typedef void (*pdk_group_fn)(pdk_group_view *view, void *user);

/* Hear of the members of the group at path, and of each change. Does not wait. The first view has
 * all members that had joined when the call was made; it may be empty. Changes that come while fn
 * runs, or faster than they can be read, are told in one view. A directory that does not exist is
 * an empty group, and is looked for every second. A watcher that may not list the directory tells
 * nothing; nor does one whose directory has more than 100,000 children. fn may be called before the
 * call returns; the watcher is in *out by then.
 *   path       as in pdk_group_join
 *   user_free  NULL, or called once with user after pdk_group_watcher_close, when fn can run no
 *              more. It runs in pdk_group_watcher_close; or, if fn runs then, after fn on its
 *              thread. Never under a lock. It may make the same calls as fn. A watcher that is
 *              never stopped never calls it.
 *
 *   PDK_OK  *out is the watcher, to be ended with pdk_group_watcher_close
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error user_free is not called. */
PDK_API pdk_status pdk_group_watch(pdk_session *session, const char *path, pdk_group_fn fn,
                                   void *user, void (*user_free)(void *user),
                                   pdk_group_watcher **out);
/* End a watcher, and free it. fn does not start after this has returned. Does not wait. Call it
 * once. NULL is allowed. Does nothing in the child of a fork. */
PDK_API void pdk_group_watcher_close(pdk_group_watcher *watcher);

PDK_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A session: one supervised ZooKeeper connection, shared by every recipe opened on it.
 *
 *     open ──► CONNECTED ──► SUSPENDED ──► RESTORED (connected again, lease proved by a quorum)
 *                  ▲             │
 *                  │             ▼
 *              REOPENED ◄──── EXPIRED                 CLOSED ends it, from any state
 *
 * The library reconnects by itself. It opens a new ZooKeeper session when the old one has expired.
 * It also does so when no server has taken the old one back for four session timeouts: servers that
 * lost their data never do. Then holds of the old session are lost. Claims queue again, with their
 * deadlines unchanged.
 *
 * Size: the nodes of a session have paths of 1000 KiB together (PDK_LIMIT): 10,000 locks at paths
 * of 39 bytes. The servers log them all when the session ends. With the default jute.maxbuffer,
 * 1 MiB, a server can read 1925 KiB there; with more it could not start again.
 *
 * Ownership: a session is reference counted. Every recipe object, claim, hold and observer has a
 * reference of its own. An open session ends with pdk_session_close, or when the last reference is
 * given back. Any thread may make every call below, except where its comment says otherwise.
 *
 * Descriptors: where 0, 1 or 2 is closed, pdk_session_open opens /dev/null there. It stays open,
 * also across an exec. Otherwise a socket of the session would get that number, and with it the
 * words that a program writes to its standard error. A program that closes one of the three later
 * puts something else there in the same step, by dup2. All other descriptors of the library are
 * above 2.
 *
 * Callbacks: a session runs all its callbacks one at a time: the two below, and the callbacks of
 * claims, holds, elections and observers.
 *   Order   LOST and a candidate's callbacks first (not `leader`), log lines last, the others in
 *           between; each of these kinds in the order in which they became due. So LOST waits for
 *           no more than the one callback that is running: keep them short, on_log too.
 *   Thread  PDK_DISPATCH_THREAD: a thread of the session's own. Callbacks on it have the signal
 *           mask that the thread in pdk_session_open had. So children that they make have an
 *           ordinary one, and the program's handlers may run there. Between callbacks it answers no
 *           signal. Block signals that no callback may see before you open the session.
 *           PDK_DISPATCH_MANUAL: the thread in pdk_session_dispatch or pdk_session_close.
 *   Locks   none of the library's is held.
 *   Inside  every call that does not block is allowed. A call that blocks answers PDK_WRONG_THREAD,
 *           whichever session it is about. pdk_session_close is allowed and does not wait.
 *   End     when pdk_session_close has returned PDK_OK outside of any callback, none runs and none
 *           can come any more. After PDK_TIMEOUT, and after a close from a callback, none starts,
 *           but one may still run. Close again outside of any callback to wait for it.
 */
#ifndef PADDOCK_SESSION_H
#define PADDOCK_SESSION_H

#include <paddock/access.h>
#include <paddock/answer.h>
#include <paddock/status.h>
#include <stddef.h>
#include <stdint.h>

PDK_BEGIN_DECLS

typedef struct pdk_session pdk_session;

/* A timeout that never passes. */
#define PDK_FOREVER ((int64_t)-1)
/* PDK_FOREVER, for languages that cannot use the macro. */
PDK_API int64_t pdk_forever(void);

/* Where callbacks run. */
typedef enum pdk_dispatch {
    PDK_DISPATCH_THREAD = 0, /* on a thread of the session's own */
    PDK_DISPATCH_MANUAL = 1, /* on the thread that calls pdk_session_dispatch */
} pdk_dispatch;

/* The events of a session: see the picture above. */
typedef enum pdk_session_event {
    PDK_SESSION_CONNECTED = 1, /* the first connection of the session */
    /* The connection is lost; time_left_ms of the lease remain. Told once until RESTORED or
     * EXPIRED, also when connections come and go in between. */
    PDK_SESSION_SUSPENDED = 2,
    PDK_SESSION_RESTORED = 3, /* a quorum write sent after the reconnect was acknowledged */
    PDK_SESSION_EXPIRED = 4,  /* the session has ended, or was given up; all its holds are lost */
    PDK_SESSION_REOPENED = 5, /* a new ZooKeeper session replaces the expired one */
    /* The last event. After it calls answer PDK_CLOSED, or PDK_AUTH when that ended the session. */
    PDK_SESSION_CLOSED = 6,
} pdk_session_event;

/* Tells an event of the session. For the thread, and for the calls that are allowed inside, see
 * "Callbacks" above.
 *   time_left_ms  how much of the lease remains, in ms; 0 when there is none
 *   user          on_event_user
 *
 * Last call: the one with PDK_SESSION_CLOSED. A close may drop it: see pdk_session_close. So user
 * can be freed when that call has returned, or when pdk_session_close has returned PDK_OK outside
 * of any callback. For a pdk_session_open that fails, see there.
 *
 * In every case on_event_user_free tells: it runs once, when the session is freed. That is in the
 * call that gives back the last reference to the session, which any object of it may have; or on a
 * thread of the session, when that ends later. Never under a lock. It must make no call about this
 * session. The same holds for on_log_user_free. */
typedef void (*pdk_session_event_fn)(pdk_session_event event, int64_t time_left_ms, void *user);

/* How important a line of the log is. */
typedef enum pdk_log_level {
    PDK_LOG_ERROR = 1,
    PDK_LOG_WARN = 2,
    PDK_LOG_INFO = 3,
    PDK_LOG_DEBUG = 4
} pdk_log_level;

/* Takes one line of the log. For the thread, and for the calls that are allowed inside, see
 * "Callbacks" above.
 *   text  valid during the call. It never contains credentials. It is one line of UTF-8 that acts
 *         on no terminal: a control or format character that others wrote is \u{HHHH}, and a byte
 *         that is no UTF-8 is \xHH.
 *   user  on_log_user
 *
 * When the callback is too slow, lines are dropped, and the number of dropped lines is logged. At
 * most 1000 lines wait. Of lines that are alike, a hundred are logged at once and then one a
 * second, which tells the number that was left out. No line of PDK_LOG_DEBUG is left out. A line of
 * the ZooKeeper client library goes to every session: an error that it repeats within a second is
 * PDK_LOG_DEBUG.
 *
 * Last call: lines can follow PDK_SESSION_CLOSED. So user can be freed when pdk_session_close has
 * returned PDK_OK outside of any callback, and not before; or in on_log_user_free. For a
 * pdk_session_open that fails, see there. */
typedef void (*pdk_log_fn)(pdk_log_level level, const char *text, void *user);

/* The options of a session. Fill with PDK_SESSION_OPTIONS_INIT, then change the options that you
 * need. A struct of an older, smaller size is accepted. A newer, larger one is accepted when
 * everything unknown to this library is zero. Strings are copied. */
typedef struct pdk_session_options {
    /* sizeof(pdk_session_options), in bytes. */
    size_t size;

    /* ---- time */

    /* The session timeout that is asked of the server, in ms. The server may clamp it. Default
     * 15000, 400 to 600000. Quorum writes have to renew the lease in time, also where answers take
     * 100 ms: so a session with less than 1994 ms is refused (PDK_UNSUPPORTED). With server_tick_ms
     * 200 that is 1316 ms, with 2000 it is 2846 ms. With two touch_hops it is 8207 ms, or 4631 ms
     * with server_tick_ms 2000. */
    int32_t session_timeout_ms;
    /* How long pdk_session_open waits for the first connection, in ms. Default 10000, 1 or more. */
    int32_t connect_timeout_ms;
    /* Bounds a try, pdk_hold_ensure, and the last deletes of a session that was dropped without a
     * close, in ms. Default 5000, 1 or more. */
    int32_t request_timeout_ms;
    /* The servers' tickTime, in ms. Default 0, 0 to 600000. 0 means half the negotiated timeout.
     * That is right unless a server's minSessionTimeout is below two ticks. */
    int32_t server_tick_ms;
    /* Default 1; 1 or 2. 2 when connected to an observer behind an observer master. */
    int32_t touch_hops;
    /* 1: pdk_session_open does not wait for a server, and connects in the background. Default 0; 0
     * or 1. See there. */
    int32_t open_in_background;

    /* ---- our identity */

    /* Appended to the identity that others see, host:pid[:label]. UTF-8, at most 64 bytes. Default
     * NULL: none. */
    const char *label;
    /* "user:password" for digest authentication, at most 1024 bytes, the user not empty. Default
     * NULL: none. Without TLS it goes over the wire in clear. With it, only this user may change
     * our nodes, and everybody who reaches the servers may read them. Without it everybody may do
     * both. The option access changes that. */
    const char *digest;
    /* A file with the value of digest, in one line: a regular file. It is read once, by
     * pdk_session_open. Default NULL. Not together with digest. */
    const char *digest_file;
    /* The certificate string of zookeeper_init_ssl, "ca,certificate,key,password". Default NULL: no
     * TLS. PDK_UNSUPPORTED where the client library was built without TLS. The client library
     * checks that the authority signed the server's certificate, and no host name: everybody with a
     * certificate of that authority can pose as a server. Use an authority of the servers' own. */
    const char *tls;
    /* A file with the value of tls, of at most 16 KiB. Default NULL. Not together with tls. The log
     * has a warning when others may read or write this file, or digest_file. */
    const char *tls_file;

    /* ---- access to our nodes */

    /* A pdk_access: the rights of others on the nodes that the session makes. Default
     * PDK_ACCESS_DEFAULT. PDK_ACCESS_CREATOR and PDK_ACCESS_CREATOR_READERS need digest or tls, or
     * a file of either. */
    int32_t access;
    /* 1: directories and records that exist are relied upon whatever their access control lists
     * say. Default 0; 0 or 1. See access.h, "Existing nodes". */
    int32_t accept_unprotected;
    /* The list, for PDK_ACCESS_LIST alone. Default NULL. Copied, with its strings. */
    const pdk_access_entry *access_list;
    /* The number of entries in access_list. Default 0; 1 to 100 with PDK_ACCESS_LIST. */
    int32_t access_count;

    /* ---- callbacks */

    /* A pdk_dispatch. Default PDK_DISPATCH_THREAD. */
    int32_t dispatch;
    /* Gets the events of the session. Default NULL: nobody does. */
    pdk_session_event_fn on_event;
    void *on_event_user;
    /* Called once with on_event_user, and with on_log_user, when no callback can come any more.
     * Default NULL: nothing is called. See pdk_session_event_fn. */
    void (*on_event_user_free)(void *user);
    /* Gets the lines of the log. Default NULL: nobody does. */
    pdk_log_fn on_log;
    void *on_log_user;
    void (*on_log_user_free)(void *user);
    /* The most talkative pdk_log_level that is passed to on_log. Default PDK_LOG_INFO;
     * PDK_LOG_ERROR to PDK_LOG_DEBUG. */
    int32_t log_level;

    /* ---- figures and tokens */

    /* How many paths have figures of their own, beside those of the session
     * (pdk_session_stats_path): the first that recipe objects are made for. Each takes 5 kB for as
     * long as the session lives. Default 0: none; 0 to 1000. */
    int32_t stats_paths;
    /* The generation that is put before every token: it is added to the number that the servers
     * give. After the servers were wiped, or restored from a backup, every session of every process
     * needs the same generation, from pdk_token_base_above: see there. Default 0, 0 to 2^62, a
     * multiple of 2^48. */
    int64_t token_base;
} pdk_session_options;

#define PDK_SESSION_OPTIONS_INIT                                                                   \
    {sizeof(pdk_session_options),                                                                  \
     15000,                                                                                        \
     10000,                                                                                        \
     5000,                                                                                         \
     0,                                                                                            \
     1,                                                                                            \
     0,                                                                                            \
     NULL,                                                                                         \
     NULL,                                                                                         \
     NULL,                                                                                         \
     NULL,                                                                                         \
     NULL,                                                                                         \
     PDK_ACCESS_DEFAULT,                                                                           \
     0,                                                                                            \
     NULL,                                                                                         \
     0,                                                                                            \
     PDK_DISPATCH_THREAD,                                                                          \
     NULL,                                                                                         \
     NULL,                                                                                         \
     NULL,                                                                                         \
     NULL,                                                                                         \
     NULL,                                                                                         \
     NULL,                                                                                         \
     PDK_LOG_INFO,                                                                                 \
     0,                                                                                            \
     0}

/* The same by a function, for languages that cannot use the macro. Does not wait.
 *   size  the sizeof of the caller
 *
 *   PDK_OK       options has the defaults
 *   PDK_INVALID  options is NULL, or no version has that size */
PDK_API pdk_status pdk_session_options_init(pdk_session_options *options, size_t size);

/* Open a session, and wait until a quorum has confirmed it. Blocks, at most connect_timeout_ms.
 *   hosts    "host:port,host:port…[/chroot]", at most 8192 bytes. IPv6: "[::1]:2181", also with a
 *            scope, "[fe80::1%eth0]:2181". The chroot is written once, behind the last server.
 *            Names are looked up here, and again and again: with a connection, every session
 *            timeout (5 s to 60 s); without one, every tenth of it (200 ms to 1 s), and after a
 *            session timeout every 5 s. The session takes other addresses, and keeps its holds. A
 *            name that is slow or not found holds up no other, and keeps its last addresses. The
 *            chroot follows the rules for a path; if it is missing, the first lock creates it, as a
 *            container, which the server removes when it is empty again.
 *   options  or NULL for the defaults
 *
 *   PDK_OK           *out is the session, with one reference. Give it back with pdk_session_close
 *                    and pdk_session_unref.
 *   PDK_UNAVAILABLE  no quorum confirmed the session within connect_timeout_ms, or no look-up of a
 *                    name was answered
 *   PDK_RESOLVE      no host name could be resolved: the text has one of them, and the reason
 *   PDK_UNSUPPORTED  tls or tls_file is set and the client library has no TLS; or the negotiated
 *                    session timeout is too short to keep a lease: the text names the setting; or
 *                    the server is no ZooKeeper, and lacks what is needed: the text names it. Once
 *                    a session was open, that is logged instead: a new ZooKeeper session is tried
 *                    again every second, and one that goes on with a shorter timeout keeps its
 *                    holds.
 *   PDK_SYSTEM       the system has no thread or descriptor left; or this is the child of a fork,
 *                    and has no allocator (paddock.h)
 *   PDK_INVALID      digest_file or tls_file cannot be read
 *   Common           PDK_INVALID, AUTH, WRONG_THREAD
 * With PDK_DISPATCH_THREAD callbacks may run before the return. On an error no callback starts
 * after the return, but one that started before may still run. on_event_user_free and
 * on_log_user_free tell when it has ended: they run on an error, too, at the return or later; but
 * not on PDK_INVALID and PDK_WRONG_THREAD, after which nothing runs at all.
 *
 * With open_in_background the call does not wait, and none of UNAVAILABLE, RESOLVE and AUTH comes
 * from it. The session looks for a server until it is closed, as after a lost connection. The log
 * says why there is none yet. PDK_SESSION_CONNECTED tells that one was found. Until then
 * acquisitions and candidates wait, each for its own time: a deadline that passes, or a try,
 * answers PDK_UNAVAILABLE. A server that refuses the credentials ends the session:
 * PDK_SESSION_CLOSED, and calls answer PDK_AUTH. */
PDK_API PDK_MUST_USE pdk_status pdk_session_open(const char *hosts,
                                                 const pdk_session_options *options,
                                                 pdk_session **out);

/* One more reference. Returns session; NULL is allowed. */
PDK_API pdk_session *pdk_session_ref(pdk_session *session);
/* Gives a reference back. The last unref of a session that was not closed closes it in the
 * background; on_event_user_free and on_log_user_free tell when its callbacks have ended. NULL is
 * allowed. Does nothing in the child of a fork.
 *
 * Manual dispatch: keep a reference as long as callbacks are wanted. Nobody can dispatch once all
 * of pdk_session_open and pdk_session_ref are given back. From then on the library drops the
 * callbacks that are due, and releases their results, on a thread of its own. So they keep no
 * session alive. */
PDK_API void pdk_session_unref(pdk_session *session);

/* End the session. Blocked calls and claims answer PDK_CLOSED, and holds are lost
 * (PDK_REASON_CLOSED). Pending deletes are flushed within the time, and callbacks that are due are
 * run. None starts after the return. The handle stays valid until its last unref. Blocks, at most
 * timeout_ms. With manual dispatch this call runs the callbacks that are due; no other thread may
 * dispatch then.
 *
 * From a callback, of this or another session, the call is allowed. It does not wait and answers
 * PDK_OK. It drops the callbacks that are due, PDK_SESSION_CLOSED among them. The rest happens in
 * the background.
 *
 * After a close that answered PDK_TIMEOUT, or that came from a callback, close again: the call
 * waits until all is over, and answers PDK_OK then, as for a session that is closed already. It
 * runs no callbacks. So PDK_OK always tells that user can be freed.
 *
 * The threads of a pdk_service are not the session's: see pdk_service_close.
 *   timeout_ms  0 or more, or PDK_FOREVER
 *
 *   PDK_OK       all is done: no callback runs, and none can come any more. From a callback: the
 *                session has ended, and no further callback starts.
 *   PDK_TIMEOUT  not all was done in time; or a node could not be deleted within one session
 *                timeout, however long timeout_ms is. The rest happens in the background. Callbacks
 *                that were still due are dropped; one that started before may still run. Nodes that
 *                could not be deleted go when the session expires.
 *   PDK_CLOSED   called from a callback, and pdk_session_close was called before: it changes
 *                nothing
 *   Common       PDK_INVALID, FORKED */
PDK_API pdk_status pdk_session_close(pdk_session *session, int64_t timeout_ms);

/* Wait until the server has confirmed every release so far. Blocks, at most timeout_ms. It waits
 * for every node that the session was deleting when it was called: of holds that were released, and
 * of claims that ended without a hold. A release that hands the lock over to another thread, or
 * that ends one of several holds of a grant, deletes no node. Nodes that linger (lock.h) are
 * deleted now, and waited for.
 *   timeout_ms  0 or more, or PDK_FOREVER
 *
 *   PDK_OK       all these nodes are deleted, or went with their ZooKeeper session
 *   PDK_TIMEOUT  some releases are unconfirmed; their deletes go on
 *   Common       PDK_INVALID, CLOSED, AUTH, FORKED, WRONG_THREAD */
PDK_API pdk_status pdk_session_flush(pdk_session *session, int64_t timeout_ms);

/* The same, without waiting: the answer goes to fn, once, as a callback (answer.h). Any thread may
 * call it, also in a callback.
 *
 *   PDK_OK  fn will be called, with a status above
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error fn is never called. */
PDK_API pdk_status pdk_session_flush_async(pdk_session *session, int64_t timeout_ms,
                                           pdk_answered_fn fn, void *user);

/* Manual dispatch: a descriptor that is readable while callbacks are due. Poll it; never read or
 * close it. After a close it stays readable, so that a loop hears of it: pdk_session_dispatch
 * answers PDK_CLOSED then, and it is time to stop polling. The session owns it until its last
 * unref. -1 for NULL, and for a session with a thread of its own. */
PDK_API int pdk_session_fd(const pdk_session *session);

/* Manual dispatch: run the callbacks that are due, one after the other, on this thread. Does not
 * wait. Call it from one thread at a time: while another thread runs a callback, the call runs
 * none.
 *   count  NULL, or gets the number of callbacks that were run, lines of the log included
 *
 *   PDK_OK            *count callbacks were run; 0 or more
 *   PDK_WRONG_THREAD  called from a callback of this session
 *   PDK_CLOSED        pdk_session_close has returned
 *   PDK_INVALID       session has a thread of its own
 *   Common            PDK_INVALID, FORKED */
PDK_API pdk_status pdk_session_dispatch(pdk_session *session, int *count);

/* The ZooKeeper session id, for logs and for the server's own tools. 0 while there is none, for
 * NULL, and in the child of a fork. Does not wait. */
PDK_API int64_t pdk_session_id(pdk_session *session);
/* The secret with which another process can end the ZooKeeper session in this one's stead, once
 * this one is dead: it connects with id and password, by ZooKeeper's own protocol, and asks for the
 * close. The nodes are gone at once then, and not when the session expires. Does not wait.
 *   id            the number of the ZooKeeper session, as pdk_session_id has it
 *   password      its 16 bytes. They are a secret: everybody who has both can end the session, or
 *                 take it over, and with it every hold. Wipe them (explicit_bzero) when they are
 *                 passed on
 *   servers       numeric addresses "address:port,…", no chroot; the server of the last connection
 *                 is first. With TLS they expect TLS
 *   servers_size  of that buffer, 1 or more. Addresses that do not fit are left out
 * Another ZooKeeper session has other ones: ask again at PDK_SESSION_CONNECTED and
 * PDK_SESSION_REOPENED. To end the session of a living process takes its holds away.
 *
 *   PDK_OK           all three are written
 *   PDK_UNAVAILABLE  there is no ZooKeeper session now: before the first connection, and between an
 *                    expiry and PDK_SESSION_REOPENED
 *   Common           PDK_INVALID, CLOSED, AUTH, FORKED */
PDK_API pdk_status pdk_session_secret(pdk_session *session, int64_t *id, unsigned char password[16],
                                      char *servers, size_t servers_size);
/* The negotiated session timeout in ms: the smallest of this ZooKeeper session. 0 before its first
 * connection, for NULL, and in the child of a fork. Does not wait. */
PDK_API int32_t pdk_session_timeout_ms(pdk_session *session);
/* The identity that others see of this session: "host:pid[:label]". The string lives as long as the
 * session. "" for NULL. */
PDK_API const char *pdk_session_identity(const pdk_session *session);

/* The highest token that this session has seen, its token_base included: of its own nodes and of
 * everything that it has read. It never gets smaller, also when a new ZooKeeper session follows. 0
 * before the first, for NULL, and in the child of a fork. Does not wait.
 *
 * Servers that were wiped, or restored from a backup, count from an earlier number. Then the new
 * ZooKeeper session grants no token that is not larger than all that this session has seen: such
 * claims answer PDK_REWOUND, and their nodes are deleted. One line of the log tells both numbers,
 * once for each ZooKeeper session. */
PDK_API int64_t pdk_session_token_seen(pdk_session *session);
/* The token_base for all sessions after the servers were wiped or restored: the next multiple of
 * 2^48 above `highest`, so every token that it is put before is larger.
 *   highest  the largest token that any resource has admitted, or any session has seen. 0 or more.
 *
 * 0 when highest is negative, or 2^62 or more: there is none. pdk_last_error tells. Any thread may
 * call it. */
PDK_API int64_t pdk_token_base_above(int64_t highest);

PDK_END_DECLS

#endif

/* A session: one supervised ZooKeeper connection, shared by every recipe opened on it.
 *
 *     open ──► CONNECTED ──► SUSPENDED ──► RESTORED (= connected again, lease proved by a quorum)
 *                  ▲             │
 *                  │             ▼
 *              REOPENED ◄──── EXPIRED                 CLOSED ends it, from any state
 *
 * The library reconnects by itself, and opens a new ZooKeeper session when the old one has expired, or when no server has
 * taken it back for four session timeouts, as servers that lost their data never do: holds of the old one are lost, claims
 * queue again with their deadlines unchanged.
 */
#ifndef PADDOCK_SESSION_H
#define PADDOCK_SESSION_H

#include <paddock/status.h>
#include <stddef.h>
#include <stdint.h>

PDK_BEGIN_DECLS

typedef struct pdk_session pdk_session;

/* A timeout that never passes. */
#define PDK_FOREVER ((int64_t)-1)

/* Where callbacks run. */
typedef enum pdk_dispatch {
    PDK_DISPATCH_THREAD = 0, /* on a thread of the session's own */
    PDK_DISPATCH_MANUAL = 1, /* on the thread that calls pdk_session_dispatch */
} pdk_dispatch;

typedef enum pdk_session_event {
    PDK_SESSION_CONNECTED = 1, /* the first connection of a ZooKeeper session */
    PDK_SESSION_SUSPENDED = 2, /* the connection is lost; time_left_ms of lease remain */
    PDK_SESSION_RESTORED = 3,  /* a quorum write sent after the reconnect was acknowledged */
    PDK_SESSION_EXPIRED = 4,   /* the session has ended, or was given up; every hold of it is lost */
    PDK_SESSION_REOPENED = 5,  /* a new ZooKeeper session took the place of the expired one */
    PDK_SESSION_CLOSED = 6,    /* no event follows; after it, calls answer PDK_CLOSED, or PDK_AUTH where that was why */
} pdk_session_event;

/* time_left_ms: what remains of the lease; 0 where there is none. Runs where callbacks run, never under a lock. */
typedef void (*pdk_session_event_fn)(pdk_session_event event, int64_t time_left_ms, void *user);

typedef enum pdk_log_level { PDK_LOG_ERROR = 1, PDK_LOG_WARN = 2, PDK_LOG_INFO = 3, PDK_LOG_DEBUG = 4 } pdk_log_level;

/* Runs where callbacks run. The text is valid during the call and never contains credentials. Lines are dropped, and
 * the number dropped is logged, when the reader is too slow. What the client library logs goes to every session. */
typedef void (*pdk_log_fn)(pdk_log_level level, const char *text, void *user);

/* Strings are copied. Fill with PDK_SESSION_OPTIONS_INIT, then change what you need. A struct of an older, smaller size
 * is accepted; a newer, larger one when all that is unknown to this library is zero. */
typedef struct pdk_session_options {
    size_t size;
    int32_t
        session_timeout_ms; /* asked of the server, which may clamp it; 400 to 600000. Below 2000 a hold is easily lost to
                                   a slow answer: the lease has to be renewed by quorum writes in time */
    int32_t connect_timeout_ms; /* how long pdk_session_open waits for the first connection; 1 or more */
    int32_t request_timeout_ms; /* bounds a try, and calls that name no timeout; 1 or more */
    int32_t server_tick_ms;     /* the servers' tickTime; 0: half the negotiated timeout, right unless a server's
                                   minSessionTimeout is below two ticks */
    int32_t touch_hops;         /* 1; 2 when connected to an observer behind an observer master */
    int32_t dispatch;           /* a pdk_dispatch */
    int32_t log_level;          /* the most talkative pdk_log_level passed to on_log */
    int32_t reserved;           /* 0 */
    const char *digest; /* "user:password" for digest authentication, or NULL. In clear on the wire without TLS */
    const char *label;  /* appended to the identity others see, host:pid[:label], or NULL; at most 64 bytes */
    const char *tls;    /* the certificate string of zookeeper_init_ssl, or NULL. PDK_UNSUPPORTED where the
                                   client library was built without TLS */
    const char *sasl_mechanism; /* NULL. Anything else is PDK_UNSUPPORTED in this version */
    pdk_session_event_fn on_event;
    void *on_event_user;
    pdk_log_fn on_log;
    void *on_log_user;
} pdk_session_options;

#define PDK_SESSION_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(pdk_session_options), 15000, 10000, 5000, 0, 1, PDK_DISPATCH_THREAD, PDK_LOG_INFO, 0, NULL, NULL, NULL, \
            NULL, NULL, NULL, NULL, NULL                                                                               \
    }

/* Open a session and wait until a quorum has confirmed it; blocks, at most connect_timeout_ms.
 *   hosts    "host:port,host:port…[/chroot]"; names are resolved here, at each re-open, and
 *            every few seconds while there is no connection. IPv6: "[::1]:2181".
 *            A chroot that is missing is created with the first lock.
 *   options  or NULL for the defaults.
 *   out      gets a reference, to be given back with pdk_session_close and pdk_session_unref.
 * INVALID (hosts, options), RESOLVE, UNAVAILABLE, AUTH, UNSUPPORTED (tls, sasl), SYSTEM. */
PDK_API pdk_status pdk_session_open(const char *hosts, const pdk_session_options *options, pdk_session **out);

/* The last unref of a session that was not closed closes it in the background. */
PDK_API pdk_session *pdk_session_ref(pdk_session *session);
PDK_API void pdk_session_unref(pdk_session *session);

/* End the session: blocked calls and claims answer CLOSED, holds are lost (CLOSED), pending deletes are flushed within
 * the time, callbacks that are due are run, and none starts after this returned. Blocks, at most timeout_ms; TIMEOUT says
 * that the rest happens in the background, and that what could not be deleted goes when the session expires.
 * With manual dispatch, what is due is dispatched by this call. From a callback, of this or another session, it is
 * allowed, does not wait, and drops what is still due. A second close answers CLOSED. The handle stays valid until its last unref. */
PDK_API pdk_status pdk_session_close(pdk_session *session, int64_t timeout_ms);

/* Wait until every release so far has been confirmed by the server. Blocks. TIMEOUT, CLOSED. */
PDK_API pdk_status pdk_session_flush(pdk_session *session, int64_t timeout_ms);

/* Manual dispatch: a descriptor that is readable while callbacks are due (owned by the session; poll it, never read it),
 * or -1 for a session that has a thread of its own. */
PDK_API int pdk_session_fd(const pdk_session *session);
/* Run the callbacks that are due, one after the other, on this thread; does not wait. The number run goes to *count if it
 * is not NULL. INVALID for a session with a thread of its own. At most one thread at a time. */
PDK_API pdk_status pdk_session_dispatch(pdk_session *session, int *count);

/* The ZooKeeper session id, for logs and for the server's own tools; 0 while there is none. */
PDK_API int64_t pdk_session_id(pdk_session *session);
/* The negotiated timeout in ms; 0 before the first connection. */
PDK_API int32_t pdk_session_timeout_ms(pdk_session *session);
/* What others see of this session: "host:pid[:label]"; lives as long as the session. */
PDK_API const char *pdk_session_identity(const pdk_session *session);

PDK_END_DECLS

#endif

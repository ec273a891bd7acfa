/* The session's inside. The driver is a monitor: every decision of a session is taken under `monitor`, on whichever thread
 * brings the event (caller, completion thread of the client library, timer). Nothing blocks and no user code runs under it.
 *
 *     caller ─────────┐                       ┌─► zk->submit            requests (ops.c)
 *     completions ────┼─► monitor: places,    ├─► outbox                callbacks due (dispatch.c)
 *     timer (tick) ───┘   lines, holds, lease ├─► conditions, eventfds  blocked callers, lost holds
 *                                             └─► connector             opens and closes handles (connect.c)
 */
#ifndef PDK_SESSION_SESSION_H
#define PDK_SESSION_SESSION_H

#include "core/lease.h"
#include "session/alarms.h"
#include "session/dispatch.h"
#include "session/platform.h"
#include "zk/hosts.h"

#include <glib.h>
#include <paddock/session.h>
#include <pthread.h>
#include <stdatomic.h>

/* A session that closes with more than this in its ephemeral paths can make every server unable to reload its log. */
#define PDK__EPHEMERAL_BYTES_MAX ((size_t)512 * 1024)
/* Past 1 MiB of watched paths the client library reconnects for ever. */
#define PDK__WATCHED_BYTES_MAX ((size_t)900 * 1000)

/* What others wrote about themselves is read so far, and no further written. */
#define PDK__IDENTITY_MAX 1024

enum pdk__link { PDK__LINK_NONE, PDK__LINK_OPENING, PDK__LINK_CONNECTED, PDK__LINK_SUSPENDED };

struct pdk_session {
    atomic_int refs;
    unsigned forks; /* of the process that opened it: see fork.h */
    const struct pdk__platform *platform;
    void *platform_data;
    pthread_mutex_t monitor;
    struct pdk__hosts *hosts;
    char *identity, *digest, *tls;
    char uuid_prefix[25]; /* how the UUIDs in the names of the ZooKeeper session's nodes begin */
    int64_t session_timeout_ms, connect_timeout_ms, request_timeout_ms;
    pdk_session_event_fn on_event;
    void *on_event_user;

    /* the connection: connect.c, supervise.c */
    enum pdk__link link;
    pdk__zk *zk;         /* the current handle, once it has spoken or its opening returned */
    char *servers;       /* numeric, that handle's */
    pdk__zk *retired;    /* to be closed by the connector */
    uint64_t generation; /* of handles: answers of older ones only free memory */
    int64_t id, open_after, connected_at;
    int64_t suspended_at;
    int64_t refresh_at; /* without a connection until then, look whether the servers have moved */
    bool ever_connected, restored;
    pdk_status ended;   /* PDK_OK while alive; CLOSED, AUTH, … : what calls answer */
    pdk_status trouble; /* why there is no connection, for pdk_session_open */
    char *trouble_text;
    bool finish, finished;  /* the connector is to close all for good; it has */
    int64_t flush_until;    /* how long it waits for deletes before */
    bool closing;           /* pdk_session_close was called */
    pthread_cond_t changed; /* of link, ended, finished, places: for those who wait for the session itself */

    /* the lease: renew.c */
    struct pdk__lease lease;
    struct pdk__alarm renewal, lease_over;
    int64_t last_proof; /* the newest that a quorum committed, or will */
    unsigned urgent;    /* callers in pdk_hold_ensure */

    GSequence *alarms;
    int64_t armed; /* what the world's timer was last asked for */

    GQueue entries;      /* every node that may exist, leaving ones included: place.c */
    GQueue queues;       /* every queue of claims: line.c */
    GQueue holds;        /* every hold that is neither lost nor released: hold.c */
    GQueue live_queries; /* whoever else has to look again after a reconnect: lookout.c */
    GHashTable *watches; /* path -> who waits: watches.c */
    size_t ephemeral_bytes, watched_bytes;
    uint64_t leaving_serial, marks; /* of places: how many have left, and have had a mark */
    GHashTable *marked;             /* those that are there, by the number in their mark */

    struct pdk__outbox outbox;
};

static inline void pdk__lock(pdk_session *s) { pthread_mutex_lock(&s->monitor); }
static inline void pdk__unlock(pdk_session *s) { pthread_mutex_unlock(&s->monitor); }
static inline int64_t pdk__now(const pdk_session *s) { return s->platform->now(); }

/* FORKED, or what ended the session, or PDK_OK. Under the monitor but for FORKED. */
pdk_status pdk__session_usable(pdk_session *s, const char *call);
/* INVALID for no session or a bad timeout, FORKED. */
pdk_status pdk__check_call(pdk_session *s, const char *call, int64_t timeout_ms);
/* The same, and WRONG_THREAD from a callback. */
pdk_status pdk__may_block(pdk_session *s, const char *call, int64_t timeout_ms);
/* The moment timeout_ms from now; INT64_MAX for PDK_FOREVER. */
int64_t pdk__deadline(pdk_session *s, int64_t timeout_ms);
/* Wait for a condition until a moment; false once that has passed. Under the monitor, which it gives up meanwhile. */
bool pdk__wait(pdk_session *s, pthread_cond_t *condition, int64_t until);
void pdk__cond_init(pthread_cond_t *condition);

/* --- supervise.c: the life of the connection, under the monitor unless it says otherwise */
extern const struct pdk__zk_sink pdk__session_sink;
/* Give up the current handle and begin anew: every hold is lost, every claim queues again. */
void pdk__session_reopen(pdk_session *s, const char *why);
/* The end, as CLOSED or AUTH: claims answered, holds lost, nodes handed to the reaper. */
void pdk__session_end(pdk_session *s, pdk_status status, const char *why);
void pdk__session_tell(pdk_session *s, pdk_session_event event);

/* --- connect.c: the connector's work, not under the monitor. Runs what is to be done; *wait_until says when there may be
 * more without a new call of world->work. True once the session is finished. */
bool pdk__connector_run(pdk_session *s, int64_t *wait_until);

/* --- renew.c */
void pdk__renew_init(pdk_session *s);
void pdk__renew_begin(pdk_session *s);     /* a new handle is being opened */
void pdk__renew_connected(pdk_session *s); /* prove the session at once */
void pdk__renew_soon(pdk_session *s);      /* something is held, or next in line: by T/10, or sooner */
void pdk__renew_now(pdk_session *s);       /* a barrier, now */
/* An answer to a request sent at `sent` arrived. */
void pdk__renew_answered(pdk_session *s, int64_t sent, bool committed);

/* --- open.c: begin a session in a world, without waiting for its first lease. Errors as pdk_session_open's. */
pdk_status pdk__session_begin(const char *hosts, const pdk_session_options *options,
                              const struct pdk__platform *platform, pdk_session **out);

/* --- threads.c: a thread of the library's: detached, with every signal blocked. false: none is to be had. */
bool pdk__thread_begin(void *(*main)(void *user), void *user);

/* --- close.c */
void pdk__session_free(pdk_session *s);

#endif

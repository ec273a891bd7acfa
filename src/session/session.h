/* The inside of a session. The driver is a monitor: a thread takes every decision of a session under its one mutex.
 * That thread brings the event: it is a caller, the client library's completion thread, or the timer. Nothing blocks
 * under the monitor, and no user code runs under it.
 *
 *     caller ─────────┐                       ┌─► zk->submit   requests (ops.c)
 *     completions ────┼─► monitor: entries,   ├─► outbox       callbacks that are due (dispatch.c)
 *     timer (tick) ───┘   watches, lease      ├─► waiters      blocked callers (monitor.c)
 *                                             ├─► listener     the grants that stand on the session (listener.h)
 *                                             └─► connector    opens and closes handles (connect.c)
 *
 * This header declares the struct alone. Each other header of the folder declares what the file of its name does.
 */
#ifndef PDK_SESSION_SESSION_H
#define PDK_SESSION_SESSION_H

#include "core/lease.h"
#include "session/alarms.h"
#include "session/dispatch.h"
#include "session/listener.h"
#include "session/monitor.h"
#include "session/platform.h"
#include "zk/hosts.h"

#include <glib.h>
#include <paddock/session.h>
#include <pthread.h>
#include <stdatomic.h>

/* With more than this in its ephemeral paths, the end of a session can make every server unable to reload its log. */
#define PDK__EPHEMERAL_BYTES_MAX ((size_t)512 * 1024)
/* Beyond 1 MiB of watched paths the client library reconnects for ever. */
#define PDK__WATCHED_BYTES_MAX ((size_t)900 * 1000)

/* The longest identity of a contender, in bytes, that is read or written. */
#define PDK__IDENTITY_MAX 1024

enum pdk__link { PDK__LINK_NONE, PDK__LINK_OPENING, PDK__LINK_CONNECTED, PDK__LINK_SUSPENDED };

struct pdk_session {
    atomic_int refs;
    unsigned forks; /* of the process that opened it: see base/fork.h */
    const struct pdk__platform *platform;
    void *platform_data;
    struct pdk__monitor monitor;
    struct pdk__hosts *hosts;
    char *identity, *digest, *tls;
    char uuid_prefix[25]; /* how the UUIDs in the ZooKeeper session's node names begin */
    int64_t session_timeout_ms, connect_timeout_ms, request_timeout_ms;
    pdk_session_event_fn on_event;
    void *on_event_user;

    /* the connection: connect.c, supervise.c */
    enum pdk__link link;
    pdk__zk *zk;         /* the current handle, from its first report, or the end of its opening, on */
    char *servers;       /* of that handle, numeric */
    pdk__zk *retired;    /* the connector has to close it */
    uint64_t generation; /* counts handles: an answer of an older one only frees memory */
    int64_t id, open_after, connected_at;
    int64_t suspended_at;
    int64_t refresh_at; /* without a connection until then, the connector looks whether the servers have moved */
    bool ever_connected, restored;
    pdk_status ended;   /* PDK_OK while alive; afterwards the answer of every call: CLOSED, AUTH … */
    pdk_status trouble; /* why there is no connection, for pdk_session_open */
    char *trouble_text;
    bool finish, finished; /* the connector has to close everything for good; it has done so */
    int64_t flush_until;   /* the connector waits for deletes until then, before it finishes */
    bool closing;          /* pdk_session_close was called */

    /* the threads that wait for the session itself */
    struct pdk__waiters on_link;    /* for a connection, or the first lease */
    struct pdk__waiters on_entries; /* for entries to leave */
    struct pdk__waiters on_finish;  /* for the connector to finish, and for the threads to end */

    /* the lease: renew.c */
    struct pdk__lease lease;
    struct pdk__alarm renewal, lease_over;
    int64_t last_proof; /* the sending time of the newest request that a quorum has committed, or will */
    unsigned urgent;    /* callers that wait for a longer lease */

    GSequence *alarms;
    int64_t armed; /* the moment that the platform's timer was last set to */

    struct pdk__listener *listener; /* the grants on the session; NULL: none yet */
    GQueue entries;                 /* every node that may exist, also those that leave: entry.c */
    GQueue live_queries;            /* live_query.c */
    GHashTable *watches;            /* path -> its watchers: watches.c */
    size_t ephemeral_bytes, watched_bytes;
    uint64_t leaving_serial, marks; /* how many entries have begun to leave; how many were given a mark */
    GHashTable *marked;             /* the entries that exist, by the number in their mark */

    struct pdk__outbox outbox;
};

static inline void pdk__lock(pdk_session *s) { pdk__monitor_enter(&s->monitor); }
static inline void pdk__unlock(pdk_session *s) { pdk__monitor_leave(&s->monitor); }
static inline int64_t pdk__now(const pdk_session *s) { return s->platform->now(); }

/* Every function that says "under the monitor" asserts it. */
#define pdk__assert_locked(s) assert(pdk__monitor_is_mine(&(s)->monitor))

#endif

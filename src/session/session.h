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
 * This header declares the struct alone. Each other header of the folder belongs to the file of its name.
 */
#ifndef PDK_SESSION_SESSION_H
#define PDK_SESSION_SESSION_H

#include "base/fork.h"
#include "core/lease.h"
#include "core/pace.h"
#include "session/access.h"
#include "session/alarms.h"
#include "session/credentials.h"
#include "session/dispatch.h"
#include "session/listener.h"
#include "session/monitor.h"
#include "session/platform.h"
#include "session/silence.h"
#include "session/stats.h"
#include "session/window.h"
#include "zk/hosts.h"

#include <glib.h>
#include <paddock/session.h>
#include <pthread.h>
#include <stdatomic.h>

/* The transaction that ends a session lists its ephemeral paths. A server that finds too many of them there cannot
 * reload its log: with the default jute.maxbuffer (1 MiB), more than 1925 KiB. */
#define PDK__EPHEMERAL_BYTES_MAX ((size_t)1000 * 1024)
/* Beyond 1 MiB of watched paths the client library reconnects for ever. */
#define PDK__WATCHED_BYTES_MAX ((size_t)900 * 1000)

/* The longest identity of a contender, in bytes, that is read or written. */
#define PDK__IDENTITY_MAX 1024

/* The user's function that is called when no callback can come any more. free: or NULL. */
struct pdk__user_free {
    void (*free)(void *user);
    void *user;
};

enum pdk__link { PDK__LINK_NONE, PDK__LINK_OPENING, PDK__LINK_CONNECTED, PDK__LINK_SUSPENDED };

struct pdk_session {
    atomic_int refs;    /* all references */
    atomic_int handles; /* references by pdk_session_open and pdk_session_ref: their owners can dispatch */
    unsigned forks;     /* of the process that opened it: see base/fork.h */
    const struct pdk__platform *platform;
    void *platform_data;
    struct pdk__monitor monitor;
    struct pdk__hosts *hosts;
    char *identity;
    struct pdk__credentials credentials;
    struct pdk__access access;
    char uuid_prefix[25]; /* how the UUIDs in the ZooKeeper session's node names begin */
    int64_t session_timeout_ms, connect_timeout_ms, request_timeout_ms;
    bool open_in_background;
    pdk_session_event_fn on_event;
    void *on_event_user;
    struct pdk__user_free event_free, log_free;

    /* the connection: connect.c, supervise.c */
    enum pdk__link link;
    pdk__zk *zk;    /* the current handle, from its first report, or the end of its opening, on */
    char *servers;  /* of that handle, numeric */
    GQueue retired; /* handles that the connector has to close */
    GQueue borrows; /* every pdk_borrow, a returned one until its handle is closed: borrow.c */
    /* Counts handles: an answer of an older one only frees memory. It is read without the monitor, too. */
    _Atomic uint64_t generation;
    int64_t id, open_after, connected_at;
    struct pdk__pace reopenings, repetitions; /* of sessions; of the word that it is connected */
    int64_t suspended_at;
    struct pdk__names *names;
    bool opens;             /* they are looked up for a new handle */
    int64_t look_at;        /* when the names are looked up next */
    int64_t looked_at;      /* when they were looked up last */
    int64_t hear_at;        /* when the connector looks for found addresses; INT64_MAX: nothing is awaited */
    int64_t away_since;     /* there has been no connection since then, or an attempt at a new session began */
    char *names_trouble;    /* the last message about a name that is not found, or NULL */
    int64_t malformed_told; /* when the log last told of an answer that is not well-formed */
    bool ever_connected, restored;
    pdk_status ended;   /* PDK_OK while alive; afterwards the answer of every call: CLOSED, AUTH … */
    pdk_status trouble; /* why there is no connection, for pdk_session_open */
    char *trouble_text;
    bool finish, finished; /* the connector has to close everything for good; it has done so */
    int64_t flush_until;   /* the connector waits for deletes until then, before it finishes */
    bool closing;          /* pdk_session_close was called */

    /* tokens: tokens.c */
    int64_t token_base;
    int64_t token_seen;  /* the highest; with the base, as all tokens below it */
    int64_t token_least; /* the smallest that this ZooKeeper session may be granted */
    bool token_told;     /* in this ZooKeeper session: that the servers went back */

    /* the threads that wait for the session itself */
    struct pdk__waiters on_link;    /* for a connection, or the first lease */
    struct pdk__waiters on_entries; /* for entries to leave */
    struct pdk__waiters on_finish;  /* for the connector to finish, and for the threads to end */

    /* the lease: renew.c */
    struct pdk__lease lease;
    _Atomic int64_t lease_end; /* for threads without the monitor; 0: there is none, or the session has ended */
    unsigned lease_users;      /* users of the lease, beside the entries in `renewing` */
    struct pdk__alarm renewal, lease_over;
    int64_t last_proof; /* the sending time of the newest request that a quorum has committed, or will */
    uint64_t requests;  /* how many were handed over; each has its number */
    uint64_t barrier;   /* the number of the newest barrier on this connection; 0: none, or it has failed */
    uint64_t proven;    /* the number of the newest barrier that a quorum has committed */
    bool asked;         /* a barrier is wanted as soon as one proves more than the last */
    struct pdk__silence silence;
    unsigned urgent; /* callers that wait for a longer lease */

    struct pdk__window window; /* window.h */
    struct {
        GHashTable *directories; /* by path: the lists that are wanted, and in flight */
        GQueue ready;
        struct pdk__alarm retry;
    } lists; /* lists.c */
    struct {
        GQueue entries; /* the waiting entries, in the order in which they ask */
        struct pdk__alarm alarm;
        int64_t at;       /* when the newest question was sent */
        char *path;       /* the node that it was about */
        GHashTable *gone; /* by directory: the names that the leader has said to be gone */
        guint gone_count; /* of these names */
    } predecessors;       /* predecessors.c */
    struct {
        GHashTable *looks;         /* by path: the lists that were looked at */
        struct pdk__acl own;       /* the session's identities, as the server writes them */
        bool own_asked, own_known; /* asked: its answer is awaited */
    } protection;                  /* protect.c */
    struct pdk__unowned *unowned;
    struct {
        GHashTable *directories;  /* by path */
        GQueue used;              /* the same, the one that was used last first */
        size_t nodes;             /* the room of all of them */
        uint64_t enqueued, shown; /* how often they stood for a list: behind a create; that was due */
    } mirrors;                    /* mirrors.c */

    GQueue chores; /* chores.c */
    struct pdk__alarm chores_alarm;

    GSequence *alarms;
    int64_t armed; /* the moment that the platform's timer was last set to */

    struct pdk__listener *listener; /* the grants on the session; NULL: none yet */
    GQueue entries;                 /* every node that may exist, also one that leaves: entry.c */
    GQueue live_queries;            /* live_query.c */
    GHashTable *watches;            /* path -> its watchers: watches.c */
    uint64_t watches_set;           /* how often all watches may have been set again */
    size_t ephemeral_bytes, watched_bytes;
    uint64_t leaving_serial, marks; /* how many entries have begun to leave; how many were given a mark */
    GHashTable *marked;             /* the entries that exist, by the number in their mark */
    GHashTable *found;              /* the entries that the reaper made, by the names of their nodes */
    GHashTable *searched;           /* the directories without an orphan, on this connection: reap.c */
    GQueue renewing;                /* the entries that need the lease: entries.c */
    GQueue leaving;                 /* the entries that leave, in the order in which they began */

    struct pdk__outbox outbox;
    struct pdk__stats stats; /* stats.h */
};

static inline void pdk__lock(pdk_session *s) { pdk__monitor_enter(&s->monitor); }
/* For a thread of the library that brings one event after the other. */
static inline void pdk__lock_again(pdk_session *s) { pdk__monitor_enter_as(&s->monitor, PDK__LIBRARYS_WEIGHT); }
static inline void pdk__unlock(pdk_session *s) { pdk__monitor_leave(&s->monitor); }
static inline int64_t pdk__now(const pdk_session *s) { return s->platform->now(); }

/* Was this process forked since? Then it must not touch the session's locks. */
static inline bool pdk__is_forked(const pdk_session *s) { return s->forks != pdk__forks(); }

/* Every function that says "under the monitor" asserts it. */
#define pdk__assert_locked(s) assert(pdk__monitor_is_mine(&(s)->monitor))

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a session, for monitoring: its counts since it was opened, and its state now.
 *
 *     counters    only grow: claims, losses, renewals, reconnects …
 *     histograms  of times: how long claims waited, how long holds lasted, how long renewals took
 *     gauges      as of the call: claims that wait, the lease that is left, bytes against limits …
 *     extremes    since the last pdk_session_stats_reset: the shortest lease, the longest delay
 *
 * A reading copies them. It allocates nothing, and asks no server. The session counts all the time,
 * at a few nanoseconds for each acquisition.
 *
 * Times are in microseconds here, other than in the rest of the library: a hand-over takes a few. A
 * session that is opened with stats_paths has the figures of claims and holds for each path, too.
 *
 * docs/operations.md says which figures to watch, and when to alert.
 *
 * Ownership: the caller has the struct, or the buffer. Any thread may make every call, also in a
 * callback.
 */
#ifndef PADDOCK_STATS_H
#define PADDOCK_STATS_H

#include <paddock/session.h>
#include <paddock/status.h>
#include <stddef.h>
#include <stdint.h>

PDK_BEGIN_DECLS

/* How many buckets a histogram has. */
#define PDK_HISTOGRAM_BUCKETS 160

/* Times, in buckets of a logarithmic scale. Four buckets double the time, and their bounds are
 * evenly apart: 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20 µs and so on. Bucket i holds the times
 * above the bound of bucket i - 1, up to its own bound, which pdk_histogram_bound_us tells. The
 * last bucket begins at 22 days, and holds all that is longer. A time is rounded up to a whole
 * microsecond.
 *
 * This struct never grows. All zero is a histogram of nothing. */
typedef struct pdk_histogram {
    uint64_t count;  /* how many times were counted: the sum of all buckets */
    uint64_t sum_us; /* all of them together */
    uint64_t max_us; /* the longest; 0: none was counted */
    uint64_t buckets[PDK_HISTOGRAM_BUCKETS];
} pdk_histogram;

/* A time that at least the given part of all counted times does not exceed, in µs. It is the bound
 * of a bucket, and never more than max_us. So it is exact for 1.0, and up to 8 µs. Above that it is
 * at most a quarter above the true one.
 *   quantile  0.5 for the median, 0.99 for the 99th percentile, 1.0 for the longest. A smaller
 *             number than 0 counts as 0, a larger one than 1, or none (NaN), as 1.
 *
 * 0 for NULL, and when nothing was counted. Any thread may call it; the struct is the caller's. */
PDK_API uint64_t pdk_histogram_quantile_us(const pdk_histogram *histogram, double quantile);
/* The largest time of a bucket, in µs. UINT64_MAX for the last bucket, which has no bound, and for
 * an index beyond it. */
PDK_API uint64_t pdk_histogram_bound_us(size_t bucket);
/* PDK_HISTOGRAM_BUCKETS, for languages that cannot use the macro. */
PDK_API size_t pdk_histogram_buckets(void);

/* The figures of a session. Fill with PDK_STATS_INIT before the first reading. A reading leaves
 * `size` as it is. A struct of an older, smaller size gets the figures that it has room for. In a
 * newer, larger one everything unknown to this library turns 0.
 *
 * Counters never get smaller, also when a new ZooKeeper session follows, or the session is
 * closed. */
typedef struct pdk_stats {
    /* sizeof(pdk_stats), in bytes. */
    size_t size;

    /* Claims in the queues of this session, and how they were decided: of locks, read/write locks,
     * semaphores, candidates and members of groups alike. A thread that takes a lock again that it
     * holds makes none. Of a set of rights (set.h) each part is a claim, and a hold, of its own. */
    uint64_t claims_waiting;
    uint64_t claims_granted;     /* PDK_OK */
    uint64_t claims_busy;        /* PDK_BUSY: a try, and somebody was ahead */
    uint64_t claims_timed_out;   /* PDK_TIMEOUT: the deadline passed while in line */
    uint64_t claims_unavailable; /* PDK_UNAVAILABLE: no server confirmed a place in line in time */
    uint64_t claims_cancelled;   /* PDK_CANCELED */
    uint64_t claims_failed;      /* any other status: CLOSED, LIMIT, NO_PERMISSION, REWOUND … */
    /* Of those granted: the lease was over before the caller had the hold. The claim queued again,
     * or its time was over. */
    uint64_t grants_lapsed;
    /* How long the granted claims waited: from the call to the grant. */
    pdk_histogram wait_time;

    /* Holds that are neither released nor lost. Several of one grant (nested ones) count each. */
    uint64_t holds;
    /* How long holds lasted that have ended: from the grant to the release, or to the loss. */
    pdk_histogram hold_time;
    /* Grants that a thread of this process gave to the next one without a round trip. None of a
     * semaphore: the servers give its permits. */
    uint64_t handovers;
    /* Holds that were lost, by pdk_reason. */
    uint64_t lost_expired;
    uint64_t lost_lease;
    uint64_t lost_node_gone;
    uint64_t lost_closed;

    /* The negotiated session timeout; 0 before the first connection. */
    uint64_t session_timeout_us;
    /* The rest of the lease; 0 when it is over, or there is none. */
    uint64_t lease_us;
    /* The least that was left of it while the session had a hold: so near was a loss. It is looked
     * at with each answer of a server, at the end of each hold, and in this call. An extreme. -1:
     * nothing was held since the last reset. */
    int64_t lease_least_us;
    /* Writes to renew the lease, or to ask the leader, that were handed over; and the writes that a
     * quorum has committed. A busy session sends few: its other writes renew the lease, too. */
    uint64_t renewals_sent;
    uint64_t renewals_answered;
    /* How long the answered renewals took. */
    pdk_histogram renewal_time;

    /* 1 while there is a connection, else 0. */
    uint64_t connected;
    /* Connections of the same ZooKeeper session after its first one. */
    uint64_t reconnects;
    /* Servers that the session left early: one committed nothing; one answered no handshake. */
    uint64_t server_leaves;
    uint64_t server_hurries;
    /* ZooKeeper sessions that have ended, or were given up, with all that was held in them; and
     * ZooKeeper sessions that followed one. */
    uint64_t sessions_lost;
    uint64_t reopens;

    /* Nodes that are to be deleted, and whose deletion no server has confirmed yet. */
    uint64_t deletes_pending;
    /* The paths of the session's nodes together, and the paths that it watches, and the most that
     * there may be of each before a claim answers PDK_LIMIT. In bytes. */
    uint64_t ephemeral_bytes;
    uint64_t ephemeral_bytes_max;
    uint64_t watched_bytes;
    uint64_t watched_bytes_max;

    /* Callbacks that are due and have not begun, lines of the log not among them. */
    uint64_t callbacks_queued;
    /* The longest time between the moment when a callback was due and its beginning, or now if it
     * has not begun. An extreme. */
    uint64_t callback_delay_us;
    /* Lines of the log that were not passed to on_log, since it was too slow, or many were
     * alike. */
    uint64_t log_lines_dropped;

    /* Holds that were lost as PDK_REASON_OVERDUE. */
    uint64_t lost_overdue;

    /* Answers, events and handshakes of servers that were not well-formed. Nothing came of them;
     * the log has one line a second at most. Not 0: the other end is no ZooKeeper, or something on
     * the way changes ZooKeeper's answers. */
    uint64_t answers_malformed;
} pdk_stats;

/* An empty pdk_stats of this version. */
#ifdef __cplusplus
#define PDK_STATS_INIT                                                                             \
    [] {                                                                                           \
        pdk_stats pdk_empty_{};                                                                    \
        pdk_empty_.size = sizeof pdk_empty_;                                                       \
        return pdk_empty_;                                                                         \
    }()
#else
#define PDK_STATS_INIT {.size = sizeof(pdk_stats)}
#endif

/* The same by a function, for languages that cannot use the macro. Does not wait.
 *   size  the sizeof of the caller
 *
 *   PDK_OK       stats is empty, and has that size
 *   PDK_INVALID  stats is NULL, or no version has that size */
PDK_API pdk_status pdk_stats_init(pdk_stats *stats, size_t size);

/* Read the figures of a session. Does not wait for a server, and allocates nothing. A session that
 * is closed has figures, too. Any thread, also in a callback.
 *   stats  begun with PDK_STATS_INIT or pdk_stats_init. The caller has it.
 *
 *   PDK_OK       *stats has the figures
 *   PDK_INVALID  no version has that stats->size
 *   Common       PDK_INVALID, FORKED */
PDK_API pdk_status pdk_session_stats(pdk_session *session, pdk_stats *stats);

/* How many paths have figures of their own. 0 unless the session was opened with stats_paths. Then
 * each path that a recipe object of the session was made for has figures, one set for each recipe
 * there: a read/write lock has two, `rwlock_read` and `rwlock_write`. The paths beyond stats_paths
 * share one set for each recipe, whose path is "". The number never gets smaller, and neither do
 * the counters. Any thread, also in a callback; the strings are the session's. 0 for NULL, and for
 * a session of the parent process. */
PDK_API size_t pdk_session_stats_paths(pdk_session *session);

/* Read the figures of one path: its claims, holds and losses, their times and hand-overs. All else
 * in the struct turns 0, as it is the session's. Does not wait for a server, and allocates nothing.
 * Any thread, also in a callback.
 *   index   from 0; a path keeps its own
 *   stats   begun with PDK_STATS_INIT or pdk_stats_init. The caller has it.
 *   recipe  gets `lock`, `rwlock_read`, `rwlock_write`, `semaphore`, `election`, `group`, `job` or
 *           `lease_lock` or `striped`; or NULL
 *   path    gets the directory in which the claims queue: with the chroot, and of a semaphore with
 *           /locks at its end. "" stands for all paths of the recipe that have no figures of their
 *           own. NULL is allowed.
 *
 * The strings are the session's, and valid for as long as the caller has a reference to it.
 *
 *   PDK_OK       *stats has the figures
 *   PDK_INVALID  no version has that stats->size; or index is not below pdk_session_stats_paths
 *   Common       PDK_INVALID, FORKED */
PDK_API pdk_status pdk_session_stats_path(pdk_session *session, size_t index, pdk_stats *stats,
                                          const char **recipe, const char **path);

/* Let the extremes begin again: lease_least_us and callback_delay_us. The counters, the histograms
 * and their max_us go on. A reading does not reset, so that several can read. Let one of them
 * reset. Any thread, also in a callback.
 *
 *   PDK_OK  they begin with this moment
 *   Common  PDK_INVALID, FORKED */
PDK_API pdk_status pdk_session_stats_reset(pdk_session *session);

/* The figures of a session as text for a scraper: OpenMetrics 1.0, which Prometheus reads, from the
 * first family to "# EOF". Serve it with the content type "application/openmetrics-text;
 * version=1.0.0; charset=utf-8". The names are those of docs/operations.md, and stay. The text has
 * no label of the session: a process with several serves them at several places. Allocates nothing.
 * Any thread, also in a callback.
 *   buffer  gets the text and a NUL. The caller has it. NULL is allowed when size is 0.
 *   size    of the buffer, in bytes
 *   length  gets the length of the whole text, without the NUL. It changes with the figures, by a
 *           few bytes from call to call, and is never above 16000 unless the session has
 *           stats_paths. Each of those adds about 6000 bytes, and its path 60 times.
 *
 *   PDK_OK     buffer has the text; or size is 0, and *length tells the room that it takes
 *   PDK_LIMIT  *length is size or more: buffer has "", since half a text would be another one
 *   Common     PDK_INVALID, FORKED */
PDK_API pdk_status pdk_session_stats_text(pdk_session *session, char *buffer, size_t size,
                                          size_t *length);

PDK_END_DECLS

#endif

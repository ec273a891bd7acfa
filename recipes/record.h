/* A record: a persistent znode that is changed by compare-and-set, by who holds the lock beside it.
 *
 *     /jobs/backup
 *        ├─ lock       the queue of a lock (recipes/lock.c)
 *        └─ record     read, and written naming the version that was read
 *
 *     look: GET the record, STAT the own lock node (together: one round trip) ──► edit ──► SET, naming the version
 *       ▲                                                                                    │ another version, or no answer
 *       └────────────────────────────────────────────────────────────────────────────────────┘
 *
 * An edit decides by what it sees alone. So a write whose answer was lost is found by the next look, and nothing else has to be
 * remembered. A look may be stale; the version that the write names tells.
 *
 * The own lock node is a write of ours: when it was made, by the servers' clock, is a moment that is not later than now.
 */
#ifndef PDK_RECORD_H
#define PDK_RECORD_H

#include "grant/hold.h"

struct pdk__record_seen {
    const char *data;
    size_t size;
    int64_t mtime_ms; /* when the record was written */
    int64_t now_ms;   /* when our lock node was made */
};

/* OK: *next, from an empty one, is written, unless it stays NULL. Another status ends the call. Under the monitor. */
typedef pdk_status (*pdk__record_edit_fn)(void *user, const struct pdk__record_seen *seen, GBytes **next);

struct pdk__record_call {
    const char *name; /* of the public call */
    const char *path; /* of the record, chroot included */
    pdk_hold *hold;   /* of the lock */
    int64_t deadline;
    pdk__record_edit_fn edit;
    void *user;
    bool ends;      /* what is written counts though the hold has ended meanwhile: nothing begins with it */
    int64_t handed; /* 0, then the moment at which the first write was handed over */
};

/* Change the record. Blocks. Not under the monitor. OK: the hold was valid after the last answer, unless `ends`.
 * LOST, NOT_HELD, UNAVAILABLE, NO_PERMISSION, UNPROTECTED, UNSUPPORTED, the session's end; with words. */
pdk_status pdk__record_change(struct pdk__record_call *c);

/* One node, read within a pdk__query_run: its stat and a copy of its data. Under the monitor. */
struct pdk__record_node {
    bool exists;
    int32_t version;
    int64_t token, mtime_ms, ctime_ms;
    GBytes *data; /* the caller's; or NULL */
    int code;     /* ZooKeeper's, of NO_PERMISSION */
};
pdk_status pdk__record_get(pdk_session *s, const char *path, int64_t deadline, struct pdk__record_node *node);

#endif

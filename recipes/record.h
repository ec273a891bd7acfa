/* A record: a persistent znode that the holder of the lock beside it changes, by compare-and-set.
 *
 *     /jobs/backup
 *        ├─ lock       the queue of a lock (recipes/lock.c)
 *        └─ record     read, and written naming the version that was read
 *
 *     look: GET the record, STAT the own lock node (in one round trip) ──► edit ──► SET, naming the version
 *       ▲                                                                             │ another version, or no answer
 *       └─────────────────────────────────────────────────────────────────────────────┘
 *
 * An edit decides by the look alone. So the next look finds a write whose answer was lost, and nothing else has to be
 * remembered. A look may be stale; then the write fails by the version that it names.
 *
 * The own lock node is a write of ours: the moment at which it was made, by the servers' clock, is not later than now.
 */
#ifndef PDK_RECORD_H
#define PDK_RECORD_H

#include "core/pace.h"
#include "grant/hold.h"
#include "session/node_query.h"

struct pdk__record_seen {
    const char *data;
    size_t size;
    int64_t mtime_ms; /* when the record was written */
    int64_t now_ms;   /* when our lock node was made */
};

/* OK: *next, which is NULL before, is written, unless it stays NULL. Another status ends the call. Under the
 * monitor. */
typedef pdk_status (*pdk__record_edit_fn)(void *user, const struct pdk__record_seen *seen, GBytes **next);

/* A change of a record: a part of a call, until the call's deadline. */
struct pdk__record_change {
    struct pdk__call *call;
    const char *path; /* of the record, chroot included */
    pdk_hold *hold;   /* of the lock; not a reference */
    pdk__record_edit_fn edit;
    void *user;
    bool ends;      /* the write counts even if the hold has ended meanwhile, since nothing begins with it */
    int64_t handed; /* 0, then the moment at which the first write was handed over */
    /* its own */
    struct pdk__query *query; /* under way; or NULL */
    enum pdk__op_kind asked;  /* GET: a look; SET, MKDIR: a write */
    GBytes *next;             /* the data that it writes */
    struct pdk__pace pace;
};

/* In a step of the call. OK: the hold was valid after the last answer, unless `ends`.
 * LOST, NOT_HELD, UNAVAILABLE, NO_PERMISSION, UNPROTECTED, UNSUPPORTED, the session's end; with words. PDK__WAITS. */
pdk_status pdk__record_step(struct pdk__record_change *c);
/* The call is over, or its thread was cancelled. Under the monitor. */
void pdk__record_leave(struct pdk__record_change *c);

#endif

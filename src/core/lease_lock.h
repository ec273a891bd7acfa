/* The record of a lock that outlives its session, and the rule of it. All times are ms since 1970 by the servers'
 * clocks.
 *
 *     paddock-lease 1
 *     H <token> <duration> <digest> <who>      held, for so long after the znode's mtime; or
 *     N <token>                                nobody's: given up by the hold of this token
 *
 *     has the lock beside it ──► the record, version v ──and the moment of a write of its own──► judge
 *                                                  TAKE │ OURS │ STANDS │ OVERTAKEN
 *                    H with its own token, naming v ◄───┴─────┘
 *
 * A write of the same text renews it, since the moment of the write counts. The owner of the digest's secret takes it
 * back at once. Everybody else waits for its end. As in a job's record (core/job.h) tokens only grow, and a smaller one
 * was overtaken.
 */
#ifndef PDK_CORE_LEASE_LOCK_H
#define PDK_CORE_LEASE_LOCK_H

#include "core/job.h"

enum { PDK__LEASE_LOCK_DIGEST = 65, PDK__LEASE_LOCK_SIZE = 320 };

struct pdk__lease_record {
    char state; /* H, N, or 0: it was never held */
    int64_t token, duration;
    char digest[PDK__LEASE_LOCK_DIGEST]; /* 64 hexadecimal digits */
    char who[PDK__JOB_WHO];
};

/* Takes any bytes; none is an empty record. */
enum pdk__record_kind pdk__lease_record_parse(const char *data, size_t size, struct pdk__lease_record *record);
/* The length of the text, which has a NUL after it. The record has a state. */
size_t pdk__lease_record_write(const struct pdk__lease_record *record, char text[PDK__LEASE_LOCK_SIZE]);

enum pdk__lease_verdict { PDK__LEASE_TAKE, PDK__LEASE_OURS, PDK__LEASE_STANDS, PDK__LEASE_OVERTAKEN };
/* The verdict on a record that was written at `written`, for the holder of `mine`, whose own write was at `now`. */
enum pdk__lease_verdict pdk__lease_judge(const struct pdk__lease_record *record, int64_t written, int64_t now,
                                         const struct pdk__lease_record *mine);

#endif

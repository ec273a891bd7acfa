/* A lease lock under test, two clients beside each other. All of these live until ts_paddock_clear. */
#ifndef LEASE_LOCKS_H
#define LEASE_LOCKS_H

#include <paddock/lease_lock.h>

#include "ts_bench.h"

enum { SESSION_MS = 2000, SLOW_MS = 20000, PATIENCE_MS = 10000, LONG_MS = 3600000 };

extern const char lease_secret[], lease_other_secret[];

extern struct lease_locks {
    const char *path;
    char *record;
    ts_client *a, *b;
} lease;

/* Anew, at another path. */
void lease_make(int session_ms);
/* Its identity is "one", or with the other secret "another". */
pdk_lease_lock *lease_lock_of(const ts_client *client, const char *with, int64_t duration_ms);
/* These fail the test when the call fails. */
pdk_hold *lease_acquired(pdk_lease_lock *lock);
void lease_released(pdk_lease_lock *lock, pdk_hold *hold);
/* A try is refused, for that reason. */
void lease_stands(pdk_lease_lock *lock, const char *word);
/* The text of the record: g_free. */
char *lease_text(void);

#endif

/* Read/write locks under test: the object and its claims. */
#ifndef TS_RWLOCK_H
#define TS_RWLOCK_H

#include "ts_paddock.h"

/* Like ts_lock, and so on. */
pdk_rwlock *ts_rwlock(const ts_client *client, const char *path);
pdk_rwlock *ts_rwlock_with(const ts_client *client, const char *path, const pdk_rwlock_options *options);
pdk_rwlock *ts_rwlock_of_long_handovers(const ts_client *client, const char *path);

/* Records one acquisition. */
ts_answer *ts_read_async(pdk_rwlock *lock, int64_t timeout_ms);
ts_answer *ts_read_thread(pdk_rwlock *lock, int64_t timeout_ms);
ts_answer *ts_write_async(pdk_rwlock *lock, int64_t timeout_ms);
ts_answer *ts_write_thread(pdk_rwlock *lock, int64_t timeout_ms);

/* Acquire with a blocking call, and fail the test when that fails. */
pdk_hold *ts_bench_read(pdk_rwlock *lock, int64_t timeout_ms);
pdk_hold *ts_bench_write(pdk_rwlock *lock, int64_t timeout_ms);

/* Fails the test unless the claim is granted in time. */
void ts_assert_granted(ts_answer *answer);
/* Fails the test when the claim is answered within that time. */
void ts_assert_waits(ts_answer *answer, int64_t for_ms);
/* Waits until the asynchronous claim has a position in the queue that a server has confirmed. */
void ts_await_queued(ts_answer *answer);

#endif

/* A semaphore under test: to make it, to acquire permits, and to look at its nodes. All of these live until
 * ts_paddock_clear. */
#ifndef PERMITS_H
#define PERMITS_H

#include "ts_bench.h"

/* A semaphore of the client's session. Aborts when that fails. A test of failures calls pdk_semaphore_new itself. */
pdk_semaphore *permits_at(const ts_client *client, const char *path, int32_t permits);
pdk_semaphore *permits_with(const ts_client *client, const char *path, int32_t permits,
                            const pdk_semaphore_options *options);

/* Acquires `count` permits within 5 s, and fails the test otherwise. */
pdk_hold *permits_take(pdk_semaphore *semaphore, int32_t count);
/* The same with a witness: asynchronously, or blocking on a thread of its own. */
ts_answer *permits_async(pdk_semaphore *semaphore, int32_t count, int64_t timeout_ms);
ts_answer *permits_thread(pdk_semaphore *semaphore, int32_t count, int64_t timeout_ms);

/* Waits until the claim has a confirmed position in the queue with that many ahead of it. Fails the test when the claim
 * is decided instead. */
void permits_await_ahead(ts_answer *answer, int32_t ahead);
/* Checks that the claim is granted in time, and the hold valid. */
void permits_await_grant(ts_answer *answer);
/* Checks that the answer comes in time, with that status and no hold. */
void permits_await_status(ts_answer *answer, pdk_status status);

/* What the server has: the number of children of <path>/leases. A missing directory has none. */
int permits_taken(const char *path);
/* Waits until there are so many there, and in <path>/locks; false after 5 s. */
bool permits_wait_taken(const char *path, int count);
bool permits_wait_queued(const char *path, int count);
/* Checks that nothing is left of the semaphore but its empty directories. */
void permits_assert_none(const char *path);

/* The full path of a node below <path>/<dir>, by its rank (0: the oldest); NULL when there is none (g_free). */
char *permits_node(const char *path, const char *dir, unsigned rank);
/* The path of <path>/leases (g_free). */
char *permits_leases(const char *path);

#endif

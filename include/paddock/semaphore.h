/* The semaphore: at most `permits` at a time, in the order in which they came.
 *
 *     <path>/locks    a queue: who is next. Its head alone looks at the permits, the others watch who is ahead of them
 *     <path>/leases   one znode for each permit that is taken; its data is the number of permits there are
 *
 * This is the layout of Apache Curator's InterProcessSemaphoreV2, which shares the path. Threads that share one
 * pdk_semaphore queue in front of one znode in the queue; every permit has a znode of its own.
 *
 * Tokens: holders of permits do not exclude each other, so their tokens are in no order that a resource could check. A
 * token tells permits apart, and pdk_sequencer_check whether one is still held.
 */
#ifndef PADDOCK_SEMAPHORE_H
#define PADDOCK_SEMAPHORE_H

#include <paddock/claim.h>
#include <paddock/contenders.h>
#include <paddock/session.h>

PDK_BEGIN_DECLS

typedef struct pdk_semaphore pdk_semaphore;

/* More permits than this are not supported: whoever is next lists them all. */
#define PDK_SEMAPHORE_PERMITS_MAX 10000
/* More than this at once are not supported: each is a znode. */
#define PDK_SEMAPHORE_COUNT_MAX 100

typedef struct pdk_semaphore_options {
    size_t size;
    int32_t max_handovers;   /* turns at the head of the queue taken by threads of this process in a row */
    int32_t max_handover_ms; /* and for how long in a row */
} pdk_semaphore_options;

#define PDK_SEMAPHORE_OPTIONS_INIT                                                                                     \
    { sizeof(pdk_semaphore_options), 256, 100 }

/* The semaphore at path. Touches no server.
 *   permits  how many there are, 1 to PDK_SEMAPHORE_PERMITS_MAX; the same for every client of the path.
 *   path     as pdk_lock_new, but at most 505 bytes: "/leases" follows.
 * Else as pdk_lock_new. */
PDK_API pdk_status pdk_semaphore_new(pdk_session *session, const char *path, int32_t permits,
                                     const pdk_semaphore_options *options, pdk_semaphore **out);
PDK_API pdk_semaphore *pdk_semaphore_ref(pdk_semaphore *semaphore);
/* The last unref cancels the claims of the semaphore (CANCELED) and leaves its holds. */
PDK_API void pdk_semaphore_unref(pdk_semaphore *semaphore);

/* Take `count` permits at once, or none; blocks. They are one hold: released together, lost together.
 *   count       1 to permits, and to PDK_SEMAPHORE_COUNT_MAX. Who asks for many is not overtaken by those who ask for few.
 *   timeout_ms  as pdk_lock_acquire. 0: BUSY when somebody is ahead in the queue, or too few permits are free.
 * MISMATCH: the path is used with another number of permits (only clients of this library record theirs; it is
 * forgotten when the directory is removed). Else as pdk_lock_acquire, but for DEADLOCK: a thread may hold several. */
PDK_API pdk_status pdk_semaphore_acquire(pdk_semaphore *semaphore, int32_t count, int64_t timeout_ms, pdk_hold **out);
/* The same without waiting, as pdk_lock_acquire_async. */
PDK_API pdk_status pdk_semaphore_acquire_async(pdk_semaphore *semaphore, int32_t count, int64_t timeout_ms,
                                               pdk_acquired_fn fn, void *user, pdk_claim **out);

/* Who holds permits, one entry for each permit, oldest first; blocks, at most timeout_ms. Errors as pdk_lock_contenders. */
PDK_API pdk_status pdk_semaphore_holders(pdk_semaphore *semaphore, int64_t timeout_ms, pdk_contenders **out);

PDK_END_DECLS

#endif

/* The read/write lock: any number of readers, or one writer, in the order in which they came.
 *
 * A reader waits for the nearest writer ahead of it, a writer for whoever is right ahead: so no reader overtakes a writer that
 * came before it, and a writer never waits for readers that came later. Each reader has a znode of its own; the threads that
 * write through one pdk_rwlock share one, as with pdk_lock.
 *
 * Tokens: a writer's is larger than that of every writer, and of every reader, that held before it. Readers that hold together
 * have different tokens in no particular order: a resource admits a reader whose token is not smaller than the largest
 * WRITER's it has seen, and does not remember it. A hold that was downgraded keeps its token, the one it wrote with.
 */
#ifndef PADDOCK_RWLOCK_H
#define PADDOCK_RWLOCK_H

#include <paddock/claim.h>
#include <paddock/contenders.h>
#include <paddock/naming.h>
#include <paddock/session.h>

PDK_BEGIN_DECLS

typedef struct pdk_rwlock pdk_rwlock;

typedef struct pdk_rwlock_options {
    size_t size;
    int32_t naming;          /* a pdk_naming */
    int32_t max_handovers;   /* hand-overs between writing threads in a row; 0: every acquisition queues anew */
    int32_t max_handover_ms; /* and for how long in a row */
    int32_t reserved;        /* 0 */
} pdk_rwlock_options;

#define PDK_RWLOCK_OPTIONS_INIT                                                                                        \
    { sizeof(pdk_rwlock_options), PDK_NAMING_CURATOR, 256, 100, 0 }

/* The lock at path. Touches no server. Arguments and errors as pdk_lock_new. */
PDK_API pdk_status pdk_rwlock_new(pdk_session *session, const char *path, const pdk_rwlock_options *options,
                                  pdk_rwlock **out);
PDK_API pdk_rwlock *pdk_rwlock_ref(pdk_rwlock *lock);
/* The last unref cancels the claims of the lock (CANCELED) and leaves its holds. */
PDK_API void pdk_rwlock_unref(pdk_rwlock *lock);

/* Acquire, shared or exclusive; blocks. Arguments and statuses as pdk_lock_acquire. DEADLOCK: this thread holds this lock
 * object already, and would wait for itself as soon as a writer came in between. UPGRADE: it holds it shared and asks for
 * it exclusive; two threads that did so would wait for each other for ever. Release first, and look again at what was
 * read. */
PDK_API pdk_status pdk_rwlock_read(pdk_rwlock *lock, int64_t timeout_ms, pdk_hold **out);
PDK_API pdk_status pdk_rwlock_write(pdk_rwlock *lock, int64_t timeout_ms, pdk_hold **out);
/* The same without waiting, as pdk_lock_acquire_async; belongs to no thread. */
PDK_API pdk_status pdk_rwlock_read_async(pdk_rwlock *lock, int64_t timeout_ms, pdk_acquired_fn fn, void *user,
                                         pdk_claim **out);
PDK_API pdk_status pdk_rwlock_write_async(pdk_rwlock *lock, int64_t timeout_ms, pdk_acquired_fn fn, void *user,
                                          pdk_claim **out);

/* From now on this writer only reads: readers behind it are let in, and no writer comes in between. Does not wait for the
 * network: the session exchanges the writer's znode for a reader's with the same sequence number, and until a server has
 * confirmed that the others go on waiting; where it is refused they wait until the release. The hold stays the same object,
 * with its token, its callbacks and its validity; it cannot be upgraded again.
 * PDK_OK; NOT_HELD: released; LOST; INVALID: not a hold of this lock, or shared already; LIMIT; FORKED. */
PDK_API pdk_status pdk_rwlock_downgrade(pdk_rwlock *lock, pdk_hold *hold);

/* Who is in line, readers and writers, oldest first (pdk_contenders_is_shared tells them apart); blocks, at most timeout_ms.
 * Errors as pdk_lock_contenders. */
PDK_API pdk_status pdk_rwlock_contenders(pdk_rwlock *lock, int64_t timeout_ms, pdk_contenders **out);

PDK_END_DECLS

#endif

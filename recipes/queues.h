/* The queue of a recipe object, and a set of rights, for a recipe that is made of other recipes. */
#ifndef PDK_RECIPE_QUEUES_H
#define PDK_RECIPE_QUEUES_H

#include "grant/queue.h"

#include <paddock/lock.h>
#include <paddock/rwlock.h>
#include <paddock/semaphore.h>
#include <paddock/set.h>

/* The object's own. */
struct pdk__queue *pdk__lock_queue(const pdk_lock *lock);
struct pdk__queue *pdk__rwlock_queue(const pdk_rwlock *lock);
struct pdk__queue *pdk__semaphore_queue(const pdk_semaphore *semaphore);
/* A side queue for one reader, the caller's to unref. Not under the monitor. */
struct pdk__queue *pdk__rwlock_reader(pdk_rwlock *lock);
/* The path of the semaphore, whose queue stands below it: g_free. */
char *pdk__semaphore_path(const pdk_semaphore *semaphore);
/* pdk_set_acquire for a call of this name, whose caller has named keys: keys[i] is the place of the first one that
 * wants rights[i]. */
pdk_status pdk__set_acquire_for_keys(const pdk_right *rights, const size_t *keys, size_t count, int64_t timeout_ms,
                                     const char *name, pdk_set **out);
/* INVALID: not a number of permits that one claim can take. */
pdk_status pdk__semaphore_check_count(const pdk_semaphore *semaphore, int32_t count, const char *call);

#endif

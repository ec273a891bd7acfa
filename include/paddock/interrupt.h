/* SPDX-License-Identifier: Apache-2.0 */
/* An interrupt: ends one thread's wait for a lock, from another thread or from a signal handler. It
 * ends the claim of that thread, and no other claim.
 *
 *     lowered ──raise──► raised: acquisitions of the thread answer PDK_CANCELED
 *        ▲                 │
 *        └──────clear──────┘
 *
 * It works on the thread that it is attached to, in every call that blocks for a hold:
 * pdk_lock_acquire, pdk_rwlock_acquire_read and pdk_rwlock_acquire_write, pdk_semaphore_acquire,
 * pdk_set_acquire, pdk_striped_acquire, pdk_striped_acquire_keys and pdk_striped_acquire_any,
 * pdk_lease_lock_acquire, and pdk_job_acquire. Also where a thread waits to be elected or
 * registered: pdk_election_wait, pdk_member_wait and pdk_member_set_data. That ends the waiting,
 * and not the candidacy. Other calls that block are bounded by their time, and go on.
 *
 * Raised before the call, the call answers PDK_CANCELED at once, and asks no server. Raised while
 * it waits, the call leaves the queue and answers PDK_CANCELED at once; the session deletes the
 * node. Raised after the grant, the call answers PDK_OK with the hold, and the next call is
 * cancelled.
 *
 * Ownership: an interrupt is reference counted, and a thread that it is attached to has a
 * reference. It belongs to no session. Any thread may make every call below, also in a callback.
 * The child of a fork has a copy of its own.
 */
#ifndef PADDOCK_INTERRUPT_H
#define PADDOCK_INTERRUPT_H

#include <paddock/status.h>

PDK_BEGIN_DECLS

typedef struct pdk_interrupt pdk_interrupt;

/* A new interrupt, lowered. Does not wait.
 *   PDK_OK  *out is the interrupt, with one reference that pdk_interrupt_unref gives back
 *   Common  PDK_INVALID */
PDK_API pdk_status pdk_interrupt_new(pdk_interrupt **out);
/* One more reference. Returns interrupt; NULL is allowed. */
PDK_API pdk_interrupt *pdk_interrupt_ref(pdk_interrupt *interrupt);
/* Gives a reference back. NULL is allowed. */
PDK_API void pdk_interrupt_unref(pdk_interrupt *interrupt);

/* Attach it to the calling thread. An interrupt has at most one thread, and a thread has at most
 * one interrupt. A thread detaches it before the thread ends. Does not wait.
 *   PDK_OK       it is attached
 *   PDK_INVALID  it is attached to a thread already, or this thread has one
 *   Common       PDK_INVALID */
PDK_API pdk_status pdk_interrupt_attach(pdk_interrupt *interrupt);
/* Detach the interrupt of the calling thread, if it has one. Does not wait. */
PDK_API void pdk_interrupt_detach(void);

/* Raise it; it stays raised until it is cleared. Safe in a signal handler: it sets a word, posts a
 * POSIX semaphore, and leaves errno alone. The caller has a reference, or knows of one that
 * outlives the call. NULL is allowed. */
PDK_API void pdk_interrupt_raise(pdk_interrupt *interrupt);
/* Lower it again. Safe in a signal handler. NULL is allowed. */
PDK_API void pdk_interrupt_clear(pdk_interrupt *interrupt);
/* Is it raised? Safe in a signal handler. false for NULL. */
PDK_API bool pdk_interrupt_is_raised(const pdk_interrupt *interrupt);

PDK_END_DECLS

#endif

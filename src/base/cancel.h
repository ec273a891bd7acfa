/* Threads of the program that are cancelled (pthread_cancel) inside the library.
 *
 *     public call ── pdk__cancel_off ──► cancellation is put off ── pdk__cancel_back ──► the program's own state again
 *                                             │         ▲
 *                     the call waits, and has ▼         │ woken
 *                     said how it is left   the program's own state
 *                                             │ cancelled
 *                                             ▼
 *                     pdk__leave_run: gives up what the call has; then the thread ends
 *
 * So a thread ends in a wait or not at all, and never with a lock. Where a call has not said how to leave it, its waits
 * are no cancellation points.
 */
#ifndef PDK_BASE_CANCEL_H
#define PDK_BASE_CANCEL_H

#include <stdbool.h>

/* They nest. */
void pdk__cancel_off(void);
void pdk__cancel_back(void);
/* Is this within one pdk__cancel_off alone? Otherwise the call may be made from a callback, which is not cut short. */
bool pdk__cancel_is_outermost(void);

/* The way out of a blocking call, on its stack. */
struct pdk__leave {
    void (*locked)(void *user); /* under the monitor, where the call waits under it; or NULL */
    void (*after)(void *user);  /* outside of it, afterwards; or NULL */
    void *user;
    struct pdk__leave *outer;
};
void pdk__leave_push(struct pdk__leave *leave);
void pdk__leave_pop(void);
/* May the thread of the call be cancelled, because the call has said how to leave it? */
bool pdk__leave_possible(void);

/* Around a wait that may be cancelled, within pdk__cancel_off: set the program's own state, and off again. */
void pdk__cancel_open(void);
void pdk__cancel_shut(void);
/* Call these in the cleanup of such a wait, one after the other. */
void pdk__leave_run_locked(void);
void pdk__leave_run_after(void);

#endif

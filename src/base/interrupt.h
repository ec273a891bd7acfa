/* The interrupt that is attached to a thread. A condition cannot be signalled from a signal handler, but a POSIX
 * semaphore can be posted there. So a thread with an interrupt sleeps on the interrupt's semaphore. */
#ifndef PDK_BASE_INTERRUPT_H
#define PDK_BASE_INTERRUPT_H

#include <paddock/interrupt.h>
#include <stdint.h>

/* The interrupt of the calling thread, or NULL. */
pdk_interrupt *pdk__interrupt_attached(void);
/* Is that one raised? */
bool pdk__interrupted(void);

/* The thread that it is attached to sleeps until it is woken or raised, a signal comes, or `ns` have passed (INT64_MAX:
 * for ever). A wake-up that comes before the sleep is not lost. */
void pdk__interrupt_sleep(pdk_interrupt *interrupt, int64_t ns);
void pdk__interrupt_wake(pdk_interrupt *interrupt);

/* For the error text of a call that is cancelled. */
#define PDK__INTERRUPTED "the interrupt of this thread is raised; pdk_interrupt_clear lowers it"

#endif

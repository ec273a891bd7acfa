/* The interrupt of a thread, on which it sleeps: the attached one, or one of its own that nobody raises. A condition
 * cannot be signalled from a signal handler, but a POSIX semaphore can be posted there. And a condition lives no longer
 * than the wait, but an interrupt lives as long as somebody has a reference: so a thread can be woken by one that has
 * given up all locks, even if it has woken meanwhile and gone. */
#ifndef PDK_BASE_INTERRUPT_H
#define PDK_BASE_INTERRUPT_H

#include <paddock/interrupt.h>
#include <stdint.h>

/* The one that the calling thread sleeps on. The thread has a reference. */
pdk_interrupt *pdk__interrupt_to_sleep_on(void);
/* Is one attached to it, and raised? */
bool pdk__interrupted(void);

/* The thread whose interrupt it is sleeps until it is woken or raised, a signal comes, or `ns` have passed (INT64_MAX:
 * for ever). A wake-up that comes before the sleep is not lost. */
void pdk__interrupt_sleep(pdk_interrupt *interrupt, int64_t ns);
void pdk__interrupt_wake(pdk_interrupt *interrupt);

/* For the error text of a call that is cancelled. */
#define PDK__INTERRUPTED "the interrupt of this thread is raised; pdk_interrupt_clear lowers it"

#endif

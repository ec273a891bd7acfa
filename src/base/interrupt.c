#include "base/interrupt.h"

#include "base/text.h"
#include "base/thread.h"

#include <errno.h>
#include <glib.h>
#include <semaphore.h>
#include <stdatomic.h>

#define DAY_NS (INT64_C(86400) * 1000000000)

struct pdk_interrupt {
    atomic_uint refs;
    atomic_bool raised, attached;
    sem_t woken;
};

static _Thread_local pdk_interrupt *of_this_thread;

pdk_status pdk_interrupt_new(pdk_interrupt **out) {
    if (!out)
        return pdk__fail(PDK_INVALID, "pdk_interrupt_new: out: NULL");
    pdk_interrupt *interrupt = g_new0(pdk_interrupt, 1);
    atomic_init(&interrupt->refs, 1);
    sem_init(&interrupt->woken, 0, 0);
    *out = interrupt;
    return PDK_OK;
}

pdk_interrupt *pdk_interrupt_ref(pdk_interrupt *interrupt) {
    if (interrupt)
        atomic_fetch_add(&interrupt->refs, 1);
    return interrupt;
}

void pdk_interrupt_unref(pdk_interrupt *interrupt) {
    if (!interrupt || atomic_fetch_sub(&interrupt->refs, 1) != 1)
        return;
    sem_destroy(&interrupt->woken);
    g_free(interrupt);
}

pdk_status pdk_interrupt_attach(pdk_interrupt *interrupt) {
    static const char call[] = "pdk_interrupt_attach";
    if (!interrupt)
        return pdk__fail(PDK_INVALID, "%s: interrupt: NULL", call);
    if (of_this_thread)
        return pdk__fail(PDK_INVALID, "%s: this thread has an interrupt; detach that first", call);
    if (atomic_exchange(&interrupt->attached, true))
        return pdk__fail(PDK_INVALID, "%s: interrupt: another thread has it; each thread needs its own", call);
    of_this_thread = pdk_interrupt_ref(interrupt);
    return PDK_OK;
}

void pdk_interrupt_detach(void) {
    pdk_interrupt *interrupt = of_this_thread;
    if (!interrupt)
        return;
    of_this_thread = NULL;
    atomic_store(&interrupt->attached, false);
    pdk_interrupt_unref(interrupt);
}

void pdk_interrupt_raise(pdk_interrupt *interrupt) {
    if (interrupt && !atomic_exchange(&interrupt->raised, true))
        pdk__interrupt_wake(interrupt);
}

void pdk_interrupt_clear(pdk_interrupt *interrupt) {
    if (interrupt)
        atomic_store(&interrupt->raised, false);
}

bool pdk_interrupt_is_raised(const pdk_interrupt *interrupt) { return interrupt && atomic_load(&interrupt->raised); }

/* ---- inside */

static void unref_own(void *interrupt) { pdk_interrupt_unref(interrupt); }

/* A thread without an attached one sleeps on one of its own, which lives as long as the thread. */
static GPrivate own = G_PRIVATE_INIT(unref_own);

pdk_interrupt *pdk__interrupt_to_sleep_on(void) {
    if (of_this_thread)
        return of_this_thread;
    pdk_interrupt *interrupt = g_private_get(&own);
    if (!interrupt) {
        pdk_interrupt_new(&interrupt);
        g_private_set(&own, interrupt);
    }
    return interrupt;
}

bool pdk__interrupted(void) { return pdk_interrupt_is_raised(of_this_thread); }

/* For ever is a day at a time, since every sleeper looks again. There is no sem_wait: ThreadSanitizer loses track of a
 * thread that is cancelled in it. */
void pdk__interrupt_sleep(pdk_interrupt *interrupt, int64_t ns) {
    struct timespec at = pdk__cond_moment(MIN(ns, DAY_NS));
    sem_clockwait(&interrupt->woken, CLOCK_MONOTONIC, &at);
}

/* A semaphore that is full has wake-ups enough. */
void pdk__interrupt_wake(pdk_interrupt *interrupt) {
    int saved = errno;
    sem_post(&interrupt->woken);
    errno = saved;
}

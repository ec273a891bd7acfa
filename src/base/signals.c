#include "base/signals.h"

#include <stddef.h>

/* A blocked signal of a fault ends the process, past the program's handler. */
static const int of_faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

void pdk__signals_block(sigset_t *before) {
    sigset_t mask;
    sigfillset(&mask);
    for (size_t i = 0; i < sizeof of_faults / sizeof *of_faults; i++)
        sigdelset(&mask, of_faults[i]);
    pthread_sigmask(SIG_SETMASK, &mask, before);
}

void pdk__signals_of_thread(sigset_t *mask) { pthread_sigmask(SIG_SETMASK, NULL, mask); }

void pdk__signals_set(const sigset_t *mask) { pthread_sigmask(SIG_SETMASK, mask, NULL); }

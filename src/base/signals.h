/* Signals: the library's own code answers none, and user code runs as on a thread of the program.
 *
 *     thread of the library ── blocks what comes from outside ──┐
 *                                                               ├─► signals of a fault reach the program's handler
 *     user code on it ── the mask of the thread that asked ─────┘   children that it makes get an ordinary mask
 */
#ifndef PDK_BASE_SIGNALS_H
#define PDK_BASE_SIGNALS_H

#include <signal.h>

/* Block every signal but the ones that a fault of the thread itself raises. *before: the mask until now. */
void pdk__signals_block(sigset_t *before);
/* The mask of this thread. */
void pdk__signals_of_thread(sigset_t *mask);
void pdk__signals_set(const sigset_t *mask);

#endif

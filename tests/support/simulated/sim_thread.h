/* A thread of a simulated process, for calls that block. It is a real thread, but it and the simulation take turns: what it does
 * takes no simulated time, until it sleeps in a call.
 *
 *     simulation ── sim_thread_start ──► runs ── sleeps in a call ──► the simulation goes on
 *                                          ▲                             │
 *                                          └── woken, or its time is over: an event of the process, so late, or after a pause
 *
 * A thread sleeps on its interrupt (paddock/interrupt.h). The linker puts that sleep and its wake-up in here (--wrap).
 */
#ifndef SIM_THREAD_H
#define SIM_THREAD_H

#include "sim_process.h"

/* Run fn in a thread of p. Returns when that sleeps for the first time, or has ended. In the process. */
void sim_thread_start(struct sim_process *p, void (*fn)(void *user), void *user);
/* In such a thread: so much time of the process passes. At once in a dead process. */
void sim_thread_pause(int64_t ns);
/* The process is dead and its sessions have ended: each of its threads returns from its call, and ends. */
void sim_threads_finish(struct sim_process *p);

#endif

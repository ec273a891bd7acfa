/* The threads of a session, and the real platform that they make. */
#ifndef PDK_SESSION_THREADS_H
#define PDK_SESSION_THREADS_H

#include "session/platform.h"

extern const struct pdk__platform pdk__platform_real;

/* Begin a thread of the library: detached, with the signals from outside blocked. false: the system has no thread
 * left. */
bool pdk__thread_begin(void *(*main)(void *user), void *user);

#endif

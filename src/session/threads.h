/* The threads of a session in the real world; see threads.c. */
#ifndef PDK_SESSION_THREADS_H
#define PDK_SESSION_THREADS_H

#include <stdbool.h>
#include <stdint.h>

struct pdk_session;

/* Wait until every thread of the session has ended, or until the moment. Under the monitor. */
bool pdk__threads_wait(struct pdk_session *s, int64_t until);
/* Under the monitor: none is left. */
bool pdk__threads_ended(const struct pdk_session *s);

#endif

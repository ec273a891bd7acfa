/* The log lines of the client library. Its callback carries no context, so each line goes to every session of the
 * process. A child of fork gives none to the sessions of its parent. */
#ifndef PDK_ZK_LOGS_H
#define PDK_ZK_LOGS_H

#include <stdbool.h>

typedef void (*pdk__log_sink)(void *driver, int level, const char *text);

void pdk__logs_add(pdk__log_sink sink, void *driver);
void pdk__logs_remove(void *driver);

/* Around a fork: no other thread holds the lock then. */
void pdk__logs_fork(bool begins);

/* A log_callback_fn: any thread, under any lock of the client library. */
void pdk__logs_queue(const char *line);

#endif

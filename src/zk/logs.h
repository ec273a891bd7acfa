/* What the client library logs. Its callback carries no context, so each line goes to every session of the process. */
#ifndef PDK_ZK_LOGS_H
#define PDK_ZK_LOGS_H

typedef void (*pdk__log_sink)(void *driver, int level, const char *text);

void pdk__logs_add(pdk__log_sink sink, void *driver);
void pdk__logs_remove(void *driver);

/* A log_callback_fn: any thread, under any lock of the client library. */
void pdk__logs_line(const char *line);

#endif

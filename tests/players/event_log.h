/*
 * A player's event log: one line for each event, "NS what key=value …". NS is CLOCK_BOOTTIME in nanoseconds.
 * A line is one write. It is in the file when the call returns, even if the process dies right after that.
 */
#ifndef EVENT_LOG_H
#define EVENT_LOG_H

#include <glib.h>
#include <stdint.h>

typedef struct event_log event_log;

/* Appends to the file. NULL when it cannot be opened. */
event_log *event_log_open(const char *path);
void event_log_close(event_log *log);

/* Notes "what key=value …", without spaces in the values, at the time of the call. Any thread may call it. */
void event_log_note(event_log *log, const char *format, ...) G_GNUC_PRINTF(2, 3);

#endif

/*
 * A player's log: one line for each thing that happened, "NS what key=value …", NS being CLOCK_BOOTTIME in nanoseconds.
 * A line is one write, so it is in the file once the call has returned, whatever becomes of the process.
 */
#ifndef DIARY_H
#define DIARY_H

#include <glib.h>
#include <stdint.h>

typedef struct diary diary;

/* Appends to the file. NULL when it cannot be opened. */
diary *diary_open(const char *path);
void diary_close(diary *d);

/* "what key=value …", without spaces in the values. The first takes the time itself, and returns it; in the second it
 * happened at ns. Any thread may call either. */
int64_t diary_note(diary *d, const char *format, ...) G_GNUC_PRINTF(2, 3);
void diary_note_at(diary *d, int64_t ns, const char *format, ...) G_GNUC_PRINTF(3, 4);

#endif

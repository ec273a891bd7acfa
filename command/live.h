/* A verb that looks again and again, until a signal ends it; on a terminal it draws each look in the place of the last
 * one. */
#ifndef CMD_LIVE_H
#define CMD_LIVE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Is standard output a terminal? */
bool cmd_live_can_draw(void);
/* The columns of standard output; 0: it is no terminal. */
guint cmd_live_columns(void);
/* The rows of the terminal but for the first and the last, which the caller fills; at least 1. */
guint cmd_live_rows(void);

/* From now on TERM, INT and HUP end the program at once, with 0. So nothing may be left to close. */
void cmd_live_begin(bool draws);
/* Clears the terminal, and prints the first line, cut to its width: the time, and the text. */
void cmd_live_head(const char *text);
/* A line in place of what cannot be shown. */
void cmd_live_tell(const char *trouble);
/* Sleeps until the next look. */
void cmd_live_sleep(int64_t ms);

/* The option --every. NULL: *ms stays. false, having said so: it is no duration, or out of its range. */
bool cmd_live_every(const char *text, int64_t *ms);

#endif

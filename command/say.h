/* The program's words on standard error, and text of others made harmless. */
#ifndef CMD_SAY_H
#define CMD_SAY_H

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* -q: not even errors are said; the exit status tells. -v: events are said. --timestamps: a line begins with its time. */
extern bool cmd_quiet, cmd_verbose;
extern gboolean cmd_timestamps;

/* None of these waits: a line that standard error has no room for is left out, and counted in the next one. A line
 * longer than PIPE_BUF is cut. */
void cmd_error(const char *format, ...) G_GNUC_PRINTF(1, 2);
void cmd_say(const char *format, ...) G_GNUC_PRINTF(1, 2);  /* no error, and said all the same, without -q */
void cmd_tell(const char *format, ...) G_GNUC_PRINTF(1, 2); /* with -v */
/* An answer that the exit status has as well: to somebody at a terminal, and with -v. */
void cmd_answer(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* Is standard error a terminal whose foreground we have, so that a line can be drawn there, and changed? */
bool cmd_can_draw(void);
/* Draws a line below all that was said, in place of the one before, as wide as the terminal. NULL: there is none any
 * more. Lines that are said meanwhile come above it. */
void cmd_draw(const char *text);

/* Writes as much as the descriptor takes now: how many bytes, or -1 and errno; EAGAIN: it has no room. A pipe has room
 * when 4096 bytes (PIPE_BUF) are free, so the text has no more. */
ssize_t cmd_write_now(int descriptor, const char *text, size_t size);

/*
 * Opens /dev/null as each of descriptors 0, 1 and 2 that is closed. A file or a channel of ours would get the number,
 * and our words would go there. Processes that we start have all three as well.
 */
void cmd_fill_standard(void);

/*
 * The text with everything that could act on a terminal as \xHH or \u{HHHH}: control and format characters, separators
 * of lines, bytes that are no UTF-8; a backslash is \\. Two texts that differ stay different. g_free it.
 */
char *cmd_escape(const char *text);

#endif

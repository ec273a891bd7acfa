/* What the program says on standard error, and text of others made harmless. */
#ifndef CMD_SAY_H
#define CMD_SAY_H

#include <glib.h>
#include <stdbool.h>

/* None of these waits: a line that standard error has no room for is left out, and counted in the next one. */
/* -q: errors are not said either; the exit status tells. -v: what happens is said. */
extern bool cmd_quiet, cmd_verbose;

void cmd_error(const char *format, ...) G_GNUC_PRINTF(1, 2);
void cmd_tell(const char *format, ...) G_GNUC_PRINTF(1, 2); /* with -v */

/* Writes the text if the descriptor takes all of it now. A pipe does when 4096 bytes (PIPE_BUF) are free, so the text has no more. */
bool cmd_write_now(int descriptor, const char *text, size_t size);

/*
 * The text with everything that could act on a terminal as \xHH or \u{HHHH}: control and format characters, separators of
 * lines, bytes that are no UTF-8; a backslash is \\. Two texts that differ stay different. g_free it.
 */
char *cmd_escape(const char *text);

#endif

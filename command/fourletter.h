/* The commands that servers answer without a session: srvr, conf. */
#ifndef CMD_FOURLETTER_H
#define CMD_FOURLETTER_H

#include <stdint.h>

/* The whole answer; NULL when the server cannot be reached, and *error says why. "" when it says nothing. g_free
 * both. */
char *cmd_four_letters(const char *address, const char *word, int64_t timeout_ms, char **error);
/* The rest of the line that begins with `key`; NULL: there is no such line. g_free it. */
char *cmd_line_of(const char *answer, const char *key);

#endif

/* Why something failed, as an operator reads it: without the names of the library's calls and options, which are for
 * programs, and with the path once. */
#ifndef CMD_WORDS_H
#define CMD_WORDS_H

#include <paddock/paddock.h>

/* The library's text in an operator's words. g_free it. */
char *cmd_words(const char *text);
/* The same of pdk_last_error, behind its subject, unless the words name that: a path, or NULL. g_free it. */
char *cmd_why(const char *subject, pdk_status status);
/* Says that. The result of the status. */
int cmd_explain(const char *subject, pdk_status status);

#endif

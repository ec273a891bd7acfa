/* The command line of a verb. GLib parses it. Here are the help, and the words about an option that there is not. */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H

#include <glib.h>
#include <stdbool.h>

/* For the verb of that name, whose help says what it does, and ends with examples. One at a time. */
GOptionContext *cmd_options_new(const char *verb, const char *usage);
/* Copies the entries, but not their texts. */
void cmd_options_add(GOptionContext *context, const GOptionEntry *entries);
/* false: it is wrong, having said so. --help does not return. */
bool cmd_options_parse(GOptionContext *context, int *argc, char ***argv);

#endif

/* What the program prints on standard output: JSON, and lines for people. */
#ifndef CMD_PRINT_H
#define CMD_PRINT_H

#include <json-glib/json-glib.h>
#include <stdbool.h>

/* One line of ASCII alone: everything else is \uXXXX. Takes the builder's root. */
void cmd_print_json(JsonBuilder *builder);

/* Adds a text that others wrote: bytes that are no UTF-8 become U+FFFD. */
void cmd_json_text(JsonBuilder *builder, const char *name, const char *text);
/* A number of 64 bits, as text: many readers of JSON know only 53 of them. */
void cmd_json_token(JsonBuilder *builder, const char *name, int64_t token);

/* false after a failure of standard output, such as a full disk, which it says. */
bool cmd_print_end(void);

#endif

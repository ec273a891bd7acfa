/* The program's standard output: JSON, and lines for people. */
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

/* 0x and hexadecimal digits, as servers write sessions. */
void cmd_json_session(JsonBuilder *builder, const char *name, int64_t session);
void cmd_json_number(JsonBuilder *builder, const char *name, int64_t number);
void cmd_json_boolean(JsonBuilder *builder, const char *name, bool value);

/* A moment in UTC, by its ms since 1970; "-" for 0. g_free it. */
char *cmd_when(int64_t ms);

/* false after a failure of standard output, such as a full disk, having said so. */
bool cmd_print_end(void);

#endif

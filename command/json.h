/*
 * JSON for other programs, in lines. A line is an object or an array, which is written from its beginning to its end; when
 * that comes, its text is in `out`. One line is written at a time.
 *
 * The library that speaks JSON takes longer to be loaded than a lock to be acquired, and most verbs print none. So
 * json/json.c, which needs it, is a module, and json_module.c has the same functions: cmd_json_start loads it.
 */
#ifndef CMD_JSON_H
#define CMD_JSON_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Once, before all others. false: *why tells (g_free). */
bool cmd_json_start(char **why);

/* `name` is the name of a member; NULL in an array, and for the line itself. */
void cmd_json_begin_object(GString *out, const char *name);
void cmd_json_end_object(GString *out);
void cmd_json_begin_array(GString *out, const char *name);
void cmd_json_end_array(GString *out);

/* A text that others wrote: bytes that are no UTF-8 become U+FFFD, and all but printable ASCII is escaped. NULL: null. */
void cmd_json_text(GString *out, const char *name, const char *text);
/* A number of 64 bits, as text: many readers of JSON know only 53 of them. */
void cmd_json_token(GString *out, const char *name, int64_t token);
/* 0x and hexadecimal digits, as servers write sessions. */
void cmd_json_session(GString *out, const char *name, int64_t session);
void cmd_json_number(GString *out, const char *name, int64_t number);
void cmd_json_boolean(GString *out, const char *name, bool value);
void cmd_json_null(GString *out, const char *name);

#endif

/* The program's standard output: lines of JSON, and lines for people. */
#ifndef CMD_PRINT_H
#define CMD_PRINT_H

#include "json.h"

/* Before the first line of JSON, once, and before anything is changed. false, having said so: there is no module for it. */
bool cmd_print_json(void);
void cmd_print_line(const GString *line);

/* A moment in UTC, by its ms since 1970; "-" for 0. g_free it. */
char *cmd_when(int64_t ms);

/* false after a failure of standard output, such as a full disk, having said so. */
bool cmd_print_end(void);

#endif

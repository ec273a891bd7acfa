#include "print.h"

#include "say.h"
#include <errno.h>
#include <stdio.h>

bool cmd_print_json(void) {
    g_autofree char *why = NULL;
    if (cmd_json_start(&why))
        return true;
    cmd_error("JSON: %s; install the module that belongs to this program, and json-glib", why);
    return false;
}

void cmd_print_line(const GString *line) { puts(line->str); }

char *cmd_when(int64_t ms) {
    g_autoptr(GDateTime) moment = ms ? g_date_time_new_from_unix_utc(ms / 1000) : NULL;
    return moment ? g_date_time_format_iso8601(moment) : g_strdup("-");
}

bool cmd_print_end(void) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    cmd_error("standard output: %s", g_strerror(errno));
    return false;
}

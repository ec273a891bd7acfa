#include "job_times.h"

#include "say.h"
#include <string.h>

bool cmd_job_clock(const char *option, const char *text, int64_t *ms) {
    static const unsigned most[] = {23, 59, 59};
    static const int64_t unit[] = {3600000, 60000, 1000};
    if (!text)
        return true;
    g_auto(GStrv) parts = g_strsplit(text, ":", 4);
    guint count = g_strv_length(parts);
    bool good = count == 2 || count == 3;
    int64_t sum = 0;
    for (guint i = 0; good && i < count; i++) {
        guint64 number = 0;
        good = strlen(parts[i]) == 2 && g_ascii_string_to_unsigned(parts[i], 10, 0, most[i], &number, NULL);
        sum += (int64_t)number * unit[i];
    }
    if (good)
        *ms = sum;
    else
        cmd_error("%s: a time of day from 00:00 to 23:59:59, with two digits each: 01:30", option);
    return good;
}

bool cmd_job_is_schedule(const char *text) { return text && (text[0] == '@' || strpbrk(text, " \t*")); }

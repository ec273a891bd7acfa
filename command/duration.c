#include "duration.h"

#include "say.h"
#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* The largest first. */
static const struct {
    const char *name;
    int64_t ms;
} units[] = {{"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};

static int64_t unit_ms(const char *name, size_t length) {
    for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
        if (strlen(units[i].name) == length && strncmp(units[i].name, name, length) == 0)
            return units[i].ms;
    return 0;
}

/* Does a number begin here, in decimal? g_ascii_strtod takes more: signs, spaces, "inf" and hexadecimal. */
static bool begins_number(const char *text) {
    if (text[0] == '0' && g_ascii_tolower(text[1]) == 'x')
        return false;
    return g_ascii_isdigit(text[text[0] == '.']);
}

bool cmd_duration_parse(const char *text, int64_t bare_ms, int64_t *ms) {
    static const double most = 1e15;
    const char *at = text;
    double sum = 0;
    do {
        char *unit = NULL;
        if (!begins_number(at))
            return false;
        double number = g_ascii_strtod(at, &unit);
        size_t length = strspn(unit, LETTERS);
        bool alone = at == text && length == 0;
        int64_t each = alone ? bare_ms : unit_ms(unit, length);
        sum += number * (double)each;
        if (each == 0 || !(sum <= most))
            return false;
        at = unit + length;
        if (alone && *at)
            return false;
    } while (*at);
    *ms = (int64_t)sum;
    if (sum - (double)*ms > 1e-6) /* 2.3 s may be a little more than 2300 ms, in binary */
        ++*ms;
    return true;
}

/* "400ms", "10m", "1d". g_free it. */
static char *duration_text(int64_t ms) {
    for (size_t i = 0; ms > 0 && i < G_N_ELEMENTS(units); i++)
        if (ms % units[i].ms == 0)
            return g_strdup_printf("%" G_GINT64_FORMAT "%s", (gint64)(ms / units[i].ms), units[i].name);
    return g_strdup("0");
}

static bool take(const char *option, const char *text, int64_t bare_ms, int64_t least, int64_t most, int64_t *ms) {
    int64_t value = 0;
    if (!text)
        return true;
    if (cmd_duration_parse(text, bare_ms, &value) && value >= least && value <= most) {
        *ms = value;
        return true;
    }
    g_autofree char *first = duration_text(least), *last = duration_text(most);
    cmd_error("%s: times from %s to %s are possible: a number with ms, s, m, h or d, as in 1.5s or 1h30m; alone it is "
              "%s",
              option, first, last, bare_ms == 1 ? "ms" : "seconds");
    return false;
}

bool cmd_duration(const char *option, const char *text, int64_t least, int64_t most, int64_t *ms) {
    return take(option, text, 1000, least, most, ms);
}

bool cmd_duration_in_ms(const char *option, const char *text, int64_t least, int64_t most, int64_t *ms) {
    return take(option, text, 1, least, most, ms);
}

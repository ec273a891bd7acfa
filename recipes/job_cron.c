/* The times that a cron expression names, as crontab(5) has its five fields:
 *
 *     30 2 * * 1-5        minute (0-59), hour (0-23), day of the month (1-31), month (1-12), day of the week (0-7)
 *
 * A field is a list of parts: a number, a range of two, or a star for all; a step may follow a range or a star. Months
 * and days of the week have names of three letters. Of the two fields of days, either names a day where both are
 * restricted, that is, begin with no star; otherwise both have to.
 *
 * A time here is a reading of clocks, in ms as if they showed UTC. job_period.c knows when they show it.
 */
#include "job.h"

#include <string.h>

#define MINUTE INT64_C(60000)

enum {
    FIELDS = 5,
    DAY_MINUTES = 1440,
    EPOCH = 719163, /* 1970-01-01, as GDate counts days */
    /* A 29th of February on a certain day of the week may be 40 years after the one before. */
    MOST_DAYS = 41 * 366,
};

/* One of the fields; three letters for each of its names. */
typedef struct {
    guint64 least, most;
    const char *names;
} field;

static const field fields[FIELDS] = {
    {0, 59, ""},
    {0, 23, ""},
    {1, 31, ""},
    {1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"},
    {0, 7, "sunmontuewedthufrisat"},
};

static const struct {
    const char *name, *text;
} nicknames[] = {
    {"@hourly", "0 * * * *"},  {"@daily", "0 0 * * *"},  {"@midnight", "0 0 * * *"}, {"@weekly", "0 0 * * 0"},
    {"@monthly", "0 0 1 * *"}, {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"},
};

/* ---- the text */

static guint64 take_number(const char **at) {
    char *end = NULL;
    guint64 number = g_ascii_strtoull(*at, &end, 10);
    *at = end;
    return number;
}

/* A number of the field, or a name. */
static bool take_value(const char **at, const field *f, guint64 *value) {
    if (g_ascii_isdigit(**at)) {
        *value = take_number(at);
        return *value >= f->least && *value <= f->most;
    }
    for (size_t i = 0; f->names[i]; i += 3) {
        if (g_ascii_strncasecmp(*at, f->names + i, 3) == 0) {
            *value = f->least + i / 3;
            *at += 3;
            return true;
        }
    }
    return false;
}

/* The step behind a range; 1 without one, and 0 if it is none. */
static guint64 take_step(const char **at) {
    if (**at != '/')
        return 1;
    (*at)++;
    guint64 step = g_ascii_isdigit(**at) ? take_number(at) : 0;
    return MIN(step, 60);
}

static bool take_part(const char **at, const field *f, guint64 *set) {
    guint64 first = f->least, last = f->most, step = 1;
    bool all = **at == '*';
    if (all)
        (*at)++;
    else if (!take_value(at, f, &first))
        return false;
    bool range = !all && **at == '-';
    if (range) {
        (*at)++;
        if (!take_value(at, f, &last) || last < first)
            return false;
    } else if (!all) {
        last = first;
    }
    if (all || range)
        step = take_step(at);
    for (guint64 i = first; step > 0 && i <= last; i += step)
        *set |= G_GUINT64_CONSTANT(1) << i;
    return step > 0;
}

/* A list, up to a blank or the end. */
static bool take_list(const char **at, const field *f, guint64 *set) {
    *set = 0;
    while (take_part(at, f, set)) {
        if (**at != ',')
            return strchr(" \t", **at) != NULL; /* or the end of the text */
        (*at)++;
    }
    return false;
}

bool pdk__job_cron_parse(const char *text, struct pdk__job_cron *cron) {
    guint64 sets[FIELDS];
    bool stars[FIELDS];
    for (size_t i = 0; i < G_N_ELEMENTS(nicknames); i++)
        if (strcmp(text, nicknames[i].name) == 0)
            text = nicknames[i].text;
    for (int i = 0; i < FIELDS; i++) {
        text += strspn(text, " \t");
        stars[i] = *text == '*';
        if (!take_list(&text, &fields[i], &sets[i]))
            return false;
    }
    *cron = (struct pdk__job_cron){.minutes = sets[0],
                                   .hours = sets[1],
                                   .days = sets[2],
                                   .months = sets[3],
                                   .weekdays = sets[4] | sets[4] >> 7, /* 7 is Sunday, as 0 is */
                                   .either = !stars[2] && !stars[4]};
    return text[strspn(text, " \t")] == '\0' && pdk__job_cron_next(cron, 0) >= 0;
}

/* ---- the times */

static bool has(guint64 set, int64_t number) { return set >> number & 1; }

static bool is_day(const struct pdk__job_cron *cron, const GDate *date) {
    bool of_month = has(cron->days, g_date_get_day(date));
    bool of_week = has(cron->weekdays, g_date_get_weekday(date) % 7);
    return has(cron->months, g_date_get_month(date)) && (cron->either ? of_month || of_week : of_month && of_week);
}

int64_t pdk__job_cron_next(const struct pdk__job_cron *cron, int64_t from) {
    int64_t minute = (MAX(from, 0) + MINUTE - 1) / MINUTE, day = minute / DAY_MINUTES, end = day + MOST_DAYS;
    for (minute %= DAY_MINUTES; day < end; day++, minute = 0) {
        GDate date;
        g_date_clear(&date, 1);
        g_date_set_julian(&date, (guint32)(EPOCH + day));
        if (!is_day(cron, &date))
            continue;
        for (; minute < DAY_MINUTES; minute++)
            if (has(cron->hours, minute / 60) && has(cron->minutes, minute % 60))
                return (day * DAY_MINUTES + minute) * MINUTE;
    }
    return -1;
}

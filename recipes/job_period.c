/* The periods of a job in a time zone: each ends where the clocks there first show a certain time, of a day or of a
 * number of days; or the times that a cron expression names.
 *
 *     the clocks show        01:00   02:00        03:00   04:00      02:00   03:00        02:00   03:00
 *                              ├───────┼─ a gap ────┼───────┤          ├───────┼─ again ────┼───────┤
 *     02:30                            └──── here ──►                       here ◄── not here
 *
 * Clocks that are put forward may never show that time: then the end is the first moment after the gap. Clocks that are
 * put back may show it twice: then the end is the first of the two. So each day has one end of a period, and no two
 * have the same. A day that the clocks never show has none, as 2011-12-30 in Samoa.
 *
 * All is in ms: moments since 1970 UTC, and the readings of clocks, as if they were UTC.
 */
#include "job.h"

#include <string.h>

#define HOUR INT64_C(3600000)
/* No clock differs from UTC by more. */
#define MOST_APART (26 * HOUR)

GTimeZone *pdk__job_zone(const char *name) {
    /* GLib opens a path, and takes the empty name for the machine's own zone. Another machine may have another one. */
    bool plain = g_ascii_isalpha(name[0]) || strchr("+-", name[0]);
    for (const char *c = name; *c; c++)
        plain = plain && (g_ascii_isalnum(*c) || strchr("/_+-:", *c));
    return plain && name[0] ? g_time_zone_new_identifier(name) : NULL;
}

static int64_t seconds(int64_t ms) { return ms >= 0 ? ms / 1000 : -((999 - ms) / 1000); }

static int interval_at(GTimeZone *zone, int64_t moment) {
    return g_time_zone_find_interval(zone, G_TIME_TYPE_UNIVERSAL, seconds(moment));
}

static int64_t shown_at(GTimeZone *zone, int64_t moment) {
    return moment + g_time_zone_get_offset(zone, interval_at(zone, moment)) * INT64_C(1000);
}

/* The clocks are put forward or back between the two moments: find when they are, the first of several times. */
static int64_t find_change(GTimeZone *zone, int64_t before, int64_t after) {
    int interval = interval_at(zone, before);
    int64_t low = seconds(before), high = seconds(after);
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (interval_at(zone, middle * 1000) == interval)
            low = middle;
        else
            high = middle;
    }
    return high * 1000;
}

/* The first moment at which the clocks show this, or a later time. */
static int64_t first_shown(GTimeZone *zone, int64_t wanted) {
    int64_t moment = wanted - MOST_APART;
    for (;;) {
        int64_t there = moment + wanted - shown_at(zone, moment);
        if (there <= moment) /* they jumped over it */
            return moment;
        if (interval_at(zone, there) == interval_at(zone, moment))
            return there;
        moment = find_change(zone, moment, there);
    }
}

/* Do the clocks show any of the days from this one on? They jump to `moment`, if they jump. */
static bool has_days(GTimeZone *zone, int64_t moment, int64_t day, int64_t days_ms) {
    return shown_at(zone, moment) < day + days_ms || shown_at(zone, moment - 1000) >= day;
}

struct pdk__job_period pdk__job_period_at(GTimeZone *zone, int64_t at, int64_t every, int64_t now) {
    int64_t first = 0, shown = shown_at(zone, now) - at;
    int64_t number = (shown >= 0 ? shown / every : -1) - 2; /* clocks that are put back show times again */
    for (;; number++) {
        int64_t wanted = number * every + at, day = wanted - wanted % PDK__JOB_DAY;
        int64_t edge = first_shown(zone, wanted);
        if (edge <= now || !has_days(zone, edge, day, every))
            continue;
        if (first)
            return (struct pdk__job_period){.end = first, .next = edge - first};
        first = edge;
    }
}

struct pdk__job_period pdk__job_cron_period(GTimeZone *zone, const struct pdk__job_cron *cron, int64_t now) {
    int64_t first = 0, wanted = shown_at(zone, now);
    for (;;) {
        wanted = pdk__job_cron_next(cron, wanted + 1);
        int64_t day = wanted - wanted % PDK__JOB_DAY, edge = first_shown(zone, wanted);
        /* Several times of a gap have one moment. */
        if (edge <= MAX(now, first) || !has_days(zone, edge, day, PDK__JOB_DAY))
            continue;
        if (first)
            return (struct pdk__job_period){.end = first, .next = MIN(edge - first, PDK__JOB_LONGEST)};
        first = edge;
    }
}

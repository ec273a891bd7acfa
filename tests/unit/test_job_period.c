/* The periods of a job in time zones. The judge is the C library: it is asked what the clocks show, each quarter of an hour of years. */
#include "job.h"
#include "ts_check.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MINUTE INT64_C(60000)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define STEP (15 * MINUTE)

enum { STEPS_MOST = 4 * 24 * 366 * 6 };

/* What the clocks show at `first` and each step after it. */
static struct {
    int64_t first;
    int count;
    int64_t shown[STEPS_MOST];
} years;

static int64_t moment(const char *text) {
    g_autoptr(GDateTime) when = g_date_time_new_from_iso8601(text, NULL);
    ck_assert_msg(when != NULL, "%s", text);
    return g_date_time_to_unix(when) * 1000;
}

static void read_years(const char *zone, int from, int to) {
    g_autofree char *begin = g_strdup_printf("%d-01-01T00:00:00Z", from),
                    *end = g_strdup_printf("%d-01-01T00:00:00Z", to);
    setenv("TZ", zone, 1);
    tzset();
    years.first = moment(begin);
    years.count = (int)((moment(end) - years.first) / STEP);
    ck_assert_int_le(years.count, STEPS_MOST);
    for (int i = 0; i < years.count; i++) {
        time_t at = (time_t)((years.first + i * STEP) / 1000);
        struct tm local;
        if (!localtime_r(&at, &local))
            ck_abort();
        years.shown[i] = (at + local.tm_gmtoff) * 1000;
    }
}

/* The first moment at which the clocks show it, or a later time; of a day that they do show. */
static GArray *edges_of(int64_t at) {
    GArray *edges = g_array_new(FALSE, FALSE, sizeof(int64_t));
    int i = 0;
    for (int64_t day = years.shown[0] / DAY + 1; day < years.shown[years.count - 1] / DAY; day++) {
        bool is_shown = false;
        for (int k = MAX(i - 400, 0); k < years.count && k < i + 400; k++)
            is_shown = is_shown || years.shown[k] / DAY == day;
        while (i < years.count && years.shown[i] < day * DAY + at)
            i++;
        int64_t edge = years.first + i * STEP;
        if (is_shown && i < years.count)
            g_array_append_val(edges, edge);
    }
    return edges;
}

static int lengths[50]; /* how many periods have so many hours; the last: not a whole number */

/* Check writes down each assertion, so there is none where nothing is wrong. */
static void expect(GTimeZone *zone, int64_t at, int64_t now, int64_t end, int64_t next) {
    struct pdk__job_period period = pdk__job_period_at(zone, at, DAY, now);
    if (period.end != end || period.next != next)
        ck_abort_msg("%s at %d min, now %lld: until %lld, then %lld ms; not %lld, %lld",
                     g_time_zone_get_identifier(zone), (int)(at / MINUTE), (long long)now, (long long)period.end,
                     (long long)period.next, (long long)end, (long long)next);
}

/* Each moment is in one period, each day has one, and one follows the other. */
static void check_days(GTimeZone *zone, int64_t at) {
    g_autoptr(GArray) edges = edges_of(at);
    const int64_t *edge = (const int64_t *)(void *)edges->data;
    ck_assert_uint_gt(edges->len, 365);
    for (guint i = 0; i + 2 < edges->len; i++) {
        int64_t length = edge[i + 1] - edge[i], next = edge[i + 2] - edge[i + 1];
        if (length <= 0)
            ck_abort_msg("%lld is no length", (long long)length);
        lengths[length % HOUR ? 49 : MIN(length / HOUR, 48)]++;
        const int64_t nows[] = {edge[i], edge[i] + 1, edge[i] + length / 3, edge[i] + length / 2, edge[i + 1] - 1};
        for (size_t k = 0; k < G_N_ELEMENTS(nows); k++)
            expect(zone, at, nows[k], edge[i + 1], next);
    }
}

static const char *const names[] = {"UTC",
                                    "Europe/Berlin",
                                    "America/New_York",
                                    "Australia/Lord_Howe",
                                    "America/Sao_Paulo",
                                    "Asia/Kathmandu",
                                    "Pacific/Apia",

                                    "Africa/Casablanca"};

START_TEST(each_day_has_one_period) {
    static const int64_t times[] = {0, 90 * MINUTE, 150 * MINUTE, DAY - STEP};
    g_autoptr(GTimeZone) zone = pdk__job_zone(names[_i]);
    ck_assert_ptr_nonnull(zone);
    memset(lengths, 0, sizeof lengths);
    for (int from = 2009; from < 2029; from += 15) {
        read_years(names[_i], from, from + 5);
        for (size_t i = 0; i < G_N_ELEMENTS(times); i++)
            check_days(zone, times[i]);
    }
    bool same = strcmp(names[_i], "UTC") == 0 || strcmp(names[_i], "Asia/Kathmandu") == 0;
    ck_assert((lengths[24] > 10000) && (same == !(lengths[23] || lengths[25] || lengths[49])));
}
END_TEST

START_TEST(what_is_known) {
    static const struct {
        const char *zone, *now, *end;
        int64_t at, every, next;
    } known[] = {
        {"UTC", "2027-03-28T12:00:00Z", "2027-03-29T01:30:00Z", 90 * MINUTE, DAY, DAY},
        {"Europe/Berlin", "2027-03-27T12:00:00Z", "2027-03-28T00:30:00Z", 90 * MINUTE, DAY, 23 * HOUR},
        {"Europe/Berlin", "2027-03-27T12:00:00Z", "2027-03-28T01:00:00Z", 150 * MINUTE, DAY,
         23 * HOUR + 30 * MINUTE}, /* a gap */
        {"Europe/Berlin", "2027-10-30T12:00:00Z", "2027-10-31T00:30:00Z", 150 * MINUTE, DAY,
         25 * HOUR}, /* twice: the first */
        {"Europe/Berlin", "2027-10-31T00:59:59Z", "2027-11-01T01:30:00Z", 150 * MINUTE, DAY, DAY},
        {"Europe/Berlin", "2027-10-31T01:29:59Z", "2027-11-01T01:30:00Z", 150 * MINUTE, DAY, DAY},
        {"America/Sao_Paulo", "2018-11-03T12:00:00Z", "2018-11-04T03:00:00Z", 0, DAY,
         23 * HOUR}, /* midnight is in the gap */
        {"Australia/Lord_Howe", "2026-10-02T20:00:00Z", "2026-10-03T13:30:00Z", 0, DAY, 23 * HOUR + 30 * MINUTE},
        {"Pacific/Apia", "2011-12-29T20:00:00Z", "2011-12-30T10:00:00Z", 0, DAY, DAY}, /* midnight of the 31st */
        {"Pacific/Apia", "2011-12-29T20:00:00Z", "2011-12-30T11:30:00Z", 90 * MINUTE, DAY, DAY},
        {"Pacific/Apia", "2011-12-29T09:00:00Z", "2011-12-29T11:30:00Z", 90 * MINUTE, DAY,
         DAY}, /* the 29th; the 30th has none */
        {"Asia/Pyongyang", "2018-05-04T12:00:00Z", "2018-05-04T15:00:00Z", DAY - STEP, DAY,
         23 * HOUR + 45 * MINUTE}, /* the gap begins in the day, and ends with it */
        {"Asia/Kathmandu", "2027-01-01T00:00:00Z", "2027-01-01T18:15:00Z", 0, DAY, DAY},
        {"+05:30", "2027-01-01T00:00:00Z", "2027-01-01T18:30:00Z", 0, DAY, DAY},
        {"Europe/Berlin", "2027-03-24T12:00:00Z", "2027-03-25T00:30:00Z", 90 * MINUTE, 7 * DAY,
         7 * DAY - HOUR}, /* Thursdays */
        {"Europe/Berlin", "2027-03-24T12:00:00Z", "2027-03-29T00:00:00Z" /* Mondays at 2 */, 4 * DAY + 2 * HOUR,
         7 * DAY, 7 * DAY},
        {"UTC", "1970-01-01T00:00:01Z", "1970-01-01T23:45:00Z", DAY - STEP, DAY, DAY},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
        g_autoptr(GTimeZone) zone = pdk__job_zone(known[i].zone);
        struct pdk__job_period period = pdk__job_period_at(zone, known[i].at, known[i].every, moment(known[i].now));
        ck_assert_msg(period.end == moment(known[i].end) && period.next == known[i].next,
                      "%s, %s: until %lld, then %lld h", known[i].zone, known[i].now, (long long)period.end,
                      (long long)(period.next / HOUR));
    }
}
END_TEST

START_TEST(names_of_zones) {
    static const char *const unknown[] = {"",
                                          "Europe/Nowhere",
                                          "Berlin",
                                          "/etc/localtime",
                                          "../../etc/passwd",
                                          "Europe/Berlin ",
                                          "a b",
                                          ":UTC",
                                          "Europe/",
                                          "Europe",
                                          "UTC\n",
                                          "CET-1CEST",
                                          "\xff"};
    static const char *const good[] = {"UTC",       "Europe/Berlin", "America/Argentina/Buenos_Aires",
                                       "Etc/GMT+3", "+01:00",        "-03"};
    for (size_t i = 0; i < G_N_ELEMENTS(unknown); i++)
        ck_assert_msg(pdk__job_zone(unknown[i]) == NULL, "%s", unknown[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
        g_autoptr(GTimeZone) zone = pdk__job_zone(good[i]);
        ck_assert_msg(zone != NULL, "%s", good[i]);
    }
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("job periods");
    TCase *all = tcase_create("zones");
    tcase_add_loop_test(all, each_day_has_one_period, 0, G_N_ELEMENTS(names));
    tcase_add_test(all, what_is_known);
    tcase_add_test(all, names_of_zones);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

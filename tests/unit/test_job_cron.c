/* The times that a cron expression names. The judge is the text of crontab(5), and the C library's calendar, minute by minute. */
#include "job.h"
#include "ts_check.h"

#include <glib.h>
#include <string.h>
#include <time.h>

#define MINUTE INT64_C(60000)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

static int64_t moment(const char *text) {
    g_autoptr(GDateTime) when = g_date_time_new_from_iso8601(text, NULL);
    ck_assert_msg(when != NULL, "%s", text);
    return g_date_time_to_unix(when) * 1000;
}

static struct pdk__job_cron parsed(const char *text) {
    struct pdk__job_cron cron;
    ck_assert_msg(pdk__job_cron_parse(text, &cron), "%s", text);
    return cron;
}

/* ---- a year of minutes */

static bool weekdays_at_22(const struct tm *t) { return t->tm_hour == 22 && t->tm_min == 0 && t->tm_wday % 6 != 0; }
static bool even_hours_and_23_past(const struct tm *t) { return t->tm_hour % 2 == 0 && t->tm_min == 23; }
static bool sunday_at_5_past_4(const struct tm *t) { return t->tm_wday == 0 && t->tm_hour == 4 && t->tm_min == 5; }
static bool first_of_month(const struct tm *t) { return t->tm_mday == 1 && t->tm_hour == 14 && t->tm_min == 15; }
static bool five_past_midnight(const struct tm *t) { return t->tm_hour == 0 && t->tm_min == 5; }
static bool first_fifteenth_and_fridays(const struct tm *t) {
    return (t->tm_mday == 1 || t->tm_mday == 15 || t->tm_wday == 5) && t->tm_hour == 4 && t->tm_min == 30;
}
static bool second_weekends(const struct tm *t) {
    return t->tm_mday >= 8 && t->tm_mday <= 14 && t->tm_wday % 6 == 0 && t->tm_hour == 4 && t->tm_min == 0;
}
static bool odd_days_that_are_mondays(const struct tm *t) {
    return t->tm_mday % 2 == 1 && t->tm_wday == 1 && t->tm_hour == 0 && t->tm_min == 0;
}
static bool quarters(const struct tm *t) { return t->tm_min % 15 == 0; }
static bool business(const struct tm *t) {
    return t->tm_min % 20 == 5 && t->tm_hour >= 9 && t->tm_hour <= 17 && t->tm_hour % 4 == 1 && t->tm_mon % 3 == 0;
}
static bool each_minute(const struct tm *t) { return t->tm_min >= 0; }
static bool leap_day(const struct tm *t) { return t->tm_mon == 1 && t->tm_mday == 29 && t->tm_hour + t->tm_min == 0; }

static const struct {
    const char *text;
    bool (*named)(const struct tm *t);
} years[] = {
    /* The examples of crontab(5). */
    {"5 0 * * *", five_past_midnight},
    {"15 14 1 * *", first_of_month},
    {"0 22 * * 1-5", weekdays_at_22},
    {"23 0-23/2 * * *", even_hours_and_23_past},
    {"5 4 * * sun", sunday_at_5_past_4},
    {"30 4 1,15 * 5", first_fifteenth_and_fridays},
    /* A step from a star is one: both fields of days have to name the day. */
    {"0 0 */2 * 1", odd_days_that_are_mondays},
    {"0 4 8-14 * */6", second_weekends}, /* 0 and 6 */
    {"*/15 * * * *", quarters},
    {"5-59/20 9-17/4 * jan,APR,Jul-Jul,10 *", business},
    {"* * * * *", each_minute},
    {"0 0 29 2 *", leap_day},
    {"0 0 29 feb *", leap_day},
    /* Other ways to write them. */
    {"05 00 1-31 1-12 0-7", five_past_midnight},
    {" \t5 0\t*  * 0,1,2,3-6 ", five_past_midnight},
    {"0 22 * * mon-FRI", weekdays_at_22},
    {"0 22 * * 1,2,3,4,5", weekdays_at_22},
    {"5 4 * * 7", sunday_at_5_past_4},
    {"5 4 * * 0", sunday_at_5_past_4},
    {"23 */2 * * *", even_hours_and_23_past},
    {"0-59/15 * * * *", quarters},
    {"*/1 */1 */1 */1 */1", each_minute},
};

/* Check writes down each assertion, so there is none where nothing is wrong. */
START_TEST(a_year_of_minutes) {
    struct pdk__job_cron crons[G_N_ELEMENTS(years)];
    int64_t next[G_N_ELEMENTS(years)];
    int found[G_N_ELEMENTS(years)] = {0};
    for (size_t i = 0; i < G_N_ELEMENTS(years); i++) {
        crons[i] = parsed(years[i].text);
        next[i] = -1;
    }
    const int64_t end = moment("2029-01-01T00:00:00Z");
    for (int64_t at = moment("2028-01-01T00:00:00Z"); at < end; at += MINUTE) {
        time_t seconds = (time_t)(at / 1000);
        struct tm t;
        if (!gmtime_r(&seconds, &t))
            ck_abort();
        for (size_t i = 0; i < G_N_ELEMENTS(years); i++) {
            if (next[i] < at)
                next[i] = pdk__job_cron_next(&crons[i], at);
            if ((next[i] == at) != years[i].named(&t))
                ck_abort_msg("%s at %lld: next is %lld", years[i].text, (long long)at, (long long)next[i]);
            found[i] += next[i] == at;
        }
    }
    for (size_t i = 0; i < G_N_ELEMENTS(years); i++)
        ck_assert_msg(found[i] > 0, "%s", years[i].text);
}
END_TEST

/* ---- the text */

START_TEST(names_for_times) {
    static const char *const rows[][2] = {
        {"@hourly", "0 * * * *"},  {"@daily", "0 0 * * *"},  {"@midnight", "0 0 * * *"}, {"@weekly", "0 0 * * 0"},
        {"@monthly", "0 0 1 * *"}, {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"0 0 * * 7", "0 0 * * 0"}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct pdk__job_cron one = parsed(rows[i][0]), other = parsed(rows[i][1]);
        for (int64_t at = 0; at < 400 * DAY; at += 7 * HOUR)
            ck_assert_int_eq(pdk__job_cron_next(&one, at), pdk__job_cron_next(&other, at));
    }
}
END_TEST

START_TEST(what_is_none) {
    static const char *const texts[] = {"",
                                        " ",
                                        "*",
                                        "* * * *",
                                        "* * * * * *",
                                        "0 0 * * * x",
                                        "60 * * * *",
                                        "-1 * * * *",
                                        "* 24 * * *",
                                        "* * 0 * *",
                                        "* * 32 * *",
                                        "* * * 0 *",
                                        "* * * 13 *",
                                        "* * * * 8",
                                        "5-1 * * * *",
                                        "1- * * * *",
                                        "1-x * * * *",
                                        "-5 * * * *",
                                        "1, * * * *",
                                        ",1 * * * *",
                                        "1,,2 * * * *",
                                        "*/0 * * * *",
                                        "*/ * * * *",
                                        "*/x * * * *",
                                        "5/10 * * * *",
                                        "*5 * * * *",
                                        "1-5x * * * *",
                                        "x * * * *",
                                        "jan * * * *",
                                        "* * * mon *",
                                        "* * * * jan",
                                        "* * * janu *",
                                        "* * * * sat-sun",
                                        "@reboot",
                                        "@Daily",
                                        "@",
                                        "1.5 * * * *",
                                        "? * * * *",
                                        "* * L * *",
                                        "* * * * 1#2",
                                        "99999999999999999999 * * * *",
                                        "0 0 30 2 *",
                                        "0 0 31 2,4,6,9,11 *",
                                        "0 0 * * *\n",
                                        "~ * * * *",
                                        "*/99999999999999999999x * * * *"};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        struct pdk__job_cron cron;
        ck_assert_msg(!pdk__job_cron_parse(texts[i], &cron), "%s", texts[i]);
    }
}
END_TEST

/* ---- periods */

/* Clocks that skip a time, show it twice, or skip a day. */
START_TEST(periods) {
    static const struct {
        const char *text, *zone, *now, *end;
        int64_t next;
    } rows[] = {
        {"30 2 * * *", "UTC", "2027-03-28T12:00:00Z", "2027-03-29T02:30:00Z", DAY},
        {"30 2 * * *", "UTC", "2027-03-28T02:29:59Z", "2027-03-28T02:30:00Z", DAY},
        {"30 2 * * *", "UTC", "2027-03-28T02:30:00Z", "2027-03-29T02:30:00Z", DAY},
        {"30 2 * * *", "Europe/Berlin", "2027-03-26T12:00:00Z", "2027-03-27T01:30:00Z", 23 * HOUR + 30 * MINUTE},
        {"30 2 * * *", "Europe/Berlin", "2027-03-27T12:00:00Z", "2027-03-28T01:00:00Z", 23 * HOUR + 30 * MINUTE},
        {"0,20,40 2 * * *", "Europe/Berlin", "2027-03-27T12:00:00Z", "2027-03-28T01:00:00Z",
         23 * HOUR}, /* three in the gap */
        {"0 2,3 * * *", "Europe/Berlin", "2027-03-27T12:00:00Z", "2027-03-28T01:00:00Z",
         23 * HOUR}, /* 3:00 is the end of the gap */
        {"30 2 * * *", "Europe/Berlin", "2027-10-30T12:00:00Z", "2027-10-31T00:30:00Z", 25 * HOUR},
        {"30 2 * * *", "Europe/Berlin", "2027-10-31T01:10:00Z", "2027-11-01T01:30:00Z", DAY}, /* 2:10 again */
        {"*/30 * * * *", "Europe/Berlin", "2027-10-31T00:10:00Z", "2027-10-31T00:30:00Z",
         90 * MINUTE},                                                                      /* 2:30, then 3:00 */
        {"0 0 * * *", "Pacific/Apia", "2011-12-29T20:00:00Z", "2011-12-30T10:00:00Z", DAY}, /* no 30th there */
        {"0 12 * * *", "Pacific/Apia", "2011-12-29T09:00:00Z", "2011-12-29T22:00:00Z", DAY},
        {"0 0 * * 1", "Asia/Kathmandu", "2027-01-01T00:00:00Z", "2027-01-03T18:15:00Z", 7 * DAY},
        {"0 0 1 1 *", "UTC", "1970-01-01T00:00:01Z", "1971-01-01T00:00:00Z", 365 * DAY},
        {"0 0 29 2 *", "UTC", "2095-03-01T00:00:00Z", "2096-02-29T00:00:00Z", 2921 * DAY},
        {"0 0 29 2 */7", "UTC", "2072-03-01T00:00:00Z", "2096-02-29T00:00:00Z", 0},
        {"@monthly", "America/New_York", "2027-02-10T00:00:00Z", "2027-03-01T05:00:00Z", 31 * DAY - HOUR},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GTimeZone) zone = pdk__job_zone(rows[i].zone);
        struct pdk__job_cron cron = parsed(rows[i].text);
        struct pdk__job_period period = pdk__job_cron_period(zone, &cron, moment(rows[i].now));
        ck_assert_msg((rows[i].next == 0 || (period.end == moment(rows[i].end) && period.next == rows[i].next)) &&
                          period.next > 0 && period.next <= PDK__JOB_LONGEST,
                      "%s, %s, %s: until %lld, then %lld min", rows[i].text, rows[i].zone, rows[i].now,
                      (long long)period.end, (long long)(period.next / MINUTE));
    }
}
END_TEST

/* Each moment of the two nights of a year is in one period, and one follows the other. */
START_TEST(one_follows_the_other) {
    static const char *const nights[] = {"2027-03-27T20:00:00Z", "2027-10-30T20:00:00Z"};
    static const char *const texts[] = {"*/7 * * * *", "30 2 * * *", "@hourly", "59 1,2,3 * * *"};
    g_autoptr(GTimeZone) zone = pdk__job_zone("Europe/Berlin");
    for (size_t i = 0; i < 8; i++) {
        struct pdk__job_cron cron = parsed(texts[i / 2]);
        int64_t now = moment(nights[i % 2]), end = now + 12 * HOUR;
        struct pdk__job_period before = pdk__job_cron_period(zone, &cron, now), period = before;
        for (; now < end; now += 20 * 1000, before = period) {
            period = pdk__job_cron_period(zone, &cron, now);
            int64_t expected = now < before.end ? before.end : before.end + before.next;
            if (period.end != expected || period.end <= now)
                ck_abort_msg("%s at %lld: until %lld", texts[i / 2], (long long)now, (long long)period.end);
        }
    }
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("cron expressions");
    TCase *all = tcase_create("cron");
    tcase_add_test(all, a_year_of_minutes);
    tcase_add_test(all, names_for_times);
    tcase_add_test(all, what_is_none);
    tcase_add_test(all, periods);
    tcase_add_test(all, one_follows_the_other);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

/* Durations on the command line (command/duration.c). */
#include "../../command/duration.h"
#include "../../command/say.h"
#include "ts_check.h"

#include <glib.h>
#include <stdarg.h>
#include <string.h>

static char said[512];

void cmd_error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    g_vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
}

START_TEST(each_way_to_write_one) {
    static const struct {
        const char *text;
        int64_t ms;
    } rows[] = {{"0", 0},
                {"5", 5000},
                {"5s", 5000},
                {"007", 7000},
                {"1.5s", 1500},
                {"2m", 120000},
                {"1h", 3600000},
                {"1d", 86400000},
                {"400ms", 400},
                {".5", 500},
                {".007", 7},
                {"1.", 1000},
                {"1h30m", 5400000},
                {"1m30.5s", 90500},
                {"1d0.5h", 88200000},
                {"0.0001", 1},
                {"2.3", 2300},
                {"4.35", 4350},
                {"0.1ms", 1},
                {"1e3", 1000000},
                {"2ms3ms", 5},
                {"1e12", 1000000000000000}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        int64_t ms = -1;
        ck_assert_msg(cmd_duration_parse(rows[i].text, 1000, &ms), "%s", rows[i].text);
        ck_assert_msg(ms == rows[i].ms, "%s: %lld", rows[i].text, (long long)ms);
    }
}
END_TEST

START_TEST(what_is_none) {
    static const char *const texts[] = {"",
                                        " ",
                                        "5 s",
                                        " 5",
                                        "5s ",
                                        "s",
                                        "x",
                                        "5x",
                                        "5S",
                                        "-1",
                                        "+5",
                                        "inf",
                                        "nan",
                                        "0x10",
                                        "0X1",
                                        "5,5",
                                        "1m5",
                                        "5.5.5",
                                        "1w",
                                        "1e400",
                                        ".",
                                        "1s-1s",
                                        "5se",
                                        "1e13",
                                        "5é",
                                        "m5",
                                        "5ss",
                                        "5sm",
                                        "1min",
                                        "1 h",
                                        "99999999999999999999"};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        int64_t ms = 42;
        ck_assert_msg(!cmd_duration_parse(texts[i], 1000, &ms) && ms == 42, "%s: %lld", texts[i], (long long)ms);
    }
}
END_TEST

/* A number alone has the option's unit, and one with a unit its own. */
START_TEST(a_number_alone) {
    int64_t ms = 0;
    ck_assert(cmd_duration("--wait", "500", 0, CMD_DURATION_MOST, &ms) && ms == 500000);
    ck_assert(cmd_duration_in_ms("--tick", "500", 1, 60000, &ms) && ms == 500);
    ck_assert(cmd_duration_in_ms("--tick", "0.5s", 1, 60000, &ms) && ms == 500);
    ck_assert(cmd_duration("--wait", NULL, 0, 1, &ms) && ms == 500);
}
END_TEST

START_TEST(the_range_is_told) {
    int64_t ms = 42;
    static const char *const beyond[] = {"0.3", "601", "x"};
    for (size_t i = 0; i < G_N_ELEMENTS(beyond); i++) {
        ck_assert(!cmd_duration("--session-timeout", beyond[i], 400, 600000, &ms) && ms == 42);
        ck_assert_ptr_nonnull(strstr(said, "--session-timeout: times from 400ms to 10m are possible"));
        ck_assert_ptr_nonnull(strstr(said, "alone it is seconds"));
    }
    ck_assert(!cmd_duration_in_ms("--tick", "0", 1, 60000, &ms));
    ck_assert_ptr_nonnull(strstr(said, "from 1ms to 1m"));
    ck_assert_ptr_nonnull(strstr(said, "alone it is ms"));
    ck_assert(!cmd_duration("--wait", "1e10", 0, CMD_DURATION_MOST, &ms));
    ck_assert_ptr_nonnull(strstr(said, "from 0 to 1000000000s"));
}
END_TEST

int main(void) {
    return ts_run("command_duration", NULL, NULL, each_way_to_write_one, what_is_none, a_number_alone,
                  the_range_is_told, NULL);
}

/* The record of a job: its text, and the rule. */
#include "core/job.h"
#include "ts_check.h"

#include <glib.h>
#include <string.h>

#define NODE "_c_00000000-0000-8000-8000-000000000001-lock-0000000007"
#define HEAD "paddock-job 1\n"

static struct pdk__job_record record;

static enum pdk__record_kind parse(const char *text, int64_t mtime) {
    return pdk__job_parse(text, strlen(text), mtime, &record);
}

static char *text_of(void) {
    g_autofree char *text = g_malloc(PDK__JOB_SIZE);
    return g_strndup(text, pdk__job_write(&record, text));
}

static struct pdk__job_run run_of(int64_t token, int64_t start) {
    struct pdk__job_run run = {.token = token, .start = start, .state = 'R', .node = NODE, .who = "me"};
    return run;
}

START_TEST(what_is_written_is_read) {
    static const char text[] = HEAD "R 9 5000 0 1 2 3 0 " NODE " a b\n"
                                    "F 8 4000 4100 0 0 0 42 " NODE " c\n"
                                    "D 7 3000 0 0 60@3001 0 0 " NODE " d\n";
    ck_assert_int_eq(parse(text, 0), PDK__RECORD_FINE);
    ck_assert_int_eq(record.count, 3);
    ck_assert_int_eq(record.runs[0].edge, 0);
    ck_assert_int_eq(record.runs[2].every, 60);
    ck_assert_int_eq(record.runs[2].edge, 3001);
    ck_assert_int_eq(record.runs[0].least, 1);
    ck_assert_int_eq(record.runs[0].every, 2);
    ck_assert_int_eq(record.runs[0].most, 3);
    ck_assert_str_eq(record.runs[0].who, "a b");
    ck_assert_int_eq(record.runs[1].outcome, 42);
    g_autofree char *again = text_of();
    ck_assert_str_eq(again, text);
    ck_assert_int_eq(parse("", 5), PDK__RECORD_FINE);
    ck_assert_int_eq(record.count, 0);
    ck_assert_int_eq(parse(HEAD, 5), PDK__RECORD_FINE);
    ck_assert_int_eq(record.count, 0);
}
END_TEST

START_TEST(the_moment_of_the_znode_is_the_last_time) {
    static const char started[] = HEAD "R 9 5000 0 0 0 0 0 " NODE " a\nF 8 10 20 0 0 0 0 " NODE " b\n";
    static const char ended[] = HEAD "F 9 5000 5000 0 0 0 0 " NODE " a\n";
    parse(started, 6000);
    ck_assert_int_eq(record.runs[0].start, 6000);
    ck_assert_int_eq(record.runs[1].end, 20);
    parse(started, 4000); /* a new leader's clock */
    ck_assert_int_eq(record.runs[0].start, 5000);
    parse(started, INT64_MAX);
    ck_assert_int_eq(record.runs[0].start, PDK__JOB_LATEST);
    parse(ended, 6000);
    ck_assert_int_eq(record.runs[0].start, 5000);
    ck_assert_int_eq(record.runs[0].end, 6000);
}
END_TEST

START_TEST(what_is_no_record_is_refused) {
    static const char *const foreign[] = {
        "x",
        "paddock-job",
        "paddock-job x\n",
        "paddock-job 0\n",
        HEAD "R 9 5000 0 0 0 0 0 " NODE " a",
        HEAD "\n",
        "something else, of some length\n",
        HEAD "R 9\n",
        HEAD "X 9 5000 0 0 0 0 0 " NODE " a\n",
        HEAD "RR 9 5000 0 0 0 0 0 " NODE " a\n",
        HEAD "D 9 5000 0 0 0 0 0 " NODE " a\n",
        HEAD "R 0 5000 0 0 0 0 0 " NODE " a\n",
        HEAD "R 09 5000 0 0 0 0 0 " NODE " a\n",
        HEAD "R 9223372036854775808 5000 0 0 0 0 0 " NODE " a\n",
        HEAD "R 9 0 0 0 0 0 0 " NODE " a\n",
        HEAD "R 9 253402300800000 0 0 0 0 0 " NODE " a\n",
        HEAD "R 9 5000 1 0 0 0 0 " NODE " a\n",
        HEAD "R 9 5000 x 0 0 0 0 " NODE " a\n",
        HEAD "R 9 5000 0 315576000001 0 0 0 " NODE " a\n",
        HEAD "R 9 5000 0 0 315576000001 0 0 " NODE " a\n",
        HEAD "R 9 5000 0 0 0 315576000001 0 " NODE " a\n",
        HEAD "R 9 5000 0 0 60@0 0 0 " NODE " a\n",
        HEAD "R 9 5000 0 0 60@ 0 0 " NODE " a\n",
        HEAD "R 9 5000 0 0 60@x 0 0 " NODE " a\n",
        HEAD "R 9 5000 0 0 60@08 0 0 " NODE " a\n",
        HEAD "R 9 5000 0 0 60@253402300800000 0 0 " NODE " a\n",
        HEAD "R 9 5000 0 0 0@7 0 0 " NODE " a\n",
        HEAD "R 9 5000 0 0 @7 0 0 " NODE " a\n",
        HEAD "R 9 5000 0 0 315576000001@7 0 0 " NODE " a\n",
        HEAD "R 9 5000 0 0 0 0 1 " NODE " a\n",
        HEAD "F 9 5000 5000 0 0 0 2147483648 " NODE " a\n",
        HEAD "F 9 5000 4999 0 0 0 0 " NODE " a\n",
        HEAD "R 9 5000 0 0\n",
        HEAD "R 9 5000 0 0 \n",
        HEAD "R 9 5000 0 0 0 0 0 no a\n",
        HEAD "R 9 5000 0 0 0 0 0 ../x/" NODE " a\n",
        HEAD "R 9 5000 0 0 0 0 0 " NODE "\n",
        HEAD "R 9 5000 0 0 0 0 0 " NODE " \n",
        HEAD "R 9 5000 0 0 0 0 0 " NODE " a\x1b\n",
        HEAD "R 9 5000 0 0 0 0 0 " NODE " a\x7f\n",
        HEAD "R 9 5000 0 0 0 0 0  a\n",
        HEAD "R 9 5000 0 0 0 0 0 " NODE " a\nR 8 5000 0 0 0 0 0 " NODE " a\n",
        HEAD "R 9 5000 0 0 0 0 0 " NODE " a\nF 9 5000 5000 0 0 0 0 " NODE " a\n",
        HEAD "R 9 5000 0 0 0 0 0 " NODE " a\n\n",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(foreign); i++) {
        ck_assert_msg(parse(foreign[i], 1) == PDK__RECORD_FOREIGN, "%s", foreign[i]);
        ck_assert_int_eq(record.count, 0);
    }
}
END_TEST

/* Other bytes than ours are no later version. */
START_TEST(only_a_later_version_is_newer) {
    ck_assert_int_eq(parse("paddock-job 2\nwhatever", 1), PDK__RECORD_NEWER);
    ck_assert_int_eq(parse("paddock-job 2147483647\n", 1), PDK__RECORD_NEWER);
    static const char *const damaged[] = {"paddock-job 1x\n",         "paddock-job 2",    "paddock-job 2 \n",
                                          "paddock-job 2x\n",         "paddock-job 02\n", "paddock-job 1\r\n",
                                          "paddock-job 9999999999\n", "paddock-job 0\n",  "paddock-job \n"};
    for (size_t i = 0; i < G_N_ELEMENTS(damaged); i++)
        ck_assert_msg(parse(damaged[i], 1) == PDK__RECORD_FOREIGN, "%s", damaged[i]);
    ck_assert_int_eq(parse("paddock-job 10\n", 1), PDK__RECORD_NEWER);
}
END_TEST

START_TEST(what_is_too_long_is_refused) {
    g_autofree char *large = g_strnfill(PDK__JOB_SIZE + 1, 'x');
    ck_assert_int_eq(parse(large, 1), PDK__RECORD_FOREIGN);
    g_autofree char *long_line = g_strnfill(600, 'x');
    g_autofree char *text = g_strconcat(HEAD "R 9 5000 0 0 0 0 0 " NODE " ", long_line, "\n", NULL);
    ck_assert_int_eq(parse(text, 1), PDK__RECORD_FOREIGN);
    text[strlen(HEAD) + 300] = '\n';
    text[strlen(HEAD) + 301] = '\0';
    ck_assert_int_eq(parse(text, 1), PDK__RECORD_FOREIGN); /* a name of more than 128 bytes */
}
END_TEST

START_TEST(it_keeps_as_many_as_it_is_told) {
    record.count = 0;
    for (int i = 1; i <= PDK__JOB_RUNS + 5; i++) {
        struct pdk__job_run run = run_of(i, i);
        memset(run.who, 'w', sizeof run.who - 1);
        pdk__job_start(&record, &run, PDK__JOB_RUNS);
    }
    ck_assert_int_eq(record.count, PDK__JOB_RUNS);
    g_autofree char *text = text_of();
    ck_assert_int_eq(parse(text, 1), PDK__RECORD_FINE);
    ck_assert_int_eq(record.count, PDK__JOB_RUNS);
    ck_assert_int_eq(record.runs[1].state, 'D');
    g_autofree char *one_more = g_strconcat(text, "D 1 1 0 0 0 0 0 " NODE " a\n", NULL);
    ck_assert_int_eq(parse(one_more, 1), PDK__RECORD_FOREIGN);
    parse(text, 1);
    struct pdk__job_run run = run_of(1000, 1000);
    pdk__job_start(&record, &run, 1);
    ck_assert_int_eq(record.count, 1);
}
END_TEST

START_TEST(when_the_next_one_may_start) {
    struct pdk__job_run run = run_of(1, 7250);
    ck_assert_int_eq(pdk__job_next(&run, false), 7250);
    run.least = 100;
    ck_assert_int_eq(pdk__job_next(&run, false), 7350);
    run.every = 1000;
    ck_assert_int_eq(pdk__job_next(&run, false), 8000);
    ck_assert_int_eq(pdk__job_next(&run, true), 7350); /* it died */
    run.least = 2000;
    ck_assert_int_eq(pdk__job_next(&run, false), 9250);
    run.least = 100;
    run.state = 'F';
    ck_assert_int_eq(pdk__job_next(&run, true), 8000);
    run.start = 8000;
    ck_assert_int_eq(pdk__job_next(&run, false), 9000);
}
END_TEST

/* The end of the period of the ask, and how long the next one is. */
START_TEST(periods_that_end_at_an_edge) {
    struct pdk__job_run run = run_of(1, 7250);
    run.every = 900;
    run.edge = 8000;
    ck_assert_int_eq(pdk__job_next(&run, false), 8000);
    run.start = 7999;
    ck_assert_int_eq(pdk__job_next(&run, false), 8000);
    run.start = 8000; /* it was asked for before, and written then */
    ck_assert_int_eq(pdk__job_next(&run, false), 8900);
    run.start = 8899;
    ck_assert_int_eq(pdk__job_next(&run, false), 8900);
    run.start = 20000;
    ck_assert_int_gt(pdk__job_next(&run, false), 20000);
    run.least = 5000;
    ck_assert_int_eq(pdk__job_next(&run, false), 25000);
    ck_assert_int_eq(pdk__job_next(&run, true), 25000);
}
END_TEST

START_TEST(the_rule) {
    struct pdk__job_run run = run_of(5, 100);
    record.count = 0;
    ck_assert_int_eq(pdk__job_judge(&record, 5, 100, false), PDK__JOB_START);
    ck_assert_int_eq(pdk__job_finish(&record, 5, 0), PDK__JOB_OVERTAKEN);
    run.least = 10;
    pdk__job_start(&record, &run, 16);
    ck_assert_int_eq(pdk__job_judge(&record, 5, 200, false), PDK__JOB_OURS);
    ck_assert_int_eq(pdk__job_judge(&record, 4, 200, false), PDK__JOB_OVERTAKEN);
    ck_assert_int_eq(pdk__job_judge(&record, 6, 109, true), PDK__JOB_SKIP);
    ck_assert_int_eq(pdk__job_judge(&record, 6, 110, true), PDK__JOB_START);
    ck_assert_int_eq(pdk__job_finish(&record, 4, 0), PDK__JOB_OVERTAKEN);
    ck_assert_int_eq(pdk__job_finish(&record, 5, 3), PDK__JOB_START);
    ck_assert_int_eq(record.runs[0].state, 'F');
    ck_assert_int_eq(record.runs[0].outcome, 3);
    ck_assert_int_eq(pdk__job_finish(&record, 5, 3), PDK__JOB_OURS);
    run = run_of(6, 110);
    pdk__job_start(&record, &run, 16);
    ck_assert_int_eq(record.runs[1].state, 'F');
    run = run_of(7, 110);
    pdk__job_start(&record, &run, 16);
    ck_assert_int_eq(record.runs[1].state, 'D');
}
END_TEST

START_TEST(identities_become_one_line) {
    char who[PDK__JOB_WHO];
    pdk__job_name("a\nb\x7f\x1b[0m", who);
    ck_assert_str_eq(who, "a?b??[0m");
    pdk__job_name("", who);
    ck_assert_str_eq(who, "?");
    g_autofree char *no_text = g_strnfill(200, '\x80');
    pdk__job_name(no_text, who);
    ck_assert_str_eq(who, "?");
    char identity[140] = "";
    for (int i = 0; i < 69; i++)
        strcat(identity, "ä");
    pdk__job_name(identity + 0, who);
    ck_assert_uint_eq(strlen(who), 128);
    memmove(identity + 1, identity, 130);
    identity[0] = 'x';
    pdk__job_name(identity, who);
    ck_assert_uint_eq(strlen(who), 127); /* not within a character */
    ck_assert(g_utf8_validate(who, -1, NULL));
}
END_TEST

int main(void) {
    return ts_run("job", NULL, NULL, what_is_written_is_read, the_moment_of_the_znode_is_the_last_time,
                  what_is_no_record_is_refused, only_a_later_version_is_newer, what_is_too_long_is_refused,
                  it_keeps_as_many_as_it_is_told, when_the_next_one_may_start, periods_that_end_at_an_edge, the_rule,
                  identities_become_one_line, NULL);
}

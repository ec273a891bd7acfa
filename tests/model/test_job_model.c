/* The record of a job, in every order of events: one start in a period, never sooner than at least for, whatever is lost, late, or
 * stale, whoever dies, and when the clock goes back. */
#include "job_model.h"
#include "ts_check.h"

#include <inttypes.h>

static void keeps_promises(struct job_config config, uint64_t least) {
    uint64_t counts[JOB_COUNTS] = {0};
    struct record_model model = job_model(&config);
    struct record_result r = record_explore(&model, counts, stdout);
    printf("%" PRIu64 " states, %" PRIu64 " steps; ran %" PRIu64 ", finished %" PRIu64 ", skipped %" PRIu64
           ", overtaken %" PRIu64 ", lost %" PRIu64 ", died %" PRIu64 "\n",
           r.states, r.steps, counts[JOB_RAN], counts[JOB_FINISHED], counts[JOB_SKIPPED], counts[JOB_OVERTAKEN],
           counts[JOB_LOST], counts[JOB_DIED]);
    ck_assert_msg(!r.broken, "%s", r.broken);
    ck_assert(r.complete);
    ck_assert_uint_ge(r.states, least);
    for (int i = 0; i < JOB_COUNTS; i++)
        ck_assert(counts[i] > 0);
}

START_TEST(periods) { keeps_promises((struct job_config){.asks = 3, .every = 3, .ticks = 3}, 1000); }
END_TEST

START_TEST(periods_and_lost_answers) {
    keeps_promises((struct job_config){.asks = 2, .every = 3, .ticks = 3, .losses = 1, .stales = 1}, 1000);
}
END_TEST

START_TEST(writes_that_come_late) {
    keeps_promises((struct job_config){.asks = 2, .every = 3, .ticks = 1, .losses = 2}, 1000);
}
END_TEST

START_TEST(periods_of_a_time_zone) {
    keeps_promises((struct job_config){.asks = 3, .every = 1, .zoned = 1, .ticks = 3}, 1000);
}
END_TEST

START_TEST(periods_of_a_time_zone_and_faults) {
    keeps_promises((struct job_config){.asks = 2, .every = 1, .zoned = 1, .ticks = 4, .losses = 1, .stales = 1}, 1000);
}
END_TEST

START_TEST(at_least_for) { keeps_promises((struct job_config){.asks = 2, .least = 2, .ticks = 3, .losses = 1}, 1000); }
END_TEST

START_TEST(a_run_that_died_is_retried) {
    keeps_promises((struct job_config){.asks = 3, .every = 4, .least = 1, .at_once = 1, .ticks = 1, .losses = 1}, 1000);
}
END_TEST

START_TEST(a_clock_that_goes_back) {
    keeps_promises((struct job_config){.asks = 2, .every = 3, .least = 1, .ticks = 4, .backs = 1}, 1000);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("job_model");
    TCase *all = tcase_create("every order");
    tcase_add_test(all, periods);
    tcase_add_test(all, periods_and_lost_answers);
    tcase_add_test(all, writes_that_come_late);
    tcase_add_test(all, periods_of_a_time_zone);
    tcase_add_test(all, periods_of_a_time_zone_and_faults);
    tcase_add_test(all, at_least_for);
    tcase_add_test(all, a_run_that_died_is_retried);
    tcase_add_test(all, a_clock_that_goes_back);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

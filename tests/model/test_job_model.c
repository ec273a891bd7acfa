/* The record of a job, in every order of events: one start in a period, never sooner than at least for, whatever is lost, late, or
 * stale, whoever dies, and when the clock goes back. */
#include "job_model.h"
#include "record_bench.h"

static const char *const names[] = {"ran", "finished", "skipped", "overtaken", "lost", "died"};

static const struct {
    const char *name;
    struct job_config config;
} rows[] = {
    {"periods", {.asks = 3, .every = 3, .ticks = 3}},
    {"periods, and lost answers", {.asks = 2, .every = 3, .ticks = 3, .losses = 1, .stales = 1}},
    {"writes that come late", {.asks = 2, .every = 3, .ticks = 1, .losses = 2}},
    {"periods of a time zone", {.asks = 3, .every = 1, .zoned = 1, .ticks = 3}},
    {"the same, and faults", {.asks = 2, .every = 1, .zoned = 1, .ticks = 4, .losses = 1, .stales = 1}},
    {"at least for", {.asks = 2, .least = 2, .ticks = 3, .losses = 1}},
    {"a run that died is retried", {.asks = 3, .every = 4, .least = 1, .at_once = 1, .ticks = 1, .losses = 1}},
    {"a clock that goes back", {.asks = 2, .every = 3, .least = 1, .ticks = 4, .backs = 1}},
};

START_TEST(every_order) {
    struct job_config config = rows[_i].config;
    struct search_model model = job_model(&config);
    printf("%s:\n", rows[_i].name);
    keeps_promises(&model, 1000, config.counts, names, JOB_COUNTS);
    for (int i = 0; i < JOB_COUNTS; i++)
        ck_assert(config.counts[i] > 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("job_model");
    TCase *all = tcase_create("every order");
    tcase_add_loop_test(all, every_order, 0, sizeof rows / sizeof rows[0]);
    suite_add_tcase(suite, all);
    return ts_run_suite(suite);
}

/* A guarded znode, in every order of events: no write of an older holder lands after a newer one has opened, whatever is lost,
 * late, or stale. */
#include "guarded_model.h"
#include "record_bench.h"

static const char *const names[] = {"opened", "written", "lost", "replaced"};

static const struct {
    const char *name;
    uint64_t least;
    struct guarded_config config;
} rows[] = {
    {"two holders without faults", 100, {.holders = 2, .writes = 2}},
    {"two holders, and lost answers", 1000, {.holders = 2, .writes = 1, .losses = 2}},
    {"two holders that write twice", 1000, {.holders = 2, .writes = 2, .losses = 1, .exists = 1}},
    {"reads that are stale", 1000, {.holders = 2, .writes = 1, .losses = 1, .stales = 2}},
    {"three holders", 1000, {.holders = 3, .writes = 1, .exists = 1}},
    {"calls that give up", 1000, {.holders = 2, .writes = 2, .gives_up = 1}},
    {"a lock node that is handed over", 1000, {.holders = 2, .writes = 1, .losses = 1, .gives_up = 1, .shared = 1}},
    {"somebody without a lock writes", 1000, {.holders = 2, .writes = 1, .losses = 1, .aliens = 1, .exists = 1}},
};

START_TEST(every_order) {
    struct guarded_config config = rows[_i].config;
    struct search_model model = guarded_model(&config);
    printf("%s:\n", rows[_i].name);
    keeps_promises(&model, rows[_i].least, config.counts, names, GUARDED_COUNTS);
    ck_assert(config.counts[GUARDED_OPENED] > 0 && config.counts[GUARDED_LOST] > 0);
    ck_assert((config.counts[GUARDED_WRITTEN] > 0) == (config.writes > 0));
    ck_assert((config.counts[GUARDED_REPLACED] > 0) == (config.aliens > 0));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("guarded_model");
    TCase *all = tcase_create("every order");
    tcase_add_loop_test(all, every_order, 0, sizeof rows / sizeof rows[0]);
    suite_add_tcase(suite, all);
    return ts_run_suite(suite);
}

/* Does the checker notice? Good histories of whole runs pass. A history that is spoiled in any of the known ways does
 * not. */
#include "deployment.h"
#include "mutations.h"
#include "ts_check.h"

#include <glib.h>
#include <string.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SEEDS 400
#else
#define SEEDS 4000
#endif

enum { MUTATIONS_MOST = 128 };

static struct deployment *deployment;
static struct plan plan;
static struct history *spoiled;
static struct checker *checker;

static void setup(void) {
    deployment = deployment_new();
    spoiled = g_new(struct history, 1);
    checker = g_new0(struct checker, 1);
}

static void teardown(void) {
    deployment_free(deployment);
    g_free(spoiled);
    g_free(checker);
}

static void record(uint64_t seed) {
    plan_draw(&plan, seed);
    struct verdict v = deployment_run(deployment, &plan, NULL);
    ck_assert_msg(!v.broken, "seed %llu: %s — %s", (unsigned long long)seed, check_words(v.check), v.detail);
}

START_TEST(good_histories_pass) {
    for (uint64_t seed = 1; seed <= SEEDS / 5; seed++) {
        record(seed);
        ck_assert_msg(checker_look_all(checker, &plan, &deployment->history), "seed %llu: %s — %s",
                      (unsigned long long)seed, check_words(checker->check), checker->detail);
    }
}
END_TEST

struct score {
    unsigned tried, noticed;
};

static void spoil_one(size_t number, struct score *score, bool broken[CHECK_COUNT], struct sim_random *chance) {
    const struct history *good = &deployment->history;
    spoiled->count = good->count;
    spoiled->full = false;
    memcpy(spoiled->events, good->events, (size_t)good->count * sizeof good->events[0]);
    if (!mutations[number].spoil(spoiled, chance))
        return;
    score->tried++;
    if (!checker_look_all(checker, &plan, spoiled)) {
        score->noticed++;
        broken[checker->check] = true;
    } else if (score->tried - score->noticed == 1) {
        printf("        seed %llu: not noticed: %s\n", (unsigned long long)plan.seed, mutations[number].name);
    }
}

START_TEST(spoiled_ones_do_not) {
    struct score scores[MUTATIONS_MOST] = {0};
    bool broken[CHECK_COUNT] = {false};
    struct sim_random chance;
    sim_random_begin(&chance, 1);
    mutations_plan = &plan;
    ck_assert_uint_le(mutations_count, MUTATIONS_MOST);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        record(seed);
        for (size_t i = 0; i < mutations_count; i++)
            spoil_one(i, &scores[i], broken, &chance);
    }
    for (size_t i = 0; i < mutations_count; i++) {
        printf("        %-36s %5u of %5u noticed\n", mutations[i].name, scores[i].noticed, scores[i].tried);
        ck_assert_msg(scores[i].tried > 0, "%s: no history had an event for it", mutations[i].name);
    }
    for (size_t i = 0; i < mutations_count; i++)
        ck_assert_msg(scores[i].noticed * 1000ULL >= scores[i].tried * 999ULL, "%s: %u of %u noticed",
                      mutations[i].name, scores[i].noticed, scores[i].tried);
    for (int i = 0; i < CHECK_COUNT; i++)
        ck_assert_msg(broken[i], "no mutation breaks: %s", check_words((enum check)i));
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("history");
    TCase *tests = tcase_create("checker");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, good_histories_pass);
    tcase_add_test(tests, spoiled_ones_do_not);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

/* Whole deployments in simulated time, as many as an everyday run has time for, and all regressions again. Then tests
 * of the simulation itself: it repeats itself, watching does not change it, and it can fail. */
#include "explore.h"
#include "ts_check.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SLOW 1
#define SEEDS 5000
#else
#define SLOW 0
#define SEEDS 30000
#endif

static struct deployment *deployment;
static struct plan plan, other;

static void setup(void) { deployment = deployment_new(); }
static void teardown(void) { deployment_free(deployment); }

static bool read_plan(struct plan *into, const char *name) {
    FILE *in = fopen(name, "r");
    ck_assert_msg(in, "%s cannot be read", name);
    bool good = plan_read(into, in, name);
    fclose(in);
    return good;
}

static char *regression(const char *name) {
    const char *source = getenv("PDK_SOURCE");
    ck_assert_msg(source, "PDK_SOURCE is not set");
    return g_build_filename(source, "tests/sim/regressions", name, NULL);
}

START_TEST(what_was_found_once_stays_away) {
    char *folder = regression(NULL);
    GDir *dir = g_dir_open(folder, 0, NULL);
    ck_assert_msg(dir, "%s cannot be read", folder);
    int count = 0;
    for (const char *name; (name = g_dir_read_name(dir)); count++) {
        char *path = g_build_filename(folder, name, NULL);
        ck_assert(read_plan(&plan, path));
        struct verdict v = deployment_run(deployment, &plan, NULL);
        printf("        %-36s %4llu events\n", name, (unsigned long long)deployment->tally.events);
        ck_assert_msg(!v.broken && !v.excused, "%s: %s — %s", name, check_words(v.check), v.detail);
        g_free(path);
    }
    ck_assert_int_ge(count, 10);
    g_dir_close(dir);
    g_free(folder);
}
END_TEST

START_TEST(promises_are_kept) {
    struct tally sum = {0};
    gint64 begun = g_get_monotonic_time();
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        plan_draw(&plan, seed);
        struct verdict v = deployment_run(deployment, &plan, NULL);
        tally_add(&sum, &deployment->tally);
        ck_assert_msg(!v.broken, "seed %llu: %s — %s (./run sim --schedules 1 --seed %llu makes it small)",
                      (unsigned long long)seed, check_words(v.check), v.detail, (unsigned long long)seed);
    }
    explore_print(&sum, (double)(g_get_monotonic_time() - begun) / 1e6, 1, stdout);
    const char *missing = explore_vacuous(&sum);
    ck_assert_msg(SLOW || !missing, "%s: this run proves nothing", missing ? missing : "");
    ck_assert_uint_ge(sum.counted, SEEDS / 2);
}
END_TEST

START_TEST(the_same_seed_is_the_same_history) {
    uint64_t hashes[60];
    for (uint64_t seed = 0; seed < 60; seed++) {
        plan_draw(&plan, 100 + seed);
        hashes[seed] = deployment_run(deployment, &plan, NULL).hash;
    }
    for (uint64_t seed = 60; seed-- > 0;) {
        plan_draw(&plan, 100 + seed);
        ck_assert_uint_eq(deployment_run(deployment, &plan, NULL).hash, hashes[seed]);
    }
}
END_TEST

START_TEST(telling_the_story_changes_nothing) {
    FILE *nowhere = fopen("/dev/null", "w");
    for (uint64_t seed = 200; seed < 260; seed++) {
        plan_draw(&plan, seed);
        uint64_t hash = deployment_run(deployment, &plan, NULL).hash;
        ck_assert_uint_eq(deployment_run(deployment, &plan, nowhere).hash, hash);
    }
    fclose(nowhere);
}
END_TEST

START_TEST(a_plan_is_its_text) {
    for (uint64_t seed = 300; seed < 400; seed++) {
        char *text = NULL;
        size_t size;
        plan_draw(&plan, seed);
        FILE *file = open_memstream(&text, &size);
        plan_print(&plan, file);
        fclose(file);
        file = fmemopen(text, size, "r");
        memset(&other, 0, sizeof other);
        ck_assert(plan_read(&other, file, "text"));
        fclose(file);
        free(text);
        ck_assert_int_eq(plan.count, other.count);
        ck_assert_mem_eq(plan.actions, other.actions, (size_t)plan.count * sizeof plan.actions[0]);
        for (size_t i = 0; i < plan_settings_count(); i++)
            ck_assert_int_eq(*plan_setting(&plan, i, NULL), *plan_setting(&other, i, NULL));
        ck_assert_uint_eq(plan.seed, other.seed);
    }
}
END_TEST

/* Clocks whose rates differ by more than was promised: a lease outlives its session. The simulation notices that and
 * makes it small. */
START_TEST(a_broken_assumption_shows) {
    char *path = regression("isolated_follower.plan");
    struct finding finding = {.broken = false};
    ck_assert(read_plan(&plan, path));
    g_free(path);
    ck_assert(!explore_one(&plan, NULL).broken);
    plan.rates = 400000;
    for (plan.seed = 0; plan.seed < 200 && !finding.broken;) {
        plan.seed++;
        finding = explore_one(&plan, NULL);
    }
    ck_assert_msg(finding.broken, "no lease outlives its session");
    if (!SLOW)
        plan_shrink(&plan, &finding, 1000, stdout);
    printf("        seed %llu: %s — %s\n", (unsigned long long)plan.seed, finding.what, finding.detail);
    ck_assert_int_le(plan.count, SLOW ? 5 : 4);
    ck_assert_int_gt(plan.rates, 62500);
    ck_assert(explore_one(&plan, NULL).broken);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("sim");
    TCase *tests = tcase_create("sim");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, what_was_found_once_stays_away);
    tcase_add_test(tests, promises_are_kept);
    tcase_add_test(tests, the_same_seed_is_the_same_history);
    tcase_add_test(tests, telling_the_story_changes_nothing);
    tcase_add_test(tests, a_plan_is_its_text);
    tcase_add_test(tests, a_broken_assumption_shows);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

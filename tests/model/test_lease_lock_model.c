/* The record of a lease lock, in every order of events: nobody else before its end, its secret at any time, never two. */
#include "lease_lock_model.h"
#include "record_bench.h"

static const char *const names[] = {"held", "back", "renewed", "stood", "too late", "lost", "given up"};

static const struct {
    const char *name;
    struct lease_lock_config config;
} rows[] = {
    {"a holder, another, and a restart", {.claims = 3, .duration = 2, .ticks = 3, .stales = 1}},
    {"lost answers", {.claims = 2, .duration = 2, .ticks = 3, .losses = 2, .stales = 1}},
    {"renewals", {.claims = 2, .duration = 2, .ticks = 3, .losses = 1, .renewals = 2}},
    {"given up", {.claims = 3, .duration = 2, .ticks = 1, .losses = 1, .gives_up = 1}},
    {"renewed, and given up", {.claims = 2, .duration = 2, .ticks = 2, .losses = 1, .renewals = 1, .gives_up = 1}},
};

START_TEST(every_order) {
    struct lease_lock_config config = rows[_i].config;
    struct search_model model = lease_lock_model(&config);
    const uint64_t *counts = config.counts;
    printf("%s:\n", rows[_i].name);
    keeps_promises(&model, 1000, counts, names, LEASE_COUNTS);
    ck_assert(counts[LEASE_HELD] > 0 && counts[LEASE_STOOD] > 0 && counts[LEASE_TOO_LATE] > 0 &&
              counts[LEASE_LOST] > 0);
    ck_assert((counts[LEASE_BACK] > 0) == (config.claims == 3));
    ck_assert((counts[LEASE_RENEWED] > 0) == (config.renewals > 0));
    ck_assert((counts[LEASE_GIVEN_UP] > 0) == (config.gives_up > 0));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("lease_lock_model");
    TCase *all = tcase_create("every order");
    tcase_add_loop_test(all, every_order, 0, sizeof rows / sizeof rows[0]);
    suite_add_tcase(suite, all);
    return ts_run_suite(suite);
}

/* Majorities, in every order of events: no two are valid at one moment, nobody waits in a circle, contention alone makes no round fall
 * short, and a whole that goes on was held all the time. */
#include "majority_model.h"
#include "record_bench.h"

static const char *const names[] = {"granted", "went on",       "taken again", "lost",   "passed over",
                                    "tired",   "looked around", "fell short",  "refused"};

/* never_free: each of the three locks in turn. cut_at_first: each one or two of the ensembles in turn. */
static const struct {
    const char *name;
    uint64_t least;
    struct majority_config config;
} rows[] = {
    {"two callers", 100000, {.callers = 2, .cuts = 3, .heals = 2, .rounds = 2}},
    {"three callers", 100000, {.callers = 3, .cuts = 2, .heals = 1, .rounds = 1}},
    {"one is partly cut off", 1000, {.callers = 2, .cuts = 1, .heals = 1, .rounds = 3, .cut_at_first = 1}},
    {"in different orders", 10000, {.callers = 2, .cuts = 2, .heals = 1, .rounds = 2, .turned = 1}},
    {"three in different orders", 100000, {.callers = 3, .cuts = 1, .rounds = 2, .turned = 1}},
    {"a lock never comes free", 1000, {.callers = 2, .cuts = 1, .heals = 1, .rounds = 2, .looks = 1, .never_free = 1}},
    {"and three callers", 1000, {.callers = 3, .rounds = 1, .looks = 1, .never_free = 1}},
    {"and orders differ",
     1000,
     {.callers = 2, .cuts = 1, .heals = 1, .rounds = 2, .looks = 1, .turned = 1, .never_free = 1}},
    {"they look around in vain", 1000, {.callers = 2, .cuts = 1, .heals = 1, .rounds = 2, .looks = 1}},
    {"and are three", 1000, {.callers = 3, .rounds = 1, .looks = 1}},
    {"and orders differ", 1000, {.callers = 3, .rounds = 1, .looks = 1, .turned = 1}},
    {"tries", 10000, {.callers = 3, .cuts = 1, .heals = 1, .rounds = 2, .tries = 1}},
    {"deadlines", 10000, {.callers = 2, .cuts = 2, .heals = 1, .rounds = 2, .deadlines = 1}},
};

static void walk(struct majority_config config, uint64_t least) {
    struct search_model model = majority_model(&config);
    const uint64_t *counts = config.counts;
    keeps_promises(&model, least, counts, names, MAJORITY_COUNTS);
    ck_assert(counts[MAJORITY_TOOK] > 0);
    ck_assert((counts[MAJORITY_AGAIN] > 0) == !config.never_free); /* with two of three left, none may be lost */
    ck_assert(!config.turned || counts[MAJORITY_TIRED] > 0);
    ck_assert(config.turned || config.never_free || counts[MAJORITY_TIRED] == 0);
    ck_assert((counts[MAJORITY_LOOKED] > 0) == (config.looks > 0));
    ck_assert((counts[MAJORITY_REFUSED] > 0) == (config.tries || config.deadlines > 0));
}

START_TEST(every_order) {
    struct majority_config config = rows[_i].config;
    printf("%s:\n", rows[_i].name);
    if (config.cut_at_first)
        for (; config.cut_at_first < 7; config.cut_at_first++)
            walk(config, rows[_i].least);
    else if (config.never_free)
        for (; config.never_free < 8; config.never_free = (uint8_t)(config.never_free << 1))
            walk(config, rows[_i].least);
    else
        walk(config, rows[_i].least);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("majority_model");
    TCase *all = tcase_create("every order");
    tcase_add_loop_test(all, every_order, 0, sizeof rows / sizeof rows[0]);
    suite_add_tcase(suite, all);
    return ts_run_suite(suite);
}

/* "Did you mean": command/nearest.c. */
#include "../../command/nearest.h"
#include "ts_check.h"

#include <glib.h>

static const char *const verbs[] = {"run",   "hold", "elect", "job",   "wait",  "show",
                                    "watch", "ls",   "top",   "check", "doctor"};
static const char *const options[] = {"--servers",         "--shared", "--slots",    "--timeout",  "--session-timeout",
                                      "--connect-timeout", "--try",    "--max-hold", "--nonblock", "--nb"};

typedef struct {
    const char *word, *meant;
} row;

static void check(const row *rows, size_t count, const char *const *known, size_t known_count) {
    for (size_t i = 0; i < count; i++) {
        const char *found = cmd_nearest(rows[i].word, known, known_count);
        ck_assert_msg(g_strcmp0(found, rows[i].meant) == 0, "%s: %s", rows[i].word, found ? found : "none");
    }
}

START_TEST(verbs_are_found) {
    static const row rows[] = {{"rnu", "run"},       {"runn", "run"},    {"rn", "run"},     {"elct", "elect"},
                               {"docter", "doctor"}, {"wathc", "watch"}, {"doc", "doctor"}, {"hodl", "hold"},
                               {"chekc", "check"},   {"tpo", "top"},     {"zzz", NULL},     {"", NULL},
                               {"x", NULL},          {"lease", NULL},    {"el", "elect"}};
    check(rows, G_N_ELEMENTS(rows), verbs, G_N_ELEMENTS(verbs));
}
END_TEST

START_TEST(options_are_found) {
    static const row rows[] = {{"--shred", "--shared"},
                               {"--share", "--shared"},
                               {"--server", "--servers"},
                               {"-timeout", "--timeout"},
                               {"--max-hodl", "--max-hold"},
                               {"--maxhold", "--max-hold"},
                               {"--ses", "--session-timeout"},
                               {"--s", NULL},
                               {"-z", NULL},
                               {"-nz", NULL},
                               {"--", NULL},
                               {"--completely-other", NULL},
                               {"--non-block", "--nonblock"}};
    check(rows, G_N_ELEMENTS(rows), options, G_N_ELEMENTS(options));
}
END_TEST

/* No word is too long for it, and several that begin alike are no answer. */
START_TEST(bounds) {
    g_autofree char *longest = g_strnfill(40, 'a'), *longer = g_strnfill(41, 'a'), *huge = g_strnfill(5000, 'a');
    const char *const known[] = {longest, longer, "show", "shower"};
    ck_assert_str_eq(cmd_nearest(longest, known, 4), longest);
    ck_assert_ptr_null(cmd_nearest(longer, known, 4));
    ck_assert_ptr_null(cmd_nearest(huge, known, 4));
    ck_assert_ptr_null(cmd_nearest("sh", known, 4));
    ck_assert_ptr_null(cmd_nearest("sh", known, 0));
}
END_TEST

int main(void) { return ts_run("command_nearest", NULL, NULL, verbs_are_found, options_are_found, bounds, NULL); }

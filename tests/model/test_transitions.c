/* The table of phases and events at the head of core/contender.h is what contenders do: the model of the queue, and a contender
 * alone with every answer, reach each of its cells and nothing else. */
#include "model_bench.h"
#include "transitions.h"

#include <stdlib.h>

static transitions_seen alone;
static char header[32768]; /* the text of contender.h */
static char why[256];

static void read_header(void) {
    char path[4096];
    const char *source = getenv("PDK_SOURCE");
    ck_assert_msg(source, "PDK_SOURCE is not set");
    snprintf(path, sizeof path, "%s/src/core/contender.h", source);
    FILE *in = fopen(path, "r");
    ck_assert_msg(in, "%s: cannot be read", path);
    size_t size = fread(header, 1, sizeof header - 1, in);
    fclose(in);
    ck_assert_uint_lt(size, sizeof header - 1);
    header[size] = '\0';
}

/* ---- the walks. Each walk of the model reaches a cell that those before it do not, but for the last one: the leases of a
 * semaphore stay within the table. */

START_TEST(a_contender_alone_with_every_answer) {
    uint64_t states = transitions_walk(alone);
    printf("        %llu states\n", (unsigned long long)states);
    ck_assert_uint_gt(states, 2000);
}
END_TEST

static const struct model_row rows[] = {
    {"a lock and any fault",
     50000,
     {.clients = 2,
      .threads = {2},
      .handovers = 1,
      .budgets = {MAIN_FAULTS, [REFUSALS] = 1, [RENEWALS] = 1, [FAULTS] = 1}}},
    {"a lock without a directory",
     200000,
     {.clients = 2, .no_directory = true, .budgets = {[LOSSES] = 1, [REFUSALS] = 1, [CANCELS] = 1}}},
    {"a lock whose directory vanishes",
     200000,
     {.clients = 2, .no_directory = true, .exact = true, .budgets = {[LOSSES] = 1, [REMOVALS] = 1, [VANISHES] = 1}}},
    {"a lock and a session that is given up", 100000, {.clients = 2, .budgets = {[LOSSES] = 1, [ABANDONS] = 1}}},
    {"a lock and late news of a deletion",
     200000,
     {.clients = 2, .budgets = {[REMOVALS] = 1, [TOUCHES] = 1, [RENEWALS] = 1, [CANCELS] = 1}}},
    {"a lock and a lost create that was deleted",
     100000,
     {.clients = 2, .budgets = {[LOSSES] = 1, [REMOVALS] = 1, [CANCELS] = 1}}},
    {"a downgrade whose name is taken",
     100000,
     {.clients = 2, .roles = {MODEL_WRITES, MODEL_READS}, .budgets = {[SQUATS] = 1, [DOWNGRADES] = 1, [LAPSES] = 1}}},
    {"the leases of a semaphore",
     150000,
     {.clients = 2,
      .roles = {MODEL_LEASES, MODEL_LEASES},
      .permits = 1,
      .budgets = {[LOSSES] = 1, [LAPSES] = 1, [CLAIMS] = 1}}},
};

START_TEST(every_interleaving) { keeps_promises(&rows[_i]); }
END_TEST

/* ---- the table */

START_TEST(the_table_is_what_they_do) {
    struct transitions_table table;
    ck_assert_msg(transitions_parse(header, &table, why), "%s", why);
    ck_assert_msg(transitions_match(&table, model_transitions, alone, explored_all, why), "%s", why);
}
END_TEST

/* One more or one less in any cell. */
START_TEST(every_spoiled_cell_is_noticed) {
    struct transitions_table table;
    ck_assert_msg(transitions_parse(header, &table, why), "%s", why);
    ck_assert_msg(transitions_match(&table, model_transitions, alone, explored_all, why), "%s", why);
    for (int i = 0; i < PHASES * EVENTS * PHASES; i++) {
        enum transitions_mark *mark = &table.marks[0][0][0] + i, before = *mark;
        *mark = before == TRANSITION_IMPOSSIBLE ? TRANSITION_MODEL : TRANSITION_IMPOSSIBLE;
        ck_assert_msg(!transitions_match(&table, model_transitions, alone, explored_all, why), "number %d spoiled", i);
        *mark = before;
    }
}
END_TEST

/* Replaces the first `old` after the row of `event` begins. */
static void spoil(char text[sizeof header], const char *event, const char *old, const char *with) {
    char row_of[64];
    snprintf(row_of, sizeof row_of, "\n *  %s ", event);
    const char *row = strstr(header, row_of);
    ck_assert_msg(row, "no row of %s", event);
    const char *at = strstr(row, old);
    ck_assert_msg(at, "no \"%s\" in the row of %s", old, event);
    int length = snprintf(text, sizeof header, "%.*s%s%s", (int)(at - header), header, with, at + strlen(old));
    ck_assert_int_lt(length, (int)sizeof header);
}

static const struct {
    const char *event, *old, *with, *said;
} spoiled[] = {
    {"LEAVE", "OG", "O", "OUT at LEAVE to GONE: it was seen, and the table does not allow it"},
    {"LEAVE", "OG", "OUG", "OUT at LEAVE to UNSURE: the table allows it, and it was not reached"},
    {"LEAVE", ":", "G", "STUCK at LEAVE to STUCK: it was seen, and the table does not allow it"},
    {"POKE", "-", ".", "OUT at POKE to OUT: the table allows it, and it was not reached"},
    {"DELETED", "G", "g", "IN at DELETED to GONE: the table has it in lower case, and the model reached it"},
    {"FRESH", ":", ".", "HELD at FRESH to HELD: the table has it in upper case, and the model did not reach it"},
    {"event", "HELD", "HOLDS", "malformed: no line names \"event\" and the phases"},
    {"POKE", "POKE", "PUSH", "malformed: the row of POKE is missing, there is \"PUSH\""},
    {"LEAVE", "OG", "OGG", "malformed: the row of LEAVE has a cell \"OGG\""},
    {"LEAVE", "OG", "OX", "malformed: the row of LEAVE has a cell \"OX\""},
    {"LEAVE", "OG", "", "malformed: the row of LEAVE has 6 cells, not 7"},
    {"LEAVE", "OG", "O G", "malformed: the row of LEAVE has 8 cells, not 7"},
};

START_TEST(every_spoiled_text_is_noticed) {
    static char text[sizeof header];
    struct transitions_table table;
    for (size_t i = 0; i < sizeof spoiled / sizeof spoiled[0]; i++) {
        spoil(text, spoiled[i].event, spoiled[i].old, spoiled[i].with);
        if (!explored_all && strstr(spoiled[i].said, "upper case"))
            continue; /* the model's walk is not complete then */
        ck_assert_msg(!transitions_parse(text, &table, why) ||
                          !transitions_match(&table, model_transitions, alone, explored_all, why),
                      "not noticed: %s", spoiled[i].said);
        ck_assert_str_eq(why, spoiled[i].said);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("transitions");
    TCase *all = tcase_create("transitions");
    tcase_add_unchecked_fixture(all, read_header, NULL);
    tcase_add_test(all, a_contender_alone_with_every_answer);
    tcase_add_loop_test(all, every_interleaving, 0, sizeof rows / sizeof rows[0]);
    tcase_add_test(all, the_table_is_what_they_do);
    tcase_add_test(all, every_spoiled_cell_is_noticed);
    tcase_add_test(all, every_spoiled_text_is_noticed);
    suite_add_tcase(suite, all);
    return ts_run_suite(suite);
}

/* What one contender sees in a listing: itself, who is ahead, whom to watch, and its own strays. */
#include "core/view.h"
#include "ts_check.h"

#include <stdlib.h>
#include <string.h>

#define MINE "_c_mine-lock-"
#define SIZE(list) (sizeof(list) / sizeof(list)[0])

static struct pdk__view view;

static void look(const char *const *names, size_t count, const char *own, pdk__blocks_fn blocks) {
    memset(&view, 0xff, sizeof view);
    pdk__view_make(&view, names, count, MINE, own, blocks);
}

static bool writers_block(enum pdk__kind theirs, enum pdk__kind mine) {
    return theirs == PDK__WRITER || mine == PDK__WRITER;
}

START_TEST(alone) {
    const char *names[] = {MINE "0000000005"};
    look(names, 1, MINE "0000000005", pdk__blocks_always);
    ck_assert(view.listed);
    ck_assert(!view.beyond_limits);
    ck_assert_int_eq(view.ahead, 0);
    ck_assert_str_eq(view.blocker, "");
    ck_assert_str_eq(view.marked, "");
}
END_TEST

START_TEST(the_nearest_ahead_blocks_in_whatever_order_they_come) {
    const char *names[] = {"z-lock-0000000009", MINE "0000000005", "a-lock-0000000002", "y__lock__0000000004",
                           "b-lock-0000000003"};
    for (size_t turn = 0; turn < SIZE(names); turn++) {
        look(names, SIZE(names), MINE "0000000005", pdk__blocks_always);
        ck_assert(view.listed);
        ck_assert_int_eq(view.ahead, 3);
        ck_assert_str_eq(view.blocker, "y__lock__0000000004");
        const char *first = names[0];
        memmove(names, names + 1, (SIZE(names) - 1) * sizeof names[0]);
        names[SIZE(names) - 1] = first;
    }
}
END_TEST

START_TEST(what_is_behind_never_matters) {
    const char *names[] = {"a-lock-0000000006", MINE "0000000005", "0-lock-2147483647"};
    look(names, SIZE(names), MINE "0000000005", pdk__blocks_always);
    ck_assert_int_eq(view.ahead, 0);
    ck_assert_str_eq(view.blocker, "");
}
END_TEST

START_TEST(order_goes_across_the_wrap) {
    const char *names[] = {MINE "-2147483647", "a-lock-2147483647", "b-lock--2147483648", "c-lock--2147483646"};
    look(names, SIZE(names), MINE "-2147483647", pdk__blocks_always);
    ck_assert(view.listed);
    ck_assert_int_eq(view.ahead, 2);
    ck_assert_str_eq(view.blocker, "b-lock--2147483648");
}
END_TEST

START_TEST(foreign_children_are_ignored) {
    char *endless = malloc(5000);
    memset(endless, 'x', 4999);
    endless[4999] = '\0';
    const char *names[] = {"", "leases", "lock-", "config-0000000001", endless, MINE "0000000005", "lock-99999999999"};
    look(names, SIZE(names), MINE "0000000005", pdk__blocks_always);
    ck_assert(view.listed);
    ck_assert(!view.beyond_limits);
    ck_assert_int_eq(view.ahead, 0);
    free(endless);
}
END_TEST

START_TEST(candidates_of_an_election_are_in_another_line) {
    const char *names[] = {"_c_a-latch-0000000001", "a-lock-0000000002", MINE "0000000005"};
    look(names, SIZE(names), MINE "0000000005", pdk__blocks_always);
    ck_assert_int_eq(view.ahead, 1);
    ck_assert_str_eq(view.blocker, "a-lock-0000000002");
}
END_TEST

START_TEST(without_its_node_nothing_is_listed) {
    const char *names[] = {"a-lock-0000000002", MINE "0000000006"};
    look(names, SIZE(names), MINE "0000000005", pdk__blocks_always);
    ck_assert(!view.listed);
    look(names, 0, MINE "0000000005", pdk__blocks_always);
    ck_assert(!view.listed);
    look(NULL, 0, "", pdk__blocks_always);
    ck_assert(!view.listed);
    ck_assert_str_eq(view.blocker, "");
}
END_TEST

START_TEST(the_newest_node_with_the_mark_is_found) {
    const char *names[] = {MINE "2147483646", MINE "-2147483648", MINE "2147483647", "_c_other-lock--2147483640"};
    look(names, SIZE(names), "", pdk__blocks_always);
    ck_assert(!view.listed);
    ck_assert_int_eq(view.ahead, 0);
    ck_assert_str_eq(view.marked, MINE "-2147483648");
    look(names, SIZE(names), MINE "-2147483648", pdk__blocks_always);
    ck_assert_str_eq(view.marked, MINE "2147483647");
}
END_TEST

START_TEST(a_recipe_says_who_blocks) {
    const char *names[] = {"_c_a-__WRIT__0000000001", "_c_b-__READ__0000000002", "_c_mine-__READ__0000000003",
                           "_c_mine-__WRIT__0000000004"};
    look(names, SIZE(names), "_c_mine-__READ__0000000003", writers_block);
    ck_assert_int_eq(view.ahead, 2);
    ck_assert_str_eq(view.blocker, "_c_a-__WRIT__0000000001");
    look(names, SIZE(names), "_c_mine-__WRIT__0000000004", writers_block);
    ck_assert_int_eq(view.ahead, 3);
    ck_assert_str_eq(view.blocker, "_c_mine-__READ__0000000003");
    look(names + 1, 2, "_c_mine-__READ__0000000003", writers_block);
    ck_assert_int_eq(view.ahead, 1);
    ck_assert_str_eq(view.blocker, "");
}
END_TEST

START_TEST(an_equal_sequence_counts_as_ahead) {
    const char *names[] = {"a-lock-0000000005", MINE "0000000005"};
    look(names, SIZE(names), MINE "0000000005", pdk__blocks_always);
    ck_assert(view.listed);
    ck_assert_str_eq(view.blocker, "a-lock-0000000005");
}
END_TEST

START_TEST(limits) {
    char name[PDK__NAME_SIZE + 20];
    memset(name, 'n', sizeof name);
    memcpy(name + PDK__NAME_SIZE - 1 - 15, "lock-0000000001", 16);
    const char *names[] = {name, MINE "0000000005"};
    look(names, SIZE(names), MINE "0000000005", pdk__blocks_always);
    ck_assert(!view.beyond_limits);
    ck_assert_str_eq(view.blocker, name);
    memcpy(name + PDK__NAME_SIZE - 1 - 15, "nlock-0000000001", 17);
    look(names, SIZE(names), MINE "0000000005", pdk__blocks_always);
    ck_assert(view.beyond_limits);
    memcpy(name + PDK__NAME_SIZE - 1 - 15, "nlock-0000000009", 17); /* behind us it does not matter */
    look(names, SIZE(names), MINE "0000000005", pdk__blocks_always);
    ck_assert(!view.beyond_limits && view.listed && view.ahead == 0);

    const char **many = calloc(PDK__CHILDREN_MAX + 1, sizeof *many);
    for (size_t i = 0; i <= PDK__CHILDREN_MAX; i++)
        many[i] = "foreign";
    many[0] = MINE "0000000005";
    look(many, PDK__CHILDREN_MAX, MINE "0000000005", pdk__blocks_always);
    ck_assert(!view.beyond_limits && view.listed);
    look(many, PDK__CHILDREN_MAX + 1, MINE "0000000005", pdk__blocks_always);
    ck_assert(view.beyond_limits);
    free(many);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("view");
    TCase *cases = tcase_create("view");
    tcase_add_test(cases, alone);
    tcase_add_test(cases, the_nearest_ahead_blocks_in_whatever_order_they_come);
    tcase_add_test(cases, what_is_behind_never_matters);
    tcase_add_test(cases, order_goes_across_the_wrap);
    tcase_add_test(cases, foreign_children_are_ignored);
    tcase_add_test(cases, candidates_of_an_election_are_in_another_line);
    tcase_add_test(cases, without_its_node_nothing_is_listed);
    tcase_add_test(cases, the_newest_node_with_the_mark_is_found);
    tcase_add_test(cases, a_recipe_says_who_blocks);
    tcase_add_test(cases, an_equal_sequence_counts_as_ahead);
    tcase_add_test(cases, limits);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

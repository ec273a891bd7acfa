/* The view of a contender that has no node yet. */
#include "core/view.h"
#include "ts_check.h"

#include <stdlib.h>
#include <string.h>

#define MINE "_c_mine-lock-"
#define SIZE(list) (sizeof(list) / sizeof(list)[0])

static struct pdk__view view;

static void look_from_behind(const char *const *names, size_t count, const char *mark, struct pdk__rule rule) {
    struct pdk__child *children = calloc(count + 1, sizeof *children);
    ck_assert_ptr_nonnull(children);
    memset(&view, 0xff, sizeof view);
    pdk__children_parse(children, names, count);
    pdk__view_from_behind(&view, children, count, mark, rule);
    free(children);
}

START_TEST(everybody_is_ahead_of_one_without_a_node) {
    const struct pdk__rule all = {pdk__blocks_always, 0}, unless = {pdk__blocks_unless_shared, 0};
    const char *names[] = {"no contender", "a-lock-2147483646", "b-lock-0000000003", "c-lock--2147483640"};
    const char *readers[] = {"_c_x-__READ__0000000001", "_c_y-__READ__0000000002"};
    look_from_behind(names, SIZE(names), MINE, all);
    ck_assert_int_eq(view.ahead, 3);
    ck_assert_str_ne(view.blocker, "");
    ck_assert(!view.listed && !view.beyond_limits);
    look_from_behind(names, 1, MINE, all);
    ck_assert_int_eq(view.ahead, 0);
    ck_assert_str_eq(view.blocker, "");
    look_from_behind(names, SIZE(names), MINE, (struct pdk__rule){pdk__blocks_always, 3});
    ck_assert_str_eq(view.blocker, "");
    look_from_behind(readers, SIZE(readers), "_c_mine-__READ__", unless);
    ck_assert_int_eq(view.ahead, 2);
    ck_assert_str_eq(view.blocker, "");
    look_from_behind(readers, SIZE(readers), "_c_mine-__WRIT__", unless);
    ck_assert_str_eq(view.blocker, readers[1]);
}
END_TEST

START_TEST(one_without_a_node_knows_the_limits) {
    char longest[PDK__NAME_SIZE + 32];
    memset(longest, 'x', sizeof longest);
    strcpy(longest + PDK__NAME_SIZE, "-lock-0000000001");
    const char *names[] = {longest, "a-lock-0000000002"};
    const struct pdk__rule all = {pdk__blocks_always, 0};
    look_from_behind(names, SIZE(names), MINE, all);
    ck_assert(view.beyond_limits);
    const char **many = calloc(PDK__CHILDREN_MAX + 1, sizeof *many);
    ck_assert_ptr_nonnull(many);
    for (size_t i = 0; i <= PDK__CHILDREN_MAX; i++)
        many[i] = "no contender";
    look_from_behind(many, PDK__CHILDREN_MAX + 1, MINE, all);
    ck_assert(view.beyond_limits);
    free(many);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("view_from_behind");
    TCase *cases = tcase_create("view_from_behind");
    tcase_add_test(cases, everybody_is_ahead_of_one_without_a_node);
    tcase_add_test(cases, one_without_a_node_knows_the_limits);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

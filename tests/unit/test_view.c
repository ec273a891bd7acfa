/* One contender's view of a listing: itself, the nodes ahead, the node to watch, and its own orphans. */
#include "core/view.h"
#include "ts_check.h"

#include <stdlib.h>
#include <string.h>

#define MINE "_c_mine-lock-"
#define SIZE(list) (sizeof(list) / sizeof(list)[0])

static struct pdk__view view;

/* With a rule of its own, and an earlier node from which `own` takes over. */
static void look_with(const char *const *names, size_t count, const char *own, const char *exchanged,
                      struct pdk__rule rule) {
    const struct pdk__viewer viewer = {MINE, own, exchanged, rule};
    struct pdk__child *children = calloc(count + 1, sizeof *children);
    struct pdk__view same;
    memset(&view, 0xff, sizeof view);
    pdk__view_make(&view, names, count, &viewer);
    memset(&same, 0xff, sizeof same);
    pdk__children_parse(children, names, count);
    pdk__view_of(&same, children, count, &viewer);
    ck_assert_mem_eq(&same, &view, sizeof view); /* both are zeroed first, padding as well */
    free(children);
}

static void look(const char *const *names, size_t count, const char *own, pdk__blocks_fn blocks) {
    look_with(names, count, own, "", (struct pdk__rule){blocks, 0});
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
    for (size_t shift = 0; shift < SIZE(names); shift++) {
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

/* The end of the mark, which is compared first, is the same. */
START_TEST(a_mark_is_the_whole_beginning) {
    static const char *const names[] = {"_c_1-0123456789abcdef-lock-0000000005",
                                        "_c_2-0123456789abcdef-lock-0000000004", "short-lock-0000000003"};
    struct pdk__viewer viewer = {"_c_1-0123456789abcdef-lock-", "", "", {pdk__blocks_always, 0}};
    pdk__view_make(&view, names, SIZE(names), &viewer);
    ck_assert_str_eq(view.marked, names[0]);
    viewer.mark = "_c_3-0123456789abcdef-lock-";
    pdk__view_make(&view, names, SIZE(names), &viewer);
    ck_assert_str_eq(view.marked, "");
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

START_TEST(candidates_of_an_election_are_in_another_queue) {
    const char *names[] = {"_c_a-latch-0000000001", "a-lock-0000000002", MINE "0000000005"};
    look(names, SIZE(names), MINE "0000000005", pdk__blocks_always);
    ck_assert_int_eq(view.ahead, 1);
    ck_assert_str_eq(view.blocker, "a-lock-0000000002");
}
END_TEST

/* Nodes of other recipes in the same directory do not block them. */
START_TEST(each_recipe_has_a_queue_of_its_own) {
    const char *names[] = {"_c_a-lock-0000000001",  "_c_b-__READ__0000000002", "_c_c-latch-0000000003",
                           "_c_d-lease-0000000004", "_c_e-__WRIT__0000000005", "_c_f-lease-0000000006",
                           "_c_g-latch-0000000007", "_c_h-__READ__0000000008", "_c_i-lock-0000000009"};
    static const struct {
        const char *own, *blocker;
        int32_t ahead;
    } seen[] = {
        {"_c_f-lease-0000000006", "_c_d-lease-0000000004", 1},
        {"_c_d-lease-0000000004", "", 0},
        {"_c_g-latch-0000000007", "_c_c-latch-0000000003", 1},
        {"_c_c-latch-0000000003", "", 0},
        {"_c_h-__READ__0000000008", "_c_e-__WRIT__0000000005", 3},
        {"_c_i-lock-0000000009", "_c_h-__READ__0000000008", 4},
    };
    for (size_t i = 0; i < SIZE(seen); i++) {
        look(names, SIZE(names), seen[i].own, pdk__blocks_unless_shared);
        ck_assert_msg(view.ahead == seen[i].ahead, "%s: %d ahead", seen[i].own, view.ahead);
        ck_assert_str_eq(view.blocker, seen[i].blocker);
    }
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
    look(names, SIZE(names), "_c_mine-__READ__0000000003", pdk__blocks_unless_shared);
    ck_assert_int_eq(view.ahead, 2);
    ck_assert_str_eq(view.blocker, "_c_a-__WRIT__0000000001");
    look(names, SIZE(names), "_c_mine-__WRIT__0000000004", pdk__blocks_unless_shared);
    ck_assert_int_eq(view.ahead, 3);
    ck_assert_str_eq(view.blocker, "_c_mine-__READ__0000000003");
    look(names + 1, 2, "_c_mine-__READ__0000000003", pdk__blocks_unless_shared);
    ck_assert_int_eq(view.ahead, 1);
    ck_assert_str_eq(view.blocker, "");
}
END_TEST

/* Only a reader may go past, and only past a reader. */
START_TEST(the_rules_of_the_locks) {
    static const enum pdk__kind kinds[] = {PDK__WRITER, PDK__READER, PDK__LATCH, PDK__LEASE, PDK__MEMBER};
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++) {
            bool both_read = kinds[a] == PDK__READER && kinds[b] == PDK__READER;
            ck_assert(pdk__blocks_always(kinds[a], kinds[b]));
            ck_assert(!pdk__blocks_never(kinds[a], kinds[b]));
            ck_assert(pdk__blocks_unless_shared(kinds[a], kinds[b]) == !both_read);
        }
}
END_TEST

/* The nearest writer, not the first, with any readers in between, and for any order of the list. */
START_TEST(a_reader_waits_for_the_nearest_writer) {
    const char *names[] = {"a__lock__0000000001",     "b__rlock__0000000002",       "_c_c-__WRIT__0000000003",
                           "_c_d-__READ__0000000004", "_c_mine-__READ__0000000005", "_c_e-__WRIT__0000000006"};
    for (size_t shift = 0; shift < SIZE(names); shift++) {
        look(names, SIZE(names), "_c_mine-__READ__0000000005", pdk__blocks_unless_shared);
        ck_assert_int_eq(view.ahead, 4);
        ck_assert_str_eq(view.blocker, "_c_c-__WRIT__0000000003");
        look(names, SIZE(names), "_c_e-__WRIT__0000000006", pdk__blocks_unless_shared);
        ck_assert_str_eq(view.blocker, "_c_mine-__READ__0000000005");
        look(names, SIZE(names), "b__rlock__0000000002", pdk__blocks_unless_shared);
        ck_assert_str_eq(view.blocker, "a__lock__0000000001");
        const char *first = names[0];
        memmove(names, names + 1, (SIZE(names) - 1) * sizeof names[0]);
        names[SIZE(names) - 1] = first;
    }
}
END_TEST

/* ---- some to spare */

START_TEST(so_many_may_be_ahead) {
    const char *names[] = {"_c_d-lease-0000000004", "_c_b-lease-0000000002", "_c_mine-lease-0000000005",
                           "_c_a-lease-0000000001", "_c_c-lease-0000000003", "_c_e-lease-0000000006"};
    static const char *const own = "_c_mine-lease-0000000005";
    for (int32_t spare = 0; spare < 7; spare++) {
        look_with(names, SIZE(names), own, "", (struct pdk__rule){pdk__blocks_always, spare});
        ck_assert(view.listed);
        ck_assert_int_eq(view.ahead, 4);
        ck_assert_str_eq(view.blocker, spare < 4 ? "_c_d-lease-0000000004" : "");
    }
    look_with(names, SIZE(names), own, "", (struct pdk__rule){pdk__blocks_always, INT32_MAX});
    ck_assert_str_eq(view.blocker, "");
    look_with(names, SIZE(names), "_c_a-lease-0000000001", "", (struct pdk__rule){pdk__blocks_always, 0});
    ck_assert_str_eq(view.blocker, ""); /* none ahead, and none to spare */
}
END_TEST

/* A node that does not block does not use up what is spare. */
START_TEST(only_blockers_use_up_what_is_to_spare) {
    const char *names[] = {"_c_a-__WRIT__0000000001", "_c_b-__READ__0000000002", "_c_c-__READ__0000000003",
                           "_c_d-__WRIT__0000000004", "_c_mine-__READ__0000000005"};
    look_with(names, SIZE(names), "_c_mine-__READ__0000000005", "", (struct pdk__rule){pdk__blocks_unless_shared, 2});
    ck_assert_int_eq(view.ahead, 4);
    ck_assert_str_eq(view.blocker, "");
    look_with(names, SIZE(names), "_c_mine-__READ__0000000005", "", (struct pdk__rule){pdk__blocks_unless_shared, 1});
    ck_assert_str_eq(view.blocker, "_c_d-__WRIT__0000000004");
}
END_TEST

/* Nodes with an equal number, orphans, and our own nodes count like anybody's. */
START_TEST(an_equal_number_and_an_orphan_use_up_what_is_spare) {
    const char *names[] = {MINE "0000000005", "a-lock-0000000005", MINE "0000000003"};
    look_with(names, SIZE(names), MINE "0000000005", "", (struct pdk__rule){pdk__blocks_always, 1});
    ck_assert_str_eq(view.blocker, "a-lock-0000000005");
    ck_assert_str_eq(view.marked, MINE "0000000003");
    look_with(names, SIZE(names), MINE "0000000005", "", (struct pdk__rule){pdk__blocks_always, 2});
    ck_assert_str_eq(view.blocker, "");
}
END_TEST

/* A node whose name cannot be handled might be one too many. */
START_TEST(limits_are_limits_with_some_to_spare) {
    char name[PDK__NAME_SIZE + 20];
    memset(name, 'n', sizeof name);
    memcpy(name + PDK__NAME_SIZE - 1 - 15, "nlock-0000000001", 17);
    const char *names[] = {name, MINE "0000000005"};
    look_with(names, SIZE(names), MINE "0000000005", "", (struct pdk__rule){pdk__blocks_always, 5});
    ck_assert(view.beyond_limits);
}
END_TEST

/* ---- one node takes over from another */

#define READS "_c_mine-__READ__0000000005"
#define WRITES "_c_was-__WRIT__0000000005"

static const struct pdk__rule shared = {pdk__blocks_unless_shared, 0};

START_TEST(the_earlier_node_is_not_in_the_way) {
    const char *names[] = {WRITES, "_c_a-__WRIT__0000000006", READS, "_c_b-__READ__0000000007"};
    for (size_t shift = 0; shift < SIZE(names); shift++) {
        look_with(names, SIZE(names), READS, WRITES, shared);
        ck_assert(view.listed && !view.exchanged_gone);
        ck_assert_int_eq(view.ahead, 0);
        ck_assert_str_eq(view.blocker, "");
        const char *first = names[0];
        memmove(names, names + 1, (SIZE(names) - 1) * sizeof names[0]);
        names[SIZE(names) - 1] = first;
    }
    look_with(names, SIZE(names), READS, "", shared); /* not ours by its mark: it is ahead of us */
    ck_assert(!view.exchanged_gone);
    ck_assert_int_eq(view.ahead, 1);
    ck_assert_str_eq(view.blocker, WRITES);
}
END_TEST

START_TEST(without_the_earlier_node_its_position_is_not_taken_over) {
    const char *names[] = {READS, "_c_a-__WRIT__0000000006", "_c_was-__WRIT__0000000004"};
    look_with(names, 2, READS, WRITES, shared);
    ck_assert(view.listed && view.exchanged_gone);
    ck_assert_str_eq(view.blocker, "");
    look_with(names, SIZE(names), READS, WRITES, shared); /* of the same mark, but another number */
    ck_assert(view.exchanged_gone);
    ck_assert_str_eq(view.blocker, "_c_was-__WRIT__0000000004");
    look_with(NULL, 0, READS, WRITES, shared);
    ck_assert(!view.listed && view.exchanged_gone);
    look_with(names, 1, "", WRITES, shared);
    ck_assert(!view.listed && view.exchanged_gone);
    look_with(names, 1, READS, READS, shared); /* listed as our own: nothing is known of another node */
    ck_assert(view.listed && view.exchanged_gone);
}
END_TEST

START_TEST(everybody_elses_equal_is_still_ahead) {
    const char *names[] = {WRITES, READS, "_c_a-__WRIT__0000000005", "_c_b-__READ__0000000005"};
    look_with(names, SIZE(names), READS, WRITES, shared);
    ck_assert(view.listed && !view.exchanged_gone);
    ck_assert_int_eq(view.ahead, 2);
    ck_assert_str_eq(view.blocker, "_c_a-__WRIT__0000000005");
}
END_TEST

/* It is known: neither an orphan of ours, nor a name too long to handle. */
START_TEST(the_earlier_node_is_no_orphan) {
    const char *names[] = {MINE "0000000005", "_c_mine-lock-0000000004", "_c_mine-lock-0000000003"};
    look_with(names, SIZE(names), MINE "0000000005", MINE "0000000004", shared);
    ck_assert(!view.exchanged_gone);
    ck_assert_str_eq(view.marked, MINE "0000000003");
    ck_assert_str_eq(view.blocker, MINE "0000000003");
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
    tcase_add_test(cases, a_mark_is_the_whole_beginning);
    tcase_add_test(cases, what_is_behind_never_matters);
    tcase_add_test(cases, order_goes_across_the_wrap);
    tcase_add_test(cases, foreign_children_are_ignored);
    tcase_add_test(cases, candidates_of_an_election_are_in_another_queue);
    tcase_add_test(cases, each_recipe_has_a_queue_of_its_own);
    tcase_add_test(cases, without_its_node_nothing_is_listed);
    tcase_add_test(cases, the_newest_node_with_the_mark_is_found);
    tcase_add_test(cases, a_recipe_says_who_blocks);
    tcase_add_test(cases, the_rules_of_the_locks);
    tcase_add_test(cases, a_reader_waits_for_the_nearest_writer);
    tcase_add_test(cases, so_many_may_be_ahead);
    tcase_add_test(cases, only_blockers_use_up_what_is_to_spare);
    tcase_add_test(cases, an_equal_number_and_an_orphan_use_up_what_is_spare);
    tcase_add_test(cases, limits_are_limits_with_some_to_spare);
    tcase_add_test(cases, the_earlier_node_is_not_in_the_way);
    tcase_add_test(cases, without_the_earlier_node_its_position_is_not_taken_over);
    tcase_add_test(cases, everybody_elses_equal_is_still_ahead);
    tcase_add_test(cases, the_earlier_node_is_no_orphan);
    tcase_add_test(cases, an_equal_sequence_counts_as_ahead);
    tcase_add_test(cases, limits);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

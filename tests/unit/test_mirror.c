/* The mirror of a directory: what keeps it, what makes it void, and what it says. Each line of docs/adr/0045 that the core decides. */
#include "core/mirror.h"
#include "ts_check.h"

#include <glib.h>
#include <string.h>

#define OWN(number) "_c_own-lock-000000000" #number
#define OTHER(number) "_c_other-lock-000000000" #number
#define ROOM 4

static struct pdk__mirrored nodes[ROOM];
static struct pdk__mirror m;
static struct pdk__view view;

static void setup(void) {
    m = (struct pdk__mirror){.room = ROOM, .nodes = nodes};
    memset(nodes, 0xff, sizeof nodes);
    memset(&view, 0xff, sizeof view);
}

static void list(const char *const *names) {
    struct pdk__child children[8];
    size_t count = g_strv_length((char **)names);
    pdk__children_parse(children, names, count);
    pdk__mirror_listed(&m, children, count);
}

/* A list that is whole. */
#define LIST(...) list((const char *const[]){__VA_ARGS__, NULL})

static bool says(const char *own, int32_t ahead, const char *blocker) {
    return pdk__mirror_view(&m, own, &view) && view.listed && view.ahead == ahead && g_str_equal(view.blocker, blocker);
}

static bool expects(const char *tail) {
    const char *is;
    return pdk__mirror_expects(&m, &is) && g_str_equal(is, tail);
}

/* Our node has the number 3; others may be ahead. */
static void begin(void) {
    setup();
    pdk__mirror_watched(&m);
    ck_assert(!pdk__mirror_created(&m, OWN(3)));
}

START_TEST(consecutive_numbers_need_no_list) {
    begin();
    LIST(OWN(3));
    ck_assert(expects(OWN(3)));
    ck_assert(pdk__mirror_created(&m, OWN(4)));
    ck_assert(says(OWN(4), 1, OWN(3)) && view.sole);
    ck_assert(pdk__mirror_created(&m, OWN(5)));
    ck_assert(says(OWN(5), 2, OWN(4)) && !view.sole);
    pdk__mirror_deleted(&m, OWN(3), true);
    pdk__mirror_deleted(&m, OWN(4), true);
    ck_assert(says(OWN(5), 0, "") && !view.sole);
    pdk__mirror_deleted(&m, OWN(5), true);
    ck_assert(!pdk__mirror_view(&m, OWN(5), &view)); /* nor does anything else say that our node stands */
    ck_assert(expects(""));
    ck_assert(pdk__mirror_created(&m, OWN(6)));
    ck_assert(says(OWN(6), 0, ""));
}
END_TEST

START_TEST(a_gap_is_somebody) {
    begin();
    LIST(OWN(3));
    ck_assert(!pdk__mirror_created(&m, OWN(5)));
    ck_assert(!expects(OWN(3)));
    ck_assert(!pdk__mirror_view(&m, OWN(5), &view));
    ck_assert(!pdk__mirror_created(&m, OWN(6))); /* still nobody knows the one with 4 */
    ck_assert(!expects(OWN(3)));
    ck_assert(!pdk__mirror_view(&m, OWN(6), &view));
    ck_assert(says(OWN(3), 0, "")); /* as before */
    LIST(OWN(6), OTHER(4), OWN(5), OWN(3));
    ck_assert(says(OWN(6), 3, OWN(5)));
    ck_assert(says(OWN(5), 2, OTHER(4)));
}
END_TEST

/* After a gap the numbers have to be consecutive before a create goes without a list. */
START_TEST(a_gap_is_expected_again) {
    begin();
    LIST(OWN(3));
    ck_assert(!pdk__mirror_created(&m, OWN(5)));
    LIST(OWN(5));
    ck_assert(!expects(OWN(5)));
    ck_assert(pdk__mirror_created(&m, OWN(6)));
    ck_assert(expects(OWN(6)));
}
END_TEST

START_TEST(numbers_that_are_newer_than_ours_do_not_count) {
    begin();
    LIST(OWN(3), OTHER(4));
    ck_assert(says(OWN(3), 0, ""));
    ck_assert(!pdk__mirror_created(&m, OWN(5)));
    begin();
    LIST(OWN(3), OTHER(9)); /* a name that somebody has chosen */
    ck_assert(expects(OWN(3)));
    ck_assert(pdk__mirror_created(&m, OWN(4)));
    ck_assert(says(OWN(4), 1, OWN(3)));
}
END_TEST

START_TEST(without_a_watch_there_is_none) {
    setup();
    ck_assert(!pdk__mirror_created(&m, OWN(3)));
    LIST(OWN(3));
    ck_assert(!expects("") && !m.full);
    pdk__mirror_watched(&m);
    LIST(OWN(3)); /* and our number is older than the watch: it may be another directory's */
    ck_assert(!m.full);
    ck_assert(!pdk__mirror_created(&m, OWN(4)));
}
END_TEST

START_TEST(what_makes_it_void) {
    begin();
    LIST(OWN(3));
    pdk__mirror_void(&m);
    ck_assert(!pdk__mirror_created(&m, OWN(4)) && !m.watched);
    begin();
    LIST(OWN(3));
    ck_assert(!pdk__mirror_created(&m, OWN(2)) && !m.watched); /* the counter went back */
    begin();
    LIST(OWN(3));
    ck_assert(!pdk__mirror_created(&m, OWN(3)) && !m.watched);
    begin();
    LIST(OWN(3));
    ck_assert(!pdk__mirror_created(&m, "_c_own-lock-2146435071") && !m.watched); /* near its end */
    begin();
    LIST(OWN(3));
    ck_assert(!pdk__mirror_created(&m, "_c_own-lock--2147483648") && !m.watched);
    begin();
    LIST(OWN(3));
    ck_assert(!pdk__mirror_created(&m, "nonsense") && !m.watched);
    begin();
    LIST(OWN(3));
    g_autofree char *filler = g_strnfill(PDK__NAME_SIZE, 'f'),
                    *longest = g_strconcat("_c_", filler, "-lock-0000000004", NULL);
    ck_assert(!pdk__mirror_created(&m, longest) && !m.watched);
}
END_TEST

START_TEST(a_second_watch_changes_nothing) {
    begin();
    LIST(OWN(3));
    pdk__mirror_watched(&m);
    ck_assert(pdk__mirror_created(&m, OWN(4)));
}
END_TEST

START_TEST(lists_that_do_not_fit) {
    static const char *const rows[] = {"delay", "_c_other-lock-2146435071", "_c_other-lock--2147483648",
                                       "_c_0123456789012345678901234567890123456789012345678901234567890123456789012345"
                                       "678901234567890123456789012345678901234567-lock-0000000001"};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        begin();
        LIST(OWN(3), rows[i]);
        ck_assert_msg(!m.full && m.count == 0, "%s", rows[i]);
    }
    begin();
    LIST(OWN(3), "anything");
    ck_assert(m.full && m.count == 1);
    LIST(OTHER(0), OTHER(1), OTHER(2), OWN(3));
    ck_assert(m.full && m.count == 4);
    ck_assert(!expects(OWN(3))); /* there is no room for the next one */
    ck_assert(!pdk__mirror_created(&m, OWN(4)));
    LIST(OTHER(0), OTHER(1), OTHER(2), OWN(3), OWN(4));
    ck_assert(!m.full && m.count == 0);
}
END_TEST

START_TEST(nobody_is_ahead_of_a_holder) {
    begin();
    LIST(OTHER(1), OWN(3), "_c_other-latch-0000000002");
    ck_assert(pdk__mirror_created(&m, OWN(4)));
    ck_assert(says(OWN(4), 2, OWN(3)));
    pdk__mirror_held(&m, OWN(3));
    ck_assert(says(OWN(4), 1, OWN(3)) && view.sole);
    ck_assert_uint_eq(m.count, 3); /* a latch is in another queue */
    pdk__mirror_held(&m, "nonsense");
    ck_assert_uint_eq(m.count, 3);
}
END_TEST

/* Another client's writer may be followed by a reader with the same number. A lock's contender is not, in the names that tell. */
START_TEST(a_stranger_that_may_be_exchanged_is_not_known_to_be_gone) {
    static const char *const kept[] = {"_c_other-__WRIT__0000000001",
                                       "01234567012345670123456701234567__lock__0000000001"};
    for (size_t i = 0; i < G_N_ELEMENTS(kept); i++) {
        begin();
        LIST(kept[i], OWN(3));
        ck_assert(says(OWN(3), 1, kept[i]) && !view.sole);
        pdk__mirror_deleted(&m, kept[i], false);
        ck_assert(says(OWN(3), 1, kept[i]));
        pdk__mirror_deleted(&m, kept[i], true);
        ck_assert(says(OWN(3), 0, ""));
    }
    begin();
    LIST(OTHER(1), OWN(3));
    pdk__mirror_deleted(&m, OTHER(2), false);
    ck_assert(says(OWN(3), 1, OTHER(1)) && view.sole);
    pdk__mirror_deleted(&m, OTHER(1), false);
    ck_assert(says(OWN(3), 0, ""));
}
END_TEST

START_TEST(an_equal_number_is_ahead) {
    begin();
    LIST(OTHER(3), OWN(3));
    ck_assert(says(OWN(3), 1, OTHER(3)) && !view.sole);
    ck_assert(!pdk__mirror_view(&m, "nonsense", &view));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("mirror");
    TCase *cases = tcase_create("mirror");
    tcase_add_test(cases, consecutive_numbers_need_no_list);
    tcase_add_test(cases, a_gap_is_somebody);
    tcase_add_test(cases, a_gap_is_expected_again);
    tcase_add_test(cases, numbers_that_are_newer_than_ours_do_not_count);
    tcase_add_test(cases, without_a_watch_there_is_none);
    tcase_add_test(cases, what_makes_it_void);
    tcase_add_test(cases, a_second_watch_changes_nothing);
    tcase_add_test(cases, lists_that_do_not_fit);
    tcase_add_test(cases, nobody_is_ahead_of_a_holder);
    tcase_add_test(cases, a_stranger_that_may_be_exchanged_is_not_known_to_be_gone);
    tcase_add_test(cases, an_equal_number_is_ahead);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}

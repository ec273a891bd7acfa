/* Tables for people (command/table.c): what is cut, where, and how ages read. */
#include "../../command/table.h"
#include "ts_check.h"

static const cmd_column columns[] = {{"WHO", CMD_CELLS_TEXT}, {"AGE", CMD_CELLS_NUMBER}, {"PATH", CMD_CELLS_TEXT}};
static const char twenty[] = "abcdefghijklmnopqrst";

static char *print(const char *who, const char *path, guint width) {
    cmd_table table = cmd_table_new(columns, 3, 0);
    const char *const cells[] = {who, "12s", path, "me", "1m05s", "/b"};
    for (size_t i = 0; i < G_N_ELEMENTS(cells); i++)
        cmd_table_add(&table, g_strdup(cells[i]));
    char *text = cmd_table_text(&table, width);
    cmd_table_clear(&table);
    return text;
}

static void compare(const char *who, const char *path, guint width, const char *expected) {
    g_autofree char *text = print(who, path, width);
    ck_assert_str_eq(text, expected);
}

START_TEST(columns_are_as_wide_as_their_cells) {
    const char expected[] = "WHO    AGE  PATH\n"
                            "you    12s  /a/long/path\n"
                            "me   1m05s  /b\n";
    compare("you", "/a/long/path", 0, expected);
    compare("you", "/a/long/path", 80, expected);
    compare("you", "/a/long/path", 24, expected); /* just so */
}
END_TEST

/* The one that yields has "…" first. Then the end of the line goes. */
START_TEST(lines_end_at_the_width) {
    compare(twenty, "/a/path", 32,
            "WHO                 AGE  PATH\n"
            "abcdefghijklmno…    12s  /a/path\n"
            "me                1m05s  /b\n");
}
END_TEST

START_TEST(one_column_yields_no_further_than_its_least) {
    compare(twenty, "/a/path", 28,
            "WHO                 AGE  PA…\n"
            "abcdefghijklmno…    12s  /a…\n"
            "me                1m05s  /b\n");
    compare(twenty, "/a/path", 5, "WHO …\nabcd…\nme  …\n");
    compare(twenty, "/a/path", 1, "…\n…\n…\n");
}
END_TEST

/* Without a terminal nothing is cut, and one long name does not push the other lines apart. */
START_TEST(nothing_is_cut_without_a_terminal) {
    g_autofree char *name = g_strnfill(60, 'x'), *text = print(name, "/a", 0);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_autofree char *first = g_strconcat(name, "    12s  /a", NULL);
    ck_assert_str_eq(lines[1], first);
    ck_assert_uint_eq(strlen(lines[2]), 40 + 2 + 5 + 2 + 2);
}
END_TEST

/* A wide character has two columns, and one that joins the last one has none. */
START_TEST(text_is_cut_by_columns) {
    static const struct {
        const char *text;
        guint width;
        const char *fits;
    } rows[] = {
        {"", 3, ""},
        {"abc", 3, "abc"},
        {"abcd", 3, "ab…"},
        {"abcd", 0, "abcd"},
        {"abcd", 1, "…"},
        {"é€x", 3, "é€x"},
        {"é€xy", 3, "é€…"},
        {"漢字", 4, "漢字"},
        {"漢字", 3, "漢…"},
        {"漢字x", 4, "漢…"},
        {"e\u0301e\u0301", 2, "e\u0301e\u0301"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *fits = cmd_fit(rows[i].text, rows[i].width);
        ck_assert_str_eq(fits, rows[i].fits);
    }
}
END_TEST

/* The end of a path says more than its beginning. */
START_TEST(the_end_of_the_last_column_may_stay) {
    static const cmd_column paths[] = {{"WHO", CMD_CELLS_TEXT}, {"PATH", CMD_CELLS_PATH}};
    cmd_table table = cmd_table_new(paths, 2, 0);
    cmd_table_add(&table, g_strdup("me"));
    cmd_table_add(&table, g_strdup("/locks/漢字"));
    for (guint width = 1; width <= 16; width++) {
        static const char *const expected[] = {[5] = "WHO …\nme  …\n",
                                               [6] = "WHO  …\nme   …\n",
                                               [9] = "WHO  PATH\nme   …字\n",
                                               [10] = "WHO  PATH\nme   …漢字\n",
                                               [14] = "WHO  PATH\nme   …cks/漢字\n",
                                               [16] = "WHO  PATH\nme   /locks/漢字\n"};
        g_autofree char *text = cmd_table_text(&table, width);
        if (width < G_N_ELEMENTS(expected) && expected[width])
            ck_assert_str_eq(text, expected[width]);
    }
    cmd_table_clear(&table);
}
END_TEST

START_TEST(ages_have_two_units) {
    static const struct {
        int64_t ms;
        const char *age;
    } rows[] = {
        {INT64_MIN, "0s"},
        {-5000, "0s"},
        {999, "0s"},
        {12000, "12s"},
        {59999, "59s"},
        {60000, "1m00s"},
        {185000, "3m05s"},
        {3599000, "59m59s"},
        {7500000, "2h05m"},
        {86399000, "23h59m"},
        {86400000, "1d00h"},
        {INT64_C(1047600000), "12d03h"},
        {INT64_MAX, "106751991167d07h"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *age = cmd_age(rows[i].ms);
        ck_assert_str_eq(age, rows[i].age);
    }
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("command_table");
    TCase *cases = tcase_create("command_table");
    tcase_add_test(cases, columns_are_as_wide_as_their_cells);
    tcase_add_test(cases, lines_end_at_the_width);
    tcase_add_test(cases, one_column_yields_no_further_than_its_least);
    tcase_add_test(cases, nothing_is_cut_without_a_terminal);
    tcase_add_test(cases, text_is_cut_by_columns);
    tcase_add_test(cases, the_end_of_the_last_column_may_stay);
    tcase_add_test(cases, ages_have_two_units);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

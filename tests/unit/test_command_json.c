/* Lines of JSON (command/json/json.c). */
#include "../../command/json.h"
#include "ts_check.h"
#include <json-glib/json-glib.h>

static void start(void) {
    char *why = NULL;
    ck_assert(cmd_json_start(&why));
}

/* The text is that line, and a reader takes it. */
static void assert_line(GString *out, const char *line) {
    g_autoptr(JsonParser) reader = json_parser_new();
    ck_assert_str_eq(out->str, line);
    ck_assert(json_parser_load_from_data(reader, out->str, -1, NULL));
    g_string_free(out, TRUE);
}

static GString *with_text(const char *text) {
    GString *out = g_string_new(NULL);
    cmd_json_begin_array(out, NULL);
    cmd_json_text(out, NULL, text);
    cmd_json_end_array(out);
    return out;
}

START_TEST(values_are_parted_by_commas_at_every_depth) {
    GString *out = g_string_new(NULL);
    cmd_json_begin_object(out, NULL);
    cmd_json_begin_array(out, "none");
    cmd_json_end_array(out);
    cmd_json_begin_array(out, "both");
    for (int64_t i = 0; i < 2; i++) {
        cmd_json_begin_object(out, NULL);
        cmd_json_number(out, "n", i);
        cmd_json_boolean(out, "b", i == 0);
        cmd_json_end_object(out);
    }
    cmd_json_end_array(out);
    cmd_json_null(out, "after");
    cmd_json_end_object(out);
    assert_line(out, "{\"none\":[],\"both\":[{\"n\":0,\"b\":true},{\"n\":1,\"b\":false}],\"after\":null}");
}
END_TEST

START_TEST(lines_follow_each_other) {
    for (int i = 0; i < 2; i++) {
        GString *out = g_string_new(NULL);
        cmd_json_begin_object(out, NULL);
        cmd_json_token(out, "token", i);
        cmd_json_end_object(out);
        assert_line(out, i ? "{\"token\":\"1\"}" : "{\"token\":\"0\"}");
    }
}
END_TEST

START_TEST(numbers_of_64_bits_are_whole) {
    GString *out = g_string_new(NULL);
    cmd_json_begin_array(out, NULL);
    cmd_json_number(out, NULL, INT64_MIN);
    cmd_json_token(out, NULL, INT64_MAX);
    cmd_json_session(out, NULL, -1);
    cmd_json_end_array(out);
    assert_line(out, "[-9223372036854775808,\"9223372036854775807\",\"0xffffffffffffffff\"]");
}
END_TEST

START_TEST(a_text_is_printable_ascii) {
    assert_line(with_text("a \"quoted\\\" ~"), "[\"a \\\"quoted\\\\\\\" ~\"]");
    assert_line(with_text("\x01\n\x1f\x7f"), "[\"\\u0001\\n\\u001f\\u007f\"]");
    assert_line(with_text("ä\u2028\uffff"), "[\"\\u00e4\\u2028\\uffff\"]");
    assert_line(with_text("\U0001f512"), "[\"\\ud83d\\udd12\"]");
    assert_line(with_text("\xff"
                          "a\xc3"),
                "[\"\\ufffda\\ufffd\"]");
    assert_line(with_text(""), "[\"\"]");
    assert_line(with_text(NULL), "[null]");
}
END_TEST

static Suite *json_suite(void) {
    Suite *suite = suite_create("json");
    TCase *lines = tcase_create("lines");
    tcase_add_unchecked_fixture(lines, start, NULL);
    tcase_add_test(lines, values_are_parted_by_commas_at_every_depth);
    tcase_add_test(lines, lines_follow_each_other);
    tcase_add_test(lines, numbers_of_64_bits_are_whole);
    tcase_add_test(lines, a_text_is_printable_ascii);
    suite_add_tcase(suite, lines);
    return suite;
}

int main(void) { return ts_run_suite(json_suite()); }

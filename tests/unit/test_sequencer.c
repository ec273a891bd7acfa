/* Sequencers come from others: what is one, and that nothing else is taken for one. */
#include <glib.h>
#include <string.h>

#include "sequencer.h"
#include "ts_check.h"

#define NODE "/d/_c_x-lock-0000000007"

START_TEST(a_sequencer_is_taken_apart) {
    struct pdk__sequencer s;
    ck_assert(pdk__sequencer_parse("pdk1 /locks/a/_c_x-lock-0000000007 exclusive 4294967301 3", &s));
    ck_assert_str_eq(s.node, "/locks/a/_c_x-lock-0000000007");
    ck_assert_int_eq(s.token, INT64_C(4294967301));
    ck_assert_uint_eq(s.handover, 3);
}
END_TEST

START_TEST(the_node_may_contain_spaces_and_words_like_ours) {
    struct pdk__sequencer s;
    ck_assert(pdk__sequencer_parse("pdk1 /a b exclusive 1 0/c-lock-0000000001 exclusive 9 0", &s));
    ck_assert_str_eq(s.node, "/a b exclusive 1 0/c-lock-0000000001");
    ck_assert_int_eq(s.token, 9);
}
END_TEST

START_TEST(the_extremes_are_sequencers) {
    struct pdk__sequencer s;
    ck_assert(pdk__sequencer_parse("pdk1 " NODE " exclusive 9223372036854775807 4294967295", &s));
    ck_assert_int_eq(s.token, INT64_MAX);
    ck_assert_uint_eq(s.handover, UINT32_MAX);
}
END_TEST

START_TEST(nothing_else_is_a_sequencer) {
    static const char *const wrong[] = {
        "",
        " ",
        "pdk1",
        "pdk1 ",
        "pdk1 /",
        "pdk1 " NODE,
        "pdk1 " NODE " exclusive",
        "pdk1 " NODE " exclusive 1",
        "pdk1 exclusive 1 0",
        "pdk2 " NODE " exclusive 1 0",
        "PDK1 " NODE " exclusive 1 0",
        " pdk1 " NODE " exclusive 1 0",
        "pdk1  " NODE " exclusive 1 0",
        "pdk1 x" NODE " exclusive 1 0",
        "pdk1 " NODE " shared? 1 0",
        "pdk1 " NODE " Exclusive 1 0",
        "pdk1 " NODE "  exclusive 1 0",
        "pdk1 " NODE " exclusive 0 0",
        "pdk1 " NODE " exclusive -1 0",
        "pdk1 " NODE " exclusive +1 0",
        "pdk1 " NODE " exclusive 1 -1",
        "pdk1 " NODE " exclusive 1 4294967296",
        "pdk1 " NODE " exclusive 9223372036854775808 0",
        "pdk1 " NODE " exclusive 99999999999999999999999 0",
        "pdk1 " NODE " exclusive 0x1 0",
        "pdk1 " NODE " exclusive 1 0 ",
        "pdk1 " NODE " exclusive 1  0",
        "pdk1 " NODE " exclusive 1 0\n",
        "pdk1 " NODE " exclusive 1.5 0",
        "pdk1 " NODE " exclusive one 0",
        "pdk1 " NODE " exclusive \v1 0",
        "pdk1 " NODE " exclusive 1 0 trailing",
        /* a node that no hold can have: it would travel to a server */
        "pdk1 / exclusive 1 0",
        "pdk1 // exclusive 1 0",
        "pdk1 /n exclusive 1 0",
        "pdk1 /d/n exclusive 1 0",
        "pdk1 /_c_x-lock-0000000007 exclusive 1 0",
        "pdk1 /a/" NODE " exclusive 1 0",
        "pdk1 " NODE "/ exclusive 1 0",
        "pdk1 /.." NODE " exclusive 1 0",
        "pdk1 /." NODE " exclusive 1 0",
        "pdk1 /a\x01" NODE " exclusive 1 0",
        "pdk1 /\xff" NODE " exclusive 1 0",
        "pdk1 /d/\x7f-lock-0000000007 exclusive 1 0",
        "pdk1 /zookeeper" NODE " exclusive 1 0",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        struct pdk__sequencer s;
        ck_assert_msg(!pdk__sequencer_parse(wrong[i], &s), "accepted: \"%s\"", wrong[i]);
    }
    struct pdk__sequencer s;
    ck_assert(!pdk__sequencer_parse(NULL, &s));
    ck_assert(pdk__sequencer_parse("pdk1 " NODE " exclusive 1 0", &s)); /* what all of them are damaged forms of */
}
END_TEST

/* A directory has 512 bytes at the most. */
START_TEST(overlong_text_is_refused) {
    struct pdk__sequencer s;
    for (guint length = 400; length < 1200; length++) {
        char *name = g_strnfill(length, 'n');
        char *text = g_strdup_printf("pdk1 /%s/x-lock-0000000001 exclusive 1 0", name);
        ck_assert_int_eq(pdk__sequencer_parse(text, &s), length + 1 <= 512);
        if (length + 1 <= 512)
            ck_assert_uint_eq(strlen(s.node), 1 + length + strlen("/x-lock-0000000001"));
        g_free(text);
        g_free(name);
    }
    char *huge = g_strnfill(1000000, ' ');
    ck_assert(!pdk__sequencer_parse(huge, &s));
    g_free(huge);
}
END_TEST

/* Every way to damage one byte of a good sequencer: refused, or read as what it says. */
START_TEST(damaged_text_is_no_danger) {
    static const char good[] = "pdk1 /locks/a b/_c_x-lock-0000000007 exclusive 12 3";
    for (size_t at = 0; at + 1 < sizeof good; at++) {
        for (int c = 1; c < 256; c++) {
            char text[sizeof good];
            struct pdk__sequencer s;
            memcpy(text, good, sizeof good);
            text[at] = (char)c;
            if (!pdk__sequencer_parse(text, &s))
                continue;
            char *again = g_strdup_printf("pdk1 %s exclusive %" G_GINT64_FORMAT " %u", s.node, s.token, s.handover);
            if (strcmp(again, text) != 0) /* leading zeros are all that may differ */
                ck_assert_msg(c == '0', "\"%s\" was read as \"%s\"", text, again);
            g_free(again);
        }
    }
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("sequencer");
    TCase *cases = tcase_create("sequencer");
    tcase_add_test(cases, a_sequencer_is_taken_apart);
    tcase_add_test(cases, the_node_may_contain_spaces_and_words_like_ours);
    tcase_add_test(cases, the_extremes_are_sequencers);
    tcase_add_test(cases, nothing_else_is_a_sequencer);
    tcase_add_test(cases, overlong_text_is_refused);
    tcase_add_test(cases, damaged_text_is_no_danger);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

/* Sequencers come from others: good ones are read, and no other text is taken for one. fuzz/fuzz_sequencer.c has any
 * text. */
#include <glib.h>
#include <string.h>

#include "core/sequencer.h"
#include "ts_check.h"

#define NODE "/d/_c_x-lock-0000000007"

START_TEST(a_sequencer_is_taken_apart) {
    struct pdk__sequencer s;
    ck_assert(pdk__sequencer_parse("pdk1 /locks/a/_c_x-lock-0000000007 exclusive 4294967301 3", &s));
    ck_assert_str_eq(s.node, "/locks/a/_c_x-lock-0000000007");
    ck_assert_int_eq(s.token, INT64_C(4294967301));
    ck_assert_int_eq(s.czxid, s.token);
    ck_assert_uint_eq(s.handover, 3);
}
END_TEST

/* A downgraded grant stands on another node than the one its token is from. */
START_TEST(every_mode_is_read) {
    static const struct {
        const char *mode;
        int64_t czxid;
    } modes[] = {
        {"exclusive", 12},    {"shared", 12},      {"leader", 12},
        {"permit", 12},       {"shared/123", 123}, {"shared/1", 1},
        {"shared/0123", 123}, {"shared/12", 12},   {"shared/9223372036854775807", INT64_MAX},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(modes); i++) {
        char *text = g_strdup_printf("pdk1 " NODE " %s 12 3", modes[i].mode);
        struct pdk__sequencer s;
        ck_assert_msg(pdk__sequencer_parse(text, &s), "\"%s\"", text);
        ck_assert_str_eq(s.node, NODE);
        ck_assert_int_eq(s.token, 12);
        ck_assert_int_eq(s.czxid, modes[i].czxid);
        ck_assert_uint_eq(s.handover, 3);
        g_free(text);
    }
}
END_TEST

START_TEST(nothing_else_is_a_mode) {
    static const char *const wrong[] = {
        "",          "exclusiv",   "exclusive ", "exclusive/5", "leader/5",
        "permit/5",  "share",      "sharedd",    "shared/",     "shared/0",
        "shared/-1", "shared/+1",  "shared/1/2", "shared/1x",   "shared/0x1",
        "shared/ 1", "shared /1",  "shared//1",  "Shared/1",    "shared/99999999999999999999",
        "/1",        "shared\\1",  "latch",      "lease",       "shared/9223372036854775808",
        "1",         "shared/1.5", "reader",     "shared/one",  "exclusive shared/1 exclusive",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        char *text = g_strdup_printf("pdk1 " NODE " %s 12 3", wrong[i]);
        struct pdk__sequencer s;
        ck_assert_msg(!pdk__sequencer_parse(text, &s), "accepted: \"%s\"", text);
        g_free(text);
    }
}
END_TEST

/* The nodes of every recipe, by the names each library writes. */
START_TEST(every_recipes_node_is_one) {
    static const char *const names[] = {"_c_x-lock-0000000007",  "_c_x-__WRIT__0000000007", "_c_x-__READ__0000000007",
                                        "_c_x-latch-0000000007", "_c_x-lease-0000000007",   "x__lock__0000000007",
                                        "x__rlock__0000000007"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        char *text = g_strdup_printf("pdk1 /d/%s shared/9 1 0", names[i]);
        struct pdk__sequencer s;
        ck_assert_msg(pdk__sequencer_parse(text, &s), "\"%s\"", text);
        g_free(text);
    }
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
    ck_assert(pdk__sequencer_parse("pdk1 " NODE " exclusive 1 0", &s)); /* the undamaged form of all of them */
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
    for (guint length = 100; length < 300; length++) { /* and a name has fewer than 128 */
        char *name = g_strnfill(length, 'n');
        char *text = g_strdup_printf("pdk1 /d/%s-lock-0000000001 exclusive 1 0", name);
        ck_assert_int_eq(pdk__sequencer_parse(text, &s), length + strlen("-lock-0000000001") < 128);
        g_free(text);
        g_free(name);
    }
    char *huge = g_strnfill(1000000, ' ');
    ck_assert(!pdk__sequencer_parse(huge, &s));
    g_free(huge);
}
END_TEST

int main(void) {
    return ts_run("sequencer", NULL, NULL, a_sequencer_is_taken_apart, every_mode_is_read, nothing_else_is_a_mode,
                  every_recipes_node_is_one, the_node_may_contain_spaces_and_words_like_ours,
                  the_extremes_are_sequencers, nothing_else_is_a_sequencer, overlong_text_is_refused, NULL);
}

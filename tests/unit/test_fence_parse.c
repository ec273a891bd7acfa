/* Tokens and sequencers as the fence reads them; tests/fuzz has the hostile ones. */
#include <paddock/fence.h>
#include <stdio.h>
#include <string.h>

#include "ts_check.h"

static pdk_status token_of(const char *text, int64_t *token) { return pdk_token_parse(text, strlen(text), token); }

START_TEST(a_token_is_digits) {
    int64_t token = 0;
    ck_assert_int_eq(token_of("00000000004294967301", &token), PDK_OK);
    ck_assert_int_eq(token, INT64_C(4294967301));
    ck_assert_int_eq(token_of("9223372036854775807", &token), PDK_OK);
    ck_assert_int_eq(token, INT64_MAX);
    static const char *const wrong[] = {"",
                                        "0",
                                        "-1",
                                        "+1",
                                        "1 ",
                                        " 1",
                                        "1x",
                                        "0x1",
                                        "9223372036854775808",
                                        "00000000000000000000",
                                        "1.0",
                                        "1\n",
                                        "١",
                                        "99999999999999999999",
                                        "000000000000000000001"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ck_assert_msg(token_of(wrong[i], &token) == PDK_INVALID, "\"%s\"", wrong[i]);
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "pdk_hold_token_text"));
    ck_assert_int_eq(token, INT64_MAX);
    ck_assert_int_eq(pdk_token_parse("1234", 2, &token), PDK_OK); /* no more than it is given */
    ck_assert_int_eq(token, 12);
    ck_assert_int_eq(pdk_token_parse(NULL, 1, &token), PDK_INVALID);
    ck_assert_int_eq(pdk_token_parse("1", 1, NULL), PDK_INVALID);
}
END_TEST

START_TEST(a_sequencer_says_how_it_is_held) {
    static const struct {
        const char *word;
        pdk_mode mode;
        int64_t czxid;
    } modes[] = {{"exclusive", PDK_MODE_EXCLUSIVE, 12},
                 {"shared", PDK_MODE_SHARED, 12},
                 {"shared/45", PDK_MODE_SHARED, 45},
                 {"leader", PDK_MODE_LEADER, 12},
                 {"permit", PDK_MODE_PERMIT, 12}};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        char text[128];
        pdk_sequencer s;
        int size = snprintf(text, sizeof text, "pdk1 /d/_c_x-lock-0000000007 %s 12 3", modes[i].word);
        ck_assert_int_eq(pdk_sequencer_parse(text, (size_t)size, &s), PDK_OK);
        ck_assert_str_eq(s.node, "/d/_c_x-lock-0000000007");
        ck_assert_int_eq(s.token, 12);
        ck_assert_int_eq(s.node_czxid, modes[i].czxid);
        ck_assert_uint_eq(s.handover, 3);
        ck_assert_int_eq(s.mode, modes[i].mode);
        ck_assert_int_eq(pdk_sequencer_parse(text, (size_t)size + 1, &s), PDK_INVALID); /* its end, a zero byte */
        ck_assert_int_eq(pdk_sequencer_parse(text, (size_t)size, NULL), PDK_INVALID);
    }
    pdk_sequencer s;
    ck_assert_int_eq(pdk_sequencer_parse(NULL, 0, &s), PDK_INVALID);
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "bytes: is NULL"));
    ck_assert_int_eq(pdk_sequencer_parse("", 0, &s), PDK_INVALID);
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "pdk_hold_sequencer"));
    ck_assert_int_eq(pdk_sequencer_parse("pdk1 /a", 7, &s), PDK_INVALID);
    ck_assert_int_eq(pdk_sequencer_parse("pdk1 /a b", 9, &s), PDK_INVALID);
    ck_assert_int_eq(pdk_sequencer_parse("pdk1 /a b c", 11, &s), PDK_INVALID);
}
END_TEST

int main(void) { return ts_run("fence_parse", NULL, NULL, a_token_is_digits, a_sequencer_says_how_it_is_held, NULL); }

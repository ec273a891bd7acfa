/* The record of a lease lock: its text, and the rule. */
#include "core/lease_lock.h"
#include "ts_check.h"

#include <glib.h>
#include <string.h>

#define HEAD "paddock-lease 1\n"
#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct pdk__lease_record record;

static enum pdk__record_kind parse(const char *text) { return pdk__lease_record_parse(text, strlen(text), &record); }

START_TEST(what_is_written_is_read) {
    static const char *const texts[] = {HEAD "H 9 60000 " DIGEST " a b\n", HEAD "N 9223372036854775807\n"};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        char again[PDK__LEASE_LOCK_SIZE];
        ck_assert_int_eq(parse(texts[i]), PDK__RECORD_FINE);
        ck_assert_uint_eq(pdk__lease_record_write(&record, again), strlen(texts[i]));
        ck_assert_str_eq(again, texts[i]);
    }
    parse(texts[0]);
    ck_assert_int_eq(record.duration, 60000);
    ck_assert_str_eq(record.who, "a b");
    ck_assert_int_eq(parse(""), PDK__RECORD_FINE);
    ck_assert_int_eq(record.state, 0);
}
END_TEST

START_TEST(the_longest_record) {
    char text[PDK__LEASE_LOCK_SIZE];
    memset(&record, 0, sizeof record);
    record.state = 'H';
    record.token = INT64_MAX;
    record.duration = PDK__JOB_LONGEST;
    memset(record.digest, 'f', sizeof record.digest - 1);
    memset(record.who, 'w', sizeof record.who - 1);
    size_t length = pdk__lease_record_write(&record, text);
    ck_assert_uint_lt(length, sizeof text);
    ck_assert_int_eq(pdk__lease_record_parse(text, length, &record), PDK__RECORD_FINE);
}
END_TEST

START_TEST(what_is_no_record_is_refused) {
    static const char *const foreign[] = {
        "x",
        HEAD,
        "paddock-lease 1",
        "paddock-lease x\n",
        "paddock-lease 0\n",
        HEAD "X 9\n",
        "something else, of some length\n",
        HEAD "N9\n",
        HEAD "N 0\n",
        HEAD "N 09\n",
        HEAD "N 9",
        HEAD "N 9\n\n",
        HEAD "N 9223372036854775808\n",
        HEAD "H 0 60000 " DIGEST " a\n",
        HEAD "H 9 0 " DIGEST " a\n",
        HEAD "H 9 315576000001 " DIGEST " a\n",
        HEAD "H 9 60000 " DIGEST "0 a\n",
        HEAD "H 9 60000 0123 a\n",
        HEAD "H 9 60000 X123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef a\n",
        HEAD "H 9 60000 " DIGEST " \n",
        HEAD "H 9 60000 " DIGEST "\n",
        HEAD "H 9 60000 " DIGEST " a\x1b\n",
        HEAD "H 9 60000 " DIGEST " a\x7f\n",
        HEAD "H 9 60000 " DIGEST " a",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(foreign); i++) {
        ck_assert_msg(parse(foreign[i]) == PDK__RECORD_FOREIGN, "%s", foreign[i]);
        ck_assert_int_eq(record.state, 0);
    }
    ck_assert_int_eq(pdk__lease_record_parse(HEAD "N 9\0\n", sizeof HEAD + 4, &record), PDK__RECORD_FOREIGN);
    ck_assert_int_eq(parse("paddock-lease 2\nx"), PDK__RECORD_NEWER);
    static const char *const damaged[] = {"paddock-lease 1x\n", "paddock-lease 2", "paddock-lease 2x\n",
                                          "paddock-lease 02\n", "paddock-lease 1\r\n"};
    for (size_t i = 0; i < G_N_ELEMENTS(damaged); i++)
        ck_assert_msg(parse(damaged[i]) == PDK__RECORD_FOREIGN, "%s", damaged[i]);
    ck_assert_int_eq(parse("paddock-lease 12\n"), PDK__RECORD_NEWER);
    g_autofree char *who = g_strnfill(129, 'w'), *text = g_strconcat(HEAD "H 9 60000 " DIGEST " ", who, "\n", NULL);
    ck_assert_int_eq(parse(text), PDK__RECORD_FOREIGN);
    g_autofree char *large = g_strnfill(400, 'x'), *far = g_strconcat(HEAD, large, NULL);
    ck_assert_int_eq(parse(far), PDK__RECORD_FOREIGN);
}
END_TEST

START_TEST(the_rule) {
    struct pdk__lease_record mine = {.state = 'H', .token = 5, .duration = 100, .digest = "a"}, found = {0};
    ck_assert_int_eq(pdk__lease_judge(&found, 0, 0, &mine), PDK__LEASE_TAKE);
    found = (struct pdk__lease_record){.state = 'H', .token = 4, .duration = 100, .digest = "b"};
    ck_assert_int_eq(pdk__lease_judge(&found, 1000, 1099, &mine), PDK__LEASE_STANDS);
    ck_assert_int_eq(pdk__lease_judge(&found, 1000, 900, &mine), PDK__LEASE_STANDS);
    ck_assert_int_eq(pdk__lease_judge(&found, 1000, 1100, &mine), PDK__LEASE_TAKE);
    strcpy(found.digest, "a");
    ck_assert_int_eq(pdk__lease_judge(&found, 1000, 1001, &mine), PDK__LEASE_TAKE);
    found.state = 'N';
    ck_assert_int_eq(pdk__lease_judge(&found, 1000, 1001, &mine), PDK__LEASE_TAKE);
    found.token = 6;
    ck_assert_int_eq(pdk__lease_judge(&found, 1000, 9999, &mine), PDK__LEASE_OVERTAKEN);
    found.token = 5;
    ck_assert_int_eq(pdk__lease_judge(&found, 1000, 9999, &mine), PDK__LEASE_OVERTAKEN);
    found.state = 'H';
    ck_assert_int_eq(pdk__lease_judge(&found, 1000, 9999, &mine), PDK__LEASE_OURS);
}
END_TEST

int main(void) {
    return ts_run("lease_lock", NULL, NULL, what_is_written_is_read, the_longest_record, what_is_no_record_is_refused,
                  the_rule, NULL);
}

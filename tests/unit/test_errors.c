/* ZooKeeper's codes: which answers leave open whether the request was executed, and which do not. */
#include <glib.h>
#include <stdbool.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "ts_check.h"
#include "zk/errors.h"

static const struct {
    int code;
    enum pdk__result expected;
} known[] = {
    {ZOK, PDK__OK},
    {ZNONODE, PDK__NO_NODE},
    {ZNODEEXISTS, PDK__NODE_EXISTS},
    {ZNOAUTH, PDK__NOT_ALLOWED},
    {ZINVALIDACL, PDK__NOT_ALLOWED},
    {ZTHROTTLEDOP, PDK__NOT_NOW},
    {ZNOTREADONLY, PDK__NOT_NOW},
    /* may have been executed */
    {ZCONNECTIONLOSS, PDK__UNKNOWN},
    {ZOPERATIONTIMEOUT, PDK__UNKNOWN},
    {ZRUNTIMEINCONSISTENCY, PDK__UNKNOWN},
    {ZSYSTEMERROR, PDK__UNKNOWN},
    {ZMARSHALLINGERROR, PDK__UNKNOWN},
    {ZCLOSING, PDK__UNKNOWN},
    {ZSESSIONEXPIRED, PDK__UNKNOWN},
    {ZSESSIONMOVED, PDK__UNKNOWN},
    {ZINVALIDSTATE, PDK__UNKNOWN},
    {ZAUTHFAILED, PDK__UNKNOWN},
    /* never will be */
    {ZUNIMPLEMENTED, PDK__REFUSED},
    {ZBADARGUMENTS, PDK__REFUSED},
    {ZAPIERROR, PDK__REFUSED},
    {ZBADVERSION, PDK__BAD_VERSION},
    {ZNOCHILDRENFOREPHEMERALS, PDK__REFUSED},
    {ZNOTEMPTY, PDK__REFUSED},
    {ZEPHEMERALONLOCALSESSION, PDK__REFUSED},
    {ZNOWATCHER, PDK__REFUSED},
    {ZRECONFIGDISABLED, PDK__REFUSED},
    /* not now: reconfigurations, which nobody here asks for */
    {ZNEWCONFIGNOQUORUM, PDK__NOT_NOW},
    {ZRECONFIGINPROGRESS, PDK__NOT_NOW},
    /* what the client library alone says */
    {ZDATAINCONSISTENCY, PDK__UNKNOWN},
    {ZSSLCONNECTIONERROR, PDK__UNKNOWN},
    {ZINVALIDCALLBACK, PDK__UNKNOWN},
    {ZNOTHING, PDK__UNKNOWN},
    /* what servers know by number, up to ZooKeeper 3.9; not every header does */
    {-12, PDK__UNKNOWN},  /* UNKNOWNSESSION, between servers */
    {-122, PDK__UNKNOWN}, /* REQUESTTIMEOUT */
    {-124, PDK__REFUSED}, /* SESSIONCLOSEDREQUIRESASLAUTH */
    {-125, PDK__REFUSED}, /* QUOTAEXCEEDED */
};

START_TEST(every_known_code_has_its_meaning) {
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
        ck_assert_msg(pdk__zk_result(known[i].code) == known[i].expected, "%d", known[i].code);
}
END_TEST

/* Every code of ZooKeeper 3.9's KeeperException, by number. */
START_TEST(no_code_of_zookeeper_is_missing) {
    static const int codes[] = {0,    -1,   -2,   -3,   -4,   -5,   -6,   -7,   -8,   -12,  -13,
                                -14,  -100, -101, -102, -103, -108, -110, -111, -112, -113, -114,
                                -115, -118, -119, -120, -121, -122, -123, -124, -125, -127};
    for (size_t i = 0; i < G_N_ELEMENTS(codes); i++)
        ck_assert_msg(strcmp(pdk__zk_code_name(codes[i]), "error") != 0, "%d has no name", codes[i]);
}
END_TEST

/* For any code that a server makes up: only a known meaning is taken for certain. */
START_TEST(every_other_code_is_ambiguous) {
    for (int code = -1000; code <= 1000; code++) {
        bool listed = false;
        for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
            listed = listed || known[i].code == code;
        if (!listed)
            ck_assert_msg(pdk__zk_result(code) == PDK__UNKNOWN, "%d", code);
    }
    ck_assert_int_eq(pdk__zk_result(INT32_MIN), PDK__UNKNOWN);
    ck_assert_int_eq(pdk__zk_result(INT32_MAX), PDK__UNKNOWN);
}
END_TEST

START_TEST(names_carry_the_number) {
    ck_assert_str_eq(pdk__zk_code_name(ZNONODE), "ZNONODE(-101)");
    ck_assert_str_eq(pdk__zk_code_name(ZCONNECTIONLOSS), "ZCONNECTIONLOSS(-4)");
    ck_assert_str_ne(pdk__zk_code_name(12345), "");
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
        char *number = g_strdup_printf("(%d)", known[i].code);
        ck_assert_msg(strstr(pdk__zk_code_name(known[i].code), number) != NULL, "%s", number);
        g_free(number);
    }
}
END_TEST

int main(void) {
    return ts_run("errors", NULL, NULL, every_known_code_has_its_meaning, every_other_code_is_ambiguous,
                  no_code_of_zookeeper_is_missing, names_carry_the_number, NULL);
}

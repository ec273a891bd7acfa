/* Wishes that a holder let go come from others: ours and Curator's are read, and no other data is taken for one. */
#include <glib.h>
#include <string.h>

#include "core/names.h"
#include "core/revocation.h"
#include "ts_check.h"

static bool reads(const char *text, struct pdk__revocation *r) { return pdk__revocation_read(text, strlen(text), r); }

static void has(const char *part, size_t size, const char *wanted) {
    ck_assert_uint_eq(size, strlen(wanted));
    ck_assert_int_eq(memcmp(part, wanted, size), 0);
}

START_TEST(curators_names_nobody) {
    struct pdk__revocation r;
    ck_assert(reads("__REVOKE__", &r));
    has(r.who, r.who_size, "");
    has(r.identity, r.identity_size, "");
    ck_assert_int_eq(r.within_ms, 0);
    ck_assert_int_eq(pdk__revocation_until(&r, 1000), 0);
}
END_TEST

START_TEST(ours_is_taken_apart) {
    struct pdk__revocation r;
    ck_assert(reads("__REVOKE__ 5000 nightly job on b\nhost:7:me\nmore", &r));
    has(r.who, r.who_size, "nightly job on b");
    has(r.identity, r.identity_size, "host:7:me\nmore");
    ck_assert_int_eq(r.within_ms, 5000);
    ck_assert_int_eq(pdk__revocation_until(&r, 1000), 6000);
    ck_assert(reads("__REVOKE__ 0 x\n", &r));
    has(r.identity, r.identity_size, "");
    ck_assert_int_eq(pdk__revocation_until(&r, 1000), 0);
    ck_assert(reads("__REVOKE__ 999999999999999 x\n", &r));
    ck_assert_int_eq(r.within_ms, PDK__WITHIN_MAX);
}
END_TEST

START_TEST(nothing_else_is_a_wish) {
    static const char *const wrong[] = {
        "",
        "_",
        "__REVOKE_",
        "__REVOKE__ ",
        "__REVOKE__\n",
        "__REVOKE__x",
        " __REVOKE__",
        "__revoke__",
        "__REVOKE__ 5",
        "__REVOKE__ 5 ",
        "__REVOKE__ 5 x",
        "__REVOKE__ 5 \n",
        "__REVOKE__  x\n",
        "__REVOKE__ x x\n",
        "__REVOKE__ -1 x\n",
        "__REVOKE__ 05 x\n",
        "__REVOKE__ 5x\n",
        "__REVOKE__ 5\nx",
        "__REVOKE__ 1000000000000000 x\n",
        "__REVOKE__ 5 a\tb\n",
        "__REVOKE__ 5 a\x7f\n",
        "host:7:me",
        "a host whose name is longer:7:me",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        struct pdk__revocation r;
        ck_assert_msg(!reads(wrong[i], &r), "accepted: \"%s\"", wrong[i]);
        has(r.identity, r.identity_size, wrong[i]);
        ck_assert_uint_eq(r.who_size, 0);
    }
    struct pdk__revocation r;
    ck_assert(!pdk__revocation_read(NULL, 0, &r));
    ck_assert(!pdk__revocation_read("__REVOKE__ 5 a\0b\n", 17, &r));
}
END_TEST

START_TEST(who_has_a_length) {
    char *longest = g_strnfill(PDK__WHO_MAX, 'w'), *longer = g_strnfill(PDK__WHO_MAX + 1, 'w');
    char head[PDK__REVOKE_SIZE];
    struct pdk__revocation r;
    size_t size = pdk__revocation_write(PDK__WITHIN_MAX, longest, head);
    ck_assert_uint_eq(size, strlen(head));
    ck_assert_uint_eq(size, sizeof head - 1);
    ck_assert(reads(head, &r));
    has(r.who, r.who_size, longest);
    char *text = g_strdup_printf("__REVOKE__ 5 %s\n", longer);
    ck_assert(!reads(text, &r));
    ck_assert_ptr_null(pdk__who_error(longest));
    ck_assert_ptr_nonnull(pdk__who_error(longer));
    ck_assert_ptr_nonnull(pdk__who_error(""));
    ck_assert_ptr_nonnull(pdk__who_error("a\nb"));
    ck_assert_ptr_null(pdk__who_error("j\xc3\xb6rg"));
    g_free(text);
    g_free(longest);
    g_free(longer);
}
END_TEST

/* Curator compares all of the data: a name of another client must never be taken for ours. */
START_TEST(our_names_are_known) {
    static const char *const ours[] = {"_c_01234567-89ab-8def-8123-000000000001-lock-0000000000",
                                       "_c_01234567-89ab-8def-8123-000000000001-__READ__0000000000",
                                       "0123456789ab8def8123000000000001__lock__0000000000"};
    static const char *const others[] = {
        "_c_01234567-89ab-4def-8123-000000000001-lock-0000000000", /* Curator */
        "0123456789ab4def8123000000000001__lock__0000000000",      /* kazoo */
        "_c_0123456789ab88888888888888000001-lock-0000000000",     /* go-zookeeper */
        "_c_012345678-9ab-8def-8123-000000000001-lock-0000000000", /* dashes elsewhere */
        "_c_01234567-89ab8-8def-8123-00000000001-lock-0000000000", "x-72057-0000000001", "zzz", "",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(ours); i++)
        ck_assert_msg(pdk__name_is_paddocks(ours[i]), "%s", ours[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        ck_assert_msg(!pdk__name_is_paddocks(others[i]), "%s", others[i]);
}
END_TEST

int main(void) {
    return ts_run("revocation", NULL, NULL, curators_names_nobody, ours_is_taken_apart, nothing_else_is_a_wish,
                  who_has_a_length, our_names_are_known, NULL);
}

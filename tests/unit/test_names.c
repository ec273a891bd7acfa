/* Names of contenders' nodes: ours and everybody's, and the order of their sequences. fuzz/fuzz_names.c has any bytes. */
#include "core/names.h"
#include "ts_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UUID "0f0e0d0c-0b0a-4908-8706-050403020100"

static void check_is(const char *text, enum pdk__kind kind, int32_t sequence) {
    struct pdk__name name = {PDK__LATCH, 77};
    ck_assert_msg(pdk__name_parse(text, &name), "\"%s\" was refused", text);
    ck_assert_int_eq(name.kind, kind);
    ck_assert_int_eq(name.sequence, sequence);
}

static void check_foreign(const char *text) {
    struct pdk__name name = {PDK__WRITER, 77};
    ck_assert_msg(!pdk__name_parse(text, &name), "\"%s\" was accepted", text);
    ck_assert_int_eq(name.kind, PDK__FOREIGN);
    ck_assert_int_eq(name.sequence, 0);
}

START_TEST(names_of_all_libraries_are_read) {
    check_is("_c_" UUID "-lock-0000000042", PDK__WRITER, 42);
    check_is("lock-0000000000", PDK__WRITER, 0);
    check_is("0f0e0d0c0b0a49088706050403020100__lock__0000000007", PDK__WRITER, 7);
    check_is("0f0e0d0c0b0a49088706050403020100__rlock__0000000008", PDK__READER, 8);
    check_is("_c_" UUID "-__WRIT__0000000009", PDK__WRITER, 9);
    check_is("_c_" UUID "-__READ__0000000010", PDK__READER, 10);
    check_is("_c_" UUID "-latch-0000000011", PDK__LATCH, 11);
    check_is("x-72057594037927936-lock-0000000012", PDK__WRITER, 12);
    check_is("_c_" UUID "-lease-0000000013", PDK__LEASE, 13);
    check_is("lease--2147483648", PDK__LEASE, INT32_MIN);
    check_is("_c_" UUID "-member-0000000014", PDK__MEMBER, 14);
}
END_TEST

START_TEST(sequences_wrap_into_negative_numbers) {
    check_is("lock-2147483647", PDK__WRITER, INT32_MAX);
    check_is("lock--2147483648", PDK__WRITER, INT32_MIN);
    check_is("a__lock__-2147483647", PDK__WRITER, -INT32_MAX);
    check_is("lock--1000000000", PDK__WRITER, -1000000000);
    check_is("lock--999999999", PDK__WRITER, -999999999);
    check_is("a__lock__-000000001", PDK__WRITER, -1);
    check_is("lock--000000001", PDK__WRITER, -1);
    for (int64_t i = INT32_MIN; i <= INT32_MAX; i += 99999989) {
        char text[64];
        snprintf(text, sizeof text, "_c_" UUID "-lock-%010d", (int)i);
        check_is(text, PDK__WRITER, (int32_t)i);
    }
}
END_TEST

START_TEST(everything_else_is_foreign) {
    static const char *const foreign[] = {
        "",
        "0",
        "lock",
        "lock-",
        "lock-1",
        "lock-000000001",
        "0000000001",
        "lock-00000000a1",
        "lock-0000000001x",
        "lock-2147483648",
        "lock--2147483649",
        "lock-9999999999",
        "lock---000000001",
        "lock-+000000001",
        "lock- 000000001",
        "Lock-0000000001",
        "lock_0000000001",
        "lock0000000001",
        "leases-0000000001",
        "lease_0000000001",
        "lease-000000001",
        "Lease-0000000001",
        UUID "__lease__0000000001",
        "__READ_0000000001",
        "__read__0000000001",
        "__rlock_0000000001",
        "latch_0000000001",
        "leases",
        "locks",
        "__lock_0000000001",
        "-0000000001",
        "--2147483648",
        "lock-00000000001",
        /* A lock of somebody else's whose name ends in "lock--" would be far ahead of everybody. */
        "lock--0000000001",
        "lock--0999999999",
        "lock--000000000",
        "lock--0000000000",
        "a__lock__-0000000001",
        "a__rlock__-000000000",
        "_c_a-latch--0999999999",
        "_c_" UUID "-lock-",
        "lock-\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9",
    };
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        check_foreign(foreign[i]);
}
END_TEST

START_TEST(order_is_serial) {
    ck_assert_int_lt(pdk__sequence_compare(1, 2), 0);
    ck_assert_int_gt(pdk__sequence_compare(10, 9), 0);
    ck_assert_int_eq(pdk__sequence_compare(-5, -5), 0);
    ck_assert_int_lt(pdk__sequence_compare(INT32_MAX, INT32_MIN), 0);
    ck_assert_int_gt(pdk__sequence_compare(INT32_MIN + 3, INT32_MAX - 3), 0);
    ck_assert_int_lt(pdk__sequence_compare(-1, 0), 0);
    ck_assert_int_lt(pdk__sequence_compare(0, INT32_MAX), 0);
    ck_assert_int_gt(pdk__sequence_compare(0, INT32_MIN + 1), 0);
}
END_TEST

#define HEX "0f0e0d0c0b0a49088706050403020100"

/* A recipe writes the names that other libraries on the path write, and reads them alike. */
START_TEST(marks_are_what_the_others_write) {
    static const struct {
        enum pdk__profile profile;
        enum pdk__label label;
        const char *mark;
        enum pdk__kind kind;
    } marks[] = {
        {PDK__CURATOR, PDK__LABEL_LOCK, "_c_" UUID "-lock-", PDK__WRITER},
        {PDK__CURATOR, PDK__LABEL_WRITE, "_c_" UUID "-__WRIT__", PDK__WRITER},
        {PDK__CURATOR, PDK__LABEL_READ, "_c_" UUID "-__READ__", PDK__READER},
        {PDK__CURATOR, PDK__LABEL_LATCH, "_c_" UUID "-latch-", PDK__LATCH},
        {PDK__CURATOR, PDK__LABEL_LEASE, "_c_" UUID "-lease-", PDK__LEASE},
        {PDK__CURATOR, PDK__LABEL_MEMBER, "_c_" UUID "-member-", PDK__MEMBER},
        {PDK__KAZOO, PDK__LABEL_LOCK, HEX "__lock__", PDK__WRITER},
        {PDK__KAZOO, PDK__LABEL_WRITE, HEX "__lock__", PDK__WRITER},
        {PDK__KAZOO, PDK__LABEL_READ, HEX "__rlock__", PDK__READER},
        {PDK__KAZOO, PDK__LABEL_LATCH, HEX "__lock__", PDK__WRITER}, /* kazoo elects by its lock */
    };
    static const int32_t sequences[] = {0, 3, INT32_MAX, INT32_MIN, -1};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        char mark[PDK__MARK_SIZE], name[PDK__NAME_SIZE];
        memset(mark, 'x', sizeof mark);
        pdk__mark_make(marks[i].profile, marks[i].label, UUID, mark);
        ck_assert_str_eq(mark, marks[i].mark);
        for (size_t n = 0; n < sizeof sequences / sizeof sequences[0]; n++) {
            ck_assert_int_lt(snprintf(name, sizeof name, "%s%010d", mark, (int)sequences[n]), 60);
            check_is(name, marks[i].kind, sequences[n]);
        }
    }
}
END_TEST

/* Names of one session, in either naming. Names of another session, and texts that are no names, do not match. */
START_TEST(names_of_one_session_have_its_uuid_prefix) {
    static const char prefix[] = "01234567-89ab-4cde-8f01-";
    static const enum pdk__profile profiles[] = {PDK__CURATOR, PDK__KAZOO};
    for (size_t i = 0; i < 2; i++) {
        char mark[PDK__MARK_SIZE], strange[PDK__MARK_SIZE];
        pdk__mark_make(profiles[i], PDK__LABEL_READ, "01234567-89ab-4cde-8f01-00000000000f", mark);
        pdk__mark_make(profiles[i], PDK__LABEL_LOCK, "01234567-89ab-4cde-8f02-000000000001", strange);
        ck_assert(pdk__name_has_uuid_prefix(mark, prefix));
        ck_assert(!pdk__name_has_uuid_prefix(strange, prefix));
        ck_assert_int_eq(strncmp(mark + pdk__name_uuid_prefix_length(mark), "00000000000f", 12), 0);
        mark[12] = '\0';
        ck_assert(!pdk__name_has_uuid_prefix(mark, prefix));
    }
    ck_assert(!pdk__name_has_uuid_prefix("", prefix));
    ck_assert(!pdk__name_has_uuid_prefix("_c_", prefix));
    ck_assert(!pdk__name_has_uuid_prefix("leases", prefix));
}
END_TEST

START_TEST(names_with_a_uuid_are_unique) {
    ck_assert(pdk__name_is_unique("_c_0123abcd-4567-89ef-0123-456789abcdef-lock-0000000001"));
    ck_assert(pdk__name_is_unique("0123abcd456789ef0123456789abcdef__lock__0000000001"));
    ck_assert(!pdk__name_is_unique("lock-0000000001"));
    ck_assert(!pdk__name_is_unique("_c_lock-0000000001"));
    ck_assert(!pdk__name_is_unique("0123ABCD456789ef0123456789abcdef__lock__0000000001")); /* nobody writes it so */
    ck_assert(!pdk__name_is_unique("0123abcd-456789ef0123456789abcdef__lock__0000000001"));
    ck_assert(!pdk__name_is_unique(""));
}
END_TEST

START_TEST(a_mark_is_all_before_the_number) {
    static const char *const numbers[] = {"0000000000", "2147483647", "-000000001", "-999999999", "-1000000000"};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct pdk__name name;
        char text[PDK__NAME_SIZE];
        snprintf(text, sizeof text, "_c_" UUID "-lock-%s", numbers[i]);
        ck_assert(pdk__name_parse(text, &name));
        ck_assert_uint_eq(pdk__name_mark_length(text, &name), strlen("_c_" UUID "-lock-"));
    }
}
END_TEST

/* Kazoo's semaphore is another one altogether: no counted node may look like a lease of it. */
START_TEST(kazoo_has_no_leases) {
    char mark[PDK__MARK_SIZE], name[PDK__NAME_SIZE];
    pdk__mark_make(PDK__KAZOO, PDK__LABEL_LEASE, UUID, mark);
    snprintf(name, sizeof name, "%s%010d", mark, 3);
    check_foreign(name);
}
END_TEST

/* Readers and writers queue together; candidates, leases, and members, among themselves. */
START_TEST(queues_are_locks_candidates_and_leases) {
    static const enum pdk__kind kinds[] = {PDK__WRITER, PDK__READER, PDK__LATCH, PDK__LEASE, PDK__MEMBER};
    static const bool same[5][5] = {{true, true}, {true, true}, {[2] = true}, {[3] = true}, {[4] = true}};
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++)
            ck_assert_msg(pdk__kind_same_queue(kinds[a], kinds[b]) == same[a][b], "%d and %d", kinds[a], kinds[b]);
}
END_TEST

/* 36 characters without a dash: a kazoo mark has room for 32, and still ends in its token. */
START_TEST(a_mark_has_room_for_32_digits) {
    char mark[PDK__MARK_SIZE];
    pdk__mark_make(PDK__KAZOO, PDK__LABEL_LOCK, "0123456789abcdef0123456789abcdefFFFF", mark);
    ck_assert_str_eq(mark, "0123456789abcdef0123456789abcdef__lock__");
    pdk__mark_make(PDK__KAZOO, PDK__LABEL_LOCK, "", mark);
    ck_assert_str_eq(mark, "__lock__");
}
END_TEST

int main(void) {
    return ts_run("names", NULL, NULL, names_with_a_uuid_are_unique, names_of_all_libraries_are_read,
                  sequences_wrap_into_negative_numbers, everything_else_is_foreign, order_is_serial,
                  marks_are_what_the_others_write, names_of_one_session_have_its_uuid_prefix,
                  a_mark_is_all_before_the_number, kazoo_has_no_leases, queues_are_locks_candidates_and_leases,
                  a_mark_has_room_for_32_digits, NULL);
}

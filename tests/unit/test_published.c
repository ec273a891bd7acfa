/* The znode of a contender: whatever stands in it, its identity and its data are parts of that. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/published.h"
#include "ts_check.h"

static struct pdk__published of(const char *bytes, size_t size) {
    struct pdk__published p;
    pdk__published_read(bytes, size, &p);
    return p;
}

static void reads(const char *bytes, size_t size, const char *identity, const char *data, size_t data_size) {
    struct pdk__published p = of(bytes, size);
    ck_assert_uint_eq(p.identity_size, strlen(identity));
    ck_assert_mem_eq(p.identity, identity, strlen(identity));
    ck_assert(!data == !p.data);
    ck_assert_uint_eq(p.data_size, data_size);
    if (data)
        ck_assert_mem_eq(p.data, data, data_size);
}
#define READS(text, identity, data) reads(text, sizeof text - 1, identity, data, sizeof data - 1)
#define READS_NO_DATA(text, identity) reads(text, sizeof text - 1, identity, NULL, 0)

START_TEST(an_identity_alone) {
    READS_NO_DATA("host:1", "host:1");
    READS_NO_DATA("", "");
    reads(NULL, 0, "", NULL, 0);
}
END_TEST

START_TEST(data_behind_it) {
    READS("host:1\0data", "host:1", "data");
    READS("host:1\0", "host:1", "");
    READS("\0data", "", "data");
    READS("host:1\0a\0b\0", "host:1", "a\0b\0");
    READS("host:1\0__REVOKE__", "host:1", "__REVOKE__");
}
END_TEST

START_TEST(behind_a_wish) {
    READS_NO_DATA("__REVOKE__ 0 op\nhost:1", "host:1");
    READS("__REVOKE__ 0 op\nhost:1\0data", "host:1", "data");
    READS_NO_DATA("__REVOKE__ 0 op\n", "");
    READS_NO_DATA("__REVOKE__", "__REVOKE__");                 /* Curator's */
    READS("__REVOKE__ 0 op\0data", "__REVOKE__ 0 op", "data"); /* no wish */
}
END_TEST

START_TEST(too_much_is_none) {
    size_t size = sizeof "id" + PDK__PUBLISHED_MAX;
    char *bytes = calloc(1, size + 1);
    memcpy(bytes, "id", 2);
    struct pdk__published p = of(bytes, size);
    ck_assert_ptr_eq(p.data, bytes + 3);
    ck_assert_uint_eq(p.data_size, PDK__PUBLISHED_MAX);
    p = of(bytes, size + 1);
    ck_assert_ptr_null(p.data);
    ck_assert_uint_eq(p.data_size, 0);
    ck_assert_uint_eq(p.identity_size, 2);
    free(bytes);
}
END_TEST

int main(void) {
    return ts_run("published", NULL, NULL, an_identity_alone, data_behind_it, behind_a_wish, too_much_is_none, NULL);
}

/* The stripe of a key: the test vectors of docs/recipes/striped.md, which hold for ever, and how even it is. */
#include <paddock/striped.h>
#include <stdio.h>
#include <string.h>

#include "core/stripes.h"
#include "ts_check.h"

START_TEST(vectors) {
    static const struct {
        const char *key;
        size_t size;
        uint64_t hash;
        int32_t of_8, of_1000, of_10000;
    } all[] = {
        {"", 0, UINT64_C(0xefd01f60ba992926), 6, 342, 4342},
        {"a", 1, UINT64_C(0x82a2a958a9bece5b), 3, 315, 8315},
        {"orders", 6, UINT64_C(0x32520fbdb4dad5b9), 1, 617, 6617},
        {"order-4711", 10, UINT64_C(0x140f65d68b879ec1), 1, 305, 6305},
        {"Gr\xc3\xb6\xc3\x9f"
         "e",
         7, UINT64_C(0xe504efb774d003a6), 6, 78, 3078},
        {"\0\xff", 2, UINT64_C(0xacb64f88d28b68b8), 0, 616, 2616},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        ck_assert_uint_eq(pdk__key_hash(all[i].key, all[i].size), all[i].hash);
        ck_assert_int_eq(pdk_striped_stripe_of(all[i].key, all[i].size, 1), 0);
        ck_assert_int_eq(pdk_striped_stripe_of(all[i].key, all[i].size, 8), all[i].of_8);
        ck_assert_int_eq(pdk_striped_stripe_of(all[i].key, all[i].size, 1000), all[i].of_1000);
        ck_assert_int_eq(pdk_striped_stripe_of(all[i].key, all[i].size, PDK_STRIPED_STRIPES_MAX), all[i].of_10000);
    }
}
END_TEST

START_TEST(bad_input) {
    ck_assert_int_eq(pdk_striped_stripe_of(NULL, 1, 8), -1);
    ck_assert_int_eq(pdk_striped_stripe_of("a", 1, 0), -1);
    ck_assert_int_eq(pdk_striped_stripe_of("a", 1, PDK_STRIPED_STRIPES_MAX + 1), -1);
    ck_assert(strstr(pdk_last_error(), "stripes is 10001; from 1 to 10000"));
    ck_assert_int_eq(pdk_striped_stripe_of(NULL, 0, 8), pdk_striped_stripe_of("", 0, 8));
    ck_assert_int_eq(pdk_striped_stripes_max(), PDK_STRIPED_STRIPES_MAX);
}
END_TEST

/* Numbered keys, as programs have them, fill 64 stripes evenly: 10,000 keys, 156 in each on average, and 12.4 is the deviation of
 * chance. */
START_TEST(numbered_keys_are_spread) {
    int filled[64] = {0};
    for (int i = 0; i < 10000; i++) {
        char key[32];
        int size = snprintf(key, sizeof key, "customer/%d", i);
        filled[pdk_striped_stripe_of(key, (size_t)size, 64)]++;
    }
    for (int i = 0; i < 64; i++) {
        ck_assert_int_gt(filled[i], 156 - 5 * 13);
        ck_assert_int_lt(filled[i], 156 + 5 * 13);
    }
}
END_TEST

int main(void) { return ts_run("stripes", NULL, NULL, vectors, bad_input, numbered_keys_are_spread, NULL); }

/* Option structs of other versions: an older, smaller one, and newer, larger ones. */
#include <glib.h>
#include <paddock/paddock.h>
#include <stdint.h>
#include <string.h>

#include "session/options.h"
#include "ts_check.h"

/* Three versions of one struct. "Ours" is the second. */
struct first {
    size_t size;
    int32_t a, b;
};
struct second {
    size_t size;
    int32_t a, b;
    int64_t c;
};
struct third {
    size_t size;
    int32_t a, b;
    int64_t c;
    const char *d;
    unsigned char e[5];
};

static const struct second defaults = {sizeof(struct second), 1, 2, 3};

static pdk_status read_into(struct second *full, const void *given) {
    *full = defaults;
    return pdk__options_read("options", given, full, sizeof *full, sizeof(struct first));
}

static void check_untouched(const struct second *full) {
    ck_assert_uint_eq(full->size, defaults.size);
    ck_assert_int_eq(full->a, 1);
    ck_assert_int_eq(full->b, 2);
    ck_assert_int_eq(full->c, 3);
}

START_TEST(null_means_the_defaults) {
    struct second full;
    ck_assert_int_eq(read_into(&full, NULL), PDK_OK);
    check_untouched(&full);
}
END_TEST

START_TEST(our_own_size_is_taken_whole) {
    struct second full, given = {sizeof given, 10, 20, 30};
    ck_assert_int_eq(read_into(&full, &given), PDK_OK);
    ck_assert_int_eq(full.a, 10);
    ck_assert_int_eq(full.b, 20);
    ck_assert_int_eq(full.c, 30);
    ck_assert_uint_eq(full.size, sizeof full);
}
END_TEST

/* The smaller struct stands in a block of exactly its size, so that reading past it is seen by AddressSanitizer. */
START_TEST(an_older_size_leaves_the_rest_at_the_defaults) {
    struct second full;
    struct first *given = g_new0(struct first, 1);
    *given = (struct first){sizeof *given, 10, 20};
    ck_assert_int_eq(read_into(&full, given), PDK_OK);
    ck_assert_int_eq(full.a, 10);
    ck_assert_int_eq(full.b, 20);
    ck_assert_int_eq(full.c, 3);
    ck_assert_uint_eq(full.size, sizeof full);
    g_free(given);
}
END_TEST

START_TEST(a_newer_size_with_zero_surplus_is_accepted) {
    struct second full;
    struct third *given = g_new0(struct third, 1);
    given->size = sizeof *given;
    given->a = 10;
    given->c = 30;
    ck_assert_int_eq(read_into(&full, given), PDK_OK);
    ck_assert_int_eq(full.a, 10);
    ck_assert_int_eq(full.b, 0);
    ck_assert_int_eq(full.c, 30);
    ck_assert_uint_eq(full.size, sizeof full);
    g_free(given);
}
END_TEST

START_TEST(any_byte_of_surplus_that_is_set_is_refused) {
    for (size_t at = sizeof(struct second); at < sizeof(struct third); at++) {
        struct second full;
        unsigned char given[sizeof(struct third)] = {0};
        size_t size = sizeof given;
        memcpy(given, &size, sizeof size);
        given[at] = 1;
        ck_assert_int_eq(read_into(&full, given), PDK_INVALID);
        ck_assert_msg(strstr(pdk_last_error(), "options") != NULL, "%s", pdk_last_error());
        check_untouched(&full);
    }
}
END_TEST

START_TEST(sizes_that_no_version_had_are_refused) {
    static const size_t sizes[] = {0,     1,       sizeof(size_t), sizeof(struct first) - 1, sizeof(struct first) + 1,
                                   65537, SIZE_MAX};
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        struct second full, given = {sizes[i], 10, 20, 30};
        ck_assert_int_eq(read_into(&full, &given), PDK_INVALID);
        ck_assert_msg(strstr(pdk_last_error(), "size") != NULL, "%s", pdk_last_error());
        check_untouched(&full);
    }
}
END_TEST

/* A caller of an older version has a smaller struct: not a byte beyond it is written. One of a newer version has a
 * larger struct, and this library can read it. */
START_TEST(a_function_fills_a_struct_of_any_version) {
    struct first *older = g_new0(struct first, 1);
    ck_assert_int_eq(pdk__options_init("init", older, sizeof *older, &defaults, sizeof defaults, sizeof(struct first)),
                     PDK_OK);
    ck_assert_uint_eq(older->size, sizeof *older);
    ck_assert_int_eq(older->b, 2);
    g_free(older);
    struct third newer;
    struct second full;
    memset(&newer, 0xff, sizeof newer);
    ck_assert_int_eq(pdk__options_init("init", &newer, sizeof newer, &defaults, sizeof defaults, sizeof(struct first)),
                     PDK_OK);
    ck_assert_uint_eq(newer.size, sizeof newer);
    ck_assert_int_eq(read_into(&full, &newer), PDK_OK);
    check_untouched(&full);
}
END_TEST

START_TEST(a_function_refuses_what_no_version_had) {
    struct second full = defaults;
    ck_assert_int_eq(pdk__options_init("init", NULL, sizeof full, &defaults, sizeof full, sizeof(struct first)),
                     PDK_INVALID);
    ck_assert_int_eq(pdk__options_init("init", &full, sizeof(size_t), &defaults, sizeof full, sizeof(struct first)),
                     PDK_INVALID);
    ck_assert_int_eq(pdk__options_init("init", &full, 65537, &defaults, sizeof full, sizeof(struct first)),
                     PDK_INVALID);
    check_untouched(&full);
}
END_TEST

/* In every public struct the function gives what the macro gives. */
#define CHECK_FILLED(name, ...)                                                                                        \
    do {                                                                                                               \
        pdk_##name by_macro = __VA_ARGS__, by_function;                                                                \
        memset(&by_function, 0xff, sizeof by_function);                                                                \
        ck_assert_int_eq(pdk_##name##_init(&by_function, sizeof by_function), PDK_OK);                                 \
        ck_assert_mem_eq(&by_function, &by_macro, sizeof by_macro);                                                    \
        ck_assert_int_eq(pdk_##name##_init(NULL, sizeof by_function), PDK_INVALID);                                    \
    } while (0)

START_TEST(the_functions_give_what_the_macros_give) {
    CHECK_FILLED(session_options, PDK_SESSION_OPTIONS_INIT);
    CHECK_FILLED(lock_options, PDK_LOCK_OPTIONS_INIT);
    CHECK_FILLED(rwlock_options, PDK_RWLOCK_OPTIONS_INIT);
    CHECK_FILLED(semaphore_options, PDK_SEMAPHORE_OPTIONS_INIT);
    CHECK_FILLED(election_options, PDK_ELECTION_OPTIONS_INIT);
    CHECK_FILLED(election_callbacks, PDK_ELECTION_CALLBACKS_INIT);
    CHECK_FILLED(service_options, PDK_SERVICE_OPTIONS_INIT);
    CHECK_FILLED(member_callbacks, PDK_MEMBER_CALLBACKS_INIT);
    ck_assert_uint_eq(pdk_group_data_max(), PDK_GROUP_DATA_MAX);
    ck_assert_int_eq(pdk_forever(), PDK_FOREVER);
    ck_assert_int_eq(pdk_semaphore_permits_max(), PDK_SEMAPHORE_PERMITS_MAX);
    ck_assert_int_eq(pdk_semaphore_count_max(), PDK_SEMAPHORE_COUNT_MAX);
    ck_assert_int_eq(pdk_version_major(), PDK_VERSION_MAJOR);
    ck_assert_int_eq(pdk_version_minor(), PDK_VERSION_MINOR);
    ck_assert_int_eq(pdk_version_patch(), PDK_VERSION_PATCH);
}
END_TEST

int main(void) {
    return ts_run("options", NULL, NULL, null_means_the_defaults, our_own_size_is_taken_whole,
                  an_older_size_leaves_the_rest_at_the_defaults, a_newer_size_with_zero_surplus_is_accepted,
                  any_byte_of_surplus_that_is_set_is_refused, sizes_that_no_version_had_are_refused,
                  a_function_fills_a_struct_of_any_version, a_function_refuses_what_no_version_had,
                  the_functions_give_what_the_macros_give, NULL);
}

/* Structs of options and of callbacks, of every call that takes one: sizes of no version, members that a later version has, and
 * members out of range. They are refused by name, with no effect. The structs of a later version that are accepted are played in
 * test_rows.c, and what a version's size does in unit/test_options. */
#include <check.h>
#include <glib.h>
#include <stddef.h>
#include <string.h>

#include "played.h"
#include "ts_bench.h"
#include "ts_check.h"

enum { LARGEST = 2048 };

static _Alignas(max_align_t) unsigned char bytes[LARGEST];

/* Makes good arguments with a struct, in `bytes`, that has the defaults and size. False, and wrong, when there are none. */
static bool begin_struct(const struct row *row, size_t at, size_t size, union value *values) {
    if (!vary(row, 0, values))
        return false;
    struct_fill(&row->parameters[at], values[at].pointer, bytes, size);
    values[at].pointer = bytes;
    return true;
}

static void refused_by_name(const struct row *row, const union value *values, const char *name, const char *words) {
    assert_refused(row, values, PDK_INVALID, words, name);
    if (!strstr(pdk_last_error(), words))
        complain(row, words, "the text does not say so");
}

/* ---- sizes */

static void play_sizes(const struct row *row, size_t at) {
    const struct parameter *p = &row->parameters[at];
    const size_t sizes[] = {0, 4, p->size - 1, SIZE_MAX};
    union value values[MOST_PARAMETERS];
    for (size_t i = 0; i < G_N_ELEMENTS(sizes) && begin_struct(row, at, p->size, values); i++) {
        memcpy(bytes, &sizes[i], sizeof sizes[i]);
        refused_by_name(row, values, p->name, "size is");
    }
    if (!begin_struct(row, at, p->size + sizeof(size_t), values))
        return;
    bytes[p->size + sizeof(size_t) - 1] = 1;
    refused_by_name(row, values, p->name, "does not know");
}

/* How an _init is called: with the struct and its size. */
static void play_init(const struct row *row) {
    const size_t size = row->parameters[0].size, sizes[] = {0, 4, size - 1, SIZE_MAX};
    union value values[MOST_PARAMETERS];
    size_t written = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(sizes) && begin(row, values); i++) {
        values[1].number = (int64_t)sizes[i];
        assert_refused(row, values, PDK_INVALID, "a size of no version", "size is");
    }
    if (!begin(row, values))
        return;
    values[1].number = (int64_t)size;
    if (row->call(values) != PDK_OK)
        complain(row, "its size", "refused");
    memcpy(&written, values[0].pointer, sizeof written);
    if (written != size)
        complain(row, "its size", "another one is in it");
}

START_TEST(sizes) {
    world_make();
    for (const struct row *row = rows; row < rows + rows_count; row++)
        for (size_t at = 0; at < row->count; at++)
            if (row->parameters[at].size > 0 && !g_str_has_suffix(row->name, "_init"))
                play_sizes(row, at);
            else if (row->parameters[at].size > 0)
                play_init(row);
    assert_none_wrong();
    ck_assert_int_eq(world_requests(), 0);
    world_assert_whole();
}
END_TEST

/* The end of the first version of each: nothing smaller is one. */
START_TEST(the_first_version) {
#define UNTIL(struct_, member) #struct_ "_init", offsetof(struct_, member) + sizeof(((struct_ *)NULL)->member)
    static const struct {
        const char *init;
        size_t size;
    } firsts[] = {
        {UNTIL(pdk_session_options, token_base)}, {UNTIL(pdk_lock_options, reentrant)},
        {UNTIL(pdk_rwlock_options, identity)},    {UNTIL(pdk_semaphore_options, max_handover_ms)},
        {UNTIL(pdk_striped_options, identity)},   {UNTIL(pdk_set_options, size)},
        {UNTIL(pdk_job_options, identity)},       {UNTIL(pdk_lease_lock_options, identity)},
        {UNTIL(pdk_election_options, identity)},  {UNTIL(pdk_election_callbacks, user)},
        {UNTIL(pdk_service_options, failed)},     {UNTIL(pdk_member_callbacks, user_free)},
        {UNTIL(pdk_checker_options, capacity)},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(firsts); i++) {
        const size_t size = (firsts[i].size + sizeof(size_t) - 1) / sizeof(size_t) * sizeof(size_t);
        const struct row *row = row_of(firsts[i].init);
        union value values[] = {{.pointer = bytes}, {.number = (int64_t)size}};
        ck_assert_msg(row->call(values) == PDK_OK, "%s", pdk_last_error());
        values[1].number -= (int64_t)sizeof(size_t);
        ck_assert_msg(row->call(values) == PDK_INVALID, "%s", row->name);
    }
}
END_TEST

/* ---- members */

/* Wherever a struct has a member of that name. What is special to one struct is tested with it. */
static void play_member(const struct row *row, size_t at, const struct member *member) {
    static const struct {
        const char *name;
        int32_t numbers[3];
    } out_of_range[] = {
        {"naming", {-1, 2, INT32_MAX}},           {"reentrant", {-1, 2, INT32_MIN}},
        {"max_handovers", {-1, -2, INT32_MIN}},   {"lock_delay_ms", {-1, -2, INT32_MIN}},
        {"max_handover_ms", {-1, -2, INT32_MIN}}, {"drain", {-1, 2, INT32_MAX}},
        {"drain_ms", {-1, 0, INT32_MIN}},         {"linger_ms", {-1, -2, INT32_MIN}},
    };
    static const char *const identities[] = {"", "\xff", "\xc3", "caf\xe9"};
    g_autofree char *longest = g_strnfill(1025, 'x');
    union value values[MOST_PARAMETERS];
    const struct parameter *p = &row->parameters[at];
    for (size_t i = 0; i < G_N_ELEMENTS(out_of_range); i++)
        for (size_t j = 0; g_str_equal(member->name, out_of_range[i].name) && j < 3; j++) {
            if (!begin_struct(row, at, p->size, values))
                return;
            memcpy(bytes + member->offset, &out_of_range[i].numbers[j], sizeof(int32_t));
            refused_by_name(row, values, p->name, member->name);
        }
    for (size_t i = 0; g_str_equal(member->name, "identity") && i <= G_N_ELEMENTS(identities); i++) {
        const char *const text = i < G_N_ELEMENTS(identities) ? identities[i] : longest;
        if (!begin_struct(row, at, p->size, values))
            return;
        memcpy(bytes + member->offset, &text, sizeof text);
        refused_by_name(row, values, p->name, "identity");
    }
}

START_TEST(members_out_of_range) {
    world_make();
    for (const struct row *row = rows; row < rows + rows_count; row++)
        for (size_t at = 0; at < row->count; at++) {
            const struct parameter *p = &row->parameters[at];
            for (const struct member *m = p->members; m && m->name && g_str_has_prefix(p->type, "const "); m++)
                play_member(row, at, m);
        }
    assert_none_wrong();
    ck_assert_int_eq(world_requests(), 0);
    world_assert_whole();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("structs");
    TCase *all = ts_bench_case(suite, "structs");
    tcase_add_checked_fixture(all, played_begin, world_end);
    tcase_add_test(all, sizes);
    tcase_add_test(all, members_out_of_range);
    TCase *alone = tcase_create("alone");
    tcase_add_test(alone, the_first_version);
    suite_add_tcase(suite, alone);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

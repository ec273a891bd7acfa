/* The fence, in memory and in a file, which answer alike: the rule, against a plain one; and many threads, against the order that
 * they must see. What a file alone does is in test_fence_file. */
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <paddock/fence.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "ts_check.h"

static pdk_fence *fence;
static char *folder, *path; /* NULL in memory */

/* One that has admitted nothing. */
static pdk_fence *make_fence(void) {
    pdk_fence *made = NULL;
    if (path)
        (void)g_unlink(path);
    ck_assert_int_eq(path ? pdk_fence_open(path, PDK_FENCE_CREATE, &made) : pdk_fence_new(&made), PDK_OK);
    return made;
}

static void set_up_memory(void) { fence = make_fence(); }

static void set_up_file(void) {
    folder = g_dir_make_tmp("paddock-test-XXXXXX", NULL);
    path = g_build_filename(folder, "mark", NULL);
    fence = make_fence();
}

static void tear_down(void) {
    pdk_fence_close(fence);
    if (!path)
        return;
    g_unlink(path);
    ck_assert_int_eq(g_rmdir(folder), 0);
    g_clear_pointer(&path, g_free);
    g_clear_pointer(&folder, g_free);
}

/* A file waits for the disk, so it plays less of a long game. */
static int steps(int in_memory, int in_file) { return path ? in_file : in_memory; }

static void mark_is(int64_t token, uint32_t handover) {
    int64_t t = -1;
    uint32_t h = 77;
    ck_assert_int_eq(pdk_fence_mark(fence, &t, &h), PDK_OK);
    ck_assert_int_eq(t, token);
    ck_assert_uint_eq(h, handover);
}

START_TEST(an_older_write_is_stale) {
    mark_is(0, 0);
    ck_assert_int_eq(pdk_fence_admit(fence, 33, 2), PDK_OK);
    ck_assert_int_eq(pdk_fence_admit(fence, 33, 2), PDK_OK);
    ck_assert_int_eq(pdk_fence_admit(fence, 33, 1), PDK_STALE);
    ck_assert_int_eq(pdk_fence_admit(fence, 33, 3), PDK_OK);
    mark_is(33, 3);
    ck_assert_int_eq(pdk_fence_admit(fence, 34, 0), PDK_OK);
    ck_assert_int_eq(pdk_fence_admit(fence, 33, 9), PDK_STALE);
    ck_assert_ptr_nonnull(
        strstr(pdk_last_error(), "token 33, hand-over 9 is older than token 34, hand-over 0 of a writer"));
    mark_is(34, 0);
}
END_TEST

START_TEST(an_advance_shuts_the_former_holder_out) {
    ck_assert_int_eq(pdk_fence_admit(fence, 33, 0), PDK_OK);
    ck_assert_int_eq(pdk_fence_advance(fence, 34, 0), PDK_OK);
    ck_assert_int_eq(pdk_fence_admit(fence, 33, 0), PDK_STALE);
    ck_assert_int_eq(pdk_fence_advance(fence, 33, 0), PDK_STALE);
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "pdk_fence_advance"));
}
END_TEST

START_TEST(readers_stand_side_by_side) {
    ck_assert_int_eq(pdk_fence_admit(fence, 10, 4), PDK_OK);
    ck_assert_int_eq(pdk_fence_admit_shared(fence, 13, 0), PDK_OK);
    ck_assert_int_eq(pdk_fence_admit_shared(fence, 11, 0), PDK_OK);
    ck_assert_int_eq(pdk_fence_admit_shared(fence, 15, 0), PDK_OK);
    ck_assert_int_eq(pdk_fence_admit_shared(fence, 11, 0), PDK_OK);
    ck_assert_int_eq(pdk_fence_admit_shared(fence, 9, 0), PDK_STALE);
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "token 10, hand-over 4 of a writer"));
    mark_is(15, 0);
    /* The writer before them, and one of another process that was before the last of them. */
    ck_assert_int_eq(pdk_fence_admit(fence, 10, 4), PDK_STALE);
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "token 15, hand-over 0 of a reader"));
    ck_assert_int_eq(pdk_fence_admit(fence, 14, 0), PDK_STALE);
    ck_assert_int_eq(pdk_fence_admit(fence, 16, 0), PDK_OK);
    ck_assert_int_eq(pdk_fence_admit_shared(fence, 15, 0), PDK_STALE);
}
END_TEST

/* It keeps its token: it reads beside the readers that came after it, and those that it handed the lock on from do not. */
START_TEST(a_downgraded_writer_is_a_reader) {
    ck_assert_int_eq(pdk_fence_admit(fence, 10, 4), PDK_OK);
    ck_assert_int_eq(pdk_fence_admit_shared(fence, 10, 4), PDK_OK);
    ck_assert_int_eq(pdk_fence_admit_shared(fence, 12, 0), PDK_OK);
    ck_assert_int_eq(pdk_fence_admit_shared(fence, 10, 3), PDK_STALE);
    ck_assert_int_eq(pdk_fence_admit_shared(fence, 10, 5), PDK_OK);
    ck_assert_int_eq(pdk_fence_admit_shared(fence, 10, 4), PDK_STALE);
    ck_assert_int_eq(pdk_fence_admit_shared(fence, 14, 1), PDK_OK); /* another, that has not written */
    mark_is(14, 1);
    ck_assert_int_eq(pdk_fence_admit_shared(fence, 14, 0), PDK_STALE);
    ck_assert_int_eq(pdk_fence_admit_shared(fence, 12, 0), PDK_STALE);
}
END_TEST

START_TEST(a_writer_may_read_before_it_writes) {
    ck_assert_int_eq(pdk_fence_admit_shared(fence, 5, 0), PDK_OK);
    ck_assert_int_eq(pdk_fence_admit(fence, 5, 0), PDK_OK);
    ck_assert_int_eq(pdk_fence_admit_shared(fence, 4, 0), PDK_STALE);
    ck_assert_int_eq(pdk_fence_admit_shared(fence, 5, 1), PDK_OK);
    mark_is(5, 1);
}
END_TEST

START_TEST(bad_input_is_refused) {
    ck_assert_int_eq(pdk_fence_admit(fence, INT64_MAX, UINT32_MAX), PDK_OK);
    mark_is(INT64_MAX, UINT32_MAX);
    ck_assert_int_eq(pdk_fence_admit_shared(fence, INT64_MAX, UINT32_MAX), PDK_OK);
    ck_assert_int_eq(pdk_fence_admit(fence, 0, 0), PDK_INVALID);
    ck_assert_int_eq(pdk_fence_admit_shared(fence, -1, 0), PDK_INVALID);
    ck_assert_int_eq(pdk_fence_advance(fence, INT64_MIN, 0), PDK_INVALID);
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "token: -9223372036854775808 is not positive"));
    ck_assert_int_eq(pdk_fence_admit(NULL, 1, 0), PDK_INVALID);
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "fence: is NULL"));
    ck_assert_int_eq(pdk_fence_admit_shared(NULL, 1, 0), PDK_INVALID);
    ck_assert_int_eq(pdk_fence_advance(NULL, 1, 0), PDK_INVALID);
    ck_assert_int_eq(pdk_fence_new(NULL), PDK_INVALID);
    pdk_fence_close(NULL);
    int64_t token = 7;
    uint32_t handover = 7;
    ck_assert_int_eq(pdk_fence_mark(NULL, &token, &handover), PDK_INVALID);
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "pdk_fence_mark: fence: is NULL"));
    ck_assert_int_eq(token, 7);
    ck_assert_uint_eq(handover, 7);
    ck_assert_int_eq(pdk_fence_mark(fence, NULL, NULL), PDK_OK);
    mark_is(INT64_MAX, UINT32_MAX);
}
END_TEST

/* Nobody would be held up between its check and its write. */
START_TEST(memory_makes_no_write) {
    int ends[2];
    char byte;
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    ck_assert_int_eq(pdk_fence_write(fence, 5, 0, ends[1], "x", 1, 0), PDK_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "pdk_fence_open"));
    ck_assert_int_eq(pdk_fence_write(fence, 0, 0, ends[1], "x", 1, 0), PDK_INVALID);
    ck_assert_int_eq(read(ends[0], &byte, 1), -1);
    mark_is(0, 0);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

/* The rule once more, from what was admitted alone. */
struct admitted {
    int64_t token;
    uint32_t handover;
    bool shared;
};

static bool smaller(struct admitted a, struct admitted b) {
    return a.token < b.token || (a.token == b.token && a.handover < b.handover);
}

START_TEST(the_rule_is_that_of_the_page) {
    const guint32 seeds = (guint32)steps(2000, 20);
    for (guint32 seed = 0; seed < seeds; seed++) {
        GRand *rand = g_rand_new_with_seed(seed);
        GArray *all = g_array_new(FALSE, FALSE, sizeof(struct admitted));
        pdk_fence *f = make_fence();
        for (int i = 0; i < 40; i++) {
            /* Odd tokens are readers'. */
            struct admitted now = {g_rand_int_range(rand, 1, 16), 0, false};
            now.shared = now.token % 2 || g_rand_int_range(rand, 0, 4) == 0;
            now.handover = now.token % 2 ? 0 : (uint32_t)g_rand_int_range(rand, 0, 3);
            bool fine = true;
            for (guint k = 0; k < all->len; k++) {
                struct admitted old = g_array_index(all, struct admitted, k);
                if (!old.shared)
                    fine = fine && !smaller(now, old);
                else if (!now.shared)
                    fine = fine && now.token >= old.token;
            }
            pdk_status got = now.shared ? pdk_fence_admit_shared(f, now.token, now.handover)
                                        : pdk_fence_admit(f, now.token, now.handover);
            /* A downgraded writer's hand-over may refuse more: its own former holders, and readers before it. */
            bool strict = false;
            for (guint k = 0; k < all->len; k++) {
                struct admitted old = g_array_index(all, struct admitted, k);
                strict = strict || (old.shared && old.handover > 0 && smaller(now, old));
            }
            ck_assert_msg(got == (fine ? PDK_OK : PDK_STALE) || (fine && strict), "seed %u, step %d", seed, i);
            if (got == PDK_OK)
                g_array_append_val(all, now);
        }
        pdk_fence_close(f);
        g_array_unref(all);
        g_rand_free(rand);
    }
}
END_TEST

/* ---- threads */

enum { THREADS = 4, STEPS = 60000, STEPS_IN_FILE = 300 };
static gint wrong;
static _Atomic int64_t next_token;

static void expect(bool fine) {
    if (!fine)
        g_atomic_int_inc(&wrong);
}

/* After an admit, the mark is never below what was admitted, and it never goes back. */
static gpointer climb(gpointer user) {
    const int count = steps(STEPS, STEPS_IN_FILE);
    int64_t last_token = 0;
    uint32_t last_handover = 0, seed = (uint32_t)GPOINTER_TO_INT(user);
    for (int i = 0; i < count; i++) {
        seed = seed * 1664525 + 1013904223;
        int64_t token = 1 + i / 8 + (int64_t)(seed >> 24) % 5, seen = 0;
        uint32_t handover = (seed >> 16) % 4, seen_handover = 0;
        bool shared = (seed >> 12) % 4 == 0;
        pdk_status status = shared ? pdk_fence_admit_shared(fence, token, 0) : pdk_fence_admit(fence, token, handover);
        expect(pdk_fence_mark(fence, &seen, &seen_handover) == PDK_OK);
        expect(seen >= last_token && (status == PDK_OK || status == PDK_STALE));
        if (status == PDK_OK && !shared)
            expect(seen > token || (seen == token && (seen_handover >= handover)));
        if (status == PDK_OK && shared)
            expect(seen >= token);
        last_token = seen;
        last_handover = seen_handover;
    }
    return GUINT_TO_POINTER(last_handover);
}

START_TEST(the_mark_never_goes_back_under_threads) {
    GThread *threads[THREADS];
    wrong = 0;
    for (int i = 0; i < THREADS; i++)
        threads[i] = g_thread_new("climb", climb, GINT_TO_POINTER(i + 1));
    for (int i = 0; i < THREADS; i++)
        g_thread_join(threads[i]);
    ck_assert_int_eq(wrong, 0);
}
END_TEST

/* Each writer has a token of its own. When its advance is through, every smaller writer and reader is refused for good. */
static gpointer shut_out(gpointer user) {
    (void)user;
    const int count = steps(STEPS, STEPS_IN_FILE) / 4;
    for (int i = 0; i < count; i++) {
        int64_t token = 2 * (1 + atomic_fetch_add(&next_token, 1));
        if (pdk_fence_advance(fence, token, 1) == PDK_OK) {
            expect(pdk_fence_admit(fence, token, 0) == PDK_STALE);
            expect(pdk_fence_admit_shared(fence, token - 1, 0) == PDK_STALE);
            if (pdk_fence_admit_shared(fence, token + 1, 0) == PDK_OK) {
                expect(pdk_fence_admit(fence, token, 1) == PDK_STALE);
                expect(pdk_fence_admit_shared(fence, token - 1, 0) == PDK_STALE);
                expect(pdk_fence_admit_shared(fence, token, 0) == PDK_STALE);
            }
        }
    }
    return NULL;
}

START_TEST(what_was_shut_out_stays_out_under_threads) {
    GThread *threads[THREADS];
    wrong = 0;
    atomic_store(&next_token, 0);
    for (int i = 0; i < THREADS; i++)
        threads[i] = g_thread_new("shut_out", shut_out, NULL);
    for (int i = 0; i < THREADS; i++)
        g_thread_join(threads[i]);
    ck_assert_int_eq(wrong, 0);
}
END_TEST

static TCase *cases_of(const char *kind, void (*set_up)(void)) {
    TCase *cases = tcase_create(kind);
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, an_older_write_is_stale);
    tcase_add_test(cases, an_advance_shuts_the_former_holder_out);
    tcase_add_test(cases, readers_stand_side_by_side);
    tcase_add_test(cases, a_downgraded_writer_is_a_reader);
    tcase_add_test(cases, a_writer_may_read_before_it_writes);
    tcase_add_test(cases, bad_input_is_refused);
    tcase_add_test(cases, the_rule_is_that_of_the_page);
    tcase_add_test(cases, the_mark_never_goes_back_under_threads);
    tcase_add_test(cases, what_was_shut_out_stays_out_under_threads);
    return cases;
}

static Suite *make_suite(void) {
    Suite *suite = suite_create("fence");
    TCase *in_memory = cases_of("memory", set_up_memory);
    tcase_add_test(in_memory, memory_makes_no_write);
    suite_add_tcase(suite, in_memory);
    suite_add_tcase(suite, cases_of("file", set_up_file));
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

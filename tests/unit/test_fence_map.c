/* Many fences by name: bounded, nothing forgotten, also while threads add and forget names. */
#include <errno.h>
#include <glib.h>
#include <paddock/fence.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fence/hash.h"
#include "ts_check.h"

enum { MANY = 20000, THREADS = 4 };
static pdk_fence_map *map;
static gint wrong;

static pdk_status admit(const char *name, int64_t token) {
    return pdk_fence_map_admit(map, name, strlen(name), token, 0);
}

static void tear_down(void) {
    pdk_fence_map_close(map);
    map = NULL;
}

START_TEST(each_name_has_a_mark_of_its_own) {
    int64_t token = 7;
    uint32_t handover = 7;
    ck_assert_int_eq(pdk_fence_map_new(10, &map), PDK_OK);
    ck_assert_int_eq(admit("a", 5), PDK_OK);
    ck_assert_int_eq(admit("b", 4), PDK_OK);
    ck_assert_int_eq(admit("a", 4), PDK_STALE);
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "pdk_fence_map_admit: token 4"));
    ck_assert_int_eq(pdk_fence_map_advance(map, "b", 1, 6, 2), PDK_OK);
    ck_assert_int_eq(pdk_fence_map_admit_shared(map, "b", 1, 6, 1), PDK_STALE);
    ck_assert_int_eq(pdk_fence_map_admit_shared(map, "b\0c", 3, 1, 0), PDK_OK); /* another name */
    ck_assert_int_eq(pdk_fence_map_mark(map, "b", 1, &token, &handover), PDK_OK);
    ck_assert_int_eq(token, 6);
    ck_assert_uint_eq(handover, 2);
    ck_assert_int_eq(pdk_fence_map_mark(map, "x", 1, &token, NULL), PDK_OK);
    ck_assert_int_eq(token, 0);
    ck_assert_uint_eq(pdk_fence_map_count(map), 3);
}
END_TEST

START_TEST(a_full_map_forgets_nothing) {
    ck_assert_int_eq(pdk_fence_map_new(2, &map), PDK_OK);
    ck_assert_int_eq(admit("a", 5), PDK_OK);
    ck_assert_int_eq(admit("b", 5), PDK_OK);
    ck_assert_int_eq(admit("c", 5), PDK_LIMIT);
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "full with 2 names"));
    ck_assert_int_eq(admit("a", 4), PDK_STALE);
    ck_assert_int_eq(pdk_fence_map_forget(map, "a", 1), PDK_OK);
    ck_assert_int_eq(pdk_fence_map_forget(map, "a", 1), PDK_OK);
    ck_assert_uint_eq(pdk_fence_map_count(map), 1);
    ck_assert_int_eq(admit("c", 5), PDK_OK);
    ck_assert_int_eq(admit("a", 5), PDK_LIMIT);
    ck_assert_int_eq(admit("b", 4), PDK_STALE);
}
END_TEST

START_TEST(many_names_are_all_kept) {
    char name[32];
    ck_assert_int_eq(pdk_fence_map_new(MANY, &map), PDK_OK);
    for (int i = 0; i < MANY; i++) {
        g_snprintf(name, sizeof name, "/orders/%d", i);
        ck_assert_int_eq(admit(name, 10 + i), PDK_OK);
    }
    ck_assert_int_eq(admit("one more", 1), PDK_LIMIT);
    for (int i = 0; i < MANY; i++) {
        g_snprintf(name, sizeof name, "/orders/%d", i);
        ck_assert_int_eq(admit(name, 9 + i), PDK_STALE);
        ck_assert_int_eq(admit(name, 10 + i), PDK_OK);
        if (i % 3 == 0)
            ck_assert_int_eq(pdk_fence_map_forget(map, name, strlen(name)), PDK_OK);
    }
    for (int i = 0; i < MANY; i++) {
        g_snprintf(name, sizeof name, "/orders/%d", i);
        ck_assert_int_eq(admit(name, 9 + i), i % 3 == 0 ? PDK_OK : PDK_STALE);
    }
}
END_TEST

START_TEST(bad_input_is_refused) {
    ck_assert_int_eq(pdk_fence_map_new(0, &map), PDK_INVALID);
    ck_assert_int_eq(pdk_fence_map_new(1, NULL), PDK_INVALID);
    ck_assert_int_eq(pdk_fence_map_new(1, &map), PDK_OK);
    ck_assert_int_eq(pdk_fence_map_admit(NULL, "a", 1, 1, 0), PDK_INVALID);
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "map: is NULL"));
    ck_assert_int_eq(pdk_fence_map_admit(map, NULL, 1, 1, 0), PDK_INVALID);
    ck_assert_int_eq(pdk_fence_map_admit(map, "a", 0, 1, 0), PDK_INVALID);
    ck_assert_int_eq(pdk_fence_map_admit(map, "a", 1, 0, 0), PDK_INVALID);
    char *large = g_strnfill(4097, 'n');
    ck_assert_int_eq(pdk_fence_map_admit(map, large, 4097, 1, 0), PDK_INVALID);
    ck_assert_int_eq(pdk_fence_map_mark(map, large, 4097, NULL, NULL), PDK_INVALID);
    ck_assert_int_eq(pdk_fence_map_forget(map, large, 4097), PDK_INVALID);
    ck_assert_int_eq(pdk_fence_map_admit(map, large, 4096, 1, 0), PDK_OK);
    g_free(large);
    ck_assert_uint_eq(pdk_fence_map_count(NULL), 0);
    pdk_fence_map_close(NULL);
}
END_TEST

/* The reference values of SipHash-2-4: key 00 01 … 0f, message 00 01 …. */
START_TEST(the_hash_is_siphash) {
    const uint64_t key[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
    unsigned char bytes[16];
    for (unsigned char i = 0; i < 16; i++)
        bytes[i] = i;
    ck_assert_uint_eq(pdk__hash(key, bytes, 0), UINT64_C(0x726fdb47dd0e0e31));
    ck_assert_uint_eq(pdk__hash(key, bytes, 1), UINT64_C(0x74f839c593dc67fd));
    ck_assert_uint_eq(pdk__hash(key, bytes, 8), UINT64_C(0x93f5f5799a932462));
    ck_assert_uint_eq(pdk__hash(key, bytes, 15), UINT64_C(0xa129ca6149be45e5));
}
END_TEST

/* Every thread has names of its own that it forgets, and shares others, whose marks only grow. */
static gpointer churn(gpointer user) {
    int number = GPOINTER_TO_INT(user);
    int64_t last[8] = {0};
    for (int i = 1; i < MANY; i++) {
        char own[32], shared[32];
        int64_t seen;
        g_snprintf(own, sizeof own, "own %d %d", number, i % 100);
        g_snprintf(shared, sizeof shared, "shared %d", i % 8);
        if (pdk_fence_map_admit(map, own, strlen(own), 1 + i % 7, 0) != PDK_OK ||
            pdk_fence_map_forget(map, own, strlen(own)) != PDK_OK)
            g_atomic_int_inc(&wrong);
        pdk_status admitted = pdk_fence_map_admit(map, shared, strlen(shared), i, 0);
        (void)pdk_fence_map_mark(map, shared, strlen(shared), &seen, NULL);
        if ((admitted != PDK_OK && admitted != PDK_STALE) || seen < i || seen < last[i % 8])
            g_atomic_int_inc(&wrong);
        last[i % 8] = seen;
    }
    return NULL;
}

static bool no_random;

/* Replaces the C library's. */
__attribute__((visibility("default"))) ssize_t getrandom(void *bytes, size_t size, unsigned flags) {
    if (!no_random)
        return syscall(SYS_getrandom, bytes, size, flags);
    errno = ENOSYS;
    return -1;
}

START_TEST(a_map_without_random_numbers_is_none) {
    no_random = true;
    ck_assert_int_eq(pdk_fence_map_new(10, &map), PDK_SYSTEM);
    no_random = false;
    ck_assert_ptr_null(map);
    g_autofree char *why = g_strconcat("no random numbers: ", g_strerror(ENOSYS), NULL);
    ck_assert_msg(strstr(pdk_last_error(), why), "%s", pdk_last_error());
    ck_assert_int_eq(pdk_fence_map_new(10, &map), PDK_OK);
}
END_TEST

START_TEST(threads_share_a_map) {
    GThread *threads[THREADS];
    ck_assert_int_eq(pdk_fence_map_new(8 + THREADS, &map), PDK_OK);
    for (int i = 0; i < THREADS; i++)
        threads[i] = g_thread_new("churn", churn, GINT_TO_POINTER(i));
    for (int i = 0; i < THREADS; i++)
        g_thread_join(threads[i]);
    ck_assert_int_eq(wrong, 0);
    ck_assert_uint_eq(pdk_fence_map_count(map), 8);
}
END_TEST

int main(void) {
    return ts_run("fence_map", NULL, tear_down, each_name_has_a_mark_of_its_own, a_full_map_forgets_nothing,
                  many_names_are_all_kept, bad_input_is_refused, the_hash_is_siphash,
                  a_map_without_random_numbers_is_none, threads_share_a_map, NULL);
}

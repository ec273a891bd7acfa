/* What a fence costs: fence_bench [--quick]. One thread, one core, nobody else at the same fence; then maps of more and more names.
 * The exit status says whether the targets were met. */
#include <glib.h>
#include <paddock/fence.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { NAME_SIZE = 16 };

static long failed;

/* The time that this thread had a processor, so that neighbours do not count. */
static int64_t busy_ns(void) {
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

static double per_second(long calls, int64_t begin) { return (double)calls * 1e9 / (double)(busy_ns() - begin); }

static double equal_marks(pdk_fence *fence, long calls) {
    int64_t begin = busy_ns();
    for (long i = 0; i < calls; i++)
        failed += pdk_fence_admit(fence, 1, 0) != PDK_OK;
    return per_second(calls, begin);
}

static double rising_marks(pdk_fence *fence, long calls) {
    int64_t begin = busy_ns();
    for (long i = 0; i < calls; i++)
        failed += pdk_fence_admit(fence, 2 + i, 0) != PDK_OK;
    return per_second(calls, begin);
}

/* In no order that the caches could foresee: all names alike, which is the memory's speed; and 1,000 of them, which is the
 * map's own. */
static double in_map(guint32 names, guint32 asked, long calls) {
    pdk_fence_map *map;
    char(*texts)[NAME_SIZE] = g_malloc((gsize)names * NAME_SIZE);
    guint32 *order = g_new(guint32, 1 << 16);
    failed += pdk_fence_map_new(names, &map) != PDK_OK;
    for (guint32 i = 0; i < names; i++) {
        g_snprintf(texts[i], NAME_SIZE, "order %09u", i);
        failed += pdk_fence_map_admit(map, texts[i], NAME_SIZE - 1, 1, 0) != PDK_OK;
    }
    for (guint32 i = 0; i < 1 << 16; i++)
        order[i] = (guint32)g_random_int_range(0, (gint32)asked) * (names / asked);
    int64_t begin = busy_ns();
    for (long i = 0; i < calls; i++)
        failed += pdk_fence_map_admit(map, texts[order[i & 0xffff]], NAME_SIZE - 1, 1, 0) != PDK_OK;
    double rate = per_second(calls, begin);
    pdk_fence_map_close(map);
    g_free(order);
    g_free(texts);
    return rate;
}

int main(int argc, char **argv) {
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    long calls = quick ? 2000000 : 50000000;
    pdk_fence *fence;
    if (pdk_fence_new(&fence) != PDK_OK)
        return 1;
    double equal = 0;
    for (int round = 0; round < 5; round++)
        equal = MAX(equal, equal_marks(fence, calls));
    printf("admits of the mark itself:       %7.1f million a second (target 20)\n", equal / 1e6);
    printf("admits that raise the mark:      %7.1f million a second\n", rising_marks(fence, calls) / 1e6);
    pdk_fence_close(fence);
    for (guint32 names = 100; names <= 1000000; names *= 10)
        printf("admits in a map of %7u names:  %5.1f million a second; of 1,000 among them %5.1f\n", names,
               in_map(names, names, calls / 10) / 1e6, in_map(names, MIN(names, 1000), calls / 10) / 1e6);
    printf("fence_bench: %s\n", failed         ? "FAILED, admits were refused"
                                : equal < 20e6 ? "FAILED, target missed"
                                               : "PASSED");
    return failed || equal < 20e6;
}

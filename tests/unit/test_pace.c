/* The pace: what comes to rest never waits; what does not comes to a bounded rate. */
#include "core/pace.h"

#include <check.h>

#include "ts_check.h"

static int64_t now;

/* So many begin within the time, each as soon as it may. */
static int begin_all(const struct pdk__pace_kind *kind, int64_t ns) {
    struct pdk__pace pace = {0};
    int begun = 0;
    for (const int64_t until = now + ns; now < until; begun++)
        now += pdk__pace_next(&pace, kind, now) + PDK__MS / 10; /* a server answers at once */
    return begun;
}

START_TEST(a_few_are_free) {
    struct pdk__pace pace = {0};
    for (int i = 0; i < 64; i++)
        ck_assert_int_eq(pdk__pace_next(&pace, &pdk__pace_steps, now), 0);
    ck_assert_int_gt(pdk__pace_next(&pace, &pdk__pace_steps, now), 0);
}
END_TEST

START_TEST(pauses_grow_up_to_a_second) {
    static const int ms[] = {20, 40, 80, 160, 320, 640, 1000, 1000, 1000};
    struct pdk__pace pace = {0};
    for (size_t i = 0; i < sizeof ms / sizeof ms[0]; i++)
        ck_assert_int_eq(pdk__pace_next(&pace, &pdk__pace_pauses, now), ms[i] * PDK__MS);
}
END_TEST

START_TEST(rest_makes_them_free_again) {
    struct pdk__pace pace = {0};
    for (int i = 0; i < 100; i++)
        (void)pdk__pace_next(&pace, &pdk__pace_repeats, now);
    ck_assert_int_eq(pdk__pace_next(&pace, &pdk__pace_repeats, now), 1000 * PDK__MS);
    now += 12 * 1000 * PDK__MS;
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pdk__pace_next(&pace, &pdk__pace_repeats, now), 0);
    ck_assert_int_eq(pdk__pace_next(&pace, &pdk__pace_repeats, now), 20 * PDK__MS);
}
END_TEST

START_TEST(without_rest_they_come_to_a_rate) {
    const int64_t minute = 60000 * PDK__MS;
    ck_assert_int_le(begin_all(&pdk__pace_steps, minute), 64 + 60 * 20 + 8);
    ck_assert_int_ge(begin_all(&pdk__pace_steps, minute), 60 * 10);
    ck_assert_int_le(begin_all(&pdk__pace_repeats, minute), 3 + 60 + 8);
    ck_assert_int_ge(begin_all(&pdk__pace_repeats, minute), 30);
    ck_assert_int_le(begin_all(&pdk__pace_rounds, minute), 16 + 60 * 10 + 8);
    ck_assert_int_ge(begin_all(&pdk__pace_rounds, minute), 60 * 8);
}
END_TEST

START_TEST(a_steady_rate_below_it_never_waits) {
    struct pdk__pace pace = {0};
    for (int i = 0; i < 10000; i++, now += 50 * PDK__MS)
        ck_assert_int_eq(pdk__pace_next(&pace, &pdk__pace_steps, now), 0);
}
END_TEST

START_TEST(what_is_given_back_does_not_count) {
    struct pdk__pace pace = {0};
    pdk__pace_give_back(&pace);
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(pdk__pace_next(&pace, &pdk__pace_repeats, now), 0);
        pdk__pace_give_back(&pace);
    }
}
END_TEST

static void set_clock(void) { now = 12345 * PDK__MS; }

int main(void) {
    return ts_run("pace", set_clock, NULL, a_few_are_free, pauses_grow_up_to_a_second, rest_makes_them_free_again,
                  without_rest_they_come_to_a_rate, a_steady_rate_below_it_never_waits,
                  what_is_given_back_does_not_count, NULL);
}

/* Times on a logarithmic scale: bounds of the buckets, and how far a quantile may be off. */
#include "core/histogram.h"
#include "ts_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 5000, US = 1000 };

static pdk_histogram histogram;

static void setup(void) { memset(&histogram, 0, sizeof histogram); }

/* The bucket that a time is counted in. */
static size_t bucket_of(int64_t ns) {
    setup();
    pdk__histogram_count(&histogram, ns);
    for (size_t i = 0; i < PDK_HISTOGRAM_BUCKETS; i++)
        if (histogram.buckets[i] > 0)
            return i;
    ck_abort_msg("counted in no bucket");
}

START_TEST(the_first_bounds_are_as_documented) {
    static const uint64_t bounds[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20};
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
        ck_assert_uint_eq(pdk_histogram_bound_us(i), bounds[i]);
    ck_assert_uint_eq(pdk_histogram_buckets(), PDK_HISTOGRAM_BUCKETS);
}
END_TEST

START_TEST(a_bound_belongs_to_its_bucket_and_more_to_the_next) {
    for (size_t i = 0; i + 1 < PDK_HISTOGRAM_BUCKETS; i++) {
        int64_t bound = (int64_t)pdk_histogram_bound_us(i) * US;
        ck_assert_uint_eq(bucket_of(bound), i);
        ck_assert_uint_eq(bucket_of(bound - US + 1), i); /* rounded up */
        ck_assert_uint_eq(bucket_of(bound + 1), i + 1);
        if (i > 0)
            ck_assert_uint_gt(pdk_histogram_bound_us(i), pdk_histogram_bound_us(i - 1));
    }
}
END_TEST

START_TEST(the_last_bucket_begins_at_22_days_and_has_no_bound) {
    const int64_t day = INT64_C(24) * 3600 * 1000000 * US;
    ck_assert_uint_lt(bucket_of(22 * day), PDK_HISTOGRAM_BUCKETS - 1);
    ck_assert_uint_eq(bucket_of(23 * day), PDK_HISTOGRAM_BUCKETS - 1);
    ck_assert_uint_eq(bucket_of(INT64_MAX), PDK_HISTOGRAM_BUCKETS - 1);
    ck_assert_uint_eq(pdk_histogram_quantile_us(&histogram, 0.5), (uint64_t)INT64_MAX / US + 1);
    ck_assert_uint_eq(pdk_histogram_bound_us(PDK_HISTOGRAM_BUCKETS - 1), UINT64_MAX);
    ck_assert_uint_eq(pdk_histogram_bound_us(PDK_HISTOGRAM_BUCKETS), UINT64_MAX);
    ck_assert_uint_eq(pdk_histogram_bound_us(SIZE_MAX), UINT64_MAX);
}
END_TEST

START_TEST(no_time_and_less_are_in_the_first) {
    ck_assert_uint_eq(bucket_of(0), 0);
    ck_assert_uint_eq(bucket_of(-5), 0);
    ck_assert_uint_eq(histogram.sum_us, 0);
    ck_assert_uint_eq(bucket_of(1), 0);
    ck_assert_uint_eq(histogram.sum_us, 1);
}
END_TEST

START_TEST(nothing_has_no_quantile) {
    ck_assert_uint_eq(pdk_histogram_quantile_us(NULL, 0.5), 0);
    ck_assert_uint_eq(pdk_histogram_quantile_us(&histogram, 0.5), 0);
}
END_TEST

START_TEST(a_quantile_is_the_time_that_so_many_do_not_exceed) {
    for (int us = 1; us <= 4; us++)
        pdk__histogram_count(&histogram, us * US);
    ck_assert_uint_eq(histogram.count, 4);
    ck_assert_uint_eq(histogram.sum_us, 1 + 2 + 3 + 4);
    ck_assert_uint_eq(histogram.max_us, 4);
    ck_assert_uint_eq(pdk_histogram_quantile_us(&histogram, 0.25), 1);
    ck_assert_uint_eq(pdk_histogram_quantile_us(&histogram, 0.26), 2);
    ck_assert_uint_eq(pdk_histogram_quantile_us(&histogram, 0.5), 2);
    ck_assert_uint_eq(pdk_histogram_quantile_us(&histogram, 0.75), 3);
    ck_assert_uint_eq(pdk_histogram_quantile_us(&histogram, 0.99), 4);
    ck_assert_uint_eq(pdk_histogram_quantile_us(&histogram, 1), 4);
    ck_assert_uint_eq(pdk_histogram_quantile_us(&histogram, 0), 1);
    ck_assert_uint_eq(pdk_histogram_quantile_us(&histogram, -3), 1);
    ck_assert_uint_eq(pdk_histogram_quantile_us(&histogram, 7), 4);
    ck_assert_uint_eq(pdk_histogram_quantile_us(&histogram, (double)NAN), 4);
}
END_TEST

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Never below the true one, and at most a quarter above it. From 1 µs to hours, evenly on the logarithmic scale. */
START_TEST(a_quantile_is_a_quarter_too_large_at_most) {
    static const double quantiles[] = {0.01, 0.1, 0.5, 0.9, 0.99, 0.999};
    static int64_t times[TIMES];
    for (unsigned seed = 1; seed <= 20; seed++) {
        setup();
        srand48(seed);
        for (int i = 0; i < TIMES; i++) {
            times[i] = (int64_t)exp2(drand48() * 34) * US;
            pdk__histogram_count(&histogram, times[i]);
        }
        qsort(times, TIMES, sizeof times[0], compare);
        for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++) {
            uint64_t answer = pdk_histogram_quantile_us(&histogram, quantiles[i]);
            uint64_t truth = (uint64_t)times[(int)ceil(quantiles[i] * TIMES) - 1] / US;
            ck_assert_uint_ge(answer, truth);
            ck_assert_uint_le(answer, truth + truth / 4);
        }
        ck_assert_uint_eq(pdk_histogram_quantile_us(&histogram, 1), (uint64_t)times[TIMES - 1] / US);
    }
}
END_TEST

START_TEST(within_a_power_of_two_are_those_that_do_not_exceed_it) {
    for (unsigned power = 0; power <= 40; power++) {
        uint64_t us = UINT64_C(1) << power;
        setup();
        pdk__histogram_count(&histogram, (int64_t)us * US);
        ck_assert_uint_eq(pdk__histogram_within(&histogram, us), 1);
        pdk__histogram_count(&histogram, (int64_t)us * US + 1);
        ck_assert_uint_eq(pdk__histogram_within(&histogram, us), 1);
        pdk__histogram_count(&histogram, 1);
        ck_assert_uint_eq(pdk__histogram_within(&histogram, us), 2);
    }
}
END_TEST

int main(void) {
    return ts_run(
        "histogram", setup, NULL, the_first_bounds_are_as_documented,
        a_bound_belongs_to_its_bucket_and_more_to_the_next, the_last_bucket_begins_at_22_days_and_has_no_bound,
        no_time_and_less_are_in_the_first, nothing_has_no_quantile, a_quantile_is_the_time_that_so_many_do_not_exceed,
        a_quantile_is_a_quarter_too_large_at_most, within_a_power_of_two_are_those_that_do_not_exceed_it, NULL);
}

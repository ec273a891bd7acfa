#include "core/histogram.h"

#include <assert.h>

/* Bucket i of a time of t µs, with n = t - 1:
 *
 *     n    0 1 2 3 │ 4 5 6 7 │ 8-9 10-11 12-13 14-15 │ 16-19 …      the bound of a bucket is its largest n, plus 1
 *     i    0 1 2 3 │ 4 5 6 7 │  8    9    10    11   │  12   …
 *
 * From 4 on the two bits below the highest one choose among the four buckets of a doubling. */
enum { LAST = PDK_HISTOGRAM_BUCKETS - 1, US = 1000 };

static unsigned highest_bit(uint64_t n) { return 63 - (unsigned)__builtin_clzll(n); }

static size_t bucket_of(uint64_t us) {
    uint64_t n = us == 0 ? 0 : us - 1;
    if (n < 4)
        return (size_t)n;
    size_t shift = highest_bit(n) - 2;
    size_t bucket = 4 * shift + (size_t)(n >> shift);
    return bucket < LAST ? bucket : LAST;
}

uint64_t pdk_histogram_bound_us(size_t bucket) {
    if (bucket >= LAST)
        return UINT64_MAX;
    if (bucket < 4)
        return bucket + 1;
    unsigned shift = (unsigned)bucket / 4 - 1;
    return (uint64_t)(bucket % 4 + 5) << shift;
}

size_t pdk_histogram_buckets(void) { return PDK_HISTOGRAM_BUCKETS; }

uint64_t pdk__us(int64_t ns) { return ns > 0 ? ((uint64_t)ns + US - 1) / US : 0; }

void pdk__histogram_count(pdk_histogram *h, int64_t ns) {
    uint64_t us = pdk__us(ns);
    h->count++;
    h->sum_us += us;
    if (us > h->max_us)
        h->max_us = us;
    h->buckets[bucket_of(us)]++;
}

uint64_t pdk__histogram_within(const pdk_histogram *h, uint64_t us) {
    size_t last = bucket_of(us);
    assert(pdk_histogram_bound_us(last) == us);
    uint64_t within = 0;
    for (size_t i = 0; i <= last; i++)
        within += h->buckets[i];
    return within;
}

/* How many of the times are to be within the answer: at least one, and not more than there are. NaN is no smaller
 * number. */
static uint64_t wanted(const pdk_histogram *h, double quantile) {
    if (!(quantile < 1))
        return h->count;
    double part = quantile * (double)h->count;
    uint64_t rank = part > 1 ? (uint64_t)part : 1;
    return (double)rank < part ? rank + 1 : rank;
}

uint64_t pdk_histogram_quantile_us(const pdk_histogram *histogram, double quantile) {
    if (!histogram || histogram->count == 0)
        return 0;
    uint64_t left = wanted(histogram, quantile);
    size_t bucket = 0;
    while (bucket < LAST && histogram->buckets[bucket] < left)
        left -= histogram->buckets[bucket++];
    uint64_t bound = pdk_histogram_bound_us(bucket);
    return bound < histogram->max_us ? bound : histogram->max_us;
}

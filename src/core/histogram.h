/* Times on a logarithmic scale: <paddock/stats.h> shows the buckets, and how to read them. */
#ifndef PDK_CORE_HISTOGRAM_H
#define PDK_CORE_HISTOGRAM_H

#include <paddock/stats.h>

/* Nanoseconds as microseconds, rounded up, so that no time is above the bound of its bucket. Less than 0 counts as 0:
 * it comes of two clocks. */
uint64_t pdk__us(int64_t ns);
/* Count a time, in ns. */
void pdk__histogram_count(pdk_histogram *h, int64_t ns);
/* How many of the times did not exceed `us`, a power of two below the bound of the last bucket. */
uint64_t pdk__histogram_within(const pdk_histogram *h, uint64_t us);

#endif

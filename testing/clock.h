/* Time and waiting. */
#ifndef TESTING_CLOCK_H
#define TESTING_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Nanoseconds of CLOCK_BOOTTIME. */
int64_t pdk__test_now_ns(void);

/* Calls `done(user)` every 2 ms until it returns true or `timeout_ms` has passed. True when it did. */
bool pdk__test_wait_until(bool (*done)(void *user), void *user, int64_t timeout_ms);

#endif

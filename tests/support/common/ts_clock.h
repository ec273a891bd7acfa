/* Time and waiting, for tests. */
#ifndef TS_CLOCK_H
#define TS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Nanoseconds of CLOCK_BOOTTIME, the clock leases are measured with. */
int64_t ts_now_ns(void);

/* Milliseconds of CLOCK_BOOTTIME. */
int64_t ts_now_ms(void);

/* Sleeps at least that long, through signals. Never use it to wait for an event: see ts_wait_until. */
void ts_sleep_ms(int64_t ms);

/* Calls `done(user)` on this thread every 2 ms until it returns true or `timeout_ms` has passed. True when it did. */
bool ts_wait_until(bool (*done)(void *user), void *user, int64_t timeout_ms);

/* True as soon as `fd` is readable, false after `timeout_ms` (0: only look). */
bool ts_fd_readable(int fd, int64_t timeout_ms);

#endif

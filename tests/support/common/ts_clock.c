/* Time and waiting, for tests. */
#include "ts_clock.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

int64_t ts_now_ns(void) {
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t ts_now_ms(void) { return ts_now_ns() / 1000000; }

void ts_sleep_ms(int64_t ms) {
    struct timespec left = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};

    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

bool ts_wait_until(bool (*done)(void *user), void *user, int64_t timeout_ms) {
    const int64_t end = ts_now_ns() + timeout_ms * 1000000;

    for (;;) {
        if (done(user)) {
            return true;
        }
        if (ts_now_ns() >= end) {
            return false;
        }
        ts_sleep_ms(2);
    }
}

bool ts_fd_readable(int fd, int64_t timeout_ms) {
    const int64_t end = ts_now_ns() + timeout_ms * 1000000;
    struct pollfd item = {.fd = fd, .events = POLLIN};

    for (;;) {
        int64_t left_ms = (end - ts_now_ns() + 999999) / 1000000;
        int ready = poll(&item, 1, left_ms > 0 ? (int)left_ms : 0);

        if (ready > 0) {
            return (item.revents & POLLIN) != 0;
        }
        if ((ready == 0 || errno != EINTR) && ts_now_ns() >= end) {
            return false;
        }
    }
}

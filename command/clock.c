#include "clock.h"

#include <sys/timerfd.h>
#include <time.h>

int64_t cmd_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int cmd_alarm_new(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

void cmd_alarm_set(int alarm, int64_t at_ms) {
    struct itimerspec when = {0};
    if (at_ms != INT64_MAX) {
        at_ms = at_ms < 1 ? 1 : at_ms; /* 0 would disarm the timer */
        when.it_value.tv_sec = (time_t)(at_ms / 1000);
        when.it_value.tv_nsec = (long)(at_ms % 1000) * 1000000;
    }
    (void)timerfd_settime(alarm, TFD_TIMER_ABSTIME, &when, 0);
}

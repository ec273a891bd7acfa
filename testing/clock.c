/* Time, waiting, and threads of the program that are cancelled meanwhile. */
#include "clock.h"

#include <pthread.h>
#include <time.h>

int64_t pdk__test_now_ns(void) {
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool pdk__test_wait_until(bool (*done)(void *user), void *user, int64_t timeout_ms) {
    const int64_t end = pdk__test_now_ns() + timeout_ms * 1000000;
    const struct timespec pause = {.tv_nsec = 2000000};

    for (;;) {
        if (done(user)) {
            return true;
        }
        if (pdk__test_now_ns() >= end) {
            return false;
        }
        nanosleep(&pause, NULL); /* a signal only makes it look earlier */
    }
}

pdk__test_uncancelled pdk__test_cancel_off(void) {
    pdk__test_uncancelled off;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &off.programs);
    return off;
}

void pdk__test_cancel_back(pdk__test_uncancelled *off) {
    int ignored;

    pthread_setcancelstate(off->programs, &ignored);
}

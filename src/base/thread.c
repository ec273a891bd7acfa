#include "base/thread.h"

#include <stdatomic.h>

uint64_t pdk__this_thread(void) {
    static _Atomic uint64_t threads;
    static _Thread_local uint64_t number;
    if (number == 0)
        number = atomic_fetch_add(&threads, 1) + 1;
    return number;
}

static _Thread_local bool answers;

void pdk__thread_answers(void) { answers = true; }
bool pdk__thread_does_answer(void) { return answers; }

void pdk__cond_init(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

struct timespec pdk__cond_moment(int64_t ns) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    int64_t nsec = at.tv_nsec + ns % 1000000000;
    at.tv_sec += ns / 1000000000 + nsec / 1000000000;
    at.tv_nsec = nsec % 1000000000;
    return at;
}

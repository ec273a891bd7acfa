/* Threads: which one this is, and conditions that know a clock which nobody sets. */
#ifndef PDK_BASE_THREAD_H
#define PDK_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* A number that no other thread of the process ever has, never 0. pthread_t is not enough: it is handed out again. */
uint64_t pdk__this_thread(void);

/* This thread brings answers of servers from now on: nothing may wait on it. */
void pdk__thread_answers(void);
bool pdk__thread_does_answer(void);

/* A condition on CLOCK_MONOTONIC, and the moment `ns` from now for it. Conditions do not know CLOCK_BOOTTIME. */
void pdk__cond_init(pthread_cond_t *condition);
struct timespec pdk__cond_moment(int64_t ns);

#endif

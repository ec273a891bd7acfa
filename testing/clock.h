/* Time, waiting, and threads of the program that are cancelled meanwhile. */
#ifndef TESTING_CLOCK_H
#define TESTING_CLOCK_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Nanoseconds of CLOCK_BOOTTIME. */
int64_t pdk__test_now_ns(void);

/* Calls `done(user)` every 2 ms until it returns true or `timeout_ms` has passed. True when it did. */
bool pdk__test_wait_until(bool (*done)(void *user), void *user, int64_t timeout_ms);

/* While one is in scope the thread is not cancelled: it has a lock, or a process that is half started.
 *
 *     g_auto(pdk__test_uncancelled) off = pdk__test_cancel_off();
 */
typedef struct G_GNUC_UNUSED {
    int programs; /* the state of the program */
} pdk__test_uncancelled;
pdk__test_uncancelled pdk__test_cancel_off(void);
void pdk__test_cancel_back(pdk__test_uncancelled *off);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(pdk__test_uncancelled, pdk__test_cancel_back)

#endif

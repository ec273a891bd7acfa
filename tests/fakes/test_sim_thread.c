/* Calls that block, in simulated time. */
#include "platform_bench.h"
#include "sim_thread.h"

enum { WAITERS = 2 };

/* A thread of the first process. */
static struct waiter {
    int64_t timeout_ms, begun, ended; /* begun, ended: of the call, by the true time */
    pdk_status status;
    bool over;
} waiters[WAITERS];

static void acquire(void *user) {
    struct waiter *w = user;
    pdk_hold *hold = NULL;
    ck_assert_ptr_eq(sim_process_current(), &first->process);
    w->begun = platform_agenda.now;
    w->status = pdk_lock_acquire(first->lock, w->timeout_ms, &hold);
    w->ended = platform_agenda.now;
    if (w->status == PDK_OK)
        sim_thread_pause(100 * SIM_MS);
    ck_assert_ptr_eq(sim_process_current(), &first->process);
    pdk_hold_unref(hold);
    w->over = true;
}

static void start_in(void *subject, void *what) {
    (void)subject;
    sim_thread_start(&first->process, acquire, what);
}

static void start(struct waiter *w, int64_t timeout_ms) {
    *w = (struct waiter){.timeout_ms = timeout_ms, .status = PDK_INVALID};
    sim_call_in(&first->process, start_in, NULL, w);
}

/* The second process has the lock. */
static void open_both(void) {
    rival_open(first);
    rival_open(second);
    platform_pass(SECOND);
    rival_acquire(second, PDK_FOREVER);
    platform_pass(SECOND);
    ck_assert_ptr_nonnull(second->hold);
}

START_TEST(a_call_waits_in_simulated_time) {
    open_both();
    start(&waiters[0], PDK_FOREVER);
    platform_pass(3 * SECOND);
    ck_assert(!waiters[0].over && waiters[0].status == PDK_INVALID);
    rival_release(second);
    platform_pass(50 * SIM_MS);
    ck_assert_int_eq(waiters[0].status, PDK_OK);
    ck_assert_int_ge(waiters[0].ended - waiters[0].begun, 3 * SECOND);
    ck_assert(!waiters[0].over); /* it holds for 100 ms */
    platform_pass(SECOND);
    ck_assert(waiters[0].over);
    ck_assert_uint_eq(platform_contenders(), 0);
}
END_TEST

START_TEST(a_call_runs_out_of_time) {
    open_both();
    start(&waiters[0], 500);
    platform_pass(SECOND);
    ck_assert_int_eq(waiters[0].status, PDK_TIMEOUT);
    ck_assert_int_ge(waiters[0].ended - waiters[0].begun, 500 * SIM_MS);
    ck_assert_int_le(waiters[0].ended - waiters[0].begun, 550 * SIM_MS);
}
END_TEST

START_TEST(threads_take_turns) {
    open_both();
    start(&waiters[0], PDK_FOREVER);
    start(&waiters[1], PDK_FOREVER);
    rival_release(second);
    platform_pass(SECOND);
    ck_assert(waiters[0].over && waiters[1].over);
    ck_assert_int_eq(waiters[1].status, PDK_OK);
    ck_assert_int_ge(waiters[1].ended - waiters[0].ended, 100 * SIM_MS);
}
END_TEST

START_TEST(a_pause_of_the_process_holds_up_its_threads) {
    open_both();
    start(&waiters[0], 500);
    sim_process_pause(&first->process, true);
    platform_pass(2 * SECOND);
    ck_assert(!waiters[0].over);
    sim_process_pause(&first->process, false);
    platform_pass(SECOND);
    ck_assert_int_ne(waiters[0].status, PDK_OK);
    ck_assert_int_ge(waiters[0].ended - waiters[0].begun, 2 * SECOND);
}
END_TEST

START_TEST(threads_end_with_their_process) {
    open_both();
    start(&waiters[0], PDK_FOREVER);
    start(&waiters[1], PDK_FOREVER);
    platform_pass(SECOND);
    sim_process_kill(&first->process);
    platform_pass(10 * SECOND); /* nothing of it runs any more */
    ck_assert(!waiters[0].over && !waiters[1].over);
    platform_end();
    ck_assert(waiters[0].over && waiters[1].over);
    ck_assert_int_eq(waiters[0].status, PDK_CLOSED);
    platform_begin(2);
}
END_TEST

int main(void) {
    return ts_run("thread", platform_setup, platform_teardown, a_call_waits_in_simulated_time, a_call_runs_out_of_time,
                  threads_take_turns, a_pause_of_the_process_holds_up_its_threads, threads_end_with_their_process,
                  NULL);
}

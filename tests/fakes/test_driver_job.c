/* An ask of a job in simulated time, whose process is paused at any moment of it for longer than the ask may take. */
#include "platform_bench.h"
#include "sim_thread.h"

#include <paddock/job.h>

enum { ASK_MS = 100, STEPS = 400 };
#define STEP (SIM_MS / 10)
#define PAUSE (3 * TIMEOUT)

/* The process that asks, in a thread of its own. */
static struct {
    pdk_job *job;
    pdk_status status;
    bool over;
} asker;

static void make(void *subject, void *user) {
    (void)user;
    ck_assert_int_eq(pdk_job_new(((struct rival *)subject)->session, "/app/job", NULL, &asker.job), PDK_OK);
}

static void ask(void *user) {
    pdk_hold *hold = NULL;
    (void)user;
    asker.status = pdk_job_acquire(asker.job, ASK_MS, &hold, NULL);
    if (asker.status == PDK_OK)
        pdk_hold_release(hold);
    asker.over = true;
}

static void start(void *subject, void *user) { sim_thread_start(&((struct rival *)subject)->process, ask, user); }

static void drop(void *subject, void *user) {
    (void)subject;
    (void)user;
    pdk_job_unref(g_steal_pointer(&asker.job));
}

/* What an ask answers whose process is paused for longer than it may take, so long after it began. */
static pdk_status paused_after(int64_t ns) {
    platform_end();
    platform_begin(1);
    rival_open(first);
    platform_pass(SECOND);
    asker.over = false;
    sim_call_in(&first->process, make, first, NULL);
    sim_call_in(&first->process, start, first, NULL);
    platform_pass(ns);
    sim_process_pause(&first->process, true);
    platform_pass(PAUSE);
    sim_process_pause(&first->process, false);
    platform_pass(4 * SECOND);
    ck_assert(asker.over);
    sim_call_in(&first->process, drop, first, NULL);
    return asker.status;
}

START_TEST(an_ask_that_runs_too_late_has_a_status_that_is_told) {
    int late = 0;
    for (int i = 0; i < STEPS; i++) {
        const pdk_status status = paused_after(i * STEP);
        ck_assert_msg(status == PDK_OK || status == PDK_UNAVAILABLE || status == PDK_LOST, "paused after %d steps: %s",
                      i, pdk_status_name(status));
        late += status == PDK_UNAVAILABLE;
    }
    ck_assert_int_gt(late, 0);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_job");
    TCase *cases = tcase_create("driver_job");
    tcase_add_checked_fixture(cases, platform_setup, platform_teardown);
    tcase_add_test(cases, an_ask_that_runs_too_late_has_a_status_that_is_told);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

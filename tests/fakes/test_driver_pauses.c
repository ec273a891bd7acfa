/* Pauses that are kept: between two terms, two runs, two sessions, and before a request is made again that went wrong. */
#include "driver_bench.h"
#include "session/session.h"

#include <paddock/guarded.h>
#include <string.h>

/* ---- a request that goes wrong again and again */

static pdk_guarded *guarded;
static pdk_job_runs *runs;
static pdk_observer *observer;

static pdk_status read_runs(void) { return pdk_job_history(first->session, "/job", 2000, &runs); }
static pdk_status open_guarded(void) { return pdk_guarded_open(deeds.hold, "/guarded", 2000, &guarded); }
static pdk_status set_data(void) { return pdk_member_set_data(group.members[0], "two", 3, 2000); }
static pdk_status lease_for_a_while(void) { return pdk_lease_lock_acquire(deeds.lease, 2000, &deeds.hold); }
static pdk_status job_for_a_while(void) { return pdk_job_acquire(deeds.job, 2000, &deeds.hold, NULL); }
static pdk_status finish(void) { return pdk_job_finish(deeds.job, deeds.hold, 0, PDK_FOREVER); }

static pdk_status join(void) {
    pdk_hold *hold = NULL;
    group_join(one, 0);
    pdk_status status = pdk_member_wait(group.members[0], 2000, &hold);
    pdk_hold_unref(hold);
    return status;
}

static void ignore(const char *identity, int64_t token, void *unused) {
    (void)identity;
    (void)token;
    (void)unused;
}

static pdk_status observe(void) { return pdk_election_observe(one->election, ignore, NULL, NULL, &observer); }

#define GET(what) PDK__OP_GET, what
#define SET(what) PDK__OP_SET, what

static const struct repeated {
    const char *name;
    pdk_status (*before)(void), (*act)(void);
    enum pdk__op_kind kind;
    const char *part;
    int32_t code;  /* 0: it is not sent */
    uint32_t most; /* in a second */
} repeated[] = {{"the runs are read", deed_nothing, read_runs, GET("/record"), 0, 22},
                {"a guarded znode is read", deed_lock, open_guarded, GET("/guarded"), 0, 22},
                {"data are set", join, set_data, SET(GROUP_DIR), 0, 22},
                {"a record is written", deed_nothing, lease_for_a_while, SET("/record"), NOT_NOW_CODE, 22},
                {"a record changes", deed_nothing, lease_for_a_while, SET("/record"), BAD_VERSION_CODE, 10},
                {"a run is written", deed_nothing, job_for_a_while, SET("/record"), LOST_CODE, 22},
                {"nobody is there to observe", deed_nothing, observe, PDK__OP_LIST, "/locks/office", NO_NODE_CODE, 3},
                {"a record is renewed", deed_lease, deed_nothing, SET("/record"), 0, 22}};

START_TEST(what_goes_wrong_is_made_again_after_a_pause) {
    const struct repeated *r = &repeated[_i];
    deeds_begin();
    memset(&group, 0, sizeof group);
    ck_assert_int_eq(deed(r->before), PDK_OK);
    driver_arm(r->kind, r->part);
    fault.refuse = r->code == 0 ? INT32_MAX : 0;
    fault.code = r->code;
    fault.always = true;
    deed_start(r->act);
    platform_pass(SECOND);
    ck_assert_msg(fault.seen > 0 && fault.seen <= r->most, "%s: %u times in a second", r->name, fault.seen);
    driver_refuses = NULL;
    platform_pass(4 * SECOND);
    group_leave();
    deeds_end();
}
END_TEST

/* ---- sessions */

START_TEST(a_handle_that_cannot_be_opened_is_opened_after_a_pause) {
    driver_begin();
    driver_openings = 0;
    driver_opening = PDK_SYSTEM;
    rival_reopen(first);
    platform_pass(5 * SECOND);
    ck_assert_uint_ge(driver_openings, 3);
    ck_assert_uint_le(driver_openings, 6);
}
END_TEST

/* A server can end each session that it gives. */
START_TEST(sessions_that_end_at_once_are_opened_after_a_pause) {
    driver_begin();
    driver_openings = 0;
    for (int64_t until = platform_agenda.now + 10 * SECOND; platform_agenda.now < until; platform_pass(10 * SIM_MS))
        if (first->session->link == PDK__LINK_CONNECTED)
            rival_reopen(first);
    ck_assert_uint_ge(driver_openings, 10);
    ck_assert_uint_le(driver_openings, 25);
}
END_TEST

/* ---- runs, and holds */

START_TEST(the_next_run_is_not_too_soon) {
    pdk_job_options options = PDK_JOB_OPTIONS_INIT;
    options.at_least_ms = 3000;
    deeds_begin();
    pdk_job_unref(deeds.job);
    ck_assert_int_eq(pdk_job_new(first->session, "/job", &options, &deeds.job), PDK_OK);
    ck_assert_int_eq(deed(deed_job), PDK_OK);
    int64_t started = platform_agenda.now;
    ck_assert_int_eq(deed(finish), PDK_OK);
    deeds.hold = NULL;
    while (deed(job_for_a_while) == PDK_SKIPPED)
        platform_pass(10 * SIM_MS);
    ck_assert_int_eq(deeds.status, PDK_OK);
    ck_assert_int_ge(platform_agenda.now, started + 2900 * SIM_MS);
    ck_assert_int_le(platform_agenda.now, started + 3500 * SIM_MS);
    deeds_end();
}
END_TEST

static pdk_status job_at_last(void) { return pdk_job_acquire(deeds.job, PDK_FOREVER, &deeds.hold, NULL); }

static void pass_until(int64_t ms) { platform_pass(ms * SIM_MS - platform_agenda.now); }

/* Of a day it names two minutes, one behind the other. A run that is asked for before both, and is written after both, is the only one
 * of that day. */
START_TEST(a_start_long_after_its_ask_is_of_a_later_period) {
    enum { MINUTE_MS = 60000 };
    pdk_job_options options = PDK_JOB_OPTIONS_INIT;
    deeds_begin();
    int64_t minute = platform_agenda.now / (MINUTE_MS * SIM_MS) + 2, first_ms = minute * MINUTE_MS;
    char schedule[32];
    g_snprintf(schedule, sizeof schedule, "%d,%d %d * * *", (int)(minute % 60), (int)(minute % 60) + 1,
               (int)(minute / 60 % 24));
    options.schedule = schedule;
    pdk_job_unref(deeds.job);
    ck_assert_int_eq(pdk_job_new(first->session, "/job", &options, &deeds.job), PDK_OK);
    pass_until(first_ms - 1000);
    driver_arm(SET("/record"));
    fault.code = NOT_NOW_CODE;
    fault.always = true;
    deed_start(job_at_last);
    pass_until(first_ms + 2 * MINUTE_MS + 1000);
    ck_assert_uint_gt(fault.seen, 0);
    driver_refuses = NULL;
    deed_await();
    ck_assert_int_eq(deeds.status, PDK_OK);
    ck_assert_int_eq(deed(finish), PDK_OK);
    deeds.hold = NULL;
    pass_until(first_ms + 3 * MINUTE_MS + 1000);
    ck_assert_int_eq(deed(job_for_a_while), PDK_SKIPPED);
    deeds_end();
}
END_TEST

enum { DELAY_MS = 3000 };

static struct answer theirs;
static pdk_lock *their_lock;

static pdk_lock *delayed(struct rival *r) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    pdk_lock *lock;
    options.lock_delay_ms = DELAY_MS;
    ck_assert_int_eq(pdk_lock_new(r->session, "/delayed", &options, &lock), PDK_OK);
    return lock;
}

static void drop_theirs(void) {
    pdk_hold_unref(g_steal_pointer(&theirs.hold));
    pdk_lock_unref(their_lock);
}

/* A holder dies. Who comes next waits, and gives up a moment before the delay is over. The one after that waits for all of it. */
START_TEST(who_gives_up_during_a_delay_ends_it_for_nobody) {
    struct answer answer = {0};
    pdk_claim *waiting;
    driver_begin();
    pdk_lock *lock = delayed(first);
    their_lock = delayed(second);
    ck_assert_int_eq(pdk_lock_acquire_async(their_lock, PDK_FOREVER, answered, &theirs, NULL), PDK_OK);
    platform_pass(SECOND);
    ck_assert_ptr_nonnull(theirs.hold);
    driver_kill(two, drop_theirs);
    ck_assert_int_eq(pdk_lock_acquire_async(lock, PDK_FOREVER, answered, &answer, &waiting), PDK_OK);
    platform_pass(TIMEOUT + DELAY_MS * SIM_MS - 200 * SIM_MS);
    ck_assert_uint_eq(answer.count, 0);
    ck_assert_int_eq(pdk_claim_cancel(waiting), PDK_OK);
    platform_pass(SECOND / 10);
    pdk_claim_unref(waiting);
    pdk_lock_unref(lock);
    lock = delayed(first); /* it knows nothing of what was waited for */
    int64_t asked = platform_agenda.now;
    ck_assert_int_eq(pdk_lock_acquire_async(lock, PDK_FOREVER, answered, &answer, NULL), PDK_OK);
    while (!answer.hold)
        platform_pass(10 * SIM_MS);
    ck_assert_int_ge(platform_agenda.now, asked + DELAY_MS * SIM_MS);
    answer_release(&answer);
    pdk_lock_unref(lock);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_pauses");
    TCase *cases = tcase_create("driver_pauses");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_loop_test(cases, what_goes_wrong_is_made_again_after_a_pause, 0, G_N_ELEMENTS(repeated));
    tcase_add_test(cases, a_handle_that_cannot_be_opened_is_opened_after_a_pause);
    tcase_add_test(cases, sessions_that_end_at_once_are_opened_after_a_pause);
    tcase_add_test(cases, the_next_run_is_not_too_soon);
    tcase_add_test(cases, a_start_long_after_its_ask_is_of_a_later_period);
    tcase_add_test(cases, who_gives_up_during_a_delay_ends_it_for_nobody);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}

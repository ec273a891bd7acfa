/* Pauses that are kept: between two terms, two runs, two sessions, and before a request is made again that went wrong. */
#include "deeds.h"
#include "session/session.h"

#include <paddock/guarded.h>
#include <string.h>

enum { FOR_EVER = INT32_MAX, BAD_VERSION = -103 };

/* ---- a request that goes wrong again and again */

static pdk_guarded *guarded;
static pdk_job_runs *runs;
static pdk_observer *observer;

static pdk_status read_runs(void) { return pdk_job_history(group_one->rival->session, "/job", 2000, &runs); }
static pdk_status take(void) { return pdk_lock_acquire(deeds.lock, 2000, &deeds.hold); }
static pdk_status open_guarded(void) { return pdk_guarded_open(deeds.hold, "/guarded", 2000, &guarded); }
static pdk_status set_data(void) { return pdk_member_set_data(group.members[0], "two", 3, 2000); }
static pdk_status lease_for_a_while(void) { return pdk_lease_lock_acquire(deeds.lease, 2000, &deeds.hold); }
static pdk_status job_for_a_while(void) { return pdk_job_acquire(deeds.job, 2000, &deeds.hold, NULL); }

static pdk_status nothing(void) { return PDK_OK; }

static pdk_status join(void) {
    pdk_hold *hold = NULL;
    pdk_status status = pdk_group_join(group_one->rival->session, "/group", "one", 3, NULL, &group.members[0]);
    if (status == PDK_OK)
        status = pdk_member_wait(group.members[0], 2000, &hold);
    pdk_hold_unref(hold);
    return status;
}

static void ignore(const char *identity, int64_t token, void *unused) {
    (void)identity;
    (void)token;
    (void)unused;
}

static pdk_status observe(void) {
    return pdk_election_observe(driver_users[0].election, ignore, NULL, NULL, &observer);
}

#define GET(what) PDK__OP_GET, what
#define SET(what) PDK__OP_SET, what

static const struct repeated {
    const char *name;
    pdk_status (*before)(void), (*act)(void);
    enum pdk__op_kind kind;
    const char *part;
    int32_t code;  /* 0: it is not sent */
    uint32_t most; /* in a second */
} repeated[] = {{"the runs are read", nothing, read_runs, GET("/record"), 0, 22},
                {"a guarded znode is read", take, open_guarded, GET("/guarded"), 0, 22},
                {"data are set", join, set_data, SET(GROUP_DIR), 0, 22},
                {"a record is written", nothing, lease_for_a_while, SET("/record"), GROUP_NOT_NOW, 22},
                {"a record changes", nothing, lease_for_a_while, SET("/record"), BAD_VERSION, 10},
                {"a run is written", nothing, job_for_a_while, SET("/record"), GROUP_LOST, 22},
                {"nobody is there to observe", nothing, observe, PDK__OP_LIST, "/locks/office", GROUP_NO_NODE, 3},
                {"a record is renewed", deed_lease, nothing, SET("/record"), 0, 22}};

START_TEST(what_goes_wrong_is_made_again_after_a_pause) {
    const struct repeated *r = &repeated[_i];
    deeds_begin();
    memset(&group, 0, sizeof group);
    ck_assert_int_eq(deed(r->before), PDK_OK);
    group_arm(r->kind, r->part);
    group_fault.refuse = r->code == 0 ? FOR_EVER : 0;
    group_fault.code = r->code;
    group_fault.always = true;
    deed_start(r->act);
    platform_pass(SECOND);
    ck_assert_msg(group_fault.seen > 0 && group_fault.seen <= r->most, "%s: %u times in a second", r->name,
                  group_fault.seen);
    driver_refuses = NULL;
    platform_pass(4 * SECOND);
    group_call(group_one, group_leave_in, NULL);
    deeds_end();
}
END_TEST

/* ---- sessions */

static uint32_t opened;
static struct pdk__zk_calls calls;
static struct pdk__platform platform;
static pdk_status (*open_as_before)(const struct pdk__zk_config *config, pdk__zk **out);

static pdk_status count_and_open(const struct pdk__zk_config *config, pdk__zk **out) {
    opened++;
    return open_as_before(config, out);
}

static void count_openings(void) {
    pdk_session *s = group_one->rival->session;
    opened = 0;
    platform = *s->platform;
    calls = *platform.zk;
    open_as_before = calls.open;
    calls.open = count_and_open;
    platform.zk = &calls;
    s->platform = &platform;
}

START_TEST(a_handle_that_cannot_be_opened_is_opened_after_a_pause) {
    deeds_begin();
    count_openings();
    driver_opening = PDK_SYSTEM;
    group_call(group_one, group_reopen_in, NULL);
    platform_pass(5 * SECOND);
    ck_assert_uint_ge(opened, 3);
    ck_assert_uint_le(opened, 6);
    driver_opening = PDK_OK;
    deeds_end();
}
END_TEST

/* A server can end each session that it gives. */
START_TEST(sessions_that_end_at_once_are_opened_after_a_pause) {
    deeds_begin();
    count_openings();
    for (int64_t until = platform_agenda.now + 10 * SECOND; platform_agenda.now < until; platform_pass(10 * SIM_MS))
        if (group_one->rival->session->link == PDK__LINK_CONNECTED)
            group_call(group_one, group_reopen_in, NULL);
    ck_assert_uint_ge(opened, 10);
    ck_assert_uint_le(opened, 25);
    platform_pass(5 * SECOND);
    deeds_end();
}
END_TEST

/* ---- runs, and holds */

static pdk_status finish(void) { return pdk_job_finish(deeds.job, deeds.hold, 0, PDK_FOREVER); }

static void make_spaced_in(void *rival, void *unused) {
    pdk_job_options options = PDK_JOB_OPTIONS_INIT;
    (void)unused;
    options.at_least_ms = 3000;
    pdk_job_unref(deeds.job);
    ck_assert_int_eq(pdk_job_new(((struct rival *)rival)->session, "/job", &options, &deeds.job), PDK_OK);
}

START_TEST(the_next_run_is_not_too_soon) {
    deeds_begin();
    group_call(group_one, make_spaced_in, NULL);
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

enum { DELAY_MS = 3000 };

/* With a lock-delay, in both processes. */
static pdk_lock *delayed[2];
static pdk_claim *waiting;

static void make_delayed_in(void *rival, void *lock) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    options.lock_delay_ms = DELAY_MS;
    ck_assert_int_eq(pdk_lock_new(((struct rival *)rival)->session, "/delayed", &options, lock), PDK_OK);
}

static void on_hold(pdk_status status, pdk_hold *hold, void *unused) {
    (void)unused;
    deeds.status = status;
    deeds.hold = hold;
    deeds.over = true;
}

static void ask_in(void *rival, void *lock) {
    (void)rival;
    deeds.over = false;
    ck_assert_int_eq(pdk_lock_acquire_async(lock, PDK_FOREVER, on_hold, NULL, &waiting), PDK_OK);
}

static void cancel_in(void *rival, void *unused) {
    (void)rival;
    (void)unused;
    ck_assert_int_eq(pdk_claim_cancel(waiting), PDK_OK);
    pdk_claim_unref(g_steal_pointer(&waiting));
}

static void drop_delayed_in(void *rival, void *lock) {
    (void)rival;
    pdk_claim_unref(g_steal_pointer(&waiting));
    pdk_hold_unref(g_steal_pointer(&deeds.hold));
    pdk_lock_unref(lock);
}

static void gives_back_in(void *user, void *unused) {
    struct driver_user *u = user;
    pdk_claim_unref(g_steal_pointer(&waiting));
    pdk_hold_unref(g_steal_pointer(&deeds.hold));
    pdk_lock_unref(delayed[1]);
    pdk_lock_unref(g_steal_pointer(&u->lock));
    pdk_rwlock_unref(g_steal_pointer(&u->rwlock));
    pdk_semaphore_unref(g_steal_pointer(&u->semaphore));
    pdk_election_unref(g_steal_pointer(&u->election));
    rival_gives_back(u->rival, unused);
}

/* A holder dies. Who comes next waits, and gives up a moment before the delay is over. The one after that waits for all of it. */
START_TEST(who_gives_up_during_a_delay_ends_it_for_nobody) {
    deeds_begin();
    group_call(group_one, make_delayed_in, &delayed[0]);
    group_call(group_two, make_delayed_in, &delayed[1]);
    group_call(group_two, ask_in, delayed[1]);
    platform_pass(SECOND);
    ck_assert(deeds.over && deeds.status == PDK_OK);
    sim_dispose(&group_two->rival->process, gives_back_in, &driver_users[1], NULL);
    group_call(group_one, ask_in, delayed[0]);
    platform_pass(TIMEOUT + DELAY_MS * SIM_MS - 200 * SIM_MS);
    ck_assert(!deeds.over);
    group_call(group_one, cancel_in, NULL);
    platform_pass(SECOND / 10);
    group_call(group_one, drop_delayed_in, delayed[0]);
    group_call(group_one, make_delayed_in, &delayed[0]); /* it knows nothing of what was waited for */
    int64_t asked = platform_agenda.now;
    group_call(group_one, ask_in, delayed[0]);
    while (!deeds.over)
        platform_pass(10 * SIM_MS);
    ck_assert_int_eq(deeds.status, PDK_OK);
    ck_assert_int_ge(platform_agenda.now, asked + DELAY_MS * SIM_MS);
    group_call(group_one, drop_delayed_in, delayed[0]);
    deeds_end();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_pauses");
    TCase *cases = tcase_create("driver_pauses");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_loop_test(cases, what_goes_wrong_is_made_again_after_a_pause, 0, G_N_ELEMENTS(repeated));
    tcase_add_test(cases, a_handle_that_cannot_be_opened_is_opened_after_a_pause);
    tcase_add_test(cases, sessions_that_end_at_once_are_opened_after_a_pause);
    tcase_add_test(cases, the_next_run_is_not_too_soon);
    tcase_add_test(cases, who_gives_up_during_a_delay_ends_it_for_nobody);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

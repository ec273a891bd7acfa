/* What a status says, where another one would have the same effect: why something is over, or who is in the way. */
#include "driver_bench.h"
#include "session/session.h"

#include <paddock/guarded.h>
#include <paddock/leader.h>
#include <string.h>

static pdk_guarded *guarded;
static pdk_set *set;
static pdk_hold *other;
static pdk_job_runs *runs;

static pdk_status try_it(void) { return pdk_lock_acquire(deeds.lock, 0, &other); }
static pdk_status wait_for_it(void) { return pdk_lock_acquire(deeds.lock, 300, &other); }
static pdk_status open_guarded(void) { return pdk_guarded_open(deeds.hold, "/guarded", PDK_FOREVER, &guarded); }
static pdk_status write_guarded(void) { return pdk_guarded_create(guarded, "text", 4, PDK_FOREVER); }
static pdk_status finish(void) { return pdk_job_finish(deeds.job, deeds.hold, 0, PDK_FOREVER); }
static pdk_status ensure(void) { return pdk_hold_ensure(deeds.hold, 1); }
static pdk_status ensure_set(void) { return pdk_set_ensure(set, 1); }
static pdk_status give_set_back(void) { return pdk_set_release(pdk_set_ref(set)); }
static pdk_status join(void) { return pdk_election_join(one->election, NULL); }
static pdk_status lead(void) { return pdk_election_wait(one->election, PDK_FOREVER, &deeds.hold); }
static pdk_status publish(void) { return pdk_election_publish(one->election, deeds.hold, NULL, 0, PDK_FOREVER); }
static pdk_status wait_for_record(void) { return pdk_lease_lock_acquire(deeds.lease, 3000, &other); }
static pdk_status read_runs(void) { return pdk_job_history(first->session, "/job", PDK_FOREVER, &runs); }

static pdk_status take_set(void) {
    const pdk_right rights[] = {pdk_right_lock(deeds.lock), pdk_right_permits(one->semaphore, 1)};
    return pdk_set_acquire(rights, 2, PDK_FOREVER, NULL, &set);
}

static void finish_test(void) {
    pdk_guarded_close(g_steal_pointer(&guarded));
    pdk_set_unref(g_steal_pointer(&set));
    pdk_hold_unref(g_steal_pointer(&other));
    deeds_end();
}

static const struct word {
    const char *name;
    pdk_status (*before[3])(void); /* each has to succeed */
    pdk_status (*act)(void);
    pdk_status status;
} words[] = {
    {"a run that was released", {deed_job, deed_give_back}, finish, PDK_NOT_HELD},
    {"a run that is lost", {deed_job, deed_reopen}, finish, PDK_LOST},
    {"a guarded znode of a released hold", {deed_lock, open_guarded, deed_give_back}, write_guarded, PDK_NOT_HELD},
    {"a guarded znode of a lost hold", {deed_lock, open_guarded, deed_reopen}, write_guarded, PDK_LOST},
    {"a hold that was released", {deed_lock, deed_give_back}, ensure, PDK_NOT_HELD},
    {"a hold that is lost", {deed_lock, deed_reopen}, ensure, PDK_LOST},
    {"a set that was released", {take_set, give_set_back}, ensure_set, PDK_NOT_HELD},
    {"a set that is lost", {take_set, deed_reopen}, ensure_set, PDK_LOST},
    {"a term that was resigned", {join, lead, deed_give_back}, publish, PDK_NOT_HELD},
    {"a term that is lost", {join, lead, deed_reopen}, publish, PDK_LOST},
    {"a candidate of a session that has ended", {join, deed_end_session}, lead, PDK_AUTH},
    {"nobody stands", {deed_nothing}, lead, PDK_NOT_HELD}};

START_TEST(why_something_is_over) {
    const struct word *word = &words[_i];
    deeds_begin();
    for (size_t i = 0; i < G_N_ELEMENTS(word->before) && word->before[i]; i++)
        ck_assert_int_eq(deed(word->before[i]), PDK_OK);
    pdk_status status = deed(word->act);
    ck_assert_msg(status == word->status, "%s: %s", word->name, pdk_status_name(status));
    finish_test();
}
END_TEST

/* ---- who is in the way */

static pdk_lock *theirs;

/* Through deeds.lock, or through the same of the other process. */
static void take(struct answer *answer, bool other_process) {
    ck_assert_int_eq(pdk_lock_new(second->session, "/one", NULL, &theirs), PDK_OK);
    pdk_lock *lock = other_process ? theirs : deeds.lock;
    ck_assert_int_eq(pdk_lock_acquire_async(lock, PDK_FOREVER, answered, answer, NULL), PDK_OK);
    platform_pass(SECOND);
    ck_assert_ptr_nonnull(answer->hold);
}

static void drop(struct answer *answer) {
    answer_release(answer);
    pdk_lock_unref(theirs);
    finish_test();
}

START_TEST(who_is_ahead_of_a_try) {
    struct answer answer = {0};
    deeds_begin();
    take(&answer, _i);
    ck_assert_int_eq(deed(try_it), PDK_BUSY);
    ck_assert_msg(strstr(deeds.why, _i ? "somebody is ahead" : "held by this process"), "%s", deeds.why);
    drop(&answer);
}
END_TEST

/* Somebody is ahead; no server says anything; or one forbids it. */
START_TEST(why_a_wait_is_over) {
    static const struct {
        const char *status, *why;
    } ends[] = {{"PDK_TIMEOUT", "/app/one: the deadline passed while in line"},
                {"PDK_UNAVAILABLE", "/app/one"},
                {"PDK_NO_PERMISSION", "ZNOAUTH"}};
    struct answer answer = {0};
    deeds_begin();
    take(&answer, true);
    platform_block(first, _i == 1);
    if (_i == 2)
        ck_assert(sim_admin_set(platform_ensemble, "/app/one", SIM_SET_ACL, SIM_NO_CREATE));
    ck_assert_str_eq(pdk_status_name(deed(wait_for_it)), ends[_i].status);
    ck_assert_msg(strstr(deeds.why, ends[_i].why), "%s", deeds.why);
    platform_block(first, false);
    platform_pass(4 * SECOND);
    drop(&answer);
}
END_TEST

/* ---- why a hold is lost */

START_TEST(holds_that_end_with_their_session_say_so) {
    deeds_begin();
    driver_want_lock(one);
    ck_assert_int_eq(deed(deed_lock), PDK_OK);
    platform_pass(SECOND);
    rival_reopen(first);
    ck_assert_int_eq(pdk_hold_reason(deeds.hold), PDK_REASON_EXPIRED);
    ck_assert_int_eq(pdk_hold_reason(one->holds[0]), PDK_REASON_EXPIRED);
    deeds_end();
}
END_TEST

/* Its session goes on, and so does its lock: what it stands for is over. */
START_TEST(a_record_that_is_anothers_is_overdue) {
    deeds_begin();
    ck_assert_int_eq(deed(deed_lease), PDK_OK);
    platform_admin(SIM_OP_SET, "/app/leased/record");
    platform_pass(DEED_LEASE_MS / 2 * SIM_MS);
    ck_assert(!pdk_hold_is_valid(deeds.hold));
    ck_assert_int_eq(pdk_hold_reason(deeds.hold), PDK_REASON_OVERDUE);
    deeds_end();
}
END_TEST

static pdk_lock *nested;

static pdk_status take_twice(void) {
    pdk_status status = pdk_lock_acquire(nested, PDK_FOREVER, &deeds.hold);
    return status == PDK_OK ? pdk_lock_acquire(nested, PDK_FOREVER, &other) : status;
}

START_TEST(holds_of_one_grant_are_lost_for_one_reason) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    options.reentrant = 1;
    deeds_begin();
    ck_assert_int_eq(pdk_lock_new(first->session, "/nested", &options, &nested), PDK_OK);
    ck_assert_int_eq(deed(take_twice), PDK_OK);
    platform_pass(SECOND);
    platform_admin(SIM_OP_DELETE, platform_child("/app/nested", 0));
    platform_pass(SECOND / 2);
    ck_assert_int_eq(pdk_hold_reason(deeds.hold), PDK_REASON_NODE_GONE);
    ck_assert_int_eq(pdk_hold_reason(other), PDK_REASON_NODE_GONE);
    pdk_lock_unref(nested);
    finish_test();
}
END_TEST

/* ---- records of others */

static void take_their_lease(struct answer *answer, pdk_lease_lock **lease) {
    pdk_lease_lock_options options = PDK_LEASE_LOCK_OPTIONS_INIT;
    options.secret = "the secret of two";
    options.duration_ms = 60000;
    ck_assert_int_eq(pdk_lease_lock_new(second->session, "/leased", &options, lease), PDK_OK);
    ck_assert_int_eq(pdk_lease_lock_acquire_async(*lease, PDK_FOREVER, answered, answer), PDK_OK);
}

/* The other one leaves the record as it is. */
START_TEST(why_a_record_is_waited_for_no_longer) {
    struct answer answer = {0};
    pdk_lease_lock *their_lease;
    deeds_begin();
    take_their_lease(&answer, &their_lease);
    platform_pass(SECOND);
    answer_release(&answer);
    pdk_lease_lock_unref(their_lease);
    deed_start(wait_for_record);
    platform_pass(SECOND);
    ck_assert(!deeds.over);
    if (_i)
        pdk_lease_lock_unref(g_steal_pointer(&deeds.lease));
    deed_await();
    ck_assert_str_eq(pdk_status_name(deeds.status), _i ? "PDK_CANCELED" : "PDK_TIMEOUT");
    finish_test();
}
END_TEST

static void on_run(pdk_status status, pdk_hold *hold, pdk_job_runs *found, void *answer) {
    answered(status, hold, answer);
    pdk_job_runs_free(found);
}

static pdk_job_state state_of_the_newest(void) {
    ck_assert_int_eq(deed(read_runs), PDK_OK);
    pdk_job_state state = pdk_job_runs_run(runs, 0)->state;
    pdk_job_runs_free(g_steal_pointer(&runs));
    return state;
}

START_TEST(a_run_that_gave_up_has_died) {
    struct answer answer = {0};
    pdk_job *their_job;
    deeds_begin();
    ck_assert_int_eq(pdk_job_new(second->session, "/job", NULL, &their_job), PDK_OK);
    ck_assert_int_eq(pdk_job_acquire_async(their_job, PDK_FOREVER, on_run, &answer), PDK_OK);
    platform_pass(SECOND);
    ck_assert_int_eq(state_of_the_newest(), PDK_JOB_RUNNING);
    answer_release(&answer);
    pdk_job_unref(their_job);
    platform_pass(SECOND);
    ck_assert_int_eq(state_of_the_newest(), PDK_JOB_DIED);
    deeds_end();
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_words");
    TCase *cases = tcase_create("driver_words");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_loop_test(cases, why_something_is_over, 0, G_N_ELEMENTS(words));
    tcase_add_loop_test(cases, who_is_ahead_of_a_try, 0, 2);
    tcase_add_loop_test(cases, why_a_wait_is_over, 0, 3);
    tcase_add_test(cases, holds_that_end_with_their_session_say_so);
    tcase_add_test(cases, a_record_that_is_anothers_is_overdue);
    tcase_add_test(cases, holds_of_one_grant_are_lost_for_one_reason);
    tcase_add_loop_test(cases, why_a_record_is_waited_for_no_longer, 0, 2);
    tcase_add_test(cases, a_run_that_gave_up_has_died);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}

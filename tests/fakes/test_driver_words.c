/* What a status says, where another one would have the same effect: why something is over, or who is in the way. */
#include "deeds.h"
#include "session/chores.h"
#include "session/session.h"
#include "session/supervise.h"
#include "sim_thread.h"

#include <paddock/guarded.h>
#include <paddock/leader.h>
#include <string.h>

static pdk_guarded *guarded;
static pdk_set *set;
static pdk_semaphore *semaphore;
static pdk_hold *other;
static pdk_job_runs *runs;

static pdk_status take(void) { return pdk_lock_acquire(deeds.lock, PDK_FOREVER, &deeds.hold); }
static pdk_status try_it(void) { return pdk_lock_acquire(deeds.lock, 0, &other); }
static pdk_status wait_for_it(void) { return pdk_lock_acquire(deeds.lock, 300, &other); }
static pdk_status give_back(void) { return pdk_hold_release(pdk_hold_ref(deeds.hold)); }
static pdk_status open_guarded(void) { return pdk_guarded_open(deeds.hold, "/guarded", PDK_FOREVER, &guarded); }
static pdk_status write_guarded(void) { return pdk_guarded_create(guarded, "text", 4, PDK_FOREVER); }
static pdk_status finish(void) { return pdk_job_finish(deeds.job, deeds.hold, 0, PDK_FOREVER); }
static pdk_status ensure(void) { return pdk_hold_ensure(deeds.hold, 1); }
static pdk_status ensure_set(void) { return pdk_set_ensure(set, 1); }
static pdk_status join(void) { return pdk_election_join(driver_users[0].election, NULL); }
static pdk_status lead(void) { return pdk_election_wait(driver_users[0].election, PDK_FOREVER, &deeds.hold); }
static pdk_status publish(void) {
    return pdk_election_publish(driver_users[0].election, deeds.hold, NULL, 0, PDK_FOREVER);
}
static pdk_status nothing(void) { return PDK_OK; }

static pdk_status take_set(void) {
    pdk_right rights[2];
    pdk_status status = pdk_semaphore_new(group_one->rival->session, "/permits", 2, NULL, &semaphore);
    rights[0] = pdk_right_lock(deeds.lock);
    rights[1] = pdk_right_permits(semaphore, 1);
    return status == PDK_OK ? pdk_set_acquire(rights, 2, PDK_FOREVER, NULL, &set) : status;
}

static pdk_status give_set_back(void) { return pdk_set_release(pdk_set_ref(set)); }

/* The handle goes, and the holds with it. */
static pdk_status lose(void) {
    group_reopen_in(group_one->rival, NULL);
    return PDK_OK;
}

static pdk_status end(void) {
    pdk_session *s = group_one->rival->session;
    pdk__lock(s);
    pdk__session_end(s, PDK_AUTH, "as a test wants it");
    pdk__chores_run_and_unlock(s);
    return PDK_OK;
}

static void drop_in(void *rival, void *unused) {
    (void)rival;
    (void)unused;
    pdk_guarded_close(g_steal_pointer(&guarded));
    pdk_set_unref(g_steal_pointer(&set));
    pdk_semaphore_unref(g_steal_pointer(&semaphore));
    pdk_hold_unref(g_steal_pointer(&other));
    pdk_job_runs_free(g_steal_pointer(&runs));
}

static const struct word {
    const char *name;
    pdk_status (*before[3])(void); /* each has to succeed */
    pdk_status (*act)(void);
    pdk_status status;
} words[] = {
    {"a run that was released", {deed_job, give_back}, finish, PDK_NOT_HELD},
    {"a run that is lost", {deed_job, lose}, finish, PDK_LOST},
    {"a guarded znode of a hold that was released", {take, open_guarded, give_back}, write_guarded, PDK_NOT_HELD},
    {"a guarded znode of a hold that is lost", {take, open_guarded, lose}, write_guarded, PDK_LOST},
    {"a hold that was released", {take, give_back}, ensure, PDK_NOT_HELD},
    {"a hold that is lost", {take, lose}, ensure, PDK_LOST},
    {"a set that was released", {take_set, give_set_back}, ensure_set, PDK_NOT_HELD},
    {"a set that is lost", {take_set, lose}, ensure_set, PDK_LOST},
    {"a term that was resigned", {join, lead, give_back}, publish, PDK_NOT_HELD},
    {"a term that is lost", {join, lead, lose}, publish, PDK_LOST},
    {"a candidate of a session that has ended", {join, end}, lead, PDK_AUTH},
    {"nobody stands", {nothing}, lead, PDK_NOT_HELD}};

START_TEST(why_something_is_over) {
    const struct word *word = &words[_i];
    deeds_begin();
    for (size_t i = 0; i < G_N_ELEMENTS(word->before) && word->before[i]; i++)
        ck_assert_int_eq(deed(word->before[i]), PDK_OK);
    pdk_status status = deed(word->act);
    ck_assert_msg(status == word->status, "%s: %s", word->name, pdk_status_name(status));
    group_call(group_one, drop_in, NULL);
    deeds_end();
}
END_TEST

/* ---- who is in the way */

static void on_hold(pdk_status status, pdk_hold *hold, void *unused) {
    (void)unused;
    ck_assert_int_eq(status, PDK_OK);
    deeds.hold = hold;
}

static void take_in(void *rival, void *unused) {
    (void)rival;
    (void)unused;
    ck_assert_int_eq(pdk_lock_acquire_async(deeds.lock, PDK_FOREVER, on_hold, NULL, NULL), PDK_OK);
}

static pdk_lock *theirs;

static void take_theirs_in(void *rival, void *unused) {
    (void)unused;
    ck_assert_int_eq(pdk_lock_new(((struct rival *)rival)->session, "/one", NULL, &theirs), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire_async(theirs, PDK_FOREVER, on_hold, NULL, NULL), PDK_OK);
}

static void drop_theirs_in(void *rival, void *unused) {
    (void)rival;
    (void)unused;
    pdk_hold_release(g_steal_pointer(&deeds.hold));
    pdk_lock_unref(g_steal_pointer(&theirs));
}

START_TEST(who_is_ahead_of_a_try) {
    deeds_begin();
    group_call(_i ? group_two : group_one, _i ? take_theirs_in : take_in, NULL);
    platform_pass(SECOND);
    ck_assert_ptr_nonnull(deeds.hold);
    ck_assert_int_eq(deed(try_it), PDK_BUSY);
    ck_assert_msg(strstr(deeds.why, _i ? "somebody is ahead" : "held by this process"), "%s", deeds.why);
    if (_i)
        group_call(group_two, drop_theirs_in, NULL);
    deeds_end();
}
END_TEST

/* Somebody is ahead, or no server says anything. */
START_TEST(why_a_wait_is_over) {
    deeds_begin();
    group_call(group_two, take_theirs_in, NULL);
    platform_pass(SECOND);
    if (_i)
        platform_block(group_one->rival, true);
    ck_assert_str_eq(pdk_status_name(deed(wait_for_it)), _i ? "PDK_UNAVAILABLE" : "PDK_TIMEOUT");
    platform_block(group_one->rival, false);
    platform_pass(4 * SECOND);
    group_call(group_two, drop_theirs_in, NULL);
    deeds_end();
}
END_TEST

/* ---- why a hold is lost */

START_TEST(holds_that_end_with_their_session_say_so) {
    deeds_begin();
    driver_want_lock(&driver_users[0]);
    ck_assert_int_eq(deed(take), PDK_OK);
    platform_pass(SECOND);
    group_call(group_one, group_reopen_in, NULL);
    ck_assert_int_eq(deed_reason(), PDK_REASON_EXPIRED);
    pdk_hold *own = deeds.hold;
    deeds.hold = driver_users[0].holds[0];
    ck_assert_int_eq(deed_reason(), PDK_REASON_EXPIRED);
    deeds.hold = own;
    deeds_end();
}
END_TEST

/* Its session goes on, and so does its lock: what it stands for is over. */
START_TEST(a_record_that_is_anothers_is_overdue) {
    deeds_begin();
    ck_assert_int_eq(deed(deed_lease), PDK_OK);
    group_admin(SIM_OP_SET, "/app/leased/record");
    platform_pass(DEED_LEASE_MS / 2 * SIM_MS);
    ck_assert(!deed_is_valid());
    ck_assert_int_eq(deed_reason(), PDK_REASON_OVERDUE);
    deeds_end();
}
END_TEST

static pdk_lock *nested;

static void make_nested_in(void *rival, void *unused) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    (void)unused;
    options.reentrant = 1;
    ck_assert_int_eq(pdk_lock_new(((struct rival *)rival)->session, "/nested", &options, &nested), PDK_OK);
}

static pdk_status take_twice(void) {
    pdk_status status = pdk_lock_acquire(nested, PDK_FOREVER, &deeds.hold);
    return status == PDK_OK ? pdk_lock_acquire(nested, PDK_FOREVER, &other) : status;
}

static void drop_nested_in(void *rival, void *unused) {
    (void)rival;
    (void)unused;
    pdk_lock_unref(g_steal_pointer(&nested));
}

/* All holds of one grant are lost, for one reason. */
START_TEST(holds_of_one_grant_are_lost_for_one_reason) {
    size_t count = 0;
    deeds_begin();
    group_call(group_one, make_nested_in, NULL);
    ck_assert_int_eq(deed(take_twice), PDK_OK);
    platform_pass(SECOND);
    const char *const *names = sim_tree_children(sim_truth(platform_ensemble), "/app/nested", &count);
    g_autofree char *path = g_strconcat("/app/nested/", names[0], NULL);
    group_admin(SIM_OP_DELETE, sim_text(&platform_agenda, path));
    platform_pass(SECOND / 2);
    ck_assert_int_eq(deed_reason(), PDK_REASON_NODE_GONE);
    pdk_hold *own = deeds.hold;
    deeds.hold = other;
    ck_assert_int_eq(deed_reason(), PDK_REASON_NODE_GONE);
    deeds.hold = own;
    group_call(group_one, drop_in, NULL);
    group_call(group_one, drop_nested_in, NULL);
    deeds_end();
}
END_TEST

/* ---- a lease lock that stands for another */

static pdk_lease_lock *of_another;

static void on_record(pdk_status status, pdk_hold *hold, void *unused) {
    (void)unused;
    ck_assert_int_eq(status, PDK_OK);
    deeds.hold = hold;
}

static void take_record_in(void *rival, void *unused) {
    pdk_lease_lock_options options = PDK_LEASE_LOCK_OPTIONS_INIT;
    (void)unused;
    options.secret = "the secret of two";
    options.duration_ms = 60000;
    ck_assert_int_eq(pdk_lease_lock_new(((struct rival *)rival)->session, "/leased", &options, &of_another), PDK_OK);
    ck_assert_int_eq(pdk_lease_lock_acquire_async(of_another, PDK_FOREVER, on_record, NULL), PDK_OK);
}

/* It leaves the record as it is. */
static void leave_record_in(void *rival, void *unused) {
    (void)rival;
    (void)unused;
    pdk_hold_release(g_steal_pointer(&deeds.hold));
    pdk_lease_lock_unref(g_steal_pointer(&of_another));
}

static void drop_lease_in(void *rival, void *unused) {
    (void)rival;
    (void)unused;
    pdk_lease_lock_unref(g_steal_pointer(&deeds.lease));
}

static pdk_status wait_for_record(void) { return pdk_lease_lock_acquire(deeds.lease, 3000, &other); }

START_TEST(why_a_record_is_waited_for_no_longer) {
    deeds_begin();
    group_call(group_two, take_record_in, NULL);
    platform_pass(SECOND);
    group_call(group_two, leave_record_in, NULL);
    deed_start(wait_for_record);
    platform_pass(SECOND);
    ck_assert(!deeds.over);
    if (_i)
        group_call(group_one, drop_lease_in, NULL);
    deed_await();
    ck_assert_str_eq(pdk_status_name(deeds.status), _i ? "PDK_CANCELED" : "PDK_TIMEOUT");
    deeds_end();
}
END_TEST

/* ---- a run whose process has died */

static pdk_job *job;

static void on_run(pdk_status status, pdk_hold *hold, pdk_job_runs *found, void *unused) {
    (void)unused;
    ck_assert_int_eq(status, PDK_OK);
    deeds.hold = hold;
    pdk_job_runs_free(found);
}

static void run_in(void *rival, void *unused) {
    (void)unused;
    ck_assert_int_eq(pdk_job_new(((struct rival *)rival)->session, "/job", NULL, &job), PDK_OK);
    ck_assert_int_eq(pdk_job_acquire_async(job, PDK_FOREVER, on_run, NULL), PDK_OK);
}

static void stop_in(void *rival, void *unused) {
    (void)rival;
    (void)unused;
    pdk_hold_release(g_steal_pointer(&deeds.hold));
    pdk_job_unref(g_steal_pointer(&job));
}

static pdk_status read_runs(void) { return pdk_job_history(group_one->rival->session, "/job", PDK_FOREVER, &runs); }

static pdk_job_state state_of_the_newest(void) {
    ck_assert_int_eq(deed(read_runs), PDK_OK);
    pdk_job_state state = pdk_job_runs_run(runs, 0)->state;
    pdk_job_runs_free(g_steal_pointer(&runs));
    return state;
}

START_TEST(a_run_that_gave_up_has_died) {
    deeds_begin();
    group_call(group_two, run_in, NULL);
    platform_pass(SECOND);
    ck_assert_int_eq(state_of_the_newest(), PDK_JOB_RUNNING);
    group_call(group_two, stop_in, NULL);
    platform_pass(SECOND);
    ck_assert_int_eq(state_of_the_newest(), PDK_JOB_DIED);
    deeds_end();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_words");
    TCase *cases = tcase_create("driver_words");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_loop_test(cases, why_something_is_over, 0, G_N_ELEMENTS(words));
    tcase_add_loop_test(cases, who_is_ahead_of_a_try, 0, 2);
    tcase_add_loop_test(cases, why_a_wait_is_over, 0, 2);
    tcase_add_test(cases, holds_that_end_with_their_session_say_so);
    tcase_add_test(cases, a_record_that_is_anothers_is_overdue);
    tcase_add_test(cases, holds_of_one_grant_are_lost_for_one_reason);
    tcase_add_loop_test(cases, why_a_record_is_waited_for_no_longer, 0, 2);
    tcase_add_test(cases, a_run_that_gave_up_has_died);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

/* Directed scenarios of the driver in simulated time: the recipes' own parts. */
#include "platform_bench.h"
#include "session/session.h"

#include <string.h>

/* ---- an object that is dropped with claims */

static struct {
    pdk_lock *lock;
    pdk_rwlock *rwlock;
    pdk_semaphore *semaphore;
    pdk_election *election;
} objects;

static GString *answers; /* "PDK_OK PDK_CANCELED" */

static void on_answer(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    g_string_append_printf(answers, "%s%s", answers->len == 0 ? "" : " ", pdk_status_name(status));
    pdk_hold_unref(hold);
}

static void make_objects(void *subject, void *what) {
    pdk_session *s = ((struct rival *)subject)->session;
    (void)what;
    ck_assert_int_eq(pdk_lock_new(s, "/locks/one", NULL, &objects.lock), PDK_OK);
    ck_assert_int_eq(pdk_rwlock_new(s, "/locks/one", NULL, &objects.rwlock), PDK_OK);
    ck_assert_int_eq(pdk_semaphore_new(s, "/sem", 1, NULL, &objects.semaphore), PDK_OK);
}

static void claim_all(void *subject, void *what) {
    (void)subject;
    (void)what;
    ck_assert_int_eq(pdk_lock_acquire_async(objects.lock, PDK_FOREVER, on_answer, NULL, NULL), PDK_OK);
    ck_assert_int_eq(pdk_rwlock_acquire_read_async(objects.rwlock, PDK_FOREVER, on_answer, NULL, NULL), PDK_OK);
    ck_assert_int_eq(pdk_rwlock_acquire_write_async(objects.rwlock, PDK_FOREVER, on_answer, NULL, NULL), PDK_OK);
}

static void drop_all(void *subject, void *what) {
    (void)subject;
    (void)what;
    pdk_lock_unref(g_steal_pointer(&objects.lock));
    pdk_rwlock_unref(g_steal_pointer(&objects.rwlock));
    pdk_semaphore_unref(g_steal_pointer(&objects.semaphore));
}

/* Somebody else holds. */
START_TEST(the_claims_of_an_object_that_is_dropped_are_cancelled) {
    answers = g_string_new(NULL);
    rival_open(first);
    rival_open(second);
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    sim_call_in(&second->process, make_objects, second, NULL);
    sim_call_in(&second->process, claim_all, second, NULL);
    platform_pass(SECOND);
    ck_assert_str_eq(answers->str, "");
    ck_assert_uint_eq(platform_contenders(), 4);
    sim_call_in(&second->process, drop_all, second, NULL);
    platform_pass(SECOND);
    ck_assert_str_eq(answers->str, "PDK_CANCELED PDK_CANCELED PDK_CANCELED");
    ck_assert_uint_eq(platform_contenders(), 1);
    ck_assert(rival_is_valid(first));
    g_string_free(answers, TRUE);
}
END_TEST

/* ---- why a claim failed, in words */

static char text[256];

static void note_text(pdk_status status, pdk_hold *hold, void *user) {
    struct rival *r = user;
    ck_assert_ptr_null(hold);
    r->status = status;
    r->answers++;
    g_strlcpy(text, pdk_last_error(), sizeof text);
}

static void claim_in(void *subject, void *what) {
    struct rival *r = subject;
    ck_assert_int_eq(pdk_lock_acquire_async(r->lock, *(const int64_t *)what, note_text, r, NULL), PDK_OK);
}

START_TEST(a_refusal_is_told_with_the_code) {
    const int64_t forever = PDK_FOREVER, soon = 500;
    rival_open(first);
    rival_open(second);
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    sim_call_in(&second->process, claim_in, second, (void *)&soon);
    platform_pass(SECOND);
    ck_assert_int_eq(second->status, PDK_TIMEOUT);
    ck_assert_msg(strstr(text, "/app/locks/one: the deadline passed while in line") != NULL, "%s", text);
    ck_assert(sim_admin_set(platform_ensemble, "/app/locks/one", SIM_SET_ACL, SIM_NO_CREATE));
    platform_pass(SECOND);
    sim_call_in(&second->process, claim_in, second, (void *)&forever);
    platform_pass(SECOND);
    ck_assert_int_eq(second->status, PDK_NO_PERMISSION);
    ck_assert_msg(strstr(text, "ZNOAUTH") != NULL, "%s", text);
}
END_TEST

/* ---- an election */

static GString *seen, *told; /* by the observer; by the candidate */

static void on_leader(const char *identity, int64_t token, void *user) {
    (void)user;
    ck_assert((token == 0) == !identity);
    g_string_append(seen, token ? "leader " : "nobody ");
}

static void on_elected(pdk_hold *hold, void *user) {
    (void)user;
    g_string_append(told, pdk_hold_is_valid(hold) ? "elected " : "too late ");
}

static void on_deposed(pdk_reason reason, void *user) {
    (void)user;
    g_string_append_printf(told, "deposed:%s ", pdk_reason_name(reason));
}

static pdk_observer *observer;

static void observe_in(void *subject, void *what) {
    (void)what;
    ck_assert_int_eq(pdk_election_new(((struct rival *)subject)->session, "/lead", NULL, &objects.election), PDK_OK);
    ck_assert_int_eq(pdk_election_observe(objects.election, on_leader, NULL, NULL, &observer), PDK_OK);
}

static void join_in(void *subject, void *what) {
    pdk_election_callbacks calls = PDK_ELECTION_CALLBACKS_INIT;
    (void)subject;
    (void)what;
    calls.elected = on_elected;
    calls.deposed = on_deposed;
    ck_assert_int_eq(pdk_election_join(objects.election, &calls), PDK_OK);
}

static void leave_in(void *subject, void *what) {
    (void)subject;
    (void)what;
    ck_assert_int_eq(pdk_election_leave(objects.election), PDK_OK);
}

static void end_election_in(void *subject, void *what) {
    (void)subject;
    (void)what;
    pdk_observer_close(g_steal_pointer(&observer));
    pdk_election_unref(g_steal_pointer(&objects.election));
}

static void election_begin(void) {
    seen = g_string_new(NULL);
    told = g_string_new(NULL);
    rival_open(first);
    platform_pass(SECOND);
    sim_call_in(&first->process, observe_in, first, NULL);
    platform_pass(SECOND);
    ck_assert_str_eq(seen->str, "nobody ");
}

static void election_end(void) {
    sim_call_in(&first->process, leave_in, first, NULL);
    platform_pass(2 * SECOND);
    sim_call_in(&first->process, end_election_in, first, NULL);
    platform_pass(SECOND);
    ck_assert(g_str_has_suffix(seen->str, "leader nobody "));
    ck_assert(g_str_has_suffix(told->str, "elected deposed:NONE "));
    g_string_free(seen, TRUE);
    g_string_free(told, TRUE);
}

START_TEST(an_election_of_one_is_told) {
    election_begin();
    sim_call_in(&first->process, join_in, first, NULL);
    platform_pass(2 * SECOND);
    ck_assert_str_eq(seen->str, "nobody leader ");
    ck_assert_str_eq(told->str, "elected ");
    platform_block(first, true);
    platform_pass(2 * TIMEOUT);
    platform_block(first, false);
    platform_pass(2 * TIMEOUT);
    ck_assert_str_eq(seen->str, "nobody leader leader "); /* another token */
    ck_assert_str_eq(told->str, "elected deposed:LEASE elected ");
    election_end();
}
END_TEST

/* The directory cannot be watched before it exists. Its own process knows when the first leader is elected. */
START_TEST(the_first_leader_of_a_directory_is_heard_of_at_once) {
    election_begin();
    sim_call_in(&first->process, join_in, first, NULL);
    while (told->len == 0)
        platform_pass(SIM_MS);
    platform_pass(50 * SIM_MS);
    ck_assert_str_eq(told->str, "elected ");
    ck_assert_str_eq(seen->str, "nobody leader ");
    election_end();
}
END_TEST

/* Whatever request of it cannot be sent for a while. */
START_TEST(an_observer_goes_on_when_it_could_not_ask) {
    static const enum pdk__op_kind kinds[] = {PDK__OP_LIST, PDK__OP_WATCH, PDK__OP_GET};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        platform_end();
        platform_begin(7);
        election_begin();
        platform_refuse(kinds[i], 3);
        sim_call_in(&first->process, join_in, first, NULL);
        platform_pass(2 * SECOND);
        ck_assert_str_eq(seen->str, "nobody leader ");
        ck_assert_str_eq(told->str, "elected ");
        election_end();
    }
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_recipes");
    TCase *cases = tcase_create("driver_recipes");
    tcase_add_checked_fixture(cases, platform_setup, platform_teardown);
    tcase_add_test(cases, the_claims_of_an_object_that_is_dropped_are_cancelled);
    tcase_add_test(cases, a_refusal_is_told_with_the_code);
    tcase_add_test(cases, an_election_of_one_is_told);
    tcase_add_test(cases, the_first_leader_of_a_directory_is_heard_of_at_once);
    tcase_add_test(cases, an_observer_goes_on_when_it_could_not_ask);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

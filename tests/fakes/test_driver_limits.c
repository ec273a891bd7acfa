/* A hold that ends by itself ends so long after a request was sent, not after its answer: at the first time, and at each renewal. */
#include "deeds.h"
#include "session/session.h"
#include "sim_thread.h"

#include <string.h>

enum { HELD_BACK_MS = 250 };

static int64_t sent_at;

static void note_and_hold_back(void) {
    sent_at = platform_agenda.now;
    deed_hold_answers_back();
}

/* The next write of the record is carried out at once, and its answer comes late. */
static void hold_back_the_next(void) {
    group_arm(PDK__OP_SET, "/record");
    group_fault.act = note_and_hold_back;
    sent_at = 0;
}

static void let_it_come(void) {
    group_step_until_seen();
    platform_pass(HELD_BACK_MS * SIM_MS);
    deed_let_answers_come();
}

/* No renewal is sent any more. When the hold ends. */
static int64_t end_without_renewals(void) {
    group_arm(PDK__OP_SET, "/record");
    group_fault.refuse = INT32_MAX;
    for (int64_t until = platform_agenda.now + 5 * SECOND; deed_is_valid(); platform_pass(SIM_MS))
        ck_assert_int_lt(platform_agenda.now, until);
    return platform_agenda.now;
}

/* The end of the record, by a clock that is 1/16 fast, and 50 ms. */
static int64_t lease_end(void) { return sent_at + (DEED_LEASE_MS - DEED_LEASE_MS / 16 - 50) * SIM_MS; }

START_TEST(a_lease_lock_lasts_from_the_sending) {
    deeds_begin();
    hold_back_the_next();
    deed_start(deed_lease);
    let_it_come();
    deed_await();
    ck_assert_int_eq(deeds.status, PDK_OK);
    ck_assert_int_le(end_without_renewals(), lease_end() + SIM_MS);
    ck_assert_int_eq(deed_reason(), PDK_REASON_OVERDUE);
    deeds_end();
}
END_TEST

/* _i renewals are answered at once. */
START_TEST(a_renewal_lasts_from_the_sending) {
    deeds_begin();
    ck_assert_int_eq(deed(deed_lease), PDK_OK);
    for (int i = 0; i < _i; i++) {
        group_arm(PDK__OP_SET, "/record");
        group_step_until_seen();
    }
    hold_back_the_next();
    let_it_come();
    ck_assert(deed_is_valid());
    platform_pass(50 * SIM_MS);
    int64_t end = end_without_renewals();
    ck_assert_int_le(end, lease_end() + SIM_MS);
    ck_assert_int_ge(end, lease_end() - 2 * SIM_MS); /* the answer did prolong it */
    deeds_end();
}
END_TEST

START_TEST(a_run_lasts_from_the_sending) {
    deeds_begin();
    hold_back_the_next();
    deed_start(deed_job);
    let_it_come();
    deed_await();
    ck_assert_int_eq(deeds.status, PDK_OK);
    ck_assert_int_le(end_without_renewals(), sent_at + DEED_AT_MOST_MS * SIM_MS + SIM_MS);
    ck_assert_int_eq(deed_reason(), PDK_REASON_OVERDUE);
    deeds_end();
}
END_TEST

/* ---- a wait counts from its call */

enum { WAIT_MS = 4000, HAND_OVER_MS = 500, HELD_MS = 200 };

static pdk_status take_in_time(void) { return pdk_lock_acquire(driver_users[0].lock, WAIT_MS, &deeds.hold); }

/* Its grant lapses before it is received. It stands behind the next one then, who keeps the lock. */
START_TEST(a_claim_that_comes_back_waits_no_longer) {
    deeds_begin();
    int64_t begun = platform_agenda.now;
    const uint64_t *granted = &group_one->rival->session->stats.counts.claims_granted;
    deed_start(take_in_time);
    while (*granted == 0)
        group_step();
    sim_process_pause(&group_one->rival->process, true);
    driver_want_lock(&driver_users[1]);
    platform_pass(1700 * SIM_MS);
    sim_process_pause(&group_one->rival->process, false);
    deed_await();
    ck_assert_uint_eq(driver_users[1].granted, 1);
    ck_assert_str_eq(pdk_status_name(deeds.status), "PDK_TIMEOUT");
    ck_assert_int_le(platform_agenda.now, begun + (WAIT_MS + 10) * SIM_MS);
    deeds_end();
}
END_TEST

static struct {
    pdk_lock *lock;
    pdk_hold *hold;
    int64_t token, first_at;
    uint32_t granted;
} turns;

static void on_turn(pdk_status status, pdk_hold *hold, void *unused) {
    (void)unused;
    ck_assert_int_eq(status, PDK_OK);
    if (turns.token == 0) {
        turns.token = pdk_hold_token(hold);
        turns.first_at = platform_agenda.now;
    }
    turns.hold = hold;
    turns.granted++;
}

static void make_turns_in(void *rival, void *unused) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    (void)unused;
    memset(&turns, 0, sizeof turns);
    options.max_handovers = 1000;
    options.max_handover_ms = HAND_OVER_MS;
    ck_assert_int_eq(pdk_lock_new(((struct rival *)rival)->session, "/turns", &options, &turns.lock), PDK_OK);
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(pdk_lock_acquire_async(turns.lock, PDK_FOREVER, on_turn, NULL, NULL), PDK_OK);
}

static void next_turn_in(void *rival, void *unused) {
    (void)rival;
    (void)unused;
    pdk_hold_release(g_steal_pointer(&turns.hold));
}

static void drop_turns_in(void *rival, void *unused) {
    (void)rival;
    (void)unused;
    pdk_hold_unref(g_steal_pointer(&turns.hold));
    pdk_lock_unref(turns.lock);
}

/* Threads hand the lock over for so long after the first of them had it, whatever each of them takes. */
START_TEST(hand_overs_last_from_the_first_grant) {
    deeds_begin();
    group_call(group_one, make_turns_in, NULL);
    while (!turns.hold || pdk_hold_token(turns.hold) == turns.token) {
        platform_pass(HELD_MS * SIM_MS);
        ck_assert_uint_lt(turns.granted, 10);
        if (turns.hold && pdk_hold_token(turns.hold) == turns.token)
            group_call(group_one, next_turn_in, NULL);
        platform_pass(50 * SIM_MS);
    }
    ck_assert_int_ge(platform_agenda.now, turns.first_at + HAND_OVER_MS * SIM_MS);
    ck_assert_int_le(platform_agenda.now, turns.first_at + 2 * HAND_OVER_MS * SIM_MS);
    while (turns.granted < 20) {
        group_call(group_one, next_turn_in, NULL);
        platform_pass(100 * SIM_MS);
    }
    group_call(group_one, drop_turns_in, NULL);
    deeds_end();
}
END_TEST

/* ---- an ask of a job counts from its call, too */

static pdk_lock *others;
static pdk_hold *theirs;

static void on_theirs(pdk_status status, pdk_hold *hold, void *unused) {
    (void)unused;
    ck_assert_int_eq(status, PDK_OK);
    theirs = hold;
}

static void take_the_lock_of_the_job_in(void *rival, void *unused) {
    (void)unused;
    ck_assert_int_eq(pdk_lock_new(((struct rival *)rival)->session, "/job/lock", NULL, &others), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire_async(others, PDK_FOREVER, on_theirs, NULL, NULL), PDK_OK);
}

static void give_it_back_in(void *rival, void *unused) {
    (void)rival;
    (void)unused;
    pdk_hold_release(g_steal_pointer(&theirs));
    pdk_lock_unref(g_steal_pointer(&others));
}

static int64_t ask_ms;

static pdk_status ask_for_a_while(void) { return pdk_job_acquire(deeds.job, ask_ms, &deeds.hold, NULL); }

/* Others only ask, for as long as they like. */
START_TEST(an_ask_lasts_as_long_as_it_may) {
    static const int64_t asks_ms[] = {0, 700, 20000}; /* less than a request may take, and more */
    deeds_begin();
    group_call(group_two, take_the_lock_of_the_job_in, NULL);
    platform_pass(SECOND);
    ck_assert_ptr_nonnull(theirs);
    ask_ms = asks_ms[_i];
    group_arm(PDK__OP_SYNC, "/job/lock");
    int64_t begun = platform_agenda.now;
    ck_assert_str_eq(pdk_status_name(deed(ask_for_a_while)), "PDK_BUSY");
    ck_assert_int_ge(platform_agenda.now, begun + ask_ms * SIM_MS);
    ck_assert_int_le(platform_agenda.now, begun + (ask_ms + 200) * SIM_MS);
    ck_assert_int_le(group_fault.seen, ask_ms / 50 + 2); /* between two tries it pauses */
    group_call(group_two, give_it_back_in, NULL);
    deeds_end();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_limits");
    TCase *cases = tcase_create("driver_limits");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_test(cases, a_lease_lock_lasts_from_the_sending);
    tcase_add_loop_test(cases, a_renewal_lasts_from_the_sending, 0, 3);
    tcase_add_test(cases, a_run_lasts_from_the_sending);
    tcase_add_test(cases, a_claim_that_comes_back_waits_no_longer);
    tcase_add_test(cases, hand_overs_last_from_the_first_grant);
    tcase_add_loop_test(cases, an_ask_lasts_as_long_as_it_may, 0, 3);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

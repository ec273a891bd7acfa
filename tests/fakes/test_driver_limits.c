/* A hold that ends by itself ends so long after a request was sent, not after its answer: at the first time, and at each renewal. */
#include "driver_bench.h"
#include "session/session.h"

#include <string.h>

enum { HELD_BACK_MS = 250 };

static int64_t sent_at;

static void note_and_hold_back(void) {
    sent_at = platform_agenda.now;
    driver_hold_answers_back();
}

/* The next write of the record is carried out at once, and its answer comes late. */
static void hold_back_the_next(void) {
    driver_arm(PDK__OP_SET, "/record");
    fault.act = note_and_hold_back;
    sent_at = 0;
}

static void let_it_come(void) {
    driver_step_until_seen();
    platform_pass(HELD_BACK_MS * SIM_MS);
    driver_let_answers_come();
}

/* No renewal is sent any more. When the hold ends. */
static int64_t end_without_renewals(void) {
    driver_arm(PDK__OP_SET, "/record");
    fault.refuse = INT32_MAX;
    for (int64_t until = platform_agenda.now + 5 * SECOND; pdk_hold_is_valid(deeds.hold); platform_pass(SIM_MS))
        ck_assert_int_lt(platform_agenda.now, until);
    ck_assert_int_eq(pdk_hold_reason(deeds.hold), PDK_REASON_OVERDUE);
    return platform_agenda.now;
}

/* The end of the record, by a clock that is 1/16 fast, and 50 ms; and of a run. */
enum { LEASE_ENDS_MS = DEED_LEASE_MS - DEED_LEASE_MS / 16 - 50, RUN_ENDS_MS = DEED_AT_MOST_MS };

START_TEST(it_lasts_from_the_sending) {
    static const struct {
        pdk_status (*acquire)(void);
        int64_t ends_ms;
    } all[] = {{deed_lease, LEASE_ENDS_MS}, {deed_job, RUN_ENDS_MS}};
    deeds_begin();
    hold_back_the_next();
    deed_start(all[_i].acquire);
    let_it_come();
    deed_await();
    ck_assert_int_eq(deeds.status, PDK_OK);
    ck_assert_int_le(end_without_renewals(), sent_at + (all[_i].ends_ms + 1) * SIM_MS);
    deeds_end();
}
END_TEST

/* _i renewals are answered at once. */
START_TEST(a_renewal_lasts_from_the_sending) {
    deeds_begin();
    ck_assert_int_eq(deed(deed_lease), PDK_OK);
    for (int i = 0; i < _i; i++) {
        driver_arm(PDK__OP_SET, "/record");
        driver_step_until_seen();
    }
    hold_back_the_next();
    let_it_come();
    ck_assert(pdk_hold_is_valid(deeds.hold));
    platform_pass(50 * SIM_MS);
    int64_t end = end_without_renewals();
    ck_assert_int_le(end, sent_at + (LEASE_ENDS_MS + 1) * SIM_MS);
    ck_assert_int_ge(end, sent_at + (LEASE_ENDS_MS - 2) * SIM_MS); /* the answer did prolong it */
    deeds_end();
}
END_TEST

/* ---- a wait counts from its call */

enum { WAIT_MS = 4000, HAND_OVER_MS = 500, HELD_MS = 200, TURNS = 20 };

static pdk_status take_in_time(void) { return pdk_lock_acquire(one->lock, WAIT_MS, &deeds.hold); }

/* Its grant lapses before it is received. It stands behind the next one then, who keeps the lock. */
START_TEST(a_claim_that_comes_back_waits_no_longer) {
    deeds_begin();
    int64_t begun = platform_agenda.now;
    deed_start(take_in_time);
    while (first->session->stats.counts.claims_granted == 0)
        platform_step();
    driver_want_lock(two);
    driver_hold_up(1700 * SIM_MS);
    deed_await();
    ck_assert_uint_eq(two->granted, 1);
    ck_assert_str_eq(pdk_status_name(deeds.status), "PDK_TIMEOUT");
    ck_assert_int_le(platform_agenda.now, begun + (WAIT_MS + 10) * SIM_MS);
    deeds_end();
}
END_TEST

/* Threads hand the lock over for so long after the first of them had it, whatever each of them takes. */
START_TEST(hand_overs_last_from_the_first_grant) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    struct answer turn = {0};
    pdk_lock *lock;
    driver_begin();
    options.max_handovers = 1000;
    options.max_handover_ms = HAND_OVER_MS;
    ck_assert_int_eq(pdk_lock_new(first->session, "/turns", &options, &lock), PDK_OK);
    for (int i = 0; i < TURNS; i++)
        ck_assert_int_eq(pdk_lock_acquire_async(lock, PDK_FOREVER, answered, &turn, NULL), PDK_OK);
    while (!turn.hold)
        platform_pass(SIM_MS);
    int64_t token = pdk_hold_token(turn.hold), first_at = platform_agenda.now;
    while (!turn.hold || pdk_hold_token(turn.hold) == token) {
        platform_pass(HELD_MS * SIM_MS);
        ck_assert_uint_lt(turn.granted, TURNS / 2);
        if (turn.hold && pdk_hold_token(turn.hold) == token)
            answer_release(&turn);
        platform_pass(50 * SIM_MS);
    }
    ck_assert_int_ge(platform_agenda.now, first_at + HAND_OVER_MS * SIM_MS);
    ck_assert_int_le(platform_agenda.now, first_at + 2 * HAND_OVER_MS * SIM_MS);
    for (; turn.granted < TURNS; platform_pass(100 * SIM_MS))
        answer_release(&turn);
    answer_release(&turn);
    pdk_lock_unref(lock);
}
END_TEST

/* ---- an ask of a job counts from its call, too */

static int64_t ask_ms;

static pdk_status ask_for_a_while(void) { return pdk_job_acquire(deeds.job, ask_ms, &deeds.hold, NULL); }

/* Others only ask, for as long as they like. */
START_TEST(an_ask_lasts_as_long_as_it_may) {
    static const int64_t asks_ms[] = {0, 700, 20000}; /* less than a request may take, and more */
    struct answer theirs = {0};
    pdk_lock *lock;
    deeds_begin();
    ck_assert_int_eq(pdk_lock_new(second->session, "/job/lock", NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire_async(lock, PDK_FOREVER, answered, &theirs, NULL), PDK_OK);
    platform_pass(SECOND);
    ck_assert_ptr_nonnull(theirs.hold);
    ask_ms = asks_ms[_i];
    driver_arm(PDK__OP_SYNC, "/job/lock");
    int64_t begun = platform_agenda.now;
    ck_assert_str_eq(pdk_status_name(deed(ask_for_a_while)), "PDK_BUSY");
    ck_assert_int_ge(platform_agenda.now, begun + ask_ms * SIM_MS);
    ck_assert_int_le(platform_agenda.now, begun + (ask_ms + 200) * SIM_MS);
    ck_assert_int_le(fault.seen, ask_ms / 50 + 2); /* between two tries it pauses */
    answer_release(&theirs);
    pdk_lock_unref(lock);
    deeds_end();
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_limits");
    TCase *cases = tcase_create("driver_limits");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_loop_test(cases, it_lasts_from_the_sending, 0, 2);
    tcase_add_loop_test(cases, a_renewal_lasts_from_the_sending, 0, 3);
    tcase_add_test(cases, a_claim_that_comes_back_waits_no_longer);
    tcase_add_test(cases, hand_overs_last_from_the_first_grant);
    tcase_add_loop_test(cases, an_ask_lasts_as_long_as_it_may, 0, 3);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}

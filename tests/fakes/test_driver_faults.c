/* Requests that go wrong: the production driver in simulated time, every recipe at once. Whatever happens to the requests of one
 * process, every claim is answered, and nothing is left. */
#include "driver_bench.h"
#include "session/session.h"
#include "sim_client.h"

#include <string.h>

/* The request of the first process that is not sent; 0: none. And how many there were. */
static uint32_t number, refused;

static bool refuses(const struct pdk__request *request) {
    (void)request;
    refused += driver_requests == number;
    return driver_requests == number;
}

static void begin(void) {
    driver_begin();
    number = 0;
    driver_refuses = refuses;
}

static void want_all(void) {
    driver_want_all(one);
    driver_want_all(two);
}

/* The next request is answered so. */
static void answer(int32_t code) {
    sim_answer_next(platform_ensemble, sim_client_session(&first->process), code, false);
}

/* All leave in the end: there is no node of anybody, and none comes back. */
static void check_nothing_is_left(void) {
    driver_pass_and_release(SECOND);
    driver_leave(one);
    driver_leave(two);
    driver_pass_and_release(3 * SECOND);
    ck_assert_uint_eq(driver_nodes(), 0);
    ck_assert_uint_eq(one->answered, one->wanted);
    ck_assert_uint_eq(two->answered, two->wanted);
}

/* The client library may refuse any request, as when its queue is full. Tries are of one permit, and may find none free; all others are
 * granted, and both have led. */
START_TEST(any_one_request_may_be_refused) {
    refused = 0;
    for (uint32_t nth = 1; nth < 130; nth++) {
        begin();
        number = driver_requests + nth;
        want_all();
        driver_pass_and_release(4 * SECOND);
        ck_assert_uint_ge(one->granted, one->wanted - 1);
        ck_assert_uint_ge(two->granted, two->wanted - 1);
        ck_assert_uint_eq(one->candidacy_failed + two->candidacy_failed, 0);
        ck_assert_uint_eq(one->elected + two->elected, 1);
        ck_assert_str_eq(one->leader, one->elected ? "first" : "second");
        ck_assert_str_eq(two->leader, one->leader);
        check_nothing_is_left();
    }
    ck_assert_uint_ge(refused, 60);
}
END_TEST

static void lose(void) { answer(LOST_CODE); }
static void refuse(void) { answer(BAD_ARGUMENTS_CODE); }
static void forbid(void) { answer(NOT_ALLOWED_CODE); }
static void have(void) { answer(NODE_EXISTS_CODE); }
static void put_off(void) { answer(NOT_NOW_CODE); }

/* What was granted is given back, what failed has left no node. No server says of a node of ours that it is not there. */
START_TEST(any_request_may_be_answered_with_any_code) {
    static void (*const happens[])(void) = {lose, refuse, forbid, have, put_off};
    for (int64_t after = 0; after < 240; after++) {
        begin();
        want_all();
        platform_pass(after * SIM_MS / 4);
        happens[_i]();
        driver_pass_and_release(4 * SECOND);
        check_nothing_is_left();
    }
}
END_TEST

/* Its process gives back all that it has, as an answer comes. */
START_TEST(a_process_may_leave_as_it_is_refused) {
    static void (*const happens[])(void) = {lose, refuse, forbid};
    for (int64_t after = 0; after < 240; after++) {
        begin();
        want_all();
        platform_pass(after * SIM_MS / 8);
        happens[_i]();
        platform_pass(after % 8 * SIM_MS / 4);
        driver_give_back(one);
        driver_pass_and_release(8 * SECOND);
        ck_assert_uint_eq(one->answered, one->wanted);
        ck_assert_uint_eq(two->answered, two->wanted);
        driver_leave(two);
        driver_pass_and_release(SECOND);
        ck_assert_uint_eq(driver_nodes(), 0);
    }
}
END_TEST

/* ---- a waiter asks after its predecessor now and then */

static void wait_behind_the_other(int64_t after) {
    begin();
    driver_want_lock(two);
    platform_pass(SECOND / 2);
    driver_want_lock(one);
    platform_pass(TIMEOUT - 20 * SIM_MS);
    ck_assert_uint_eq(one->answered, 0);
    platform_pass(after);
}

static void check_the_waiter_is_served(void) {
    platform_pass(SECOND);
    driver_release_all(two);
    driver_pass_and_release(3 * SECOND);
    ck_assert_uint_eq(one->granted + one->failed, 1);
    check_nothing_is_left();
}

static void lack(void) { answer(NO_NODE_CODE); }

START_TEST(the_answer_to_a_waiter_may_be_any) {
    static void (*const happens[])(void) = {lose, refuse, lack, forbid, put_off};
    for (int64_t after = 0; after < 120; after++) {
        wait_behind_the_other(after * SIM_MS / 2);
        happens[_i]();
        check_the_waiter_is_served();
    }
}
END_TEST

START_TEST(a_waiter_may_leave_as_it_asks) {
    for (int64_t after = 0; after < 120; after++) {
        wait_behind_the_other(after * SIM_MS / 2);
        if (after % 2 == 1) { /* it may not ask, either */
            forbid();
            platform_pass(after % 8 * SIM_MS / 8);
        }
        driver_drop_lock(one);
        check_the_waiter_is_served();
        ck_assert_int_eq(one->status, PDK_CANCELED);
    }
}
END_TEST

/* It may not read the node ahead, and lists now and then. The time for that comes while it is cut off, and while it leaves. */
START_TEST(a_waiter_that_may_not_watch_may_be_cut_off_or_leave) {
    for (int64_t after = 0; after < 80; after++) {
        begin();
        driver_want_lock(two);
        platform_pass(SECOND / 2);
        driver_want_lock(one);
        platform_pass(after * SIM_MS / 8);
        forbid();
        platform_pass(20 * SIM_MS);
        if (after % 4 > 0)
            sim_client_cut(&first->process);
        if (after % 4 > 1)
            platform_pass(after * SIM_MS / 4);
        platform_block(first, after % 4 != 1);
        if (after % 2 == 0)
            driver_drop_lock(one);
        else if (after % 8 == 5)
            driver_release_all(two); /* it is granted before that time */
        platform_pass(TIMEOUT / 2);
        platform_block(first, false);
        check_the_waiter_is_served();
    }
}
END_TEST

START_TEST(a_waiters_question_may_be_refused) {
    wait_behind_the_other(0);
    driver_arm(PDK__OP_BARRIER, "/");
    fault.refuse = INT32_MAX;
    platform_pass(SECOND);
    ck_assert_uint_ge(fault.seen, 1);
    fault.refuse = 0;
    check_the_waiter_is_served();
}
END_TEST

/* ---- an observer, where nobody is any more: neither the directory nor anybody in it need be watched */

static struct {
    const char *heard;
    pdk_observer *observer;
} it;

static void observed(const char *identity, int64_t token, void *user) {
    (void)token;
    (void)user;
    it.heard = identity ? "somebody" : "nobody";
}

static void make_office(void) {
    begin();
    driver_join(two);
    platform_pass(SECOND);
    driver_leave(two);
    platform_pass(SECOND);
}

static void observe(void) {
    it.heard = "nothing";
    ck_assert_int_eq(pdk_election_observe(one->election, observed, NULL, NULL, &it.observer), PDK_OK);
}

static void stop(void) {
    pdk_observer_close(it.observer);
    check_nothing_is_left();
}

static void assert_heard(const char *what) {
    platform_pass(3 * SECOND);
    ck_assert_str_eq(it.heard, what);
}

START_TEST(an_observer_without_a_watch_hears_of_nobody_and_of_the_next) {
    make_office();
    driver_fill_watches(one, PDK__WATCHED_BYTES_MAX);
    observe();
    assert_heard("nobody");
    driver_join(two);
    assert_heard("somebody");
    driver_leave(two);
    assert_heard("nobody");
    driver_join(one);
    assert_heard("somebody");
    ck_assert_uint_eq(one->elected, 1);
    ck_assert_str_eq(one->leader, "first");
    stop();
}
END_TEST

/* It lists twice, the second time with a watch. A request is refused, or answered with the code. */
static void observe_from_the_beginning(uint32_t nth, int64_t after, void (*happens)(void)) {
    make_office();
    number = nth ? driver_requests + nth : 0;
    observe();
    platform_pass(after);
    happens();
    assert_heard("nobody");
    driver_join(two);
    platform_pass(after);
    happens();
    assert_heard("somebody");
    stop();
}

static void nothing(void) {}

START_TEST(an_observer_hears_in_the_end_whatever_is_refused) {
    for (uint32_t nth = 1; nth < 10; nth++)
        observe_from_the_beginning(nth, 0, nothing);
    for (int64_t after = 0; after < 160; after++) {
        observe_from_the_beginning(0, after * SIM_MS / 8, lose);
        observe_from_the_beginning(0, after * SIM_MS / 8, put_off);
    }
}
END_TEST

/* Who is first for the permits has to watch the leases, and cannot. */
START_TEST(a_claim_of_permits_without_a_watch_is_refused) {
    begin();
    driver_want_permits(two, 2, PDK_FOREVER);
    platform_pass(SECOND);
    ck_assert_uint_eq(two->granted, 1);
    driver_fill_watches(one, PDK__WATCHED_BYTES_MAX);
    driver_want_permits(one, 1, PDK_FOREVER);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->failed, 1);
    ck_assert_int_eq(one->status, PDK_LIMIT);
    driver_release_all(two);
    platform_pass(SECOND);
    driver_want_permits(one, 1, PDK_FOREVER); /* it need not wait */
    platform_pass(SECOND);
    ck_assert_uint_eq(one->granted, 1);
    check_nothing_is_left();
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_faults");
    TCase *cases = tcase_create("driver_faults");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_test(cases, any_one_request_may_be_refused);
    tcase_add_loop_test(cases, any_request_may_be_answered_with_any_code, 0, 5);
    tcase_add_loop_test(cases, a_process_may_leave_as_it_is_refused, 0, 3);
    tcase_add_loop_test(cases, the_answer_to_a_waiter_may_be_any, 0, 5);
    tcase_add_test(cases, a_waiter_may_leave_as_it_asks);
    tcase_add_test(cases, a_waiter_that_may_not_watch_may_be_cut_off_or_leave);
    tcase_add_test(cases, a_waiters_question_may_be_refused);
    tcase_add_test(cases, an_observer_without_a_watch_hears_of_nobody_and_of_the_next);
    tcase_add_test(cases, an_observer_hears_in_the_end_whatever_is_refused);
    tcase_add_test(cases, a_claim_of_permits_without_a_watch_is_refused);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}

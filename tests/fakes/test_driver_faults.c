/* Requests that go wrong: the production driver in simulated time, every recipe at once. Whatever happens to the requests of one
 * process, every claim is answered, and nothing is left. */
#include "driver_bench.h"
#include "session/session.h"
#include "sim_client.h"

#include <string.h>

static struct driver_user *const one = &driver_users[0], *const two = &driver_users[1];

static struct {
    uint32_t number;        /* this request of the first process alone; 0: see kind */
    enum pdk__op_kind kind; /* all of this kind until then */
    int64_t until;
    uint32_t refused;
} fault;

static bool refuses(const struct pdk__request *request) {
    bool refused = fault.number ? driver_requests == fault.number
                                : request->kind == fault.kind && platform_agenda.now < fault.until;
    fault.refused += refused;
    return refused;
}

static void begin(void) {
    driver_begin();
    memset(&fault, 0, sizeof fault);
    driver_refuses = refuses;
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

/* Tries are of one permit, and may find none free; all others are granted, and both have led. */
static void check_all_are_served(void) {
    driver_pass_and_release(4 * SECOND);
    ck_assert_uint_eq(one->answered, one->wanted);
    ck_assert_uint_eq(two->answered, two->wanted);
    ck_assert_uint_ge(one->granted, one->wanted - 1);
    ck_assert_uint_ge(two->granted, two->wanted - 1);
    ck_assert_uint_eq(one->candidacy_failed + two->candidacy_failed, 0);
    ck_assert_uint_eq(one->elected + two->elected, 1);
    ck_assert_str_eq(one->leader, one->elected ? "first" : "second");
    ck_assert_str_eq(two->leader, one->leader);
    check_nothing_is_left();
}

static void want_all_of_both(void) {
    driver_want_all(one);
    driver_want_all(two);
}

START_TEST(all_are_served_without_a_fault) {
    begin();
    want_all_of_both();
    check_all_are_served();
    ck_assert_uint_eq(fault.refused, 0);
}
END_TEST

/* The client library may refuse any request, as when its queue is full. */
START_TEST(any_one_request_may_be_refused) {
    uint32_t refused = 0;
    for (uint32_t number = 1; number < 130; number++) {
        begin();
        fault.number = driver_requests + number;
        want_all_of_both();
        check_all_are_served();
        refused += fault.refused;
    }
    ck_assert_uint_ge(refused, 60);
}
END_TEST

START_TEST(all_of_a_kind_may_be_refused_for_long) {
    static const int64_t lasting[] = {30 * SIM_MS, 700 * SIM_MS, 3 * SECOND};
    for (enum pdk__op_kind kind = PDK__OP_CREATE; kind <= PDK__OP_SET; kind++)
        for (size_t i = 0; i < G_N_ELEMENTS(lasting); i++)
            for (int64_t after = 0; after <= 10; after += 5) {
                begin();
                want_all_of_both();
                platform_pass(after * SIM_MS);
                fault.kind = kind;
                fault.until = platform_agenda.now + lasting[i];
                driver_pass_and_release(lasting[i] + SECOND);
                check_nothing_is_left();
            }
}
END_TEST

/* What was granted is given back, what failed has left no node. No server says of a node of ours that it is not there. */
START_TEST(any_request_may_be_answered_with_any_code) {
    static const int32_t codes[] = {-4, -8, -102, -110, -127};
    for (size_t i = 0; i < G_N_ELEMENTS(codes); i++)
        for (int64_t after = 0; after < 240; after++) {
            begin();
            want_all_of_both();
            platform_pass(after * SIM_MS / 4);
            sim_answer_next(platform_ensemble, sim_client_session(&one->rival->process), codes[i], false);
            driver_pass_and_release(4 * SECOND);
            check_nothing_is_left();
        }
}
END_TEST

/* The server ends the session: all that was in flight is answered by nobody. */
START_TEST(the_session_may_expire_at_any_moment) {
    for (int64_t after = 0; after < 240; after++) {
        begin();
        want_all_of_both();
        platform_pass(after * SIM_MS / 4);
        ck_assert(sim_admin_expire(platform_ensemble, sim_client_session(&one->rival->process)));
        driver_pass_and_release(4 * SECOND);
        check_nothing_is_left();
    }
}
END_TEST

START_TEST(the_connection_may_break_at_any_moment) {
    for (int64_t after = 0; after < 240; after++) {
        begin();
        want_all_of_both();
        platform_pass(after * SIM_MS / 4);
        sim_client_cut(&one->rival->process);
        driver_pass_and_release(4 * SECOND);
        check_nothing_is_left();
    }
}
END_TEST

/* Its process gives back all that it has, as an answer comes. */
START_TEST(a_process_may_leave_as_it_is_refused) {
    static const int32_t codes[] = {-4, -8, -102};
    for (size_t i = 0; i < G_N_ELEMENTS(codes); i++)
        for (int64_t after = 0; after < 240; after++) {
            begin();
            want_all_of_both();
            platform_pass(after * SIM_MS / 8);
            sim_answer_next(platform_ensemble, sim_client_session(&one->rival->process), codes[i], false);
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

static void wait_behind_the_other(void) {
    begin();
    driver_want_lock(two);
    platform_pass(SECOND / 2);
    driver_want_lock(one);
    platform_pass(TIMEOUT - 20 * SIM_MS);
    ck_assert_uint_eq(one->answered, 0);
}

static void check_the_waiter_is_served(void) {
    platform_pass(SECOND);
    driver_release_all(two);
    driver_pass_and_release(3 * SECOND);
    ck_assert_uint_eq(one->granted + one->failed, 1);
    check_nothing_is_left();
}

START_TEST(the_answer_to_a_waiter_may_be_any) {
    static const int32_t codes[] = {-4, -8, -101, -102, -127};
    for (size_t i = 0; i < G_N_ELEMENTS(codes); i++)
        for (int64_t after = 0; after < 120; after++) {
            wait_behind_the_other();
            platform_pass(after * SIM_MS / 2);
            sim_answer_next(platform_ensemble, sim_client_session(&one->rival->process), codes[i], false);
            check_the_waiter_is_served();
        }
}
END_TEST

START_TEST(a_waiter_may_leave_or_expire_as_it_asks) {
    for (int64_t after = 0; after < 120; after++) {
        wait_behind_the_other();
        platform_pass(after * SIM_MS / 2);
        sim_admin_expire(platform_ensemble, sim_client_session(&one->rival->process));
        check_the_waiter_is_served();
        wait_behind_the_other();
        platform_pass(after * SIM_MS / 2);
        if (after % 2 == 1) { /* it may not ask, either */
            sim_answer_next(platform_ensemble, sim_client_session(&one->rival->process), -102, false);
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
        sim_answer_next(platform_ensemble, sim_client_session(&one->rival->process), -102, false);
        platform_pass(20 * SIM_MS);
        if (after % 4 > 0)
            sim_client_cut(&one->rival->process);
        if (after % 4 > 1)
            platform_pass(after * SIM_MS / 4);
        platform_block(one->rival, after % 4 != 1);
        if (after % 2 == 0)
            driver_drop_lock(one);
        else if (after % 8 == 5)
            driver_release_all(two); /* it is granted before that time */
        platform_pass(TIMEOUT / 2);
        platform_block(one->rival, false);
        check_the_waiter_is_served();
    }
}
END_TEST

START_TEST(a_waiters_question_may_be_refused) {
    wait_behind_the_other();
    fault.kind = PDK__OP_BARRIER;
    fault.until = platform_agenda.now + SECOND;
    platform_pass(SECOND);
    ck_assert_uint_ge(fault.refused, 1);
    check_the_waiter_is_served();
}
END_TEST

/* ---- no room for another watch */

static void fill_watches(void *subject, void *what) {
    pdk_session *s = ((struct driver_user *)subject)->rival->session;
    (void)what;
    pdk__lock(s);
    s->watched_bytes = PDK__WATCHED_BYTES_MAX;
    pdk__unlock(s);
}

static void fill(struct driver_user *u) { sim_call_in(&u->rival->process, fill_watches, u, NULL); }

START_TEST(an_observer_without_a_watch_asks) {
    begin();
    fill(one);
    driver_join(one);
    platform_pass(3 * SECOND);
    ck_assert_uint_eq(one->elected, 1);
    ck_assert_str_eq(one->leader, "first");
    driver_join(two);
    platform_pass(SECOND);
    driver_leave(one);
    platform_pass(SECOND);
    ck_assert_str_eq(two->leader, "second");
    ck_assert_uint_eq(two->elected, 1);
    check_nothing_is_left();
}
END_TEST

static void observed(const char *identity, int64_t token, void *user) {
    (void)token;
    *(const char **)user = identity ? "somebody" : "nobody";
}

struct observing {
    struct driver_user *u;
    const char *heard;
    pdk_observer *observer;
};

static void observe_in(void *subject, void *what) {
    struct observing *o = subject;
    (void)what;
    ck_assert_int_eq(pdk_election_observe(o->u->election, observed, &o->heard, NULL, &o->observer), PDK_OK);
}

static void stop_in(void *subject, void *what) {
    (void)what;
    pdk_observer_close(((struct observing *)subject)->observer);
}

/* The directory is there, and empty: neither it nor anybody in it can be watched. */
START_TEST(an_observer_without_a_watch_hears_of_nobody_and_of_the_next) {
    struct observing o = {.u = one};
    begin();
    driver_join(two);
    platform_pass(SECOND);
    driver_leave(two);
    platform_pass(SECOND / 2);
    fill(one);
    sim_call_in(&one->rival->process, observe_in, &o, NULL);
    platform_pass(2 * SECOND);
    ck_assert_str_eq(o.heard, "nobody");
    driver_join(two);
    platform_pass(3 * SECOND);
    ck_assert_str_eq(o.heard, "somebody");
    driver_leave(two);
    platform_pass(3 * SECOND);
    ck_assert_str_eq(o.heard, "nobody");
    sim_call_in(&one->rival->process, stop_in, &o, NULL);
    check_nothing_is_left();
}
END_TEST

/* Nobody is there at first: it lists twice, the second time with a watch. */
static void observe_from_the_beginning(struct observing *o, uint32_t refused, int64_t after, int32_t code) {
    o->heard = "nothing";
    begin();
    driver_join(two);
    platform_pass(SECOND);
    driver_leave(two);
    platform_pass(SECOND);
    fault.number = refused ? driver_requests + refused : 0;
    sim_call_in(&one->rival->process, observe_in, o, NULL);
    platform_pass(after);
    if (code != 0)
        sim_answer_next(platform_ensemble, sim_client_session(&one->rival->process), code, false);
    platform_pass(3 * SECOND);
    ck_assert_str_eq(o->heard, "nobody");
    driver_join(two);
    platform_pass(after);
    if (code != 0)
        sim_answer_next(platform_ensemble, sim_client_session(&one->rival->process), code, false);
    platform_pass(3 * SECOND);
    ck_assert_str_eq(o->heard, "somebody");
    sim_call_in(&one->rival->process, stop_in, o, NULL);
    check_nothing_is_left();
}

START_TEST(an_observer_hears_in_the_end_whatever_is_refused) {
    static const int32_t codes[] = {-4, -127};
    struct observing o = {.u = one};
    for (uint32_t refused = 1; refused < 10; refused++)
        observe_from_the_beginning(&o, refused, 0, 0);
    for (size_t i = 0; i < G_N_ELEMENTS(codes); i++)
        for (int64_t after = 0; after < 160; after++)
            observe_from_the_beginning(&o, 0, after * SIM_MS / 8, codes[i]);
}
END_TEST

/* Who is first for the permits has to watch the leases, and cannot. */
START_TEST(a_claim_of_permits_without_a_watch_is_refused) {
    begin();
    driver_want_permits(two, 2, PDK_FOREVER);
    platform_pass(SECOND);
    ck_assert_uint_eq(two->granted, 1);
    fill(one);
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

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_faults");
    TCase *cases = tcase_create("driver_faults");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_test(cases, all_are_served_without_a_fault);
    tcase_add_test(cases, any_one_request_may_be_refused);
    tcase_add_test(cases, all_of_a_kind_may_be_refused_for_long);
    tcase_add_test(cases, any_request_may_be_answered_with_any_code);
    tcase_add_test(cases, the_session_may_expire_at_any_moment);
    tcase_add_test(cases, the_connection_may_break_at_any_moment);
    tcase_add_test(cases, a_process_may_leave_as_it_is_refused);
    tcase_add_test(cases, the_answer_to_a_waiter_may_be_any);
    tcase_add_test(cases, a_waiter_may_leave_or_expire_as_it_asks);
    tcase_add_test(cases, a_waiter_that_may_not_watch_may_be_cut_off_or_leave);
    tcase_add_test(cases, a_waiters_question_may_be_refused);
    tcase_add_test(cases, an_observer_without_a_watch_asks);
    tcase_add_test(cases, an_observer_without_a_watch_hears_of_nobody_and_of_the_next);
    tcase_add_test(cases, an_observer_hears_in_the_end_whatever_is_refused);
    tcase_add_test(cases, a_claim_of_permits_without_a_watch_is_refused);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

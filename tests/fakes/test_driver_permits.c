/* The directory of the leases cannot be made, or goes: what a claim for permits does about it. And their order. */
#include "driver_bench.h"
#include "grant/claim.h"
#include "session/session.h"

#include <string.h>

#define LEASES "/app/locks/permits/leases"

static void want_one(void) {
    driver_want_permits(one, 1, PDK_FOREVER);
    platform_pass(SECOND);
}

static void check_granted(void) {
    ck_assert_uint_eq(one->granted, 1);
    driver_release_all(one);
    platform_pass(SECOND);
    ck_assert_uint_eq(driver_nodes(), 0);
}

/* It is refused once, or is not sent a few times. */
START_TEST(a_directory_that_is_refused) {
    static const struct {
        int32_t code, refuse;
        pdk_status status;
    } refusals[] = {{BAD_ARGUMENTS_CODE, 0, PDK_UNSUPPORTED}, {NOT_ALLOWED_CODE, 0, PDK_NO_PERMISSION}, {0, 3, PDK_OK}};
    driver_begin();
    driver_arm(PDK__OP_MKDIR, "/leases");
    fault.code = refusals[_i].code;
    fault.refuse = refusals[_i].refuse;
    want_one();
    ck_assert_uint_ge(fault.seen, 1);
    ck_assert_uint_eq(one->failed, refusals[_i].status != PDK_OK);
    ck_assert_int_eq(one->status, refusals[_i].status);
    if (one->failed)
        want_one();
    check_granted();
}
END_TEST

START_TEST(a_refusal_that_comes_too_late_is_nobodys) {
    driver_begin();
    driver_spoil(PDK__OP_MKDIR, "/leases", BAD_ARGUMENTS_CODE, false);
    driver_want_permits(one, 1, PDK_FOREVER);
    driver_step_until_seen();
    pdk_semaphore_unref(g_steal_pointer(&one->semaphore));
    platform_pass(SECOND);
    ck_assert_uint_eq(one->answered, 1);
    ck_assert_int_eq(one->status, PDK_CANCELED);
    ck_assert_uint_eq(driver_nodes(), 0);
}
END_TEST

static void delete_leases(void) { platform_admin(SIM_OP_DELETE, LEASES); }

START_TEST(a_directory_that_goes_is_made_again) {
    driver_begin();
    want_one();
    check_granted();
    driver_arm(PDK__OP_CREATE, "/leases");
    fault.act = delete_leases;
    one->granted = 0;
    want_one();
    platform_pass(SECOND);
    ck_assert_uint_ge(fault.seen, 2); /* the create of one lease, twice */
    check_granted();
}
END_TEST

static void refuse_the_next(void) { fault.refuse = INT32_MAX; }

/* An administrator deletes the first of two while the second cannot be made. Both are taken anew. */
START_TEST(a_lease_that_goes_while_others_are_taken_is_taken_again) {
    driver_begin();
    driver_arm(PDK__OP_CREATE, "/leases");
    fault.act = refuse_the_next;
    driver_want_permits(one, 2, PDK_FOREVER);
    platform_pass(SECOND);
    ck_assert_uint_eq(platform_children(LEASES), 1);
    ck_assert_uint_eq(one->answered, 0);
    platform_admin(SIM_OP_DELETE, platform_child(LEASES, 0));
    platform_pass(SECOND);
    fault.refuse = 0;
    platform_pass(2 * SECOND);
    check_granted();
}
END_TEST

/* ---- the order of the claims */

static int order[2], permits_granted;

static void on_permit(pdk_status status, pdk_hold *hold, void *user) {
    ck_assert_int_eq(status, PDK_OK);
    ck_assert_int_lt(permits_granted, 2);
    order[permits_granted++] = *(int *)user;
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}

/* The process sleeps between the grant and the callback, while the next claim is being admitted already. */
START_TEST(a_claim_whose_grant_lapsed_is_admitted_before_those_behind_it) {
    int numbers[2] = {0, 1};
    pdk_claim *claims[2];
    driver_begin();
    permits_granted = 0;
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(
            pdk_semaphore_acquire_async(one->semaphore, 1, PDK_FOREVER, on_permit, &numbers[i], &claims[i]), PDK_OK);
    while (claims[0]->state != PDK__CLAIM_DECIDED)
        platform_step();
    ck_assert_int_eq(claims[1]->state, PDK__CLAIM_QUEUED);
    sim_process_pause(&first->process, true);
    while (sim_process_clock(&first->process) < first->session->lease.end)
        platform_pass(SECOND / 100);
    sim_process_pause(&first->process, false);
    platform_pass(4 * TIMEOUT);
    ck_assert_int_eq(permits_granted, 2);
    ck_assert_int_eq(order[0], 0);
    pdk_claim_unref(claims[0]);
    pdk_claim_unref(claims[1]);
    ck_assert_uint_eq(driver_nodes(), 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_permits");
    TCase *cases = tcase_create("driver_permits");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_loop_test(cases, a_directory_that_is_refused, 0, 3);
    tcase_add_test(cases, a_refusal_that_comes_too_late_is_nobodys);
    tcase_add_test(cases, a_directory_that_goes_is_made_again);
    tcase_add_test(cases, a_lease_that_goes_while_others_are_taken_is_taken_again);
    tcase_add_test(cases, a_claim_whose_grant_lapsed_is_admitted_before_those_behind_it);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}

/* The directory of the leases cannot be made, or goes: what a claim for permits does about it. And their order. */
#include "driver_bench.h"
#include "grant/claim.h"
#include "sim_client.h"

#include <string.h>

static struct driver_user *const one = &driver_users[0];

static struct {
    enum pdk__op_kind kind; /* the next requests of this kind about the leases */
    int32_t refuse;         /* so many are not sent */
    int32_t code;           /* one is answered with it */
    uint32_t after;         /* none is sent after so many; 0: all are */
    bool delete;            /* the directory goes before one is carried out */
    uint32_t seen;
} leases;

static bool refuses(const struct pdk__request *request) {
    if (request->kind != leases.kind || !strstr(request->path, "/leases"))
        return false;
    leases.seen++;
    if (leases.code != 0)
        sim_answer_next(platform_ensemble, sim_client_session(&one->rival->process), leases.code, false);
    if (leases.delete) {
        const struct sim_packet packet = {
            .kind = SIM_REQUEST, .op = SIM_OP_DELETE, .path = "/app/locks/permits/leases"};
        ck_assert(sim_admin(platform_ensemble, &packet));
    }
    leases.code = 0;
    leases.delete = false;
    if (leases.after > 0 && leases.seen > leases.after)
        return true;
    return leases.refuse > 0 && leases.refuse-- > 0;
}

static void begin(enum pdk__op_kind kind) {
    driver_begin();
    memset(&leases, 0, sizeof leases);
    leases.kind = kind;
    driver_refuses = refuses;
}

static void check_granted(void) {
    ck_assert_uint_eq(one->granted, 1);
    driver_release_all(one);
    platform_pass(SECOND);
    ck_assert_uint_eq(driver_nodes(), 0);
}

START_TEST(a_server_that_refuses_the_directory_fails_the_claim) {
    static const struct {
        int32_t code;
        pdk_status status;
    } refusals[] = {{-8, PDK_UNSUPPORTED}, {-102, PDK_NO_PERMISSION}};
    for (size_t i = 0; i < G_N_ELEMENTS(refusals); i++) {
        begin(PDK__OP_MKDIR);
        leases.code = refusals[i].code;
        driver_want_permits(one, 1, PDK_FOREVER);
        platform_pass(SECOND);
        ck_assert_uint_ge(leases.seen, 1);
        ck_assert_uint_eq(one->failed, 1);
        ck_assert_int_eq(one->status, refusals[i].status);
        driver_want_permits(one, 1, PDK_FOREVER);
        platform_pass(SECOND);
        check_granted();
    }
}
END_TEST

static void drop_semaphore_in(void *subject, void *what) {
    (void)what;
    pdk_semaphore_unref(g_steal_pointer(&((struct driver_user *)subject)->semaphore));
}

START_TEST(a_refusal_that_comes_too_late_is_nobodys) {
    begin(PDK__OP_MKDIR);
    leases.code = -8;
    driver_want_permits(one, 1, PDK_FOREVER);
    while (leases.seen == 0)
        ck_assert(sim_step(&platform_agenda, INT64_MAX - 1));
    sim_call_in(&one->rival->process, drop_semaphore_in, one, NULL);
    platform_pass(SECOND);
    ck_assert_uint_eq(one->answered, 1);
    ck_assert_int_eq(one->status, PDK_CANCELED);
    ck_assert_uint_eq(driver_nodes(), 0);
}
END_TEST

START_TEST(a_directory_that_cannot_be_asked_for_is_asked_for_later) {
    begin(PDK__OP_MKDIR);
    leases.refuse = 3;
    driver_want_permits(one, 1, PDK_FOREVER);
    platform_pass(SECOND);
    ck_assert_int_eq(leases.refuse, 0);
    check_granted();
}
END_TEST

START_TEST(a_directory_that_goes_is_made_again) {
    begin(PDK__OP_MKDIR);
    driver_want_permits(one, 1, PDK_FOREVER);
    platform_pass(SECOND);
    ck_assert_uint_eq(leases.seen, 1);
    driver_release_all(one);
    platform_pass(SECOND);
    leases.kind = PDK__OP_CREATE;
    leases.delete = true;
    one->granted = 0;
    driver_want_permits(one, 1, PDK_FOREVER);
    platform_pass(2 * SECOND);
    ck_assert(!leases.delete);
    ck_assert_uint_ge(leases.seen, 3); /* the create of one lease, twice */
    check_granted();
}
END_TEST

/* An administrator deletes the first of two while the second cannot be made. Both are taken anew. */
START_TEST(a_lease_that_goes_while_others_are_taken_is_taken_again) {
    const char *dir = "/app/locks/permits/leases";
    size_t count = 0;
    begin(PDK__OP_CREATE);
    leases.after = 1;
    driver_want_permits(one, 2, PDK_FOREVER);
    platform_pass(SECOND);
    const char *const *names = sim_tree_children(sim_truth(platform_ensemble), dir, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(one->answered, 0);
    char *node = g_strdup_printf("%s/%s", dir, names[0]);
    const struct sim_packet packet = {
        .kind = SIM_REQUEST, .op = SIM_OP_DELETE, .path = sim_text(&platform_agenda, node)};
    g_free(node);
    ck_assert(sim_admin(platform_ensemble, &packet));
    platform_pass(SECOND);
    leases.after = 0;
    platform_pass(2 * SECOND);
    check_granted();
}
END_TEST

/* ---- the order of the claims */

static struct {
    pdk_claim *claims[2];
    int32_t order[2], granted;
} line;

static void on_permit(pdk_status status, pdk_hold *hold, void *user) {
    ck_assert_int_eq(status, PDK_OK);
    ck_assert_int_lt(line.granted, 2);
    line.order[line.granted++] = GPOINTER_TO_INT(user);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}

static void claim_in(void *subject, void *what) {
    (void)what;
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pdk_semaphore_acquire_async(((struct driver_user *)subject)->semaphore, 1, PDK_FOREVER,
                                                     on_permit, GINT_TO_POINTER(i), &line.claims[i]),
                         PDK_OK);
}

static void drop_claims_in(void *subject, void *what) {
    (void)subject;
    (void)what;
    for (int i = 0; i < 2; i++)
        pdk_claim_unref(g_steal_pointer(&line.claims[i]));
}

/* The process sleeps between the grant and the callback, while the next claim is being admitted already. */
START_TEST(a_claim_whose_grant_lapsed_is_admitted_before_those_behind_it) {
    driver_begin();
    memset(&line, 0, sizeof line);
    sim_call_in(&one->rival->process, claim_in, one, NULL);
    while (line.claims[0]->state != PDK__CLAIM_DECIDED)
        ck_assert(sim_step(&platform_agenda, INT64_MAX - 1));
    ck_assert_int_eq(line.claims[1]->state, PDK__CLAIM_QUEUED);
    sim_process_pause(&one->rival->process, true);
    while (sim_process_clock(&one->rival->process) < one->rival->session->lease.end)
        platform_pass(SECOND / 100);
    sim_process_pause(&one->rival->process, false);
    platform_pass(4 * TIMEOUT);
    ck_assert_int_eq(line.granted, 2);
    ck_assert_int_eq(line.order[0], 0);
    sim_call_in(&one->rival->process, drop_claims_in, one, NULL);
    platform_pass(SECOND);
    ck_assert_uint_eq(driver_nodes(), 0);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_permits");
    TCase *cases = tcase_create("driver_permits");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_test(cases, a_server_that_refuses_the_directory_fails_the_claim);
    tcase_add_test(cases, a_refusal_that_comes_too_late_is_nobodys);
    tcase_add_test(cases, a_directory_that_cannot_be_asked_for_is_asked_for_later);
    tcase_add_test(cases, a_directory_that_goes_is_made_again);
    tcase_add_test(cases, a_lease_that_goes_while_others_are_taken_is_taken_again);
    tcase_add_test(cases, a_claim_whose_grant_lapsed_is_admitted_before_those_behind_it);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

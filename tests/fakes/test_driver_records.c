/* The persistent nodes beside a lock, in simulated time: the delay, the number of stripes, the record of a lease lock and of a job. One
 * request about them is not sent, is answered with a code, or its answer is lost, carried out or not. */
#include "driver_bench.h"

#include <paddock/striped.h>
#include <string.h>

static pdk_lock *delayed;
static pdk_striped *striped;
static pdk_job_runs *runs;

static pdk_status take_delayed(void) { return pdk_lock_acquire(delayed, 20000, &deeds.hold); }
static pdk_status take_any(void) { return pdk_striped_acquire_any(striped, 20000, &deeds.hold); }
static pdk_status finish_job(void) { return pdk_job_finish(deeds.job, deeds.hold, 7, 20000); }
static pdk_status read_runs(void) { return pdk_job_history(first->session, "/job", 20000, &runs); }

static const struct recipe {
    const char *name;
    pdk_status (*take)(void);
    const char *queue; /* where no node is left */
} delay = {"delay", take_delayed, "/app/delayed"}, stripes = {"stripes", take_any, "/app/stripes/any"},
  lease = {"lease lock", deed_lease, "/app/leased/lock"}, job = {"job", deed_job, "/app/job/lock"};

#define GET(what) PDK__OP_GET, what
#define MAKE(what) PDK__OP_MKDIR, what
#define SET(what) PDK__OP_SET, what
#define LOOK(what) PDK__OP_WATCH, what
#define STAT(what) PDK__OP_STAT, what

static const struct wrong {
    const struct recipe *recipe;
    enum pdk__op_kind kind;
    const char *part;
    int32_t code; /* 0: it is not sent */
    bool executed;
    pdk_status status;
} wrongs[] = {
    {&delay, GET("d/delay"), 0, false, PDK_OK},
    {&delay, GET("d/delay"), LOST_CODE, false, PDK_OK},
    {&delay, GET("d/delay"), NOT_NOW_CODE, false, PDK_OK},
    {&delay, GET("d/delay"), NOT_ALLOWED_CODE, false, PDK_NO_PERMISSION},
    {&delay, GET("d/delay"), QUOTA_CODE, false, PDK_UNSUPPORTED},
    {&delay, MAKE("/pledge-"), 0, false, PDK_OK},
    {&delay, MAKE("/pledge-"), LOST_CODE, true, PDK_OK},
    {&delay, MAKE("/pledge-"), LOST_CODE, false, PDK_OK},
    {&delay, MAKE("/pledge-"), NODE_EXISTS_CODE, true, PDK_OK},
    {&delay, MAKE("/pledge-"), NOT_NOW_CODE, false, PDK_OK},
    {&delay, MAKE("/pledge-"), NOT_ALLOWED_CODE, false, PDK_NO_PERMISSION},
    {&delay, MAKE("/pledge-"), QUOTA_CODE, false, PDK_UNSUPPORTED},
    {&delay, MAKE("d/delay"), 0, false, PDK_OK},
    {&delay, MAKE("d/delay"), LOST_CODE, true, PDK_OK},
    {&delay, MAKE("d/delay"), LOST_CODE, false, PDK_OK},
    {&delay, MAKE("d/delay"), NODE_EXISTS_CODE, true, PDK_OK},
    {&delay, MAKE("d/delay"), NOT_ALLOWED_CODE, false, PDK_OK}, /* and allowed the next time */
    {&stripes, LOOK("/stripes"), 0, false, PDK_OK},
    {&stripes, LOOK("/stripes"), LOST_CODE, false, PDK_OK},
    {&stripes, LOOK("/stripes"), NOT_ALLOWED_CODE, false, PDK_NO_PERMISSION},
    {&stripes, LOOK("/stripes"), QUOTA_CODE, false, PDK_UNSUPPORTED},
    {&stripes, MAKE("/stripes"), 0, false, PDK_OK},
    {&stripes, MAKE("/stripes"), LOST_CODE, true, PDK_OK},
    {&stripes, MAKE("/stripes"), LOST_CODE, false, PDK_OK},
    {&stripes, MAKE("/stripes"), NODE_EXISTS_CODE, true, PDK_OK},
    {&stripes, MAKE("/stripes"), NOT_NOW_CODE, false, PDK_OK},
    {&stripes, MAKE("/stripes"), NOT_ALLOWED_CODE, false, PDK_NO_PERMISSION},
    {&stripes, MAKE("/stripes"), QUOTA_CODE, false, PDK_UNSUPPORTED},
    {&stripes, MAKE("/app"), 0, false, PDK_OK},
    {&stripes, MAKE("/app"), LOST_CODE, true, PDK_OK},
    {&stripes, MAKE("/app"), NOT_ALLOWED_CODE, true, PDK_OK}, /* it is there all the same */
    {&lease, GET("/record"), 0, false, PDK_OK},
    {&lease, GET("/record"), LOST_CODE, false, PDK_OK},
    {&lease, GET("/record"), NOT_ALLOWED_CODE, false, PDK_NO_PERMISSION},
    {&lease, MAKE("/record"), 0, false, PDK_OK},
    {&lease, MAKE("/record"), LOST_CODE, true, PDK_OK},
    {&lease, MAKE("/record"), LOST_CODE, false, PDK_OK},
    {&lease, MAKE("/record"), NODE_EXISTS_CODE, true, PDK_OK},
    {&lease, MAKE("/record"), NOT_NOW_CODE, false, PDK_OK},
    {&lease, MAKE("/record"), NOT_ALLOWED_CODE, false, PDK_NO_PERMISSION},
    {&lease, MAKE("/record"), QUOTA_CODE, false, PDK_UNSUPPORTED},
    {&lease, SET("/record"), 0, false, PDK_OK},
    {&lease, SET("/record"), LOST_CODE, true, PDK_OK},
    {&lease, SET("/record"), LOST_CODE, false, PDK_OK},
    {&lease, SET("/record"), NOT_NOW_CODE, false, PDK_OK},
    {&lease, SET("/record"), BAD_VERSION_CODE, false, PDK_OK},
    {&lease, SET("/record"), NOT_ALLOWED_CODE, false, PDK_NO_PERMISSION},
    {&lease, SET("/record"), QUOTA_CODE, false, PDK_UNSUPPORTED},
    {&lease, STAT("-lock-"), LOST_CODE, false, PDK_OK},
    {&lease, STAT("-lock-"), BAD_ARGUMENTS_CODE, false, PDK_OK},
    {&lease, STAT("-lock-"), NO_NODE_CODE, false, PDK_LOST},
    {&job, GET("/record"), LOST_CODE, false, PDK_OK},
    {&job, MAKE("/record"), QUOTA_CODE, false, PDK_UNSUPPORTED},
    {&job, SET("/record"), LOST_CODE, true, PDK_OK},
    {&job, SET("/record"), LOST_CODE, false, PDK_OK},
    {&job, SET("/record"), QUOTA_CODE, false, PDK_UNSUPPORTED},
};

/* An empty node gets a child, and is written over. */
static const struct wrong written_over[] = {{&stripes, SET("/stripes"), 0, false, PDK_OK},
                                            {&stripes, SET("/stripes"), LOST_CODE, true, PDK_OK},
                                            {&stripes, SET("/stripes"), LOST_CODE, false, PDK_OK},
                                            {&stripes, SET("/stripes"), BAD_VERSION_CODE, false, PDK_OK},
                                            {&stripes, SET("/stripes"), NOT_NOW_CODE, false, PDK_OK},
                                            {&stripes, SET("/stripes"), NOT_ALLOWED_CODE, false, PDK_NO_PERMISSION},
                                            {&stripes, SET("/stripes"), QUOTA_CODE, false, PDK_UNSUPPORTED},
                                            {&stripes, MAKE("/number"), 0, false, PDK_OK},
                                            {&stripes, MAKE("/number"), LOST_CODE, true, PDK_OK},
                                            {&stripes, MAKE("/number"), LOST_CODE, false, PDK_OK},
                                            {&stripes, MAKE("/number"), NO_NODE_CODE, false, PDK_OK},
                                            {&stripes, MAKE("/number"), NOT_NOW_CODE, false, PDK_OK},
                                            {&stripes, MAKE("/number"), NOT_ALLOWED_CODE, false, PDK_NO_PERMISSION},
                                            {&stripes, MAKE("/number"), QUOTA_CODE, false, PDK_UNSUPPORTED}};

static bool is_left(const char *queue) {
    for (size_t i = 0; i < platform_children(queue); i++)
        if (strstr(platform_child(queue, i), "/_c_") || strstr(platform_child(queue, i), "/pledge-"))
            return true;
    return false;
}

static void begin(void) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    options.lock_delay_ms = 60000;
    deeds_begin();
    ck_assert_int_eq(pdk_lock_new(first->session, "/delayed", &options, &delayed), PDK_OK);
    ck_assert_int_eq(pdk_striped_new(first->session, "/stripes", 4, NULL, &striped), PDK_OK);
}

static void end(void) {
    pdk_lock_unref(delayed);
    pdk_striped_unref(striped);
    deeds_end();
}

static void finish(const struct recipe *recipe) {
    if (deeds.hold)
        ck_assert_int_eq(pdk_hold_release(g_steal_pointer(&deeds.hold)), PDK_OK);
    platform_pass(2 * SECOND);
    ck_assert_msg(!is_left(recipe->queue), "%s: a node is left", recipe->name);
}

static void take_and_finish(const struct recipe *recipe) {
    ck_assert_str_eq(pdk_status_name(deed(recipe->take)), "PDK_OK");
    finish(recipe);
}

static void goes_wrong(const struct wrong *wrong) {
    driver_spoil(wrong->kind, wrong->part, wrong->code, wrong->executed);
    deed(wrong->recipe->take);
    ck_assert_msg(deeds.status == wrong->status && fault.seen > 0, "%s, request %d, code %d: %s, %u seen",
                  wrong->recipe->name, (int)wrong->kind, wrong->code, pdk_status_name(deeds.status), fault.seen);
    finish(wrong->recipe);
    if (wrong->recipe != &job) /* which has run, or has died */
        take_and_finish(wrong->recipe);
    end();
}

START_TEST(one_request_goes_wrong) {
    begin();
    goes_wrong(&wrongs[_i]);
}
END_TEST

START_TEST(a_number_that_is_written_over) {
    const struct sim_packet above = {.kind = SIM_REQUEST, .op = SIM_OP_CREATE, .path = "/app", .data = ""},
                            packet = {.kind = SIM_REQUEST, .op = SIM_OP_CREATE, .path = "/app/stripes", .data = ""};
    begin();
    ck_assert(sim_admin(platform_ensemble, &above) && sim_admin(platform_ensemble, &packet));
    platform_pass(SECOND);
    goes_wrong(&written_over[_i]);
}
END_TEST

/* A release deletes its pledge and its node. The one request fails and the other passes: neither is left, and the next one is granted
 * at once, not after the delay of a minute. */
START_TEST(a_pledge_is_deleted_with_its_node) {
    static const struct {
        int32_t code; /* 0: it is not sent */
        bool executed;
    } cases[] = {{0, false}, {LOST_CODE, false}, {LOST_CODE, true}, {NOT_NOW_CODE, false}};
    for (int holds_ms = 0; holds_ms <= 1000; holds_ms += 1000) { /* a longer hold hears of the end of its node, too */
        begin();
        ck_assert_int_eq(deed(take_delayed), PDK_OK);
        platform_pass(holds_ms * SIM_MS);
        driver_spoil(PDK__OP_DELETE, _i % 2 ? "/_c_" : "/pledge-", cases[_i / 2].code, cases[_i / 2].executed);
        finish(&delay);
        ck_assert_uint_gt(fault.seen, 0);
        take_and_finish(&delay);
        end();
    }
}
END_TEST

/* An answer that makes no sense does not say that the runner's node is gone. */
START_TEST(a_run_stands_whatever_a_server_answers) {
    static const struct {
        enum pdk__op_kind kind;
        const char *part;
        pdk_status (*call)(void);
    } cases[] = {{GET("/record"), read_runs}, {GET("-lock-"), read_runs}, {STAT("-lock-"), finish_job}};
    begin();
    ck_assert_int_eq(deed(deed_job), PDK_OK);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        driver_spoil(cases[i].kind, cases[i].part, BAD_ARGUMENTS_CODE, false);
        deed(cases[i].call);
        ck_assert_msg(deeds.status == PDK_OK && fault.seen > 0, "%s: %s", cases[i].part, pdk_status_name(deeds.status));
        if (cases[i].call == finish_job)
            break;
        ck_assert_uint_eq(pdk_job_runs_count(runs), 1);
        ck_assert_int_eq(pdk_job_runs_run(runs, 0)->state, PDK_JOB_RUNNING);
        pdk_job_runs_free(runs);
    }
    deeds.hold = NULL;
    end();
}
END_TEST

/* It is confirmed when its run is over already. */
START_TEST(an_outcome_that_is_written_is_told) {
    begin();
    ck_assert_int_eq(deed(deed_job), PDK_OK);
    platform_pass(DEED_AT_MOST_MS / 2 * SIM_MS);
    driver_arm(PDK__OP_SET, "/record");
    fault.act = driver_hold_answers_back;
    deed_start(finish_job);
    driver_step_until_seen();
    platform_pass((DEED_AT_MOST_MS / 2 + 100) * SIM_MS);
    ck_assert(!deeds.over);
    ck_assert(!pdk_hold_is_valid(deeds.hold));
    ck_assert_int_eq(pdk_hold_reason(deeds.hold), PDK_REASON_OVERDUE);
    driver_let_answers_come();
    deed_await();
    ck_assert_str_eq(pdk_status_name(deeds.status), "PDK_OK");
    deeds.hold = NULL;
    ck_assert_int_eq(deed(read_runs), PDK_OK);
    ck_assert_int_eq(pdk_job_runs_run(runs, 0)->state, PDK_JOB_FINISHED);
    ck_assert_int_eq(pdk_job_runs_run(runs, 0)->outcome, 7);
    pdk_job_runs_free(runs);
    end();
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_records");
    TCase *cases = tcase_create("driver_records");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_loop_test(cases, one_request_goes_wrong, 0, G_N_ELEMENTS(wrongs));
    tcase_add_loop_test(cases, a_number_that_is_written_over, 0, G_N_ELEMENTS(written_over));
    tcase_add_loop_test(cases, a_pledge_is_deleted_with_its_node, 0, 8);
    tcase_add_test(cases, a_run_stands_whatever_a_server_answers);
    tcase_add_test(cases, an_outcome_that_is_written_is_told);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}

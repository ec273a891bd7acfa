/* The persistent nodes beside a lock, in simulated time: the delay, the number of stripes, the record of a lease lock and of a job. One
 * request about them is not sent, is answered with a code, or its answer is lost, carried out or not. */
#include "group_bench.h"
#include "sim_thread.h"

#include <paddock/job.h>
#include <paddock/lease_lock.h>
#include <paddock/striped.h>
#include <string.h>

enum { NODE_EXISTS = -110, BAD_VERSION = -103, NOT_EMPTY = -111, QUOTA = -125 };

static struct {
    pdk_lock *lock;
    pdk_striped *striped;
    pdk_lease_lock *lease;
    pdk_job *job;
    pdk_hold *hold;
    pdk_status status;
    bool over;
} it;

/* ---- in its process */

static void on_answer(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    it.status = status;
    it.hold = hold;
    it.over = true;
}

static void ask_lock_in(void *rival, void *user) {
    (void)rival;
    (void)user;
    ck_assert_int_eq(pdk_lock_acquire_async(it.lock, 20000, on_answer, NULL, NULL), PDK_OK);
}

static void ask_striped_in(void *rival, void *user) {
    (void)rival;
    (void)user;
    ck_assert_int_eq(pdk_striped_acquire_any_async(it.striped, 20000, on_answer, NULL, NULL), PDK_OK);
}

static void ask_lease(void *user) {
    pdk_hold *hold = NULL;
    pdk_status status = pdk_lease_lock_acquire(it.lease, 20000, &hold);
    on_answer(status, hold, user);
}

static void ask_job(void *user) {
    pdk_hold *hold = NULL;
    pdk_status status = pdk_job_acquire(it.job, 20000, &hold, NULL);
    on_answer(status, hold, user);
}

static void ask_lease_in(void *rival, void *user) {
    sim_thread_start(&((struct rival *)rival)->process, ask_lease, user);
}

static void ask_job_in(void *rival, void *user) { sim_thread_start(&((struct rival *)rival)->process, ask_job, user); }

static void make_in(void *rival, void *user) {
    pdk_session *s = ((struct rival *)rival)->session;
    pdk_lock_options delayed = PDK_LOCK_OPTIONS_INIT;
    pdk_lease_lock_options lease = PDK_LEASE_LOCK_OPTIONS_INIT;
    (void)user;
    delayed.lock_delay_ms = 60000;
    lease.secret = "the secret of one";
    ck_assert_int_eq(pdk_lock_new(s, "/delayed", &delayed, &it.lock), PDK_OK);
    ck_assert_int_eq(pdk_striped_new(s, "/stripes", 4, NULL, &it.striped), PDK_OK);
    ck_assert_int_eq(pdk_lease_lock_new(s, "/leased", &lease, &it.lease), PDK_OK);
    ck_assert_int_eq(pdk_job_new(s, "/job", NULL, &it.job), PDK_OK);
}

static void release_in(void *rival, void *user) {
    (void)rival;
    (void)user;
    ck_assert_int_eq(pdk_hold_release(g_steal_pointer(&it.hold)), PDK_OK);
}

static void drop_in(void *rival, void *user) {
    (void)rival;
    (void)user;
    pdk_lock_unref(it.lock);
    pdk_striped_unref(it.striped);
    pdk_lease_lock_unref(it.lease);
    pdk_job_unref(it.job);
}

/* ---- from outside */

static const struct recipe {
    const char *name;
    sim_event_fn ask;
    const char *queue; /* where no node is left */
} delay = {"delay", ask_lock_in, "/app/delayed"}, stripes = {"stripes", ask_striped_in, "/app/stripes/any"},
  lease = {"lease lock", ask_lease_in, "/app/leased/lock"}, job = {"job", ask_job_in, "/app/job/lock"};

#define GET(what) PDK__OP_GET, what
#define MAKE(what) PDK__OP_MKDIR, what
#define SET(what) PDK__OP_SET, what
#define LOOK(what) PDK__OP_WATCH, what

static const struct fault {
    const struct recipe *recipe;
    enum pdk__op_kind kind;
    const char *part;
    int32_t code; /* 0: it is not sent */
    bool executed;
    pdk_status status;
} faults[] = {
    {&delay, GET("d/delay"), 0, false, PDK_OK},
    {&delay, GET("d/delay"), GROUP_LOST, false, PDK_OK},
    {&delay, GET("d/delay"), GROUP_NOT_NOW, false, PDK_OK},
    {&delay, GET("d/delay"), GROUP_NOT_ALLOWED, false, PDK_NO_PERMISSION},
    {&delay, GET("d/delay"), QUOTA, false, PDK_UNSUPPORTED},
    {&delay, MAKE("/pledge-"), 0, false, PDK_OK},
    {&delay, MAKE("/pledge-"), GROUP_LOST, true, PDK_OK},
    {&delay, MAKE("/pledge-"), GROUP_LOST, false, PDK_OK},
    {&delay, MAKE("/pledge-"), NODE_EXISTS, true, PDK_OK},
    {&delay, MAKE("/pledge-"), GROUP_NOT_NOW, false, PDK_OK},
    {&delay, MAKE("/pledge-"), GROUP_NOT_ALLOWED, false, PDK_NO_PERMISSION},
    {&delay, MAKE("/pledge-"), QUOTA, false, PDK_UNSUPPORTED},
    {&delay, MAKE("d/delay"), 0, false, PDK_OK},
    {&delay, MAKE("d/delay"), GROUP_LOST, true, PDK_OK},
    {&delay, MAKE("d/delay"), GROUP_LOST, false, PDK_OK},
    {&delay, MAKE("d/delay"), NODE_EXISTS, true, PDK_OK},
    {&delay, MAKE("d/delay"), GROUP_NOT_ALLOWED, false, PDK_OK}, /* and allowed the next time */
    {&stripes, LOOK("/stripes"), 0, false, PDK_OK},
    {&stripes, LOOK("/stripes"), GROUP_LOST, false, PDK_OK},
    {&stripes, LOOK("/stripes"), GROUP_NOT_ALLOWED, false, PDK_NO_PERMISSION},
    {&stripes, LOOK("/stripes"), QUOTA, false, PDK_UNSUPPORTED},
    {&stripes, MAKE("/stripes"), 0, false, PDK_OK},
    {&stripes, MAKE("/stripes"), GROUP_LOST, true, PDK_OK},
    {&stripes, MAKE("/stripes"), GROUP_LOST, false, PDK_OK},
    {&stripes, MAKE("/stripes"), NODE_EXISTS, true, PDK_OK},
    {&stripes, MAKE("/stripes"), GROUP_NOT_NOW, false, PDK_OK},
    {&stripes, MAKE("/stripes"), GROUP_NOT_ALLOWED, false, PDK_NO_PERMISSION},
    {&stripes, MAKE("/stripes"), QUOTA, false, PDK_UNSUPPORTED},
    {&stripes, MAKE("/app"), 0, false, PDK_OK},
    {&stripes, MAKE("/app"), GROUP_LOST, true, PDK_OK},
    {&stripes, MAKE("/app"), GROUP_NOT_ALLOWED, true, PDK_OK}, /* it is there all the same */
    {&lease, GET("/record"), 0, false, PDK_OK},
    {&lease, GET("/record"), GROUP_LOST, false, PDK_OK},
    {&lease, GET("/record"), GROUP_NOT_ALLOWED, false, PDK_NO_PERMISSION},
    {&lease, MAKE("/record"), 0, false, PDK_OK},
    {&lease, MAKE("/record"), GROUP_LOST, true, PDK_OK},
    {&lease, MAKE("/record"), GROUP_LOST, false, PDK_OK},
    {&lease, MAKE("/record"), NODE_EXISTS, true, PDK_OK},
    {&lease, MAKE("/record"), GROUP_NOT_NOW, false, PDK_OK},
    {&lease, MAKE("/record"), GROUP_NOT_ALLOWED, false, PDK_NO_PERMISSION},
    {&lease, MAKE("/record"), QUOTA, false, PDK_UNSUPPORTED},
    {&lease, SET("/record"), 0, false, PDK_OK},
    {&lease, SET("/record"), GROUP_LOST, true, PDK_OK},
    {&lease, SET("/record"), GROUP_LOST, false, PDK_OK},
    {&lease, SET("/record"), GROUP_NOT_NOW, false, PDK_OK},
    {&lease, SET("/record"), BAD_VERSION, false, PDK_OK},
    {&lease, SET("/record"), GROUP_NOT_ALLOWED, false, PDK_NO_PERMISSION},
    {&lease, SET("/record"), QUOTA, false, PDK_UNSUPPORTED},
    {&job, GET("/record"), GROUP_LOST, false, PDK_OK},
    {&job, MAKE("/record"), QUOTA, false, PDK_UNSUPPORTED},
    {&job, SET("/record"), GROUP_LOST, true, PDK_OK},
    {&job, SET("/record"), GROUP_LOST, false, PDK_OK},
    {&job, SET("/record"), QUOTA, false, PDK_UNSUPPORTED},
};

static bool is_left(const char *queue) {
    size_t count = 0;
    if (!sim_tree_find(sim_truth(platform_ensemble), queue))
        return false;
    const char *const *names = sim_tree_children(sim_truth(platform_ensemble), queue, &count);
    for (size_t i = 0; i < count; i++)
        if (g_str_has_prefix(names[i], "_c_") || g_str_has_prefix(names[i], "pledge-"))
            return true;
    return false;
}

static void begin(void) {
    driver_begin();
    memset(&it, 0, sizeof it);
    group_call(group_one, make_in, NULL);
}

/* It is answered, and granted or not. */
static void ask(const struct fault *fault) {
    it.over = false;
    group_call(group_one, fault->recipe->ask, NULL);
    for (int64_t until = platform_agenda.now + 30 * SECOND; !it.over; platform_pass(SIM_MS))
        ck_assert_msg(platform_agenda.now < until, "%s: nobody answers", fault->recipe->name);
}

static void finish(const struct fault *fault) {
    if (it.hold)
        group_call(group_one, release_in, NULL);
    platform_pass(2 * SECOND);
    ck_assert_msg(!is_left(fault->recipe->queue), "%s: a node is left", fault->recipe->name);
}

START_TEST(one_request_goes_wrong) {
    const struct fault *fault = &faults[_i];
    begin();
    group_arm(fault->kind, fault->part);
    group_fault.refuse = fault->code == 0;
    group_fault.code = fault->code;
    group_fault.executed = fault->executed;
    ask(fault);
    ck_assert_msg(it.status == fault->status && group_fault.seen > 0, "%s, request %d, code %d: %s, %u seen",
                  fault->recipe->name, (int)fault->kind, fault->code, pdk_status_name(it.status), group_fault.seen);
    finish(fault);
    if (fault->recipe != &job) { /* which has run, or has died */
        ask(fault);
        ck_assert_str_eq(pdk_status_name(it.status), "PDK_OK");
        finish(fault);
    }
    group_call(group_one, drop_in, NULL);
}
END_TEST

/* A release deletes its pledge and its node. The one request fails and the other passes: neither is left, and the next one is granted
 * at once, not after the delay of a minute. */
START_TEST(a_pledge_is_deleted_with_its_node) {
    static const struct {
        const char *part;
        int32_t code; /* 0: it is not sent */
        bool executed;
    } cases[] = {{"/pledge-", 0, false},
                 {"/pledge-", GROUP_LOST, false},
                 {"/pledge-", GROUP_LOST, true},
                 {"/pledge-", GROUP_NOT_NOW, false},
                 {"/_c_", 0, false},
                 {"/_c_", GROUP_LOST, false},
                 {"/_c_", GROUP_LOST, true},
                 {"/_c_", GROUP_NOT_NOW, false}};
    const struct fault fault = {.recipe = &delay};
    for (int holds_ms = 0; holds_ms <= 1000; holds_ms += 1000) { /* a longer hold hears of the end of its node, too */
        begin();
        ask(&fault);
        ck_assert_str_eq(pdk_status_name(it.status), "PDK_OK");
        platform_pass(holds_ms * SIM_MS);
        group_arm(PDK__OP_DELETE, cases[_i].part);
        group_fault.refuse = cases[_i].code == 0;
        group_fault.code = cases[_i].code;
        group_fault.executed = cases[_i].executed;
        finish(&fault);
        ck_assert_uint_gt(group_fault.seen, 0);
        ask(&fault);
        ck_assert_str_eq(pdk_status_name(it.status), "PDK_OK");
        finish(&fault);
        group_call(group_one, drop_in, NULL);
    }
}
END_TEST

/* ---- an outcome that is confirmed when its run is over already */

enum { AT_MOST_MS = 300, HELD_BACK_MS = 500 };

static pdk_job_runs *runs;

static void block_answers(bool blocked) {
    for (int32_t i = 0; i < PLATFORM_SERVERS; i++)
        sim_net_block(&platform_net, i, group_one->rival->process.host, blocked);
}

static void hold_answers_back(void) { block_answers(true); }

static void make_limited_in(void *rival, void *user) {
    pdk_job_options options = PDK_JOB_OPTIONS_INIT;
    (void)user;
    options.at_most_ms = AT_MOST_MS;
    pdk_job_unref(it.job);
    ck_assert_int_eq(pdk_job_new(((struct rival *)rival)->session, "/job", &options, &it.job), PDK_OK);
}

static void is_overdue_in(void *rival, void *user) {
    (void)rival;
    (void)user;
    ck_assert(!pdk_hold_is_valid(it.hold));
    ck_assert_int_eq(pdk_hold_reason(it.hold), PDK_REASON_OVERDUE);
}

static void finish_job(void *user) {
    (void)user;
    it.status = pdk_job_finish(it.job, it.hold, 7, 20000);
    it.over = true;
}

static void finish_job_in(void *rival, void *user) {
    sim_thread_start(&((struct rival *)rival)->process, finish_job, user);
}

static void read_job(void *user) {
    struct rival *rival = user;
    it.status = pdk_job_history(rival->session, "/job", 20000, &runs);
    it.over = true;
}

static void read_job_in(void *rival, void *user) {
    (void)user;
    sim_thread_start(&((struct rival *)rival)->process, read_job, rival);
}

static void await_over(void) {
    for (int64_t until = platform_agenda.now + 30 * SECOND; !it.over; platform_pass(SIM_MS))
        ck_assert_int_lt(platform_agenda.now, until);
    it.over = false;
}

START_TEST(an_outcome_that_is_written_is_told) {
    const struct fault fault = {.recipe = &job};
    begin();
    group_call(group_one, make_limited_in, NULL);
    ask(&fault);
    ck_assert_int_eq(it.status, PDK_OK);
    group_arm(PDK__OP_SET, "/record");
    group_fault.act = hold_answers_back;
    it.over = false;
    group_call(group_one, finish_job_in, NULL);
    group_step_until_seen();
    platform_pass(HELD_BACK_MS * SIM_MS);
    ck_assert(!it.over);
    group_call(group_one, is_overdue_in, NULL);
    block_answers(false);
    await_over();
    ck_assert_str_eq(pdk_status_name(it.status), "PDK_OK");
    group_call(group_one, read_job_in, NULL);
    await_over();
    ck_assert_int_eq(it.status, PDK_OK);
    ck_assert_int_eq(pdk_job_runs_run(runs, 0)->state, PDK_JOB_FINISHED);
    ck_assert_int_eq(pdk_job_runs_run(runs, 0)->outcome, 7);
    pdk_job_runs_free(runs);
    group_call(group_one, drop_in, NULL);
}
END_TEST

/* An empty node gets a child, and is written over. */
START_TEST(a_number_that_is_written_over) {
    static const struct {
        enum pdk__op_kind kind;
        const char *part;
        int32_t code;
        bool executed;
        pdk_status status;
    } cases[] = {{SET("/stripes"), 0, false, PDK_OK},
                 {SET("/stripes"), GROUP_LOST, true, PDK_OK},
                 {SET("/stripes"), GROUP_LOST, false, PDK_OK},
                 {SET("/stripes"), BAD_VERSION, false, PDK_OK},
                 {SET("/stripes"), GROUP_NOT_NOW, false, PDK_OK},
                 {SET("/stripes"), GROUP_NOT_ALLOWED, false, PDK_NO_PERMISSION},
                 {SET("/stripes"), QUOTA, false, PDK_UNSUPPORTED},
                 {MAKE("/number"), 0, false, PDK_OK},
                 {MAKE("/number"), GROUP_LOST, true, PDK_OK},
                 {MAKE("/number"), GROUP_LOST, false, PDK_OK},
                 {MAKE("/number"), GROUP_NO_NODE, false, PDK_OK},
                 {MAKE("/number"), GROUP_NOT_NOW, false, PDK_OK},
                 {MAKE("/number"), GROUP_NOT_ALLOWED, false, PDK_NO_PERMISSION},
                 {MAKE("/number"), QUOTA, false, PDK_UNSUPPORTED}};
    const struct fault fault = {.recipe = &stripes};
    const struct sim_packet above = {.kind = SIM_REQUEST, .op = SIM_OP_CREATE, .path = "/app", .data = ""},
                            packet = {.kind = SIM_REQUEST, .op = SIM_OP_CREATE, .path = "/app/stripes", .data = ""};
    begin();
    group_arm(cases[_i].kind, cases[_i].part);
    ck_assert(sim_admin(platform_ensemble, &above) && sim_admin(platform_ensemble, &packet));
    platform_pass(SECOND);
    group_fault.refuse = cases[_i].code == 0;
    group_fault.code = cases[_i].code;
    group_fault.executed = cases[_i].executed;
    ask(&fault);
    ck_assert_msg(it.status == cases[_i].status && group_fault.seen > 0, "code %d: %s", cases[_i].code,
                  pdk_status_name(it.status));
    finish(&fault);
    ask(&fault);
    ck_assert_str_eq(pdk_status_name(it.status), "PDK_OK");
    finish(&fault);
    group_call(group_one, drop_in, NULL);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_records");
    TCase *cases = tcase_create("driver_records");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_loop_test(cases, one_request_goes_wrong, 0, G_N_ELEMENTS(faults));
    tcase_add_loop_test(cases, a_pledge_is_deleted_with_its_node, 0, 8);
    tcase_add_test(cases, an_outcome_that_is_written_is_told);
    tcase_add_loop_test(cases, a_number_that_is_written_over, 0, 14);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

/* Evidence that was looked for a moment too early, that does not come, or that is of a session that is gone: it counts for nothing. */
#include "driver_bench.h"
#include "session/session.h"
#include "sim_client.h"
#include "sim_thread.h"

#include <paddock/revoke.h>
#include <string.h>

/* ---- a run that ends between two looks */

static pdk_job *theirs;
static pdk_hold *run;
static pdk_job_runs *runs;
static bool finished;

static pdk_status read_runs(void) { return pdk_job_history(first->session, "/job", 20000, &runs); }

static void run_job(void *unused) {
    (void)unused;
    ck_assert_int_eq(pdk_job_acquire(theirs, 20000, &run, NULL), PDK_OK);
}

static void finish_job(void *unused) {
    (void)unused;
    ck_assert_int_eq(pdk_job_finish(theirs, run, 7, 20000), PDK_OK);
    finished = true;
}

static void hold_requests_back(void) { driver_block_requests(true); }

/* The record was read, and said that it runs; then the outcome is written, and the runner's node goes; then that node is asked for. */
START_TEST(a_run_that_ends_while_it_is_looked_at_did_not_die) {
    deeds_begin();
    finished = false;
    ck_assert_int_eq(pdk_job_new(second->session, "/job", NULL, &theirs), PDK_OK);
    sim_thread_start(&second->process, run_job, NULL);
    platform_pass(SECOND);
    ck_assert_ptr_nonnull(run);
    driver_arm(PDK__OP_GET, "/job/lock/");
    fault.act = hold_requests_back;
    deed_start(read_runs);
    driver_step_until_seen();
    sim_thread_start(&second->process, finish_job, NULL);
    platform_pass(250 * SIM_MS);
    ck_assert(finished);
    driver_block_requests(false);
    deed_await();
    ck_assert_int_eq(deeds.status, PDK_OK);
    ck_assert_int_eq(pdk_job_runs_run(runs, 0)->state, PDK_JOB_FINISHED);
    ck_assert_int_eq(pdk_job_runs_run(runs, 0)->outcome, 7);
    pdk_job_runs_free(runs);
    pdk_job_unref(theirs);
    deeds_end();
}
END_TEST

/* ---- requests about one path that are answered otherwise, or not sent */

static struct {
    const char *part;
    int32_t codes[PDK__OP_SYNC + 1]; /* by kind; 0: as it is */
    enum pdk__op_kind refused;
    int32_t refuse; /* so many */
} answers;

static bool answer_so(const struct pdk__request *request) {
    if (!strstr(request->path, answers.part))
        return false;
    if (answers.codes[request->kind] != 0)
        sim_answer_about(platform_ensemble, sim_client_session(&first->process), request->path,
                         answers.codes[request->kind], false);
    bool refuse = answers.refuse > 0 && request->kind == answers.refused;
    answers.refuse -= refuse;
    return refuse;
}

static void answer(const char *part, enum pdk__op_kind kind, int32_t code) {
    if (driver_refuses != answer_so)
        memset(&answers, 0, sizeof answers);
    answers.part = part;
    answers.codes[kind] = code;
    driver_refuses = answer_so;
    driver_forget_seen();
}

static void refuse(enum pdk__op_kind kind, int32_t times) {
    answer("/", kind, 0);
    answers.refused = kind;
    answers.refuse = times;
}

/* ---- a checker */

static pdk_checker *checker;
static char *sequencer;

static const char *check(void) { return pdk_status_name(pdk_checker_check(checker, sequencer, 0)); }

static const char *checks(void) {
    check();
    platform_pass(100 * SIM_MS);
    return check();
}

/* The second process holds; the first has looked at it, or not. */
static void check_begin(bool looks) {
    driver_begin();
    driver_want_lock(two);
    platform_pass(SECOND);
    sequencer = g_strdup(pdk_hold_sequencer(two->holds[0]));
    ck_assert_int_eq(pdk_checker_new(first->session, NULL, &checker), PDK_OK);
    if (looks)
        ck_assert_str_eq(checks(), "PDK_OK");
}

/* The holder leaves, which is heard. */
static void check_end(void) {
    driver_refuses = NULL;
    ck_assert_str_eq(checks(), "PDK_OK");
    driver_release_all(two);
    platform_pass(SECOND);
    ck_assert_str_eq(check(), "PDK_LOST");
    pdk_checker_unref(checker);
    g_free(sequencer);
}

/* A server that is behind shows what is gone, and does not show what is there. */
START_TEST(a_reading_without_its_barrier_does_not_count) {
    check_begin(false);
    answer("/locks/lock/", PDK__OP_BARRIER, LOST_CODE);
    answer("/locks/lock/", PDK__OP_WATCH, _i ? NO_NODE_CODE : 0);
    ck_assert_str_eq(checks(), "PDK_UNAVAILABLE");
    ck_assert_uint_gt(driver_seen[PDK__OP_WATCH], 0);
    check_end();
}
END_TEST

START_TEST(a_reading_counts_by_its_own_barrier) {
    check_begin(true);
    answer("/locks/lock/", PDK__OP_BARRIER, LOST_CODE);
    platform_admin(SIM_OP_SET, platform_child("/app/locks/lock", 0));
    platform_pass(100 * SIM_MS);
    ck_assert_uint_gt(driver_seen[PDK__OP_WATCH], 0);
    ck_assert_str_eq(checks(), "PDK_UNAVAILABLE");
    check_end();
}
END_TEST

START_TEST(a_question_that_cannot_be_sent_is_sent_later) {
    check_begin(false);
    refuse(_i ? PDK__OP_WATCH : PDK__OP_BARRIER, 3);
    ck_assert_str_eq(check(), "PDK_UNAVAILABLE");
    platform_pass(SECOND);
    ck_assert_int_eq(answers.refuse, 0);
    check_end();
}
END_TEST

/* Once in a session timeout it is read again. A reading that fails takes nothing back: the watch is set. */
START_TEST(a_reading_that_fails_takes_nothing_back) {
    check_begin(true);
    refuse(PDK__OP_WATCH, 50);
    for (int i = 0; i < 30; i++) {
        platform_pass(SECOND / 10);
        ck_assert_str_eq(check(), "PDK_OK");
    }
    ck_assert_uint_gt(driver_seen[PDK__OP_WATCH], 0);
    check_end();
}
END_TEST

/* The session has a lease again before its first reading. */
START_TEST(what_an_earlier_session_has_read_does_not_count) {
    check_begin(true);
    platform_block(first, true);
    platform_pass(3 * TIMEOUT);
    ck_assert_str_eq(check(), "PDK_UNAVAILABLE");
    refuse(PDK__OP_WATCH, INT32_MAX);
    platform_block(first, false);
    platform_pass(2 * TIMEOUT);
    ck_assert_ptr_nonnull(strstr(first->events->str, "reopened"));
    ck_assert_str_eq(check(), "PDK_UNAVAILABLE");
    check_end();
}
END_TEST

START_TEST(a_session_with_too_many_watches) {
    check_begin(false);
    driver_fill_watches(one, PDK__WATCHED_BYTES_MAX);
    ck_assert_str_eq(check(), "PDK_LIMIT");
    driver_fill_watches(one, (size_t)-PDK__WATCHED_BYTES_MAX);
    check_end();
}
END_TEST

/* It goes while the question is under way: also one about a node that is gone. */
START_TEST(a_checker_may_go_before_its_answer) {
    check_begin(false);
    for (int i = 0; i < 2; i++) {
        check();
        pdk_checker_unref(checker);
        platform_pass(SECOND);
        ck_assert_uint_gt(driver_seen[PDK__OP_WATCH], (uint32_t)i);
        ck_assert_int_eq(pdk_checker_new(first->session, NULL, &checker), PDK_OK);
        driver_release_all(two);
    }
    pdk_checker_unref(checker);
    g_free(sequencer);
}
END_TEST

/* ---- a break */

static pdk_status break_it(void) {
    return pdk_session_break(first->session, pdk_hold_node(deeds.hold) + strlen("/app"), pdk_hold_token(deeds.hold),
                             1000, NULL);
}

START_TEST(what_is_read_without_its_sync_is_not_broken) {
    deeds_begin();
    ck_assert_int_eq(deed(deed_lock), PDK_OK);
    answer("/app/one/", PDK__OP_SYNC, LOST_CODE);
    ck_assert_str_eq(pdk_status_name(deed(break_it)), "PDK_UNAVAILABLE");
    ck_assert_uint_eq(driver_seen[PDK__OP_DELETE], 0);
    ck_assert(pdk_hold_is_valid(deeds.hold));
    driver_refuses = NULL;
    ck_assert_int_eq(deed(break_it), PDK_OK);
    deeds_end();
}
END_TEST

/* ---- a create without an answer */

/* It may come yet, until a barrier behind it is answered. */
START_TEST(a_lost_create_is_not_made_again_without_a_barrier) {
    deeds_begin();
    platform_pass(SECOND);
    answer("/", PDK__OP_CREATE, LOST_CODE);
    answer("/", PDK__OP_BARRIER, LOST_CODE);
    deed_start(deed_lock);
    platform_pass(250 * SIM_MS);
    ck_assert(!deeds.over);
    ck_assert_uint_eq(driver_seen[PDK__OP_CREATE], 1);
    driver_refuses = NULL;
    deed_await();
    ck_assert_int_eq(deeds.status, PDK_OK);
    deeds_end();
}
END_TEST

/* ---- a watcher of a group in a new session */

START_TEST(a_view_of_a_new_session_waits_for_its_barrier) {
    group_begin(2);
    group_watch();
    platform_pass(SECOND);
    ck_assert(group.count == 2 && group.exact);
    answer(GROUP_DIR, PDK__OP_BARRIER, LOST_CODE);
    rival_reopen(first);
    group_leave();
    platform_pass(SECOND);
    ck_assert_uint_gt(driver_seen[PDK__OP_LIST], 0);
    ck_assert_uint_eq(group.count, 2);
    driver_refuses = NULL;
    platform_pass(3 * SECOND);
    ck_assert_uint_eq(group.count, 0);
    group_unwatch();
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_evidence");
    TCase *cases = tcase_create("driver_evidence");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_test(cases, a_run_that_ends_while_it_is_looked_at_did_not_die);
    tcase_add_loop_test(cases, a_reading_without_its_barrier_does_not_count, 0, 2);
    tcase_add_test(cases, a_reading_counts_by_its_own_barrier);
    tcase_add_loop_test(cases, a_question_that_cannot_be_sent_is_sent_later, 0, 2);
    tcase_add_test(cases, a_reading_that_fails_takes_nothing_back);
    tcase_add_test(cases, what_an_earlier_session_has_read_does_not_count);
    tcase_add_test(cases, a_session_with_too_many_watches);
    tcase_add_test(cases, a_checker_may_go_before_its_answer);
    tcase_add_test(cases, what_is_read_without_its_sync_is_not_broken);
    tcase_add_test(cases, a_lost_create_is_not_made_again_without_a_barrier);
    tcase_add_test(cases, a_view_of_a_new_session_waits_for_its_barrier);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}

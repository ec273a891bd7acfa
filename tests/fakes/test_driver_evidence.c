/* Evidence that was looked for a moment too early, that does not come, or that is of a session that is gone: it counts for nothing. */
#include "deeds.h"
#include "session/session.h"
#include "sim_thread.h"

#include <paddock/revoke.h>
#include <string.h>

static pdk_status take(void) { return pdk_lock_acquire(deeds.lock, PDK_FOREVER, &deeds.hold); }

/* ---- a run that ends between two looks */

static pdk_job *theirs;
static pdk_hold *run;
static pdk_job_runs *runs;
static bool finished;

static pdk_status read_runs(void) { return pdk_job_history(group_one->rival->session, "/job", 20000, &runs); }

static void run_job(void *unused) {
    (void)unused;
    ck_assert_int_eq(pdk_job_acquire(theirs, 20000, &run, NULL), PDK_OK);
}

static void finish_job(void *unused) {
    (void)unused;
    ck_assert_int_eq(pdk_job_finish(theirs, run, 7, 20000), PDK_OK);
    finished = true;
}

static void run_job_in(void *rival, void *unused) {
    ck_assert_int_eq(pdk_job_new(((struct rival *)rival)->session, "/job", NULL, &theirs), PDK_OK);
    sim_thread_start(&((struct rival *)rival)->process, run_job, unused);
}

static void finish_job_in(void *rival, void *unused) {
    sim_thread_start(&((struct rival *)rival)->process, finish_job, unused);
}

static void drop_job_in(void *rival, void *unused) {
    (void)rival;
    (void)unused;
    pdk_job_unref(g_steal_pointer(&theirs));
}

static void block_requests(bool blocked) {
    for (int32_t i = 0; i < PLATFORM_SERVERS; i++)
        sim_net_block(&platform_net, group_one->rival->process.host, i, blocked);
}

static void hold_requests_back(void) { block_requests(true); }

/* The record was read, and said that it runs; then the outcome is written, and the runner's node goes; then that node is asked for. */
START_TEST(a_run_that_ends_while_it_is_looked_at_did_not_die) {
    deeds_begin();
    finished = false;
    group_call(group_two, run_job_in, NULL);
    platform_pass(SECOND);
    ck_assert_ptr_nonnull(run);
    group_arm(PDK__OP_GET, "/job/lock/");
    group_fault.act = hold_requests_back;
    deed_start(read_runs);
    group_step_until_seen();
    group_call(group_two, finish_job_in, NULL);
    platform_pass(250 * SIM_MS);
    ck_assert(finished);
    block_requests(false);
    deed_await();
    ck_assert_int_eq(deeds.status, PDK_OK);
    ck_assert_int_eq(pdk_job_runs_run(runs, 0)->state, PDK_JOB_FINISHED);
    ck_assert_int_eq(pdk_job_runs_run(runs, 0)->outcome, 7);
    pdk_job_runs_free(runs);
    run = NULL;
    group_call(group_two, drop_job_in, NULL);
    deeds_end();
}
END_TEST

/* ---- requests about one path that are answered otherwise, or not at all */

static struct {
    const char *part;
    int32_t codes[PDK__OP_SYNC + 1]; /* by kind; 0: as it is */
    uint32_t seen[PDK__OP_SYNC + 1];
} answers;

static bool answer_so(const struct pdk__request *request) {
    if (!strstr(request->path, answers.part))
        return false;
    answers.seen[request->kind]++;
    if (answers.codes[request->kind] != 0)
        sim_answer_about(platform_ensemble, sim_client_session(&group_one->rival->process), request->path,
                         answers.codes[request->kind], false);
    return false;
}

static void answer(const char *part, enum pdk__op_kind kind, int32_t code) {
    if (driver_refuses != answer_so)
        memset(&answers, 0, sizeof answers);
    answers.part = part;
    answers.codes[kind] = code;
    driver_refuses = answer_so;
}

/* ---- a checker */

static pdk_checker *checker;
static char *sequencer;
static pdk_status verdict;

static void make_checker_in(void *rival, void *unused) {
    (void)unused;
    ck_assert_int_eq(pdk_checker_new(((struct rival *)rival)->session, NULL, &checker), PDK_OK);
}

static void check_in(void *rival, void *unused) {
    (void)rival;
    (void)unused;
    verdict = pdk_checker_check(checker, sequencer, 0);
}

static void drop_checker_in(void *rival, void *unused) {
    (void)rival;
    (void)unused;
    pdk_checker_unref(g_steal_pointer(&checker));
}

static const char *checks(void) {
    group_call(group_one, check_in, NULL);
    platform_pass(100 * SIM_MS);
    group_call(group_one, check_in, NULL);
    return pdk_status_name(verdict);
}

/* The second process holds; the first has looked at it, or not. */
static void check_begin(bool looks) {
    driver_begin();
    driver_want_lock(&driver_users[1]);
    platform_pass(SECOND);
    sequencer = g_strdup(pdk_hold_sequencer(driver_users[1].holds[0]));
    group_call(group_one, make_checker_in, NULL);
    if (looks)
        ck_assert_str_eq(checks(), "PDK_OK");
}

static void check_end(void) {
    driver_refuses = NULL;
    ck_assert_str_eq(checks(), "PDK_OK");
    group_call(group_one, drop_checker_in, NULL);
    g_free(sequencer);
}

/* A server that is behind shows what is gone, and does not show what is there. */
START_TEST(a_reading_without_its_barrier_does_not_count) {
    check_begin(false);
    answer("/locks/lock/", PDK__OP_BARRIER, GROUP_LOST);
    answer("/locks/lock/", PDK__OP_WATCH, _i ? GROUP_NO_NODE : 0);
    ck_assert_str_eq(checks(), "PDK_UNAVAILABLE");
    ck_assert_uint_gt(answers.seen[PDK__OP_WATCH], 0);
    check_end();
}
END_TEST

START_TEST(a_reading_counts_by_its_own_barrier) {
    check_begin(true);
    answer("/locks/lock/", PDK__OP_BARRIER, GROUP_LOST);
    size_t count = 0;
    const char *const *names = sim_tree_children(sim_truth(platform_ensemble), "/app/locks/lock", &count);
    g_autofree char *path = g_strconcat("/app/locks/lock/", names[0], NULL);
    group_admin(SIM_OP_SET, sim_text(&platform_agenda, path));
    platform_pass(100 * SIM_MS);
    ck_assert_uint_gt(answers.seen[PDK__OP_WATCH], 0);
    ck_assert_str_eq(checks(), "PDK_UNAVAILABLE");
    check_end();
}
END_TEST

/* ---- a break */

static pdk_status break_it(void) {
    return pdk_session_break(group_one->rival->session, pdk_hold_node(deeds.hold) + strlen("/app"),
                             pdk_hold_token(deeds.hold), 1000, NULL);
}

START_TEST(what_is_read_without_its_sync_is_not_broken) {
    deeds_begin();
    ck_assert_int_eq(deed(take), PDK_OK);
    answer("/app/one/", PDK__OP_SYNC, GROUP_LOST);
    ck_assert_str_eq(pdk_status_name(deed(break_it)), "PDK_UNAVAILABLE");
    ck_assert_uint_eq(answers.seen[PDK__OP_DELETE], 0);
    ck_assert(deed_is_valid());
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
    answer("/app", PDK__OP_CREATE, GROUP_LOST);
    answers.codes[PDK__OP_BARRIER] = GROUP_LOST;
    answers.part = "/";
    deed_start(take);
    platform_pass(250 * SIM_MS);
    ck_assert(!deeds.over);
    ck_assert_uint_eq(answers.seen[PDK__OP_CREATE], 1);
    driver_refuses = NULL;
    deed_await();
    ck_assert_int_eq(deeds.status, PDK_OK);
    deeds_end();
}
END_TEST

/* ---- a watcher of a group in a new session */

START_TEST(a_view_of_a_new_session_waits_for_its_barrier) {
    group_begin(2);
    group_call(group_one, group_watch_in, NULL);
    platform_pass(SECOND);
    ck_assert(group.count == 2 && group.exact);
    answer(GROUP_DIR, PDK__OP_BARRIER, GROUP_LOST);
    group_call(group_one, group_reopen_in, NULL);
    group_call(group_two, group_leave_in, NULL);
    platform_pass(SECOND);
    ck_assert_uint_gt(answers.seen[PDK__OP_LIST], 0);
    ck_assert_uint_eq(group.count, 2);
    driver_refuses = NULL;
    platform_pass(3 * SECOND);
    ck_assert_uint_eq(group.count, 0);
    group_call(group_one, group_stop_in, NULL);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_evidence");
    TCase *cases = tcase_create("driver_evidence");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_test(cases, a_run_that_ends_while_it_is_looked_at_did_not_die);
    tcase_add_loop_test(cases, a_reading_without_its_barrier_does_not_count, 0, 2);
    tcase_add_test(cases, a_reading_counts_by_its_own_barrier);
    tcase_add_test(cases, what_is_read_without_its_sync_is_not_broken);
    tcase_add_test(cases, a_lost_create_is_not_made_again_without_a_barrier);
    tcase_add_test(cases, a_view_of_a_new_session_waits_for_its_barrier);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

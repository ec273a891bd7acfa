/* Signals and user code: children that user code makes can be ended, and a fault in it reaches the program's handler. */
#include <check.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

extern char **environ;

/* What a piece of user code found on its thread. */
struct finding {
    atomic_bool made;
    int spawned, forked; /* the signals that ended the children; 0: they ended by themselves */
    int reached;         /* how many signals of a fault reached the handler */
    bool has_usr1, has_usr2;
};

static struct {
    struct finding log, event, acquired, lost, freed, term, failed;
} found;

static const int of_faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
static _Thread_local volatile sig_atomic_t reached;

static void on_fault(int number) {
    (void)number;
    reached++;
}

/* Ends a child as an operator would. */
static int end_child(pid_t pid) {
    int status = 0;
    if (pid <= 0 || kill(pid, SIGTERM) != 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void look(struct finding *finding) {
    static char command[] = "sleep", seconds[] = "2";
    char *arguments[] = {command, seconds, NULL};
    sigset_t mask;
    pid_t pid = -1;
    if (atomic_load(&finding->made))
        return;
    if (posix_spawnp(&pid, command, NULL, NULL, arguments, environ) == 0)
        finding->spawned = end_child(pid);
    pid = fork();
    if (pid == 0) {
        execvp(command, arguments);
        _exit(1);
    }
    finding->forked = end_child(pid);
    reached = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(of_faults); i++)
        raise(of_faults[i]);
    finding->reached = reached;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    finding->has_usr1 = sigismember(&mask, SIGUSR1) == 1;
    finding->has_usr2 = sigismember(&mask, SIGUSR2) == 1;
    atomic_store(&finding->made, true);
}

static void on_log(pdk_log_level level, const char *text, void *user) {
    (void)level;
    (void)text;
    (void)user;
    look(&found.log);
}

static void on_event(pdk_session_event event, int64_t time_left_ms, void *user) {
    (void)event;
    (void)time_left_ms;
    (void)user;
    look(&found.event);
}

static _Atomic(pdk_hold *) granted;

static void on_acquired(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    look(&found.acquired);
    if (status == PDK_OK)
        atomic_store(&granted, hold);
}

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)hold;
    (void)reason;
    (void)user;
    look(&found.lost);
}

static void free_user(void *user) { look(user); }

static void lead(pdk_term *term, void *user) {
    (void)user;
    look(&found.term);
    while (!pdk_term_is_ending(term))
        g_usleep(1000);
}

static void on_failed(pdk_status status, void *user) {
    (void)status;
    look(user);
}

static struct sigaction before[G_N_ELEMENTS(of_faults)], before_term;

static void set_up(void) {
    struct sigaction action = {.sa_handler = on_fault}, by_default = {.sa_handler = SIG_DFL};
    memset(&found, 0, sizeof found);
    /* Check's own handler ends the whole process group, also in a child that has not reached its exec. */
    ck_assert_int_eq(sigaction(SIGTERM, &by_default, &before_term), 0);
    for (size_t i = 0; i < G_N_ELEMENTS(of_faults); i++)
        ck_assert_int_eq(sigaction(of_faults[i], &action, &before[i]), 0);
}

static void tear_down(void) {
    sigaction(SIGTERM, &before_term, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(of_faults); i++)
        sigaction(of_faults[i], &before[i], NULL);
}

static bool is_made(void *finding) { return atomic_load(&((struct finding *)finding)->made); }

static void check(struct finding *finding, const char *where, bool usr1, bool usr2) {
    ck_assert_msg(ts_wait_until(is_made, finding, 30000), "%s was not called", where);
    ck_assert_msg(finding->spawned == SIGTERM, "%s: SIGTERM and a spawned child: %d", where, finding->spawned);
    ck_assert_msg(finding->forked == SIGTERM, "%s: SIGTERM and a forked child: %d", where, finding->forked);
    ck_assert_msg(finding->reached == (int)G_N_ELEMENTS(of_faults), "%s: %d faults reached the handler", where,
                  finding->reached);
    ck_assert_msg(finding->has_usr1 == usr1 && finding->has_usr2 == usr2, "%s: not the mask of the thread that asked",
                  where);
}

static void change_mask(int how, int number) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    pthread_sigmask(how, &one, NULL);
}

START_TEST(callbacks_have_the_openers_mask) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    options.on_log = on_log;
    options.log_level = PDK_LOG_DEBUG;
    options.on_event = on_event;
    change_mask(SIG_BLOCK, SIGUSR1);
    ck_assert_int_eq(pdk_session_open(ts_ensemble_proxied_hosts(ts_bench_ensemble()), &options, &s), PDK_OK);
    change_mask(SIG_UNBLOCK, SIGUSR1);
    check(&found.log, "on_log", true, false);
    check(&found.event, "on_event", true, false);
    ck_assert_int_eq(pdk_lock_new(s, "/signals/lock", NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire_async(lock, 10000, on_acquired, NULL, NULL), PDK_OK);
    check(&found.acquired, "on_acquired", true, false);
    while (!(hold = atomic_exchange(&granted, NULL)))
        g_usleep(1000);
    ck_assert_int_eq(pdk_hold_on_lost(hold, on_lost, &found.freed, free_user), PDK_OK);
    ck_assert_int_eq(ts_expire(ts_ensemble_proxy(ts_bench_ensemble(), 0), ts_bench_server()), 0);
    check(&found.lost, "on_lost", true, false);
    check(&found.freed, "user_free", true, false);
    pdk_hold_release(hold);
    pdk_lock_unref(lock);
    ck_assert_int_eq(pdk_session_close(s, 10000), PDK_OK);
    pdk_session_unref(s);
}
END_TEST

START_TEST(a_term_has_the_mask_of_the_thread_that_started_it) {
    pdk_service_options options = PDK_SERVICE_OPTIONS_INIT;
    pdk_session *s = NULL;
    pdk_election *election = NULL;
    pdk_service *service = NULL;
    options.failed = on_failed;
    ck_assert_int_eq(pdk_session_open(ts_bench_server(), NULL, &s), PDK_OK);
    ck_assert_int_eq(pdk_election_new(s, "/signals/election", NULL, &election), PDK_OK);
    change_mask(SIG_BLOCK, SIGUSR2);
    ck_assert_int_eq(pdk_service_start(election, lead, &found.failed, &options, &service), PDK_OK);
    change_mask(SIG_UNBLOCK, SIGUSR2);
    check(&found.term, "the leader's function", false, true);
    ck_assert_int_eq(pdk_session_close(s, 10000), PDK_OK); /* the service fails */
    check(&found.failed, "failed", false, true);
    ck_assert_int_eq(pdk_service_close(service, 10000), PDK_OK);
    pdk_service_unref(service);
    pdk_election_unref(election);
    pdk_session_unref(s);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("signals");
    TCase *cases = ts_bench_case(suite, "signals");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, callbacks_have_the_openers_mask);
    tcase_add_test(cases, a_term_has_the_mask_of_the_thread_that_started_it);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

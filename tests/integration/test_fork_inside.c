/* A fork inside user code: the child can open a session of its own there, and may even come back from it. */
#include <check.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ts_check.h"
#include "ts_fork.h"
#include "ts_support.h"

static ts_ensemble *server;

static void begin(void) {
    server = ts_ensemble_start(NULL);
    ck_assert_ptr_nonnull(server);
}

static void end(void) { ts_ensemble_stop(server); }

static atomic_int child; /* the process that user code made; 0: not yet */
static bool comes_back;  /* the child returns from the user code */

static void ignore(pdk_log_level level, const char *text, void *user) {
    (void)level;
    (void)text;
    (void)user;
}

/* In the child: 0 when all is well, otherwise the number of what is wrong. */
static int use_own_session(void) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    options.on_log = ignore;
    options.log_level = PDK_LOG_DEBUG;
    if (pdk_session_open(ts_ensemble_hosts(server), &options, &s) != PDK_OK)
        return 1;
    if (pdk_lock_new(s, "/inside/child", NULL, &lock) != PDK_OK || pdk_lock_acquire(lock, 10000, &hold) != PDK_OK)
        return 2;
    pdk_hold_release(hold);
    pdk_lock_unref(lock);
    if (pdk_session_close(s, 10000) != PDK_OK)
        return 3;
    pdk_session_unref(s);
    return 0;
}

/* User code. */
static void make_child(void) {
    if (atomic_load(&child) != 0)
        return;
    fflush(NULL);
    pid_t pid = ts_fork();
    if (pid == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(20);
        atomic_store(&child, -1);
        if (comes_back)
            return;
        ts_end_child(use_own_session());
    }
    atomic_store(&child, pid);
}

static void on_event(pdk_session_event event, int64_t time_left_ms, void *user) {
    (void)time_left_ms;
    (void)user;
    if (event == PDK_SESSION_CONNECTED)
        make_child();
}

static void lead(pdk_term *term, void *user) {
    (void)user;
    make_child();
    while (atomic_load(&child) > 0 && !pdk_term_is_ending(term))
        g_usleep(1000);
}

static bool is_made(void *unused) {
    (void)unused;
    return atomic_load(&child) != 0;
}

static int await_child(void) {
    int status = -1;
    ck_assert(ts_wait_until(is_made, NULL, 10000));
    pid_t pid = atomic_load(&child);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status), "the child was ended by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

static void set_up(void) {
    atomic_store(&child, 0);
    comes_back = false;
}

static pdk_session *open_session(pdk_dispatch dispatch) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    options.on_event = on_event;
    options.on_log = ignore;
    options.log_level = PDK_LOG_DEBUG;
    options.dispatch = dispatch;
    ck_assert_int_eq(pdk_session_open(ts_ensemble_hosts(server), &options, &s), PDK_OK);
    return s;
}

static void close_session(pdk_session *s) {
    ck_assert_int_eq(pdk_session_close(s, 10000), PDK_OK);
    pdk_session_unref(s);
}

START_TEST(a_child_of_a_callback_opens_a_session_of_its_own) {
    pdk_session *s = open_session((pdk_dispatch)_i);
    if (_i == PDK_DISPATCH_MANUAL)
        ck_assert_int_eq(pdk_session_dispatch(s, NULL), PDK_OK);
    ck_assert_int_eq(await_child(), 0);
    close_session(s);
}
END_TEST

START_TEST(a_child_that_comes_back_from_a_callback_ends_there) {
    comes_back = true;
    pdk_session *s = open_session(PDK_DISPATCH_THREAD);
    ck_assert_int_eq(await_child(), 0); /* its one thread has ended */
    close_session(s);
}
END_TEST

START_TEST(dispatch_is_refused_to_the_child_that_comes_back) {
    comes_back = true;
    pdk_session *s = open_session(PDK_DISPATCH_MANUAL);
    int count = 77;
    pdk_status status = pdk_session_dispatch(s, &count);
    if (atomic_load(&child) == -1)
        ts_end_child(status == PDK_FORKED && count == 77 ? 0 : 1);
    ck_assert_int_eq(status, PDK_OK);
    ck_assert_int_eq(await_child(), 0);
    close_session(s);
}
END_TEST

START_TEST(close_is_refused_to_the_child_that_comes_back) {
    comes_back = true;
    pdk_session *s = open_session(PDK_DISPATCH_MANUAL);
    pdk_status status = pdk_session_close(s, 10000); /* which dispatches */
    if (atomic_load(&child) == -1)
        ts_end_child(status == PDK_FORKED ? 0 : 1);
    ck_assert_int_eq(status, PDK_OK);
    pdk_session_unref(s);
    ck_assert_int_eq(await_child(), 0);
}
END_TEST

START_TEST(a_child_that_comes_back_from_a_term_ends_there) {
    pdk_session *s = NULL;
    pdk_election *election = NULL;
    pdk_service *service = NULL;
    comes_back = true;
    ck_assert_int_eq(pdk_session_open(ts_ensemble_hosts(server), NULL, &s), PDK_OK);
    ck_assert_int_eq(pdk_election_new(s, "/inside/election", NULL, &election), PDK_OK);
    ck_assert_int_eq(pdk_service_start(election, lead, NULL, NULL, &service), PDK_OK);
    ck_assert_int_eq(await_child(), 0);
    ck_assert_int_eq(pdk_service_close(service, 10000), PDK_OK);
    pdk_service_unref(service);
    pdk_election_unref(election);
    close_session(s);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("fork_inside");
    TCase *cases = tcase_create("fork_inside");
    tcase_add_unchecked_fixture(cases, begin, end);
    tcase_add_checked_fixture(cases, set_up, NULL);
#ifndef __SANITIZE_THREAD__ /* which cannot follow threads that start after a fork */
    tcase_add_loop_test(cases, a_child_of_a_callback_opens_a_session_of_its_own, PDK_DISPATCH_THREAD,
                        PDK_DISPATCH_MANUAL + 1);
#else
    (void)a_child_of_a_callback_opens_a_session_of_its_own;
#endif
/* These children end by their last thread, of whose end the sanitizers have views of their own. */
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
    tcase_add_test(cases, a_child_that_comes_back_from_a_callback_ends_there);
    tcase_add_test(cases, a_child_that_comes_back_from_a_term_ends_there);
#else
    (void)a_child_that_comes_back_from_a_callback_ends_there;
    (void)a_child_that_comes_back_from_a_term_ends_there;
#endif
    tcase_add_test(cases, dispatch_is_refused_to_the_child_that_comes_back);
    tcase_add_test(cases, close_is_refused_to_the_child_that_comes_back);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

/*
 * The main function of every Check executable:
 *
 *     int main(void) { return ts_run("name", set_up, tear_down, a_test, another, NULL); }
 *
 * Runs the suite in this process (no fork: threads and sanitizers), prints each test with its duration and the messages
 * of the failed, and returns the exit status: 0 only when at least one test ran and all passed. PDK_TEST_FILTER=name
 * runs the test case (TCase) of that name only. Check's own time limits do not work without fork, so the process aborts
 * when it has run for PDK_TEST_LIMIT seconds, by default 300 times CK_TIMEOUT_MULTIPLIER. A failed ck_assert jumps out
 * of the test, so clean up in tear_down, and never assert on another thread than the test's.
 */
#ifndef TS_CHECK_H
#define TS_CHECK_H

#include <check.h>

/* Runs a suite of one test case of its name, with what is done before and after each test, or NULL. NULL ends the tests. */
__attribute__((sentinel)) int ts_run(const char *name, SFun setup, SFun teardown, ...);

/* Runs and frees any other suite: of several cases, or with loops. */
int ts_run_suite(Suite *suite);

#endif

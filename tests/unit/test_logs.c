/* The log lines of the client library: each goes to every session of the process, and to no session of a parent process. */
#include "zk/logs.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "ts_check.h"
#include "ts_fork.h"

static int parents, childs;

static void count(void *driver, int level, const char *text) {
    (void)level;
    (void)text;
    ++*(int *)driver;
}

START_TEST(a_line_goes_to_every_session) {
    pdk__logs_add(count, &parents);
    pdk__logs_add(count, &childs);
    pdk__logs_queue("a line");
    ck_assert_int_eq(parents, 1);
    ck_assert_int_eq(childs, 1);
    pdk__logs_remove(&childs);
    pdk__logs_queue("another line");
    ck_assert_int_eq(parents, 2);
    ck_assert_int_eq(childs, 1);
    pdk__logs_remove(&parents);
}
END_TEST

START_TEST(a_childs_line_goes_to_no_session_of_its_parent) {
    parents = childs = 0;
    pdk__logs_add(count, &parents);
    fflush(NULL);
    pid_t pid = ts_fork();
    if (pid == 0) {
        pdk__logs_add(count, &childs);
        pdk__logs_queue("a line");
        ts_end_child(10 * parents + childs);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 1);
    pdk__logs_queue("a line");
    ck_assert_int_eq(parents, 1);
    pdk__logs_remove(&parents);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("logs");
    TCase *cases = tcase_create("logs");
    tcase_add_test(cases, a_line_goes_to_every_session);
    tcase_add_test(cases, a_childs_line_goes_to_no_session_of_its_parent);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }

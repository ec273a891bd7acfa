/* The log lines of the client library: each goes to every session of the process, and to no session of a parent process. */
#include "zk/logs.h"

#include <check.h>
#include <paddock/session.h>
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

static int infos, details;

static void sort(void *driver, int level, const char *text) {
    (void)driver;
    (void)text;
    infos += level == PDK_LOG_INFO;
    details += level == PDK_LOG_DEBUG;
}

/* As a server that gives a timeout of 0 makes the client library do. */
START_TEST(an_error_that_is_repeated_is_a_detail) {
    pdk__logs_add(sort, &infos);
    for (int i = 0; i < 1000; i++) {
        pdk__logs_queue("2030-01-01 00:00:00,000:1(0x1):ZOO_ERROR@this@10: it fails");
        pdk__logs_queue("2030-01-01 00:00:00,000:1(0x1):ZOO_ERROR@that@20: it fails, too");
    }
    pdk__logs_remove(&infos);
    ck_assert_int_ge(infos, 2);
    ck_assert_int_le(infos, 20); /* of a machine that takes seconds for it */
    ck_assert_int_eq(infos + details, 2000);
}
END_TEST

/* One that begins like another one's is another place. */
START_TEST(places_are_told_apart) {
    infos = details = 0;
    pdk__logs_add(sort, &infos);
    pdk__logs_queue("x:ZOO_ERROR@read@12: it fails");
    pdk__logs_queue("x:ZOO_ERROR@read@1: it fails");
    pdk__logs_remove(&infos);
    ck_assert_int_eq(infos, 2);
}
END_TEST

START_TEST(errors_of_many_places_are_told) {
    infos = details = 0;
    pdk__logs_add(sort, &infos);
    for (int i = 0; i < 40; i++) {
        char line[80];
        snprintf(line, sizeof line, "x:ZOO_ERROR@place%d@1: it fails", i);
        pdk__logs_queue(line);
    }
    pdk__logs_queue("x:ZOO_ERROR@a_name_that_is_longer_than_any_function_of_the_client_library_has_ever_had_so_far");
    pdk__logs_remove(&infos);
    ck_assert_int_eq(infos, 41);
}
END_TEST

int main(void) {
    return ts_run("logs", NULL, NULL, a_line_goes_to_every_session, a_childs_line_goes_to_no_session_of_its_parent,
                  an_error_that_is_repeated_is_a_detail, places_are_told_apart, errors_of_many_places_are_told, NULL);
}

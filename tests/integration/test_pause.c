/* A process that is paused past its session: as a holder, and as a waiter that is granted meanwhile. The process is
 * this program, run again as: test_pause HOSTS PATH. */
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 3000 };

static const char *server(void) { return ts_bench_server(); }

/* ---- the process ---- */

static void say(const char *word, int64_t number) {
    printf("%s %" PRId64 "\n", word, number);
    fflush(stdout);
}

/* Asks again and again whether the hold is valid. Reports the first answer after a pause, and the next. The pause comes
 * after `last`. Wherever it falls, one of the two distances shows it. */
static int watch_hold(pdk_hold *hold, int64_t last) {
    for (;;) {
        const int64_t before = ts_now_ms();
        bool valid = pdk_hold_is_valid(hold);
        const int64_t after = ts_now_ms();

        if (after - before > SESSION_MS / 2) {
            valid = pdk_hold_is_valid(hold); /* the pause may have come after the first question */
        }
        if (after - last > SESSION_MS / 2) {
            say("valid", valid);
            ts_sleep_ms(500);
            say("valid", pdk_hold_is_valid(hold));
            say("released", pdk_hold_release(hold));
            return EXIT_SUCCESS;
        }
        last = after;
        ts_sleep_ms(5);
    }
}

static int run_process(const char *hosts, const char *path) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *session;
    pdk_lock *lock;
    pdk_hold *hold;

    options.session_timeout_ms = SESSION_MS;
    if (pdk_session_open(hosts, &options, &session) != PDK_OK || pdk_lock_new(session, path, NULL, &lock) != PDK_OK ||
        pdk_lock_acquire(lock, 30000, &hold) != PDK_OK) {
        fprintf(stderr, "%s\n", pdk_last_error());
        return EXIT_FAILURE;
    }
    const int64_t granted = ts_now_ms();
    say("granted", pdk_hold_is_valid(hold) ? pdk_hold_token(hold) : 0);
    return watch_hold(hold, granted);
}

/* ---- the test ---- */

static struct {
    pid_t pid;
    FILE *from;
} process;

static void start_process(const char *path) {
    const char *const argv[] = {"/proc/self/exe", server(), path, NULL};
    int fd = -1;

    process.pid = ts_spawn(argv, &fd);
    ck_assert_int_gt(process.pid, 0);
    process.from = fdopen(fd, "r");
    setvbuf(process.from, NULL, _IONBF, 0); /* so that the descriptor tells whether there is something to read */
}

static void end_process(void) {
    if (process.pid > 0) {
        ts_kill(process.pid);
        fclose(process.from);
    }
    process.pid = 0;
}

/* The number of the next line, which must begin with that word. */
static int64_t read_number(const char *word) {
    char line[128] = "";

    ck_assert_msg(ts_fd_readable(fileno(process.from), ts_patience(10000)), "the process does not say %s", word);
    ck_assert_msg(fgets(line, sizeof line, process.from) != NULL, "the process has ended, before saying %s", word);
    ck_assert_msg(g_str_has_prefix(line, word), "not %s but %s", word, line);
    return g_ascii_strtoll(line + strlen(word) + 1, NULL, 10);
}

START_TEST(a_holder_paused_past_its_session) {
    const char *path = ts_fresh_path();

    start_process(path);
    const int64_t token = read_number("granted");
    ts_answer *waiter = ts_acquire_async(ts_lock(ts_bench_client(SESSION_MS), path), 20000);
    ck_assert(ts_wait_children(server(), path, 2, 5000));
    ck_assert(ts_pause(process.pid));
    ck_assert(ts_answer_wait(waiter, SESSION_MS + ts_patience(2000)));
    ck_assert_int_eq(ts_answer_status(waiter), PDK_OK);
    ck_assert(ts_resume(process.pid));
    ck_assert_int_eq(read_number("valid"), false);
    ck_assert_int_eq(read_number("valid"), false);
    ck_assert_int_eq(read_number("released"), PDK_LOST);
    ck_assert_int_gt(pdk_hold_token(ts_answer_hold(waiter)), token);
    ck_assert(pdk_hold_is_valid(ts_answer_hold(waiter)));
    ck_assert_int_eq(ts_child_count(server(), path), 1);
}
END_TEST

/* Paused for less than the lease: the hold is as good as before. */
START_TEST(a_holder_paused_briefly) {
    const char *path = ts_fresh_path();

    start_process(path);
    const int64_t token = read_number("granted");
    ck_assert(ts_pause(process.pid));
    ts_sleep_ms(SESSION_MS / 2 + 100);
    ck_assert(ts_resume(process.pid));
    ck_assert_int_eq(read_number("valid"), true);
    ck_assert_int_eq(read_number("valid"), true);
    ck_assert_int_eq(read_number("released"), PDK_OK);
    ck_assert_int_gt(token, 0);
}
END_TEST

/* The waiter is next, its predecessor goes, and the waiter sleeps. When it wakes, another client has the grant, and the
 * waiter queues behind that one. */
START_TEST(a_waiter_paused_while_it_becomes_first) {
    const char *path = ts_fresh_path();
    ts_client *a = ts_bench_client(SESSION_MS), *c = ts_bench_client(SESSION_MS);
    pdk_hold *held = ts_bench_acquire(ts_lock(a, path), 5000);

    start_process(path);
    ck_assert(ts_wait_children(server(), path, 2, 5000));
    ts_sleep_ms(50);
    ts_answer *third = ts_acquire_async(ts_lock(c, path), 20000);
    ck_assert(ts_wait_children(server(), path, 3, 5000));
    ck_assert(ts_pause(process.pid));
    ck_assert_int_eq(pdk_hold_release(held), PDK_OK);
    ck_assert(ts_answer_wait(third, SESSION_MS + ts_patience(2000)));
    ck_assert_int_eq(ts_answer_status(third), PDK_OK);
    const int64_t token = pdk_hold_token(ts_answer_hold(third));
    ck_assert(ts_resume(process.pid));
    ck_assert(ts_wait_children(server(), path, 2, ts_patience(3000))); /* it has queued again */
    ts_sleep_ms(200);
    ck_assert(pdk_hold_is_valid(ts_answer_hold(third)));
    ck_assert_int_eq(ts_answer_release(third), PDK_OK);
    ck_assert_int_gt(read_number("granted"), token); /* and not before */
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("pause");
    TCase *tcase = ts_bench_case(suite, "pause");

    tcase_add_checked_fixture(tcase, NULL, end_process);
    tcase_add_test(tcase, a_holder_paused_past_its_session);
    tcase_add_test(tcase, a_holder_paused_briefly);
    tcase_add_test(tcase, a_waiter_paused_while_it_becomes_first);
    return suite;
}

int main(int argc, char **argv) { return argc == 3 ? run_process(argv[1], argv[2]) : ts_run_suite(make_suite()); }

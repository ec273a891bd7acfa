/* A candidate's process is paused past its session: as the leader, as a service, and while it becomes the first in the
 * queue. The process is this program, run again as: test_election_pause HOSTS PATH WHAT. */
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elections.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 3000, SOON_MS = 2000 };

static const char *server(void) { return ts_bench_server(); }

/* ---- the process */

static void say(const char *word, int64_t number) {
    printf("%s %" PRId64 "\n", word, number);
    fflush(stdout);
}

static void on_elected(pdk_hold *hold, void *user) {
    (void)user;
    say("elected", pdk_hold_is_valid(hold) ? pdk_hold_token(hold) : 0);
}

static void on_deposed(pdk_reason reason, void *user) {
    (void)user;
    say("deposed", reason);
}

/* Looks all the time, and reports what the first look after a pause has shown. */
static void serve(pdk_term *term, void *user) {
    int64_t last = ts_now_ms();
    bool ending;

    (void)user;
    say("elected", pdk_hold_is_valid(pdk_term_hold(term)) ? pdk_hold_token(pdk_term_hold(term)) : 0);
    do {
        const int64_t before = ts_now_ms();

        ending = pdk_term_is_ending(term);
        const int64_t now = ts_now_ms();
        if (now - before > SESSION_MS / 2) {
            ending = pdk_term_is_ending(term); /* the pause may have come after the first look */
        }
        if (now - last > SESSION_MS / 2) {
            say("ending", ending);
        }
        last = now;
        ts_sleep_ms(2);
    } while (!ending);
}

static void on_stopped(int64_t token, pdk_reason reason, void *user) {
    (void)token;
    on_deposed(reason, user);
}

static int run_process(const char *hosts, const char *path, bool as_service) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_election_callbacks callbacks = PDK_ELECTION_CALLBACKS_INIT;
    pdk_service_options service_options = PDK_SERVICE_OPTIONS_INIT;
    pdk_session *session;
    pdk_election *election;
    pdk_service *service;

    options.session_timeout_ms = SESSION_MS;
    callbacks.elected = on_elected;
    callbacks.deposed = on_deposed;
    service_options.stopped = on_stopped;
    if (pdk_session_open(hosts, &options, &session) != PDK_OK ||
        pdk_election_new(session, path, NULL, &election) != PDK_OK ||
        (as_service ? pdk_service_start(election, serve, NULL, &service_options, &service)
                    : pdk_election_join(election, &callbacks)) != PDK_OK) {
        fprintf(stderr, "%s\n", pdk_last_error());
        return EXIT_FAILURE;
    }
    for (;;) {
        pause();
    }
}

/* ---- the test */

static struct {
    const char *path;
    pdk_election *others;
    record *other;
    pid_t pid;
    FILE *from;
} it;

static void start_process(const char *path, const char *what) {
    const char *const argv[] = {"/proc/self/exe", server(), path, what, NULL};
    int fd = -1;

    it.path = path;
    it.pid = ts_spawn(argv, &fd);
    ck_assert_int_gt(it.pid, 0);
    it.from = fdopen(fd, "r");
    setvbuf(it.from, NULL, _IONBF, 0); /* so that the descriptor tells whether there is something to read */
}

static void end_process(void) {
    if (it.pid > 0) {
        ts_kill(it.pid);
        fclose(it.from);
    }
    memset(&it, 0, sizeof it);
}

/* The number of the next line, which must begin with that word. */
static int64_t read_number(const char *word) {
    char line[128] = "";

    ck_assert_msg(ts_fd_readable(fileno(it.from), ts_patience(10000)), "the process does not say %s", word);
    ck_assert_msg(fgets(line, sizeof line, it.from) != NULL, "the process has ended, before saying %s", word);
    ck_assert_msg(g_str_has_prefix(line, word), "not %s but %s", word, line);
    return g_ascii_strtoll(line + strlen(word) + 1, NULL, 10);
}

static void join_behind(int children) {
    it.others = election_on(ts_bench_client(SESSION_MS), it.path, "other");
    it.other = candidate_join(it.others);
    ck_assert(ts_wait_children(server(), it.path, children, 5000));
}

START_TEST(a_leader_paused_past_its_session) {
    start_process(ts_fresh_path(), _i == 0 ? "candidate" : "service");
    const int64_t token = read_number("elected");
    ck_assert_int_gt(token, 0);
    join_behind(2);
    ck_assert(ts_pause(it.pid));
    assert_told(it.other, ELECTED, 1);
    ck_assert(ts_resume(it.pid));
    if (_i == 1) {
        ck_assert_int_eq(read_number("ending"), true);
    }
    ck_assert_int_eq(read_number("deposed"), PDK_REASON_LEASE);
    ck_assert(ts_wait_children(server(), it.path, 2, ts_patience(2 * SESSION_MS))); /* a candidate again */
    ck_assert(!ts_fd_readable(fileno(it.from), 200));
    ck_assert(pdk_hold_is_valid(record_hold(it.other)));
    ck_assert_int_gt(record_token(it.other), token);
    ck_assert_int_eq(pdk_election_leave(it.others), PDK_OK);
    ck_assert_int_gt(read_number("elected"), record_token(it.other));
}
END_TEST

/* The candidate becomes the first while it sleeps, and its session ends. It is told nothing of that, and queues behind
 * the others. */
START_TEST(a_candidate_paused_while_it_becomes_first) {
    const char *path = ts_fresh_path();
    pdk_election *first = election_on(ts_bench_client(SESSION_MS), path, "first");

    candidate_elected(first);
    start_process(path, "candidate");
    ck_assert(ts_wait_children(server(), path, 2, 5000));
    ts_sleep_ms(50);
    join_behind(3);
    ck_assert(ts_pause(it.pid));
    ck_assert_int_eq(pdk_election_leave(first), PDK_OK);
    assert_told(it.other, ELECTED, 1);
    ck_assert(ts_resume(it.pid));
    ck_assert(ts_wait_children(server(), path, 2, ts_patience(2 * SESSION_MS)));
    ck_assert(!ts_fd_readable(fileno(it.from), 200));
    ck_assert(pdk_hold_is_valid(record_hold(it.other)));
    ck_assert_int_eq(pdk_election_leave(it.others), PDK_OK);
    ck_assert_int_gt(read_number("elected"), record_token(it.other));
}
END_TEST

/* Paused for less than the lease: nothing has happened. */
START_TEST(a_leader_paused_briefly) {
    start_process(ts_fresh_path(), "service");
    ck_assert_int_gt(read_number("elected"), 0);
    join_behind(2);
    ck_assert(ts_pause(it.pid));
    ts_sleep_ms(SESSION_MS / 2 + 100);
    ck_assert(ts_resume(it.pid));
    ck_assert_int_eq(read_number("ending"), false);
    ck_assert(!ts_fd_readable(fileno(it.from), 500));
    ck_assert_int_eq(record_count(it.other, ELECTED), 0);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("election_pause");
    TCase *tcase = ts_bench_case(suite, "election_pause");

    tcase_add_checked_fixture(tcase, NULL, end_process);
    tcase_add_loop_test(tcase, a_leader_paused_past_its_session, 0, 2);
    tcase_add_test(tcase, a_candidate_paused_while_it_becomes_first);
    tcase_add_test(tcase, a_leader_paused_briefly);
    return suite;
}

int main(int argc, char **argv) {
    return argc == 4 ? run_process(argv[1], argv[2], strcmp(argv[3], "service") == 0) : ts_run_suite(make_suite());
}

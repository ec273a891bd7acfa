/* A process that is paused: as the holder of a lock, as a candidate, as a service; past its session, for a moment, and while it becomes
 * the first in the queue. The process is this program, run again as: test_pause HOSTS PATH WHAT. */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elections.h"
#include "spoken.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

/* The others are never paused, and do not lose their sessions, however busy the machine is. */
enum { SESSION_MS = 2500, SLOW_MS = 20000, PATIENCE_MS = 10000 };

static const char *server(void) { return ts_bench_server(); }

/* ---- the process */

static void say_granted(const pdk_hold *hold) {
    spoken_say("granted", pdk_hold_is_valid(hold) ? pdk_hold_token(hold) : 0);
}

/* Looks again and again, until that is in vain. Says what the first look after a pause has shown. The pause comes after `last`. Wherever
 * it falls, one of the two distances shows it. */
static void look(bool (*holds)(const void *what), const void *what, int looks) {
    for (int64_t last = ts_now_ms(); looks > 0;) {
        const int64_t before = ts_now_ms();
        bool valid = holds(what);
        const int64_t now = ts_now_ms();
        if (now - before > SESSION_MS / 2)
            valid = holds(what); /* the pause may have come after the first look */
        if (now - last > SESSION_MS / 2) {
            spoken_say("valid", valid);
            looks--;
        }
        if (!valid)
            return;
        last = now;
        ts_sleep_ms(2);
    }
}

static bool is_held(const void *hold) { return pdk_hold_is_valid(hold); }
static bool is_going_on(const void *term) { return !pdk_term_is_ending(term); }

static int hold_it(pdk_session *session, const char *path) {
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    if (pdk_lock_new(session, path, NULL, &lock) != PDK_OK || pdk_lock_acquire(lock, 30000, &hold) != PDK_OK)
        return EXIT_FAILURE;
    say_granted(hold);
    look(is_held, hold, 1);
    ts_sleep_ms(500);
    spoken_say("later", pdk_hold_is_valid(hold));
    spoken_say("released", pdk_hold_release(hold));
    return EXIT_SUCCESS;
}

static void on_elected(pdk_hold *hold, void *user) {
    (void)user;
    say_granted(hold);
}

static void on_deposed(pdk_reason reason, void *user) {
    (void)user;
    spoken_say("deposed", reason);
}

static void serve(pdk_term *term, void *user) {
    (void)user;
    say_granted(pdk_term_hold(term));
    look(is_going_on, term, 1000);
}

static void on_stopped(int64_t token, pdk_reason reason, void *user) {
    (void)token;
    on_deposed(reason, user);
}

static int run_process(const char *hosts, const char *path, const char *what) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_election_callbacks callbacks = PDK_ELECTION_CALLBACKS_INIT;
    pdk_service_options service_options = PDK_SERVICE_OPTIONS_INIT;
    pdk_session *session = NULL;
    pdk_election *election = NULL;
    pdk_service *service = NULL;
    options.session_timeout_ms = SESSION_MS;
    callbacks.elected = on_elected;
    callbacks.deposed = on_deposed;
    service_options.stopped = on_stopped;
    bool fine = pdk_session_open(hosts, &options, &session) == PDK_OK;
    if (fine && strcmp(what, "holder") == 0)
        return hold_it(session, path);
    fine = fine && pdk_election_new(session, path, NULL, &election) == PDK_OK &&
           (strcmp(what, "service") == 0 ? pdk_service_start(election, serve, NULL, &service_options, &service)
                                         : pdk_election_join(election, &callbacks)) == PDK_OK;
    while (fine)
        pause();
    fprintf(stderr, "%s\n", pdk_last_error());
    return EXIT_FAILURE;
}

/* ---- the test */

enum player { HOLDER, CANDIDATE, SERVICE, PLAYERS };
static const char *const names[] = {"holder", "candidate", "service"};

/* Another client that holds, leads, or waits to. */
struct other {
    pdk_election *election;
    record *r;
    ts_answer *answer;
};

static struct {
    enum player player;
    const char *path;
    pid_t pid;
} it;

static void start_it(int player, const char *path) {
    it.player = (enum player)player;
    it.path = path;
    it.pid = spoken_start(server(), path, names[player], NULL);
}

/* Behind so many. */
static struct other join_behind(int children) {
    struct other other = {0};
    ts_client *client = ts_bench_client(SLOW_MS);
    if (it.player == HOLDER) {
        other.answer = ts_acquire_async(ts_lock(client, it.path), PDK_FOREVER);
    } else {
        other.election = election_on(client, it.path, "other");
        other.r = candidate_join(other.election);
    }
    ck_assert(ts_wait_children(server(), it.path, children + 1, ts_patience(PATIENCE_MS)));
    return other;
}

static pdk_hold *granted(struct other *other) {
    if (other->answer) {
        ck_assert(ts_answer_wait(other->answer, ts_patience(PATIENCE_MS)));
        ck_assert_int_eq(ts_answer_status(other->answer), PDK_OK);
        return ts_answer_hold(other->answer);
    }
    ck_assert(record_wait(other->r, ELECTED, 1, ts_patience(PATIENCE_MS)));
    return record_hold(other->r);
}

static void let_go(struct other *other) {
    ck_assert_int_eq(other->answer ? ts_answer_release(other->answer) : pdk_election_leave(other->election), PDK_OK);
}

/* It is not told of another grant while the other one has it, and then it is. */
static void comes_after(struct other *other) {
    const int64_t token = pdk_hold_token(granted(other));
    ck_assert(ts_wait_children(server(), it.path, 2, ts_patience(PATIENCE_MS))); /* it has queued again */
    ck_assert(spoken_silence(200));
    ck_assert(pdk_hold_is_valid(granted(other)));
    let_go(other);
    ck_assert_int_gt(spoken_number("granted"), token);
}

START_TEST(paused_past_its_session) {
    start_it(_i, ts_fresh_path());
    const int64_t token = spoken_number("granted");
    ck_assert_int_gt(token, 0);
    struct other other = join_behind(1);
    ck_assert(ts_pause(it.pid));
    ck_assert_int_gt(pdk_hold_token(granted(&other)), token);
    ck_assert(ts_resume(it.pid));
    if (it.player != CANDIDATE)
        ck_assert_int_eq(spoken_number("valid"), false);
    if (it.player == HOLDER) {
        ck_assert_int_eq(spoken_number("later"), false);
        ck_assert_int_eq(spoken_number("released"), PDK_LOST);
        ck_assert(pdk_hold_is_valid(granted(&other)));
        ck_assert_int_eq(ts_child_count(server(), it.path), 1);
    } else {
        ck_assert_int_eq(spoken_number("deposed"), PDK_REASON_LEASE);
        comes_after(&other);
    }
}
END_TEST

/* It becomes the first while it sleeps, and its session ends. It is told nothing of that, and queues behind the others. */
START_TEST(paused_while_it_becomes_first) {
    it.player = (enum player)_i;
    it.path = ts_fresh_path();
    struct other first = join_behind(0);
    granted(&first);
    start_it(_i, it.path);
    ck_assert(ts_wait_children(server(), it.path, 2, ts_patience(PATIENCE_MS)));
    ts_sleep_ms(50);
    struct other third = join_behind(2);
    ck_assert(ts_pause(it.pid));
    let_go(&first);
    granted(&third);
    ck_assert(ts_resume(it.pid));
    comes_after(&third);
}
END_TEST

/* For less than the lease: nothing has happened. */
START_TEST(paused_briefly) {
    start_it(_i, ts_fresh_path());
    ck_assert_int_gt(spoken_number("granted"), 0);
    struct other other = join_behind(1);
    ck_assert(ts_pause(it.pid));
    ts_sleep_ms(SESSION_MS / 2 + 100);
    ck_assert(ts_resume(it.pid));
    ck_assert_int_eq(spoken_number("valid"), true);
    if (it.player == HOLDER) {
        ck_assert_int_eq(spoken_number("later"), true);
        ck_assert_int_eq(spoken_number("released"), PDK_OK);
    } else {
        ck_assert(spoken_silence(500));
        ck_assert_int_eq(record_count(other.r, ELECTED), 0);
    }
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("pause");
    TCase *tcase = ts_bench_case(suite, "pause");
    tcase_add_checked_fixture(tcase, NULL, spoken_end);
    tcase_add_loop_test(tcase, paused_past_its_session, 0, PLAYERS);
    tcase_add_loop_test(tcase, paused_while_it_becomes_first, 0, SERVICE);
    tcase_add_test(tcase, paused_briefly);
    tcase_add_loop_test(tcase, paused_briefly, SERVICE, PLAYERS);
    return suite;
}

int main(int argc, char **argv) {
    return argc == 4 ? run_process(argv[1], argv[2], argv[3]) : ts_run_suite(make_suite());
}

/* A function that does not return in time. With PDK_DRAIN_KEEP the service goes on leading, and a log line tells it.
 * With PDK_DRAIN_ABORT the process ends. That process is this program, run again as: test_service_drain HOSTS PATH
 * HOW. */
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "event_log.h"
#include "services.h"
#include "spoken.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 3000, SLOW_MS = 20000, SOON_MS = 2000, DRAIN_MS = 400 };

static const char *server(void) { return ts_bench_server(); }

/* ---- the process */

/* HOW: "never": it does not return; "late": it returns late, but within the bound. Reports when it was told to
 * return. */
static void run_on(pdk_term *term, void *how) {
    spoken_say("running", pdk_hold_token(pdk_term_hold(term)));
    while (!pdk_term_is_ending(term))
        ts_fd_readable(pdk_term_fd(term), 1000);
    spoken_say("ending", ts_now_ms());
    if (strcmp(how, "late") == 0) {
        ts_sleep_ms(DRAIN_MS / 2);
        return;
    }
    for (;;)
        pause();
}

/* A signal tells the process to stop. */
static volatile sig_atomic_t stop_ordered;

static void on_order(int number) {
    (void)number;
    stop_ordered = 1;
}

static int run_process(const char *hosts, const char *path, char *how) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_service_options service_options = PDK_SERVICE_OPTIONS_INIT;
    const struct rlimit no_core = {0, 0};
    pdk_session *session;
    pdk_election *election;
    pdk_service *service;
    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGUSR1, on_order);
    options.session_timeout_ms = SESSION_MS;
    service_options.drain_ms = DRAIN_MS;
    service_options.drain = PDK_DRAIN_ABORT;
    if (pdk_session_open(hosts, &options, &session) != PDK_OK ||
        pdk_election_new(session, path, NULL, &election) != PDK_OK ||
        pdk_service_start(election, run_on, how, &service_options, &service) != PDK_OK) {
        fprintf(stderr, "%s\n", pdk_last_error());
        return EXIT_FAILURE;
    }
    while (!stop_ordered)
        ts_sleep_ms(5);
    const pdk_status status = pdk_service_close(service, strcmp(how, "late") == 0 ? 10000 : DRAIN_MS / 4);
    spoken_say("stopped", status);
    if (status != PDK_OK)
        pause();
    pdk_service_unref(service);
    pdk_election_unref(election);
    pdk_session_close(session, 5000);
    pdk_session_unref(session);
    return EXIT_SUCCESS;
}

/* ---- the test */

static struct {
    const char *path;
    ts_proxy *proxy;
    pid_t pid;
} process;

static void start_process(const char *how) {
    process.path = ts_fresh_path();
    process.proxy = ts_proxy_start(server());
    process.pid = spoken_start(ts_proxy_address(process.proxy), process.path, how, NULL);
}

static void end_process(void) {
    spoken_end();
    ts_proxy_stop(process.proxy);
    memset(&process, 0, sizeof process);
}

static void delete_its_node(void) {
    g_auto(GStrv) children = ts_children(server(), process.path, NULL);
    g_autofree char *node = g_strdup_printf("%s/%s", process.path, children[0]);

    ck_assert_int_eq(ts_delete(server(), node), 0);
}

enum cause { A_STOP, AN_ADMIN, A_CUT, CAUSES };

/* It ends by SIGABRT at the bound: not before, and not much later. */
START_TEST(it_aborts_at_the_bound) {
    start_process("never");
    spoken_number("running");
    if (_i == A_STOP)
        ck_assert_int_eq(kill(process.pid, SIGUSR1), 0);
    else if (_i == AN_ADMIN)
        delete_its_node();
    else
        ts_proxy_set_mode(process.proxy, TS_BLACKHOLE);
    const int64_t told = spoken_number("ending");
    if (_i == A_STOP)
        ck_assert_int_eq(spoken_number("stopped"), PDK_TIMEOUT); /* the stop was given less time than the bound */
    ck_assert_int_eq(spoken_status(), 128 + SIGABRT);
    ck_assert_int_ge(ts_now_ms() - told, DRAIN_MS - 20);
    ck_assert_int_lt(ts_now_ms() - told, DRAIN_MS + ts_patience(1000));
}
END_TEST

START_TEST(it_does_not_abort_within_the_bound) {
    start_process("late");
    spoken_number("running");
    delete_its_node();
    spoken_number("ending");
    spoken_number("running"); /* elected again */
    ck_assert_int_eq(kill(process.pid, SIGUSR1), 0);
    spoken_number("ending");
    ck_assert_int_eq(spoken_number("stopped"), PDK_OK);
    ck_assert_int_eq(spoken_status(), EXIT_SUCCESS);
}
END_TEST

/* ---- kept */

#define WARNING "has not returned within drain_ms"

static struct event_log event_log;

static struct {
    const char *path;
    test_service *s;
} kept;

static void event_log_end(void *j) { event_log_clear(j); }

/* A service whose session has an event log. */
static void lead(int64_t drain_ms) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_service_options service_options = PDK_SERVICE_OPTIONS_INIT;
    ck_assert_int_eq(service_options.drain, PDK_DRAIN_KEEP);
    event_log_init(&event_log);
    ts_paddock_keep(&event_log, event_log_end); /* until the session is closed */
    event_log_attach(&event_log, &options);
    options.session_timeout_ms = SLOW_MS; /* it leads, however busy the machine is */
    service_options.drain_ms = (int32_t)drain_ms;
    ts_client *client = ts_client_open_with(server(), NULL, &options);
    ck_assert_ptr_nonnull(client);
    kept.path = ts_fresh_path();
    kept.s = test_service_run(election_on(client, kept.path, NULL), RETURNS_WHEN_ALLOWED, &service_options, NULL);
    ck_assert(test_service_wait_runs(kept.s, 1, ts_patience(5000)));
}

static pdk_status stop(int64_t ms) { return pdk_service_close(test_service_handle(kept.s), ms); }

enum end { RESIGNED, STOPPED_IN_VAIN, LOST, ENDS };

/* The line comes at the bound, once. A term that was given up goes on until the function has returned. One that was lost does not:
 * another candidate leads, and our function runs on at its own risk; it does not begin again meanwhile. */
START_TEST(past_the_bound) {
    lead(DRAIN_MS);
    pdk_election *other = election_on(ts_bench_client(SLOW_MS), kept.path, NULL);
    record *next = candidate_join(other);
    ck_assert(ts_wait_children(server(), kept.path, 2, 5000));
    const int64_t told = ts_now_ms();
    if (_i == RESIGNED)
        ck_assert_int_eq(pdk_service_resign(test_service_handle(kept.s)), PDK_OK);
    else if (_i == STOPPED_IN_VAIN)
        ck_assert_int_eq(stop(10), PDK_TIMEOUT);
    else
        delete_node_of(test_service_hold(kept.s));
    ck_assert(event_log_wait_line(&event_log, WARNING, DRAIN_MS + ts_patience(SOON_MS)));
    ck_assert_int_ge(ts_now_ms() - told, DRAIN_MS);
    ts_sleep_ms(2 * DRAIN_MS);
    ck_assert_int_eq(event_log_lines_with(&event_log, WARNING), 1);
    ck_assert_int_eq(pdk_hold_is_valid(test_service_hold(kept.s)), _i != LOST);
    ck_assert_int_eq(record_count(next, ELECTED), _i == LOST);
    if (_i == LOST) {
        ck_assert_int_eq(pdk_election_leave(other), PDK_OK);
        ck_assert(ts_wait_children(server(), kept.path, 0, ts_patience(SOON_MS)));
    }
    assert_service(kept.s, "started");
    test_service_allow_return(kept.s);
    if (_i == LOST)
        ck_assert(test_service_wait_runs(kept.s, 2, ts_patience(5000)));
    else
        assert_told(next, ELECTED, 1);
    ck_assert_int_eq(stop(ts_patience(5000)), PDK_OK);
    assert_service(kept.s, _i == LOST ? "started stopped:NODE_GONE started stopped:NONE" : "started stopped:NONE");
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("service_drain");
    TCase *aborted = ts_bench_case(suite, "abort"), *keep = ts_bench_case(suite, "keep");

    tcase_add_checked_fixture(aborted, NULL, end_process);
    tcase_add_loop_test(aborted, it_aborts_at_the_bound, 0, CAUSES);
    tcase_add_test(aborted, it_does_not_abort_within_the_bound);
    tcase_add_loop_test(keep, past_the_bound, 0, ENDS);
    return suite;
}

int main(int argc, char **argv) {
    return argc == 4 ? run_process(argv[1], argv[2], argv[3]) : ts_run_suite(make_suite());
}

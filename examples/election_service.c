/*
 * A scheduler that runs in several processes, on any machines. One of them works at a time.
 *
 *     election_service HOSTS        such as 127.0.0.1:2181; start two, kill one; Ctrl-C ends it properly
 *
 * The function runs while we lead. It begins a job only when the lease covers it, and sends the token with each write,
 * so that a storage can refuse a smaller one. After a loss it returns, and we queue again. At the end we resign.
 */
#include <paddock/paddock.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { JOB_NS = 50000000, ENOUGH_MS = 100, PAUSE_MS = 20 };

static void check(const char *what, pdk_status status) {
    if (status != PDK_OK) {
        fprintf(stderr, "election_service: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
        exit(EXIT_FAILURE);
    }
}

static void do_job(int64_t token) {
    const struct timespec duration = {0, JOB_NS};
    (void)token; /* a real job sends it with each write */
    nanosleep(&duration, NULL);
}

static void schedule(pdk_term *term, void *user) {
    struct pollfd end = {.fd = pdk_term_fd(term), .events = POLLIN};
    pdk_hold *hold = pdk_term_hold(term);
    int *jobs = user;
    while (!pdk_term_is_ending(term)) {
        if (pdk_hold_remaining_ms(hold) > ENOUGH_MS) { /* it shrinks while we are cut off: begin no job near its end */
            do_job(pdk_hold_token(hold));
            ++*jobs;
        }
        poll(&end, 1, PAUSE_MS); /* or until we are told to return */
    }
}

static void started(int64_t token, void *user) {
    *(int *)user = 0;
    printf("leading, token %lld\n", (long long)token);
}

static void stopped(int64_t token, pdk_reason reason, void *user) {
    (void)token;
    printf("not leading any more (%s), after %d jobs\n", pdk_reason_name(reason), *(int *)user);
}

int main(int argc, char **argv) {
    pdk_service_options options = PDK_SERVICE_OPTIONS_INIT;
    pdk_session *session;
    pdk_election *election;
    pdk_service *service;
    int jobs = 0, number;
    sigset_t end; /* the library's threads block all signals: this thread waits for them */
    sigemptyset(&end);
    sigaddset(&end, SIGINT);
    sigaddset(&end, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &end, NULL);
    setvbuf(stdout, NULL, _IOLBF, 0);
    options.started = started;
    options.stopped = stopped;
    options.drain = PDK_DRAIN_ABORT; /* two must never work at once: abort, and a supervisor restarts us */
    check("open", pdk_session_open(argc > 1 ? argv[1] : "127.0.0.1:2181", NULL, &session));
    check("election", pdk_election_new(session, "/examples/scheduler", NULL, &election));
    check("run", pdk_service_start(election, schedule, &jobs, &options, &service));
    sigwait(&end, &number);
    check("stop", pdk_service_close(service, PDK_FOREVER));
    pdk_service_unref(service);
    pdk_election_unref(election);
    check("close", pdk_session_close(session, 2000));
    pdk_session_unref(session);
    printf("done\n");
    return EXIT_SUCCESS;
}

/* A process of the series: it asks for the job again and again, or holds the lease lock. */
#include "jobs.h"

#include <fcntl.h>
#include <inttypes.h>
#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <ts_clock.h>
#include <unistd.h>

enum { STEP_MS = 20, STEPS = 12 };

static int log_fd = -1;

static void need(pdk_status status, const char *what) {
    if (status == PDK_OK)
        return;
    fprintf(stderr, "jobs: %s: %s\n", what, pdk_last_error());
    exit(EXIT_FAILURE);
}

static int64_t boottime(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* In one write, so that a kill leaves whole lines. */
static void note(const char *line) {
    if (write(log_fd, line, strlen(line)) != (ssize_t)strlen(line))
        abort();
}

static pdk_session *begin(const char *hosts, const char *log) {
    pdk_session *session = NULL;
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    options.session_timeout_ms = JOBS_SESSION_MS;
    options.server_tick_ms = JOBS_TICK_MS;
    log_fd = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    need(pdk_session_open(hosts, &options, &session), "open");
    return session;
}

/* Looks at the hold every few ms. Until when it was valid is known only up to the last look that began before. */
static void stay(pdk_hold *hold, int steps) {
    int64_t from = boottime(), until = from;
    for (int i = 0; i != steps; i++) {
        int64_t look = boottime();
        if (!pdk_hold_is_valid(hold))
            break;
        until = look;
        if (steps < 0) { /* it will be killed: each look is a line */
            g_autofree char *line =
                g_strdup_printf("V %" PRId64 " %" PRId64 " %" PRId64 "\n", pdk_hold_token(hold), from, until);
            note(line);
        }
        ts_sleep_ms(STEP_MS);
    }
    g_autofree char *line =
        g_strdup_printf("V %" PRId64 " %" PRId64 " %" PRId64 "\n", pdk_hold_token(hold), from, until);
    note(line);
}

int jobs_play(const char *hosts, const char *log) {
    pdk_session *session = begin(hosts, log);
    pdk_job_options options = PDK_JOB_OPTIONS_INIT;
    pdk_job *job = NULL;
    options.every_ms = JOBS_EVERY_MS;
    options.at_least_ms = JOBS_LEAST_MS;
    options.at_most_ms = (int64_t)4 * JOBS_EVERY_MS;
    options.history = 100;
    need(pdk_job_new(session, JOBS_PATH, &options, &job), "job");
    for (;;) {
        pdk_hold *hold = NULL;
        if (pdk_job_acquire(job, 500, &hold, NULL) == PDK_OK) {
            g_autofree char *line = g_strdup_printf("R %" PRId64 "\n", pdk_hold_token(hold));
            note(line);
            stay(hold, STEPS);
            if (pdk_job_finish(job, hold, 0, 2000) != PDK_OK)
                pdk_hold_release(hold);
        }
        ts_sleep_ms(g_random_int_range(10, 60));
    }
}

int jobs_hold(const char *hosts, const char *log, const char *secret) {
    pdk_session *session = begin(hosts, log);
    pdk_lease_lock_options options = PDK_LEASE_LOCK_OPTIONS_INIT;
    pdk_lease_lock *lock = NULL;
    options.secret = secret;
    options.duration_ms = LEASE_MS;
    need(pdk_lease_lock_new(session, LEASE_PATH, &options, &lock), "lease lock");
    for (;;) {
        pdk_hold *hold = NULL;
        if (pdk_lease_lock_acquire(lock, 5000, &hold) == PDK_OK) {
            printf("H %" PRId64 "\n", pdk_hold_token(hold));
            fflush(stdout);
            stay(hold, -1);
            pdk_hold_release(hold);
        }
    }
}

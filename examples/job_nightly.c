/*
 * A job that runs once a day, whichever machine comes first: start it from a timer on every machine.
 *
 *     job_nightly HOSTS        such as 127.0.0.1:2181
 */
#include <inttypes.h>
#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>

static void check(const char *what, pdk_status status) {
    if (status != PDK_OK) {
        fprintf(stderr, "job_nightly: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
        exit(EXIT_FAILURE);
    }
}

/* Another program may have written the name, so it is not printed on a terminal as it is. */
static void tell(const pdk_job_run *run) {
    static const char *const states[] = {"runs it", "has run it", "died in it"};
    printf("skipped: ");
    for (const char *c = run->who; *c; c++)
        putchar(*c < ' ' || *c > '~' ? '?' : *c);
    printf(" %s, outcome %" PRId32 "\n", states[run->state], run->outcome);
}

/* The work is done in small steps, with a look at the hold before each. A store checks the token as well. */
static int32_t work(const pdk_hold *hold) {
    for (int step = 1; step <= 3; step++) {
        if (!pdk_hold_is_valid(hold))
            return 1;
        printf("step %d\n", step);
    }
    return 0;
}

int main(int argc, char **argv) {
    pdk_job_options options = PDK_JOB_OPTIONS_INIT;
    pdk_session *session;
    pdk_job *job;
    pdk_hold *hold = NULL;
    pdk_job_runs *runs = NULL;
    pdk_status status;
    setvbuf(stdout, NULL, _IOLBF, 0);
    options.every_ms = INT64_C(24) * 60 * 60 * 1000;  /* a day of the servers, from midnight UTC */
    options.at_least_ms = INT64_C(5) * 60 * 1000;     /* not just before midnight and again just after */
    options.at_most_ms = INT64_C(2) * 60 * 60 * 1000; /* then the hold is lost, and another may run */
    check("open", pdk_session_open(argc > 1 ? argv[argc - 1] : "127.0.0.1:2181", NULL, &session));
    check("job", pdk_job_new(session, "/examples/nightly", &options, &job));
    status = pdk_job_acquire(job, 10000, &hold, &runs);
    if (status == PDK_SKIPPED)
        tell(pdk_job_runs_run(runs, 0));
    else if (status == PDK_OK)
        check("finish", pdk_job_finish(job, hold, work(hold), 10000));
    else
        check("begin", status);
    pdk_job_runs_free(runs);
    pdk_job_unref(job);
    check("close", pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return EXIT_SUCCESS;
}

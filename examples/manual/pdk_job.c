/* Every machine of a fleet runs this at night. One of them does the
 * work. */
#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>

static void must(pdk_status status) {
    if (status == PDK_OK)
        return;
    fprintf(stderr, "%s\n", pdk_last_error());
    exit(1);
}

int main(int argc, char **argv) {
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    pdk_job_options options = PDK_JOB_OPTIONS_INIT;
    pdk_session *session;
    pdk_job *job;
    pdk_hold *hold;
    pdk_status status;

    options.every_ms = 24 * 60 * 60 * 1000; /* one run a day … */
    options.at_ms = 12 * 60 * 60 * 1000;    /* it begins at noon … */
    options.zone = "UTC"; /* … by the servers' clocks */
    options.at_most_ms = 2 * 60 * 60 * 1000;
    must(pdk_session_open(hosts, NULL, &session));
    must(pdk_job_new(session, "/manual/nightly", &options, &job));
    status = pdk_job_acquire(job, 10000, &hold, NULL);
    if (status == PDK_SKIPPED) {
        printf("nothing to do: %s\n", pdk_last_error());
    } else {
        must(status);
        printf("working\n");
        must(pdk_job_finish(job, hold, 0, 10000)); /* 0: a success */
    }
    pdk_job_unref(job);
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return 0;
}

/*
 * Tries the lock without waiting, and falls back. BUSY and UNAVAILABLE are different, and get different fallbacks.
 *
 *     try_fallback HOSTS        such as 127.0.0.1:2181; then press Enter for each request, Ctrl-D to end
 *
 * Every request wants a fresh report, which one process at a time may compute.
 *   OK           the lock is ours: compute the report
 *   BUSY         another process computes it now: the previous report is good enough
 *   UNAVAILABLE  no server answers: serve the previous report, and say that it may be old
 * To see all three, run it twice and pause one in the middle of a report, or stop the server.
 */
#include <paddock/paddock.h>
#include <stdio.h>
#include <unistd.h>

static int failed(const char *what, pdk_status status) {
    fprintf(stderr, "try_fallback: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
    return 1;
}

/* Returns 0, or 1 after an error that has no fallback. */
static int serve(pdk_lock *lock, int *report) {
    pdk_hold *hold = NULL;
    pdk_status status = pdk_lock_acquire(lock, 0, &hold); /* 0: do not queue; takes at most request_timeout_ms */

    switch (status) {
    case PDK_OK:
        usleep(200 * 1000); /* computing takes a while */
        status = pdk_hold_release(hold);
        if (status == PDK_OK) /* we held it to the end */
            printf("OK: computed report %d\n", ++*report);
        else
            printf("%s: another may have computed it meanwhile, keeping report %d\n", pdk_status_name(status), *report);
        return 0;
    case PDK_BUSY:
        printf("BUSY: another process computes it, the previous one is fine: report %d\n", *report);
        return 0;
    case PDK_UNAVAILABLE:
        printf("UNAVAILABLE: no server answers, this may be old: report %d\n", *report);
        return 0;
    default:
        return failed("acquire", status);
    }
}

int main(int argc, char **argv) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *session = NULL;
    pdk_lock *lock = NULL;
    int report = 0, result = 0, key;

    options.request_timeout_ms = 1000; /* how long a request may wait for a server that does not answer */
    pdk_status status = pdk_session_open(argc > 1 ? argv[1] : "127.0.0.1:2181", &options, &session);
    if (status != PDK_OK)
        return failed("open", status);
    if ((status = pdk_lock_new(session, "/examples/report", NULL, &lock)) != PDK_OK)
        return failed("lock", status);
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("ready\n");
    while (result == 0 && (key = getchar()) != EOF)
        if (key == '\n')
            result = serve(lock, &report);
    pdk_lock_unref(lock);
    status = pdk_session_close(session, 2000); /* TIMEOUT is no failure: the rest ends with the session */
    if (status != PDK_OK && status != PDK_TIMEOUT)
        result = failed("close", status);
    pdk_session_unref(session);
    return result;
}

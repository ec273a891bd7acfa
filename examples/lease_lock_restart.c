/*
 * A controller that keeps its lock while it restarts.
 *
 *     lease_lock_restart [SECRET] HOSTS        such as "$(cat /var/lib/planner/secret)" 127.0.0.1:2181
 *
 * Here it leaves the lock standing once, and takes it back.
 */
#include <inttypes.h>
#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>

static void check(const char *what, pdk_status status) {
    if (status != PDK_OK) {
        fprintf(stderr, "lease_lock_restart: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
        exit(EXIT_FAILURE);
    }
}

int main(int argc, char **argv) {
    pdk_lease_lock_options options = PDK_LEASE_LOCK_OPTIONS_INIT;
    pdk_session *session;
    pdk_lease_lock *lock;
    pdk_hold *hold;
    const char *secret = argc > 2 ? argv[1] : "a secret of this example";
    setvbuf(stdout, NULL, _IOLBF, 0);
    check("open", pdk_session_open(argc > 1 ? argv[argc - 1] : "127.0.0.1:2181", NULL, &session));
    options.secret = secret; /* the same after a restart: from a file of this holder alone */
    options.duration_ms = 60000;
    check("lock", pdk_lease_lock_new(session, "/examples/vm-7", &options, &lock));
    check("acquire", pdk_lease_lock_acquire(lock, 30000, &hold)); /* or takes it back */
    printf("held with token %" PRId64 "\n", pdk_hold_token(hold));

    /* An end without pdk_lease_lock_release, as a crash is: the lock stands, and nobody without the secret gets it. */
    pdk_hold_release(hold);
    check("acquire", pdk_lease_lock_acquire(lock, 30000, &hold));
    printf("taken back with token %" PRId64 "\n", pdk_hold_token(hold));

    check("release", pdk_lease_lock_release(lock, hold, 10000)); /* done: the next one need not wait for its end */
    pdk_lease_lock_unref(lock);
    check("close", pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return EXIT_SUCCESS;
}

/* A controller keeps a machine for itself while it restarts. The
 * same secret takes the lock back. */
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
    pdk_lease_lock_options options = PDK_LEASE_LOCK_OPTIONS_INIT;
    pdk_session *session;
    pdk_lease_lock *lock;
    pdk_hold *hold;

    options.secret = "from a file that only this controller reads";
    options.duration_ms = 60000; /* it stands so long without us */
    must(pdk_session_open(hosts, NULL, &session));
    must(pdk_lease_lock_new(session, "/manual/vm-7", &options, &lock));
    must(pdk_lease_lock_acquire(lock, 90000, &hold));
    printf("the machine is ours, token %s\n",
           pdk_hold_token_text(hold));

    /* Done for good, so nobody has to wait. A crash would leave the
     * lock standing, and so would pdk_hold_release. */
    must(pdk_lease_lock_release(lock, hold, 10000));
    pdk_lease_lock_unref(lock);
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return 0;
}

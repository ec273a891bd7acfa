/* The nodes of this session are for its own user alone. Nobody else
 * may read them, or break the lock. */
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
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *session;
    pdk_lock *lock;
    pdk_hold *hold;

    options.digest = "billing:a password"; /* or digest_file */
    options.access = PDK_ACCESS_CREATOR;
    must(pdk_session_open(hosts, &options, &session));
    must(pdk_lock_new(session, "/manual/private", NULL, &lock));
    must(pdk_lock_acquire(lock, 5000, &hold));
    printf("held, and hidden from others\n");
    must(pdk_hold_release(hold));
    pdk_lock_unref(lock);
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return 0;
}

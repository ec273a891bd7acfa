/* A lock that programs in Python take by kazoo's
 * Lock("/manual/shared"). All of them name their nodes as kazoo
 * does. */
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
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    pdk_session *session;
    pdk_lock *lock;
    pdk_hold *hold;

    options.naming = PDK_NAMING_KAZOO;
    must(pdk_session_open(hosts, NULL, &session));
    must(pdk_lock_new(session, "/manual/shared", &options, &lock));
    must(pdk_lock_acquire(lock, 5000, &hold));
    printf("held by the node %s\n", pdk_hold_node(hold));
    must(pdk_hold_release(hold));
    pdk_lock_unref(lock);
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return 0;
}

/* A server that gets a proof with every request. It asks ZooKeeper
 * once, and then hears when the proof is over. */
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
    pdk_session *session;
    pdk_checker *checker;
    pdk_lock *lock;
    pdk_hold *hold;
    int served = 0;

    must(pdk_session_open(hosts, NULL, &session));
    must(pdk_checker_new(session, NULL, &checker));
    must(pdk_lock_new(session, "/manual/checked", NULL, &lock));
    must(pdk_lock_acquire(lock, 5000, &hold)); /* by the client */

    for (int request = 0; request < 1000; request++)
        if (pdk_checker_check(checker, pdk_hold_sequencer(hold),
                              1000) == PDK_OK)
            served++;
    printf("%d requests, one question\n", served);

    must(pdk_hold_release(hold));
    pdk_lock_unref(lock);
    pdk_checker_unref(checker);
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return 0;
}

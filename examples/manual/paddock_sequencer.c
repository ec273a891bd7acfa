/* A server gets a request with a proof that the sender holds the
 * lock, and asks ZooKeeper whether that is so. */
#include <paddock/fence.h>
#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(pdk_status status) {
    if (status == PDK_OK)
        return;
    fprintf(stderr, "%s\n", pdk_last_error());
    exit(1);
}

static void serve(pdk_session *session, const char *proof) {
    pdk_sequencer said;
    pdk_status status;

    must(pdk_sequencer_parse(proof, strlen(proof), &said));
    status = pdk_session_check_sequencer(session, proof, 1000);
    printf("%s: %s\n", said.node,
           status == PDK_OK     ? "it holds, so it is served"
           : status == PDK_LOST ? "it does not hold any more"
                                : pdk_last_error());
}

int main(int argc, char **argv) {
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    pdk_session *session;
    pdk_lock *lock;
    pdk_hold *hold;
    char proof[1100];

    must(pdk_session_open(hosts, NULL, &session));
    must(pdk_lock_new(session, "/manual/proof", NULL, &lock));
    must(pdk_lock_acquire(lock, 5000, &hold));
    snprintf(proof, sizeof proof, "%s", pdk_hold_sequencer(hold));
    serve(session, proof);
    must(pdk_hold_release(hold));
    must(pdk_session_flush(session, 5000)); /* the node is gone */
    serve(session, proof);
    pdk_lock_unref(lock);
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return 0;
}

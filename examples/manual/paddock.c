/* A service writes an order while it holds the lock. The store
 * refuses every mark below the largest that it has seen. A mark is
 * the token and the hand-over number, since threads of a process may
 * share a token. */
#include <inttypes.h>
#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>

static void must(pdk_status status) {
    if (status == PDK_OK)
        return;
    fprintf(stderr, "%s\n", pdk_last_error());
    exit(1);
}

static void store(const char *row, int64_t token, uint32_t handover) {
    printf("%s, with (%" PRId64 ", %" PRIu32 ")\n", row, token,
           handover);
}

int main(int argc, char **argv) {
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    pdk_session *session;
    pdk_lock *lock;
    pdk_hold *hold;

    must(pdk_session_open(hosts, NULL, &session));
    must(pdk_lock_new(session, "/manual/orders", NULL, &lock));
    must(pdk_lock_acquire(lock, 5000, &hold)); /* for 5 s at most */
    store("order 7", pdk_hold_token(hold), pdk_hold_handover(hold));
    must(pdk_hold_release(hold)); /* PDK_LOST: too late */

    pdk_lock_unref(lock);
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return 0;
}

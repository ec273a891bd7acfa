/* Work in steps, for as long as the hold is valid, and hear of a
 * loss. */
#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>

static void must(pdk_status status) {
    if (status == PDK_OK)
        return;
    fprintf(stderr, "%s\n", pdk_last_error());
    exit(1);
}

/* On the session's own thread. Here one would cancel the work. */
static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    (void)hold, (void)user;
    printf("lost: %s\n", pdk_reason_name(reason));
}

int main(int argc, char **argv) {
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    pdk_session *session;
    pdk_lock *lock;
    pdk_hold *hold;

    must(pdk_session_open(hosts, NULL, &session));
    must(pdk_lock_new(session, "/manual/steps", NULL, &lock));
    must(pdk_lock_acquire(lock, PDK_FOREVER, &hold));
    must(pdk_hold_on_lost(hold, on_lost, NULL, NULL));

    for (int step = 1; step <= 3 && pdk_hold_is_valid(hold); step++) {
        must(pdk_hold_ensure(hold, 2000)); /* a step takes up to 2 s */
        printf("step %d, with token %s\n", step,
               pdk_hold_token_text(hold));
    }
    if (pdk_hold_release(hold) == PDK_LOST)
        printf("somebody else may have worked meanwhile\n");
    pdk_lock_unref(lock);
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return 0;
}

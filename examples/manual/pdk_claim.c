/* Queue for a lock without a thread that waits, say how many are
 * ahead, and give up after five seconds. */
#include <paddock/paddock.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

static void must(pdk_status status) {
    if (status == PDK_OK)
        return;
    fprintf(stderr, "%s\n", pdk_last_error());
    exit(1);
}

/* Both run on the session's own thread, and must not block. */
static void on_queued(pdk_claim *claim, int32_t ahead, void *user) {
    (void)claim, (void)user;
    printf("in line, %d ahead\n", (int)ahead);
}

static void on_granted(pdk_status status, pdk_hold *hold, void *user) {
    if (status == PDK_OK) {
        printf("granted, token %s\n", pdk_hold_token_text(hold));
        pdk_hold_release(hold); /* it is ours */
    } else {
        printf("not granted: %s\n", pdk_last_error());
    }
    sem_post(user);
}

int main(int argc, char **argv) {
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    pdk_session *session;
    pdk_lock *lock;
    pdk_claim *claim;
    sem_t decided;

    sem_init(&decided, 0, 0);
    must(pdk_session_open(hosts, NULL, &session));
    must(pdk_lock_new(session, "/manual/claim", NULL, &lock));
    must(pdk_lock_acquire_async(lock, 5000, on_granted, &decided,
                                &claim));
    pdk_claim_on_queued(claim, on_queued, NULL); /* if it waits still */
    pdk_claim_unref(claim); /* or keep it, for pdk_claim_cancel */
    sem_wait(&decided);     /* here other work would go on */

    pdk_lock_unref(lock);
    must(pdk_session_close(session, 2000)); /* no callback runs now */
    pdk_session_unref(session);
    return 0;
}

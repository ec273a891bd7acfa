/* A holder that lets go when it is asked. Here the program asks
 * itself; `paddock release` asks from a shell. */
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

/* On the session's own thread. */
static void on_request(pdk_hold *hold, const char *who,
                       int64_t until_ms, void *user) {
    (void)hold, (void)until_ms;
    printf("%s wants the lock\n", who);
    sem_post(user);
}

int main(int argc, char **argv) {
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    pdk_session *session;
    pdk_lock *lock;
    pdk_hold *hold;
    sem_t asked;

    sem_init(&asked, 0, 0);
    must(pdk_session_open(hosts, NULL, &session));
    must(pdk_lock_new(session, "/manual/asked", NULL, &lock));
    must(pdk_lock_acquire(lock, 5000, &hold));
    must(pdk_hold_on_request(hold, on_request, &asked, NULL));

    must(pdk_session_request_release(session, "/manual/asked", NULL,
                                     "the night shift", 10000, 5000));
    sem_wait(&asked); /* work until then, and to a good end */
    must(pdk_hold_release(hold));
    pdk_lock_unref(lock);
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return 0;
}

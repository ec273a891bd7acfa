/* Look at a node of the program's own on the session's connection.
 * Link it with the client library as well: -lzookeeper_mt. */
#include <paddock/paddock.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <zookeeper/zookeeper.h>

static void must(pdk_status status) {
    if (status == PDK_OK)
        return;
    fprintf(stderr, "%s\n", pdk_last_error());
    exit(1);
}

/* On a thread of the client library: it must not wait. */
static void on_stat(int code, const struct Stat *stat,
                    const void *user) {
    (void)stat;
    printf("/manual: %s\n", zerror(code));
    sem_post((sem_t *)user);
}

int main(int argc, char **argv) {
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    pdk_session *session;
    pdk_borrow *borrow;
    sem_t answered;

    sem_init(&answered, 0, 0);
    must(pdk_session_open(hosts, NULL, &session));
    must(pdk_session_borrow(session, NULL, NULL, &borrow));
    if (zoo_aexists(pdk_borrow_handle(borrow), "/manual", 0, on_stat,
                    &answered) == ZOK)
        sem_wait(&answered); /* better with a time limit */
    pdk_borrow_release(borrow);
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return 0;
}

/* Count in ZooKeeper itself. A holder that was paused cannot
 * overwrite the number of the next one. */
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
    pdk_lock *lock;
    pdk_hold *hold;
    pdk_guarded *znode;
    pdk_status status;
    char number[16] = "0";
    size_t size = 0;

    must(pdk_session_open(hosts, NULL, &session));
    must(pdk_lock_new(session, "/manual/counter.lock", NULL, &lock));
    must(pdk_lock_acquire(lock, 5000, &hold));
    must(pdk_guarded_open(hold, "/manual/counter", 5000, &znode));

    status =
        pdk_guarded_read(znode, number, sizeof number - 1, &size, 5000);
    if (status != PDK_ABSENT)
        must(status);
    number[size] = '\0';
    size =
        (size_t)snprintf(number, sizeof number, "%d", atoi(number) + 1);
    must(status == PDK_ABSENT
             ? pdk_guarded_create(znode, number, size, 5000)
             : pdk_guarded_write(znode, number, size, 5000));
    printf("counted to %s\n", number);

    pdk_guarded_close(znode);
    must(pdk_hold_release(hold));
    pdk_lock_unref(lock);
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return 0;
}

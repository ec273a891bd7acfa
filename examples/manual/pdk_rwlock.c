/* Write, then go on as a reader, so that other readers are let in
 * and no writer comes between. */
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
    pdk_rwlock *lock;
    pdk_hold *hold;

    must(pdk_session_open(hosts, NULL, &session));
    must(pdk_rwlock_new(session, "/manual/config", NULL, &lock));
    must(pdk_rwlock_acquire_write(lock, 5000, &hold));
    printf("writing, with token %s\n", pdk_hold_token_text(hold));
    must(pdk_hold_downgrade(hold));
    printf("reading what was written\n");
    must(pdk_hold_release(hold));

    must(pdk_rwlock_acquire_read(lock, 5000, &hold));
    printf("reading, perhaps with others\n");
    must(pdk_hold_release(hold));

    pdk_rwlock_unref(lock);
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return 0;
}

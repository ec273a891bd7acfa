/* Try the lock. If somebody has it, say who, and queue. */
#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>

static void must(pdk_status status) {
    if (status == PDK_OK)
        return;
    fprintf(stderr, "%s\n", pdk_last_error());
    exit(1);
}

static void tell_holder(pdk_lock *lock) {
    pdk_contenders *list;

    must(pdk_lock_holder(lock, 1000, &list));
    if (pdk_contenders_count(list) > 0) /* escape it for a terminal */
        printf("held by %s\n", pdk_contenders_identity(list, 0));
    pdk_contenders_free(list);
}

int main(int argc, char **argv) {
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    pdk_session *session;
    pdk_lock *lock;
    pdk_hold *hold;
    pdk_status status;

    options.identity = "the importer";
    must(pdk_session_open(hosts, NULL, &session));
    must(pdk_lock_new(session, "/manual/import", &options, &lock));

    status = pdk_lock_acquire(lock, 0, &hold); /* a try */
    if (status == PDK_BUSY) {
        tell_holder(lock);
        status = pdk_lock_acquire(lock, 60000, &hold);
    }
    if (status == PDK_TIMEOUT) {
        printf("not in a minute: tomorrow, then\n");
    } else {
        must(status);
        printf("importing\n");
        must(pdk_hold_release(hold));
    }
    pdk_lock_unref(lock);
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return 0;
}

/* One thread, and poll(2): ask who holds a lock, and go on
 * meanwhile. */
#include <paddock/paddock.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static void must(pdk_status status) {
    if (status == PDK_OK)
        return;
    fprintf(stderr, "%s\n", pdk_last_error());
    exit(1);
}

/* It runs in pdk_session_dispatch, and so on our own thread. */
static void on_holder(pdk_status status, pdk_contenders *list,
                      void *user) {
    if (status != PDK_OK)
        printf("%s\n", pdk_last_error());
    else
        printf("%s\n", pdk_contenders_count(list) ? "taken" : "free");
    pdk_contenders_free(list);
    *(bool *)user = true;
}

int main(int argc, char **argv) {
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *session;
    pdk_lock *lock;
    bool answered = false;

    options.dispatch = PDK_DISPATCH_MANUAL;
    must(pdk_session_open(hosts, &options, &session));
    must(pdk_lock_new(session, "/manual/answer", NULL, &lock));
    must(pdk_lock_holder_async(lock, 1000, on_holder, &answered));
    while (!answered) {
        struct pollfd fd = {pdk_session_fd(session), POLLIN, 0};
        poll(&fd, 1, -1); /* beside the program's other descriptors */
        must(pdk_session_dispatch(session, NULL));
    }
    pdk_lock_unref(lock);
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return 0;
}

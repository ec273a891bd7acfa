/* The library as a player of the bench: see play.h. */
#include "play.h"

#include <paddock/paddock.h>
#include <stdio.h>
#include <unistd.h>

enum { CLOSE_MS = 5000 };

static void check(pdk_status status) {
    if (status == PDK_OK)
        return;
    fprintf(stderr, "%s: %s\n", pdk_status_name(status), pdk_last_error());
    _exit(1);
}

static void *open_session(const char *hosts, int timeout_ms) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *session;
    options.session_timeout_ms = timeout_ms;
    check(pdk_session_open(hosts, &options, &session));
    return session;
}

static void close_session(void *session) { pdk_session_close(session, CLOSE_MS); }

static void *make_lock(void *session, const char *path, bool alone, int linger_ms) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    pdk_lock *lock;
    (void)alone;
    options.linger_ms = linger_ms;
    check(pdk_lock_new(session, path, &options, &lock));
    return lock;
}

static void *acquire(void *lock) {
    pdk_hold *hold;
    pdk_status status = pdk_lock_acquire(lock, PDK_FOREVER, &hold);
    if (status == PDK_CLOSED)
        return NULL;
    check(status);
    return hold;
}

static void release(void *lock, void *hold) {
    (void)lock;
    pdk_hold_release(hold);
}

int main(int argc, char **argv) {
    static const struct player ours = {open_session, close_session, make_lock, acquire, release};
    return play(&ours, argc, argv);
}

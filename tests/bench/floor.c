/* The hand-written client of bare.h as a player of the bench: see play.h. `floor --once HOSTS PATH` connects, makes a node, deletes
 * it and disconnects. */
#include "bare.h"
#include "play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ONCE_MS = 15000 };

static void check(bool done, const char *what) {
    if (done)
        return;
    fprintf(stderr, "%s failed\n", what);
    _exit(1);
}

static void *open_session(const char *hosts, int timeout_ms) {
    struct bare *bare = bare_open(hosts, timeout_ms);
    check(bare, "the connection");
    return bare;
}

static void close_session(void *session) { bare_close(session); }

static void *make_lock(void *session, const char *path, bool alone, int linger_ms) {
    (void)linger_ms;
    return bare_lock_new(session, path, alone);
}

static void *acquire(void *lock) {
    check(bare_acquire(lock), "an acquisition");
    return lock;
}

static void release(void *lock, void *hold) {
    (void)hold;
    bare_release(lock);
}

static int once(const char *hosts, const char *path) {
    struct bare *bare = open_session(hosts, ONCE_MS);
    struct bare_lock *lock = bare_lock_new(bare, path, true);
    acquire(lock);
    bare_release(lock);
    bare_flush(lock);
    bare_close(bare);
    bare_lock_free(lock);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
    static const struct player bare = {open_session, close_session, make_lock, acquire, release};
    if (argc == 4 && strcmp(argv[1], "--once") == 0)
        return once(argv[2], argv[3]);
    return play(&bare, argc, argv);
}

/* The hand-written client: see bare.h. */
#include "bare.h"

#include <glib.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <ts_clock.h>
#include <zookeeper/zookeeper.h>

/* As long as the names and the data that the library writes, and of the same form. */
#define PREFIX "_c_00000000-0000-4000-8000-000000000000-lock-"
#define DATA "some-machine:12345"

enum { WAIT_S = 20, PATH_SIZE = 512, DIGITS = 10 };

struct bare {
    zhandle_t *handle;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool connected;
    bool created, listed, first;
    int code;
    int deletes; /* sent and not answered */
    char node[PATH_SIZE];
};

static void notify(struct bare *bare) {
    pthread_cond_signal(&bare->changed);
    pthread_mutex_unlock(&bare->lock);
}

/* The benchmark does not print what the client library logs about a cut link. */
static void ignore_log(const char *message) { (void)message; }

static void on_event(zhandle_t *handle, int type, int state, const char *path, void *user) {
    struct bare *bare = user;
    (void)handle;
    (void)path;
    if (type != ZOO_SESSION_EVENT)
        return;
    pthread_mutex_lock(&bare->lock);
    bare->connected = state == ZOO_CONNECTED_STATE;
    notify(bare);
}

/* The caller holds the lock. */
static bool wait_for(struct bare *bare, const bool *flag) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_S;
    while (!*flag)
        if (pthread_cond_timedwait(&bare->changed, &bare->lock, &until) != 0)
            return *flag;
    return true;
}

struct bare *bare_open(const char *address, int timeout_ms) {
    struct bare *bare = g_new0(struct bare, 1);
    pthread_mutex_init(&bare->lock, NULL);
    pthread_cond_init(&bare->changed, NULL);
    bare->handle = zookeeper_init2(address, on_event, timeout_ms, NULL, bare, ZOO_NO_LOG_CLIENTENV, ignore_log);
    g_assert(bare->handle);
    zoo_set_servers_resolution_delay(bare->handle, -1);
    pthread_mutex_lock(&bare->lock);
    bool connected = wait_for(bare, &bare->connected);
    pthread_mutex_unlock(&bare->lock);
    if (connected)
        return bare;
    bare_close(bare);
    return NULL;
}

void bare_close(struct bare *bare) {
    if (!bare)
        return;
    zookeeper_close(bare->handle);
    pthread_cond_destroy(&bare->changed);
    pthread_mutex_destroy(&bare->lock);
    g_free(bare);
}

static void on_created(int code, const char *path, const struct Stat *stat, const void *user) {
    struct bare *bare = (struct bare *)user;
    (void)stat;
    pthread_mutex_lock(&bare->lock);
    bare->code = code;
    if (code == ZOK)
        g_strlcpy(bare->node, path, sizeof bare->node);
    bare->created = true;
    notify(bare);
}

static int sequence(const char *name) {
    size_t length = strlen(name);
    return length < DIGITS ? -1 : atoi(name + length - DIGITS);
}

static void on_listed(int code, const struct String_vector *children, const void *user) {
    struct bare *bare = (struct bare *)user;
    pthread_mutex_lock(&bare->lock);
    int own = sequence(bare->node);
    bare->first = code == ZOK && bare->code == ZOK;
    for (int i = 0; code == ZOK && i < children->count; i++)
        bare->first = bare->first && sequence(children->data[i]) >= own;
    bare->listed = true;
    notify(bare);
}

static bool enter(struct bare *bare, const char *directory, bool list) {
    char path[PATH_SIZE];
    g_snprintf(path, sizeof path, "%s/" PREFIX, directory);
    bare->created = bare->listed = bare->first = false;
    bool sent = zoo_acreate2(bare->handle, path, DATA, sizeof DATA - 1, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL_SEQUENTIAL,
                             on_created, bare) == ZOK;
    if (!sent || (list && zoo_aget_children(bare->handle, directory, 0, on_listed, bare) != ZOK))
        return false;
    pthread_mutex_lock(&bare->lock);
    bool answered = wait_for(bare, list ? &bare->listed : &bare->created);
    bool good = answered && bare->code == ZOK && (!list || bare->first);
    pthread_mutex_unlock(&bare->lock);
    return good;
}

bool bare_acquire(struct bare *bare, const char *directory) { return enter(bare, directory, true); }
bool bare_create(struct bare *bare, const char *directory) { return enter(bare, directory, false); }

static void on_set(int code, const struct Stat *stat, const void *user) {
    struct bare *bare = (struct bare *)user;
    (void)stat;
    pthread_mutex_lock(&bare->lock);
    bare->code = code;
    bare->created = true;
    notify(bare);
}

bool bare_set(struct bare *bare, const char *path, const char *data, int size) {
    bare->created = false;
    return zoo_aset(bare->handle, path, data, size, -1, on_set, bare) == ZOK && wait_for(bare, &bare->created) &&
           bare->code == ZOK;
}

static void on_deleted(int code, const void *user) {
    struct bare *bare = (struct bare *)user;
    (void)code;
    pthread_mutex_lock(&bare->lock);
    bare->deletes--;
    notify(bare);
}

void bare_release(struct bare *bare) {
    pthread_mutex_lock(&bare->lock);
    bare->deletes++;
    pthread_mutex_unlock(&bare->lock);
    if (zoo_adelete(bare->handle, bare->node, -1, on_deleted, bare) != ZOK)
        on_deleted(ZINVALIDSTATE, bare);
}

static bool all_deleted(void *user) {
    struct bare *bare = user;
    pthread_mutex_lock(&bare->lock);
    bool done = bare->deletes == 0;
    pthread_mutex_unlock(&bare->lock);
    return done;
}

bool bare_flush(struct bare *bare) { return ts_wait_until(all_deleted, bare, INT64_C(1000) * WAIT_S); }

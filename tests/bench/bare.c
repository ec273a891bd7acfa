/* The hand-written client: see bare.h. */
#include "bare.h"

#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ts_clock.h>
#include <zookeeper/zookeeper.h>

/* As long as the names and the data that the library writes, and of the same form. */
#define PREFIX "_c_00000000-0000-4000-8000-000000000000-lock-"
#define DATA "some-machine:12345"

enum { CONNECT_S = 20, PATH_SIZE = 512, NAME_SIZE = 128, DIGITS = 10, HANDOVERS_MOST = 256, HANDOVERS_MS = 100 };

/* A thread that waits for another one. The end of its wait is told under `lock`. */
struct latch {
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

struct bare {
    zhandle_t *handle;
    struct latch latch;
    bool connected, answered;
    int code;
};

/* A thread in the process's own queue. */
struct waiter {
    pthread_cond_t turn;
    bool granted, enters; /* enters: it has to make a node */
};

struct bare_lock {
    struct bare *bare;
    char *directory;
    bool alone;
    struct latch latch;
    /* the answers to the thread that enters */
    bool created, listed, gone;
    int code, ahead;
    atomic_int deletes; /* sent and not answered */
    atomic_bool flushed;
    char node[PATH_SIZE], predecessor[NAME_SIZE];
    /* the threads of the process */
    bool taken;
    GQueue waiting;
    int handovers;
    int64_t since;
};

static void latch_init(struct latch *latch) {
    pthread_mutex_init(&latch->lock, NULL);
    pthread_cond_init(&latch->changed, NULL);
}

static void latch_destroy(struct latch *latch) {
    pthread_cond_destroy(&latch->changed);
    pthread_mutex_destroy(&latch->lock);
}

static void tell(struct latch *latch) {
    pthread_cond_signal(&latch->changed);
    pthread_mutex_unlock(&latch->lock);
}

static void await(struct latch *latch, const bool *flag) {
    pthread_mutex_lock(&latch->lock);
    while (!*flag)
        pthread_cond_wait(&latch->changed, &latch->lock);
    pthread_mutex_unlock(&latch->lock);
}

/* ---- the session */

/* The benchmark does not print what the client library logs. */
static void ignore_log(const char *message) { (void)message; }

static void on_event(zhandle_t *handle, int type, int state, const char *path, void *user) {
    struct bare *bare = user;
    (void)handle;
    (void)path;
    if (type != ZOO_SESSION_EVENT)
        return;
    pthread_mutex_lock(&bare->latch.lock);
    bare->connected = state == ZOO_CONNECTED_STATE;
    tell(&bare->latch);
}

static bool await_connection(struct bare *bare) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += CONNECT_S;
    pthread_mutex_lock(&bare->latch.lock);
    while (!bare->connected && pthread_cond_timedwait(&bare->latch.changed, &bare->latch.lock, &until) == 0)
        continue;
    bool connected = bare->connected;
    pthread_mutex_unlock(&bare->latch.lock);
    return connected;
}

struct bare *bare_open(const char *address, int timeout_ms) {
    struct bare *bare = g_new0(struct bare, 1);
    latch_init(&bare->latch);
    bare->handle = zookeeper_init2(address, on_event, timeout_ms, NULL, bare, ZOO_NO_LOG_CLIENTENV, ignore_log);
    g_assert(bare->handle);
    zoo_set_servers_resolution_delay(bare->handle, -1);
    if (await_connection(bare))
        return bare;
    bare_close(bare);
    return NULL;
}

void bare_close(struct bare *bare) {
    if (!bare)
        return;
    zookeeper_close(bare->handle);
    latch_destroy(&bare->latch);
    g_free(bare);
}

static void on_set(int code, const struct Stat *stat, const void *user) {
    struct bare *bare = (struct bare *)user;
    (void)stat;
    pthread_mutex_lock(&bare->latch.lock);
    bare->code = code;
    bare->answered = true;
    tell(&bare->latch);
}

bool bare_set(struct bare *bare, const char *path, const char *data, int size) {
    bare->answered = false;
    if (zoo_aset(bare->handle, path, data, size, -1, on_set, bare) != ZOK)
        return false;
    await(&bare->latch, &bare->answered);
    return bare->code == ZOK;
}

/* ---- a node in the directory */

static void on_created(int code, const char *path, const struct Stat *stat, const void *user) {
    struct bare_lock *lock = (struct bare_lock *)user;
    (void)stat;
    pthread_mutex_lock(&lock->latch.lock);
    lock->code = code;
    if (code == ZOK)
        g_strlcpy(lock->node, path, sizeof lock->node);
    lock->created = true;
    tell(&lock->latch);
}

static int sequence(const char *name) {
    size_t length = strlen(name);
    return length < DIGITS ? -1 : atoi(name + length - DIGITS);
}

/* How many are ahead of our node, and the last of them. */
static void look(struct bare_lock *lock, const struct String_vector *children) {
    const int own = sequence(lock->node);
    int last = -1;
    lock->ahead = 0;
    for (int i = 0; i < children->count; i++) {
        const int number = sequence(children->data[i]);
        if (number >= own)
            continue;
        lock->ahead++;
        if (number > last) {
            last = number;
            g_strlcpy(lock->predecessor, children->data[i], sizeof lock->predecessor);
        }
    }
}

static void on_listed(int code, const struct String_vector *children, const void *user) {
    struct bare_lock *lock = (struct bare_lock *)user;
    pthread_mutex_lock(&lock->latch.lock);
    if (lock->code == ZOK)
        lock->code = code;
    if (lock->code == ZOK)
        look(lock, children);
    lock->listed = true;
    tell(&lock->latch);
}

static void end_wait(struct bare_lock *lock) {
    pthread_mutex_lock(&lock->latch.lock);
    lock->gone = true;
    tell(&lock->latch);
}

static void on_change(zhandle_t *handle, int type, int state, const char *path, void *user) {
    (void)handle;
    (void)state;
    (void)path;
    if (type != ZOO_SESSION_EVENT)
        end_wait(user);
}

static void on_read(int code, const char *value, int length, const struct Stat *stat, const void *user) {
    (void)value;
    (void)length;
    (void)stat;
    if (code != ZOK)
        end_wait((struct bare_lock *)user);
}

static bool send_list(struct bare_lock *lock) {
    return zoo_aget_children(lock->bare->handle, lock->directory, 0, on_listed, lock) == ZOK;
}

static bool await_predecessor(struct bare_lock *lock) {
    char path[PATH_SIZE + NAME_SIZE];
    g_snprintf(path, sizeof path, "%s/%s", lock->directory, lock->predecessor);
    lock->gone = false;
    if (zoo_awget(lock->bare->handle, path, on_change, lock, on_read, lock) != ZOK)
        return false;
    await(&lock->latch, &lock->gone);
    return true;
}

/* Makes a node, and waits until nothing is ahead of it. */
static bool enter(struct bare_lock *lock) {
    char path[PATH_SIZE];
    g_snprintf(path, sizeof path, "%s/" PREFIX, lock->directory);
    lock->created = lock->listed = false;
    if (zoo_acreate2(lock->bare->handle, path, DATA, sizeof DATA - 1, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL_SEQUENTIAL,
                     on_created, lock) != ZOK)
        return false;
    if (lock->alone) {
        await(&lock->latch, &lock->created);
        return lock->code == ZOK;
    }
    while (send_list(lock)) {
        await(&lock->latch, &lock->listed);
        if (lock->code != ZOK || lock->ahead == 0)
            return lock->code == ZOK;
        const bool only = lock->ahead == 1;
        if (!await_predecessor(lock))
            return false;
        if (only)
            return true;
        lock->listed = false;
    }
    return false;
}

static void on_deleted(int code, const void *user) {
    struct bare_lock *lock = (struct bare_lock *)user;
    (void)code;
    if (atomic_fetch_sub(&lock->deletes, 1) == 1 && atomic_load(&lock->flushed))
        end_wait(lock);
}

static void leave(struct bare_lock *lock) {
    atomic_fetch_add(&lock->deletes, 1);
    if (zoo_adelete(lock->bare->handle, lock->node, -1, on_deleted, lock) != ZOK)
        on_deleted(ZINVALIDSTATE, lock);
}

void bare_flush(struct bare_lock *lock) {
    lock->gone = false;
    atomic_store(&lock->flushed, true);
    if (atomic_load(&lock->deletes) > 0)
        await(&lock->latch, &lock->gone);
}

/* ---- the threads of the process */

struct bare_lock *bare_lock_new(struct bare *bare, const char *directory, bool alone) {
    struct bare_lock *lock = g_new0(struct bare_lock, 1);
    latch_init(&lock->latch);
    g_queue_init(&lock->waiting);
    lock->bare = bare;
    lock->directory = g_strdup(directory);
    lock->alone = alone;
    return lock;
}

void bare_lock_free(struct bare_lock *lock) {
    latch_destroy(&lock->latch);
    g_free(lock->directory);
    g_free(lock);
}

/* The first node of a row of hand-overs. */
static bool begin(struct bare_lock *lock) {
    lock->handovers = 0;
    lock->since = ts_now_ns();
    return enter(lock);
}

bool bare_acquire(struct bare_lock *lock) {
    /* Whoever tells a waiter signals after the unlock, so the condition has to live on. */
    static _Thread_local struct waiter own = {.turn = PTHREAD_COND_INITIALIZER};
    own.granted = own.enters = false;
    pthread_mutex_lock(&lock->latch.lock);
    if (lock->taken) {
        g_queue_push_tail(&lock->waiting, &own);
        while (!own.granted)
            pthread_cond_wait(&own.turn, &lock->latch.lock);
    } else {
        lock->taken = own.enters = true;
    }
    pthread_mutex_unlock(&lock->latch.lock);
    return !own.enters || begin(lock);
}

void bare_release(struct bare_lock *lock) {
    pthread_mutex_lock(&lock->latch.lock);
    struct waiter *next = g_queue_pop_head(&lock->waiting);
    const bool stays =
        next && ++lock->handovers < HANDOVERS_MOST && ts_now_ns() - lock->since < INT64_C(1000000) * HANDOVERS_MS;
    if (!stays)
        leave(lock);
    if (next) {
        next->enters = !stays;
        next->granted = true;
    } else {
        lock->taken = false;
    }
    pthread_mutex_unlock(&lock->latch.lock);
    if (next)
        pthread_cond_signal(&next->turn);
}

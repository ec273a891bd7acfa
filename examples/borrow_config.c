/* One ZooKeeper session for a lock and for a node of the program's own, by the handle of the client library.
 *
 *     borrow_config HOSTS        such as 127.0.0.1:2181
 */
#include <paddock/paddock.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <zookeeper/zookeeper.h>

static const char path[] = "/borrow_config";
static sem_t answers;

static void check(const char *what, pdk_status status) {
    if (status != PDK_OK) {
        fprintf(stderr, "borrow_config: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
        exit(EXIT_FAILURE);
    }
}

/* It runs on a thread of the client library, so it must not wait. */
static void on_created(int code, const char *name, const void *user) {
    (void)name;
    (void)user;
    printf("create: %s\n", zerror(code));
    sem_post(&answers);
}

/* An expiry is an answer, too: ask again after PDK_SESSION_REOPENED. */
static void on_config(int code, const char *data, int size, const struct Stat *stat, const void *user) {
    (void)stat;
    (void)user;
    printf("config: %.*s, %s\n", size > 0 ? size : 0, data ? data : "", zerror(code));
    sem_post(&answers);
}

static bool create_config(zhandle_t *handle) {
    return zoo_acreate(handle, path, "green", 5, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, on_created, NULL) == ZOK;
}

static bool read_config(zhandle_t *handle) { return zoo_aget(handle, path, 0, on_config, NULL) == ZOK; }

/* The client library forgets answers at times, so nobody waits without a limit. */
static bool is_answered(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 5;
    return sem_timedwait(&answers, &until) == 0;
}

static bool ask(pdk_session *session, bool (*send)(zhandle_t *handle)) {
    pdk_borrow *borrow;
    if (pdk_session_borrow(session, NULL, NULL, &borrow) != PDK_OK)
        return false; /* no ZooKeeper session now: PDK_SESSION_REOPENED tells when there is one */
    bool answered = send(pdk_borrow_handle(borrow)) && is_answered();
    pdk_borrow_release(borrow);
    return answered;
}

int main(int argc, char **argv) {
    pdk_session *session;
    pdk_lock *lock;
    pdk_hold *hold;
    sem_init(&answers, 0, 0);
    check("open", pdk_session_open(argc > 1 ? argv[1] : "127.0.0.1:2181", NULL, &session));
    check("lock", pdk_lock_new(session, "/examples/config", NULL, &lock));
    check("acquire", pdk_lock_acquire(lock, 5000, &hold));
    bool fine = ask(session, create_config) && ask(session, read_config);
    pdk_hold_release(hold);
    pdk_lock_unref(lock);
    pdk_session_close(session, 2000);
    pdk_session_unref(session);
    return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}

/*
 * A pool of threads shares one lock, and shuts down properly.
 *
 *     lock_pool HOSTS        such as 127.0.0.1:2181
 *
 * Threads that share a pdk_lock queue in front of one znode. The lock is handed from thread to thread without
 * ZooKeeper, and after a while to another process that waits. It protects a plain counter here. The shutdown: set
 * `stopping`, let the holder and the queued threads finish, close the session (this wakes threads that still wait),
 * join, unref.
 */
#include <paddock/paddock.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 4 };

static pdk_lock *lock;
static atomic_bool stopping;
static atomic_int failures;
static long counter; /* guarded by the lock, across threads and processes */

static int failed(const char *what, pdk_status status) {
    fprintf(stderr, "lock_pool: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
    return 1;
}

static void *work(void *user) {
    long *turns = user;

    while (!atomic_load(&stopping)) {
        pdk_hold *hold = NULL;
        pdk_status status = pdk_lock_acquire(lock, PDK_FOREVER, &hold);

        if (status != PDK_OK) {
            if (status != PDK_CLOSED) /* CLOSED: the session was closed while we were in the queue */
                atomic_fetch_add(&failures, failed("acquire", status));
            break;
        }
        counter++;
        ++*turns;
        if ((status = pdk_hold_release(hold)) != PDK_OK) /* LOST: another holder may have worked meanwhile */
            atomic_fetch_add(&failures, failed("release", status));
    }
    return NULL;
}

int main(int argc, char **argv) {
    pdk_session *session = NULL;
    pthread_t threads[THREADS];
    long turns[THREADS] = {0}, sum = 0;
    pdk_status status = pdk_session_open(argc > 1 ? argv[1] : "127.0.0.1:2181", NULL, &session);
    if (status != PDK_OK)
        return failed("open", status);
    if ((status = pdk_lock_new(session, "/examples/pool", NULL, &lock)) != PDK_OK)
        return failed("lock", status);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, &turns[i]);
    sleep(1);

    atomic_store(&stopping, true);
    pdk_hold *last = NULL; /* we queue last: when we are granted, no other thread is in the queue */
    status = pdk_lock_acquire(lock, 2000, &last);
    if (status == PDK_OK)
        status = pdk_hold_release(last);
    if (status != PDK_OK)
        atomic_fetch_add(&failures, failed("the last turn", status));
    if ((status = pdk_session_close(session, 2000)) != PDK_OK)
        atomic_fetch_add(&failures, failed("close", status));
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        printf("thread %d: %ld turns\n", i + 1, turns[i]);
        sum += turns[i];
    }
    pdk_lock_unref(lock);
    pdk_session_unref(session);
    printf("%ld turns, the counter says %ld: %s\n", sum, counter, sum == counter ? "equal" : "NOT EQUAL");
    return atomic_load(&failures) || sum != counter;
}

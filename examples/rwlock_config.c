/*
 * A configuration with many readers and few writers. A thread that finds it out of date rewrites it, and reads on.
 *
 *     rwlock_config HOSTS        such as 127.0.0.1:2181
 *
 * A reader cannot become a writer: two that did so would wait for each other for ever (PDK_UPGRADE). So it releases the
 * lock, queues as a writer, and looks again, since another may have been faster. After writing it becomes a reader:
 * pdk_hold_downgrade grants the readers behind it, and no writer before it has finished.
 * Threads of two sessions stand for processes here, and a number stands for the file that they share.
 */
#include <paddock/paddock.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 6, VERSIONS = 3 };
static atomic_int config; /* its version, guarded by the lock */
static atomic_int writes, reads, inside, together;

static void check(const char *what, pdk_status status) {
    if (status != PDK_OK) {
        fprintf(stderr, "rwlock_config: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
        exit(EXIT_FAILURE);
    }
}

/* Returns a shared hold. The configuration has at least that version then. */
static pdk_hold *open_config(pdk_rwlock *lock, int version) {
    pdk_hold *hold = NULL;
    for (;;) {
        check("read", pdk_rwlock_acquire_read(lock, 10000, &hold));
        if (config >= version)
            return hold;
        check("release", pdk_hold_release(hold));
        check("write", pdk_rwlock_acquire_write(lock, 10000, &hold));
        if (config < version) { /* still */
            config = version;
            printf("version %d: written with token %lld\n", ++writes, (long long)pdk_hold_token(hold));
            check("downgrade", pdk_hold_downgrade(hold));
            return hold;
        }
        check("release", pdk_hold_release(hold)); /* another was faster: read with the others */
    }
}

static void *work(void *lock) {
    for (int version = 1; version <= VERSIONS; version++, reads++) {
        pdk_hold *hold = open_config(lock, version);
        int readers = ++inside;
        if (readers > together)
            together = readers;
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL); /* use it … */
        inside--;
        check("release", pdk_hold_release(hold));
    }
    return NULL;
}

int main(int argc, char **argv) {
    pdk_session *sessions[2];
    pdk_rwlock *locks[2];
    pthread_t threads[THREADS];
    for (int i = 0; i < 2; i++) {
        check("open", pdk_session_open(argc > 1 ? argv[1] : "127.0.0.1:2181", NULL, &sessions[i]));
        check("lock", pdk_rwlock_new(sessions[i], "/examples/config", NULL, &locks[i]));
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, locks[i % 2]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) {
        pdk_rwlock_unref(locks[i]);
        check("close", pdk_session_close(sessions[i], 2000));
        pdk_session_unref(sessions[i]);
    }
    printf("%d versions written %d times, read %d times, by up to %d together\n", VERSIONS, writes, reads, together);
    return writes == VERSIONS && reads == VERSIONS * THREADS ? EXIT_SUCCESS : EXIT_FAILURE;
}

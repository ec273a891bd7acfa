/*
 * A configuration that many read and few write: whoever finds it out of date writes it anew, and goes on as a reader.
 *
 *     rwlock_config HOSTS        such as 127.0.0.1:2181
 *
 * A reader cannot become a writer in place, for two that did so would wait for each other for ever (PDK_UPGRADE). So it
 * gives the lock back, queues as a writer, and looks again: another may have been faster. What it has written it then
 * reads as everybody else does: pdk_rwlock_downgrade lets the readers behind it in, and no writer before it is done.
 * Threads of two sessions play processes here, and a number plays the file that they share.
 */
#include <paddock/paddock.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 6, VERSIONS = 3 };
static atomic_int config; /* its version: the lock guards what it stands for */
static atomic_int writes, reads, inside, together;

static void check(const char *what, pdk_status status) {
    if (status != PDK_OK) {
        fprintf(stderr, "rwlock_config: %s: %s: %s\n", what, pdk_status_name(status), pdk_error_text());
        exit(EXIT_FAILURE);
    }
}

/* Returns a shared hold, under which the configuration is of that version at the least. */
static pdk_hold *open_config(pdk_rwlock *lock, int version) {
    pdk_hold *hold = NULL;
    for (;;) {
        check("read", pdk_rwlock_read(lock, 10000, &hold));
        if (config >= version)
            return hold;
        check("release", pdk_hold_release(hold));
        check("write", pdk_rwlock_write(lock, 10000, &hold));
        if (config < version) { /* still */
            config = version;
            printf("version %d: written with token %lld\n", ++writes, (long long)pdk_hold_token(hold));
            check("downgrade", pdk_rwlock_downgrade(lock, hold));
            return hold;
        }
        check("release", pdk_hold_release(hold)); /* another was faster: read it together with the others */
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

/*
 * Downloads from a server that allows three at a time, from all processes and machines together.
 *
 *     semaphore_pool HOSTS        such as 127.0.0.1:2181
 *
 * Each download takes one permit, and a large one takes two at once. Between pieces it asks whether its permits are
 * valid. Others may have the lost permits by then, so the download begins again. Several programs keep the limit, too.
 */
#include <paddock/paddock.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { PERMITS = 3, THREADS = 6, PIECES = 25 };

static pdk_semaphore *semaphore;
static atomic_int failures, in_use, most;

static int failed(const char *what, pdk_status status) {
    fprintf(stderr, "semaphore_pool: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
    return 1;
}

/* False: the permits were lost meanwhile. */
static bool load(const pdk_hold *permits, int pieces) {
    for (int piece = 0; piece < pieces; piece++) {
        if (!pdk_hold_is_valid(permits))
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    return true;
}

static void download(const char *name, int count) {
    for (bool done = false; !done;) {
        pdk_hold *permits = NULL;
        pdk_status status = pdk_semaphore_acquire(semaphore, count, 30000, &permits);
        if (status != PDK_OK) { /* MISMATCH: another client says that there are not three */
            atomic_fetch_add(&failures, failed(name, status));
            return;
        }
        printf("%s: begins\n", name);
        int now = atomic_fetch_add(&in_use, count) + count, before = atomic_load(&most);
        while (now > before && !atomic_compare_exchange_weak(&most, &before, now))
            ;
        done = load(permits, count * PIECES);
        atomic_fetch_sub(&in_use, count);
        printf("%s: %s\n", name, done ? "done" : pdk_reason_name(pdk_hold_reason(permits)));
        pdk_hold_release(permits); /* it returns LOST after a loss, and deletes all nodes all the same */
    }
}

static void *work(void *name) {
    download(name, 1);
    return NULL;
}

int main(int argc, char **argv) {
    static char names[THREADS][2] = {"a", "b", "c", "d", "e", "f"};
    pdk_session *session = NULL;
    pthread_t threads[THREADS];
    pdk_status status = pdk_session_open(argc > 1 ? argv[1] : "127.0.0.1:2181", NULL, &session);
    if (status != PDK_OK)
        return failed("open", status);
    if ((status = pdk_semaphore_new(session, "/examples/downloads", PERMITS, NULL, &semaphore)) != PDK_OK)
        return failed("semaphore", status);
    setvbuf(stdout, NULL, _IOLBF, 0);
    download("large", 2);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, names[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pdk_semaphore_unref(semaphore);
    if ((status = pdk_session_close(session, 2000)) != PDK_OK)
        atomic_fetch_add(&failures, failed("close", status));
    pdk_session_unref(session);
    printf("at most %d of %d permits were in use\n", atomic_load(&most), PERMITS);
    return atomic_load(&failures) || atomic_load(&most) > PERMITS;
}

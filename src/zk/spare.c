#include "zk/spare.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

enum { NEEDED = 2, LOOKS = 1000 };

struct spare {
    pthread_mutex_t *over;
    pthread_t thread;
    pid_t id;
};

static void *wait_for_end(void *user) {
    struct spare *spare = user;
    spare->id = gettid();
    pthread_mutex_lock(spare->over);
    pthread_mutex_unlock(spare->over);
    return NULL;
}

/* Wait after the join, since the system counts a joined thread for a moment longer. */
static void end_thread(const struct spare *spare) {
    pthread_join(spare->thread, NULL);
    for (int looks = 0; looks < LOOKS && tgkill(getpid(), spare->id, 0) == 0; looks++)
        sched_yield();
}

bool pdk__spare_threads(void) {
    pthread_mutex_t over = PTHREAD_MUTEX_INITIALIZER;
    struct spare all[NEEDED];
    int begun = 0;
    pthread_mutex_lock(&over);
    while (begun < NEEDED) {
        all[begun].over = &over;
        if (pthread_create(&all[begun].thread, NULL, wait_for_end, &all[begun]) != 0)
            break;
        begun++;
    }
    pthread_mutex_unlock(&over);
    for (int i = 0; i < begun; i++)
        end_thread(&all[i]);
    pthread_mutex_destroy(&over);
    return begun == NEEDED;
}

/* See directory_remover.h. */
#include "directory_remover.h"

#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "ts_bench.h"
#include "ts_support.h"

struct directory_remover {
    char *directories[2];
    atomic_bool stop;
    int removed;
    pthread_t thread;
};

static void *remove_empty_ones(void *user) {
    directory_remover *remover = user;
    ts_observer *o = ts_observer_open(ts_bench_server());

    while (o != NULL && !atomic_load(&remover->stop)) {
        for (int i = 0; i < 2 && remover->directories[i] != NULL; i++) {
            remover->removed += ts_observer_delete(o, remover->directories[i]) == 0;
        }
        ts_sleep_ms(1); /* otherwise they would never exist */
    }
    ts_observer_close(o);
    return NULL;
}

directory_remover *directory_remover_start(const char *one, const char *two) {
    directory_remover *remover = g_new0(directory_remover, 1);

    remover->directories[0] = g_strdup(one);
    remover->directories[1] = g_strdup(two);
    if (pthread_create(&remover->thread, NULL, remove_empty_ones, remover) != 0) {
        abort();
    }
    return remover;
}

int directory_remover_stop(directory_remover *remover) {
    atomic_store(&remover->stop, true);
    pthread_join(remover->thread, NULL);
    const int removed = remover->removed;
    g_free(remover->directories[0]);
    g_free(remover->directories[1]);
    g_free(remover);
    return removed;
}

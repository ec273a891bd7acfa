/* See sweeper.h. */
#include "sweeper.h"

#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "ts_stage.h"
#include "ts_support.h"

struct sweeper {
    char *directories[2];
    atomic_bool stop;
    int removed;
    pthread_t thread;
};

static void *sweep(void *user) {
    sweeper *s = user;
    ts_observer *o = ts_observer_open(ts_stage_server());

    while (o != NULL && !atomic_load(&s->stop)) {
        for (int i = 0; i < 2 && s->directories[i] != NULL; i++) {
            s->removed += ts_observer_delete(o, s->directories[i]) == 0;
        }
        ts_sleep_ms(1); /* lest they never be there */
    }
    ts_observer_close(o);
    return NULL;
}

sweeper *sweeper_start(const char *one, const char *two) {
    sweeper *s = g_new0(sweeper, 1);

    s->directories[0] = g_strdup(one);
    s->directories[1] = g_strdup(two);
    if (pthread_create(&s->thread, NULL, sweep, s) != 0) {
        abort();
    }
    return s;
}

int sweeper_stop(sweeper *s) {
    atomic_store(&s->stop, true);
    pthread_join(s->thread, NULL);
    const int removed = s->removed;
    g_free(s->directories[0]);
    g_free(s->directories[1]);
    g_free(s);
    return removed;
}

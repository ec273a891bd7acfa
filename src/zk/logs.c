#include "zk/logs.h"

#include "base/fork.h"

#include <glib.h>
#include <paddock/session.h>
#include <pthread.h>
#include <string.h>

struct listener {
    pdk__log_sink sink;
    void *driver;
    unsigned forks; /* its process: another one does not have its threads, and its locks may be held for good */
};

/* The place in the client library that an error came from, "function@line", and when it was last told as an error. */
struct place {
    char name[64];
    int64_t told_us;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static GSList *listeners;
static struct place places[16];
static unsigned newest;

void pdk__logs_add(pdk__log_sink sink, void *driver) {
    struct listener *listener = g_new(struct listener, 1);
    *listener = (struct listener){sink, driver, pdk__forks()};
    pthread_mutex_lock(&lock);
    listeners = g_slist_prepend(listeners, listener);
    pthread_mutex_unlock(&lock);
}

void pdk__logs_remove(void *driver) {
    pthread_mutex_lock(&lock);
    for (GSList *link = listeners; link; link = link->next) {
        struct listener *listener = link->data;
        if (listener->driver == driver) {
            listeners = g_slist_delete_link(listeners, link);
            g_free(listener);
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

/* Was an error of this place told within a second? Under the lock. */
static bool is_repeated(const char *name) {
    int64_t now = g_get_monotonic_time();
    size_t length = MIN(strcspn(name, ":"), sizeof places[0].name - 1);
    struct place *place = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(places) && !place; i++)
        if (strncmp(places[i].name, name, length) == 0 && places[i].name[length] == '\0')
            place = &places[i];
    bool repeated = place && now - place->told_us < G_USEC_PER_SEC;
    if (!place)
        place = &places[newest++ % G_N_ELEMENTS(places)];
    if (!repeated) {
        memcpy(place->name, name, length);
        place->name[length] = '\0';
        place->told_us = now;
    }
    return repeated;
}

/* The lines are details for our users, since the session tells them the important events. Only errors are worth INFO,
 * and of the errors from one place the first in a second: the library repeats them as fast as a server fails it. */
void pdk__logs_queue(const char *line) {
    static const char mark[] = "ZOO_ERROR@";
    const char *error = strstr(line, mark);
    char *text = g_utf8_make_valid(line, -1); /* it quotes text from outside */
    g_strdelimit(g_strchomp(text), "\r\n\t\033", ' ');
    pthread_mutex_lock(&lock);
    int level = error && !is_repeated(error + strlen(mark)) ? PDK_LOG_INFO : PDK_LOG_DEBUG;
    for (GSList *link = listeners; link; link = link->next) {
        struct listener *listener = link->data;
        if (listener->forks == pdk__forks())
            listener->sink(listener->driver, level, text);
    }
    pthread_mutex_unlock(&lock);
    g_free(text);
}

void pdk__logs_fork(bool begins) {
    if (begins)
        pthread_mutex_lock(&lock);
    else
        pthread_mutex_unlock(&lock);
}

#include "zk/logs.h"

#include "base/fork.h"

#include <glib.h>
#include <paddock/session.h>
#include <pthread.h>
#include <string.h>

struct listener {
    pdk__log_sink sink;
    void *driver;
    unsigned forks; /* of its process. Another process has not got its threads, and its locks may be held for good. */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static GSList *listeners;

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

/* All of it is detail for our users: the session tells them the important events. Only the errors are worth INFO. */
void pdk__logs_queue(const char *line) {
    int level = strstr(line, "ZOO_ERROR") ? PDK_LOG_INFO : PDK_LOG_DEBUG;
    char *text = g_utf8_make_valid(line, -1); /* it quotes text from outside */
    g_strdelimit(g_strchomp(text), "\r\n\t\033", ' ');
    pthread_mutex_lock(&lock);
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

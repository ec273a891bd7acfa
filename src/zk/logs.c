#include "zk/logs.h"

#include <glib.h>
#include <paddock/session.h>
#include <pthread.h>
#include <string.h>

struct reader {
    pdk__log_sink sink;
    void *driver;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static GSList *readers;

void pdk__logs_add(pdk__log_sink sink, void *driver) {
    struct reader *reader = g_new(struct reader, 1);
    *reader = (struct reader){sink, driver};
    pthread_mutex_lock(&lock);
    readers = g_slist_prepend(readers, reader);
    pthread_mutex_unlock(&lock);
}

void pdk__logs_remove(void *driver) {
    pthread_mutex_lock(&lock);
    for (GSList *link = readers; link; link = link->next) {
        struct reader *reader = link->data;
        if (reader->driver == driver) {
            readers = g_slist_delete_link(readers, link);
            g_free(reader);
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

/* All of it is detail to our users, who hear of what matters from the session: only its errors are worth INFO. */
void pdk__logs_queue(const char *line) {
    int level = strstr(line, "ZOO_ERROR") ? PDK_LOG_INFO : PDK_LOG_DEBUG;
    char *text = g_utf8_make_valid(line, -1); /* it quotes what came from outside */
    g_strdelimit(g_strchomp(text), "\r\n\t\033", ' ');
    pthread_mutex_lock(&lock);
    for (GSList *link = readers; link; link = link->next) {
        struct reader *reader = link->data;
        reader->sink(reader->driver, level, text);
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

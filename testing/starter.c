/* A thread that starts processes. */
#include "starter.h"

#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "process.h"

/* A process to start. The struct is the caller's, which waits until it is done. */
typedef struct {
    const char *const *argv;
    const char *folder;
    const char *log;
    pid_t pid;
    int error;
    bool done;
} task;

struct pdk__test_starter {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t news;
    task *next;
    bool stop;
};

static void *run(void *user) {
    pdk__test_starter *s = user;

    pthread_mutex_lock(&s->lock);
    while (!s->stop) {
        if (s->next != NULL && !s->next->done) {
            s->next->pid = pdk__test_spawn_server(s->next->argv, s->next->folder, s->next->log);
            s->next->error = errno;
            s->next->done = true;
            pthread_cond_broadcast(&s->news);
        }
        pthread_cond_wait(&s->news, &s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

pdk__test_starter *pdk__test_starter_new(void) {
    pdk__test_starter *s = g_new0(pdk__test_starter, 1);
    sigset_t all, old;
    int failed;

    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->news, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    failed = pthread_create(&s->thread, NULL, run, s);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (failed != 0) {
        g_free(s);
        return NULL;
    }
    return s;
}

void pdk__test_starter_free(pdk__test_starter *s) {
    if (s == NULL) {
        return;
    }
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_broadcast(&s->news);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    pthread_cond_destroy(&s->news);
    pthread_mutex_destroy(&s->lock);
    g_free(s);
}

pid_t pdk__test_starter_spawn(pdk__test_starter *s, const char *const argv[], const char *folder, const char *log) {
    task mine = {.argv = argv, .folder = folder, .log = log};

    pthread_mutex_lock(&s->lock);
    s->next = &mine; /* one thread at a time starts servers of an ensemble */
    pthread_cond_broadcast(&s->news);
    while (!mine.done) {
        pthread_cond_wait(&s->news, &s->lock);
    }
    s->next = NULL;
    pthread_mutex_unlock(&s->lock);
    errno = mine.error;
    return mine.pid;
}

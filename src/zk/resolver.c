#include "zk/resolver.h"

#include "base/signals.h"
#include "base/thread.h"

#include <glib.h>
#include <pthread.h>

#define ASK_EVERY_NS 20000000

struct lookup {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int users; /* the caller and the thread; the last one frees */
    bool done;
    struct pdk__hosts *hosts;
    pdk_status status;
    char *servers, *why;
};

static void leave(struct lookup *lookup) {
    bool last = --lookup->users == 0;
    pthread_mutex_unlock(&lookup->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&lookup->lock);
    pthread_cond_destroy(&lookup->changed);
    pdk__hosts_free(lookup->hosts);
    g_free(lookup->servers);
    g_free(lookup->why);
    g_free(lookup);
}

static void *look_up(void *user) {
    struct lookup *lookup = user;
    char *servers = NULL, *why = NULL;
    pdk_status status = pdk__hosts_resolve(lookup->hosts, &servers, &why);
    pthread_mutex_lock(&lookup->lock);
    lookup->status = status;
    lookup->servers = servers;
    lookup->why = why;
    lookup->done = true;
    pthread_cond_signal(&lookup->changed);
    leave(lookup);
    return NULL;
}

static bool start_thread(struct lookup *lookup) {
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t before;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pdk__signals_block(&before);
    int failed = pthread_create(&thread, &attributes, look_up, lookup);
    pdk__signals_set(&before);
    pthread_attr_destroy(&attributes);
    return failed == 0;
}

static void wait_a_moment(struct lookup *lookup) {
    struct timespec until = pdk__cond_moment(ASK_EVERY_NS);
    pthread_cond_timedwait(&lookup->changed, &lookup->lock, &until);
}

pdk_status pdk__resolve(const struct pdk__hosts *hosts, bool (*give_up)(void *user), void *user, char **servers,
                        char **why) {
    struct lookup *lookup = g_new0(struct lookup, 1);
    pthread_mutex_init(&lookup->lock, NULL);
    pdk__cond_init(&lookup->changed);
    lookup->hosts = pdk__hosts_copy(hosts);
    lookup->users = 2;
    *servers = *why = NULL;

    bool started = start_thread(lookup);
    pthread_mutex_lock(&lookup->lock);
    if (!started)
        lookup->users--;
    bool given_up = false;
    while (started && !lookup->done && !given_up) {
        wait_a_moment(lookup);
        pthread_mutex_unlock(&lookup->lock);
        given_up = give_up(user); /* may take locks of its own */
        pthread_mutex_lock(&lookup->lock);
    }
    pdk_status status = !started ? PDK_SYSTEM : lookup->done ? lookup->status : PDK_UNAVAILABLE;
    if (lookup->done) {
        *servers = g_steal_pointer(&lookup->servers);
        *why = g_steal_pointer(&lookup->why);
    }
    leave(lookup);
    return status;
}

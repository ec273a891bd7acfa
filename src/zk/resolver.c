#include "zk/resolver.h"

#include "base/signals.h"

#include <errno.h>
#include <glib.h>
#include <netdb.h>
#include <pthread.h>

struct lookup {
    struct pdk__names *names;
    unsigned index;
    char *name;
};

static void found(const struct lookup *l, const struct addrinfo *info) {
    GPtrArray *addresses = g_ptr_array_new_with_free_func(g_free);
    for (; info; info = info->ai_next) {
        char address[NI_MAXHOST];
        if (getnameinfo(info->ai_addr, info->ai_addrlen, address, sizeof address, NULL, 0, NI_NUMERICHOST) == 0)
            g_ptr_array_add(addresses, g_strdup(address));
    }
    g_ptr_array_add(addresses, NULL);
    pdk__names_found(l->names, l->index, (const char *const *)addresses->pdata, NULL);
    g_ptr_array_free(addresses, TRUE);
}

/* false: nothing was found, and nobody was told. */
static bool look_up(const struct lookup *l, int flags, int *code) {
    const struct addrinfo hints = {.ai_flags = flags, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *info = NULL;
    *code = getaddrinfo(l->name, NULL, &hints, &info);
    if (*code != 0)
        return false;
    found(l, info);
    freeaddrinfo(info);
    return true;
}

static void lookup_free(struct lookup *l) {
    g_free(l->name);
    g_free(l);
}

static void *lookup_main(void *user) {
    struct lookup *l = user;
    int code;
    if (!look_up(l, 0, &code))
        pdk__names_found(l->names, l->index, NULL, code == EAI_SYSTEM ? g_strerror(errno) : gai_strerror(code));
    lookup_free(l);
    return NULL;
}

static bool start_thread(struct lookup *lookup) {
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t before;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pdk__signals_block(&before);
    int failed = pthread_create(&thread, &attributes, lookup_main, lookup);
    pdk__signals_set(&before);
    pthread_attr_destroy(&attributes);
    return failed == 0;
}

bool pdk__resolve(struct pdk__names *names, unsigned index, const char *name) {
    struct lookup *l = g_new0(struct lookup, 1);
    int code;
    *l = (struct lookup){names, index, g_strdup(name)};
    if (pdk__name_is_number(name) && look_up(l, AI_NUMERICHOST, &code)) {
        lookup_free(l);
        return true;
    }
    if (start_thread(l))
        return true;
    lookup_free(l);
    return false;
}

#include "zk/names.h"

#include <arpa/inet.h>
#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

struct name {
    char *text;
    uint16_t port;
    bool awaited;     /* a look-up is under way */
    char **addresses; /* the last that were found, or NULL */
    char *why;        /* the last look-up failed */
};

struct pdk__names {
    atomic_uint refs;
    pthread_mutex_t lock; /* guards the findings */
    unsigned count;
    struct name *all;
};

struct pdk__names *pdk__names_new(const struct pdk__hosts *hosts) {
    struct pdk__names *names = g_new0(struct pdk__names, 1);
    atomic_init(&names->refs, 1);
    pthread_mutex_init(&names->lock, NULL);
    names->count = hosts->count;
    names->all = g_new0(struct name, hosts->count);
    for (unsigned i = 0; i < hosts->count; i++) {
        names->all[i].text = g_strdup(hosts->names[i]);
        names->all[i].port = hosts->ports[i];
    }
    return names;
}

void pdk__names_unref(struct pdk__names *names) {
    if (atomic_fetch_sub(&names->refs, 1) != 1)
        return;
    for (unsigned i = 0; i < names->count; i++) {
        g_free(names->all[i].text);
        g_strfreev(names->all[i].addresses);
        g_free(names->all[i].why);
    }
    g_free(names->all);
    pthread_mutex_destroy(&names->lock);
    g_free(names);
}

static bool begins(struct pdk__names *names, struct name *name) {
    pthread_mutex_lock(&names->lock);
    bool begins = !name->awaited;
    name->awaited = true;
    pthread_mutex_unlock(&names->lock);
    return begins;
}

void pdk__names_look_up(struct pdk__names *names, pdk__look_up begin) {
    for (unsigned i = 0; i < names->count; i++) {
        if (!begins(names, &names->all[i]))
            continue;
        atomic_fetch_add(&names->refs, 1);
        if (!begin(names, i, names->all[i].text))
            pdk__names_found(names, i, NULL, "no thread was to be had for its look-up");
    }
}

void pdk__names_found(struct pdk__names *names, unsigned index, const char *const *addresses, const char *why) {
    struct name *name = &names->all[index];
    bool found = addresses && addresses[0];
    pthread_mutex_lock(&names->lock);
    name->awaited = false;
    g_free(name->why);
    name->why = found ? NULL : g_strdup(why ? why : "it has no address");
    if (found) {
        g_strfreev(name->addresses);
        name->addresses = g_strdupv((char **)addresses);
    }
    pthread_mutex_unlock(&names->lock);
    pdk__names_unref(names);
}

unsigned pdk__names_awaited(struct pdk__names *names) {
    unsigned awaited = 0;
    pthread_mutex_lock(&names->lock);
    for (unsigned i = 0; i < names->count; i++)
        awaited += names->all[i].awaited;
    pthread_mutex_unlock(&names->lock);
    return awaited;
}

bool pdk__name_is_number(const char *text) {
    unsigned char bytes[sizeof(struct in6_addr)];
    char address[INET6_ADDRSTRLEN];
    if (g_strlcpy(address, text, sizeof address) >= sizeof address && !strchr(address, '%'))
        return false;
    address[strcspn(address, "%")] = '\0';
    return inet_pton(AF_INET, address, bytes) == 1 || inet_pton(AF_INET6, address, bytes) == 1;
}

bool pdk__names_are_numbers(const struct pdk__names *names) {
    for (unsigned i = 0; i < names->count; i++)
        if (!pdk__name_is_number(names->all[i].text))
            return false;
    return true;
}

static gint by_text(gconstpointer a, gconstpointer b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_addresses(GPtrArray *list, const struct name *name) {
    for (char **address = name->addresses; address && *address; address++) {
        char *server = g_strdup_printf("%s:%u", *address, name->port);
        if (g_ptr_array_find_with_equal_func(list, server, g_str_equal, NULL))
            g_free(server);
        else
            g_ptr_array_add(list, server);
    }
}

static char *join(GPtrArray *list) {
    g_ptr_array_sort(list, by_text);
    if (list->len % 2 == 0)
        g_ptr_array_add(list, g_strdup(g_ptr_array_index(list, 0)));
    g_ptr_array_add(list, NULL);
    return g_strjoinv(",", (char **)list->pdata);
}

pdk_status pdk__names_list(struct pdk__names *names, char **servers, char **why) {
    GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
    const struct name *failed = NULL, *awaited = NULL;
    *servers = *why = NULL;
    pthread_mutex_lock(&names->lock);
    for (unsigned i = 0; i < names->count; i++) {
        const struct name *name = &names->all[i];
        add_addresses(list, name);
        failed = !failed && name->why ? name : failed;
        awaited = !awaited && name->awaited ? name : awaited;
    }
    if (list->len == 0 && awaited)
        *why = g_strdup_printf("%s: its look-up has no answer yet", awaited->text);
    else if (failed)
        *why = g_strdup_printf("%s: %s", failed->text, failed->why);
    pdk_status status = list->len > 0 ? PDK_OK : awaited ? PDK_UNAVAILABLE : PDK_RESOLVE;
    pthread_mutex_unlock(&names->lock);
    if (status == PDK_OK)
        *servers = join(list);
    g_ptr_array_free(list, TRUE);
    return status;
}

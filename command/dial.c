#include "wire.h"

#include "clock.h"
#include "say.h"
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void cmd_servers_parse(cmd_servers *servers, const char *text) {
    const char *slash = strchr(text, '/');
    g_autofree char *hosts = slash ? g_strndup(text, (gsize)(slash - text)) : g_strdup(text);
    servers->chroot = g_strdup(slash && slash[1] ? slash : "");
    servers->addresses = g_strsplit(hosts, ",", -1);
    for (char **address = servers->addresses; *address; address++)
        g_strstrip(*address);
}

void cmd_servers_clear(cmd_servers *servers) {
    g_strfreev(servers->addresses);
    g_free(servers->chroot);
    *servers = (cmd_servers){0};
}

bool cmd_is_port(const char *text, guint least) {
    return g_ascii_string_to_unsigned(text, 10, least, 65535, NULL, NULL);
}

bool cmd_servers_check(const char *text) {
    cmd_servers servers;
    bool good = true;
    cmd_servers_parse(&servers, text);
    for (char **address = servers.addresses; good && *address; address++) {
        const char *colon = strrchr(*address, ':');
        good = !**address || (colon && (!colon[1] || cmd_is_port(colon + 1, 1)));
        if (!good)
            cmd_error("servers: %s: a server is host:port, with a port from 1 to 65535", *address);
    }
    cmd_servers_clear(&servers);
    return good;
}

bool cmd_split_address(const char *address, char **host, char **port) {
    const char *colon = strrchr(address, ':');
    if (!colon || colon == address || !colon[1])
        return false;
    bool brackets = address[0] == '[' && colon[-1] == ']';
    *host =
        brackets ? g_strndup(address + 1, (gsize)(colon - address - 2)) : g_strndup(address, (gsize)(colon - address));
    *port = g_strdup(colon + 1);
    return true;
}

/* 0, or an errno. */
static int await_connection(int socket, int64_t deadline) {
    struct pollfd wait = {.fd = socket, .events = POLLOUT};
    int why = 0;
    socklen_t size = sizeof why;
    int64_t left = deadline - cmd_now_ms();
    if (poll(&wait, 1, left < 0 ? 0 : (int)MIN(left, G_MAXINT)) <= 0)
        return ETIMEDOUT;
    return getsockopt(socket, SOL_SOCKET, SO_ERROR, &why, &size) ? errno : why;
}

/* The socket, or the negative errno. */
static int dial_one(const struct addrinfo *info, int64_t deadline) {
    int descriptor = socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, info->ai_protocol);
    int why = 0;
    if (descriptor < 0)
        return -errno;
    if (connect(descriptor, info->ai_addr, info->ai_addrlen))
        why = errno == EINPROGRESS ? await_connection(descriptor, deadline) : errno;
    if (why == 0)
        return descriptor;
    close(descriptor);
    return -why;
}

/* A name that is looked up on a thread of its own: getaddrinfo may take minutes, and cannot be interrupted. */
struct lookup {
    GMutex lock;
    GCond changed;
    int users; /* the waiter, and the thread; the last one frees it */
    bool done;
    int code;
    struct addrinfo *found;
    char *host, *port;
};

static void lookup_leave(struct lookup *l) {
    bool last = --l->users == 0;
    g_mutex_unlock(&l->lock);
    if (!last)
        return;
    if (l->found)
        freeaddrinfo(l->found);
    g_free(l->host);
    g_free(l->port);
    g_mutex_clear(&l->lock);
    g_cond_clear(&l->changed);
    g_free(l);
}

static gpointer look_up(gpointer user) {
    struct lookup *l = user;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    int code = getaddrinfo(l->host, l->port, &hints, &found);
    g_mutex_lock(&l->lock);
    l->code = code;
    l->found = code ? NULL : found;
    l->done = true;
    g_cond_signal(&l->changed);
    lookup_leave(l);
    return NULL;
}

/* It may live on while the program has begun to block its signals, and would take them. */
static GThread *start_look_up(struct lookup *l) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    GThread *thread = g_thread_try_new("lookup", look_up, l, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return thread;
}

/* The addresses, or NULL, and *error says why. Takes host and port. */
static struct addrinfo *resolve(char *host, char *port, int64_t timeout_ms, char **error) {
    struct lookup *l = g_new0(struct lookup, 1);
    gint64 until = g_get_monotonic_time() + timeout_ms * 1000;
    *l = (struct lookup){.users = 2, .host = host, .port = port};
    g_mutex_init(&l->lock);
    g_cond_init(&l->changed);
    GThread *thread = start_look_up(l);
    g_mutex_lock(&l->lock);
    l->users -= thread == NULL;
    while (thread && !l->done && g_cond_wait_until(&l->changed, &l->lock, until))
        ;
    struct addrinfo *found = g_steal_pointer(&l->found);
    *error = found     ? NULL
             : !thread ? g_strdup("no thread was to be had for the look-up of its name")
             : l->done ? g_strdup(gai_strerror(l->code))
                       : g_strdup_printf("the look-up of its name had no answer within %" G_GINT64_FORMAT " ms",
                                         (gint64)timeout_ms);
    if (thread)
        g_thread_unref(thread);
    lookup_leave(l);
    return found;
}

int cmd_dial(const char *address, int64_t timeout_ms, char **error) {
    g_autofree char *host = NULL, *port = NULL;
    g_autofree char *why = NULL;
    int64_t deadline = cmd_now_ms() + timeout_ms;
    int descriptor = -EINVAL;
    if (!cmd_split_address(address, &host, &port)) {
        *error = g_strdup_printf("%s: a server is host:port", address);
        return -1;
    }
    struct addrinfo *found = resolve(g_steal_pointer(&host), g_steal_pointer(&port), timeout_ms, &why);
    if (!found) {
        *error = g_strdup_printf("%s: %s", address, why);
        return -1;
    }
    for (const struct addrinfo *info = found; info && descriptor < 0; info = info->ai_next)
        descriptor = dial_one(info, deadline);
    freeaddrinfo(found);
    if (descriptor >= 0)
        return descriptor;
    *error = g_strdup_printf("%s: %s", address, g_strerror(-descriptor));
    return -1;
}

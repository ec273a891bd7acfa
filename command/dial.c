#include "wire.h"

#include "clock.h"
#include "say.h"
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
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
        good = !colon || !colon[1] || cmd_is_port(colon + 1, 1);
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

int cmd_dial(const char *address, int64_t timeout_ms, char **error) {
    g_autofree char *host = NULL, *port = NULL;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *found = NULL;
    int64_t deadline = cmd_now_ms() + timeout_ms;
    int descriptor = -EINVAL;
    if (!cmd_split_address(address, &host, &port)) {
        *error = g_strdup_printf("%s: a server is host:port", address);
        return -1;
    }
    int code = getaddrinfo(host, port, &hints, &found);
    if (code) {
        *error = g_strdup_printf("%s: %s", address, gai_strerror(code));
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

/* Free loopback ports without a race. */
#include "ports.h"

#include <arpa/inet.h>
#include <errno.h>
#include <glib.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool make_address(const char *ip, int port, struct sockaddr_in *out) {
    memset(out, 0, sizeof *out);
    out->sin_family = AF_INET;
    out->sin_port = htons((uint16_t)port);
    return inet_pton(AF_INET, ip, &out->sin_addr) == 1;
}

static int bound_socket(const char *ip, int port) {
    struct sockaddr_in address;
    const int yes = 1;
    int fd;

    if (!make_address(ip, port, &address)) {
        return -1;
    }
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
                    bind(fd, (struct sockaddr *)&address, sizeof address) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

int pdk__test_port_reserve(const char *ip, int *port) {
    struct sockaddr_in address = {0};
    socklen_t size = sizeof address;
    const int fd = bound_socket(ip, 0);

    if (fd >= 0 && getsockname(fd, (struct sockaddr *)&address, &size) == 0) {
        *port = ntohs(address.sin_port);
    }
    return fd;
}

int pdk__test_port_take(const char *ip, int port) { return bound_socket(ip, port); }

int pdk__test_port_listen(const char *ip, int port) {
    int fd = bound_socket(ip, port);

    if (fd >= 0 && listen(fd, 512) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

int pdk__test_port_connect(const char *address) {
    struct sockaddr_in target;
    char ip[64];
    const int yes = 1;
    int port;
    int fd;

    if (!pdk__test_address_split(address, ip, &port) || !make_address(ip, port, &target)) {
        return -1;
    }
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (connect(fd, (struct sockaddr *)&target, sizeof target) != 0 && errno != EINPROGRESS) {
        const int reason = errno;

        close(fd);
        errno = reason;
        return -1;
    }
    return fd;
}

bool pdk__test_address_split(const char *address, char *ip, int *port) {
    const char *colon = strrchr(address, ':');
    guint64 number;

    if (colon == NULL || colon - address >= 64) {
        return false;
    }
    if (!g_ascii_string_to_unsigned(colon + 1, 10, 1, 65535, &number, NULL)) {
        return false;
    }
    memcpy(ip, address, (size_t)(colon - address));
    ip[colon - address] = '\0';
    *port = (int)number;
    return true;
}

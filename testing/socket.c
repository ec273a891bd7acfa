/* Blocking traffic with a deadline over a non-blocking socket. */
#include "socket.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "ports.h"

static bool wait_for(int fd, short events, int64_t deadline_ns) {
    struct pollfd item = {.fd = fd, .events = events};

    for (;;) {
        const int64_t left_ms = (deadline_ns - pdk__test_now_ns() + 999999) / 1000000;
        int ready;

        if (left_ms <= 0) {
            return false;
        }
        ready = poll(&item, 1, (int)left_ms);
        if (ready > 0) {
            return true;
        }
        if (ready < 0 && errno != EINTR) {
            return false;
        }
    }
}

int pdk__test_socket_open(const char *address, int64_t deadline_ns) {
    const int fd = pdk__test_port_connect(address);
    int error = 0;
    socklen_t size = sizeof error;

    if (fd < 0) {
        return -1;
    }
    if (!wait_for(fd, POLLOUT, deadline_ns) || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

bool pdk__test_socket_send(int fd, const void *data, size_t size, int64_t deadline_ns) {
    const char *at = data;

    while (size > 0) {
        const ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);

        if (sent > 0) {
            at += sent;
            size -= (size_t)sent;
        } else if ((errno != EAGAIN && errno != EINTR) || !wait_for(fd, POLLOUT, deadline_ns)) {
            return false;
        }
    }
    return true;
}

ssize_t pdk__test_socket_receive_some(int fd, void *data, size_t size, int64_t deadline_ns) {
    for (;;) {
        const ssize_t got = recv(fd, data, size, 0);

        if (got >= 0) {
            return got;
        }
        if ((errno != EAGAIN && errno != EINTR) || !wait_for(fd, POLLIN, deadline_ns)) {
            return -1;
        }
    }
}

bool pdk__test_socket_receive(int fd, void *data, size_t size, int64_t deadline_ns) {
    char *at = data;

    while (size > 0) {
        const ssize_t got = pdk__test_socket_receive_some(fd, at, size, deadline_ns);

        if (got <= 0) {
            return false;
        }
        at += got;
        size -= (size_t)got;
    }
    return true;
}

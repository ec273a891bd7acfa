/* Unix sockets of packets. */
#include "channel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static _Noreturn void give_up(const char *what) {
    fprintf(stderr, "demo: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

static int make(const char *path, struct sockaddr_un *address) {
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (fd < 0 || strlen(path) >= sizeof address->sun_path)
        give_up(path);
    memcpy(address->sun_path, path, strlen(path));
    return fd;
}

int channel_listen(const char *path) {
    struct sockaddr_un address;
    int fd = make(path, &address);

    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 64) != 0)
        give_up(path);
    return fd;
}

int channel_accept(int listener) {
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

    if (fd < 0)
        give_up("accept");
    return fd;
}

int channel_connect(const char *path) {
    struct sockaddr_un address;
    int fd = make(path, &address);

    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        give_up(path);
    return fd;
}

bool channel_send(int fd, const void *message, size_t size) {
    ssize_t sent;

    while ((sent = send(fd, message, size, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        continue;
    return sent == (ssize_t)size;
}

size_t channel_receive(int fd, void *message, size_t size) {
    ssize_t received;

    while ((received = recv(fd, message, size, 0)) < 0 && errno == EINTR)
        continue;
    if (received <= 0)
        return 0;
    if ((size_t)received < size)
        ((char *)message)[received] = '\0';
    return (size_t)received;
}

int64_t demo_now(void) {
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

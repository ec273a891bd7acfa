#include "guard_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int cmd_guard_start(cmd_guard *guard, char **command) {
    int ends[2];
    cmd_moments *moments = mmap(NULL, sizeof *moments, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (moments == MAP_FAILED)
        return -1;
    atomic_store(&moments->term_at, INT64_MAX);
    atomic_store(&moments->kill_at, INT64_MAX);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        cmd_guardian(ends[1], moments, command);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return -1;
    }
    *guard = (cmd_guard){.pid = pid, .channel = ends[0], .moments = moments};
    return 0;
}

bool cmd_guard_order(const cmd_guard *guard, int kind, int number) {
    cmd_message order = {.kind = kind, .number = number};
    return send(guard->channel, &order, sizeof order, MSG_NOSIGNAL) == (ssize_t)sizeof order;
}

bool cmd_guard_news(const cmd_guard *guard, cmd_message *news) {
    ssize_t got;
    do
        got = recv(guard->channel, news, sizeof *news, 0);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof *news;
}

void cmd_guard_stop(cmd_guard *guard) {
    if (guard->pid <= 0)
        return;
    close(guard->channel);
    pid_t reaped;
    do
        reaped = waitpid(guard->pid, NULL, 0);
    while (reaped < 0 && errno == EINTR);
    guard->pid = 0;
    munmap(guard->moments, sizeof *guard->moments);
}

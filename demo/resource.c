/*
 * The resource that the lock guards: a file to which lines are appended, and its writer. The writer is a process of its
 * own that knows nothing of locks or ZooKeeper. It compares numbers. A write whose (token, hand-over) is smaller than
 * the largest seen comes from a client that has lost the lock, and is refused.
 *
 *     resource FILE RESOURCE-SOCKET DEMO-SOCKET check|trust        trust: the sabotage, every write is accepted
 *
 * A write is the message "token handover who seq". The answer is "written" or "refused TOKEN HANDOVER".
 */
#include "channel.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONNECTIONS = 64 };

static int file, demo;
static bool trusting;
static int64_t largest_token;
static uint32_t largest_handover;

static bool is_stale(int64_t token, uint32_t handover) {
    return token < largest_token || (token == largest_token && handover < largest_handover);
}

static void tell_refused(int64_t token, uint32_t handover, const char *who) {
    struct report report = {
        .kind = REPORT_REFUSED, .token = token, .handover = handover, .at_ns = demo_now(), .number = largest_token};

    snprintf(report.who, sizeof report.who, "%s", who);
    channel_send(demo, &report, sizeof report);
}

static bool append(const char *line) {
    char text[128];
    int size = snprintf(text, sizeof text, "%s\n", line);

    return size > 0 && size < (int)sizeof text && write(file, text, (size_t)size) == size;
}

/* Puts the answer to one write into reply. False when the file cannot be written: then no promise can be kept. */
static bool judge(const char *line, char *reply, size_t reply_size) {
    int64_t token, seq;
    uint32_t handover;
    char who[8];

    if (sscanf(line, "%" SCNd64 " %" SCNu32 " %7s %" SCNd64, &token, &handover, who, &seq) != 4) {
        snprintf(reply, reply_size, "refused: not a write");
        return true;
    }
    if (is_stale(token, handover) && !trusting) {
        tell_refused(token, handover, who);
        snprintf(reply, reply_size, "refused %" PRId64 " %" PRIu32, largest_token, largest_handover);
        return true;
    }
    if (!is_stale(token, handover)) {
        largest_token = token;
        largest_handover = handover;
    }
    snprintf(reply, reply_size, "written");
    return append(line);
}

/* Serves until the demo is gone. */
static int serve(int listener) {
    struct pollfd polled[CONNECTIONS] = {{.fd = demo, .events = POLLIN}, {.fd = listener, .events = POLLIN}};
    nfds_t count = 2;

    for (;;) {
        if (poll(polled, count, -1) < 0 && errno != EINTR)
            return EXIT_FAILURE;
        if (polled[0].revents != 0)
            return EXIT_SUCCESS;
        if (polled[1].revents != 0 && count < CONNECTIONS)
            polled[count++] = (struct pollfd){.fd = channel_accept(listener), .events = POLLIN};
        for (nfds_t i = 2; i < count; i++) {
            char line[100], reply[64];

            if (polled[i].revents == 0)
                continue;
            if (channel_receive(polled[i].fd, line, sizeof line) == 0) {
                close(polled[i].fd);
                polled[i--] = polled[--count]; /* the moved one is next, unless it is the one just accepted */
                continue;
            }
            line[sizeof line - 1] = '\0';
            if (!judge(line, reply, sizeof reply))
                return EXIT_FAILURE;
            channel_send(polled[i].fd, reply, strlen(reply));
        }
    }
}

int main(int argc, char **argv) {
    struct report hello = {.kind = REPORT_HELLO, .who = "file"};

    if (argc != 5) {
        fprintf(stderr, "usage: resource FILE RESOURCE-SOCKET DEMO-SOCKET check|trust\n");
        return 2;
    }
    trusting = strcmp(argv[4], "trust") == 0;
    file = open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) {
        perror("demo: the resource's file");
        return EXIT_FAILURE;
    }
    int listener = channel_listen(argv[2]);
    demo = channel_connect(argv[3]);
    channel_send(demo, &hello, sizeof hello);
    return serve(listener);
}

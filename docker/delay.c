/* Delays packets. netem does the same, but not every kernel has it; this program works on all.
 *
 *     delay QUEUE MS JITTER
 *
 * A rule sends packets to that NFQUEUE. Each packet waits for MS milliseconds and a random part of JITTER more before it
 * goes on, so that with jitter packets overtake each other. When the queue is bound, the program goes into the background
 * and prints the id of the process that stays. SIGTERM sends all packets on at once, and ends it. */
#define _GNU_SOURCE /* ppoll */
#include <arpa/inet.h>
#include <fcntl.h>
#include <libnetfilter_queue/libnetfilter_queue.h>
#include <linux/netfilter.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HELD_MAX = 65536, BUFFER = 65536 };

struct packet {
    TAILQ_ENTRY(packet) at;
    uint32_t id;
    int64_t due; /* ns, CLOCK_MONOTONIC */
};

static TAILQ_HEAD(packets, packet) held = TAILQ_HEAD_INITIALIZER(held); /* ordered by due time */
static int64_t delay_ns, jitter_ns;
static volatile sig_atomic_t stopping;

static void stop(int signal_number) {
    (void)signal_number;
    stopping = 1;
}

static int64_t now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

/* A packet has come. It goes in before all that are due later. These are few, since only jitter makes later ones. */
static int hold(struct nfq_q_handle *queue, struct nfgenmsg *message, struct nfq_data *data, void *user) {
    (void)queue, (void)message, (void)user;
    struct packet *packet = malloc(sizeof(*packet)), *before = TAILQ_LAST(&held, packets);
    if (!packet)
        abort();
    packet->id = ntohl(nfq_get_msg_packet_hdr(data)->packet_id);
    packet->due = now() + delay_ns + (int64_t)(drand48() * (double)jitter_ns);
    while (before && before->due > packet->due)
        before = TAILQ_PREV(before, packets, at);
    if (before)
        TAILQ_INSERT_AFTER(&held, before, packet, at);
    else
        TAILQ_INSERT_HEAD(&held, packet, at);
    return 0;
}

/* Sends on the packets that are due by then. */
static void send_due(struct nfq_q_handle *queue, int64_t by) {
    struct packet *packet;
    while ((packet = TAILQ_FIRST(&held)) && packet->due <= by) {
        TAILQ_REMOVE(&held, packet, at);
        nfq_set_verdict(queue, packet->id, NF_ACCEPT, 0, NULL);
        free(packet);
    }
}

static void serve(struct nfq_handle *handle, struct nfq_q_handle *queue, const sigset_t *while_waiting) {
    static char buffer[BUFFER] __attribute__((aligned));
    struct pollfd socket = {.fd = nfq_fd(handle), .events = POLLIN};
    while (!stopping) {
        struct packet *next = TAILQ_FIRST(&held);
        int64_t left = next ? next->due - now() : 0;
        left = left < 0 ? 0 : left;
        struct timespec wait = {left / 1000000000, left % 1000000000};
        if (ppoll(&socket, 1, next ? &wait : NULL, while_waiting) > 0) {
            ssize_t length = recv(socket.fd, buffer, sizeof(buffer), MSG_DONTWAIT);
            if (length > 0)
                nfq_handle_packet(handle, buffer, (int)length);
        }
        send_due(queue, now());
    }
    send_due(queue, INT64_MAX);
}

/* Closes all descriptors that our caller could wait for. */
static void detach(void) {
    int nothing = open("/dev/null", O_RDWR);
    setsid();
    for (int fd = 0; fd <= 2; fd++)
        dup2(nothing, fd);
}

static struct nfq_q_handle *bind_queue(struct nfq_handle *handle, uint16_t number) {
    struct nfq_q_handle *queue = handle ? nfq_create_queue(handle, number, hold, NULL) : NULL;
    const uint32_t flags = NFQA_CFG_F_GSO | NFQA_CFG_F_FAIL_OPEN;
    if (!queue || nfq_set_mode(queue, NFQNL_COPY_META, 0) < 0 || nfq_set_queue_maxlen(queue, HELD_MAX) < 0 ||
        nfq_set_queue_flags(queue, flags, flags) < 0)
        return NULL;
    return queue;
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: delay QUEUE MS JITTER\n");
        return 2;
    }
    delay_ns = (int64_t)(strtod(arguments[2], NULL) * 1e6);
    jitter_ns = (int64_t)(strtod(arguments[3], NULL) * 1e6);
    srand48(now());
    sigset_t term, before;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, &before);
    sigdelset(&before, SIGTERM);
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = stop}, NULL);
    struct nfq_handle *handle = nfq_open();
    struct nfq_q_handle *queue = bind_queue(handle, (uint16_t)strtoul(arguments[1], NULL, 10));
    if (!queue) {
        perror("delay: the queue cannot be had (NET_ADMIN? another delay?)");
        return 1;
    }
    pid_t child = fork();
    if (child) {
        printf("%d\n", (int)child);
        return child < 0;
    }
    detach();
    serve(handle, queue, &before);
    return 0;
}

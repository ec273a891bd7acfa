/*
 * What libzookeeper makes of answers that are not well-formed: the reproducer of docs/upstream.md. It needs nothing but the client library:
 *
 *     cc -DTHREADED upstream.c -lzookeeper_mt -o upstream && ./upstream
 *
 * For each fault a child process is the client, and this process is the server: it takes the session, answers one request with the
 * bytes of the fault, and says how the client has ended.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

enum { FRAME_MOST = 4096, CLIENT_S = 3, HEADER = 16, BUSY_US = 100000 };

/* ---- the client */

static void on_event(zhandle_t *zh, int type, int state, const char *path, void *context) {
    (void)zh, (void)type, (void)state, (void)path, (void)context;
}
static void on_data(int rc, const char *value, int length, const struct Stat *stat, const void *data) {
    (void)rc, (void)value, (void)length, (void)stat, (void)data;
}
static void on_created(int rc, const char *path, const struct Stat *stat, const void *data) {
    (void)rc, (void)path, (void)stat, (void)data;
}
static void on_done(int rc, const void *data) { (void)rc, (void)data; }

static void ask_data(zhandle_t *zh) { zoo_awget(zh, "/a", on_event, NULL, on_data, NULL); }
static void ask_create(zhandle_t *zh) {
    zoo_acreate2(zh, "/a", "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, on_created, NULL);
}
static void ask_check(zhandle_t *zh) {
    static zoo_op_t op;
    static zoo_op_result_t result;
    zoo_check_op_init(&op, "/a", -1);
    zoo_amulti(zh, 1, &op, &result, on_done, NULL);
}

/* Ends after CLIENT_S, unless the library ends it before: 0 when it was idle meanwhile, 1 when it was busy. */
static int be_client(int port, void (*ask)(zhandle_t *zh)) {
    const struct rlimit no_core = {0, 0};
    char hosts[32];
    struct rusage used;
    setrlimit(RLIMIT_CORE, &no_core);
    if (!freopen("/dev/null", "w", stderr))
        return 2;
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", port);
    zoo_set_debug_level((ZooLogLevel)0);
    zhandle_t *zh = zookeeper_init(hosts, on_event, 10000, NULL, NULL, 0);
    ask(zh);
    sleep(CLIENT_S);
    getrusage(RUSAGE_SELF, &used);
    return used.ru_utime.tv_sec + used.ru_stime.tv_sec > 0 ||
           used.ru_utime.tv_usec + used.ru_stime.tv_usec > BUSY_US; /* idle, it takes a tenth of that */
}

/* ---- the server */

struct bytes {
    uint8_t at[FRAME_MOST];
    size_t size;
};

static void put(struct bytes *to, const void *from, size_t size) {
    memcpy(to->at + to->size, from, size);
    to->size += size;
}
static void put_int(struct bytes *to, int32_t number) {
    const uint32_t bits = htonl((uint32_t)number);
    put(to, &bits, sizeof bits);
}
static void put_header(struct bytes *to, int32_t length, int32_t xid) {
    put_int(to, length);
    put_int(to, xid);
    put_int(to, 0);
    put_int(to, 1); /* the zxid */
    put_int(to, 0); /* ZOK */
}

/* The xid of the next request that is no ping; -1 at the end. */
static int32_t receive(int fd, struct bytes *frame) {
    for (;;) {
        uint32_t head[2];
        if (recv(fd, head, 4, MSG_WAITALL) != 4)
            return -1;
        frame->size = ntohl(head[0]);
        if (frame->size > FRAME_MOST || recv(fd, frame->at, frame->size, MSG_WAITALL) != (ssize_t)frame->size)
            return -1;
        memcpy(head, frame->at, sizeof head);
        if ((int32_t)ntohl(head[0]) != -2)
            return (int32_t)ntohl(head[0]);
    }
}

static void take_session(int fd) {
    static const uint8_t password[16];
    struct bytes frame, answer = {.size = 0};
    receive(fd, &frame);
    put_int(&answer, 37);
    put_int(&answer, 0);
    put_int(&answer, 10000); /* the timeout */
    put_int(&answer, 0);
    put_int(&answer, 7); /* the number of the session */
    put_int(&answer, sizeof password);
    put(&answer, password, sizeof password);
    put(&answer, password, 1); /* not read-only */
    send(fd, answer.at, answer.size, MSG_NOSIGNAL);
}

/* ---- the faults */

/* The answer ends where the length of the data should stand. */
static void short_data(struct bytes *to, int32_t xid) { put_header(to, HEADER, xid); }
/* The path of the new node is null. */
static void no_path(struct bytes *to, int32_t xid) {
    put_header(to, HEADER + 4, xid);
    put_int(to, -1);
}
/* The same answer twice. */
static void twice(struct bytes *to, int32_t xid) {
    for (int i = 0; i < 2; i++) {
        put_header(to, HEADER + 4 + 68, xid);
        put_int(to, -1);
        memset(to->at + to->size, 0, 68);
        to->size += 68;
    }
}
/* The results of a transaction have no end. */
static void no_end(struct bytes *to, int32_t xid) { put_header(to, HEADER, xid); }
/* An event whose path is null. */
static void event(struct bytes *to, int32_t xid) {
    (void)xid;
    put_header(to, HEADER + 12, -1);
    put_int(to, 3); /* ZOO_CHANGED_EVENT */
    put_int(to, 3);
    put_int(to, -1);
}
static void negative(struct bytes *to, int32_t xid) { put_header(to, -1, xid); }

static const struct {
    const char *what, *expected;
    void (*ask)(zhandle_t *zh);
    void (*lie)(struct bytes *to, int32_t xid);
} faults[] = {
    {"getData: the answer ends before the data", "a free of what was never allocated", ask_data, short_data},
    {"create2: the path is null", "a free of what was never allocated", ask_create, no_path},
    {"any answer, twice", "assert(cptr)", ask_data, twice},
    {"multi: no end of the results", "assert(entry)", ask_check, no_end},
    {"an event: the path is null", "a use of what was never set", ask_data, event},
    {"a frame of -1 bytes", "the processor, for as long as the server likes", ask_data, negative},
};

static void be_server(int listener, void (*lie)(struct bytes *to, int32_t xid)) {
    struct pollfd ready = {.fd = listener, .events = POLLIN};
    struct bytes frame, answer = {.size = 0};
    int fd = poll(&ready, 1, CLIENT_S * 1000) > 0 ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : -1;
    if (fd < 0)
        return;
    take_session(fd);
    lie(&answer, receive(fd, &frame));
    send(fd, answer.at, answer.size, MSG_NOSIGNAL);
    while (recv(fd, frame.at, sizeof frame.at, 0) > 0) /* until the client has ended */
        ;
    close(fd);
}

int main(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), survived = 0;
    if (bind(listener, (struct sockaddr *)&at, size) != 0 || listen(listener, 8) != 0 ||
        getsockname(listener, (struct sockaddr *)&at, &size) != 0)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        int end = 0;
        pid_t client = fork();
        if (client == 0)
            _exit(be_client(ntohs(at.sin_port), faults[i].ask));
        be_server(listener, faults[i].lie);
        waitpid(client, &end, 0);
        survived += WIFEXITED(end) && WEXITSTATUS(end) == 0;
        printf("%-42s %s (expected: %s)\n", faults[i].what,
               WIFSIGNALED(end)   ? strsignal(WTERMSIG(end))
               : WEXITSTATUS(end) ? "busy"
                                  : "survived",
               faults[i].expected);
    }
    return survived > 0;
}

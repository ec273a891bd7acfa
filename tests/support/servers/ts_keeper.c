#include "ts_keeper.h"

#include <glib.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "testing/clock.h"
#include "testing/ports.h"
#include "testing/socket.h"
#include "ts_proxy.h"
#include "ts_wire.h"

enum { LARGEST = 1 << 24, UNIMPLEMENTED = -6, PASSWORD = 16, SESSION_AT = 16 };
#define PATIENCE_NS INT64_C(10000000000)

/* A session as the ZooKeeper behind has it, and as we say. */
struct session {
    guint64 theirs, ours; /* big-endian */
};

struct ts_keeper {
    enum ts_keeper_kind kind;
    char server[64], address[64];
    int listener, refusals;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows, and refusals */
    GArray *sessions;     /* of struct session */
    GPtrArray *open;      /* of struct connection */
    GPtrArray *threads;
};

struct connection {
    ts_keeper *keeper;
    int client, server;
};

static GByteArray *receive(int fd) {
    const int64_t deadline = pdk__test_now_ns() + PATIENCE_NS;
    guint32 size = 0;
    if (!pdk__test_socket_receive(fd, &size, sizeof size, deadline) || GUINT32_FROM_BE(size) > LARGEST)
        return NULL;
    GByteArray *body = g_byte_array_new();
    g_byte_array_set_size(body, GUINT32_FROM_BE(size));
    if (pdk__test_socket_receive(fd, body->data, body->len, deadline))
        return body;
    g_byte_array_unref(body);
    return NULL;
}

/* Gives the body back. */
static bool pass(int fd, GByteArray *body) {
    const guint32 size = GUINT32_TO_BE(body->len);
    const int64_t deadline = pdk__test_now_ns() + PATIENCE_NS;
    bool passed = pdk__test_socket_send(fd, &size, sizeof size, deadline) &&
                  pdk__test_socket_send(fd, body->data, body->len, deadline);
    g_byte_array_unref(body);
    return passed;
}

/* ---- the handshake */

/* A new session, whichever the client had: its transaction, its session and its password are forgotten. */
static bool greet(struct connection *c) {
    GByteArray *asked = receive(c->client);
    if (!asked || asked->len < SESSION_AT + 8 + 4 + PASSWORD)
        return false;
    memset(asked->data + 4, 0, 8);
    memset(asked->data + SESSION_AT, 0, 8);
    memset(asked->data + SESSION_AT + 8 + 4, 0, PASSWORD);
    if (!pass(c->server, asked))
        return false;
    GByteArray *given = receive(c->server);
    if (!given || given->len < 8 + 8 + 4 + PASSWORD)
        return false;
    struct session session;
    memcpy(&session.theirs, given->data + 8, 8);
    pthread_mutex_lock(&c->keeper->lock);
    session.ours = GUINT64_TO_BE(c->keeper->sessions->len + 1);
    g_array_append_val(c->keeper->sessions, session);
    pthread_mutex_unlock(&c->keeper->lock);
    memcpy(given->data + 8, &session.ours, 8);
    memset(given->data + 8 + 8 + 4, 0, PASSWORD);
    g_byte_array_set_size(given, 8 + 8 + 4 + PASSWORD); /* without the byte for read-only servers */
    return pass(c->client, given);
}

/* ---- requests and answers */

static bool knows(const ts_keeper *keeper, gint32 type) {
    static const gint32 known[] = {TS_OP_CREATE,        TS_OP_DELETE,        TS_OP_EXISTS,  TS_OP_GET_DATA,
                                   TS_OP_SET_DATA,      TS_OP_GET_ACL,       TS_OP_SET_ACL, TS_OP_GET_CHILDREN,
                                   TS_OP_SYNC,          TS_OP_GET_CHILDREN2, TS_OP_MULTI,   TS_OP_AUTH,
                                   TS_OP_CLOSE_SESSION, PDK__TEST_OP_PING};
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
        if (known[i] == type)
            return true;
    return type == TS_OP_CREATE2 && keeper->kind == TS_KEEPER_NEW;
}

static bool refuse(struct connection *c, GByteArray *request) {
    pthread_mutex_lock(&c->keeper->lock);
    c->keeper->refusals++;
    pthread_mutex_unlock(&c->keeper->lock);
    GByteArray *answer = g_byte_array_new();
    g_byte_array_append(answer, request->data, 4);
    pdk__test_put_long(answer, 0);
    pdk__test_put_int(answer, UNIMPLEMENTED);
    g_byte_array_unref(request);
    if (c->keeper->kind == TS_KEEPER_REFUSES)
        return pass(c->client, answer);
    g_byte_array_unref(answer);
    return false;
}

static bool pass_request(struct connection *c) {
    GByteArray *request = receive(c->client);
    gint32 type = 0;
    if (!request || request->len < 8)
        return false;
    memcpy(&type, request->data + 4, 4);
    return knows(c->keeper, GINT32_FROM_BE(type)) ? pass(c->server, request) : refuse(c, request);
}

/* An owner of a node is a session as we count them. */
static bool pass_answer(struct connection *c) {
    GByteArray *answer = receive(c->server);
    if (!answer)
        return false;
    pthread_mutex_lock(&c->keeper->lock);
    for (guint i = 0; i < c->keeper->sessions->len; i++) {
        const struct session *session = &g_array_index(c->keeper->sessions, struct session, i);
        for (guint at = 0; at + 8 <= answer->len; at++)
            if (memcmp(answer->data + at, &session->theirs, 8) == 0)
                memcpy(answer->data + at, &session->ours, 8);
    }
    pthread_mutex_unlock(&c->keeper->lock);
    return pass(c->client, answer);
}

/* ---- connections */

static void *serve(void *user) {
    struct connection *c = user;
    struct pollfd ends[] = {{.fd = c->client, .events = POLLIN}, {.fd = c->server, .events = POLLIN}};
    bool goes_on = c->server >= 0 && greet(c);
    while (goes_on && poll(ends, 2, -1) > 0)
        goes_on = (!ends[0].revents || pass_request(c)) && (!ends[1].revents || pass_answer(c));
    pthread_mutex_lock(&c->keeper->lock);
    g_ptr_array_remove_fast(c->keeper->open, c);
    pthread_mutex_unlock(&c->keeper->lock);
    close(c->client);
    if (c->server >= 0)
        close(c->server);
    g_free(c);
    return NULL;
}

static void *listen_on(void *user) {
    ts_keeper *keeper = user;
    const int yes = 1;
    for (int fd; (fd = accept4(keeper->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) {
        struct connection *c = g_new0(struct connection, 1);
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        *c = (struct connection){keeper, fd, pdk__test_socket_open(keeper->server, pdk__test_now_ns() + PATIENCE_NS)};
        pthread_mutex_lock(&keeper->lock);
        g_ptr_array_add(keeper->open, c);
        g_ptr_array_add(keeper->threads, g_thread_new("keeper", serve, c));
        pthread_mutex_unlock(&keeper->lock);
    }
    return NULL;
}

ts_keeper *ts_keeper_start(const char *server, enum ts_keeper_kind kind) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    ts_keeper *keeper = g_new0(ts_keeper, 1);
    keeper->kind = kind;
    keeper->sessions = g_array_new(FALSE, FALSE, sizeof(struct session));
    keeper->open = g_ptr_array_new();
    keeper->threads = g_ptr_array_new();
    g_strlcpy(keeper->server, server, sizeof keeper->server);
    pthread_mutex_init(&keeper->lock, NULL);
    keeper->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (keeper->listener < 0 || bind(keeper->listener, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(keeper->listener, 64) != 0 || getsockname(keeper->listener, (struct sockaddr *)&at, &size) != 0 ||
        pthread_create(&keeper->thread, NULL, listen_on, keeper) != 0)
        g_error("no socket or thread for a keeper");
    g_snprintf(keeper->address, sizeof keeper->address, "127.0.0.1:%u", ntohs(at.sin_port));
    return keeper;
}

void ts_keeper_cut(ts_keeper *keeper) {
    pthread_mutex_lock(&keeper->lock);
    for (guint i = 0; i < keeper->open->len; i++)
        (void)shutdown(((struct connection *)keeper->open->pdata[i])->client, SHUT_RDWR);
    pthread_mutex_unlock(&keeper->lock);
}

void ts_keeper_stop(ts_keeper *keeper) {
    (void)shutdown(keeper->listener, SHUT_RDWR); /* accept returns */
    pthread_join(keeper->thread, NULL);
    ts_keeper_cut(keeper);
    for (guint i = 0; i < keeper->threads->len; i++)
        (void)g_thread_join(keeper->threads->pdata[i]);
    close(keeper->listener);
    g_ptr_array_free(keeper->threads, TRUE);
    g_ptr_array_free(keeper->open, TRUE);
    g_array_free(keeper->sessions, TRUE);
    pthread_mutex_destroy(&keeper->lock);
    g_free(keeper);
}

const char *ts_keeper_address(const ts_keeper *keeper) { return keeper->address; }

int ts_keeper_sessions(ts_keeper *keeper) {
    pthread_mutex_lock(&keeper->lock);
    const int count = (int)keeper->sessions->len;
    pthread_mutex_unlock(&keeper->lock);
    return count;
}

int ts_keeper_refusals(ts_keeper *keeper) {
    pthread_mutex_lock(&keeper->lock);
    const int count = keeper->refusals;
    pthread_mutex_unlock(&keeper->lock);
    return count;
}

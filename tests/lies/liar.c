/* A proxy that lies. Each connection has two threads: one passes requests on and notes what they ask, one passes answers on. */
#include "lies.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <testing/clock.h>
#include <testing/ports.h>
#include <testing/socket.h>
#include <testing/wire.h>
#include <unistd.h>

enum { PING = -2, LARGEST = 16 << 20, FOREVER_S = 3600 };

struct liar {
    char server[64], address[64];
    const struct lie *lie;
    bool always;
    int listener;
    pthread_mutex_t lock; /* guards what follows */
    bool rests;
    unsigned told, requests, connections;
    guint32 seed;
    char *read; /* the path of the newest request that may leave a watch */
};

struct connection {
    struct liar *liar;
    int client, server;
    pthread_mutex_t lock;
    GHashTable *asked; /* xid -> the type of the request */
};

static int64_t forever(void) { return pdk__test_now_ns() + (int64_t)FOREVER_S * 1000000000; }

/* The body of a frame; NULL at the end. */
static GByteArray *receive(int fd) {
    uint8_t head[4];
    if (!pdk__test_socket_receive(fd, head, sizeof head, forever()))
        return NULL;
    guint32 size;
    memcpy(&size, head, sizeof size);
    size = GUINT32_FROM_BE(size);
    if (size > LARGEST)
        return NULL;
    GByteArray *body = g_byte_array_new();
    g_byte_array_set_size(body, size);
    if (pdk__test_socket_receive(fd, body->data, size, forever()))
        return body;
    g_byte_array_unref(body);
    return NULL;
}

static bool send_frame(int fd, const GByteArray *body, int32_t length) {
    g_autoptr(GByteArray) frame = g_byte_array_new();
    pdk__test_put_int(frame, length);
    g_byte_array_append(frame, body->data, body->len);
    return pdk__test_socket_send(fd, frame->data, frame->len, forever());
}

static int32_t number_at(const GByteArray *body, guint at) {
    guint32 bits = 0;
    if (body->len >= at + sizeof bits)
        memcpy(&bits, body->data + at, sizeof bits);
    return (int32_t)GUINT32_FROM_BE(bits);
}

/* ---- requests */

static void note(struct connection *c, const GByteArray *request) {
    int32_t xid = number_at(request, 0), type = number_at(request, 4), length = number_at(request, 8);
    pthread_mutex_lock(&c->lock);
    g_hash_table_insert(c->asked, GINT_TO_POINTER(xid), GINT_TO_POINTER(type));
    pthread_mutex_unlock(&c->lock);
    pthread_mutex_lock(&c->liar->lock);
    c->liar->requests += xid != PING;
    if (type == PDK__TEST_OP_GET_DATA || type == PDK__TEST_OP_GET_CHILDREN) {
        g_free(c->liar->read);
        c->liar->read = g_strndup((const char *)request->data + 12, (gsize)length);
    }
    pthread_mutex_unlock(&c->liar->lock);
}

static void *pass_requests(void *user) {
    struct connection *c = user;
    bool greeted = false;
    for (GByteArray *request; (request = receive(c->client)); g_byte_array_unref(request)) {
        if (greeted)
            note(c, request);
        greeted = true;
        if (!send_frame(c->server, request, (int32_t)request->len))
            break;
    }
    shutdown(c->server, SHUT_RDWR);
    shutdown(c->client, SHUT_RDWR);
    return NULL;
}

/* ---- answers */

static int type_of(struct connection *c, const GByteArray *answer) {
    gpointer type = NULL;
    pthread_mutex_lock(&c->lock);
    gpointer key = GINT_TO_POINTER(number_at(answer, 0));
    bool known = g_hash_table_lookup_extended(c->asked, key, NULL, &type) && number_at(answer, 0) >= 0;
    g_hash_table_remove(c->asked, key);
    pthread_mutex_unlock(&c->lock);
    return known ? GPOINTER_TO_INT(type) : LIES_ANY;
}

static bool lies_here(struct liar *liar, int type, GByteArray *answer) {
    const struct lie *lie = liar->lie;
    pthread_mutex_lock(&liar->lock);
    bool lies = !liar->rests && (liar->always || liar->told == 0) && type != LIES_ANY &&
                (lie->answer == LIES_ANY ? type != LIES_HANDSHAKE : lie->answer == type);
    lies = lies && lies_tell(lie, type, answer, &liar->seed);
    liar->told += lies;
    pthread_mutex_unlock(&liar->lock);
    return lies;
}

/* An event, as the server would say it. */
static bool say_event(struct liar *liar, int fd) {
    const struct lie *lie = liar->lie;
    g_autoptr(GByteArray) event = g_byte_array_new();
    pthread_mutex_lock(&liar->lock);
    g_autofree char *read = g_strdup(liar->read ? liar->read : "/");
    pthread_mutex_unlock(&liar->lock);
    pdk__test_put_int(event, -1);
    pdk__test_put_long(event, -1);
    pdk__test_put_int(event, 0);
    pdk__test_put_int(event, (int32_t)lie->number);
    pdk__test_put_int(event, lie->field);
    pdk__test_put_string(event, g_strcmp0(lie->text, "$") == 0 ? read : lie->text);
    return send_frame(fd, event, (int32_t)event->len);
}

/* false: the connection is over. */
static bool pass(struct connection *c, int type, GByteArray *answer) {
    const struct lie *lie = c->liar->lie;
    bool lies = lies_here(c->liar, type, answer);
    if (lies && lie->how == LIE_HANG_UP)
        return false;
    if (lies && lie->how == LIE_WITHHOLD)
        return true;
    int32_t length = lies && lie->how == LIE_LENGTH ? (int32_t)lie->number : (int32_t)answer->len;
    if (!send_frame(c->client, answer, length))
        return false;
    if (lies && lie->how == LIE_TWICE)
        return send_frame(c->client, answer, (int32_t)answer->len);
    return !lies || lie->how != LIE_EVENT || say_event(c->liar, c->client);
}

static void *pass_answers(void *user) {
    struct connection *c = user;
    bool greeted = false, goes_on = true;
    GByteArray *answer;
    while (goes_on && (answer = receive(c->server))) {
        int type = greeted ? type_of(c, answer) : LIES_HANDSHAKE;
        greeted = true;
        goes_on = pass(c, type, answer);
        g_byte_array_unref(answer);
    }
    shutdown(c->client, SHUT_RDWR);
    shutdown(c->server, SHUT_RDWR);
    return NULL;
}

/* ---- connections */

static void *serve(void *user) {
    struct connection *c = user;
    c->server = pdk__test_socket_open(c->liar->server, pdk__test_now_ns() + 5000000000);
    if (c->server >= 0) {
        GThread *up = g_thread_new("requests", pass_requests, c);
        pass_answers(c);
        g_thread_join(up);
        close(c->server);
    }
    close(c->client);
    g_hash_table_destroy(c->asked);
    pthread_mutex_destroy(&c->lock);
    g_free(c);
    return NULL;
}

static void *listen_on(void *user) {
    struct liar *liar = user;
    const int yes = 1;
    for (int fd; (fd = accept4(liar->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) {
        struct connection *c = g_new0(struct connection, 1);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        *c = (struct connection){.liar = liar, .client = fd, .asked = g_hash_table_new(NULL, NULL)};
        pthread_mutex_init(&c->lock, NULL);
        pthread_mutex_lock(&liar->lock);
        liar->connections++;
        pthread_mutex_unlock(&liar->lock);
        g_thread_unref(g_thread_new("connection", serve, c));
    }
    return NULL;
}

struct liar *liar_start(const char *server, const struct lie *lie, bool always) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    struct liar *liar = g_new0(struct liar, 1);
    g_strlcpy(liar->server, server, sizeof liar->server);
    liar->lie = lie;
    liar->always = always;
    liar->seed = (guint32)lie->number;
    pthread_mutex_init(&liar->lock, NULL);
    liar->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (liar->listener < 0 || bind(liar->listener, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(liar->listener, 64) != 0 || getsockname(liar->listener, (struct sockaddr *)&at, &size) != 0) {
        g_free(liar);
        return NULL;
    }
    g_snprintf(liar->address, sizeof liar->address, "127.0.0.1:%u", ntohs(at.sin_port));
    g_thread_unref(g_thread_new("liar", listen_on, liar));
    return liar;
}

const char *liar_address(const struct liar *liar) { return liar->address; }

void liar_rest(struct liar *liar) {
    pthread_mutex_lock(&liar->lock);
    liar->rests = true;
    pthread_mutex_unlock(&liar->lock);
}

static unsigned read_count(struct liar *liar, const unsigned *count) {
    pthread_mutex_lock(&liar->lock);
    unsigned value = *count;
    pthread_mutex_unlock(&liar->lock);
    return value;
}

unsigned liar_told(struct liar *liar) { return read_count(liar, &liar->told); }
unsigned liar_requests(struct liar *liar) { return read_count(liar, &liar->requests); }
unsigned liar_connections(struct liar *liar) { return read_count(liar, &liar->connections); }

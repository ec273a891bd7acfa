#include "wire.h"

#include "clock.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Requests, and their numbers on the wire. */
enum { GET_DATA = 4, GET_ACL = 6, GET_CHILDREN2 = 12, AUTH = 100, CLOSE = -11, AUTH_XID = -4, AUTH_FAILED = -115 };
/* ZooKeeper's sessions have large numbers, and random passwords. */
#define COUNTED_TO (G_GINT64_CONSTANT(1) << 40)
enum { ANSWER_MOST = 64 << 20, TEXT_MOST = 1024, NAME_MOST = 1 << 20, PASSWORD = 16 };
/* No server gives more to a session. */
enum { SESSION_MS_MOST = 24 * 3600 * 1000 };
/* 9999-12-31: differences of such times stay far from the ends of 64 bits. */
#define TIME_MS_MOST G_GINT64_CONSTANT(253402300799999)

/* ---- out: numbers are big-endian, texts have their length before them */

static void put_int(GByteArray *out, int32_t value) {
    uint32_t bytes = GUINT32_TO_BE((uint32_t)value);
    g_byte_array_append(out, (const guint8 *)&bytes, sizeof bytes);
}

static void put_long(GByteArray *out, int64_t value) {
    uint64_t bytes = GUINT64_TO_BE((uint64_t)value);
    g_byte_array_append(out, (const guint8 *)&bytes, sizeof bytes);
}

static void put_bytes(GByteArray *out, const void *bytes, gsize size) {
    put_int(out, (int32_t)size);
    g_byte_array_append(out, bytes, (guint)size);
}

static void put_bool(GByteArray *out, bool value) { g_byte_array_append(out, (const guint8[]){value}, 1); }

/* ---- in */

static bool has(const cmd_wire *w, gsize size) { return w->in->len - w->at >= size; }

/* Take so many bytes; zeros, where there are fewer. */
static void take(cmd_wire *w, void *bytes, gsize size) {
    memset(bytes, 0, size);
    w->bad = w->bad || !has(w, size);
    if (!w->bad)
        memcpy(bytes, w->in->data + w->at, size);
    w->at = MIN(w->at + size, w->in->len);
}

static int32_t take_int(cmd_wire *w) {
    uint32_t bytes;
    take(w, &bytes, sizeof bytes);
    return (int32_t)GUINT32_FROM_BE(bytes);
}

static int64_t take_long(cmd_wire *w) {
    uint64_t bytes;
    take(w, &bytes, sizeof bytes);
    return (int64_t)GUINT64_FROM_BE(bytes);
}

/* Take a text of at most `most` bytes; the rest is left out. g_free it. Data that are NULL have the length -1. */
static char *take_text(cmd_wire *w, gsize most) {
    int32_t size = take_int(w);
    gsize length = size > 0 ? (gsize)size : 0;
    w->bad = w->bad || size < -1 || !has(w, length);
    if (w->bad)
        return g_strdup("");
    char *text = g_strndup((const char *)w->in->data + w->at, MIN(length, most));
    w->at += length;
    return text;
}

/* Take the number of things that follow, each of which has four bytes at least. */
static int32_t take_count(cmd_wire *w) {
    int32_t count = take_int(w);
    w->bad = w->bad || count < 0 || !has(w, (gsize)count * 4);
    return w->bad ? 0 : count;
}

static char *take_name(cmd_wire *w) {
    char *name = take_text(w, NAME_MOST);
    w->bad = w->bad || !*name || strlen(name) >= NAME_MOST || strchr(name, '/') || strcmp(name, ".") == 0 ||
             strcmp(name, "..") == 0;
    return name;
}

static int64_t take_time(cmd_wire *w) {
    int64_t ms = take_long(w);
    w->bad = w->bad || ms < 0 || ms > TIME_MS_MOST;
    return w->bad ? 0 : ms;
}

/* Take a zxid, with room above it for a token_base. */
static int64_t take_zxid(cmd_wire *w) {
    int64_t zxid = take_long(w);
    w->bad = w->bad || zxid < -1 || zxid >= G_GINT64_CONSTANT(1) << 62; /* -1: the root's pzxid, until it has a child */
    return w->bad ? 0 : zxid;
}

static void take_stat(cmd_wire *w, cmd_stat *stat) {
    stat->czxid = take_zxid(w);
    stat->mzxid = take_zxid(w);
    stat->ctime_ms = take_time(w);
    stat->mtime_ms = take_time(w);
    stat->version = take_int(w);
    stat->cversion = take_int(w);
    stat->aversion = take_int(w);
    stat->owner = take_long(w);
    stat->length = take_int(w);
    stat->children = take_int(w);
    stat->pzxid = take_zxid(w);
    w->bad = w->bad || stat->length < 0 || stat->children < 0;
}

/* ---- the socket */

static int fail(cmd_wire *w, const char *what) {
    if (w->socket >= 0)
        close(w->socket);
    w->socket = -1;
    g_free(w->error);
    w->error = g_strdup(what);
    return CMD_WIRE_BROKEN;
}

static int hung_up(cmd_wire *w, const char *what) {
    w->hung_up = true;
    return fail(w, what);
}

/* Wait until the socket is ready, or the moment is over. */
static bool await(const cmd_wire *w, short events, int64_t deadline) {
    struct pollfd wait = {.fd = w->socket, .events = events};
    int64_t left = deadline - cmd_now_ms();
    return poll(&wait, 1, left < 0 ? 0 : (int)MIN(left, G_MAXINT)) > 0;
}

static int flush(cmd_wire *w, int64_t deadline) {
    while (w->out->len) {
        ssize_t sent = send(w->socket, w->out->data, w->out->len, MSG_NOSIGNAL);
        if (sent >= 0)
            g_byte_array_remove_range(w->out, 0, (guint)sent);
        else if (errno == EPIPE || errno == ECONNRESET)
            return hung_up(w, g_strerror(errno));
        else if (errno != EAGAIN && errno != EINTR)
            return fail(w, g_strerror(errno));
        else if (!await(w, POLLOUT, deadline))
            return fail(w, "the server takes no question");
    }
    return CMD_WIRE_OK;
}

static int receive(cmd_wire *w, guint8 *bytes, gsize size, int64_t deadline) {
    while (size) {
        ssize_t got = recv(w->socket, bytes, size, 0);
        if (got == 0)
            return hung_up(w, "the server has hung up; it may not serve yet, or have no quorum");
        if (got > 0) {
            bytes += got;
            size -= (gsize)got;
        } else if (errno == ECONNRESET) {
            return hung_up(w, g_strerror(errno));
        } else if (errno != EAGAIN && errno != EINTR) {
            return fail(w, g_strerror(errno));
        } else if (!await(w, POLLIN, deadline)) {
            return fail(w, "the server does not answer in time");
        }
    }
    return CMD_WIRE_OK;
}

static int fail_as_bad(cmd_wire *w) { return fail(w, "this is no answer of a ZooKeeper"); }

/* Receive one packet, into w->in. */
static int receive_packet(cmd_wire *w, int64_t timeout_ms) {
    int64_t deadline = cmd_now_ms() + timeout_ms;
    uint32_t head;
    if (w->socket < 0 || flush(w, deadline) || receive(w, (guint8 *)&head, sizeof head, deadline))
        return CMD_WIRE_BROKEN;
    uint32_t size = GUINT32_FROM_BE(head);
    if (size > ANSWER_MOST)
        return fail_as_bad(w);
    g_byte_array_set_size(w->in, size);
    w->at = 0;
    w->bad = false;
    return receive(w, w->in->data, size, deadline);
}

/* Queue everything in `body` as a packet of its own. */
static void send_later(cmd_wire *w, GByteArray *body) {
    put_int(w->out, (int32_t)body->len);
    g_byte_array_append(w->out, body->data, body->len);
    g_byte_array_unref(body);
}

static GByteArray *request(int32_t xid, int32_t type) {
    GByteArray *body = g_byte_array_new();
    put_int(body, xid);
    put_int(body, type);
    return body;
}

/* The code of the next answer. */
static int answer(cmd_wire *w, int32_t xid) {
    if (receive_packet(w, CMD_WIRE_MS))
        return CMD_WIRE_BROKEN;
    int32_t got = take_int(w);
    (void)take_long(w);
    int code = take_int(w);
    if (w->bad)
        return fail_as_bad(w);
    if (got != xid)
        return fail(w, "the server answers another question");
    if (code) {
        g_free(w->error);
        w->error = g_strdup_printf("ZooKeeper answers %d%s", code,
                                   code == CMD_WIRE_NONODE   ? ", there is no such node"
                                   : code == CMD_WIRE_NOAUTH ? ", an access control list forbids it"
                                   : code == CMD_WIRE_DEMANDS_AUTH
                                       ? ", the servers demand authentication (enforce.auth.schemes)"
                                       : "");
    }
    return code == CMD_WIRE_BROKEN ? fail(w, "ZooKeeper answers a system error") : code;
}

/* ---- the session */

/* Greet the server for an existing session, or with 0 for a new one. */
static void greet(cmd_wire *w, int64_t session, const guint8 *password, int32_t session_ms) {
    GByteArray *body = g_byte_array_new();
    put_int(body, 0);
    put_long(body, 0);
    put_int(body, session_ms);
    put_long(body, session);
    put_bytes(body, password, PASSWORD);
    put_bool(body, false);
    send_later(w, body);
}

static int handshake(cmd_wire *w, int32_t session_ms, int64_t timeout_ms) {
    static const guint8 nothing[PASSWORD];
    greet(w, 0, nothing, session_ms);
    if (receive_packet(w, timeout_ms))
        return CMD_WIRE_BROKEN;
    (void)take_int(w);
    w->timeout_ms = take_int(w);
    w->session = take_long(w);
    w->foreign = w->session > 0 && w->session < COUNTED_TO && take_int(w) == PASSWORD &&
                 memcmp(nothing, w->in->data + w->at, MIN(w->in->len - w->at, PASSWORD)) == 0;
    bool given = !w->bad && w->timeout_ms > 0 && w->timeout_ms <= SESSION_MS_MOST && w->session;
    return given ? CMD_WIRE_OK : fail(w, "the server gives no session");
}

static int authenticate(cmd_wire *w, const char *digest) {
    GByteArray *body = request(AUTH_XID, AUTH);
    put_int(body, 0);
    put_bytes(body, "digest", strlen("digest"));
    put_bytes(body, digest, strlen(digest));
    send_later(w, body);
    int code = answer(w, AUTH_XID);
    return code == AUTH_FAILED ? CMD_WIRE_NOAUTH : code;
}

int cmd_wire_open(cmd_wire *w, const char *address, const char *chroot, const char *digest, int32_t session_ms,
                  int64_t timeout_ms) {
    int64_t deadline = cmd_now_ms() + timeout_ms;
    *w = (cmd_wire){.chroot = chroot, .in = g_byte_array_new(), .out = g_byte_array_new()};
    w->socket = cmd_dial(address, timeout_ms, &w->error);
    if (w->socket < 0)
        return CMD_WIRE_BROKEN;
    int64_t left = deadline - cmd_now_ms();
    int code = handshake(w, session_ms, MAX(left, 1));
    return code || !digest ? code : authenticate(w, digest);
}

int cmd_wire_open_any(cmd_wire *w, const cmd_servers *servers, const char *digest, int64_t timeout_ms) {
    int64_t deadline = cmd_now_ms() + timeout_ms;
    guint count = g_strv_length(servers->addresses);
    int code = CMD_WIRE_BROKEN;
    *w = (cmd_wire){.socket = -1};
    for (guint i = 0; i < count && code == CMD_WIRE_BROKEN; i++) {
        int64_t left = deadline - cmd_now_ms();
        cmd_wire_close(w);
        /* A server that hangs must leave time for the others. */
        code = cmd_wire_open(w, servers->addresses[i], servers->chroot, digest, 15000, MAX(left / (count - i), 1));
    }
    return code;
}

/* A server that has ended the session answers first, and then hangs up. A server that hangs up without an answer may
 * have no quorum. */
static bool end_session(cmd_wire *w, int64_t session, int64_t deadline) {
    send_later(w, request(++w->xid, CLOSE));
    if (receive_packet(w, MAX(deadline - cmd_now_ms(), 1)))
        return false;
    (void)take_int(w);
    bool over = take_int(w) <= 0;
    if (over || take_long(w) != session || receive_packet(w, MAX(deadline - cmd_now_ms(), 1)))
        return over;
    return take_int(w) == w->xid;
}

static void clear(cmd_wire *w) {
    if (w->socket >= 0)
        close(w->socket);
    if (w->in)
        g_byte_array_unref(w->in);
    if (w->out)
        g_byte_array_unref(w->out);
    g_free(w->error);
    *w = (cmd_wire){.socket = -1};
}

bool cmd_wire_end_session(const char *address, int64_t session, const unsigned char *password, int32_t session_ms,
                          int64_t timeout_ms) {
    int64_t deadline = cmd_now_ms() + timeout_ms;
    cmd_wire w = {.in = g_byte_array_new(), .out = g_byte_array_new()};
    bool over = false;
    w.socket = cmd_dial(address, timeout_ms, &w.error);
    if (w.socket >= 0) {
        greet(&w, session, password, session_ms);
        over = end_session(&w, session, deadline);
    }
    clear(&w);
    return over;
}

void cmd_wire_close(cmd_wire *w) {
    if (w->socket >= 0) {
        send_later(w, request(++w->xid, CLOSE));
        (void)flush(w, cmd_now_ms() + CMD_WIRE_MS);
    }
    clear(w);
}

/* ---- questions and answers */

/* With the chroot. "/" below it is the chroot itself. */
static void put_path(GByteArray *body, const cmd_wire *w, const char *path) {
    g_autofree char *whole =
        *w->chroot && strcmp(path, "/") == 0 ? g_strdup(w->chroot) : g_strconcat(w->chroot, path, NULL);
    put_bytes(body, whole, strlen(whole));
}

static void ask(cmd_wire *w, int32_t type, const char *path, bool can_watch) {
    GByteArray *body = request(++w->xid, type);
    put_path(body, w, path);
    if (can_watch)
        put_bool(body, false);
    send_later(w, body);
}

void cmd_wire_ask_children(cmd_wire *w, const char *path) { ask(w, GET_CHILDREN2, path, true); }
void cmd_wire_ask_data(cmd_wire *w, const char *path) { ask(w, GET_DATA, path, true); }
void cmd_wire_ask_acl(cmd_wire *w, const char *path) { ask(w, GET_ACL, path, false); }

int cmd_wire_children(cmd_wire *w, GPtrArray **names, cmd_stat *stat) {
    *names = g_ptr_array_new_with_free_func(g_free);
    int code = answer(w, ++w->answered);
    if (code)
        return code;
    for (int32_t left = take_count(w); left > 0 && !w->bad; left--)
        g_ptr_array_add(*names, take_name(w));
    take_stat(w, stat);
    return w->bad ? fail_as_bad(w) : CMD_WIRE_OK;
}

int cmd_wire_data(cmd_wire *w, char **text, cmd_stat *stat) {
    *text = NULL;
    int code = answer(w, ++w->answered);
    if (code)
        return code;
    *text = take_text(w, TEXT_MOST);
    take_stat(w, stat);
    return w->bad ? fail_as_bad(w) : CMD_WIRE_OK;
}

int cmd_wire_acl(cmd_wire *w, void (*each)(int32_t permissions, const char *scheme, const char *id, void *user),
                 void *user, cmd_stat *stat) {
    int code = answer(w, ++w->answered);
    if (code)
        return code;
    for (int32_t left = take_count(w); left > 0 && !w->bad; left--) {
        int32_t permissions = take_int(w);
        g_autofree char *scheme = take_text(w, TEXT_MOST), *id = take_text(w, TEXT_MOST);
        if (!w->bad)
            each(permissions, scheme, id, user);
    }
    take_stat(w, stat);
    return w->bad ? fail_as_bad(w) : CMD_WIRE_OK;
}

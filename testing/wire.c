/* ZooKeeper's wire format and one blocking connection speaking it. */
#include "wire.h"

#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "sniff.h"
#include "socket.h"

enum { LIMIT_MS = 5000, LARGEST = 64 << 20, XID_AUTH = -4 };

void pdk__test_put_int(GByteArray *out, int32_t value) {
    const uint32_t bits = GUINT32_TO_BE((uint32_t)value);

    g_byte_array_append(out, (const guint8 *)&bits, sizeof bits);
}

void pdk__test_put_long(GByteArray *out, int64_t value) {
    const uint64_t bits = GUINT64_TO_BE((uint64_t)value);

    g_byte_array_append(out, (const guint8 *)&bits, sizeof bits);
}

void pdk__test_put_bool(GByteArray *out, bool value) {
    const guint8 byte = value ? 1 : 0;

    g_byte_array_append(out, &byte, 1);
}

void pdk__test_put_bytes(GByteArray *out, const void *data, int32_t size) {
    if (data == NULL) {
        pdk__test_put_int(out, -1);
        return;
    }
    pdk__test_put_int(out, size);
    g_byte_array_append(out, data, (guint)size);
}

void pdk__test_put_string(GByteArray *out, const char *text) {
    pdk__test_put_bytes(out, text, text == NULL ? 0 : (int32_t)strlen(text));
}

static const uint8_t *take(pdk__test_reader *in, size_t size) {
    const uint8_t *at = in->at;

    if (in->bad || in->left < size) {
        in->bad = true;
        return NULL;
    }
    in->at += size;
    in->left -= size;
    return at;
}

int32_t pdk__test_take_int(pdk__test_reader *in) {
    const uint8_t *at = take(in, 4);

    return at == NULL ? 0 : pdk__test_get32(at);
}

int64_t pdk__test_take_long(pdk__test_reader *in) {
    const uint8_t *at = take(in, 8);

    return at == NULL ? 0 : pdk__test_get64(at);
}

char *pdk__test_take_bytes(pdk__test_reader *in, int32_t *size) {
    const int32_t length = pdk__test_take_int(in);
    const uint8_t *at = length > 0 ? take(in, (size_t)length) : NULL;
    char *copy;

    if (size != NULL) {
        *size = at == NULL && length > 0 ? 0 : length;
    }
    copy = g_malloc0((at == NULL ? 0 : (gsize)length) + 1);
    if (at != NULL) {
        memcpy(copy, at, (size_t)length);
    }
    return copy;
}

/* Sends a frame. */
static bool send_frame(int fd, const GByteArray *body, int64_t deadline_ns) {
    GByteArray *frame = g_byte_array_new();
    bool ok;

    pdk__test_put_bytes(frame, body->data, (int32_t)body->len);
    ok = pdk__test_socket_send(fd, frame->data, frame->len, deadline_ns);
    g_byte_array_unref(frame);
    return ok;
}

/* Receives a frame's body (g_byte_array_unref), NULL when there is none. */
static GByteArray *receive_frame(int fd, int64_t deadline_ns) {
    uint8_t length[4];
    GByteArray *body;
    int32_t size;

    if (!pdk__test_socket_receive(fd, length, sizeof length, deadline_ns)) {
        return NULL;
    }
    size = pdk__test_get32(length);
    if (size < 0 || size > LARGEST) {
        return NULL;
    }
    body = g_byte_array_new();
    g_byte_array_set_size(body, (guint)size);
    if (!pdk__test_socket_receive(fd, body->data, body->len, deadline_ns)) {
        g_byte_array_unref(body);
        return NULL;
    }
    return body;
}

static int no_answer(int64_t deadline_ns) {
    return pdk__test_now_ns() >= deadline_ns ? PDK__TEST_NO_ANSWER : PDK__TEST_CONNECTION_LOSS;
}

static int shake_hands(pdk__test_wire *wire, int32_t timeout_ms, const pdk__test_session_key *session,
                       int64_t deadline) {
    static const uint8_t no_password[16];
    GByteArray *hello = g_byte_array_new();
    GByteArray *answer = NULL;
    int rc = 0;

    pdk__test_put_int(hello, 0);  /* protocol version */
    pdk__test_put_long(hello, 0); /* the last zxid seen: none, so that every server takes us */
    pdk__test_put_int(hello, timeout_ms);
    pdk__test_put_long(hello, session == NULL ? 0 : session->id);
    pdk__test_put_bytes(hello, session == NULL ? no_password : session->password, 16);
    pdk__test_put_bool(hello, false); /* not content with a read-only server */
    if (send_frame(wire->fd, hello, deadline)) {
        answer = receive_frame(wire->fd, deadline);
    }
    g_byte_array_unref(hello);
    if (answer == NULL) {
        rc = no_answer(deadline);
    } else if (answer->len < 36) {
        rc = PDK__TEST_MARSHALLING;
    } else {
        wire->session.timeout_ms = pdk__test_get32(answer->data + 4);
        wire->session.id = pdk__test_get64(answer->data + 8);
        memcpy(wire->session.password, answer->data + 20, 16);
        rc = wire->session.id == 0 ? PDK__TEST_EXPIRED : 0;
    }
    g_clear_pointer(&answer, g_byte_array_unref);
    return rc;
}

int pdk__test_wire_open(pdk__test_wire *wire, const char *address, int32_t timeout_ms,
                        const pdk__test_session_key *session) {
    const int64_t deadline = pdk__test_now_ns() + (int64_t)LIMIT_MS * 1000000;
    int rc;

    memset(wire, 0, sizeof *wire);
    wire->limit_ms = LIMIT_MS;
    wire->fd = pdk__test_socket_open(address, deadline);
    if (wire->fd < 0) {
        return no_answer(deadline);
    }
    rc = shake_hands(wire, timeout_ms, session, deadline);
    if (rc != 0) {
        pdk__test_wire_shut(wire);
    }
    return rc;
}

void pdk__test_wire_shut(pdk__test_wire *wire) {
    if (wire->fd >= 0) {
        close(wire->fd);
        wire->fd = -1;
    }
}

/* Waits for the reply to `xid`, leaving notifications aside. */
static int await(pdk__test_wire *wire, int32_t xid, int64_t deadline, GByteArray **reply) {
    for (;;) {
        GByteArray *frame = receive_frame(wire->fd, deadline);
        int rc;

        if (frame == NULL) {
            return no_answer(deadline);
        }
        if (frame->len < 16 || pdk__test_get32(frame->data) != xid) {
            g_byte_array_unref(frame);
            continue;
        }
        rc = pdk__test_get32(frame->data + 12);
        g_byte_array_remove_range(frame, 0, 16);
        if (rc == 0 && reply != NULL) {
            *reply = frame;
        } else {
            g_byte_array_unref(frame);
        }
        return rc;
    }
}

int pdk__test_wire_call(pdk__test_wire *wire, int opcode, const GByteArray *body, GByteArray **reply) {
    const int64_t deadline = pdk__test_now_ns() + (int64_t)wire->limit_ms * 1000000;
    const int32_t xid = opcode == PDK__TEST_OP_AUTH ? XID_AUTH : ++wire->xid;
    GByteArray *request;
    bool sent;

    if (wire->fd < 0) {
        return PDK__TEST_CONNECTION_LOSS;
    }
    request = g_byte_array_new();
    pdk__test_put_int(request, xid);
    pdk__test_put_int(request, opcode);
    if (body != NULL) {
        g_byte_array_append(request, body->data, body->len);
    }
    sent = send_frame(wire->fd, request, deadline);
    g_byte_array_unref(request);
    return sent ? await(wire, xid, deadline, reply) : no_answer(deadline);
}

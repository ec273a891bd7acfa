/* ZooKeeper's wire format and one blocking connection speaking it, for the observer and for expiry. */
#ifndef TESTING_WIRE_H
#define TESTING_WIRE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "proxy.h"

enum {
    PDK__TEST_CONNECTION_LOSS = -4,
    PDK__TEST_MARSHALLING = -5,
    PDK__TEST_NO_ANSWER = -7,
    PDK__TEST_NO_NODE = -101,
    PDK__TEST_NODE_EXISTS = -110,
    PDK__TEST_EXPIRED = -112
};

/* ---- writing ---- */
void pdk__test_put_int(GByteArray *out, int32_t value);
void pdk__test_put_long(GByteArray *out, int64_t value);
void pdk__test_put_bool(GByteArray *out, bool value);
/* A length and bytes; NULL is written as length -1. */
void pdk__test_put_bytes(GByteArray *out, const void *data, int32_t size);
void pdk__test_put_string(GByteArray *out, const char *text);

/* ---- reading: past the end everything reads as 0 and `bad` is set ---- */
typedef struct {
    const uint8_t *at;
    size_t left;
    bool bad;
} pdk__test_reader;
int32_t pdk__test_take_int(pdk__test_reader *in);
int64_t pdk__test_take_long(pdk__test_reader *in);
/* A NUL-terminated copy (g_free) and its length, -1 for NULL; the copy of NULL is "". */
char *pdk__test_take_bytes(pdk__test_reader *in, int32_t *size);

/* ---- a connection ---- */
typedef struct {
    int fd;
    pdk__test_session_key session;
    int32_t xid;
    int32_t limit_ms; /* how long a call waits for its reply: 5000 after pdk__test_wire_open */
} pdk__test_wire;

/* Connects to "ip:port" and shakes hands: for a new session when `session` is NULL, asking for `timeout_ms`; else to
 * take that session over. Returns 0, PDK__TEST_CONNECTION_LOSS, PDK__TEST_NO_ANSWER, or PDK__TEST_EXPIRED when the
 * server says the session is over. */
int pdk__test_wire_open(pdk__test_wire *wire, const char *address, int32_t timeout_ms,
                        const pdk__test_session_key *session);

/* Closes the socket; the session stays as it is. */
void pdk__test_wire_shut(pdk__test_wire *wire);

/* Sends a request (`body`: the bytes behind the header, may be NULL) and waits for its reply, at most limit_ms. Returns
 * the server's code. With 0 `reply` (may be NULL) gets the bytes behind the header, to be freed with
 * g_byte_array_unref. */
int pdk__test_wire_call(pdk__test_wire *wire, int opcode, const GByteArray *body, GByteArray **reply);

#endif

/* ZooKeeper's wire format and one blocking connection speaking it, for the observer and for expiry. */
#ifndef TS_WIRE_H
#define TS_WIRE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "ts_proxy.h"

enum {
    TS_CONNECTION_LOSS = -4,
    TS_MARSHALLING = -5,
    TS_SILENT = -7,
    TS_NO_NODE = -101,
    TS_NODE_EXISTS = -110,
    TS_EXPIRED = -112
};

/* ---- writing ---- */
void ts_put_int(GByteArray *out, int32_t value);
void ts_put_long(GByteArray *out, int64_t value);
void ts_put_bool(GByteArray *out, bool value);
/* A length and bytes; NULL is written as length -1. */
void ts_put_bytes(GByteArray *out, const void *data, int32_t size);
void ts_put_string(GByteArray *out, const char *text);

/* ---- reading: past the end everything reads as 0 and `bad` is set ---- */
typedef struct {
    const uint8_t *at;
    size_t left;
    bool bad;
} ts_reader;
int32_t ts_take_int(ts_reader *in);
int64_t ts_take_long(ts_reader *in);
/* A NUL-terminated copy (g_free) and its length, -1 for NULL; the copy of NULL is "". */
char *ts_take_bytes(ts_reader *in, int32_t *size);

/* ---- a connection ---- */
typedef struct {
    int fd;
    ts_session_key session;
    int32_t xid;
    int32_t limit_ms; /* how long a call waits for its reply: 5000 after ts_wire_open */
} ts_wire;

/* Connects to "ip:port" and shakes hands: for a new session when `session` is NULL, asking for `timeout_ms`; else to take
 * that session over. Returns 0, TS_CONNECTION_LOSS, TS_SILENT, or TS_EXPIRED when the server says the session is over. */
int ts_wire_open(ts_wire *wire, const char *address, int32_t timeout_ms, const ts_session_key *session);

/* Closes the socket; the session stays as it is. */
void ts_wire_shut(ts_wire *wire);

/* Sends a request (`body`: the bytes behind the header, may be NULL) and waits for its reply, at most limit_ms. Returns
 * the server's code. With 0 `reply` (may be NULL) gets the bytes behind the header, to be freed with
 * g_byte_array_unref. */
int ts_wire_call(ts_wire *wire, int opcode, const GByteArray *body, GByteArray **reply);

#endif

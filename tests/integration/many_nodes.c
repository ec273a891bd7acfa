/* Thousands of nodes. */
#include "many_nodes.h"

#include <ts_observer.h>
#include <ts_proxy.h>
#include <ts_requests.h>
#include <ts_sniff.h>
#include <ts_wire.h>

enum { TOGETHER = 500, TIMEOUT_MS = 60000, NONE = -1 };
enum { ERROR_AT = 5, ERROR_SIZE = 13 }; /* of the answer to one operation: type, last, error, and the error again */

/* The header of each operation of a multi, and the one that ends the multi. */
static void put_operation(GByteArray *out, int type, bool last) {
    ts_put_int(out, type);
    ts_put_bool(out, last);
    ts_put_int(out, NONE); /* no error: this is a request */
}

/* When one operation fails, none is done, and each is answered with an error. The error of those before the failed one
 * is 0. */
static int outcome(const GByteArray *reply) {
    int rc = 0;

    for (guint at = 0; rc == 0 && at + ERROR_SIZE <= reply->len && ts_get32(reply->data + at) == NONE;
         at += ERROR_SIZE) {
        rc = ts_get32(reply->data + at + ERROR_AT);
    }
    return rc;
}

static int make(ts_wire *wire, const char *prefix, int first, int end) {
    g_autoptr(GByteArray) multi = g_byte_array_new(), reply = NULL;

    for (int i = first; i < end; i++) {
        g_autofree char *path = g_strdup_printf("%s%06d", prefix, i);

        put_operation(multi, TS_OP_CREATE, false);
        ts_put_create(multi, path, "", TS_PERSISTENT);
    }
    put_operation(multi, NONE, true);
    const int rc = ts_wire_call(wire, TS_OP_MULTI, multi, &reply);
    return rc != 0 ? rc : outcome(reply);
}

int many_nodes(const char *server, const char *prefix, int first, int count) {
    const int end = first + count;
    ts_wire wire;
    int rc = ts_wire_open(&wire, server, TIMEOUT_MS, NULL);

    for (int i = first; i < end && rc == 0; i += TOGETHER) {
        rc = make(&wire, prefix, i, MIN(i + TOGETHER, end));
    }
    if (rc == 0) {
        rc = ts_wire_call(&wire, TS_OP_CLOSE_SESSION, NULL, NULL);
    }
    ts_wire_shut(&wire);
    return rc;
}

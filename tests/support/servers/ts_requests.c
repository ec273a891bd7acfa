/* The bodies of requests. */
#include "ts_requests.h"

#include "ts_observer.h"
#include "ts_wire.h"

void ts_put_acl(GByteArray *body, int permissions, const char *scheme, const char *id) {
    ts_put_int(body, 1);
    ts_put_int(body, permissions);
    ts_put_string(body, scheme);
    ts_put_string(body, id);
}

void ts_put_open_acl(GByteArray *body) { ts_put_acl(body, TS_PERM_ALL, "world", "anyone"); }

void ts_put_create(GByteArray *body, const char *path, const char *data, int flags) {
    ts_put_string(body, path);
    ts_put_string(body, data);
    ts_put_open_acl(body);
    ts_put_int(body, flags);
}

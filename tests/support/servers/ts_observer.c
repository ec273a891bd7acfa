/* The observer's requests, on a session that stays. */
#include "ts_observer.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "ts_requests.h"
#include "ts_wire.h"

struct ts_observer {
    ts_wire wire;
};

ts_observer *ts_observer_open_timeout(const char *hosts, int timeout_ms) {
    g_auto(GStrv) addresses = g_strsplit(hosts, ",", -1);
    ts_observer *o = g_new0(ts_observer, 1);

    for (char **address = addresses; *address != NULL; address++) {
        if (ts_wire_open(&o->wire, *address, timeout_ms, NULL) == 0) {
            return o;
        }
    }
    g_free(o);
    return NULL;
}

ts_observer *ts_observer_open(const char *hosts) { return ts_observer_open_timeout(hosts, 60000); }

void ts_observer_close(ts_observer *o) {
    if (o != NULL) {
        ts_wire_call(&o->wire, TS_OP_CLOSE_SESSION, NULL, NULL);
        ts_observer_abandon(o);
    }
}

void ts_observer_abandon(ts_observer *o) {
    if (o != NULL) {
        ts_wire_shut(&o->wire);
        g_free(o);
    }
}

int64_t ts_observer_session(const ts_observer *o) { return o->wire.session.id; }

void ts_observer_set_limit(ts_observer *o, int limit_ms) { o->wire.limit_ms = limit_ms; }

/* Calls and gives up the request's body. */
static int call(ts_observer *o, int opcode, GByteArray *body, GByteArray **reply) {
    const int rc = ts_wire_call(&o->wire, opcode, body, reply);

    g_byte_array_unref(body);
    return rc;
}

static GByteArray *body_with(const char *path) {
    GByteArray *body = g_byte_array_new();

    ts_put_string(body, path);
    return body;
}

/* Brings the server up to date with all commits, so that the next read is current. */
static int sync_path(ts_observer *o, const char *path) { return call(o, TS_OP_SYNC, body_with(path), NULL); }

/* A read of a path without a watch, after a sync. */
static int read_path(ts_observer *o, int opcode, const char *path, GByteArray **reply) {
    const int rc = sync_path(o, path);
    GByteArray *body;

    if (rc != 0) {
        return rc;
    }
    body = body_with(path);
    ts_put_bool(body, false);
    return call(o, opcode, body, reply);
}

int ts_observer_auth(ts_observer *o, const char *scheme, const char *credentials) {
    GByteArray *body = g_byte_array_new();

    ts_put_int(body, 0);
    ts_put_string(body, scheme);
    ts_put_string(body, credentials);
    return call(o, TS_OP_AUTH, body, NULL);
}

static int by_bytes(const void *a, const void *b) {
    return strcmp(*(char *const *)(uintptr_t)a, *(char *const *)(uintptr_t)b);
}

char **ts_observer_children(ts_observer *o, const char *path, int *rc) {
    GByteArray *reply = NULL;
    const int code = read_path(o, TS_OP_GET_CHILDREN, path, &reply);
    ts_reader in;
    GPtrArray *names;

    if (rc != NULL) {
        *rc = code;
    }
    if (code != 0) {
        return NULL;
    }
    in = (ts_reader){.at = reply->data, .left = reply->len};
    names = g_ptr_array_new();
    for (int32_t left = ts_take_int(&in); left > 0 && !in.bad; left--) {
        g_ptr_array_add(names, ts_take_bytes(&in, NULL));
    }
    if (names->len > 0) {
        qsort(names->pdata, names->len, sizeof *names->pdata, by_bytes);
    }
    g_ptr_array_add(names, NULL);
    g_byte_array_unref(reply);
    return (char **)g_ptr_array_free(names, FALSE);
}

int ts_observer_create(ts_observer *o, const char *path, const char *data, int flags, char **created) {
    GByteArray *body = g_byte_array_new();
    GByteArray *reply = NULL;
    int rc;

    ts_put_create(body, path, data, flags);
    rc = call(o, TS_OP_CREATE, body, &reply);
    if (rc == 0 && created != NULL) {
        ts_reader in = {.at = reply->data, .left = reply->len};

        *created = ts_take_bytes(&in, NULL);
    }
    g_clear_pointer(&reply, g_byte_array_unref);
    return rc;
}

int ts_observer_delete(ts_observer *o, const char *path) {
    GByteArray *body = body_with(path);

    ts_put_int(body, -1);
    return call(o, TS_OP_DELETE, body, NULL);
}

static void take_stat(ts_reader *in, ts_stat *stat) {
    stat->czxid = ts_take_long(in);
    stat->mzxid = ts_take_long(in);
    stat->ctime = ts_take_long(in);
    stat->mtime = ts_take_long(in);
    stat->version = ts_take_int(in);
    stat->cversion = ts_take_int(in);
    stat->aversion = ts_take_int(in);
    stat->ephemeral_owner = ts_take_long(in);
    stat->data_length = ts_take_int(in);
    stat->num_children = ts_take_int(in);
    stat->pzxid = ts_take_long(in);
}

int ts_observer_get(ts_observer *o, const char *path, char **data, int *length, ts_stat *stat) {
    GByteArray *reply = NULL;
    const int rc = read_path(o, TS_OP_GET_DATA, path, &reply);
    ts_stat unwanted;
    ts_reader in;
    char *copy;
    int32_t size;

    if (rc != 0) {
        return rc;
    }
    in = (ts_reader){.at = reply->data, .left = reply->len};
    copy = ts_take_bytes(&in, &size);
    take_stat(&in, stat != NULL ? stat : &unwanted);
    if (data != NULL) {
        *data = copy;
    } else {
        g_free(copy);
    }
    if (length != NULL) {
        *length = size > 0 ? size : 0;
    }
    g_byte_array_unref(reply);
    return in.bad ? TS_MARSHALLING : 0;
}

int ts_observer_set(ts_observer *o, const char *path, const char *data) {
    GByteArray *body = body_with(path);

    ts_put_string(body, data);
    ts_put_int(body, -1);
    return call(o, TS_OP_SET_DATA, body, NULL);
}

int ts_observer_exists(ts_observer *o, const char *path, ts_stat *stat) {
    GByteArray *reply = NULL;
    const int rc = read_path(o, TS_OP_EXISTS, path, &reply);

    if (rc == 0 && stat != NULL) {
        ts_reader in = {.at = reply->data, .left = reply->len};

        take_stat(&in, stat);
    }
    g_clear_pointer(&reply, g_byte_array_unref);
    return rc;
}

int ts_observer_set_acl(ts_observer *o, const char *path, int permissions, const char *scheme, const char *id) {
    const ts_acl_entry entry = {permissions, scheme, id};
    return ts_observer_set_list(o, path, &entry, 1);
}

int ts_observer_set_list(ts_observer *o, const char *path, const ts_acl_entry *list, int count) {
    GByteArray *body = body_with(path);

    ts_put_int(body, count);
    for (int i = 0; i < count; i++) {
        ts_put_int(body, list[i].permissions);
        ts_put_string(body, list[i].scheme);
        ts_put_string(body, list[i].id);
    }
    ts_put_int(body, -1);
    return call(o, TS_OP_SET_ACL, body, NULL);
}

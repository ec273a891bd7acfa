/* The observer's requests with a session for one call, at the first host that answers. */
#include <glib.h>
#include <string.h>

#include "ts_clock.h"
#include "ts_observer.h"
#include "ts_wire.h"

/* True when another host might say more. */
static bool undecided(int rc) { return rc == TS_CONNECTION_LOSS || rc == TS_SILENT; }

typedef struct {
    const char *path;
    const char *data;
    int flags;
    char **text;
    int *length;
    ts_stat *stat;
    char **list;
} request;

/* Calls `ask` on a session at each host, one after the other, until one has decided. */
static int ask_hosts(const char *hosts, int (*ask)(ts_observer *o, request *r), request *r) {
    g_auto(GStrv) addresses = g_strsplit(hosts, ",", -1);
    int rc = TS_CONNECTION_LOSS;

    for (char **address = addresses; *address != NULL && undecided(rc); address++) {
        ts_observer *o = ts_observer_open(*address);

        if (o != NULL) {
            rc = ask(o, r);
            if (undecided(rc)) {
                ts_observer_abandon(o); /* a goodbye would only be waited for */
            } else {
                ts_observer_close(o);
            }
        }
    }
    return rc;
}

static int ask_children(ts_observer *o, request *r) {
    int rc;

    r->list = ts_observer_children(o, r->path, &rc);
    return rc;
}

static int ask_create(ts_observer *o, request *r) {
    int rc = ts_observer_create(o, r->path, r->data, r->flags, r->text);

    for (const char *slash = strchr(r->path + 1, '/'); rc == TS_NO_NODE && slash != NULL;
         slash = strchr(slash + 1, '/')) {
        g_autofree char *parent = g_strndup(r->path, (gsize)(slash - r->path));
        const int made = ts_observer_create(o, parent, "", TS_PERSISTENT, NULL);

        if (made != 0 && made != TS_NODE_EXISTS) {
            return made;
        }
        if (strchr(slash + 1, '/') == NULL) {
            return ts_observer_create(o, r->path, r->data, r->flags, r->text);
        }
    }
    return rc;
}

static int ask_delete(ts_observer *o, request *r) { return ts_observer_delete(o, r->path); }

static int delete_tree(ts_observer *o, const char *path) {
    int rc;
    g_auto(GStrv) names = ts_observer_children(o, path, &rc);

    for (char **name = names; rc == 0 && *name != NULL; name++) {
        g_autofree char *child = g_strdup_printf("%s/%s", path, *name);

        rc = delete_tree(o, child);
    }
    if (rc == 0) {
        rc = ts_observer_delete(o, path);
    }
    return rc == TS_NO_NODE ? 0 : rc;
}

static int ask_delete_tree(ts_observer *o, request *r) { return delete_tree(o, r->path); }

static int ask_get(ts_observer *o, request *r) { return ts_observer_get(o, r->path, r->text, r->length, r->stat); }

static int ask_set(ts_observer *o, request *r) { return ts_observer_set(o, r->path, r->data); }

static int ask_exists(ts_observer *o, request *r) { return ts_observer_exists(o, r->path, r->stat); }

char **ts_children(const char *hosts, const char *path, int *rc) {
    request r = {.path = path};
    const int code = ask_hosts(hosts, ask_children, &r);

    if (rc != NULL) {
        *rc = code;
    }
    return r.list;
}

int ts_child_count(const char *hosts, const char *path) {
    int rc;
    g_auto(GStrv) names = ts_children(hosts, path, &rc);

    return names == NULL ? rc : (int)g_strv_length(names);
}

int ts_create(const char *hosts, const char *path, const char *data, int flags, char **created) {
    request r = {.path = path, .data = data, .flags = flags, .text = created};

    return ask_hosts(hosts, ask_create, &r);
}

int ts_delete(const char *hosts, const char *path) {
    request r = {.path = path};

    return ask_hosts(hosts, ask_delete, &r);
}

int ts_delete_tree(const char *hosts, const char *path) {
    request r = {.path = path};

    return ask_hosts(hosts, ask_delete_tree, &r);
}

int ts_get(const char *hosts, const char *path, char **data, int *length, ts_stat *stat) {
    request r = {.path = path, .text = data, .length = length, .stat = stat};

    return ask_hosts(hosts, ask_get, &r);
}

int ts_set(const char *hosts, const char *path, const char *data) {
    request r = {.path = path, .data = data};

    return ask_hosts(hosts, ask_set, &r);
}

int ts_exists(const char *hosts, const char *path, ts_stat *stat) {
    request r = {.path = path, .stat = stat};

    return ask_hosts(hosts, ask_exists, &r);
}

typedef struct {
    const char *hosts;
    const char *path;
    int count;
} wanted_count;

static bool has_count(void *user) {
    const wanted_count *wanted = user;
    const int count = ts_child_count(wanted->hosts, wanted->path);

    return count == wanted->count || (count == TS_NO_NODE && wanted->count == 0);
}

bool ts_wait_children(const char *hosts, const char *path, int count, int64_t timeout_ms) {
    wanted_count wanted = {.hosts = hosts, .path = path, .count = count};

    return ts_wait_until(has_count, &wanted, timeout_ms);
}

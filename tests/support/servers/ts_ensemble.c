/* One or three ZooKeeper servers, started, watched, cut apart and stopped. */
#include "ts_ensemble.h"

#include <glib.h>
#include <stdio.h>

#include "ts_clock.h"
#include "ts_links.h"
#include "ts_process.h"
#include "ts_server.h"
#include "ts_tempdir.h"

enum { START_LIMIT_MS = 60000 };

struct ts_ensemble {
    int size;
    int initialised; /* servers */
    ts_tempdir *directory;
    ts_server server[TS_NODES];
    ts_proxy *client_proxy[TS_NODES];
    ts_links *links; /* NULL with one server */
    char *hosts;
    char *proxied_hosts;
};

static int or_default(int value, int otherwise) { return value > 0 ? value : otherwise; }

static bool configure(ts_ensemble *e, const ts_ensemble_options *options, int i) {
    const int tick = or_default(options->tick_ms, 500);
    g_autoptr(GString) more = g_string_new(NULL);

    g_string_append_printf(more, "minSessionTimeout=%d\nmaxSessionTimeout=%d\n",
                           or_default(options->min_session_ms, 2 * tick), or_default(options->max_session_ms, 60000));
    if (e->links != NULL) {
        g_autofree char *peers = ts_links_config(e->links, e->server, i);

        g_string_append_printf(more, "initLimit=%d\nsyncLimit=%d\n%s", or_default(options->init_limit, 10),
                               or_default(options->sync_limit, 5), peers);
    }
    for (const char *const *line = options->config_lines; line != NULL && *line != NULL; line++) {
        g_string_append_printf(more, "%s\n", *line);
    }
    e->server[i].properties = g_strdupv((char **)(uintptr_t)options->java_properties);
    e->server[i].archive = ts_server_archive(e->links != NULL);
    return ts_server_configure(&e->server[i], tick, more->str);
}

static char *joined(const ts_ensemble *e, const char *(*address)(const ts_ensemble *e, int i)) {
    GString *text = g_string_new(NULL);

    for (int i = 0; i < e->size; i++) {
        g_string_append_printf(text, "%s%s", i > 0 ? "," : "", address(e, i));
    }
    return g_string_free(text, FALSE);
}

/* Everything but the processes. */
static bool prepare(ts_ensemble *e, const ts_ensemble_options *options) {
    e->directory = ts_tempdir_new();
    if (e->directory == NULL) {
        return false;
    }
    for (int i = 0; i < e->size; i++) {
        e->initialised = i + 1;
        if (!ts_server_init(&e->server[i], ts_tempdir_path(e->directory), i)) {
            return false;
        }
        e->client_proxy[i] = ts_proxy_start(e->server[i].client_address);
        if (e->client_proxy[i] == NULL) {
            return false;
        }
    }
    if (e->size == TS_NODES && (e->links = ts_links_start(e->server)) == NULL) {
        return false;
    }
    for (int i = 0; i < e->size; i++) {
        if (!configure(e, options, i)) {
            return false;
        }
    }
    e->hosts = joined(e, ts_ensemble_host);
    e->proxied_hosts = joined(e, ts_ensemble_proxied_host);
    return true;
}

static bool spawn_all(ts_ensemble *e) {
    bool ok = true;

    for (int i = 0; i < e->size; i++) {
        ok = ok && ts_server_spawn(&e->server[i]);
    }
    return ok;
}

ts_ensemble *ts_ensemble_start(const ts_ensemble_options *options) {
    static const ts_ensemble_options defaults;
    ts_ensemble *e = g_new0(ts_ensemble, 1);

    options = options != NULL ? options : &defaults;
    e->size = or_default(options->nodes, 1);
    g_assert(e->size == 1 || e->size == TS_NODES);
    if (!prepare(e, options) || !spawn_all(e) || !ts_ensemble_wait_ready(e, START_LIMIT_MS)) {
        fprintf(stderr, "test support: ZooKeeper did not start\n");
        for (int i = 0; i < e->initialised; i++) {
            ts_server_print_log(&e->server[i]);
        }
        ts_ensemble_stop(e);
        return NULL;
    }
    return e;
}

void ts_ensemble_stop(ts_ensemble *e) {
    if (e == NULL) {
        return;
    }
    for (int i = 0; i < e->initialised; i++) {
        ts_server_clear(&e->server[i]);
        ts_proxy_stop(e->client_proxy[i]);
    }
    ts_links_stop(e->links);
    ts_tempdir_free(e->directory);
    g_free(e->hosts);
    g_free(e->proxied_hosts);
    g_free(e);
}

int ts_ensemble_size(const ts_ensemble *e) { return e->size; }

const char *ts_ensemble_hosts(const ts_ensemble *e) { return e->hosts; }

const char *ts_ensemble_host(const ts_ensemble *e, int i) { return e->server[i].client_address; }

const char *ts_ensemble_proxied_hosts(const ts_ensemble *e) { return e->proxied_hosts; }

const char *ts_ensemble_proxied_host(const ts_ensemble *e, int i) { return ts_proxy_address(e->client_proxy[i]); }

ts_proxy *ts_ensemble_proxy(const ts_ensemble *e, int i) { return e->client_proxy[i]; }

pid_t ts_ensemble_pid(const ts_ensemble *e, int i) { return e->server[i].pid; }

const char *ts_ensemble_log(const ts_ensemble *e, int i) { return e->server[i].log; }

ts_server_mode ts_ensemble_mode(const ts_ensemble *e, int i) {
    return e->server[i].pid == 0 ? TS_MODE_DOWN : ts_mode(e->server[i].client_address);
}

static bool leads(ts_server_mode mode) { return mode == TS_MODE_LEADER || mode == TS_MODE_STANDALONE; }

int ts_ensemble_leader(const ts_ensemble *e) {
    int64_t best_epoch = -1;
    int leader = -1;

    for (int i = 0; i < e->size; i++) {
        if (leads(ts_ensemble_mode(e, i))) {
            const int64_t epoch = ts_zxid(e->server[i].client_address) >> 32;

            if (epoch > best_epoch) {
                best_epoch = epoch;
                leader = i;
            }
        }
    }
    return leader;
}

/* Ready, or never going to be. */
static bool settled(void *user) {
    const ts_ensemble *e = user;
    int leaders = 0;

    for (int i = 0; i < e->size; i++) {
        ts_server_mode mode;

        if (e->server[i].pid == 0) {
            continue;
        }
        mode = ts_ensemble_mode(e, i);
        if (mode == TS_MODE_DOWN && !ts_alive(e->server[i].pid)) {
            return true;
        }
        if (mode < TS_MODE_STANDALONE) {
            return false;
        }
        leaders += leads(mode) ? 1 : 0;
    }
    return leaders == 1;
}

bool ts_ensemble_wait_ready(const ts_ensemble *e, int64_t timeout_ms) {
    if (!ts_wait_until(settled, (void *)(uintptr_t)e, timeout_ms)) {
        return false;
    }
    for (int i = 0; i < e->size; i++) {
        if (e->server[i].pid != 0 && !ts_alive(e->server[i].pid)) {
            return false;
        }
    }
    return true;
}

typedef struct {
    const ts_ensemble *ensemble;
    int not_this;
    int leader;
} leader_wait;

static bool has_other_leader(void *user) {
    leader_wait *wait = user;

    wait->leader = ts_ensemble_leader(wait->ensemble);
    return wait->leader >= 0 && wait->leader != wait->not_this;
}

int ts_ensemble_wait_leader(const ts_ensemble *e, int not_this, int64_t timeout_ms) {
    leader_wait wait = {.ensemble = e, .not_this = not_this, .leader = -1};

    return ts_wait_until(has_other_leader, &wait, timeout_ms) ? wait.leader : -1;
}

void ts_ensemble_isolate(ts_ensemble *e, int i) {
    if (e->links != NULL) {
        ts_links_isolate(e->links, i);
    }
}

void ts_ensemble_depose(ts_ensemble *e, int i) {
    if (e->links != NULL) {
        ts_links_depose(e->links, i);
    }
}

void ts_ensemble_heal(ts_ensemble *e) {
    if (e->links != NULL) {
        ts_links_heal(e->links);
    }
}

void ts_ensemble_kill(ts_ensemble *e, int i) { ts_server_kill(&e->server[i]); }

bool ts_ensemble_restart(ts_ensemble *e, int i) {
    g_assert(e->server[i].pid == 0);
    return ts_server_spawn(&e->server[i]);
}

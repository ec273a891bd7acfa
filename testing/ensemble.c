/* One or three ZooKeeper servers, started, watched, cut apart and stopped. */
#include "ensemble.h"

#include <glib.h>
#include <string.h>

#include "clock.h"
#include "fail.h"
#include "jvm.h"
#include "links.h"
#include "process.h"
#include "server.h"
#include "starter.h"
#include "tempdir.h"

enum { START_LIMIT_MS = 60000 };

struct pdk_test_ensemble {
    int size;
    int initialised; /* servers */
    pdk__test_tempdir *directory;
    pdk__test_starter *starter;
    pdk__test_server server[PDK__TEST_NODES];
    pdk_test_proxy *client_proxy[PDK__TEST_NODES];
    pdk__test_links *links; /* NULL with one server */
    char *hosts;
    char *proxied_hosts;
};

static int or_default(int value, int otherwise) { return value > 0 ? value : otherwise; }

/* Reads all fields, with zero for fields that a caller of an older version did not know. False, and the reason is
 * said. */
static bool read_options(const pdk_test_options *given, pdk_test_options *full) {
    const size_t size = given == NULL ? sizeof *full : given->size;
    const struct {
        const char *name;
        const int32_t *value;
    } counts[] = {{"tick_ms", &full->tick_ms},
                  {"init_limit", &full->init_limit},
                  {"sync_limit", &full->sync_limit},
                  {"min_session_ms", &full->min_session_ms},
                  {"max_session_ms", &full->max_session_ms}};

    memset(full, 0, sizeof *full);
    if (size < sizeof full->size || size > sizeof *full) {
        pdk__test_fail(
            "pdk_test_options: size is %zu; set it to sizeof(pdk_test_options), of this version's <paddock/testing.h>",
            size);
        return false;
    }
    if (given != NULL) {
        memcpy(full, given, size);
    }
    if (full->servers != 0 && full->servers != 1 && full->servers != PDK__TEST_NODES) {
        pdk__test_fail("%d servers: it has to be 1 or %d", full->servers, PDK__TEST_NODES);
        return false;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(counts); i++) {
        if (*counts[i].value < 0) {
            pdk__test_fail("%s %d: it has to be 1 or more, or 0 for the default", counts[i].name, *counts[i].value);
            return false;
        }
    }
    if (full->port < 0 || full->port > 65535) {
        pdk__test_fail("port %d: it has to be 1 to 65535, or 0 for one that is free", full->port);
        return false;
    }
    return true;
}

static bool configure(pdk_test_ensemble *e, const pdk_test_options *options, const char *class_path, int i) {
    const int tick = or_default(options->tick_ms, 500);
    pdk__test_server *s = &e->server[i];
    g_autoptr(GString) more = g_string_new(NULL);

    g_string_append_printf(more, "minSessionTimeout=%d\nmaxSessionTimeout=%d\n",
                           or_default(options->min_session_ms, 2 * tick), or_default(options->max_session_ms, 60000));
    if (e->links != NULL) {
        g_autofree char *peers = pdk__test_links_config(e->links, e->server, i);

        g_string_append_printf(more, "initLimit=%d\nsyncLimit=%d\n%s", or_default(options->init_limit, 10),
                               or_default(options->sync_limit, 5), peers);
    }
    for (const char *const *line = options->config_lines; line != NULL && *line != NULL; line++) {
        g_string_append_printf(more, "%s\n", *line);
    }
    s->class_path = g_strdup(class_path);
    s->properties = g_strdupv((char **)(uintptr_t)options->java_properties);
    s->archive = pdk__test_server_archive(class_path, e->links != NULL);
    return pdk__test_server_configure(s, tick, more->str);
}

static char *joined(const pdk_test_ensemble *e, const char *(*address)(const pdk_test_ensemble *e, int i)) {
    GString *text = g_string_new(NULL);

    for (int i = 0; i < e->size; i++) {
        g_string_append_printf(text, "%s%s", i > 0 ? "," : "", address(e, i));
    }
    return g_string_free(text, FALSE);
}

/* Prepares folders, ports and proxies. */
static bool prepare(pdk_test_ensemble *e, const pdk_test_options *options) {
    e->directory = options->data == NULL ? pdk__test_tempdir_new() : pdk__test_tempdir_keep(options->data);
    for (int i = 0; e->directory != NULL && i < e->size; i++) {
        e->initialised = i + 1;
        if (!pdk__test_server_init(&e->server[i], pdk__test_tempdir_path(e->directory), i, options->port)) {
            return false;
        }
        e->client_proxy[i] = pdk_test_proxy_start(e->server[i].client_address);
        if (e->client_proxy[i] == NULL) {
            return false;
        }
    }
    if (e->size == PDK__TEST_NODES && e->directory != NULL && (e->links = pdk__test_links_start(e->server)) == NULL) {
        return false;
    }
    return e->directory != NULL;
}

static bool configure_all(pdk_test_ensemble *e, const pdk_test_options *options) {
    g_autofree char *class_path = pdk__test_jvm_class_path(options->class_path);

    for (int i = 0; class_path != NULL && i < e->size; i++) {
        if (!configure(e, options, class_path, i)) {
            pdk__test_fail("zoo.cfg cannot be written in %s; is there space left?",
                           pdk__test_tempdir_path(e->directory));
            return false;
        }
    }
    return class_path != NULL;
}

static bool spawn_all(pdk_test_ensemble *e) {
    e->hosts = joined(e, pdk_test_ensemble_host);
    e->proxied_hosts = joined(e, pdk_test_ensemble_proxied_host);
    e->starter = pdk__test_starter_new();
    if (e->starter == NULL) {
        pdk__test_fail("the system has no thread left (ulimit -u)");
        return false;
    }
    for (int i = 0; i < e->size; i++) {
        if (!pdk__test_server_spawn(&e->server[i], e->starter)) {
            return false;
        }
    }
    return true;
}

/* Tells the last words of the first server that ended, or does not serve. */
static void explain(const pdk_test_ensemble *e) {
    const pdk__test_server *culprit = NULL;
    g_autofree char *words = NULL;

    for (int i = 0; i < e->size; i++) {
        if (!pdk__test_alive(e->server[i].pid) ||
            (culprit == NULL && pdk__test_ensemble_mode(e, i) < PDK__TEST_MODE_STANDALONE)) {
            culprit = &e->server[i];
        }
    }
    culprit = culprit == NULL ? &e->server[0] : culprit;
    words = pdk__test_server_last_words(culprit);
    pdk__test_fail("ZooKeeper at %s %s; is %s all that it needs (PADDOCK_TEST_CLASSPATH)? Its last words: %s",
                   culprit->client_address, pdk__test_alive(culprit->pid) ? "does not serve" : "ended at once",
                   culprit->class_path, words);
}

pdk_test_ensemble *pdk_test_ensemble_start(const pdk_test_options *options) {
    g_auto(pdk__test_uncancelled) off = pdk__test_cancel_off();
    pdk_test_options full;
    pdk_test_ensemble *e;

    if (!read_options(options, &full)) {
        return NULL;
    }
    pdk__test_fill_standard();
    e = g_new0(pdk_test_ensemble, 1);
    e->size = or_default(full.servers, 1);
    if (!prepare(e, &full) || !configure_all(e, &full) || !spawn_all(e)) {
        pdk_test_ensemble_stop(e);
        return NULL;
    }
    if (!pdk_test_ensemble_wait_ready(e, START_LIMIT_MS)) {
        explain(e);
        pdk_test_ensemble_stop(e);
        return NULL;
    }
    return e;
}

void pdk_test_ensemble_stop(pdk_test_ensemble *e) {
    g_auto(pdk__test_uncancelled) off = pdk__test_cancel_off();

    if (e == NULL) {
        return;
    }
    for (int i = 0; i < e->initialised; i++) {
        pdk__test_server_clear(&e->server[i]);
        pdk_test_proxy_stop(e->client_proxy[i]);
    }
    pdk__test_starter_free(e->starter);
    pdk__test_links_stop(e->links);
    pdk__test_tempdir_free(e->directory);
    g_free(e->hosts);
    g_free(e->proxied_hosts);
    g_free(e);
}

/* The number of a server. Another one is a mistake of the test program. */
static int number(const pdk_test_ensemble *e, int i) {
    if (i < 0 || i >= e->size) {
        g_error("paddock-testing: there is no server %d; they are 0 to %d", i, e->size - 1);
    }
    return i;
}

int pdk_test_ensemble_size(const pdk_test_ensemble *e) { return e->size; }

const char *pdk_test_ensemble_hosts(const pdk_test_ensemble *e) { return e->hosts; }

const char *pdk_test_ensemble_host(const pdk_test_ensemble *e, int i) { return e->server[number(e, i)].client_address; }

const char *pdk_test_ensemble_proxied_hosts(const pdk_test_ensemble *e) { return e->proxied_hosts; }

const char *pdk_test_ensemble_proxied_host(const pdk_test_ensemble *e, int i) {
    return pdk_test_proxy_address(pdk_test_ensemble_proxy(e, i));
}

pdk_test_proxy *pdk_test_ensemble_proxy(const pdk_test_ensemble *e, int i) { return e->client_proxy[number(e, i)]; }

int pdk_test_ensemble_pid(const pdk_test_ensemble *e, int i) { return e->server[number(e, i)].pid; }

const char *pdk_test_ensemble_log(const pdk_test_ensemble *e, int i) { return e->server[number(e, i)].log; }

pdk__test_server_mode pdk__test_ensemble_mode(const pdk_test_ensemble *e, int i) {
    return e->server[i].pid == 0 ? PDK__TEST_MODE_DOWN : pdk__test_mode(e->server[i].client_address);
}

static bool leads(pdk__test_server_mode mode) {
    return mode == PDK__TEST_MODE_LEADER || mode == PDK__TEST_MODE_STANDALONE;
}

int pdk_test_ensemble_leader(const pdk_test_ensemble *e) {
    g_auto(pdk__test_uncancelled) off = pdk__test_cancel_off();
    int64_t best_epoch = -1;
    int leader = -1;

    for (int i = 0; i < e->size; i++) {
        if (leads(pdk__test_ensemble_mode(e, i))) {
            const int64_t epoch = pdk__test_zxid(e->server[i].client_address) >> 32;

            if (epoch > best_epoch) {
                best_epoch = epoch;
                leader = i;
            }
        }
    }
    return leader;
}

/* Is it ready, or never going to be? */
static bool settled(void *user) {
    const pdk_test_ensemble *e = user;
    int leaders = 0;

    for (int i = 0; i < e->size; i++) {
        pdk__test_server_mode mode;

        if (e->server[i].pid == 0) {
            continue;
        }
        mode = pdk__test_ensemble_mode(e, i);
        if (mode == PDK__TEST_MODE_DOWN && !pdk__test_alive(e->server[i].pid)) {
            return true;
        }
        if (mode < PDK__TEST_MODE_STANDALONE) {
            return false;
        }
        leaders += leads(mode) ? 1 : 0;
    }
    return leaders == 1;
}

bool pdk_test_ensemble_wait_ready(const pdk_test_ensemble *e, int64_t timeout_ms) {
    g_auto(pdk__test_uncancelled) off = pdk__test_cancel_off();

    if (!pdk__test_wait_until(settled, (void *)(uintptr_t)e, timeout_ms)) {
        return false;
    }
    for (int i = 0; i < e->size; i++) {
        if (e->server[i].pid != 0 && !pdk__test_alive(e->server[i].pid)) {
            return false;
        }
    }
    return true;
}

typedef struct {
    const pdk_test_ensemble *ensemble;
    int not_this;
    int leader;
} leader_wait;

static bool has_other_leader(void *user) {
    leader_wait *wait = user;

    wait->leader = pdk_test_ensemble_leader(wait->ensemble);
    return wait->leader >= 0 && wait->leader != wait->not_this;
}

int pdk_test_ensemble_wait_leader(const pdk_test_ensemble *e, int not_this, int64_t timeout_ms) {
    g_auto(pdk__test_uncancelled) off = pdk__test_cancel_off();
    leader_wait wait = {.ensemble = e, .not_this = not_this, .leader = -1};

    return pdk__test_wait_until(has_other_leader, &wait, timeout_ms) ? wait.leader : -1;
}

void pdk_test_ensemble_isolate(pdk_test_ensemble *e, int i) {
    g_auto(pdk__test_uncancelled) off = pdk__test_cancel_off();

    if (e->links != NULL) {
        pdk__test_links_isolate(e->links, number(e, i));
    }
}

void pdk_test_ensemble_depose(pdk_test_ensemble *e, int i) {
    g_auto(pdk__test_uncancelled) off = pdk__test_cancel_off();

    if (e->links != NULL) {
        pdk__test_links_depose(e->links, number(e, i));
    }
}

void pdk_test_ensemble_heal(pdk_test_ensemble *e) {
    g_auto(pdk__test_uncancelled) off = pdk__test_cancel_off();

    if (e->links != NULL) {
        pdk__test_links_heal(e->links);
    }
}

bool pdk_test_ensemble_pause(pdk_test_ensemble *e, int i) {
    g_auto(pdk__test_uncancelled) off = pdk__test_cancel_off();

    return pdk__test_pause(e->server[number(e, i)].pid);
}

bool pdk_test_ensemble_resume(pdk_test_ensemble *e, int i) {
    g_auto(pdk__test_uncancelled) off = pdk__test_cancel_off();

    return pdk__test_resume(e->server[number(e, i)].pid);
}

void pdk_test_ensemble_kill(pdk_test_ensemble *e, int i) {
    g_auto(pdk__test_uncancelled) off = pdk__test_cancel_off();

    pdk__test_server_kill(&e->server[number(e, i)]);
}

bool pdk_test_ensemble_restart(pdk_test_ensemble *e, int i) {
    g_auto(pdk__test_uncancelled) off = pdk__test_cancel_off();

    if (e->server[number(e, i)].pid != 0) {
        pdk__test_fail("server %d runs already; kill it first", i);
        return false;
    }
    return pdk__test_server_spawn(&e->server[i], e->starter);
}

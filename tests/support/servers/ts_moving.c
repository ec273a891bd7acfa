#include "ts_moving.h"

#include <arpa/inet.h>
#include <glib.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ts_clock.h"
#include "ts_names.h"
#include "ts_tempdir.h"

enum { NODES = 3, PATIENCE_MS = 30000 };

struct ts_moving {
    ts_ensemble *servers;
    char *folder, *hosts, *addresses;
    int moves;
    bool silence;
    GArray *silent; /* descriptors */
    struct {
        char *address, *port, *words;
        bool away;
    } node[NODES];
};

static char *ip_of(const char *address) { return g_strndup(address, (gsize)(strrchr(address, ':') - address)); }

static void tell_names(const ts_moving *m) {
    g_autoptr(GString) text = g_string_new(NULL);

    for (int i = 0; i < NODES; i++) {
        const char *words = m->node[i].words != NULL ? m->node[i].words : "";
        g_autofree char *ip = ip_of(m->node[i].address);
        const bool whole = strcmp(words, "never") == 0 || g_str_has_prefix(words, "error");

        g_string_append_printf(text, "zk%d %s%s\n", i + 1, m->node[i].away ? "" : words,
                               m->node[i].away ? "error=-2"
                               : whole         ? ""
                                               : ip);
    }
    ts_names_set(text->str);
}

static void join(ts_moving *m) {
    g_free(m->addresses);
    m->addresses = g_strjoin(",", m->node[0].address, m->node[1].address, m->node[2].address, NULL);
}

ts_moving *ts_moving_start(int tick_ms) {
    ts_moving *m = g_new0(ts_moving, 1);
    g_autoptr(GError) error = NULL;

    m->silent = g_array_new(FALSE, FALSE, sizeof(int));
    m->folder = g_dir_make_tmp("paddock-moving-XXXXXX", &error);
    m->servers = m->folder == NULL
                     ? NULL
                     : pdk_test_ensemble_start(&(pdk_test_options){
                           .size = sizeof(pdk_test_options), .servers = NODES, .tick_ms = tick_ms, .data = m->folder});
    if (m->servers == NULL) {
        fprintf(stderr, "ts_moving: %s\n", error != NULL ? error->message : pdk_test_last_error());
        abort();
    }
    for (int i = 0; i < NODES; i++) {
        m->node[i].address = g_strdup(ts_ensemble_host(m->servers, i));
        m->node[i].port = g_strdup(strrchr(m->node[i].address, ':') + 1);
    }
    m->hosts = g_strdup_printf("zk1:%s,zk2:%s,zk3:%s", m->node[0].port, m->node[1].port, m->node[2].port);
    join(m);
    tell_names(m);
    return m;
}

void ts_moving_stop(ts_moving *m) {
    const char *remove[] = {"rm", "-rf", "--", m->folder, NULL};

    ts_ensemble_stop(m->servers);
    ts_moving_leave_silence(m, false);
    g_array_free(m->silent, TRUE);
    g_spawn_sync(NULL, (char **)(uintptr_t)remove, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
    ts_names_end();
    for (int i = 0; i < NODES; i++) {
        g_free(m->node[i].address);
        g_free(m->node[i].port);
        g_free(m->node[i].words);
    }
    g_free(m->folder);
    g_free(m->hosts);
    g_free(m->addresses);
    g_free(m);
}

const char *ts_moving_hosts(const ts_moving *m) { return m->hosts; }

void ts_moving_answers(ts_moving *m, int i, const char *words) {
    g_free(m->node[i].words);
    m->node[i].words = g_strdup(words);
    tell_names(m);
}

void ts_moving_leave_silence(ts_moving *m, bool silence) {
    m->silence = silence;
    for (guint i = 0; !silence && i < m->silent->len; i++) {
        close(g_array_index(m->silent, int, i));
    }
    if (!silence) {
        g_array_set_size(m->silent, 0);
    }
}

static int keep(ts_moving *m, int descriptor) {
    g_array_append_val(m->silent, descriptor);
    return descriptor;
}

/* A listener whose queue is full. */
static void fall_silent(ts_moving *m, const char *ip, const char *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)g_ascii_strtoull(port, NULL, 10))};
    const int on = 1, listener = keep(m, socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));

    inet_pton(AF_INET, ip, &address.sin_addr);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 0) != 0) {
        perror("ts_moving: an address that answers nothing");
        abort();
    }
    for (int i = 0; i < 4; i++) {
        (void)connect(keep(m, socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
                      (struct sockaddr *)&address, sizeof address);
    }
}

/* The line of its configuration that has its address. */
static bool configure(const ts_moving *m, int i, const char *ip) {
    g_autofree char *file = g_strdup_printf("%s/node%d/zoo.cfg", m->folder, i + 1);
    g_autofree char *text = NULL, *line = g_strdup_printf("clientPortAddress=%s", ip);
    g_autoptr(GRegex) old = g_regex_new("^clientPortAddress=.*$", G_REGEX_MULTILINE, 0, NULL);
    g_autofree char *changed = NULL;

    if (!g_file_get_contents(file, &text, NULL, NULL)) {
        return false;
    }
    changed = g_regex_replace_literal(old, text, -1, 0, line, 0, NULL);
    return g_file_set_contents(file, changed, -1, NULL);
}

static bool all_serve(void *user) {
    const ts_moving *m = user;

    for (int i = 0; i < NODES; i++) {
        if (ts_mode(m->node[i].address) < TS_MODE_STANDALONE) {
            return false;
        }
    }
    return true;
}

bool ts_moving_move(ts_moving *m, int i) {
    const int move = ++m->moves;
    g_autofree char *ip = g_strdup_printf("127.0.%d.%d", 1 + move / 250, 1 + move % 250);

    m->node[i].away = true;
    tell_names(m);
    ts_ensemble_kill(m->servers, i);
    if (m->silence) {
        g_autofree char *left = ip_of(m->node[i].address);

        fall_silent(m, left, m->node[i].port);
    }
    if (!configure(m, i, ip) || !ts_ensemble_restart(m->servers, i)) {
        return false;
    }
    g_free(m->node[i].address);
    m->node[i].address = g_strdup_printf("%s:%s", ip, m->node[i].port);
    join(m);
    m->node[i].away = false;
    tell_names(m);
    return ts_wait_until(all_serve, m, PATIENCE_MS);
}

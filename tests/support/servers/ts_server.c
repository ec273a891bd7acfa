/* One ZooKeeper process: its configuration, its ports, its start and end. */
#include "ts_server.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ts_jvm.h"
#include "ts_ports.h"
#include "ts_process.h"

bool ts_server_init(ts_server *s, const char *base, int index) {
    int *const ports[] = {&s->client_port, &s->quorum_port, &s->election_port};
    g_autofree char *name = g_strdup_printf("node%d", index + 1);
    g_autofree char *id_file = NULL;
    g_autofree char *id = g_strdup_printf("%d\n", index + 1);

    memset(s, 0, sizeof *s);
    s->index = index;
    s->ip = g_strdup_printf("127.0.0.%d", index + 1);
    s->directory = g_build_filename(base, name, NULL);
    s->config = g_build_filename(s->directory, "zoo.cfg", NULL);
    s->log = g_build_filename(s->directory, "server.log", NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(ports); i++) {
        s->reservation[i] = ts_port_reserve(s->ip, ports[i]);
        if (s->reservation[i] < 0) {
            perror("test support: no free port");
            return false;
        }
    }
    s->client_address = g_strdup_printf("%s:%d", s->ip, s->client_port);
    id_file = g_build_filename(s->directory, "myid", NULL);
    return g_mkdir(s->directory, 0700) == 0 && g_file_set_contents(id_file, id, -1, NULL);
}

bool ts_server_configure(ts_server *s, int tick_ms, const char *more) {
    g_autofree char *text = g_strdup_printf("tickTime=%d\n"
                                            "dataDir=%s\n"
                                            "clientPort=%d\n"
                                            "clientPortAddress=%s\n"
                                            "admin.enableServer=false\n"
                                            "4lw.commands.whitelist=*\n"
                                            "maxClientCnxns=0\n"
                                            "%s",
                                            tick_ms, s->directory, s->client_port, s->ip, more);

    return g_file_set_contents(s->config, text, -1, NULL);
}

bool ts_server_spawn(ts_server *s) {
    g_auto(GStrv) line = ts_jvm_command(s->config, (const char *const *)s->properties, s->archive, NULL);

    s->pid = ts_spawn_logged((const char *const *)line, s->log);
    if (s->pid < 0) {
        perror("test support: cannot start java");
        s->pid = 0;
    }
    return s->pid > 0;
}

void ts_server_kill(ts_server *s) {
    ts_kill(s->pid);
    s->pid = 0;
}

void ts_server_print_log(const ts_server *s) {
    enum { TAIL = 3000 };
    g_autofree char *text = NULL;
    gsize size = 0;

    if (!g_file_get_contents(s->log, &text, &size, NULL)) {
        return;
    }
    fprintf(stderr, "---- the end of %s (%s):\n%s----\n", s->log, ts_alive(s->pid) ? "running" : "not running",
            size > TAIL ? text + size - TAIL : text);
}

void ts_server_clear(ts_server *s) {
    ts_server_kill(s);
    for (size_t i = 0; i < G_N_ELEMENTS(s->reservation); i++) {
        if (s->reservation[i] > 0) {
            close(s->reservation[i]);
        }
    }
    g_free(s->ip);
    g_free(s->client_address);
    g_free(s->directory);
    g_free(s->config);
    g_free(s->log);
    g_free(s->archive);
    g_strfreev(s->properties);
    memset(s, 0, sizeof *s);
}

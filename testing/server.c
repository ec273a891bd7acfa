/*
 * One ZooKeeper process: its configuration, its ports, its start and end. It runs in the folder above its own, so that
 * its configuration names no path of this machine: ZooKeeper reads it as ISO 8859-1.
 */
#include "server.h"

#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"
#include "jvm.h"
#include "ports.h"
#include "process.h"

static bool make_folder(const pdk__test_server *s) {
    g_autofree char *id_file = g_build_filename(s->directory, "myid", NULL);
    g_autofree char *id = g_strdup_printf("%d\n", s->index + 1);
    g_autoptr(GError) error = NULL;

    if (g_mkdir_with_parents(s->directory, 0700) != 0 || !g_file_set_contents(id_file, id, -1, &error)) {
        pdk__test_fail("%s cannot be written: %s; choose another folder for the data", s->directory,
                       error != NULL ? error->message : g_strerror(errno));
        return false;
    }
    return true;
}

bool pdk__test_server_init(pdk__test_server *s, const char *base, int index, int port) {
    int *const ports[] = {&s->client_port, &s->quorum_port, &s->election_port};

    memset(s, 0, sizeof *s);
    s->index = index;
    s->ip = g_strdup_printf("127.0.0.%d", index + 1);
    s->base = g_strdup(base);
    s->name = g_strdup_printf("./node%d", index + 1);
    s->directory = g_build_filename(base, s->name + 2, NULL);
    s->log = g_build_filename(s->directory, "server.log", NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(ports); i++) {
        *ports[i] = i == 0 ? port : 0;
        s->reservation[i] = *ports[i] != 0 ? pdk__test_port_take(s->ip, port) : pdk__test_port_reserve(s->ip, ports[i]);
        if (s->reservation[i] < 0) {
            pdk__test_fail("port %d of %s: %s; choose another port, or 0 for one that is free", *ports[i], s->ip,
                           g_strerror(errno));
            return false;
        }
    }
    s->client_address = g_strdup_printf("%s:%d", s->ip, s->client_port);
    return make_folder(s);
}

bool pdk__test_server_configure(pdk__test_server *s, int tick_ms, const char *more) {
    g_autofree char *config = g_build_filename(s->directory, "zoo.cfg", NULL);
    g_autofree char *text = g_strdup_printf("tickTime=%d\n"
                                            "dataDir=%s\n"
                                            "clientPort=%d\n"
                                            "clientPortAddress=%s\n"
                                            "admin.enableServer=false\n"
                                            "4lw.commands.whitelist=*\n"
                                            "maxClientCnxns=0\n"
                                            "%s",
                                            tick_ms, s->name, s->client_port, s->ip, more);

    return g_file_set_contents(config, text, -1, NULL);
}

char *pdk__test_server_config(const pdk__test_server *s) { return g_strconcat(s->name, "/zoo.cfg", NULL); }

bool pdk__test_server_spawn(pdk__test_server *s, pdk__test_starter *starter) {
    g_autofree char *config = pdk__test_server_config(s);
    const pdk__test_jvm jvm = {.config = config,
                               .class_path = s->class_path,
                               .properties = (const char *const *)s->properties,
                               .archive = s->archive};
    g_auto(GStrv) line = pdk__test_jvm_command(&jvm);

    s->pid = pdk__test_starter_spawn(starter, (const char *const *)line, s->base, s->log);
    if (s->pid < 0) {
        pdk__test_fail("java cannot be started: %s; are processes and descriptors left (ulimit -u, ulimit -n)?",
                       g_strerror(errno));
        s->pid = 0;
    }
    return s->pid > 0;
}

void pdk__test_server_kill(pdk__test_server *s) {
    pdk__test_kill(s->pid);
    s->pid = 0;
}

char *pdk__test_server_last_words(const pdk__test_server *s) {
    enum { TAIL = 3000 };
    g_autofree char *text = NULL;
    gsize size = 0;

    if (!g_file_get_contents(s->log, &text, &size, NULL)) {
        return g_strdup("(it has no log)");
    }
    return g_utf8_make_valid(size > TAIL ? text + size - TAIL : text, -1);
}

void pdk__test_server_clear(pdk__test_server *s) {
    pdk__test_server_kill(s);
    for (size_t i = 0; i < G_N_ELEMENTS(s->reservation); i++) {
        if (s->reservation[i] > 0) {
            close(s->reservation[i]);
        }
    }
    g_free(s->ip);
    g_free(s->client_address);
    g_free(s->base);
    g_free(s->name);
    g_free(s->directory);
    g_free(s->log);
    g_free(s->class_path);
    g_free(s->archive);
    g_strfreev(s->properties);
    memset(s, 0, sizeof *s);
}

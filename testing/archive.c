/*
 * The archive of classes (AppCDS), which halves a server's start: a server is started once with the order to write
 * down, at its end, the classes that it has loaded. Several processes may do so at the same time, since each writes a
 * file of its own and renames it.
 */
#include <glib.h>
#include <glib/gstdio.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "clock.h"
#include "fourletter.h"
#include "jvm.h"
#include "process.h"
#include "server.h"
#include "tempdir.h"

static bool serves(void *user) {
    const pdk__test_server *s = user;

    return pdk__test_mode(s->client_address) >= PDK__TEST_MODE_STANDALONE || !pdk__test_alive(s->pid);
}

/* Runs a server once. True when it ended as asked: then the archive has been written. */
static bool run_once(pdk__test_server *s, const char *write_to) {
    g_autofree char *config = pdk__test_server_config(s);
    const pdk__test_jvm jvm = {.config = config, .class_path = s->class_path, .write_archive = write_to};
    g_auto(GStrv) line = pdk__test_jvm_command(&jvm);
    bool ok;

    s->pid = pdk__test_spawn_server((const char *const *)line, s->base, s->log);
    if (s->pid <= 0) {
        s->pid = 0;
        return false;
    }
    ok = pdk__test_wait_until(serves, s, 60000) && pdk__test_alive(s->pid) && pdk__test_signal(s->pid, SIGTERM) &&
         pdk__test_wait(s->pid, 60000) >= 0;
    if (ok) {
        s->pid = 0; /* reaped */
    }
    return ok;
}

static bool make_archive(const char *class_path, bool quorum, const char *path) {
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *temporary = g_strdup_printf("%s.%d", path, (int)getpid());
    g_autofree char *more = NULL;
    pdk__test_tempdir *base;
    pdk__test_server s;
    bool ok;

    if (g_mkdir_with_parents(folder, 0700) != 0 || g_access(folder, W_OK) != 0 ||
        (base = pdk__test_tempdir_new()) == NULL) {
        return false;
    }
    ok = pdk__test_server_init(&s, pdk__test_tempdir_path(base), 0, 0);
    s.class_path = g_strdup(class_path);
    if (ok && quorum) {
        more = g_strdup_printf("initLimit=10\nsyncLimit=5\nstandaloneEnabled=false\nserver.1=%s:%d:%d\n", s.ip,
                               s.quorum_port, s.election_port);
    }
    ok = ok && pdk__test_server_configure(&s, 500, more == NULL ? "" : more) && run_once(&s, temporary) &&
         g_access(temporary, R_OK) == 0 && g_rename(temporary, path) == 0;
    g_unlink(temporary);
    pdk__test_server_clear(&s);
    pdk__test_tempdir_free(base);
    return ok;
}

char *pdk__test_server_archive(const char *class_path, bool quorum) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool hopeless[2]; /* one attempt per process is enough */
    char *path = pdk__test_jvm_archive_path(class_path, quorum);

    pthread_mutex_lock(&lock);
    if (g_access(path, R_OK) != 0 && (hopeless[quorum] || !make_archive(class_path, quorum, path))) {
        hopeless[quorum] = true;
        g_clear_pointer(&path, g_free);
    }
    pthread_mutex_unlock(&lock);
    return path;
}

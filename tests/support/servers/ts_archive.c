/*
 * The archive of classes (AppCDS) that halves a server's start: a server is started once with the order to write down
 * the classes it has loaded when it ends. Several processes may do so at the same time: each writes a file of its own
 * and renames it.
 */
#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <unistd.h>

#include "ts_clock.h"
#include "ts_fourletter.h"
#include "ts_jvm.h"
#include "ts_process.h"
#include "ts_server.h"
#include "ts_tempdir.h"

static bool serves(void *user) {
    const ts_server *s = user;

    return ts_mode(s->client_address) >= TS_MODE_STANDALONE || !ts_alive(s->pid);
}

/* Runs a server once. True when it ended as asked: then the archive has been written. */
static bool run_once(ts_server *s, const char *write_to) {
    g_auto(GStrv) line = ts_jvm_command(s->config, NULL, NULL, write_to);
    bool ok;

    s->pid = ts_spawn_logged((const char *const *)line, s->log);
    if (s->pid <= 0) {
        s->pid = 0;
        return false;
    }
    ok = ts_wait_until(serves, s, 60000) && ts_alive(s->pid) && kill(s->pid, SIGTERM) == 0 &&
         ts_wait(s->pid, 60000) >= 0;
    if (ok) {
        s->pid = 0; /* reaped */
    }
    return ok;
}

static bool make_archive(bool quorum, const char *path) {
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *temporary = g_strdup_printf("%s.%d", path, (int)getpid());
    g_autofree char *more = NULL;
    ts_tempdir *base;
    ts_server s;
    bool ok;

    if (g_mkdir_with_parents(folder, 0700) != 0 || g_access(folder, W_OK) != 0 || (base = ts_tempdir_new()) == NULL) {
        return false;
    }
    ok = ts_server_init(&s, ts_tempdir_path(base), 0);
    if (ok && quorum) {
        more = g_strdup_printf("initLimit=10\nsyncLimit=5\nstandaloneEnabled=false\nserver.1=%s:%d:%d\n", s.ip,
                               s.quorum_port, s.election_port);
    }
    ok = ok && ts_server_configure(&s, 500, more == NULL ? "" : more) && run_once(&s, temporary) &&
         g_access(temporary, R_OK) == 0 && g_rename(temporary, path) == 0;
    g_unlink(temporary);
    ts_server_clear(&s);
    ts_tempdir_free(base);
    return ok;
}

char *ts_server_archive(bool quorum) {
    static bool hopeless[2]; /* one attempt per process is enough */
    char *path = ts_jvm_archive_path(quorum);

    if (path != NULL && g_access(path, R_OK) != 0 && (hopeless[quorum] || !make_archive(quorum, path))) {
        hopeless[quorum] = true;
        g_clear_pointer(&path, g_free);
    }
    return path;
}

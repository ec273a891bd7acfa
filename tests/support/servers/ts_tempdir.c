/*
 * Directories for server data. The process that owns one keeps it locked, so that a later run can recognise and remove the
 * leavings of a killed run.
 */
#include "ts_tempdir.h"

#include <fcntl.h>
#include <ftw.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "paddock-test-"

struct ts_tempdir {
    char *path;
    int lock;
};

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where) {
    (void)info;
    (void)type;
    (void)where;
    remove(path);
    return 0;
}

static void remove_tree(const char *path) { nftw(path, remove_entry, 32, FTW_DEPTH | FTW_PHYS); }

/* Removes directories of ours that no process locks any more. A young one may be between its creation and its
 * locking. */
static void sweep(const char *base) {
    GDir *entries = g_dir_open(base, 0, NULL);
    const char *name;

    while (entries != NULL && (name = g_dir_read_name(entries)) != NULL) {
        g_autofree char *path = g_build_filename(base, name, NULL);
        struct stat info;
        int lock;

        if (!g_str_has_prefix(name, PREFIX) || lstat(path, &info) != 0 || !S_ISDIR(info.st_mode) ||
            info.st_uid != geteuid() || time(NULL) - info.st_mtime < 60) {
            continue;
        }
        lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0) {
            remove_tree(path);
        }
        if (lock >= 0) {
            close(lock);
        }
    }
    if (entries != NULL) {
        g_dir_close(entries);
    }
}

static char *make_below(const char *base) {
    char *path;

    if (base == NULL || access(base, W_OK) != 0) {
        return NULL;
    }
    sweep(base);
    path = g_build_filename(base, PREFIX "XXXXXX", NULL);
    if (g_mkdtemp_full(path, 0700) == NULL) {
        g_clear_pointer(&path, g_free);
    }
    return path;
}

ts_tempdir *ts_tempdir_new(void) {
    const char *bases[] = {"/dev/shm", g_getenv("TMPDIR"), "/tmp"};
    char *path = NULL;
    ts_tempdir *dir;

    for (size_t i = 0; i < G_N_ELEMENTS(bases) && path == NULL; i++) {
        path = make_below(bases[i]);
    }
    if (path == NULL) {
        fprintf(stderr, "test support: no directory for server data\n");
        return NULL;
    }
    dir = g_new0(ts_tempdir, 1);
    dir->path = path;
    dir->lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir->lock >= 0) {
        flock(dir->lock, LOCK_EX | LOCK_NB);
    }
    return dir;
}

const char *ts_tempdir_path(const ts_tempdir *dir) { return dir->path; }

void ts_tempdir_free(ts_tempdir *dir) {
    if (dir == NULL) {
        return;
    }
    remove_tree(dir->path);
    if (dir->lock >= 0) {
        close(dir->lock);
    }
    g_free(dir->path);
    g_free(dir);
}

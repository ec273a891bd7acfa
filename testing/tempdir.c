/*
 * Directories for server data. The process that owns one keeps it locked, so that a later run can recognise and remove the
 * leavings of a killed run.
 */
#include "tempdir.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fail.h"

#define PREFIX "paddock-test-"

struct pdk__test_tempdir {
    char *path;
    int lock;
    bool stays;
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

pdk__test_tempdir *pdk__test_tempdir_new(void) {
    const char *bases[] = {"/dev/shm", g_getenv("TMPDIR"), "/tmp"};
    char *path = NULL;
    pdk__test_tempdir *dir;

    for (size_t i = 0; i < G_N_ELEMENTS(bases) && path == NULL; i++) {
        path = make_below(bases[i]);
    }
    if (path == NULL) {
        pdk__test_fail("no folder for the servers' data: /dev/shm, $TMPDIR and /tmp cannot be written; let TMPDIR name "
                       "one that can");
        return NULL;
    }
    dir = g_new0(pdk__test_tempdir, 1);
    dir->path = path;
    dir->lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir->lock >= 0) {
        flock(dir->lock, LOCK_EX | LOCK_NB);
    }
    return dir;
}

pdk__test_tempdir *pdk__test_tempdir_keep(const char *path) {
    const bool there = g_mkdir_with_parents(path, 0700) == 0;
    const int lock = there ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    pdk__test_tempdir *dir;

    if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) != 0) {
        pdk__test_fail("%s: %s; choose another folder for the data", path,
                       lock >= 0 && errno == EWOULDBLOCK ? "other servers use it" : g_strerror(errno));
        if (lock >= 0) {
            close(lock);
        }
        return NULL;
    }
    dir = g_new0(pdk__test_tempdir, 1);
    dir->path = g_canonicalize_filename(path, NULL);
    dir->lock = lock;
    dir->stays = true;
    return dir;
}

const char *pdk__test_tempdir_path(const pdk__test_tempdir *dir) { return dir->path; }

void pdk__test_tempdir_free(pdk__test_tempdir *dir) {
    if (dir == NULL) {
        return;
    }
    if (!dir->stays) {
        remove_tree(dir->path);
    }
    if (dir->lock >= 0) {
        close(dir->lock);
    }
    g_free(dir->path);
    g_free(dir);
}

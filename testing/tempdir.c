/*
 * Folders for server data. Each has a marker, a file that its owner keeps locked. A later run removes what a killed run
 * has left.
 *
 *     mkdtemp ──► the marker, empty ──► locked ──► with its text
 *                                                    │ the owner is gone
 *                                                    └──► locked by a sweep ──► removed, the marker last
 *
 * A name proves nothing, since a user may call a folder of their own so. The proof is the marker's text, read under the
 * marker's lock: the owner of a folder has the lock before it writes the text, and for as long as the folder is in use.
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
#include <unistd.h>

#include "fail.h"

#define PREFIX "paddock-test-"
#define MARKER ".paddock-test-servers"

static const char marker_text[] =
    "paddock test servers 1\n"
    "This folder belongs to servers for tests. When no process locks this file, the next\n"
    "start of such servers removes the folder with all that is in it.\n";

struct pdk__test_tempdir {
    char *path;
    int lock;
    bool stays;
};

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where) {
    (void)info;
    (void)type;
    if (where->level > 1 || (where->level == 1 && strcmp(path + where->base, MARKER) != 0)) {
        remove(path);
    }
    return 0;
}

/* The marker goes last, so that a later run finds it if this one is killed. No symbolic link is followed. */
static void remove_tree(const char *path) {
    g_autofree char *marker = g_build_filename(path, MARKER, NULL);

    nftw(path, remove_entry, 32, FTW_DEPTH | FTW_PHYS);
    unlink(marker);
    rmdir(path);
}

/* The marker of a new folder, locked, with its text; or -1. A sweep may have the lock for a moment, and then leaves
 * again. */
static int make_marker(const char *path) {
    g_autofree char *marker = g_build_filename(path, MARKER, NULL);
    const ssize_t size = sizeof marker_text - 1;
    const int lock = open(marker, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (lock >= 0 && (flock(lock, LOCK_EX) != 0 || write(lock, marker_text, (size_t)size) != size)) {
        close(lock);
        return -1;
    }
    return lock;
}

/* Is it a marker of ours, by its text? The caller has the lock, and another sweep may have come first. */
static bool is_marker(int lock) {
    char text[sizeof marker_text];
    struct stat info;

    return fstat(lock, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 1 && info.st_uid == geteuid() &&
           pread(lock, text, sizeof text, 0) == (ssize_t)sizeof marker_text - 1 &&
           memcmp(text, marker_text, sizeof marker_text - 1) == 0;
}

/* Removes a folder whose marker says that it is one of ours, and whose owner is gone. */
static void sweep_one(const char *path) {
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    struct stat info;
    int lock;

    if (folder < 0) {
        return;
    }
    lock = fstat(folder, &info) == 0 && info.st_uid == geteuid()
               ? openat(folder, MARKER, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
               : -1;
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0 && is_marker(lock)) {
        remove_tree(path);
    }
    if (lock >= 0) {
        close(lock);
    }
    close(folder);
}

static void sweep(const char *base) {
    GDir *entries = g_dir_open(base, 0, NULL);
    const char *name;

    while (entries != NULL && (name = g_dir_read_name(entries)) != NULL) {
        if (g_str_has_prefix(name, PREFIX)) {
            g_autofree char *path = g_build_filename(base, name, NULL);

            sweep_one(path);
        }
    }
    if (entries != NULL) {
        g_dir_close(entries);
    }
}

pdk__test_tempdir *pdk__test_tempdir_below(const char *base) {
    g_autofree char *path = NULL;
    pdk__test_tempdir *dir;
    int lock;

    if (base == NULL || access(base, W_OK) != 0) {
        return NULL;
    }
    sweep(base);
    path = g_build_filename(base, PREFIX "XXXXXX", NULL);
    if (g_mkdtemp_full(path, 0700) == NULL) {
        return NULL;
    }
    lock = make_marker(path);
    if (lock < 0) { /* no space is left there */
        remove_tree(path);
        return NULL;
    }
    dir = g_new0(pdk__test_tempdir, 1);
    dir->path = g_steal_pointer(&path);
    dir->lock = lock;
    return dir;
}

pdk__test_tempdir *pdk__test_tempdir_new(void) {
    const char *bases[] = {"/dev/shm", g_getenv("TMPDIR"), "/tmp"};
    pdk__test_tempdir *dir = NULL;

    for (size_t i = 0; i < G_N_ELEMENTS(bases) && dir == NULL; i++) {
        dir = pdk__test_tempdir_below(bases[i]);
    }
    if (dir == NULL) {
        pdk__test_fail("no folder for the servers' data: /dev/shm, $TMPDIR and /tmp cannot be written; let TMPDIR name "
                       "one that can");
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

#include "witness.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

static bool make(const char *file) {
    int fd = open(file, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    close(fd);
    return true;
}

/* The number of readers that are in. */
static long readers(const witness *w) {
    g_autofree char *folder = g_path_get_dirname(w->path), *name = g_path_get_basename(w->path);
    g_autofree char *prefix = g_strconcat(name, ".in.", NULL);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    long count = 0;
    for (const char *entry = dir ? g_dir_read_name(dir) : NULL; entry; entry = g_dir_read_name(dir))
        count += g_str_has_prefix(entry, prefix);
    return count;
}

/* A player that comes in makes its file first and looks then: of two players at least one sees the other. */
char *witness_enter(witness *w, const char *reader) {
    char *file = reader ? g_strdup_printf("%s.in.%s", w->path, reader) : g_strdup(w->path);
    if (!make(file)) {
        int error = errno;
        g_free(file);
        errno = error;
        if (error != EEXIST)
            return NULL;
        atomic_fetch_add(&w->overlaps, 1);
        return g_strdup("");
    }
    long others = readers(w) - (reader != NULL);
    if (!reader && others > 0)
        atomic_fetch_add(&w->overlaps, 1);
    if (reader && others > 0)
        atomic_fetch_add(&w->together, 1);
    if (reader && access(w->path, F_OK) == 0)
        atomic_fetch_add(&w->overlaps, 1);
    return file;
}

bool witness_leave(char *file) {
    bool left = *file == '\0' || unlink(file) == 0;
    g_free(file);
    return left;
}

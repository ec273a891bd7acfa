#include "resource.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 64, HALF = 21 };

struct resource {
    int naive, fenced;
};

static int open_file(const char *folder, const char *name, const char *kind) {
    g_autofree char *file = g_strdup_printf("%s/%s.%s", folder, name, kind);
    return open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
}

resource *resource_open(const char *folder, const char *path) {
    g_autofree char *name = g_strdelimit(g_strdup(path), "/", '_');
    resource *r = g_new(resource, 1);
    r->naive = open_file(folder, name, "naive");
    r->fenced = open_file(folder, name, "fenced");
    if (r->naive >= 0 && r->fenced >= 0)
        return r;
    int why = errno;
    resource_close(r);
    errno = why;
    return NULL;
}

void resource_close(resource *r) {
    if (!r)
        return;
    if (r->naive >= 0)
        close(r->naive);
    if (r->fenced >= 0)
        close(r->fenced);
    g_free(r);
}

/* The text of a file; "" when it is empty. */
static bool read_text(int fd, char text[LINE]) {
    ssize_t length = pread(fd, text, LINE - 1, 0);
    text[MAX(length, 0)] = '\0';
    return length >= 0;
}

static bool write_text(int fd, const char *text, off_t at) {
    size_t length = strlen(text);
    ssize_t written = pwrite(fd, text, length, at);
    if (written >= 0 && (size_t)written != length)
        errno = ENOSPC;
    return written == (ssize_t)length;
}

bool resource_read(const resource *r, int64_t *number, bool *torn) {
    char text[LINE];
    if (!read_text(r->naive, text))
        return false;
    *number = g_ascii_strtoll(text, NULL, 10);
    if (torn)
        *torn = *text && (strlen(text) < HALF || strcmp(text + HALF, "") == 0 || strncmp(text, text + HALF, HALF) != 0);
    return true;
}

bool resource_write(const resource *r, int64_t number, int between_us) {
    char text[LINE];
    g_snprintf(text, sizeof text, "%020" G_GINT64_FORMAT "\n", (gint64)number);
    if (!write_text(r->naive, text, 0))
        return false;
    g_usleep((gulong)g_random_int_range(0, between_us + 1));
    return write_text(r->naive, text, HALF);
}

/* A lock of the open file: it excludes the other threads of this process as well. */
static bool set_lock(int fd, short type) {
    struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
    int result;
    do
        result = fcntl(fd, F_OFD_SETLKW, &whole);
    while (result < 0 && errno == EINTR);
    return result == 0;
}

static bool offer(int fd, gint64 token, guint handover, int64_t *count) {
    char text[LINE], *at = text;
    if (!read_text(fd, text))
        return false;
    gint64 largest = g_ascii_strtoll(at, &at, 10);
    guint largest_handover = (guint)g_ascii_strtoull(at, &at, 10);
    gint64 accepted = g_ascii_strtoll(at, &at, 10);
    *count = 0;
    if (token < largest || (token == largest && handover < largest_handover))
        return true;
    *count = accepted + 1;
    g_snprintf(text, sizeof text, "%020" G_GINT64_FORMAT " %010u %010" G_GINT64_FORMAT "\n", token, handover,
               (gint64)*count);
    return write_text(fd, text, 0);
}

bool resource_offer(const resource *r, int64_t token, uint32_t handover, int64_t *count) {
    if (!set_lock(r->fenced, F_WRLCK))
        return false;
    bool told = offer(r->fenced, token, handover, count);
    int why = errno;
    set_lock(r->fenced, F_UNLCK);
    errno = why;
    return told;
}

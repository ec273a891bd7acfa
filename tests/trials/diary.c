#include "diary.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ts_clock.h>
#include <unistd.h>

struct diary {
    int fd;
};

diary *diary_open(const char *path) {
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return NULL;
    diary *d = g_new0(diary, 1);
    d->fd = fd;
    return d;
}

void diary_close(diary *d) {
    if (!d)
        return;
    close(d->fd);
    g_free(d);
}

G_GNUC_PRINTF(3, 0) static void write_line(diary *d, int64_t ns, const char *format, va_list arguments) {
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    g_autofree char *line = g_strdup_printf("%" G_GINT64_FORMAT " %s\n", (gint64)ns, text);
    size_t length = strlen(line);
    /* A log with a hole in it proves nothing. */
    if (write(d->fd, line, length) != (ssize_t)length) {
        perror("diary");
        abort();
    }
}

int64_t diary_note(diary *d, const char *format, ...) {
    int64_t now = ts_now_ns();
    va_list arguments;
    va_start(arguments, format);
    write_line(d, now, format, arguments);
    va_end(arguments);
    return now;
}

void diary_note_at(diary *d, int64_t ns, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_line(d, ns, format, arguments);
    va_end(arguments);
}

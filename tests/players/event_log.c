#include "event_log.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ts_clock.h>
#include <unistd.h>

struct event_log {
    int fd;
};

event_log *event_log_open(const char *path) {
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return NULL;
    event_log *log = g_new0(event_log, 1);
    log->fd = fd;
    return log;
}

void event_log_close(event_log *log) {
    if (!log)
        return;
    close(log->fd);
    g_free(log);
}

void event_log_note(event_log *log, const char *format, ...) {
    int64_t now = ts_now_ns();
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_autofree char *line = g_strdup_printf("%" G_GINT64_FORMAT " %s\n", (gint64)now, text);
    size_t length = strlen(line);
    /* A log with a hole in it proves nothing. */
    if (write(log->fd, line, length) != (ssize_t)length) {
        perror("event log");
        abort();
    }
}

#include "notify.h"

#include "say.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Half of the time that the watchdog allows, as sd_watchdog_enabled(3) recommends. */
static int64_t watchdog_interval(void) {
    const char *usec = g_getenv("WATCHDOG_USEC"), *pid = g_getenv("WATCHDOG_PID");
    guint64 allowed;
    if (!usec || (pid && g_ascii_strtoll(pid, NULL, 10) != getpid()))
        return INT64_MAX;
    allowed = g_ascii_strtoull(usec, NULL, 10);
    return allowed >= 2000 && allowed < G_MAXINT64 ? (int64_t)(allowed / 2000) : INT64_MAX;
}

bool cmd_notify_open(cmd_notify *notify) {
    const char *path = g_getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = path ? strlen(path) : 0;
    if (length < 2 || length >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@')) {
        cmd_error("--notify: NOTIFY_SOCKET names no socket; systemd sets it in a unit with Type=notify");
        return false;
    }
    memcpy(address.sun_path, path, length);
    if (path[0] == '@')
        address.sun_path[0] = '\0';
    notify->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    if (notify->socket < 0 || connect(notify->socket, (const struct sockaddr *)&address, size)) {
        cmd_error("--notify: NOTIFY_SOCKET %s: %s", path, g_strerror(errno));
        cmd_notify_close(notify);
        return false;
    }
    notify->watchdog_ms = watchdog_interval();
    return true;
}

void cmd_notify_send(const cmd_notify *notify, const char *lines) {
    if (notify->socket >= 0)
        (void)send(notify->socket, lines, strlen(lines), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void cmd_notify_close(cmd_notify *notify) {
    if (notify->socket >= 0)
        close(notify->socket);
    notify->socket = -1;
}

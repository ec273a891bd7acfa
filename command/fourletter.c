#include "fourletter.h"

#include "clock.h"
#include "wire.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST = 65536 };

char *cmd_four_letters(const char *address, const char *word, int64_t timeout_ms, char **error) {
    int64_t deadline = cmd_now_ms() + timeout_ms;
    int descriptor = cmd_dial(address, timeout_ms, error);
    if (descriptor < 0)
        return NULL;
    GString *answer = g_string_new(NULL);
    ssize_t got = send(descriptor, word, strlen(word), MSG_NOSIGNAL);
    while (got > 0 && answer->len < MOST) {
        char bytes[4096];
        struct pollfd wait = {.fd = descriptor, .events = POLLIN};
        int64_t left = deadline - cmd_now_ms();
        if (poll(&wait, 1, left < 0 ? 0 : (int)MIN(left, G_MAXINT)) <= 0)
            break;
        got = recv(descriptor, bytes, sizeof bytes, 0);
        if (got > 0)
            g_string_append_len(answer, bytes, got);
    }
    close(descriptor);
    return g_string_free(answer, FALSE);
}

char *cmd_line_of(const char *answer, const char *key) {
    g_auto(GStrv) lines = g_strsplit(answer, "\n", -1);
    for (char **line = lines; *line; line++)
        if (g_str_has_prefix(*line, key))
            return g_strstrip(g_strdup(*line + strlen(key)));
    return NULL;
}

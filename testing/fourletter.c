/* ZooKeeper's four-letter commands. */
#include "fourletter.h"

#include <glib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "socket.h"

/* A server that is still starting says so and then may forget to close. */
static const char not_serving[] = "This ZooKeeper instance is not currently serving requests\n";

char *pdk__test_fourletter(const char *address, const char *command) {
    const int64_t deadline = pdk__test_now_ns() + 2 * (int64_t)1000000000;
    const int fd = pdk__test_socket_open(address, deadline);
    GString *answer;
    char part[4096];
    ssize_t got;

    if (fd < 0) {
        return NULL;
    }
    answer = g_string_new(NULL);
    if (pdk__test_socket_send(fd, command, strlen(command), deadline)) {
        while (strcmp(answer->str, not_serving) != 0 &&
               (got = pdk__test_socket_receive_some(fd, part, sizeof part, deadline)) > 0) {
            g_string_append_len(answer, part, got);
        }
    }
    close(fd);
    /* The server closes after its answer; when that ends in a reset the answer is complete all the same. */
    if (answer->len == 0) {
        g_string_free(answer, TRUE);
        return NULL;
    }
    return g_string_free(answer, FALSE);
}

pdk__test_server_mode pdk__test_mode(const char *address) {
    g_autofree char *answer = pdk__test_fourletter(address, "srvr");
    const char *mode = answer == NULL ? NULL : strstr(answer, "Mode: ");

    if (answer == NULL) {
        return PDK__TEST_MODE_DOWN;
    }
    if (mode == NULL) {
        return PDK__TEST_MODE_LOOKING;
    }
    mode += strlen("Mode: ");
    if (g_str_has_prefix(mode, "leader")) {
        return PDK__TEST_MODE_LEADER;
    }
    if (g_str_has_prefix(mode, "follower")) {
        return PDK__TEST_MODE_FOLLOWER;
    }
    return g_str_has_prefix(mode, "standalone") ? PDK__TEST_MODE_STANDALONE : PDK__TEST_MODE_LOOKING;
}

int64_t pdk__test_zxid(const char *address) {
    g_autofree char *answer = pdk__test_fourletter(address, "srvr");
    const char *zxid = answer == NULL ? NULL : strstr(answer, "Zxid: 0x");

    return zxid == NULL ? -1 : (int64_t)g_ascii_strtoull(zxid + strlen("Zxid: 0x"), NULL, 16);
}

int64_t pdk__test_mntr(const char *address, const char *name) {
    g_autofree char *answer = pdk__test_fourletter(address, "mntr");
    g_auto(GStrv) lines = g_strsplit(answer == NULL ? "" : answer, "\n", -1);

    for (char **line = lines; *line != NULL; line++) {
        const char *tab = strchr(*line, '\t');

        if (tab != NULL && (size_t)(tab - *line) == strlen(name) && g_str_has_prefix(*line, name)) {
            return g_ascii_strtoll(tab + 1, NULL, 10);
        }
    }
    return -1;
}

int64_t pdk__test_watch_count(const char *address) { return pdk__test_mntr(address, "zk_watch_count"); }

int64_t pdk__test_session_count(const char *address) { return pdk__test_mntr(address, "zk_global_sessions"); }

int64_t pdk__test_connection_count(const char *address) {
    const int64_t count = pdk__test_mntr(address, "zk_num_alive_connections");

    return count > 0 ? count - 1 : count; /* the connection that asks is one of them */
}

int64_t pdk__test_ephemeral_count(const char *address) { return pdk__test_mntr(address, "zk_ephemerals_count"); }

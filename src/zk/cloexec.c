#include "zk/cloexec.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <glib.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static GHashTable *before; /* descriptors that were open */

/* Call visit for each open descriptor that lacks close-on-exec. */
static void each_inherited(void (*visit)(int fd, void *user), void *user) {
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] == '.' || fd == dirfd(dir))
            continue;
        int flags = fcntl(fd, F_GETFD);
        if (flags >= 0 && !(flags & FD_CLOEXEC))
            visit(fd, user);
    }
    closedir(dir);
}

static void note(int fd, void *set) { g_hash_table_add(set, GINT_TO_POINTER(fd)); }

/* We ask /proc, not the descriptor: another thread may be about to make or close it. */
static bool is_pipe(int fd) {
    char link[32], target[32] = "";
    g_snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return readlink(link, target, sizeof target - 1) > 0 && g_str_has_prefix(target, "pipe:");
}

static void collect_new_pipe(int fd, void *ends) {
    if (!g_hash_table_contains(before, GINT_TO_POINTER(fd)) && is_pipe(fd))
        g_array_append_val((GArray *)ends, fd);
}

void pdk__cloexec_begin(void) {
    pthread_mutex_lock(&one_at_a_time);
    before = g_hash_table_new(NULL, NULL);
    each_inherited(note, before);
}

void pdk__cloexec_end(void) {
    GArray *ends = g_array_new(FALSE, FALSE, sizeof(int));
    each_inherited(collect_new_pipe, ends);
    if (ends->len == 2)
        for (guint i = 0; i < 2; i++)
            fcntl(g_array_index(ends, int, i), F_SETFD, FD_CLOEXEC);
    g_array_free(ends, TRUE);
    g_hash_table_destroy(before);
    before = NULL;
    pthread_mutex_unlock(&one_at_a_time);
}

static void mark_if_server(int fd, void *servers) {
    struct sockaddr_storage peer = {0};
    socklen_t size = sizeof peer;
    char address[INET6_ADDRSTRLEN] = "";
    if (getpeername(fd, (struct sockaddr *)&peer, &size) != 0)
        return;
    in_port_t port = 0;
    if (peer.ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)&peer;
        inet_ntop(AF_INET, &in->sin_addr, address, sizeof address);
        port = in->sin_port;
    } else if (peer.ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&peer;
        inet_ntop(AF_INET6, &in6->sin6_addr, address, sizeof address);
        port = in6->sin6_port;
    } else {
        return;
    }
    char *name = g_strdup_printf("%s:%d", address, ntohs(port));
    if (g_strv_contains((const char *const *)servers, name))
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    g_free(name);
}

void pdk__cloexec_connected(const char *servers) {
    char **list = g_strsplit(servers, ",", -1);
    each_inherited(mark_if_server, list);
    g_strfreev(list);
}

void pdk__cloexec_fork(bool begins) {
    if (begins)
        pthread_mutex_lock(&one_at_a_time);
    else
        pthread_mutex_unlock(&one_at_a_time);
}

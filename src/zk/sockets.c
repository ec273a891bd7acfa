#include "zk/sockets.h"

#include "zk/descriptors.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <glib.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct claim {
    const zhandle_t *handle; /* NULL: one of several */
    bool seen;               /* at the latest look */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static GHashTable *claims; /* of sockets, by inode */

/* "address:port"; false: it is neither IPv4 nor IPv6. */
static bool name_of(const struct sockaddr_storage *peer, char name[PDK__SOCKETS_NAME]) {
    char address[INET6_ADDRSTRLEN] = "";
    in_port_t port;
    if (peer->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)peer;
        inet_ntop(AF_INET, &in->sin_addr, address, sizeof address);
        port = in->sin_port;
    } else if (peer->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)peer;
        inet_ntop(AF_INET6, &in6->sin6_addr, address, sizeof address);
        port = in6->sin6_port;
    } else {
        return false;
    }
    g_snprintf(name, PDK__SOCKETS_NAME, "%s:%d", address, ntohs(port));
    return true;
}

void pdk__sockets_peer(zhandle_t *handle, char name[PDK__SOCKETS_NAME]) {
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;
    if (!zookeeper_get_connected_host(handle, (struct sockaddr *)&peer, &size) || !name_of(&peer, name))
        name[0] = '\0';
}

/* A socket of the process, held by a descriptor of our own. Another thread may close its own at any time, and then its number
 * may be somebody else's. */
struct socket {
    int number, held;
    ino_t inode;
    char peer[PDK__SOCKETS_NAME];
};

static bool look_at(int number, struct socket *out, bool *all) {
    struct sockaddr_storage peer = {0};
    socklen_t size = sizeof peer;
    struct stat stat;
    if (getpeername(number, (struct sockaddr *)&peer, &size) != 0)
        return false; /* most descriptors are no such sockets */
    *out = (struct socket){.number = number, .held = fcntl(number, F_DUPFD_CLOEXEC, 0)};
    if (out->held < 0) {
        *all = false; /* no descriptor is to be had */
        return false;
    }
    size = sizeof peer;
    if (getpeername(out->held, (struct sockaddr *)&peer, &size) == 0 && name_of(&peer, out->peer) &&
        fstat(out->held, &stat) == 0) {
        out->inode = stat.st_ino;
        return true;
    }
    close(out->held);
    return false;
}

/* Call visit for each connected socket of the process. false: some could not be looked at. */
static bool each_socket(void (*visit)(const struct socket *socket, void *user), void *user) {
    GArray *numbers = pdk__descriptors();
    bool all = numbers;
    for (guint i = 0; numbers && i < numbers->len; i++) {
        struct socket socket;
        if (!look_at(g_array_index(numbers, int, i), &socket, &all))
            continue;
        visit(&socket, user);
        close(socket.held);
    }
    if (numbers)
        g_array_free(numbers, TRUE);
    return all;
}

/* ---- connected */

struct connected {
    char **servers, peer[PDK__SOCKETS_NAME];
    GArray *fresh; /* inodes of new sockets to the peer */
};

static struct claim *claim_of(ino_t inode) { return g_hash_table_lookup(claims, GSIZE_TO_POINTER(inode)); }

static void note(const struct socket *socket, void *user) {
    struct connected *c = user;
    struct claim *claim = claim_of(socket->inode);
    if (claim)
        claim->seen = true;
    int flags = fcntl(socket->number, F_GETFD);
    if (flags < 0 || (flags & FD_CLOEXEC) || !g_strv_contains((const char *const *)c->servers, socket->peer))
        return;
    fcntl(socket->number, F_SETFD, FD_CLOEXEC);
    if (!claim && strcmp(socket->peer, c->peer) == 0)
        g_array_append_val(c->fresh, socket->inode);
}

static gboolean is_over(gpointer inode, gpointer value, gpointer handle) {
    struct claim *claim = value;
    bool over = !claim->seen || (handle && claim->handle == handle);
    (void)inode;
    claim->seen = false;
    return over;
}

void pdk__sockets_connected(zhandle_t *handle, const char *servers) {
    struct connected c = {.servers = g_strsplit(servers, ",", -1), .fresh = g_array_new(FALSE, FALSE, sizeof(ino_t))};
    pdk__sockets_peer(handle, c.peer);
    pthread_mutex_lock(&lock);
    if (!claims)
        claims = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    each_socket(note, &c);
    /* With no new socket it is the one it had, or one that was claimed for several. */
    g_hash_table_foreach_remove(claims, is_over, c.fresh->len > 0 ? handle : NULL);
    for (guint i = 0; i < c.fresh->len; i++) {
        struct claim *claim = g_new0(struct claim, 1);
        claim->handle = c.fresh->len == 1 ? handle : NULL;
        g_hash_table_insert(claims, GSIZE_TO_POINTER(g_array_index(c.fresh, ino_t, i)), claim);
    }
    pthread_mutex_unlock(&lock);
    g_array_free(c.fresh, TRUE);
    g_strfreev(c.servers);
}

/* ---- leaving */

struct leaving {
    char **servers, peer[PDK__SOCKETS_NAME];
    const zhandle_t *handle;
    int64_t patience_ms;
    unsigned shut, left_alone; /* of those to the servers */
};

static bool is_of(const struct socket *socket, const struct leaving *l) {
    const struct claim *claim = claim_of(socket->inode);
    return claim && (!claim->handle || claim->handle == l->handle) && strcmp(socket->peer, l->peer) == 0;
}

static bool is_unanswered(const struct socket *socket, const struct leaving *l) {
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    return getsockopt(socket->held, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_bytes_received == 0 &&
           info.tcpi_bytes_sent > 0 && info.tcpi_last_data_sent >= l->patience_ms;
}

static void leave(const struct socket *socket, void *user) {
    struct leaving *l = user;
    if (!g_strv_contains((const char *const *)l->servers, socket->peer))
        return;
    bool shuts = l->handle ? is_of(socket, l) : is_unanswered(socket, l);
    if (shuts)
        shutdown(socket->held, SHUT_RDWR);
    l->shut += shuts;
    l->left_alone += !shuts;
}

static enum pdk__zk_parting part(struct leaving *l) {
    bool all = true;
    pthread_mutex_lock(&lock);
    if (claims)
        all = each_socket(leave, l);
    pthread_mutex_unlock(&lock);
    g_strfreev(l->servers);
    if (l->shut == 0)
        return PDK__ZK_STAYS;
    return all && l->left_alone == 0 ? PDK__ZK_HAS_LEFT : PDK__ZK_LEAVES;
}

static bool has_choice(char *const *servers) {
    for (char *const *at = servers; *at; at++)
        if (strcmp(*at, servers[0]) != 0)
            return true;
    return false;
}

enum pdk__zk_parting pdk__sockets_leave(zhandle_t *handle, const char *servers) {
    struct leaving l = {.servers = g_strsplit(servers, ",", -1), .handle = handle};
    if (has_choice(l.servers))
        pdk__sockets_peer(handle, l.peer);
    return part(&l);
}

enum pdk__zk_parting pdk__sockets_hurry(const char *servers, int64_t patience_ms) {
    struct leaving l = {.servers = g_strsplit(servers, ",", -1), .patience_ms = patience_ms};
    return part(&l);
}

void pdk__sockets_forget(const zhandle_t *handle) {
    GHashTableIter iter;
    gpointer value;
    pthread_mutex_lock(&lock);
    if (claims) {
        g_hash_table_iter_init(&iter, claims);
        while (g_hash_table_iter_next(&iter, NULL, &value))
            if (((struct claim *)value)->handle == handle)
                g_hash_table_iter_remove(&iter);
    }
    pthread_mutex_unlock(&lock);
}

void pdk__sockets_fork(bool begins) {
    if (begins)
        pthread_mutex_lock(&lock);
    else
        pthread_mutex_unlock(&lock);
}

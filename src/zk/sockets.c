#include "zk/sockets.h"

#include "zk/descriptors.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <glib.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct claim {
    const zhandle_t *handle; /* NULL: one of several */
    bool seen;               /* at the latest look */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static GHashTable *claims; /* of sockets, by inode */

/* "address:port", as in the list of servers; false: it is neither IPv4 nor IPv6. */
static bool name_of(const struct sockaddr_storage *peer, char name[PDK__SOCKETS_NAME]) {
    char address[INET6_ADDRSTRLEN + IF_NAMESIZE], port[8];
    if ((peer->ss_family != AF_INET && peer->ss_family != AF_INET6) ||
        getnameinfo((const struct sockaddr *)peer,
                    peer->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6), address,
                    sizeof address, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return false;
    g_snprintf(name, PDK__SOCKETS_NAME, "%s:%s", address, port);
    return true;
}

void pdk__sockets_peer(zhandle_t *handle, char name[PDK__SOCKETS_NAME]) {
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;
    if (!zookeeper_get_connected_host(handle, (struct sockaddr *)&peer, &size) || !name_of(&peer, name))
        name[0] = '\0';
}

/* A socket of the process, held by a descriptor of our own. Another thread may close its descriptor at any time, and
 * then the number may be somebody else's. */
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
    *out = (struct socket){.number = number, .held = fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
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
    /* With no new socket the handle has the one it had, or one that was claimed for several. */
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
    unsigned shut, left_alone; /* of the sockets to the servers */
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

static void sockets_leave(const struct socket *socket, void *user) {
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
        all = each_socket(sockets_leave, l);
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

/* ---- dialling
 *
 * A socket that waits to be accepted has no peer yet for getpeername. The kernel's table of sockets has the peer, with
 * the inode. But nobody can tell which handle's socket it is, nor since when it waits. So each handle remembers when a
 * look of its own has found it first. */

/* A socket to a server that left the list may be another handle's, which still has that server in its list. A server
 * that accepts has done so after this time. */
#define ABANDON_US 100000

struct dial {
    int64_t first, latest; /* looks that found it, us */
};

struct look {
    GHashTable *dials;                   /* by inode, of all processes */
    char *const *servers, *const *among; /* remember the sockets to `servers`, and pick from the ones to `among` */
    int64_t now, least, most;            /* pick sockets that were found first so long ago; us */
    GHashTable *picked;                  /* inodes */
};

/* The address of the table: each word of 32 bits in the order of the machine. */
static bool read_peer(const char *text, char name[PDK__SOCKETS_NAME]) {
    const char *colon = strchr(text, ':');
    struct sockaddr_storage peer = {.ss_family = AF_INET};
    struct sockaddr_in *in = (struct sockaddr_in *)&peer;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&peer;
    bool is_6 = colon && colon - text == 32;
    uint32_t words[4] = {0};
    if (!colon || (!is_6 && colon - text != 8))
        return false;
    for (int i = 0; i < (is_6 ? 4 : 1); i++) {
        char digits[9] = "";
        memcpy(digits, text + (size_t)8 * (size_t)i, 8);
        words[i] = (uint32_t)g_ascii_strtoull(digits, NULL, 16);
    }
    in_port_t port = htons((uint16_t)g_ascii_strtoull(colon + 1, NULL, 16));
    if (is_6) {
        peer.ss_family = AF_INET6;
        in6->sin6_port = port;
        memcpy(&in6->sin6_addr, words, sizeof in6->sin6_addr);
    } else {
        in->sin_port = port;
        memcpy(&in->sin_addr, words, sizeof in->sin_addr);
    }
    return name_of(&peer, name);
}

/* The table has no scope. */
static bool is_server(char *const *servers, const char *name) {
    const char *port = strrchr(name, ':');
    for (; *servers; servers++) {
        const char *scope = strchr(*servers, '%'), *end = strrchr(*servers, ':');
        size_t length = (size_t)((scope ? scope : end) - *servers);
        if (length == (size_t)(port - name) && strncmp(*servers, name, length) == 0 && strcmp(end, port) == 0)
            return true;
    }
    return false;
}

static void note_dial(struct look *look, unsigned long inode, const char *name) {
    struct dial *dial = g_hash_table_lookup(look->dials, GSIZE_TO_POINTER(inode));
    if (!dial) {
        dial = g_new(struct dial, 1);
        dial->first = look->now;
        g_hash_table_insert(look->dials, GSIZE_TO_POINTER(inode), dial);
    }
    dial->latest = look->now;
    int64_t age = look->now - dial->first;
    if (age >= look->least && age <= look->most && is_server(look->among, name))
        g_hash_table_add(look->picked, GSIZE_TO_POINTER(inode));
}

/* Read a line of the table. There may be tens of thousands, and almost none is of a socket that waits to be
 * accepted. */
static void read_line(struct look *look, const char *line) {
    char remote[48], name[PDK__SOCKETS_NAME];
    unsigned long inode;
    const char *second = strchr(line, ':'), *third = second ? strchr(second + 1, ':') : NULL;
    const char *fourth = third ? strchr(third + 1, ':') : NULL; /* behind the remote address: "PORT STATE" */
    if (!fourth || strncmp(fourth + 5, " 02 ", 4) != 0)         /* SYN_SENT */
        return;
    if (sscanf(line, " %*d: %*s %47s %*x %*s %*s %*s %*s %*s %lu", remote, &inode) == 2 && read_peer(remote, name) &&
        is_server(look->servers, name))
        note_dial(look, inode, name);
}

static void read_table(struct look *look, const char *table) {
    FILE *file = fopen(table, "re");
    char line[512];
    while (file && fgets(line, sizeof line, file))
        read_line(look, line);
    if (file)
        fclose(file);
}

static gboolean is_done(gpointer inode, gpointer dial, gpointer look) {
    (void)inode;
    return ((struct dial *)dial)->latest != ((struct look *)look)->now;
}

/* Was this socket picked? It is looked at by a descriptor of our own, as above. Where none is to be had, it may be one,
 * and is not shut down. */
static bool is_picked(int number, const struct look *look, bool shuts) {
    struct stat stat;
    int type, held;
    socklen_t size = sizeof type;
    if (getsockopt(number, SOL_SOCKET, SO_TYPE, &type, &size) != 0)
        return false;
    held = fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (held < 0)
        return !shuts;
    bool picked = fstat(held, &stat) == 0 && g_hash_table_contains(look->picked, GSIZE_TO_POINTER(stat.st_ino)) &&
                  (!shuts || shutdown(held, SHUT_RDWR) == 0);
    close(held);
    return picked;
}

/* How many were picked of this process, and shut down if that is asked. */
static unsigned look(struct look *look, bool shuts) {
    unsigned count = 0;
    look->now = g_get_monotonic_time();
    look->picked = g_hash_table_new(NULL, NULL);
    read_table(look, "/proc/self/net/tcp");
    read_table(look, "/proc/self/net/tcp6");
    g_hash_table_foreach_remove(look->dials, is_done, look);
    GArray *numbers = g_hash_table_size(look->picked) > 0 ? pdk__descriptors() : NULL;
    for (guint i = 0; numbers && i < numbers->len; i++)
        count += is_picked(g_array_index(numbers, int, i), look, shuts);
    if (numbers)
        g_array_free(numbers, TRUE);
    g_hash_table_destroy(look->picked);
    return count;
}

GHashTable *pdk__sockets_dials_new(void) { return g_hash_table_new_full(NULL, NULL, NULL, g_free); }

void pdk__sockets_abandon(GHashTable *dials, const char *old, const char *new) {
    char **before = g_strsplit(old, ",", -1), **after = g_strsplit(new, ",", -1);
    GPtrArray *gone = g_ptr_array_new();
    for (char **one = before; *one; one++)
        if (!g_strv_contains((const char *const *)after, *one))
            g_ptr_array_add(gone, *one);
    g_ptr_array_add(gone, NULL);
    look(&(struct look){.dials = dials,
                        .servers = before,
                        .among = (char *const *)gone->pdata,
                        .least = ABANDON_US,
                        .most = INT64_MAX},
         true);
    g_ptr_array_free(gone, TRUE);
    g_strfreev(before);
    g_strfreev(after);
}

enum pdk__zk_parting pdk__sockets_skip(GHashTable *dials, const char *servers, int64_t patience_ms) {
    char **list = g_strsplit(servers, ",", -1);
    struct look l = {
        .dials = dials, .servers = list, .among = list, .least = MAX(patience_ms * 1000, 1), .most = INT64_MAX};
    unsigned count = look(&l, true);
    g_strfreev(list);
    return count > 0 ? PDK__ZK_LEAVES : PDK__ZK_STAYS;
}

bool pdk__sockets_dial_anew(GHashTable *dials, const char *servers) {
    char **list = g_strsplit(servers, ",", -1);
    unsigned count = look(&(struct look){.dials = dials, .servers = list, .among = list}, false);
    g_strfreev(list);
    return count > 0;
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

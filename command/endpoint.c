#include "endpoint.h"

#include "clock.h"
#include "say.h"
#include "status.h"
#include "wire.h"
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef CMD_WITH_HTTP
#include <microhttpd.h>

enum { LATE_MS = 5000, BACKLOG = 100 };
enum { METRICS_SIZE = 16001 }; /* the longest text: <paddock/stats.h> */

/* ---- askers
 *
 *     accepted ──► asks ──answered──► closed
 *                   └──ASK_MS later, or one too many came after it──► is hung up
 *
 * A connection has one request, which is a few bytes, and its answer takes a moment. So the oldest one that still asks
 * makes place for the next: nobody is turned away, however many send drop by drop. An address has half of the places: a
 * proxy asks for many from one address, and needs a few at a time. An IPv6 host has 2^64 addresses, which count as
 * one. */

enum { ASK_MS = 5000, MOST = 100, MOST_OF_ADDRESS = 50 };

typedef struct {
    GList link; /* in endpoint->asking, unless it was hung up */
    int socket;
    bool hung_up;
    int64_t since;
    struct in6_addr from;
} asker;

static struct in6_addr address_of(const struct sockaddr *address) {
    struct in6_addr from = {0};
    if (address->sa_family == AF_INET) {
        from.s6_addr[10] = from.s6_addr[11] = 0xff;
        memcpy(&from.s6_addr[12], &((const struct sockaddr_in *)address)->sin_addr, 4);
    } else if (address->sa_family == AF_INET6) {
        from = ((const struct sockaddr_in6 *)address)->sin6_addr;
        if (!IN6_IS_ADDR_V4MAPPED(&from))
            memset(&from.s6_addr[8], 0, 8);
    }
    return from;
}

/* The server reads the end of it, and closes it. */
static void hang_up(cmd_endpoint *endpoint, asker *a) {
    g_queue_unlink(&endpoint->asking, &a->link);
    a->hung_up = true;
    (void)shutdown(a->socket, SHUT_RDWR);
}

/* Hang up the oldest asker from that address, if there are too many; or the oldest of all. */
static void make_place(cmd_endpoint *endpoint, const struct in6_addr *from) {
    asker *oldest = NULL;
    int count = 0;
    for (GList *link = endpoint->asking.head; link; link = link->next) {
        asker *a = link->data;
        if (!IN6_ARE_ADDR_EQUAL(&a->from, from))
            continue;
        oldest = oldest ? oldest : a;
        count++;
    }
    if (count >= MOST_OF_ADDRESS)
        hang_up(endpoint, oldest);
    else if (endpoint->asking.length >= MOST)
        hang_up(endpoint, g_queue_peek_head(&endpoint->asking));
}

static void on_connection(void *user, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode what) {
    cmd_endpoint *endpoint = user;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        asker *a = g_new0(asker, 1);
        a->link.data = a;
        a->socket = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        a->from = address_of(MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
        a->since = cmd_now_ms();
        make_place(endpoint, &a->from);
        g_queue_push_tail_link(&endpoint->asking, &a->link);
        *context = a;
        return;
    }
    asker *a = *context;
    if (!a->hung_up)
        g_queue_unlink(&endpoint->asking, &a->link);
    g_free(a);
}

/* Hangs up askers that have asked for too long. Returns how long the next one has, in ms; -1: nobody asks. */
static int hang_up_the_late(cmd_endpoint *endpoint) {
    while (endpoint->asking.head) {
        asker *oldest = endpoint->asking.head->data;
        int64_t left = oldest->since + ASK_MS - cmd_now_ms();
        if (left > 0)
            return (int)left;
        hang_up(endpoint, oldest);
    }
    return -1;
}

static void *serve(void *user) {
    cmd_endpoint *endpoint = user;
    struct pollfd wait[] = {
        {.fd = MHD_get_daemon_info(endpoint->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, .events = POLLIN},
        {.fd = endpoint->end, .events = POLLIN}};
    while (!wait[1].revents) {
        MHD_UNSIGNED_LONG_LONG due;
        int left = hang_up_the_late(endpoint);
        if (MHD_get_timeout(endpoint->daemon, &due) == MHD_YES && (left < 0 || due < (MHD_UNSIGNED_LONG_LONG)left))
            left = (int)due;
        (void)poll(wait, G_N_ELEMENTS(wait), left);
        (void)MHD_run(endpoint->daemon);
    }
    return NULL;
}

/* ---- answers */

static const char plain[] = "text/plain; charset=utf-8";
static const char openmetrics[] = "application/openmetrics-text; version=1.0.0; charset=utf-8";

static enum MHD_Result reply_as(struct MHD_Connection *connection, unsigned code, const char *type, const char *text) {
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(text), (void *)(gsize)text, MHD_RESPMEM_MUST_COPY);
    if (!response)
        return MHD_NO;
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD, OPTIONS");
    enum MHD_Result queued = MHD_queue_response(connection, code, response);
    MHD_destroy_response(response);
    return queued;
}

static enum MHD_Result reply(struct MHD_Connection *connection, unsigned code, const char *text) {
    return reply_as(connection, code, plain, text);
}

static enum MHD_Result reply_metrics(struct MHD_Connection *connection, pdk_session *session) {
    char text[METRICS_SIZE];
    gsize length;
    if (!session || pdk_session_stats_text(session, text, sizeof text, &length) != PDK_OK)
        return reply(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "no session yet\n");
    return reply_as(connection, MHD_HTTP_OK, openmetrics, text);
}

/* With a slash at its end, or without. */
static bool is_page(const char *url, const char *page) {
    size_t length = strlen(page);
    return strncmp(url, page, length) == 0 && (url[length] == '\0' || strcmp(url + length, "/") == 0);
}

/* Is the method answered? A proxy that asks with OPTIONS looks at the status, so OPTIONS gets the same as GET. */
static bool is_answered(const char *method) {
    return strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0 ||
           strcmp(method, MHD_HTTP_METHOD_OPTIONS) == 0;
}

static enum MHD_Result answer(void *user, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **request) {
    cmd_endpoint *endpoint = user;
    (void)version;
    (void)upload;
    (void)upload_size;
    (void)request;
    if (!is_answered(method))
        return reply(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET, HEAD and OPTIONS alone\n");
    pthread_mutex_lock(&endpoint->mutex);
    /* While the program hangs, the lease may go on; the guardian ends the work all the same. */
    bool leads = pdk_hold_is_valid(endpoint->hold) && cmd_now_ms() < atomic_load(&endpoint->moments->term_at) &&
                 !atomic_load(&endpoint->moments->over);
    bool turns = cmd_now_ms() - endpoint->beat < LATE_MS;
    pdk_session *session = endpoint->session;
    pthread_mutex_unlock(&endpoint->mutex);
    if (is_page(url, "/leader"))
        return leads ? reply(connection, MHD_HTTP_OK, "leader\n")
                     : reply(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "not the leader\n");
    if (is_page(url, "/healthz"))
        return turns ? reply(connection, MHD_HTTP_OK, "ok\n")
                     : reply(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "paddock hangs\n");
    if (is_page(url, "/metrics"))
        return reply_metrics(connection, session);
    return reply(connection, MHD_HTTP_NOT_FOUND, "/leader, /healthz and /metrics are here\n");
}

/* ---- the socket */

/* The socket, or the negative errno. */
static int listen_on(const struct addrinfo *info) {
    int on = 1, descriptor = socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0)
        return -errno;
    (void)setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(descriptor, info->ai_addr, info->ai_addrlen) == 0 && listen(descriptor, BACKLOG) == 0)
        return descriptor;
    int why = errno;
    close(descriptor);
    return -why;
}

static void tell_address(int descriptor) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    char host[64], port[16];
    if (getsockname(descriptor, (struct sockaddr *)&address, &size) == 0 &&
        getnameinfo((struct sockaddr *)&address, size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        cmd_tell("listening on %s port %s", host, port);
}

/* The socket, or -1, having said why: *status is the exit status. At the next start the state of the world may
 * differ. */
static int open_socket(const char *where, const char *host, const char *port, int *status) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | AI_PASSIVE}, *found = NULL;
    int code = cmd_is_port(port, 0) ? getaddrinfo(host, port, &hints, &found) : EAI_SERVICE,
        descriptor = -EADDRNOTAVAIL;
    if (code) {
        const char *why =
            code == EAI_SERVICE ? "a port is a number from 1 to 65535, or 0 for one that is free" : gai_strerror(code);
        cmd_error("--listen %s: %s; it is ADDRESS:PORT, or PORT on loopback", where, why);
        *status = code == EAI_SERVICE || code == EAI_NONAME ? CMD_USAGE : CMD_UNAVAILABLE;
        return -1;
    }
    for (const struct addrinfo *info = found; info && descriptor < 0; info = info->ai_next)
        descriptor = listen_on(info);
    freeaddrinfo(found);
    if (descriptor >= 0)
        return descriptor;
    cmd_error("--listen %s: %s; %s", where, g_strerror(-descriptor),
              descriptor == -EACCES ? "a port below 1024 needs CAP_NET_BIND_SERVICE, or choose another one"
                                    : "free it, or choose another address");
    *status = CMD_UNAVAILABLE;
    return -1;
}

static bool start_serving(cmd_endpoint *endpoint, int descriptor) {
    endpoint->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, answer, endpoint, MHD_OPTION_LISTEN_SOCKET,
                                        descriptor, MHD_OPTION_CONNECTION_LIMIT, 2 * (unsigned)MOST,
                                        MHD_OPTION_NOTIFY_CONNECTION, on_connection, endpoint, MHD_OPTION_END);
    if (!endpoint->daemon) {
        close(descriptor);
        return false;
    }
    endpoint->end = eventfd(0, EFD_CLOEXEC);
    if (endpoint->end >= 0 && pthread_create(&endpoint->thread, NULL, serve, endpoint) == 0)
        return true;
    if (endpoint->end >= 0)
        close(endpoint->end);
    MHD_stop_daemon(g_steal_pointer(&endpoint->daemon));
    return false;
}

int cmd_endpoint_open(cmd_endpoint *endpoint, const char *where) {
    g_autofree char *host = NULL, *port = NULL;
    int status = CMD_OK;
    pthread_mutex_init(&endpoint->mutex, NULL);
    cmd_endpoint_beat(endpoint);
    if (!where)
        return CMD_OK;
    if (!cmd_split_address(where, &host, &port)) {
        host = g_strdup("127.0.0.1");
        port = g_strdup(where[0] == ':' ? where + 1 : where);
    }
    int descriptor = open_socket(where, host, port, &status);
    if (descriptor < 0)
        return status;
    tell_address(descriptor);
    if (start_serving(endpoint, descriptor))
        return CMD_OK;
    cmd_error("--listen %s: the system has no thread or descriptor left", where);
    return CMD_SOFTWARE;
}

void cmd_endpoint_close(cmd_endpoint *endpoint) {
    if (!endpoint->daemon)
        return;
    (void)eventfd_write(endpoint->end, 1);
    pthread_join(endpoint->thread, NULL);
    MHD_stop_daemon(g_steal_pointer(&endpoint->daemon));
    close(endpoint->end);
}

#else

int cmd_endpoint_open(cmd_endpoint *endpoint, const char *where) {
    pthread_mutex_init(&endpoint->mutex, NULL);
    if (!where)
        return CMD_OK;
    cmd_error("--listen: this paddock was built without libmicrohttpd");
    return CMD_USAGE;
}

void cmd_endpoint_close(cmd_endpoint *endpoint) { endpoint->daemon = NULL; }

#endif

void cmd_endpoint_set(cmd_endpoint *endpoint, pdk_hold *hold, const cmd_moments *moments) {
    pthread_mutex_lock(&endpoint->mutex);
    endpoint->hold = hold;
    endpoint->moments = moments;
    pthread_mutex_unlock(&endpoint->mutex);
}

void cmd_endpoint_measure(cmd_endpoint *endpoint, pdk_session *session) {
    pthread_mutex_lock(&endpoint->mutex);
    endpoint->session = session;
    pthread_mutex_unlock(&endpoint->mutex);
}

void cmd_endpoint_beat(cmd_endpoint *endpoint) {
    pthread_mutex_lock(&endpoint->mutex);
    endpoint->beat = cmd_now_ms();
    pthread_mutex_unlock(&endpoint->mutex);
}

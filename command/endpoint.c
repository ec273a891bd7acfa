#include "endpoint.h"

#include "clock.h"
#include "say.h"
#include "status.h"
#include "wire.h"
#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef CMD_WITH_HTTP
#include <microhttpd.h>

enum { LATE_MS = 5000, CONNECTIONS = 100, IDLE_S = 10, BACKLOG = 100 };
enum { METRICS_SIZE = 16001 }; /* the longest text: <paddock/stats.h> */

static const char plain[] = "text/plain; charset=utf-8";
static const char openmetrics[] = "application/openmetrics-text; version=1.0.0; charset=utf-8";

static enum MHD_Result reply_as(struct MHD_Connection *connection, unsigned code, const char *type, const char *text) {
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(text), (void *)(gsize)text, MHD_RESPMEM_MUST_COPY);
    if (!response)
        return MHD_NO;
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
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

static enum MHD_Result answer(void *user, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **request) {
    cmd_endpoint *endpoint = user;
    (void)version;
    (void)upload;
    (void)upload_size;
    (void)request;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return reply(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET and HEAD alone\n");
    pthread_mutex_lock(&endpoint->mutex);
    /* While the program hangs, the lease may go on; the guardian ends the work all the same. */
    bool leads = pdk_hold_valid(endpoint->hold) && cmd_now_ms() < atomic_load(&endpoint->moments->term_at);
    bool turns = cmd_now_ms() - endpoint->beat < LATE_MS;
    pdk_session *session = endpoint->session;
    pthread_mutex_unlock(&endpoint->mutex);
    if (strcmp(url, "/leader") == 0)
        return leads ? reply(connection, MHD_HTTP_OK, "leader\n")
                     : reply(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "not the leader\n");
    if (strcmp(url, "/healthz") == 0)
        return turns ? reply(connection, MHD_HTTP_OK, "ok\n")
                     : reply(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "paddock hangs\n");
    if (strcmp(url, "/metrics") == 0)
        return reply_metrics(connection, session);
    return reply(connection, MHD_HTTP_NOT_FOUND, "/leader, /healthz and /metrics are here\n");
}

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

int cmd_endpoint_open(cmd_endpoint *endpoint, const char *where) {
    g_autofree char *host = NULL, *port = NULL;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | AI_PASSIVE}, *found = NULL;
    pthread_mutex_init(&endpoint->mutex, NULL);
    cmd_endpoint_beat(endpoint);
    if (!where)
        return CMD_OK;
    if (!cmd_split_address(where, &host, &port)) {
        host = g_strdup("127.0.0.1");
        port = g_strdup(where[0] == ':' ? where + 1 : where);
    }
    int code = *port ? getaddrinfo(host, port, &hints, &found) : EAI_SERVICE;
    if (code) {
        cmd_error("--listen %s: %s; it is ADDRESS:PORT, or PORT on loopback", where, gai_strerror(code));
        return CMD_USAGE;
    }
    int descriptor = listen_on(found);
    freeaddrinfo(found);
    if (descriptor < 0) {
        cmd_error("--listen %s: %s; choose another address", where, g_strerror(-descriptor));
        return CMD_USAGE;
    }
    tell_address(descriptor);
    endpoint->daemon =
        MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD, 0, NULL, NULL, answer, endpoint, MHD_OPTION_LISTEN_SOCKET,
                         descriptor, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
                         (unsigned)IDLE_S, MHD_OPTION_END);
    if (endpoint->daemon)
        return CMD_OK;
    cmd_error("--listen %s: the system has no thread left", where);
    close(descriptor);
    return CMD_SOFTWARE;
}

void cmd_endpoint_close(cmd_endpoint *endpoint) {
    if (endpoint->daemon)
        MHD_stop_daemon(endpoint->daemon);
    endpoint->daemon = NULL;
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

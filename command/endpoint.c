#include "endpoint.h"

#include "clock.h"
#include "http.h"
#include "json.h"
#include "say.h"
#include "status.h"
#include "wire.h"
#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { OK = 200, NOT_FOUND = 404, UNAVAILABLE = 503 }; /* of HTTP */
enum { LATE_MS = 5000, BACKLOG = 100 };
enum { METRICS_SIZE = 16001 }; /* the longest text: <paddock/stats.h> */

/* ---- answers */

static const char openmetrics[] = "application/openmetrics-text; version=1.0.0; charset=utf-8";

static cmd_http_answer words(unsigned code, const char *text) {
    return (cmd_http_answer){code, CMD_HTTP_PLAIN, g_strdup(text)};
}

static cmd_http_answer metrics(pdk_session *session) {
    char text[METRICS_SIZE];
    gsize length;
    if (!session || pdk_session_stats_text(session, text, sizeof text, &length) != PDK_OK)
        return words(UNAVAILABLE, "no session yet\n");
    return (cmd_http_answer){OK, openmetrics, g_strdup(text)};
}

/* With a slash at its end, or without. */
static bool is_page(const char *path, const char *page) {
    size_t length = strlen(page);
    return strncmp(path, page, length) == 0 && (path[length] == '\0' || strcmp(path + length, "/") == 0);
}

/* Does it list application/json, by itself? "*" followed by "/" and "*" is sent by everybody. A weight of 0 refuses it. */
static bool wants_json(const char *accept) {
    g_auto(GStrv) types = g_strsplit(accept ? accept : "", ",", -1);
    bool wants = false;
    for (char **type = types; *type; type++) {
        g_auto(GStrv) parts = g_strsplit(*type, ";", -1);
        bool refused = false;
        for (char **part = parts + 1; parts[0] && *part; part++)
            refused = refused || (g_str_has_prefix(g_strstrip(*part), "q=") && g_ascii_strtod(*part + 2, NULL) <= 0);
        wants = wants || (parts[0] && !refused && g_ascii_strcasecmp(g_strstrip(parts[0]), "application/json") == 0);
    }
    return wants;
}

/* Is the module for JSON there? It is loaded for the first who asks for it, on the only thread that uses it. */
static bool has_json(void) {
    static enum { UNKNOWN, THERE, MISSING } state;
    g_autofree char *why = NULL;
    if (state == UNKNOWN)
        state = cmd_json_start(&why) ? THERE : MISSING;
    return state == THERE;
}

/* Under the mutex. */
static bool leads_now(const cmd_endpoint *endpoint) {
    /* While the program hangs, the lease may go on; the guardian ends the work all the same. */
    return pdk_hold_is_valid(endpoint->hold) && cmd_now_ms() < atomic_load(&endpoint->moments->term_at) &&
           !atomic_load(&endpoint->moments->over);
}

static cmd_http_answer leader_json(cmd_endpoint *endpoint) {
    g_autoptr(GString) out = g_string_new(NULL);
    pthread_mutex_lock(&endpoint->mutex);
    bool leads = leads_now(endpoint);
    cmd_json_begin_object(out, NULL);
    cmd_json_text(out, "path", endpoint->path);
    cmd_json_boolean(out, "leads", leads);
    cmd_json_text(out, "identity", leads ? endpoint->self : endpoint->leader);
    cmd_json_token(out, "token", leads ? pdk_hold_token(endpoint->hold) : endpoint->token);
    cmd_json_end_object(out);
    pthread_mutex_unlock(&endpoint->mutex);
    g_string_append_c(out, '\n');
    return (cmd_http_answer){leads ? OK : UNAVAILABLE, "application/json", g_strdup(out->str)};
}

static cmd_http_answer answer(const char *path, const char *accept, void *user) {
    cmd_endpoint *endpoint = user;
    pthread_mutex_lock(&endpoint->mutex);
    bool leads = leads_now(endpoint);
    bool turns = cmd_now_ms() - endpoint->beat < LATE_MS;
    pdk_session *session = endpoint->session;
    pthread_mutex_unlock(&endpoint->mutex);
    if (is_page(path, "/leader") && wants_json(accept) && has_json())
        return leader_json(endpoint);
    if (is_page(path, "/leader"))
        return leads ? words(OK, "leader\n") : words(UNAVAILABLE, "not the leader\n");
    if (is_page(path, "/healthz"))
        return turns ? words(OK, "ok\n") : words(UNAVAILABLE, "paddock hangs\n");
    if (is_page(path, "/metrics"))
        return metrics(session);
    return words(NOT_FOUND, "/leader, /healthz and /metrics are here\n");
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

int cmd_endpoint_open(cmd_endpoint *endpoint, const char *where) {
    g_autofree char *host = NULL, *port = NULL, *why = NULL;
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
    status = cmd_http_start(descriptor, answer, endpoint, &endpoint->http, &why);
    if (status)
        cmd_error("--listen %s: %s", where, why);
    return status;
}

void cmd_endpoint_close(cmd_endpoint *endpoint) {
    if (endpoint->http)
        cmd_http_stop(g_steal_pointer(&endpoint->http));
    g_clear_pointer(&endpoint->leader, g_free);
}

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

void cmd_endpoint_name(cmd_endpoint *endpoint, const char *path, const char *self) {
    pthread_mutex_lock(&endpoint->mutex);
    endpoint->path = path;
    endpoint->self = self;
    pthread_mutex_unlock(&endpoint->mutex);
}

void cmd_endpoint_hear(cmd_endpoint *endpoint, const char *leader, int64_t token) {
    pthread_mutex_lock(&endpoint->mutex);
    g_free(endpoint->leader);
    endpoint->leader = g_strdup(leader);
    endpoint->token = token;
    pthread_mutex_unlock(&endpoint->mutex);
}

void cmd_endpoint_beat(cmd_endpoint *endpoint) {
    pthread_mutex_lock(&endpoint->mutex);
    endpoint->beat = cmd_now_ms();
    pthread_mutex_unlock(&endpoint->mutex);
}

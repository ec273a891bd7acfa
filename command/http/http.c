#include "../http.h"

#include "../clock.h"
#include "../status.h"
#include <glib.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

struct cmd_http {
    cmd_http_fn fn;
    void *user;
    struct MHD_Daemon *daemon; /* the thread's alone, and so is `asking` */
    GQueue asking;             /* the connections, the oldest first */
    pthread_t thread;
    int end; /* readable: the thread ends */
};

/* ---- askers
 *
 * The oldest one that still asks makes place for the next: nobody is turned away, however many send drop by drop. An
 * address has half of the places: a proxy asks for many from one address, and needs a few at a time. An IPv6 host has
 * 2^64 addresses, which count as one. */

enum { ASK_MS = 5000, MOST = 100, MOST_OF_ADDRESS = 50 };

typedef struct {
    GList link; /* in http->asking, unless it was hung up */
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
static void hang_up(cmd_http *http, asker *a) {
    g_queue_unlink(&http->asking, &a->link);
    a->hung_up = true;
    (void)shutdown(a->socket, SHUT_RDWR);
}

/* Hang up the oldest asker from that address, if there are too many; or the oldest of all. */
static void make_place(cmd_http *http, const struct in6_addr *from) {
    asker *oldest = NULL;
    int count = 0;
    for (GList *link = http->asking.head; link; link = link->next) {
        asker *a = link->data;
        if (!IN6_ARE_ADDR_EQUAL(&a->from, from))
            continue;
        oldest = oldest ? oldest : a;
        count++;
    }
    if (count >= MOST_OF_ADDRESS)
        hang_up(http, oldest);
    else if (http->asking.length >= MOST)
        hang_up(http, g_queue_peek_head(&http->asking));
}

static void on_connection(void *user, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode what) {
    cmd_http *http = user;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        asker *a = g_new0(asker, 1);
        a->link.data = a;
        a->socket = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        a->from = address_of(MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
        a->since = cmd_now_ms();
        make_place(http, &a->from);
        g_queue_push_tail_link(&http->asking, &a->link);
        *context = a;
        return;
    }
    asker *a = *context;
    if (!a->hung_up)
        g_queue_unlink(&http->asking, &a->link);
    g_free(a);
}

/* Hangs up askers that have asked for too long. Returns how long the next one has, in ms; -1: nobody asks. */
static int hang_up_the_late(cmd_http *http) {
    while (http->asking.head) {
        asker *oldest = http->asking.head->data;
        int64_t left = oldest->since + ASK_MS - cmd_now_ms();
        if (left > 0)
            return (int)left;
        hang_up(http, oldest);
    }
    return -1;
}

static void *serve(void *user) {
    cmd_http *http = user;
    struct pollfd wait[] = {
        {.fd = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, .events = POLLIN},
        {.fd = http->end, .events = POLLIN}};
    while (!wait[1].revents) {
        MHD_UNSIGNED_LONG_LONG due;
        int left = hang_up_the_late(http);
        if (MHD_get_timeout(http->daemon, &due) == MHD_YES && (left < 0 || due < (MHD_UNSIGNED_LONG_LONG)left))
            left = (int)due;
        (void)poll(wait, G_N_ELEMENTS(wait), left);
        (void)MHD_run(http->daemon);
    }
    return NULL;
}

/* ---- answers */

/* Is the method answered? A proxy that asks with OPTIONS looks at the status, so OPTIONS gets the same as GET. */
static bool is_answered(const char *method) {
    return strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0 ||
           strcmp(method, MHD_HTTP_METHOD_OPTIONS) == 0;
}

static enum MHD_Result reply(struct MHD_Connection *connection, const cmd_http_answer *answer) {
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(answer->text), answer->text, MHD_RESPMEM_MUST_COPY);
    if (!response)
        return MHD_NO;
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->type);
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT);
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD, OPTIONS");
    enum MHD_Result queued = MHD_queue_response(connection, answer->code, response);
    MHD_destroy_response(response);
    return queued;
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *path, const char *method,
                                  const char *version, const char *upload, size_t *upload_size, void **request) {
    const cmd_http *http = user;
    (void)version;
    (void)upload;
    (void)upload_size;
    (void)request;
    const char *accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
    cmd_http_answer answer = is_answered(method) ? http->fn(path, accept, http->user)
                                                 : (cmd_http_answer){MHD_HTTP_METHOD_NOT_ALLOWED, CMD_HTTP_PLAIN,
                                                                     g_strdup("GET, HEAD and OPTIONS alone\n")};
    enum MHD_Result queued = reply(connection, &answer);
    g_free(answer.text);
    return queued;
}

/* ---- the server */

static int give_up(cmd_http *http, char **why) {
    *why = g_strdup("the system has no thread or descriptor left");
    g_free(http);
    return CMD_SOFTWARE;
}

int cmd_http_start(int socket, cmd_http_fn fn, void *user, cmd_http **out, char **why) {
    cmd_http *http = g_new0(cmd_http, 1);
    *http = (cmd_http){.fn = fn, .user = user};
    http->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, http, MHD_OPTION_LISTEN_SOCKET, socket,
                                    MHD_OPTION_CONNECTION_LIMIT, 2 * (unsigned)MOST, MHD_OPTION_NOTIFY_CONNECTION,
                                    on_connection, http, MHD_OPTION_END);
    if (!http->daemon) {
        close(socket);
        return give_up(http, why);
    }
    http->end = eventfd(0, EFD_CLOEXEC);
    if (http->end >= 0 && pthread_create(&http->thread, NULL, serve, http) == 0) {
        *out = http;
        return CMD_OK;
    }
    if (http->end >= 0)
        close(http->end);
    MHD_stop_daemon(http->daemon);
    return give_up(http, why);
}

void cmd_http_stop(cmd_http *http) {
    (void)eventfd_write(http->end, 1);
    pthread_join(http->thread, NULL);
    MHD_stop_daemon(http->daemon);
    close(http->end);
    g_free(http);
}

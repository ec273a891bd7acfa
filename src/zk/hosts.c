#include "zk/hosts.h"

#include "base/text.h"
#include "core/paths.h"

#include <arpa/inet.h>
#include <glib.h>
#include <netdb.h>
#include <stdbool.h>
#include <string.h>

static pdk_status parse_port(const char *text, uint16_t *port) {
    guint64 value;
    if (!g_ascii_isdigit(text[0]) || !g_ascii_string_to_unsigned(text, 10, 1, 65535, &value, NULL))
        return pdk__fail(PDK_INVALID, "hosts: not a port; write host:port with a port from 1 to 65535");
    *port = (uint16_t)value;
    return PDK_OK;
}

/* Letters, digits, dots, dashes; colons of addresses, and the underscores that some networks use. */
static bool is_name(const char *text) {
    for (const char *c = text; *c; c++)
        if (!g_ascii_isalnum(*c) && !strchr("._:-", *c))
            return false;
    return text[0] != '\0' && strlen(text) <= 253;
}

/* "name:port" or "[v6]:port". A bare v6 address has colons of its own, of which the last counts. */
static pdk_status parse_server(char *text, char **name, uint16_t *port) {
    g_strstrip(text);
    char *colon = strrchr(text, ':');
    if (!colon || colon == text)
        return pdk__fail(PDK_INVALID, "hosts: a server is not host:port; write \"host:port,host:port/chroot\"");
    *colon = '\0';
    size_t length = strlen(text);
    if (text[0] == '[' && text[length - 1] == ']') {
        text[length - 1] = '\0';
        text++;
    }
    if (!is_name(text))
        return pdk__fail(PDK_INVALID, "hosts: a name is empty, too long, or has a character that no host name has");
    *name = g_strdup(text);
    return parse_port(colon + 1, port);
}

pdk_status pdk__hosts_parse(const char *text, struct pdk__hosts **out) {
    if (!text || text[0] == '\0' || text[0] == '/')
        return pdk__fail(PDK_INVALID, "hosts: empty; write \"host:port,host:port/chroot\"");
    if (strlen(text) > 8192)
        return pdk__fail(PDK_INVALID, "hosts: longer than 8192 bytes");
    const char *slash = strchr(text, '/');
    const char *chroot = slash && slash[1] != '\0' ? slash : "";
    const char *wrong = chroot[0] ? pdk__path_error(chroot, 0) : NULL;
    if (wrong)
        return pdk__fail(PDK_INVALID, "hosts: the chroot %s", wrong);

    char *list = slash ? g_strndup(text, (gsize)(slash - text)) : g_strdup(text);
    char **servers = g_strsplit(list, ",", -1);
    struct pdk__hosts *hosts = g_new0(struct pdk__hosts, 1);
    unsigned count = g_strv_length(servers);
    hosts->names = g_new0(char *, count + 1);
    hosts->ports = g_new0(uint16_t, count + 1);
    hosts->chroot = g_strdup(chroot);
    pdk_status status = PDK_OK;
    for (unsigned i = 0; i < count && status == PDK_OK; i++) {
        status = parse_server(servers[i], &hosts->names[i], &hosts->ports[i]);
        hosts->count++;
    }
    g_strfreev(servers);
    g_free(list);
    if (status != PDK_OK)
        pdk__hosts_free(hosts);
    else
        *out = hosts;
    return status;
}

struct pdk__hosts *pdk__hosts_copy(const struct pdk__hosts *hosts) {
    struct pdk__hosts *copy = g_new0(struct pdk__hosts, 1);
    copy->names = g_strdupv(hosts->names);
    copy->ports = g_memdup2(hosts->ports, (hosts->count + 1) * sizeof hosts->ports[0]);
    copy->count = hosts->count;
    copy->chroot = g_strdup(hosts->chroot);
    return copy;
}

void pdk__hosts_free(struct pdk__hosts *hosts) {
    if (!hosts)
        return;
    g_strfreev(hosts->names);
    g_free(hosts->ports);
    g_free(hosts->chroot);
    g_free(hosts);
}

static void add_addresses(GPtrArray *list, const struct addrinfo *found, uint16_t port) {
    for (; found; found = found->ai_next) {
        char address[NI_MAXHOST];
        if (getnameinfo(found->ai_addr, found->ai_addrlen, address, sizeof address, NULL, 0, NI_NUMERICHOST) != 0)
            continue;
        char *server = g_strdup_printf("%s:%u", address, port);
        if (g_ptr_array_find_with_equal_func(list, server, g_str_equal, NULL))
            g_free(server);
        else
            g_ptr_array_add(list, server);
    }
}

static gint by_text(gconstpointer a, gconstpointer b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

pdk_status pdk__hosts_resolve(const struct pdk__hosts *hosts, char **servers, char **why) {
    GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    char *failure = NULL;
    for (unsigned i = 0; i < hosts->count; i++) {
        struct addrinfo *found = NULL;
        int code = getaddrinfo(hosts->names[i], NULL, &hints, &found);
        if (code == 0) {
            add_addresses(list, found, hosts->ports[i]);
            freeaddrinfo(found);
        } else if (!failure) {
            failure = g_strdup_printf("%s: %s", hosts->names[i], gai_strerror(code));
        }
    }
    if (list->len == 0) {
        g_ptr_array_free(list, TRUE);
        *why = failure ? failure : g_strdup("no address");
        return PDK_RESOLVE;
    }
    g_free(failure);
    g_ptr_array_sort(list, by_text);
    if (list->len % 2 == 0)
        g_ptr_array_add(list, g_strdup(g_ptr_array_index(list, 0)));
    g_ptr_array_add(list, NULL);
    *servers = g_strjoinv(",", (char **)list->pdata);
    g_ptr_array_free(list, TRUE);
    return PDK_OK;
}

#include "zk/hosts.h"

#include "base/text.h"
#include "core/paths.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#define RIGHT "write \"host:port,host:port/chroot\""

static pdk_status parse_port(const char *server, const char *text, uint16_t *port) {
    guint64 value;
    if (!g_ascii_isdigit(text[0]) || !g_ascii_string_to_unsigned(text, 10, 1, 65535, &value, NULL))
        return pdk__fail(PDK_INVALID, "hosts: %s has no port from 1 to 65535 behind its last colon; " RIGHT, server);
    *port = (uint16_t)value;
    return PDK_OK;
}

/* Letters, digits, dots, dashes; colons of addresses, and the underscores that some networks use. */
static bool is_name(const char *text, const char *further) {
    for (const char *c = text; *c; c++)
        if (!g_ascii_isalnum(*c) && !strchr("._-", *c) && !strchr(further, *c))
            return false;
    return text[0] != '\0' && strlen(text) <= 253;
}

/* An address with colons may have a scope: "fe80::1%eth0". */
static bool is_host(char *text) {
    char *scope = strchr(text, ':') ? strchr(text, '%') : NULL;
    if (!scope)
        return is_name(text, ":");
    *scope = '\0';
    bool is = is_name(text, ":") && is_name(scope + 1, "") && strlen(text) + strlen(scope + 1) < 253;
    *scope = '%';
    return is;
}

/* The text without characters that no terminal should show. */
static char *shown(const char *text) {
    char *copy = g_strndup(text, 60);
    for (char *c = copy; *c; c++)
        if (!g_ascii_isprint(*c))
            *c = '?';
    return copy;
}

/* "name:port" or "[v6]:port". A bare v6 address has colons of its own, of which the last counts. */
static pdk_status take_apart(char *text, const char *server, char **name, uint16_t *port) {
    char *colon = strrchr(text, ':');
    if (text[0] == '\0')
        return pdk__fail(PDK_INVALID, "hosts: a comma has no server on one side; " RIGHT);
    if (!colon || strchr(colon, ']'))
        return pdk__fail(PDK_INVALID, "hosts: %s has no port; " RIGHT, server);
    *colon = '\0';
    size_t length = strlen(text);
    if (text[0] == '[' && length > 1 && text[length - 1] == ']') {
        text[length - 1] = '\0';
        text++;
    }
    if (!is_host(text))
        return pdk__fail(PDK_INVALID,
                         "hosts: the name in %s is empty, too long, or has a character that no host name has; " RIGHT,
                         server);
    *name = g_strdup(text);
    return parse_port(server, colon + 1, port);
}

static pdk_status parse_server(char *text, char **name, uint16_t *port) {
    g_strstrip(text);
    char *server = shown(text);
    pdk_status status = take_apart(text, server, name, port);
    g_free(server);
    return status;
}

/* Refuse forms that are often written, and mean something else here. */
static pdk_status check_form(const char *text) {
    const char *slash = strchr(text, '/'), *scheme = strstr(text, "://");
    if (text[0] == '\0' || slash == text)
        return pdk__fail(PDK_INVALID, "hosts: empty; " RIGHT);
    if (strlen(text) > 8192)
        return pdk__fail(PDK_INVALID, "hosts: longer than 8192 bytes");
    if (scheme)
        return pdk__fail(PDK_INVALID, "hosts: it begins with a scheme, which is no part of a list of servers; " RIGHT);
    if (slash && strchr(slash, ','))
        return pdk__fail(
            PDK_INVALID,
            "hosts: a comma stands behind the chroot, which begins at the first slash; write the chroot once, behind "
            "the last server: \"host:port,host:port/chroot\"");
    return PDK_OK;
}

pdk_status pdk__hosts_parse(const char *text, struct pdk__hosts **out) {
    if (!text)
        text = "";
    pdk_status status = check_form(text);
    if (status != PDK_OK)
        return status;
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

void pdk__hosts_free(struct pdk__hosts *hosts) {
    g_strfreev(hosts->names);
    g_free(hosts->ports);
    g_free(hosts->chroot);
    g_free(hosts);
}

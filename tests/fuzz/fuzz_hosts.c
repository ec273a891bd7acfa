/* Host lists: a regular expression describes the accepted ones. An accepted list reads the same when it is written
 * again. Input: a text. */
#include "core/paths.h"
#include "fuzz.h"
#include "zk/hosts.h"

#include <glib.h>
#include <string.h>

#define SPACE "[ \\t\\n\\f\\r]*"
#define NAME "[A-Za-z0-9._:-]+(?:%[A-Za-z0-9._-]+)?" /* a scope stands behind an address with colons alone */

static bool is_host(const char *text) {
    const char *scope = strchr(text, '%'), *colon = strchr(text, ':');
    return strlen(text) <= 253 && (!scope || (colon && colon < scope));
}

static bool is_server(const char *text) {
    static GRegex *shape;
    GMatchInfo *match;
    if (!shape)
        shape = g_regex_new("\\A" SPACE "(\\[" NAME "\\]|" NAME "):([0-9]+)" SPACE "\\z", G_REGEX_RAW, 0, NULL);
    bool fine = g_regex_match(shape, text, 0, &match);
    if (fine) {
        g_autofree char *host = g_match_info_fetch(match, 1);
        bool brackets = host[0] == '[';
        host[strlen(host) - brackets] = '\0';
        fine = is_host(host + brackets);
    }
    if (fine) {
        g_autofree char *digits = g_match_info_fetch(match, 2);
        const char *port = digits;
        while (port[0] == '0' && port[1] != '\0')
            port++;
        fine = strlen(port) <= 5 && g_ascii_strtoull(port, NULL, 10) >= 1 && g_ascii_strtoull(port, NULL, 10) <= 65535;
    }
    g_match_info_unref(match);
    return fine;
}

static bool judge_slowly(const char *text) {
    size_t list = strcspn(text, "/");
    const char *chroot = text + list;
    if (list == 0 || strlen(text) > 8192 || strchr(chroot, ',') || (strlen(chroot) > 1 && pdk__path_error(chroot, 0)))
        return false;
    g_autofree char *servers = g_strndup(text, list);
    g_auto(GStrv) each = g_strsplit(servers, ",", -1);
    for (char **server = each; *server; server++)
        if (!is_server(*server))
            return false;
    return true;
}

static char *write_again(const struct pdk__hosts *hosts) {
    GString *text = g_string_new(NULL);
    for (unsigned i = 0; i < hosts->count; i++)
        g_string_append_printf(text, "%s[%s]:%u", i ? "," : "", hosts->names[i], hosts->ports[i]);
    g_string_append(text, hosts->chroot);
    return g_string_free(text, FALSE);
}

static void check_round_trip(struct pdk__hosts *hosts) {
    struct pdk__hosts *again = NULL;
    g_autofree char *text = write_again(hosts);
    FUZZ_REQUIRE(hosts->names[hosts->count] == NULL && g_strv_length(hosts->names) == hosts->count, "%s", text);
    if (strlen(text) <= 8192) {
        FUZZ_REQUIRE(pdk__hosts_parse(text, &again) == PDK_OK, "%s", text);
        g_autofree char *third = write_again(again);
        FUZZ_REQUIRE(strcmp(text, third) == 0, "read %s as %s", text, third);
    }
    pdk__hosts_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct fuzz_in in = {bytes, size};
    g_autofree char *text = fuzz_text(&in, '\0');
    struct pdk__hosts *hosts = NULL;
    pdk_status status = pdk__hosts_parse(text, &hosts);
    FUZZ_REQUIRE((status == PDK_OK) == judge_slowly(text), "\"%s\": %s", text, pdk_status_name(status));
    if (status == PDK_OK) {
        check_round_trip(hosts);
        pdk__hosts_free(hosts);
        return 0;
    }
    FUZZ_REQUIRE(status == PDK_INVALID && hosts == NULL, "\"%s\": %s", text, pdk_status_name(status));
    FUZZ_REQUIRE(g_str_has_prefix(pdk_last_error(), "hosts: "), "\"%s\": %s", text, pdk_last_error());
    return 0;
}

/* Paths: accepted, or refused with the right words, as GLib's UTF-8 and a split at the slashes say. Input: a text. */
#include "core/paths.h"
#include "fuzz.h"

#include <glib.h>
#include <string.h>

static bool is_printable(const char *path) {
    if (!g_utf8_validate(path, -1, NULL))
        return false;
    for (const char *c = path; *c; c = g_utf8_next_char(c))
        if (g_unichar_iscntrl(g_utf8_get_char(c)))
            return false;
    return true;
}

/* The word that the refusal contains, or NULL. */
static const char *judge_slowly(const char *path, size_t prefix) {
    if (!g_str_has_prefix(path, "/"))
        return "relative: ";
    if (strcmp(path, "/") == 0)
        return "root";
    if (strlen(path) + prefix > 512)
        return "512";
    if (!is_printable(path))
        return "UTF-8";
    g_autofree gunichar2 *utf16 = g_utf8_to_utf16(path, -1, NULL, NULL, NULL); /* as a server has it */
    for (const gunichar2 *c = utf16; *c; c++)
        if ((*c >= 0xd800 && *c <= 0xf8ff) || *c >= 0xfff0)
            return "no server takes";
    g_auto(GStrv) segments = g_strsplit(path + 1, "/", -1);
    for (char **segment = segments; *segment; segment++) {
        if (**segment == '\0')
            return "empty segment";
        if (strcmp(*segment, ".") == 0 || strcmp(*segment, "..") == 0)
            return "relative segment";
        if (segment == segments && prefix == 0 && strcmp(*segment, "zookeeper") == 0)
            return "reserved";
    }
    return NULL;
}

/* A path may have both faults of characters, and the first one is told. */
static bool says(const char *words, const char *expected) {
    return strstr(words, expected) || (strcmp(expected, "UTF-8") == 0 && strstr(words, "no server takes"));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct fuzz_in in = {bytes, size};
    g_autofree char *path = fuzz_text(&in, '\0');
    static const size_t prefixes[] = {0, 1, 4, 500, 511, 512};
    for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++) {
        const char *words = pdk__path_error(path, prefixes[i]), *expected = judge_slowly(path, prefixes[i]);
        FUZZ_REQUIRE(!words == !expected, "\"%s\" behind %zu: %s, expected %s", path, prefixes[i], words, expected);
        FUZZ_REQUIRE(!words || (expected && says(words, expected)), "\"%s\": \"%s\" does not say \"%s\"", path, words,
                     expected);
    }
    return 0;
}

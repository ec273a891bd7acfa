#include "session/harmless.h"

#include <glib.h>
#include <string.h>

/* Separators of lines and paragraphs are printable for GLib. */
static gboolean is_harmless(gunichar c) {
    GUnicodeType type = g_unichar_type(c);
    return g_unichar_isprint(c) && type != G_UNICODE_LINE_SEPARATOR && type != G_UNICODE_PARAGRAPH_SEPARATOR;
}

char *pdk__harmless(const char *text, size_t size) {
    GString *out = g_string_new(NULL);
    const char *end = text + strnlen(text, size);
    while (text < end) {
        gunichar c = g_utf8_get_char_validated(text, end - text);
        if (c == (gunichar)-1 || c == (gunichar)-2) {
            g_string_append_printf(out, "\\x%02x", (unsigned)(unsigned char)*text++);
            continue;
        }
        if (is_harmless(c))
            g_string_append_unichar(out, c);
        else
            g_string_append_printf(out, "\\u{%04x}", c);
        text = g_utf8_next_char(text);
    }
    return g_string_free(out, FALSE);
}

#include "say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool cmd_quiet, cmd_verbose;

/* Separators of lines and paragraphs are printable for GLib. */
static bool is_harmless(gunichar c) {
    GUnicodeType type = g_unichar_type(c);
    return g_unichar_isprint(c) && type != G_UNICODE_LINE_SEPARATOR && type != G_UNICODE_PARAGRAPH_SEPARATOR;
}

char *cmd_escape(const char *text) {
    GString *out = g_string_new(NULL);
    const char *end = text + strlen(text);
    while (text < end) {
        gunichar c = g_utf8_get_char_validated(text, end - text);
        if (c == (gunichar)-1 || c == (gunichar)-2) {
            g_string_append_printf(out, "\\x%02x", (unsigned)(unsigned char)*text++);
            continue;
        }
        if (c == '\\')
            g_string_append(out, "\\\\");
        else if (c < 0x80 && !g_ascii_isprint((char)c))
            g_string_append_printf(out, "\\x%02x", c);
        else if (!is_harmless(c))
            g_string_append_printf(out, "\\u{%04x}", c);
        else
            g_string_append_unichar(out, c);
        text = g_utf8_next_char(text);
    }
    return g_string_free(out, FALSE);
}

/* One write a line, so that the lines of several processes do not mix. Nothing can be done about a failure. */
static void say(const char *format, va_list arguments) {
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    g_autofree char *safe = cmd_escape(text);
    g_autofree char *line = g_strdup_printf("paddock: %s\n", safe);
    ssize_t written = write(STDERR_FILENO, line, strlen(line));
    (void)written;
}

void cmd_error(const char *format, ...) {
    va_list arguments;
    if (cmd_quiet)
        return;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

void cmd_tell(const char *format, ...) {
    va_list arguments;
    if (!cmd_verbose)
        return;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

#include "print.h"

#include "say.h"
#include <errno.h>
#include <stdio.h>

static void append(GString *out, gunichar c) {
    if (c >= 0x20 && c < 0x7f)
        g_string_append_c(out, (char)c);
    else if (c < 0x10000)
        g_string_append_printf(out, "\\u%04x", c);
    else
        g_string_append_printf(out, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
}

void cmd_print_json(JsonBuilder *builder) {
    g_autoptr(JsonNode) root = json_builder_get_root(builder);
    g_autofree char *text = json_to_string(root, FALSE);
    g_autoptr(GString) out = g_string_new(NULL);
    for (const char *at = text; *at; at = g_utf8_next_char(at))
        append(out, g_utf8_get_char(at));
    puts(out->str);
}

void cmd_json_text(JsonBuilder *builder, const char *name, const char *text) {
    g_autofree char *valid = text ? g_utf8_make_valid(text, -1) : NULL;
    json_builder_set_member_name(builder, name);
    if (valid)
        json_builder_add_string_value(builder, valid);
    else
        json_builder_add_null_value(builder);
}

void cmd_json_token(JsonBuilder *builder, const char *name, int64_t token) {
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, (gint64)token);
    json_builder_set_member_name(builder, name);
    json_builder_add_string_value(builder, text);
}

void cmd_json_session(JsonBuilder *builder, const char *name, int64_t session) {
    g_autofree char *text = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", (guint64)session);
    json_builder_set_member_name(builder, name);
    json_builder_add_string_value(builder, text);
}

void cmd_json_number(JsonBuilder *builder, const char *name, int64_t number) {
    json_builder_set_member_name(builder, name);
    json_builder_add_int_value(builder, number);
}

void cmd_json_boolean(JsonBuilder *builder, const char *name, bool value) {
    json_builder_set_member_name(builder, name);
    json_builder_add_boolean_value(builder, value);
}

char *cmd_when(int64_t ms) {
    g_autoptr(GDateTime) moment = ms ? g_date_time_new_from_unix_utc(ms / 1000) : NULL;
    return moment ? g_date_time_format_iso8601(moment) : g_strdup("-");
}

bool cmd_print_end(void) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    cmd_error("standard output: %s", g_strerror(errno));
    return false;
}

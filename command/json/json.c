#include "../json.h"

#include <json-glib/json-glib.h>

static JsonBuilder *builder;
static int depth; /* how many objects and arrays are open */

bool cmd_json_start(char **why) {
    (void)why;
    builder = json_builder_new();
    return true;
}

/* ---- the line's text */

/* The library leaves most of what is not printable ASCII as it is. */
static void add_character(GString *out, gunichar c) {
    if (c >= 0x20 && c < 0x7f)
        g_string_append_c(out, (char)c);
    else if (c < 0x10000)
        g_string_append_printf(out, "\\u%04x", c);
    else
        g_string_append_printf(out, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
}

static void write_line(GString *out) {
    g_autoptr(JsonNode) root = json_builder_get_root(builder);
    g_autofree char *text = json_to_string(root, FALSE);
    for (const char *at = text; *at; at = g_utf8_next_char(at))
        add_character(out, g_utf8_get_char(at));
    json_builder_reset(builder);
}

/* ---- objects and arrays */

static void begin(const char *name) {
    if (name)
        json_builder_set_member_name(builder, name);
}

static void end(GString *out) {
    if (--depth == 0)
        write_line(out);
}

void cmd_json_begin_object(GString *out, const char *name) {
    (void)out;
    begin(name);
    json_builder_begin_object(builder);
    depth++;
}

void cmd_json_end_object(GString *out) {
    json_builder_end_object(builder);
    end(out);
}

void cmd_json_begin_array(GString *out, const char *name) {
    (void)out;
    begin(name);
    json_builder_begin_array(builder);
    depth++;
}

void cmd_json_end_array(GString *out) {
    json_builder_end_array(builder);
    end(out);
}

/* ---- values */

void cmd_json_text(GString *out, const char *name, const char *text) {
    if (!text) {
        cmd_json_null(out, name);
        return;
    }
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    begin(name);
    json_builder_add_string_value(builder, valid);
}

void cmd_json_token(GString *out, const char *name, int64_t token) {
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, (gint64)token);
    cmd_json_text(out, name, text);
}

void cmd_json_session(GString *out, const char *name, int64_t session) {
    g_autofree char *text = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", (guint64)session);
    cmd_json_text(out, name, text);
}

void cmd_json_number(GString *out, const char *name, int64_t number) {
    (void)out;
    begin(name);
    json_builder_add_int_value(builder, number);
}

void cmd_json_boolean(GString *out, const char *name, bool value) {
    (void)out;
    begin(name);
    json_builder_add_boolean_value(builder, value);
}

void cmd_json_null(GString *out, const char *name) {
    (void)out;
    begin(name);
    json_builder_add_null_value(builder);
}

/* paddock show: who holds a lock and who waits for it. docs/command.md has the schema of --json. */
#include "looker.h"
#include "print.h"
#include "say.h"
#include "status.h"
#include "verbs.h"
#include <stdio.h>

static void print_contender(const pdk_contenders *list, size_t i, bool holds) {
    g_autofree char *identity = cmd_escape(pdk_contenders_identity(list, i));
    g_autofree char *node = cmd_escape(pdk_contenders_node(list, i));
    g_autoptr(GDateTime) since = g_date_time_new_from_unix_utc(pdk_contenders_since_ms(list, i) / 1000);
    g_autofree char *when = since ? g_date_time_format_iso8601(since) : g_strdup("-");
    printf("%4zu  %-7s  %-9s  %-20s  %20" G_GINT64_FORMAT "  0x%-16" G_GINT64_MODIFIER "x  %s  %s\n", i,
           holds ? "holds" : "waits", pdk_contenders_is_shared(list, i) ? "shared" : "exclusive", when,
           (gint64)pdk_contenders_token(list, i), (guint64)pdk_contenders_session(list, i), identity, node);
}

static void add_contender(JsonBuilder *builder, const pdk_contenders *list, size_t i, bool holds) {
    g_autofree char *session = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", (guint64)pdk_contenders_session(list, i));
    json_builder_begin_object(builder);
    json_builder_set_member_name(builder, "position");
    json_builder_add_int_value(builder, (gint64)i);
    json_builder_set_member_name(builder, "holds");
    json_builder_add_boolean_value(builder, holds);
    json_builder_set_member_name(builder, "shared");
    json_builder_add_boolean_value(builder, pdk_contenders_is_shared(list, i));
    cmd_json_text(builder, "identity", pdk_contenders_identity(list, i));
    cmd_json_text(builder, "node", pdk_contenders_node(list, i));
    cmd_json_token(builder, "token", pdk_contenders_token(list, i));
    cmd_json_text(builder, "session", session);
    json_builder_set_member_name(builder, "since_ms");
    json_builder_add_int_value(builder, pdk_contenders_since_ms(list, i));
    json_builder_end_object(builder);
}

static void print_queue(const cmd_looker *looker, const char *path, const pdk_contenders *list) {
    size_t count = pdk_contenders_count(list), holders = cmd_looker_holders(looker, list);
    if (!looker->settings->json) {
        printf("%4s  %-7s  %-9s  %-20s  %20s  %-18s  %s  %s\n", "", "", "MODE", "SINCE", "TOKEN", "SESSION", "IDENTITY",
               "NODE");
        for (size_t i = 0; i < count; i++)
            print_contender(list, i, i < holders);
        return;
    }
    g_autoptr(JsonBuilder) builder = json_builder_new();
    json_builder_begin_object(builder);
    cmd_json_text(builder, "path", path);
    json_builder_set_member_name(builder, "contenders");
    json_builder_begin_array(builder);
    for (size_t i = 0; i < count; i++)
        add_contender(builder, list, i, i < holders);
    json_builder_end_array(builder);
    json_builder_end_object(builder);
    cmd_print_json(builder);
}

static int show(const cmd_settings *settings, const char *path) {
    cmd_looker looker;
    int status = cmd_looker_open(&looker, settings, path);
    if (status == CMD_OK) {
        pdk_contenders *list = NULL;
        status = cmd_status(cmd_looker_list(&looker, &list), settings->busy);
        if (status == CMD_OK) {
            print_queue(&looker, path, list);
            status = cmd_print_end() ? CMD_OK : CMD_SOFTWARE;
        }
        pdk_contenders_free(list);
    }
    cmd_looker_close(&looker);
    return status;
}

int cmd_show(int argc, char **argv) {
    cmd_settings settings;
    int status = CMD_USAGE;
    cmd_settings_init(&settings);
    if (cmd_settings_parse(&settings, &argc, &argv, "/path", CMD_OPTIONS_KIND | CMD_OPTIONS_JSON, NULL)) {
        if (argc == 2)
            status = show(&settings, argv[1]);
        else
            cmd_error("show: one path is needed: paddock show [option…] /path");
    }
    cmd_settings_clear(&settings);
    return status;
}

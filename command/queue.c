#include "queue.h"

#include "print.h"
#include "say.h"
#include <stdio.h>

static void print_contender(const pdk_contenders *list, size_t i, bool holds) {
    g_autofree char *identity = cmd_escape(pdk_contenders_identity(list, i));
    g_autofree char *node = cmd_escape(pdk_contenders_node(list, i));
    g_autofree char *when = cmd_when(pdk_contenders_since_ms(list, i));
    printf("%4zu  %-7s  %-9s  %-20s  %20" G_GINT64_FORMAT "  0x%-16" G_GINT64_MODIFIER "x  %s  %s\n", i,
           holds ? "holds" : "waits", pdk_contenders_is_shared(list, i) ? "shared" : "exclusive", when,
           (gint64)pdk_contenders_token(list, i), (guint64)pdk_contenders_session(list, i), identity, node);
}

void cmd_queue_print(const cmd_looker *looker, const pdk_contenders *list, size_t most) {
    size_t count = pdk_contenders_count(list), holders = cmd_looker_holders(looker, list);
    printf("%4s  %-7s  %-9s  %-20s  %20s  %-18s  %s  %s\n", "", "", "MODE", "SINCE", "TOKEN", "SESSION", "IDENTITY",
           "NODE");
    for (size_t i = 0; i < count && i < most; i++)
        print_contender(list, i, i < holders);
    if (count > most)
        printf("%zu more\n", count - most);
}

static void add_contender(JsonBuilder *builder, const pdk_contenders *list, size_t i, bool holds) {
    json_builder_begin_object(builder);
    cmd_json_number(builder, "position", (int64_t)i);
    cmd_json_boolean(builder, "holds", holds);
    cmd_json_boolean(builder, "shared", pdk_contenders_is_shared(list, i));
    cmd_json_text(builder, "identity", pdk_contenders_identity(list, i));
    cmd_json_text(builder, "node", pdk_contenders_node(list, i));
    cmd_json_token(builder, "token", pdk_contenders_token(list, i));
    cmd_json_session(builder, "session", pdk_contenders_session(list, i));
    cmd_json_number(builder, "since_ms", pdk_contenders_since_ms(list, i));
    json_builder_end_object(builder);
}

void cmd_queue_add(JsonBuilder *builder, const cmd_looker *looker, const pdk_contenders *list) {
    size_t count = pdk_contenders_count(list), holders = cmd_looker_holders(looker, list);
    json_builder_set_member_name(builder, "contenders");
    json_builder_begin_array(builder);
    for (size_t i = 0; i < count; i++)
        add_contender(builder, list, i, i < holders);
    json_builder_end_array(builder);
}

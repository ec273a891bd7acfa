#include "queue.h"

#include "print.h"
#include "say.h"
#include "table.h"
#include <stdio.h>
#include <string.h>

typedef struct {
    const pdk_contenders *list;
    size_t index;      /* in the list */
    size_t position;   /* among all that are shown */
    bool holds, waits; /* waits: for the contender at `before` in the same list */
    size_t before;
} contender;

/* A reader waits for the nearest writer ahead, all others for the next ahead. The first in a semaphore's queue waits
 * for permits. */
static contender contender_at(const cmd_queue *queue, size_t position) {
    size_t held = pdk_contenders_count(queue->list);
    contender c = {.list = queue->list, .index = position, .position = position, .holds = position < queue->holders};
    if (position >= held) {
        c.list = queue->waiting;
        c.index = position - held;
    }
    bool shared = pdk_contenders_is_shared(c.list, c.index);
    for (size_t i = c.index; !c.holds && i-- > 0 && !c.waits;) {
        c.waits = !shared || !pdk_contenders_is_shared(c.list, i);
        c.before = i;
    }
    return c;
}

size_t cmd_queue_count(const cmd_queue *queue) {
    return pdk_contenders_count(queue->list) + pdk_contenders_count(queue->waiting);
}

bool cmd_queue_is_same(const cmd_queue *a, const cmd_queue *b) {
    size_t count = cmd_queue_count(a);
    bool same = count == cmd_queue_count(b) && a->holders == b->holders;
    for (size_t i = 0; i < count && same; i++) {
        contender one = contender_at(a, i), other = contender_at(b, i);
        same = pdk_contenders_token(one.list, one.index) == pdk_contenders_token(other.list, other.index) &&
               g_strcmp0(pdk_contenders_node(one.list, one.index), pdk_contenders_node(other.list, other.index)) == 0;
    }
    return same;
}

static char *state_of(const contender *c) {
    return g_strconcat(c->holds ? "holds" : "waits", pdk_contenders_is_shared(c->list, c->index) ? ", shared" : "",
                       NULL);
}

static void add_row(cmd_table *table, const contender *c, int64_t now_ms, bool all) {
    const pdk_contenders *list = c->list;
    int64_t since_ms = pdk_contenders_since_ms(list, c->index);
    cmd_table_add(table, cmd_escape(pdk_contenders_identity(list, c->index)));
    cmd_table_add(table, cmd_age(now_ms - since_ms));
    cmd_table_add(table, g_strdup_printf("%" G_GINT64_FORMAT, (gint64)pdk_contenders_token(list, c->index)));
    cmd_table_add(table, state_of(c));
    if (!all)
        return;
    cmd_table_add(table, g_strdup_printf("%zu", c->position));
    cmd_table_add(table, c->waits ? g_strdup_printf("%zu", c->position - c->index + c->before) : g_strdup("-"));
    cmd_table_add(table, cmd_when(since_ms));
    cmd_table_add(table, g_strdup_printf("0x%" G_GINT64_MODIFIER "x", (guint64)pdk_contenders_session(list, c->index)));
    cmd_table_add(table, cmd_escape(pdk_contenders_node(list, c->index)));
}

void cmd_queue_print(const cmd_queue *queue, size_t most, bool all, guint width) {
    static const cmd_column columns[] = {
        {"IDENTITY", CMD_CELLS_TEXT}, {"AGE", CMD_CELLS_NUMBER},   {"TOKEN", CMD_CELLS_NUMBER},
        {"STATE", CMD_CELLS_TEXT},    {"#", CMD_CELLS_NUMBER},     {"FOR", CMD_CELLS_NUMBER},
        {"SINCE", CMD_CELLS_TEXT},    {"SESSION", CMD_CELLS_TEXT}, {"NODE", CMD_CELLS_TEXT}};
    enum { SHORT = 4, YIELDS = 0 };
    cmd_table table = cmd_table_new(columns, all ? G_N_ELEMENTS(columns) : SHORT, YIELDS);
    size_t count = cmd_queue_count(queue);
    int64_t now_ms = g_get_real_time() / 1000;
    for (size_t i = 0; i < count && i < most; i++) {
        contender c = contender_at(queue, i);
        add_row(&table, &c, now_ms, all);
    }
    g_autofree char *text = cmd_table_text(&table, width);
    fputs(text, stdout);
    if (count > most)
        printf("%zu more\n", count - most);
    cmd_table_clear(&table);
}

/* The host of an identity in Paddock's form, host:pid[:label]; other clients write other forms. */
static char *host_of(const char *identity) {
    const char *colon = strchr(identity, ':');
    size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
    bool ours = colon && colon > identity && digits > 0 && (colon[1 + digits] == '\0' || colon[1 + digits] == ':');
    return ours ? g_strndup(identity, (gsize)(colon - identity)) : NULL;
}

static void add_contender(GString *out, const contender *c) {
    const pdk_contenders *list = c->list;
    const char *identity = pdk_contenders_identity(list, c->index);
    g_autofree char *host = host_of(identity);
    cmd_json_begin_object(out, NULL);
    cmd_json_number(out, "position", (int64_t)c->position);
    cmd_json_boolean(out, "holds", c->holds);
    cmd_json_boolean(out, "shared", pdk_contenders_is_shared(list, c->index));
    cmd_json_text(out, "waits_for", c->waits ? pdk_contenders_node(list, c->before) : NULL);
    cmd_json_text(out, "identity", identity);
    cmd_json_text(out, "host", host);
    cmd_json_text(out, "node", pdk_contenders_node(list, c->index));
    cmd_json_token(out, "token", pdk_contenders_token(list, c->index));
    cmd_json_session(out, "session", pdk_contenders_session(list, c->index));
    cmd_json_number(out, "since_ms", pdk_contenders_since_ms(list, c->index));
    cmd_json_end_object(out);
}

void cmd_queue_add(GString *out, const cmd_queue *queue) {
    size_t count = cmd_queue_count(queue);
    cmd_json_begin_array(out, "contenders");
    for (size_t i = 0; i < count; i++) {
        contender c = contender_at(queue, i);
        add_contender(out, &c);
    }
    cmd_json_end_array(out);
}

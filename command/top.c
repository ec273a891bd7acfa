/* paddock top: the longest queues below a path. docs/command.md has the schema of --json.
 *
 *     walk ──► the holders of the longest queues ──► print; on a terminal: draw ──► sleep --every ──► walk …
 */
#include "live.h"
#include "print.h"
#include "queue.h"
#include "say.h"
#include "status.h"
#include "table.h"
#include "verbs.h"
#include "walk.h"
#include <stdio.h>
#include <string.h>

typedef struct {
    const cmd_settings *settings;
    const char *path;
    int limit;
    int64_t every_ms;
    gboolean once, all; /* --once, --long */
} wanted;

/* The oldest holder, as its node tells. */
typedef struct {
    const cmd_place *place;
    char *identity; /* NULL: it has gone, or may not be read */
    cmd_stat stat;
} row;

static void row_clear(gpointer data) { g_free(((row *)data)->identity); }

static int by_queue(gconstpointer a, gconstpointer b) {
    const cmd_place *one = ((const row *)a)->place, *other = ((const row *)b)->place;
    if (one->waiters != other->waiters)
        return one->waiters > other->waiters ? -1 : 1;
    if (one->holders != other->holders)
        return one->holders > other->holders ? -1 : 1;
    return strcmp(one->path, other->path);
}

static GArray *find(const cmd_walk *walk) {
    GArray *rows = g_array_new(FALSE, TRUE, sizeof(row));
    g_array_set_clear_func(rows, row_clear);
    for (guint i = 0; i < walk->places->len; i++) {
        row found = {.place = g_ptr_array_index(walk->places, i)};
        if (cmd_walk_shows(found.place) && found.place->holders + found.place->waiters > 0)
            g_array_append_val(rows, found);
    }
    g_array_sort(rows, by_queue);
    return rows;
}

/* 0: all. */
static void limit_to(GArray *rows, guint most) {
    if (most > 0 && rows->len > most)
        g_array_set_size(rows, most);
}

/* Reads the holders. false: the server answers no more. */
static bool read_holders(cmd_walk *walk, GArray *rows) {
    for (guint i = 0; i < rows->len; i++) {
        row *r = &g_array_index(rows, row, i);
        if (!r->place->first)
            continue;
        cmd_wire_ask_data(&walk->wire, r->place->first);
        if (cmd_wire_data(&walk->wire, &r->identity, &r->stat) == CMD_WIRE_BROKEN)
            return false;
        r->stat.czxid += walk->token_base;
    }
    return true;
}

/* A holder that has gone, or may not be read, is "-". */
static void add_cells(cmd_table *table, const row *r, int64_t now_ms, bool all) {
    bool known = r->identity != NULL;
    cmd_table_add(table, known ? cmd_escape(r->identity) : g_strdup("-"));
    cmd_table_add(table, known ? cmd_age(now_ms - r->stat.ctime_ms) : g_strdup("-"));
    cmd_table_add(table, known ? g_strdup_printf("%" G_GINT64_FORMAT, (gint64)r->stat.czxid) : g_strdup("-"));
    cmd_table_add(table, g_strdup_printf("%u", r->place->holders));
    cmd_table_add(table, g_strdup_printf("%u", r->place->waiters));
    cmd_table_add(table, cmd_escape(r->place->path));
    if (!all)
        return;
    cmd_table_add(table, g_strdup(cmd_kind_name(r->place->kind)));
    cmd_table_add(table, cmd_when(known ? r->stat.ctime_ms : 0));
    cmd_table_add(table, known ? cmd_escape(strrchr(r->place->first, '/') + 1) : g_strdup("-"));
}

static void print_rows(const GArray *rows, bool all, guint width) {
    static const cmd_column columns[] = {
        {"OLDEST HOLDER", CMD_CELLS_TEXT}, {"AGE", CMD_CELLS_NUMBER},  {"TOKEN", CMD_CELLS_NUMBER},
        {"HOLD", CMD_CELLS_NUMBER},        {"WAIT", CMD_CELLS_NUMBER}, {"PATH", CMD_CELLS_PATH},
        {"KIND", CMD_CELLS_TEXT},          {"SINCE", CMD_CELLS_TEXT},  {"NODE", CMD_CELLS_TEXT}};
    enum { SHORT = 6, YIELDS = 0 };
    cmd_table table = cmd_table_new(columns, all ? G_N_ELEMENTS(columns) : SHORT, YIELDS);
    int64_t now_ms = g_get_real_time() / 1000;
    for (guint i = 0; i < rows->len; i++)
        add_cells(&table, &g_array_index(rows, row, i), now_ms, all);
    g_autofree char *text = cmd_table_text(&table, width);
    fputs(text, stdout);
    cmd_table_clear(&table);
}

static void add_row(GString *out, const row *r) {
    cmd_json_begin_object(out, NULL);
    cmd_json_text(out, "path", r->place->path);
    cmd_json_text(out, "kind", cmd_kind_name(r->place->kind));
    cmd_json_number(out, "holders", r->place->holders);
    cmd_json_number(out, "waiters", r->place->waiters);
    if (r->identity) {
        cmd_json_begin_object(out, "holder");
        cmd_json_text(out, "identity", r->identity);
        cmd_json_text(out, "node", strrchr(r->place->first, '/') + 1);
        cmd_json_token(out, "token", r->stat.czxid);
        cmd_json_session(out, "session", r->stat.owner);
        cmd_json_number(out, "since_ms", r->stat.ctime_ms);
        cmd_json_end_object(out);
    } else {
        cmd_json_null(out, "holder");
    }
    cmd_json_end_object(out);
}

static void print_json(const cmd_walk *walk, const GArray *rows, const char *path) {
    g_autoptr(GString) out = g_string_new(NULL);
    cmd_json_begin_object(out, NULL);
    cmd_json_text(out, "path", path);
    cmd_json_boolean(out, "complete", cmd_walk_saw_all(walk));
    cmd_json_begin_array(out, "locks");
    for (guint i = 0; i < rows->len; i++)
        add_row(out, &g_array_index(rows, row, i));
    cmd_json_end_array(out);
    cmd_json_end_object(out);
    cmd_print_line(out);
}

static int print_once(cmd_walk *walk, const wanted *w) {
    g_autoptr(GArray) rows = find(walk);
    limit_to(rows, (guint)w->limit);
    if (!read_holders(walk, rows)) {
        cmd_error("%s: %s", w->path, walk->wire.error);
        return CMD_UNAVAILABLE;
    }
    if (w->settings->json)
        print_json(walk, rows, w->path);
    else if (rows->len > 0)
        print_rows(rows, w->all, w->all ? 0 : cmd_live_columns());
    else
        puts("nobody holds anything there");
    return cmd_print_end() ? CMD_OK : CMD_SOFTWARE;
}

/* ---- on a terminal */

static char *make_head(const cmd_walk *walk, const GArray *rows, const char *path) {
    guint waiters = 0;
    g_autofree char *shown = cmd_escape(path);
    g_autofree char *unread = walk->unread ? g_strdup_printf("; %u nodes may not be listed", walk->unread) : NULL;
    for (guint i = 0; i < rows->len; i++)
        waiters += g_array_index(rows, row, i).place->waiters;
    return g_strdup_printf("%u held, %u wait%s%s%s  %s", rows->len, waiters, waiters == 1 ? "s" : "",
                           unread ? unread : "", walk->complete ? "" : "; the rest is not shown", shown);
}

/* false: the server answers no more. */
static bool draw(cmd_walk *walk, const wanted *w) {
    guint room = cmd_live_rows() - 2; /* below the headings, and above the last line, which may tell of more */
    g_autoptr(GArray) rows = find(walk);
    g_autofree char *head = make_head(walk, rows, w->path);
    guint count = rows->len;
    limit_to(rows, w->limit > 0 ? MIN((guint)w->limit, room) : room);
    if (!read_holders(walk, rows))
        return false;
    cmd_live_head(head);
    if (count > 0)
        print_rows(rows, w->all, cmd_live_columns());
    if (count > rows->len)
        printf("%u more\n", count - rows->len);
    return true;
}

/* Draw again and again, until a signal ends it, or standard output fails. Trouble is drawn, too, and goes. */
static int draw_on(cmd_walk *walk, const wanted *w) {
    int code = CMD_WIRE_OK;
    cmd_live_begin(true);
    do {
        if (code == CMD_WIRE_OK && !draw(walk, w))
            code = CMD_WIRE_BROKEN;
        if (code != CMD_WIRE_OK) {
            g_autofree char *shown = cmd_escape(w->path);
            cmd_live_head(shown);
            cmd_live_tell(code == CMD_WIRE_NONODE ? "there is no such node any more" : walk->wire.error);
        }
        if (!cmd_print_end())
            return CMD_SOFTWARE;
        cmd_live_sleep(w->every_ms);
        code = cmd_walk_again(walk, w->settings, w->path, CMD_WALK_ALL);
    } while (true);
}

static int top(const wanted *w) {
    cmd_walk walk;
    bool draws = cmd_live_can_draw() && !w->once && !w->settings->json;
    int status = cmd_walk_begin(&walk, w->settings, w->path, CMD_WALK_ALL);
    if (status == CMD_OK)
        status = draws ? draw_on(&walk, w) : print_once(&walk, w);
    cmd_walk_end(&walk);
    return status;
}

int cmd_top(int argc, char **argv) {
    cmd_settings settings;
    wanted w = {.settings = &settings, .limit = 20, .every_ms = 2000};
    int status = CMD_USAGE;
    g_autofree char *every = NULL;
    const GOptionEntry entries[] = {
        {"limit", 0, 0, G_OPTION_ARG_INT, &w.limit, "show so many; 20; 0: all", "N"},
        {"once", 0, 0, G_OPTION_ARG_NONE, &w.once, "on a terminal, too: print, and end", NULL},
        {"every", 0, 0, G_OPTION_ARG_STRING, &every, "on a terminal: look so often; 2s", "TIME"},
        {"long", 0, 0, G_OPTION_ARG_NONE, &w.all, "also the kind, since when, and the holder's node", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    cmd_settings_init(&settings);
    if (cmd_settings_parse(&settings, &argc, &argv, "[/path]", CMD_OPTIONS_JSON | CMD_OPTIONS_NAMING, entries)) {
        w.path = argc == 2 ? argv[1] : "/";
        if (argc > 2)
            cmd_error("top: one path is needed: paddock top [option…] [/path]");
        else if (w.limit < 0)
            cmd_error("--limit: a number from 0 is needed; 0 shows all");
        else if (cmd_live_every(every, &w.every_ms) && (status = cmd_walk_check_path("top", w.path)) == CMD_OK)
            status = top(&w);
    }
    return cmd_settings_end(&settings, status);
}

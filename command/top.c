/* paddock top: the longest queues below a path. docs/command.md has the schema of --json. */
#include "print.h"
#include "queue.h"
#include "say.h"
#include "status.h"
#include "verbs.h"
#include "walk.h"
#include <stdio.h>
#include <string.h>

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

static GArray *find(const cmd_walk *walk, int limit) {
    GArray *rows = g_array_new(FALSE, TRUE, sizeof(row));
    g_array_set_clear_func(rows, row_clear);
    for (guint i = 0; i < walk->places->len; i++) {
        row found = {.place = g_ptr_array_index(walk->places, i)};
        if (cmd_walk_shows(found.place) && found.place->holders + found.place->waiters > 0)
            g_array_append_val(rows, found);
    }
    g_array_sort(rows, by_queue);
    if (limit > 0 && rows->len > (guint)limit)
        g_array_set_size(rows, (guint)limit);
    return rows;
}

static int read_holders(cmd_walk *walk, GArray *rows) {
    for (guint i = 0; i < rows->len; i++) {
        row *r = &g_array_index(rows, row, i);
        if (!r->place->first)
            continue;
        cmd_wire_ask_data(&walk->wire, r->place->first);
        if (cmd_wire_data(&walk->wire, &r->identity, &r->stat) == CMD_WIRE_BROKEN) {
            cmd_error("%s: %s", r->place->first, walk->wire.error);
            return CMD_UNAVAILABLE;
        }
        r->stat.czxid += walk->token_base;
    }
    return CMD_OK;
}

static void print_row(const row *r) {
    g_autofree char *path = cmd_escape(r->place->path), *identity = cmd_escape(r->identity ? r->identity : "-");
    g_autofree char *since = cmd_when(r->identity ? r->stat.ctime_ms : 0);
    printf("%7u  %7u  %-9s  %-20s  %s  %s\n", r->place->waiters, r->place->holders, cmd_kind_name(r->place->kind),
           since, path, identity);
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

static void print_all(const cmd_walk *walk, const GArray *rows, const char *path, bool json) {
    if (!json) {
        printf("%7s  %7s  %-9s  %-20s  %s  %s\n", "WAIT", "HOLD", "KIND", "SINCE", "PATH", "OLDEST HOLDER");
        for (guint i = 0; i < rows->len; i++)
            print_row(&g_array_index(rows, row, i));
        return;
    }
    g_autoptr(GString) out = g_string_new(NULL);
    cmd_json_begin_object(out, NULL);
    cmd_json_text(out, "path", path);
    cmd_json_boolean(out, "complete", walk->complete);
    cmd_json_begin_array(out, "locks");
    for (guint i = 0; i < rows->len; i++)
        add_row(out, &g_array_index(rows, row, i));
    cmd_json_end_array(out);
    cmd_json_end_object(out);
    cmd_print_line(out);
}

static int top(const cmd_settings *settings, const char *path, int limit) {
    cmd_walk walk;
    int status = cmd_walk_begin(&walk, settings, path, CMD_WALK_ALL);
    if (status == CMD_OK) {
        g_autoptr(GArray) rows = find(&walk, limit);
        status = read_holders(&walk, rows);
        if (status == CMD_OK) {
            print_all(&walk, rows, path, settings->json);
            status = cmd_print_end() ? CMD_OK : CMD_SOFTWARE;
        }
    }
    cmd_walk_end(&walk);
    return status;
}

int cmd_top(int argc, char **argv) {
    cmd_settings settings;
    int status = CMD_USAGE, limit = 20;
    const GOptionEntry entries[] = {{"limit", 0, 0, G_OPTION_ARG_INT, &limit, "show so many; 20; 0: all", "N"},
                                    {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    cmd_settings_init(&settings);
    if (cmd_settings_parse(&settings, &argc, &argv, "[/path]", CMD_OPTIONS_JSON | CMD_OPTIONS_NAMING, entries)) {
        const char *path = argc == 2 ? argv[1] : "/";
        if (argc > 2)
            cmd_error("top: one path is needed: paddock top [option…] [/path]");
        else if (limit < 0)
            cmd_error("--limit: a number from 0 is needed; 0 shows all");
        else if ((status = cmd_walk_check_path("top", path)) == CMD_OK)
            status = top(&settings, path, limit);
    }
    return cmd_settings_end(&settings, status);
}

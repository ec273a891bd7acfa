/* paddock ls: the directories below a path, and the recipe that works in each. docs/command.md has the schema of
 * --json. */
#include "print.h"
#include "say.h"
#include "status.h"
#include "verbs.h"
#include "walk.h"
#include <stdio.h>

static void print_place(const cmd_place *place) {
    g_autofree char *path = cmd_escape(place->path);
    if (place->code)
        printf("%-9s  %7s  %7s  %7s  %s\n", "hidden", "-", "-", "-", path);
    else
        printf("%-9s  %7u  %7u  %7u  %s\n", cmd_kind_name(place->kind), place->holders, place->waiters, place->nodes,
               path);
}

static void add_place(GString *out, const cmd_place *place) {
    cmd_json_begin_object(out, NULL);
    cmd_json_text(out, "path", place->path);
    cmd_json_text(out, "kind", place->code ? "hidden" : cmd_kind_name(place->kind));
    cmd_json_number(out, "holders", place->holders);
    cmd_json_number(out, "waiters", place->waiters);
    cmd_json_number(out, "nodes", place->nodes);
    cmd_json_end_object(out);
}

static void print_all(const cmd_walk *walk) {
    printf("%-9s  %7s  %7s  %7s  %s\n", "KIND", "HOLD", "WAIT", "NODES", "PATH");
    for (guint i = 0; i < walk->places->len; i++) {
        const cmd_place *place = g_ptr_array_index(walk->places, i);
        if (cmd_walk_shows(place))
            print_place(place);
    }
}

static void print_json(const cmd_walk *walk, const char *path) {
    g_autoptr(GString) out = g_string_new(NULL);
    cmd_json_begin_object(out, NULL);
    cmd_json_text(out, "path", path);
    cmd_json_boolean(out, "complete", cmd_walk_saw_all(walk));
    cmd_json_begin_array(out, "entries");
    for (guint i = 0; i < walk->places->len; i++) {
        const cmd_place *place = g_ptr_array_index(walk->places, i);
        if (cmd_walk_shows(place))
            add_place(out, place);
    }
    cmd_json_end_array(out);
    cmd_json_end_object(out);
    cmd_print_line(out);
}

static int by_path(gconstpointer a, gconstpointer b) {
    const cmd_place *const *one = a, *const *other = b;
    return g_strcmp0((*one)->path, (*other)->path);
}

static int ls(const cmd_settings *settings, const char *path) {
    cmd_walk walk;
    int status = cmd_walk_begin(&walk, settings, path, 1);
    if (status == CMD_OK) {
        g_ptr_array_sort(walk.places, by_path);
        if (settings->json)
            print_json(&walk, path);
        else
            print_all(&walk);
        status = cmd_print_end() ? CMD_OK : CMD_SOFTWARE;
    }
    cmd_walk_end(&walk);
    return status;
}

int cmd_ls(int argc, char **argv) {
    cmd_settings settings;
    int status = CMD_USAGE;
    cmd_settings_init(&settings);
    if (cmd_settings_parse(&settings, &argc, &argv, "[/path]", CMD_OPTIONS_JSON | CMD_OPTIONS_NAMING, NULL)) {
        const char *path = argc == 2 ? argv[1] : "/";
        if (argc > 2)
            cmd_error("ls: one path is needed: paddock ls [option…] [/path]");
        else if ((status = cmd_walk_check_path("ls", path)) == CMD_OK)
            status = ls(&settings, path);
    }
    return cmd_settings_end(&settings, status);
}

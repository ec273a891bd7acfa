/* paddock show: the holders of a lock and its waiters. docs/command.md has the schema of --json. */
#include "live.h"
#include "looker.h"
#include "print.h"
#include "queue.h"
#include "say.h"
#include "status.h"
#include "verbs.h"
#include "words.h"
#include <stdio.h>

typedef struct {
    gboolean all, tells; /* --long, --exit-code */
} wanted;

static void print_json(const char *path, const cmd_queue *queue, bool exists) {
    g_autoptr(GString) out = g_string_new(NULL);
    cmd_json_begin_object(out, NULL);
    cmd_json_text(out, "path", path);
    cmd_json_boolean(out, "exists", exists);
    cmd_queue_add(out, queue);
    cmd_json_end_object(out);
    cmd_print_line(out);
}

static void print_for_people(const char *path, const cmd_queue *queue, bool exists, bool all) {
    g_autofree char *shown = cmd_escape(path);
    if (cmd_queue_count(queue) > 0)
        cmd_queue_print(queue, G_MAXSIZE, all, all ? 0 : cmd_live_columns());
    else if (exists)
        printf("nobody holds %s\n", shown);
    else
        printf("nobody holds %s: there is no such node (look at the path, and at the chroot of -s)\n", shown);
}

/* Prints the queue at the path. A directory goes with its last user, so a path that is not there is as free as one that
 * is, and no error. */
static int show_queue(const cmd_looker *looker, const char *path, const cmd_queue *queue, const wanted *w) {
    bool exists = true;
    int status = cmd_queue_count(queue) > 0 ? CMD_OK : cmd_looker_exists(looker, path, &exists);
    if (status)
        return status;
    if (looker->settings->json)
        print_json(path, queue, exists);
    else
        print_for_people(path, queue, exists, w->all);
    if (!cmd_print_end())
        return CMD_SOFTWARE;
    return w->tells && queue->holders == 0 ? CMD_NOT : CMD_OK;
}

static int show(const cmd_settings *settings, const char *path, const wanted *w) {
    cmd_looker looker;
    int status = cmd_looker_open(&looker, settings, path);
    if (status == CMD_OK) {
        cmd_queue queue;
        pdk_status answer = cmd_looker_look(&looker, &queue);
        status = answer ? cmd_explain(path, answer) : show_queue(&looker, path, &queue, w);
        cmd_queue_clear(&queue);
    }
    cmd_looker_close(&looker);
    return status;
}

int cmd_show(int argc, char **argv) {
    cmd_settings settings;
    wanted w = {0};
    int status = CMD_USAGE;
    const GOptionEntry entries[] = {
        {"long", 0, 0, G_OPTION_ARG_NONE, &w.all, "also its place, since when, session and node", NULL},
        {"exit-code", 0, 0, G_OPTION_ARG_NONE, &w.tells, "end with 1 when nobody holds it, else with 0", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    cmd_settings_init(&settings);
    if (cmd_settings_parse(&settings, &argc, &argv, "/path", CMD_OPTIONS_KIND | CMD_OPTIONS_JSON, entries)) {
        if (argc == 2)
            status = show(&settings, argv[1], &w);
        else
            cmd_error("show: one path is needed: paddock show [option…] /path");
    }
    return cmd_settings_end(&settings, status);
}

/* paddock show: the holders of a lock and its waiters. docs/command.md has the schema of --json. */
#include "looker.h"
#include "print.h"
#include "queue.h"
#include "say.h"
#include "status.h"
#include "verbs.h"
#include "words.h"

static void print_queue(const cmd_looker *looker, const char *path, const cmd_queue *queue) {
    if (!looker->settings->json) {
        cmd_queue_print(queue, G_MAXSIZE);
        return;
    }
    g_autoptr(GString) out = g_string_new(NULL);
    cmd_json_begin_object(out, NULL);
    cmd_json_text(out, "path", path);
    cmd_queue_add(out, queue);
    cmd_json_end_object(out);
    cmd_print_line(out);
}

static int show(const cmd_settings *settings, const char *path) {
    cmd_looker looker;
    int status = cmd_looker_open(&looker, settings, path);
    if (status == CMD_OK) {
        cmd_queue queue;
        pdk_status answer = cmd_looker_look(&looker, &queue);
        status = cmd_explain(path, answer);
        if (!answer) {
            print_queue(&looker, path, &queue);
            status = cmd_print_end() ? CMD_OK : CMD_SOFTWARE;
        }
        cmd_queue_clear(&queue);
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
    return cmd_settings_end(&settings, status);
}

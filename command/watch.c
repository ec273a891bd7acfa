/* paddock watch: a queue as it changes. On a terminal it is drawn again and again, elsewhere each state is a line of
 * JSON.
 *
 *     look ──► changed? ──► print ──► sleep --every ──► look …        TERM, INT, HUP end it, with 0
 *
 * It looks again and again, and stands in no queue. A contender that comes and goes between two looks is not seen.
 */
#include "live.h"
#include "looker.h"
#include "print.h"
#include "queue.h"
#include "say.h"
#include "status.h"
#include "table.h"
#include "verbs.h"
#include "words.h"
#include <stdio.h>

typedef struct {
    int64_t every_ms;
    gboolean all; /* --long */
} wanted;

static void draw(const char *path, const cmd_queue *queue, const char *trouble, bool all) {
    size_t waiters = cmd_queue_count(queue) - queue->holders;
    g_autofree char *shown = cmd_escape(path);
    g_autofree char *counts = g_strdup_printf("%zu hold%s, %zu wait%s  ", queue->holders,
                                              queue->holders == 1 ? "s" : "", waiters, waiters == 1 ? "s" : "");
    g_autofree char *head = g_strconcat(trouble ? "" : queue->holders ? counts : "nobody holds ", shown, NULL);
    cmd_live_head(head);
    if (trouble)
        cmd_live_tell(trouble);
    else if (cmd_queue_count(queue) > 0) /* below the headings, and above the last line, which may tell of more */
        cmd_queue_print(queue, cmd_live_rows() - 2, all, cmd_live_columns());
}

static void add_line(const char *path, const cmd_queue *queue, const char *trouble) {
    g_autoptr(GString) out = g_string_new(NULL);
    cmd_json_begin_object(out, NULL);
    cmd_json_text(out, "path", path);
    cmd_json_number(out, "at_ms", g_get_real_time() / 1000);
    if (trouble)
        cmd_json_text(out, "error", trouble);
    else
        cmd_queue_add(out, queue);
    cmd_json_end_object(out);
    cmd_print_line(out);
}

/* Watch until a signal ends it, or standard output fails. */
static void watch_on(const cmd_looker *looker, const char *path, const wanted *w, bool draws) {
    cmd_queue last = {0};
    pdk_status before = PDK_OK;
    bool first = true;
    do {
        cmd_queue queue;
        pdk_status status = cmd_looker_look(looker, &queue);
        g_autofree char *trouble = status ? cmd_why(path, status) : NULL;
        bool news = first || status != before || (!status && !cmd_queue_is_same(&last, &queue));
        if (draws)
            draw(path, &queue, trouble, w->all);
        else if (news)
            add_line(path, &queue, trouble);
        cmd_queue *old = status ? &queue : &last; /* this one goes */
        cmd_queue_clear(old);
        if (!status)
            last = queue;
        before = status;
        first = false;
        if (!cmd_print_end())
            break;
        cmd_live_sleep(w->every_ms);
    } while (true);
    cmd_queue_clear(&last);
}

static int watch(const cmd_settings *settings, const char *path, const wanted *w) {
    cmd_looker looker;
    bool draws = cmd_live_can_draw() && !settings->json;
    if (!draws && !settings->json && !cmd_print_json())
        return CMD_USAGE;
    int status = cmd_looker_open(&looker, settings, path);
    if (status == CMD_OK) {
        cmd_live_begin(draws);
        watch_on(&looker, path, w, draws);
        status = CMD_SOFTWARE;
    }
    cmd_looker_close(&looker);
    return status;
}

int cmd_watch(int argc, char **argv) {
    cmd_settings settings;
    int status = CMD_USAGE;
    wanted w = {.every_ms = 1000};
    g_autofree char *every = NULL;
    const GOptionEntry entries[] = {
        {"every", 0, 0, G_OPTION_ARG_STRING, &every, "look so often; 1s", "TIME"},
        {"long", 0, 0, G_OPTION_ARG_NONE, &w.all, "also each place, since when, session and node", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    cmd_settings_init(&settings);
    if (cmd_settings_parse(&settings, &argc, &argv, "/path", CMD_OPTIONS_KIND | CMD_OPTIONS_JSON, entries) &&
        cmd_live_every(every, &w.every_ms)) {
        if (argc == 2)
            status = watch(&settings, argv[1], &w);
        else
            cmd_error("watch: one path is needed: paddock watch [option…] /path");
    }
    return cmd_settings_end(&settings, status);
}

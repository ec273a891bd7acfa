/* paddock wait: until a lock is free. It looks again and again, and never stands in the queue. */
#include "clock.h"
#include "looker.h"
#include "print.h"
#include "say.h"
#include "status.h"
#include "verbs.h"
#include "waiting.h"
#include "words.h"

enum { LOOK_AGAIN_MS = 250, SILENT_MS = 2000 };

/* For somebody at a terminal: the line of a wait, with all that are there as ahead. */
static void draw(const char *path, const cmd_queue *queue) {
    bool held = queue->holders > 0;
    cmd_waiting_state state = {.path = path,
                               .who = pdk_contenders_identity(queue->list, 0),
                               .more = held ? queue->holders - 1 : 0,
                               .held_ms = g_get_real_time() / 1000 - pdk_contenders_since_ms(queue->list, 0),
                               .ahead =
                                   (int32_t)(pdk_contenders_count(queue->list) + pdk_contenders_count(queue->waiting)),
                               .looked = true};
    g_autofree char *line = cmd_can_draw() ? cmd_waiting_words(&state) : NULL;
    if (line)
        cmd_draw(line);
}

/* Look once. *free_now: nobody would have to wait. */
static int look(const cmd_looker *looker, const char *path, bool drawn, bool *free_now) {
    cmd_queue queue;
    pdk_status status = cmd_looker_look(looker, &queue);
    size_t count = pdk_contenders_count(queue.list);
    int result = cmd_explain(path, status);
    *free_now = looker->recipe.semaphore ? count < (size_t)looker->permits : count == 0;
    if (drawn && !status && !*free_now)
        draw(path, &queue);
    cmd_queue_clear(&queue);
    return result;
}

static void print_result(const char *path, bool free_now) {
    g_autoptr(GString) out = g_string_new(NULL);
    cmd_json_begin_object(out, NULL);
    cmd_json_text(out, "path", path);
    cmd_json_boolean(out, "free", free_now);
    cmd_json_end_object(out);
    cmd_print_line(out);
}

static int wait_until_free(const cmd_settings *settings, const char *path) {
    cmd_looker looker;
    bool free_now = false;
    int status = cmd_looker_open(&looker, settings, path);
    int64_t draw_at = cmd_now_ms() + SILENT_MS;
    int64_t deadline = settings->wait_ms < 0 ? INT64_MAX : cmd_now_ms() + settings->wait_ms;
    while (status == CMD_OK) {
        status = look(&looker, path, cmd_now_ms() >= draw_at, &free_now);
        int64_t left = deadline - cmd_now_ms();
        if (status != CMD_OK || free_now || left <= 0)
            break;
        g_usleep((gulong)MIN(left, LOOK_AGAIN_MS) * 1000);
    }
    cmd_draw(NULL);
    cmd_looker_close(&looker);
    if (status != CMD_OK)
        return status;
    if (settings->json)
        print_result(path, free_now);
    if (!cmd_print_end())
        return CMD_SOFTWARE;
    if (!free_now)
        cmd_answer("%s is not free", path);
    return free_now ? CMD_OK : CMD_TAKEN;
}

int cmd_wait(int argc, char **argv) {
    cmd_settings settings;
    int status = CMD_USAGE;
    cmd_settings_init(&settings);
    if (cmd_settings_parse(&settings, &argc, &argv, "/path", CMD_OPTIONS_KIND | CMD_OPTIONS_WAIT | CMD_OPTIONS_JSON,
                           NULL)) {
        if (argc == 2)
            status = wait_until_free(&settings, argv[1]);
        else
            cmd_error("wait: one path is needed: paddock wait [option…] /path");
    }
    return cmd_settings_end(&settings, status);
}

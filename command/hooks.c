#include "hooks.h"

#include "clock.h"
#include "say.h"
#include <string.h>
#include <sys/wait.h>

enum { LATE_GRACE_MS = 1000 };

static void make_shell(char **words, char *text) {
    words[0] = (char *)"/bin/sh";
    words[1] = (char *)"-c";
    words[2] = text;
    words[3] = NULL;
}

/* "status 3" or "signal 9", of a status as by waitpid. g_free it. */
static char *how_it_ended(int status) {
    return g_strdup_printf("%s %d", WIFSIGNALED(status) ? "signal" : "status",
                           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* ---- events */

bool cmd_events_open(cmd_events *e, char *on_deposed, char *on_leader) {
    char *texts[] = {[CMD_EVENT_DEPOSED] = on_deposed, [CMD_EVENT_LEADER] = on_leader};
    *e = (cmd_events){.guard = {.channel = -1}, .pending = G_QUEUE_INIT};
    for (size_t i = 0; i < CMD_EVENTS; i++) {
        make_shell(e->shell[i], texts[i]);
        e->commands[i] = texts[i] ? e->shell[i] : NULL;
    }
    return (!on_deposed && !on_leader) || cmd_guard_start(&e->guard, e->commands, true) == 0;
}

/* Begin the next command, when the last has ended. */
static void begin(cmd_events *e) {
    g_autofree cmd_message *order = e->runs ? NULL : g_queue_pop_head(&e->pending);
    if (!order)
        return;
    e->newest = (cmd_event)order->number;
    e->runs = cmd_guard_send(&e->guard, order);
}

static void forget_leaders(GQueue *pending) {
    for (GList *at = pending->head, *next; at; at = next) {
        next = at->next;
        if (((cmd_message *)at->data)->number == CMD_EVENT_LEADER) {
            g_free(at->data);
            g_queue_delete_link(pending, at);
        }
    }
}

void cmd_events_tell(cmd_events *e, cmd_event what, const char *const *variables) {
    size_t used = 0;
    if (!e->commands[what])
        return;
    if (what == CMD_EVENT_LEADER)
        forget_leaders(&e->pending);
    cmd_message *order = g_new0(cmd_message, 1);
    order->kind = CMD_START;
    order->number = (int32_t)what;
    for (; *variables; variables += 2)
        cmd_guard_add(order, &used, variables[0], variables[1]);
    g_queue_push_tail(&e->pending, order);
    begin(e);
}

bool cmd_events_hear(cmd_events *e) {
    cmd_message news;
    if (!cmd_guard_news(&e->guard, &news))
        return false;
    const char *option = e->newest == CMD_EVENT_LEADER ? "--on-leader" : "--on-deposed";
    g_autofree char *ended = how_it_ended(news.number);
    if (news.kind == CMD_REFUSED)
        cmd_error("%s: /bin/sh: %s", option, g_strerror(news.number));
    else if (news.kind == CMD_GONE && news.number)
        cmd_error("%s failed: %s", option, ended);
    if (news.kind == CMD_REFUSED || news.kind == CMD_GONE) {
        e->runs = false;
        begin(e);
    }
    return true;
}

bool cmd_events_busy(const cmd_events *e) { return e->runs || e->pending.length; }

void cmd_events_close(cmd_events *e) {
    cmd_guard_stop(&e->guard);
    g_queue_clear_full(&e->pending, g_free);
}

/* ---- health */

bool cmd_health_open(cmd_health *h, char *check, int64_t every_ms) {
    *h = (cmd_health){.guard = {.channel = -1}, .every_ms = every_ms, .at = check ? 0 : INT64_MAX, .healthy = !check};
    make_shell(h->shell, check);
    h->commands[0] = h->shell;
    return !check || cmd_guard_start(&h->guard, h->commands, true) == 0;
}

bool cmd_health_tick(cmd_health *h) {
    int64_t now = cmd_now_ms();
    if (now < h->at)
        return true;
    if (h->runs) {
        h->late = true;
        h->at = INT64_MAX;
        return cmd_guard_order(&h->guard, CMD_END, LATE_GRACE_MS);
    }
    h->runs = true;
    h->late = false;
    h->at = now + h->every_ms;
    return cmd_guard_order(&h->guard, CMD_START, 0);
}

static void tell_health(const cmd_health *h, bool healthy, const cmd_message *news) {
    g_autofree char *ended =
        news->kind == CMD_REFUSED ? g_strdup(g_strerror(news->number)) : how_it_ended(news->number);
    if (healthy)
        cmd_say("the check succeeds");
    else if (h->late)
        cmd_say("the check takes too long: more than %g s", (double)h->every_ms / 1000);
    else
        cmd_say("the check fails: %s", ended);
}

bool cmd_health_hear(cmd_health *h) {
    cmd_message news;
    if (!cmd_guard_news(&h->guard, &news))
        return false;
    if (news.kind == CMD_UNKILLABLE) {
        cmd_error(
            "process %d of the check belongs to another user, and cannot be killed: it counts as failed until it ends",
            news.number);
        h->healthy = false;
    }
    if (news.kind != CMD_REFUSED && news.kind != CMD_GONE)
        return true;
    bool healthy = news.kind == CMD_GONE && news.number == 0 && !h->late;
    if (healthy != h->healthy || !h->told)
        tell_health(h, healthy, &news);
    h->healthy = healthy;
    h->told = true;
    h->runs = false;
    h->at = cmd_now_ms() + h->every_ms;
    return true;
}

void cmd_health_close(cmd_health *h) { cmd_guard_stop(&h->guard); }

/* paddock elect --observe: each leader as a line, without being a candidate. */
#include "clock.h"
#include "elect.h"
#include "print.h"
#include "say.h"
#include "status.h"
#include "words.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>

enum { LOOK_MS = 10000 };

static void print_leader(const char *identity, int64_t token, void *user) {
    cmd_election *e = user;
    e->told = true;
    if (!e->keeper.settings->json) {
        g_autofree char *shown = cmd_escape(identity ? identity : "-");
        printf("%" G_GINT64_FORMAT "  %s\n", (gint64)token, shown);
        return;
    }
    g_autoptr(GString) out = g_string_new(NULL);
    cmd_json_begin_object(out, NULL);
    cmd_json_text(out, "path", e->keeper.path);
    cmd_json_number(out, "at_ms", g_get_real_time() / 1000);
    cmd_json_text(out, "leader", identity);
    cmd_json_token(out, "token", token);
    cmd_json_end_object(out);
    cmd_print_line(out);
}

/* An observer that may not list the directory hears of nobody, and does not say why. */
static void on_looked(pdk_status status, pdk_contenders *list, void *user) {
    cmd_election *e = user;
    pdk_contenders_free(list);
    if (status != PDK_NO_PERMISSION || e->told)
        return;
    e->failed = status;
    (void)cmd_explain(e->keeper.path, status);
}

static int observe_on(cmd_election *e) {
    cmd_keeper *k = &e->keeper;
    int64_t since = cmd_now_ms();
    (void)pdk_election_leader_async(e->election, LOOK_MS, on_looked, e);
    for (;;) {
        int number = 0;
        int64_t left = k->connected ? 60000 : since + k->settings->connect_timeout_ms - cmd_now_ms();
        unsigned saw = cmd_keeper_wait(k, NULL, 0, left < 0 ? 0 : left, &number);
        if (saw & CMD_SAW_SIGNAL && (number == SIGTERM || number == SIGINT || number == SIGHUP))
            return CMD_OK;
        if (saw & CMD_SAW_SIGNAL && number == SIGTSTP)
            (void)cmd_keeper_obey(number);
        if (e->failed)
            return cmd_status(e->failed);
        int gave_up = cmd_keeper_gives_up(k, since);
        if (gave_up)
            return gave_up;
        if (!cmd_print_end())
            return CMD_SOFTWARE;
    }
}

int cmd_elect_observe(cmd_election *e) {
    cmd_keeper *k = &e->keeper;
    pdk_observer *observer = NULL;
    pdk_election_options options = PDK_ELECTION_OPTIONS_INIT;
    options.naming = k->settings->names;
    if (!cmd_keeper_signals(k)) {
        cmd_error("signals: %s", g_strerror(errno));
        return CMD_SOFTWARE;
    }
    int status = cmd_keeper_open(k);
    if (status)
        return status;
    pdk_status made = pdk_election_new(k->session, k->path, &options, &e->election);
    if (!made)
        made = pdk_election_observe(e->election, print_leader, e, NULL, &observer);
    status = made ? cmd_explain(NULL, made) : observe_on(e);
    pdk_observer_close(observer);
    pdk_election_unref(e->election);
    return status;
}
